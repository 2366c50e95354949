package session

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cmdlineMax bounds what is read of a command line, in bytes.
const cmdlineMax = 32 << 10

// newLookup reads /proc. The start time counts ticks from boot, so the boot's id goes with it.
func newLookup() func(int) (process, bool) {
	buf := make([]byte, cmdlineMax)
	boot := strings.TrimSpace(string(readProc("/proc/sys/kernel/random/boot_id", buf)))
	return func(pid int) (process, bool) {
		dir := "/proc/" + strconv.Itoa(pid)
		stat := readProc(dir+"/stat", buf)
		// The name in parentheses may itself hold parentheses and spaces; what follows the last one is all numbers.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 20 {
			return process{}, false
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return process{}, false
		}
		p := process{parent: parent, start: boot + "/" + fields[19], args: []string{}}
		if line := readProc(dir+"/cmdline", buf); len(line) > 0 {
			p.args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		}
		return p, true
	}
}

// readProc reads a small file of /proc into buf, as far as it fits: the kernel gives it whole in one read. It goes round
// package os, whose poller and second read are half of the cost for files as small as these.
func readProc(name string, buf []byte) []byte {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR {
			continue
		}
		return buf[:max(n, 0)]
	}
}
