//go:build unix

package install

import (
	"io/fs"
	"syscall"
)

// foreign tells whether a file belongs to someone else than the user, who could replace it and not give it back.
func foreign(info fs.FileInfo, user int) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && user != 0 && int(s.Uid) != user
}
