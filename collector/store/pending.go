package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

// Backlog is a session with events that are not distilled yet.
type Backlog struct {
	Namespace string
	SessionID string
	Events    int
	Bytes     int64
	Newest    time.Time // when the newest of them arrived
	Closed    bool      // the newest of them ends a turn
}

// Backlogs lists the sessions that have pending events.
func (s *Store) Backlogs(ctx context.Context) ([]Backlog, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT ns, session_id, count(*), sum(length(body)), max(received_ms),
		max(CASE WHEN kind = 'session_summary' THEN event_id ELSE '' END) = max(event_id)
		FROM events WHERE pending = 1 GROUP BY ns, session_id`)
	if err != nil {
		return nil, fmt.Errorf("list the pending sessions: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Backlog
	for rows.Next() {
		var b Backlog
		var ns, newest int64
		if err := rows.Scan(&ns, &b.SessionID, &b.Events, &b.Bytes, &newest, &b.Closed); err != nil {
			return nil, fmt.Errorf("list the pending sessions: %w", err)
		}
		b.Namespace, b.Newest = s.spaces.name(ns), time.UnixMilli(newest)
		out = append(out, b)
	}
	return out, rows.Err()
}

// Pending are the oldest events of a session that are not distilled yet, at most limit of them, oldest first.
func (s *Store) Pending(ctx context.Context, namespace, sessionID string, limit int) ([]event.Event, error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, nil
	}
	return s.events(ctx, "WHERE ns = ? AND session_id = ? AND pending = 1 ORDER BY event_id LIMIT ?", ns, sessionID, limit)
}

// PendingCount is how many events wait to be distilled.
func (s *Store) PendingCount(ctx context.Context) (n int, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT count(*) FROM events WHERE pending = 1").Scan(&n)
	return n, err
}

// Distilled saves the records made of a batch and clears the batch's pending marks, in one transaction: after a crash
// either both are there or neither. When an event of the batch is gone or no longer pending, nothing is saved and ok is
// false, so that no event is ever distilled twice. about are records about the session, saved with them.
func (s *Store) Distilled(ctx context.Context, eventIDs []string, records []event.Record, about ...SessionRecord) (ok bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		w.change, ok = Change{}, false
		var marked int64
		for chunk := eventIDs; len(chunk) > 0; {
			n := min(len(chunk), 500)
			args := make([]any, n)
			for i, id := range chunk[:n] {
				args[i] = id
			}
			res, err := w.conn.ExecContext(context.Background(),
				"UPDATE events SET pending = 0 WHERE pending = 1 AND event_id IN (?"+strings.Repeat(",?", n-1)+")", args...)
			if err != nil {
				return fmt.Errorf("mark events as distilled: %w", err)
			}
			rows, err := res.RowsAffected()
			if err != nil {
				return err
			}
			marked += rows
			chunk = chunk[n:]
		}
		if marked != int64(len(eventIDs)) {
			return errRaced
		}
		for i := range records {
			if _, err := s.saveRecord(w, &records[i]); err != nil {
				return fmt.Errorf("save a record: %w", err)
			}
			w.change.Records = append(w.change.Records, records[i])
		}
		for i := range about {
			if err := s.saveSessionRecord(w, &about[i]); err != nil {
				return err
			}
		}
		ok = true
		return nil
	})
	if errors.Is(err, errRaced) {
		return false, nil
	}
	return ok, err
}

var errRaced = errors.New("an event of the batch is no longer pending")
