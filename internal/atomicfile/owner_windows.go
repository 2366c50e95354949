package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

func keepOwner(*os.File, fs.FileInfo) {} // a file made in a directory inherits its access rules

func syncDir(string) {} // NTFS journals renames

// Rename gives a file its final name, in the place of what has it. Windows refuses that while anybody has one of the two
// open, be it a reader of ours or a scanner that looks at every new file; they are given a moment.
func Rename(from, to string) error {
	const sharingViolation = syscall.Errno(32)
	for wait := time.Millisecond; ; wait *= 2 {
		err := os.Rename(from, to)
		if err == nil || wait > 64*time.Millisecond || !errors.Is(err, sharingViolation) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(wait)
	}
}
