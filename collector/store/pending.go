package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	rows, err := s.read.QueryContext(ctx, `SELECT ns, session_id, count(*), sum(octet_length(body)), max(received_ms),
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

// Batch is what became of some pending events.
type Batch struct {
	Events     []string        // ids
	Records    []event.Record  // made of them
	Supersedes []Supersession  // records that the new ones stand for
	About      []SessionRecord // records about the session, saved with them
	Later      bool            // the records are a stopgap: the events are to be distilled again by Later and Redistilled
}

// Distilled saves the records made of a batch and clears the batch's pending marks, in one transaction: after a crash
// either both are there or neither. When an event of the batch is gone or no longer pending, nothing is saved and ok is
// false, so that no event is ever distilled twice. about are records about the session, saved with them.
func (s *Store) Distilled(ctx context.Context, eventIDs []string, records []event.Record, about ...SessionRecord) (ok bool, err error) {
	return s.DistilledBatch(ctx, Batch{Events: eventIDs, Records: records, About: about})
}

// DistilledBatch is Distilled with all that there is to say of a batch.
func (s *Store) DistilledBatch(ctx context.Context, b Batch) (ok bool, err error) {
	set := "pending = 0"
	if b.Later {
		set = "pending = 2"
	}
	return s.settle(ctx, b, set, "pending = 1")
}

// settle marks all events of a batch that a condition holds for, or none, and saves its records.
func (s *Store) settle(ctx context.Context, b Batch, set, cond string) (ok bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		w.change, ok = Change{}, false
		res, err := w.conn.ExecContext(context.Background(),
			"UPDATE events SET "+set+" WHERE "+cond+" AND event_id IN (SELECT value FROM json_each(?))", list(b.Events))
		if err != nil {
			return fmt.Errorf("mark events as distilled: %w", err)
		}
		if marked, err := res.RowsAffected(); err != nil || marked != int64(len(b.Events)) {
			return errors.Join(err, errRaced)
		}
		for i := range b.Records {
			if _, err := s.saveRecord(w, &b.Records[i]); err != nil {
				return fmt.Errorf("save a record: %w", err)
			}
			w.change.Records = append(w.change.Records, b.Records[i])
		}
		for _, sup := range b.Supersedes {
			if err := w.supersede(sup, s.now().UnixMilli()); err != nil {
				return fmt.Errorf("supersede a record: %w", err)
			}
		}
		for i := range b.About {
			if err := s.saveSessionRecord(w, &b.About[i]); err != nil {
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

// Later gives the session whose events have waited longest for a model that failed, and at most limit of these events,
// oldest first; none when none wait.
func (s *Store) Later(ctx context.Context, limit int) ([]event.Event, error) {
	return s.events(ctx, `WHERE pending > 1 AND (ns, session_id) IN (SELECT ns, session_id FROM events WHERE pending > 1 ORDER BY event_id LIMIT 1)
		ORDER BY event_id LIMIT ?`, limit)
}

// LaterCount is how many events wait for a model that failed.
func (s *Store) LaterCount(ctx context.Context) (n int, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT count(*) FROM events WHERE pending > 1").Scan(&n)
	return n, err
}

// Redistilled saves what the model has made at last of events that Later gave. The records that the rules had made of
// these events alone are superseded, unless the model has made none. It gives false when an event is gone meanwhile.
func (s *Store) Redistilled(ctx context.Context, b Batch) (ok bool, err error) {
	if len(b.Records) > 0 {
		stopgaps, err := column[string](ctx, s.read, `SELECT DISTINCT r.record_id FROM events e JOIN records r ON r.ns = e.ns AND r.session_id = e.session_id
			WHERE e.event_id IN (SELECT value FROM json_each(?1)) AND r.strategy = ?2
			AND NOT EXISTS (SELECT 1 FROM json_each(r.sources) j WHERE j.value NOT IN (SELECT value FROM json_each(?1)))`, list(b.Events), event.StrategyRules)
		if err != nil {
			return false, fmt.Errorf("find what the rules made: %w", err)
		}
		for _, id := range stopgaps {
			b.Supersedes = append(b.Supersedes, Supersession{Old: id, New: b.Records[0].RecordID, Why: "model"})
		}
	}
	return s.settle(ctx, b, "pending = 0", "pending > 1")
}

// PutOff notes that the model has failed on events once more. What it has failed on so often stays as the rules left it.
func (s *Store) PutOff(ctx context.Context, eventIDs []string, tries int) error {
	return s.submit(ctx, func(w *writerTx) error {
		_, err := w.conn.ExecContext(context.Background(), `UPDATE events SET pending = CASE WHEN pending > ? THEN 0 ELSE pending + 1 END
			WHERE pending > 1 AND event_id IN (SELECT value FROM json_each(?))`, tries, list(eventIDs))
		return err
	})
}

// TurnTools are the tool uses of a turn, known by its prompt, that have been distilled: the last of them, oldest first.
func (s *Store) TurnTools(ctx context.Context, namespace, sessionID, promptID string, limit int) ([]event.Event, error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, nil
	}
	found, err := s.events(ctx, `WHERE ns = ? AND session_id = ? AND event_id > ? AND parent_event_id = ? AND kind = 'tool_use' AND pending <> 1
		ORDER BY event_id DESC LIMIT ?`, ns, sessionID, promptID, promptID, limit)
	slices.Reverse(found)
	return found, err
}
