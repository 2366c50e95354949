package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// newLookup asks the kernel's process table.
func newLookup() func(int) (process, bool) {
	return func(pid int) (process, bool) {
		info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil || int(info.Proc.P_pid) != pid {
			return process{}, false
		}
		start := info.Proc.P_starttime
		return process{
			parent: int(info.Eproc.Ppid),
			start:  fmt.Sprintf("%d.%06d", start.Sec, start.Usec),
			args:   arguments(pid),
		}, true
	}
}

// arguments gives the argv of a process, empty where the system does not show it, as for another user's process.
func arguments(pid int) []string {
	args := []string{}
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return args
	}
	count := int(binary.LittleEndian.Uint32(raw))
	raw = raw[4:]
	end := bytes.IndexByte(raw, 0) // the path of the program comes first, padded with NUL bytes
	if end < 0 {
		return args
	}
	for _, arg := range strings.Split(string(bytes.TrimLeft(raw[end:], "\x00")), "\x00") {
		if len(args) == count {
			break
		}
		args = append(args, arg)
	}
	return args
}
