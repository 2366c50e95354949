package project

import (
	"bytes"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onDisk gives dir, which is resolved, as its name is spelled on disk: file systems of macOS usually ignore case, and a
// project has one id however it was typed. The kernel is asked, since listing every ancestor would cost too much.
func onDisk(dir string) string {
	fd, err := unix.Open(dir, unix.O_EVTONLY|unix.O_CLOEXEC, 0) // needs no leave to read the directory
	if err != nil {
		return dir
	}
	defer func() { _ = unix.Close(fd) }()
	size := unix.PathMax
	buf := make([]byte, size) // a size that is not constant puts it on the heap, where it stays put for the kernel
	_, err = unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0]))))
	runtime.KeepAlive(buf)
	end := bytes.IndexByte(buf, 0)
	if err != nil || end <= 0 || !filepath.IsAbs(string(buf[:end])) {
		return dir
	}
	return string(buf[:end])
}
