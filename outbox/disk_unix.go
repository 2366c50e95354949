//go:build unix

package outbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// closeToRename says whether an open file cannot be renamed.
const closeToRename = false

func chmod(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

func truncate(f *os.File, size int64) error { return f.Truncate(size) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err // the two exceptions are file systems that cannot sync a directory
	}
	return nil
}
