//go:build unix

package client

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// sendNudge connects and writes without ever waiting. It asks the system itself: package net would bring up its poller
// and a goroutine, which costs a hook more than everything else it does with the collector.
func sendNudge(address string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return fmt.Errorf("nudge the collector: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return fmt.Errorf("nudge the collector: %w", err)
	}
	switch err := unix.Connect(fd, &unix.SockaddrUnix{Name: address}); {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINPROGRESS):
		return fmt.Errorf("nudge the collector: %w", err) // it has more to do than it can take
	case err != nil:
		return fmt.Errorf("%w at %s", ErrAbsent, address)
	}
	if _, err := unix.Write(fd, []byte(nudge)); err != nil {
		return fmt.Errorf("nudge the collector: %w", err)
	}
	return nil
}
