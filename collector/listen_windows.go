package collector

import (
	"io/fs"
	"net"
)

// listenPrivately relies on the access rules of the user's own directory.
func listenPrivately(path string) (net.Listener, error) { return net.Listen("unix", path) }

func ours(fs.FileInfo) bool { return true }

// deadSocket takes what Go cannot name for a socket, which is how Windows shows one.
func deadSocket(info fs.FileInfo) bool {
	return info.Mode()&fs.ModeSocket != 0 || info.Mode()&fs.ModeIrregular != 0
}
