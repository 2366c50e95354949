package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockWait is how long one install waits for another to end, unless Env says otherwise.
const lockWait = 20 * time.Second

var errBusy = errors.New("another kiro-learn is installing or uninstalling")

// lockFile stays when everything else goes: a lock is the file's, so two who lock files of one name, of which one was
// removed between, would not know of each other.
func lockFile(env Env) string { return filepath.Join(env.StateDir, "install.lock") }

// lock keeps two installs of one user apart, since each would write what it remembers over what the other does.
func lock(env Env) (unlock func(), err error) {
	if err := os.MkdirAll(env.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("remembering what was installed: %w", err)
	}
	name := lockFile(env)
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name) // opening a pipe would hold us for ever
	}
	wait := env.lockWait
	if wait == 0 {
		wait = lockWait
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	l := flock.New(name, flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, 10*time.Millisecond)
	switch {
	case ok:
		return func() { _ = l.Unlock() }, nil
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		return nil, errBusy
	}
	return nil, err
}
