//go:build unix

package client

import (
	"os"
	"strconv"
	"syscall"
)

func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepDescriptors keeps whatever descriptors our parent left open in us from the program that we are about to start: a
// pipe held by the collector would keep a Kiro that reads it waiting.
func keepDescriptors() {
	dir, err := os.ReadDir("/dev/fd")
	if err != nil {
		dir, _ = os.ReadDir("/proc/self/fd")
	}
	for _, e := range dir {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
