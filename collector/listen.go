package collector

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"kiro-learn/collector/client"
	"kiro-learn/internal/atomicfile"
	"kiro-learn/internal/config"
)

// lockWait is how long a new collector waits for one that is on its way out.
const lockWait = 10 * time.Second

// takeOver takes the lock that makes this the user's only collector. Another one that is alive keeps it, unless it is an
// older version, which is asked to hand over.
func takeOver(ctx context.Context, o Options) (unlock func(), err error) {
	if err := os.MkdirAll(o.Dirs.State, 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	lock := theLock(o.Dirs)
	cl, err := client.New(o.Dirs, config.Collector{})
	if err != nil {
		return nil, err
	}
	asked, began := false, time.Now()
	for deadline := began.Add(lockWait); ; {
		ok, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
		}
		if ok && StoppedSince(o.Dirs, began) { // whoever stopped the one before us did not know of us
			_ = lock.Unlock()
			return nil, ErrStopped
		}
		if ok {
			return func() { _ = lock.Unlock() }, nil
		}
		ask, cancel := context.WithTimeout(ctx, time.Second)
		h, err := cl.Health(ask)
		switch {
		case err == nil && !client.Older(h.Version, o.Version):
			cancel()
			return nil, ErrRunning
		case err == nil && !asked:
			asked = true
			_ = cl.Call(ask, "POST", "/v1/shutdown", nil, nil)
		}
		cancel()
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, fmt.Errorf("another collector holds %s and does not answer; stop it with: kiro-learn collector stop", lock.Path())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// NoteStop notes that a person stops the collector now, so that one that is just waiting for its place leaves, too.
func NoteStop(d config.Dirs) error {
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		return fmt.Errorf("note the stop: %w", err)
	}
	if err := atomicfile.WriteUnsynced(stopNote(d), []byte(time.Now().Format(time.RFC3339Nano)+"\n"), 0o600); err != nil {
		return fmt.Errorf("note the stop: %w", err)
	}
	return nil
}

// StoppedSince tells whether a person has stopped the collector since a time.
func StoppedSince(d config.Dirs, since time.Time) bool {
	b, err := os.ReadFile(stopNote(d))
	if err != nil {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(b)))
	return err == nil && at.After(since)
}

func stopNote(d config.Dirs) string { return filepath.Join(d.State, "collector-stop") }

// theLock is what the user's only collector holds from before it opens its files until after it has closed them.
func theLock(d config.Dirs) *flock.Flock {
	return flock.New(filepath.Join(d.State, "collector.lock"), flock.SetPermissions(0o600))
}

// Gone tells whether no collector of these directories is at work: none that answers, and none that still closes its
// files.
func Gone(d config.Dirs) bool {
	lock := theLock(d)
	ok, err := lock.TryLock()
	if ok {
		_ = lock.Unlock()
	}
	return ok || errors.Is(err, fs.ErrNotExist)
}

// listen opens the private socket and records its address. The lock is ours, so no collector of this state directory is
// there: a socket that nobody answers on is a leftover and is replaced; anything else in the way is left alone, and a
// name beside it is taken.
func listen(ctx context.Context, d config.Dirs) (net.Listener, error) {
	path := client.ListenAddress(d)
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if !free(ctx, path) {
		path = strings.TrimSuffix(path, ".sock") + "-" + strconv.Itoa(os.Getpid()) + ".sock"
		if !free(ctx, path) {
			return nil, fmt.Errorf("listen: %s is in use; remove it and start again", path)
		}
	}
	l, err := listenPrivately(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_ = l.Close()
		return nil, fmt.Errorf("make %s private: %w", path, err)
	}
	if err := record(d, path); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("record the collector's address: %w", err)
	}
	return l, nil
}

func record(d config.Dirs, address string) error {
	return atomicfile.Write(d.AddressFile(), []byte(address+"\n"), 0o600)
}

// privateDir makes a directory for this user alone. One that is there already must be this user's.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the socket's directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the socket's directory: %w", err)
	}
	if !info.IsDir() || !ours(info) {
		return fmt.Errorf("%s belongs to somebody else; set KIRO_LEARN_HOME to a directory of your own", dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("make %s private: %w", dir, err)
	}
	return nil
}

// free makes sure that path can be listened on, removing a dead socket.
func free(ctx context.Context, path string) bool {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil || !deadSocket(info) {
		return false
	}
	dial, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var d net.Dialer
	if conn, err := d.DialContext(dial, "unix", path); err == nil || dial.Err() != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return false
	}
	return os.Remove(path) == nil
}
