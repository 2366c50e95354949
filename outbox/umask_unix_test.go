//go:build unix

package outbox

import "syscall"

func umask(mask int) int { return syscall.Umask(mask) }
