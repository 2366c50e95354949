//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner of old where this user may; a file of one's own needs nothing.
func keepOwner(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid)) // only root may give files away
	}
}

// Rename gives a file its final name, in the place of what has it.
func Rename(from, to string) error { return os.Rename(from, to) }

// syncDir makes a rename in dir survive a power cut. A file system that cannot sync a directory loses only that.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
