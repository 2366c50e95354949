//go:build unix

package collector

import (
	"io/fs"
	"net"
	"os"
	"syscall"
)

// listenPrivately opens the socket closed to everybody else from its first moment; its directory is private as well.
func listenPrivately(path string) (net.Listener, error) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	return net.Listen("unix", path)
}

func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

func deadSocket(info fs.FileInfo) bool { return info.Mode()&fs.ModeSocket != 0 }
