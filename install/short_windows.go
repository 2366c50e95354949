package install

import (
	"path/filepath"
	"syscall"
)

// shortPath is a path with its directories in their 8.3 form, the path itself where the volume keeps none. The file keeps
// its name, which is how a command is known to be ours.
func shortPath(path string) string {
	dir, name := filepath.Split(path)
	in, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return path
	}
	buf := make([]uint16, 1024)
	n, err := syscall.GetShortPathName(in, &buf[0], uint32(len(buf)))
	if err != nil || n == 0 || int(n) > len(buf) {
		return path
	}
	return filepath.Join(syscall.UTF16ToString(buf[:n]), name)
}
