package outbox

import (
	"errors"
	"os"
	"syscall"
)

// syncData skips what the data can be found without, such as the time of the change.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
