package logfile

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Once reports whether this call is the first for cause in every, over all processes that share the marks directory.
// A clock that stepped back by more than every counts as time passed. Where the marks cannot be written, the age of the
// log itself decides, so that a fault of the disk does not end in a flood.
func (l *Log) Once(cause string, every time.Duration) bool {
	if l == nil {
		return false
	}
	sum := sha256.Sum256([]byte(cause))
	mark := filepath.Join(l.marks, hex.EncodeToString(sum[:16]))
	now := l.now()
	if fresh(mark, now, every) {
		return false
	}
	if os.MkdirAll(l.marks, 0o700) != nil {
		return l.quiet(now, every)
	}
	lock := flock.New(mark+".lock", flock.SetPermissions(0o600))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return l.quiet(now, every)
	case !locked:
		return false // another process is claiming the same cause
	}
	defer func() { _ = lock.Close() }()
	if fresh(mark, now, every) {
		return false
	}
	if os.WriteFile(mark, strconv.AppendInt(nil, now.UnixMilli(), 10), 0o600) != nil {
		return l.quiet(now, every)
	}
	return true
}

// fresh reports whether the mark was set less than every before now, or after it by as little.
func fresh(mark string, now time.Time, every time.Duration) bool {
	b, err := os.ReadFile(mark)
	if err != nil {
		return false
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return false
	}
	ms := now.UnixMilli()
	return at > ms-every.Milliseconds() && at < ms+every.Milliseconds()
}

// quiet reports whether nothing at all was logged for every.
func (l *Log) quiet(now time.Time, every time.Duration) bool {
	info, err := os.Stat(l.path)
	return err != nil || now.Sub(info.ModTime()) >= every
}
