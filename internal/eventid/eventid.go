// Package eventid makes event ids: ULIDs that sort in the order of arrival on one machine, across processes and even
// when the clock steps back. The last id made is kept in a small file under a lock that is held for microseconds; an
// id that would not sort behind it becomes its successor. When the lock cannot be had in time the id is made without
// it: still unique, and in order unless the clock moved meanwhile.
package eventid

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/oklog/ulid/v2"
)

// Source makes ids. The zero value is not useful; call New.
type Source struct {
	file string
	now  func() time.Time
}

// New gives a Source that remembers the last id in stateDir, which is created if need be. A nil now is time.Now.
func New(stateDir string, now func() time.Time) *Source {
	if now == nil {
		now = time.Now
	}
	return &Source{file: filepath.Join(stateDir, "last-event-id"), now: now}
}

// Next makes an id. It never fails; wait bounds how long it may wait for the lock.
func (s *Source) Next(wait time.Duration) string {
	id := ulid.MustNew(ulid.Timestamp(s.now()), rand.Reader)
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return id.String()
	}
	if !plain(s.file) || !plain(s.file+".lock") {
		return id.String() // a pipe in the place of a file would hold us for ever
	}
	lock := flock.New(s.file+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	locked, err := lock.TryLockContext(ctx, time.Millisecond)
	if err == nil && locked {
		defer func() { _ = lock.Unlock() }()
	}
	f, err := os.OpenFile(s.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return id.String()
	}
	defer func() { _ = f.Close() }()
	if last, ok := read(f); ok && id.Compare(last) <= 0 {
		id = successor(last)
	}
	if locked {
		_, _ = f.WriteAt([]byte(id.String()), 0) // losing it costs order after a clock step, nothing else
	}
	return id.String()
}

// plain tells whether a name is free or a regular file's.
func plain(name string) bool {
	info, err := os.Stat(name)
	return err != nil || info.Mode().IsRegular()
}

func read(f *os.File) (ulid.ULID, bool) {
	b := make([]byte, ulid.EncodedSize)
	if n, err := f.ReadAt(b, 0); n < len(b) && err != nil && err != io.EOF {
		return ulid.ULID{}, false
	}
	id, err := ulid.ParseStrict(string(b))
	return id, err == nil
}

// successor is a random distance behind id, so that two ids made without the lock do not meet.
func successor(id ulid.ULID) ulid.ULID {
	var step [4]byte
	_, _ = rand.Read(step[:])
	low := binary.BigEndian.Uint64(id[8:])
	sum := low + uint64(binary.BigEndian.Uint32(step[:])) + 1
	binary.BigEndian.PutUint64(id[8:], sum)
	if sum < low { // carry into the time and the high random bits
		binary.BigEndian.PutUint64(id[:8], binary.BigEndian.Uint64(id[:8])+1)
	}
	return id
}
