//go:build unix

package payload

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ready tells whether a read of f would not block, waiting a moment for it.
func ready(f *os.File, wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
}
