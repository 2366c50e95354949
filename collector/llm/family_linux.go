package llm

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr gives the child a group of its own, and its death when the collector dies in whatever way. The system
// ties the latter to the thread that started the child; Go ends no thread that was not locked, and none here is.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killMarked kills every process in whose environment an entry begins with prefix, until no new one is found, and
// counts them. A process that forks faster than this looks is left after ten rounds.
func killMarked(prefix string) int {
	// A process shows its environment until the kernel has taken it apart, so a round may meet what the last one killed.
	killed := map[int]bool{}
	for range 10 {
		before := len(killed)
		killMarkedOnce([]byte(prefix), killed)
		if len(killed) == before {
			break
		}
	}
	return len(killed)
}

func killMarkedOnce(prefix []byte, killed map[int]bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		// The descriptor is taken first: it stays with the process whose environment is read, not with its number.
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		environ, err := os.ReadFile("/proc/" + name + "/environ") // a zombie's is empty
		if err == nil && (bytes.HasPrefix(environ, prefix) || bytes.Contains(environ, append([]byte{0}, prefix...))) {
			if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
				killed[pid] = true
			}
		}
		_ = unix.Close(fd)
	}
}
