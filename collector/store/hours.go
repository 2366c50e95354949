package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Hour is how many events of a kind, or records of a type, there are of one hour.
type Hour struct {
	Hour time.Time // its beginning
	Kind string    // of events; empty for records
	Type string    // of records; empty for events
	N    int
}

// Hours counts what a namespace has of each hour since a time, the earliest first; an empty one counts all projects'.
func (s *Store) Hours(ctx context.Context, namespace string, since time.Time) (out []Hour, err error) {
	cond, args := "", []any{since.Unix() / 3600}
	if namespace != "" {
		ns, ok := s.spaces.id(namespace)
		if !ok {
			return nil, nil
		}
		cond, args = " AND h.ns = ?", append(args, ns)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT h.hour, h.what, sum(h.n) FROM hours h WHERE h.hour >= ?`+cond+` GROUP BY h.hour, h.what ORDER BY h.hour, h.what`, args...)
	if err != nil {
		return nil, fmt.Errorf("count by the hour: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var h Hour
		var hour int64
		var what string
		if err := rows.Scan(&hour, &what, &h.N); err != nil {
			return nil, fmt.Errorf("count by the hour: %w", err)
		}
		h.Hour = time.Unix(hour*3600, 0).UTC()
		h.Kind, h.Type = kindOrType(what)
		out = append(out, h)
	}
	return out, rows.Err()
}

// sums remembers what the hours sum up to, until the next commit: summing them up reads them all.
type sums struct {
	mu      sync.Mutex
	commits int64 // of which the sums know; the first is 1
	of      []sum
}

// sum is how many events of a kind, or records of a type, a namespace has.
type sum struct {
	ns int64
	Hour
}

func (s *Store) hourSums(ctx context.Context) ([]sum, error) {
	s.sums.mu.Lock()
	defer s.sums.mu.Unlock()
	now := s.commits.Load() // before we read: a commit meanwhile makes what we find old
	if s.sums.of != nil && s.sums.commits == now {
		return s.sums.of, nil
	}
	rows, err := s.read.QueryContext(ctx, "SELECT ns, what, sum(n) FROM hours GROUP BY ns, what HAVING sum(n) > 0")
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []sum{}
	for rows.Next() {
		var v sum
		var what string
		if err := rows.Scan(&v.ns, &what, &v.N); err != nil {
			return nil, fmt.Errorf("count: %w", err)
		}
		v.Kind, v.Type = kindOrType(what)
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	s.sums.of, s.sums.commits = out, now
	return out, nil
}

// kindOrType reads what is counted: the kind of events, or the type of records.
func kindOrType(what string) (kind, observationType string) {
	if kind, ok := strings.CutPrefix(what, "e"); ok {
		return kind, ""
	}
	return "", strings.TrimPrefix(what, "r")
}

// Took is how long one run of a hook took, from its beginning until it had handed its event over.
type Took struct {
	Kind string // of the event
	At   time.Time
	Time time.Duration
}

// HookTimes are those of the last events, the latest first; only of this machine's hooks.
func (s *Store) HookTimes(ctx context.Context, limit int) (out []Took, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT kind, fired_us, done_us FROM events ORDER BY seq DESC LIMIT ?", limit)
	if err != nil {
		return nil, fmt.Errorf("read how long hooks took: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v Took
		var from, to int64
		if err := rows.Scan(&v.Kind, &from, &to); err != nil {
			return nil, fmt.Errorf("read how long hooks took: %w", err)
		}
		if from == 0 || to < from {
			continue
		}
		v.At, v.Time = time.UnixMicro(from).UTC(), time.Duration(to-from)*time.Microsecond
		out = append(out, v)
	}
	return out, rows.Err()
}

// About is what a record is about, without what it says.
type About struct {
	Type     string
	Files    []string
	Concepts []string
}

// Abouts tells of the newest records of a namespace what they are about, and how many records it has.
func (s *Store) Abouts(ctx context.Context, namespace string, limit int) (out []About, total int, err error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, 0, nil
	}
	if err := s.read.QueryRowContext(ctx, "SELECT coalesce(sum(n), 0) FROM record_counts WHERE ns = ?", ns).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("read what records are about: %w", err)
	}
	rows, err := s.read.QueryContext(ctx, "SELECT type, files, concepts FROM records WHERE ns = ? ORDER BY created_ms DESC LIMIT ?", ns, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("read what records are about: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var a About
		var files, concepts []byte
		if err := rows.Scan(&a.Type, &files, &concepts); err != nil {
			return nil, 0, fmt.Errorf("read what records are about: %w", err)
		}
		if err := errors.Join(json.Unmarshal(files, &a.Files), json.Unmarshal(concepts, &a.Concepts)); err != nil {
			return nil, 0, fmt.Errorf("read what records are about: %w", err)
		}
		out = append(out, a)
	}
	return out, total, rows.Err()
}
