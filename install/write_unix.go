//go:build unix

package install

import "syscall"

// mayWrite says why this user can make no file in a directory, without trying it.
func mayWrite(dir string) error {
	const write, search = 2, 1
	return syscall.Access(dir, write|search)
}
