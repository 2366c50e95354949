package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"kiro-learn/internal/event"
)

// sameFiring is how far apart two registrations of one hook may report one happening. A person does not send the same
// prompt twice within it, and an agent does not finish the same call twice.
const sameFiring = 1500 * time.Millisecond

// besides is how long after one run of a hook another may begin and still count as fired together with it.
const besides = 3 * time.Millisecond

// AddEvents stores valid events, synced before it returns, and tells for each whether it was new. An id that is already
// there, the same happening reported by another registration of the hook, and what has been forgotten are not stored. A
// record among records is saved in the same transaction with the event that it names first as its source, if that is stored now.
func (s *Store) AddEvents(ctx context.Context, events []event.Event, records ...event.Record) (stored []bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		stored = make([]bool, len(events)) // a group that fails runs again
		w.change = Change{}
		var moved visits
		for i := range events {
			isNew, err := s.addEvent(w, &events[i], &moved)
			if err != nil {
				return fmt.Errorf("store an event: %w", err)
			}
			if stored[i] = isNew; isNew {
				w.change.Events = append(w.change.Events, events[i])
				if err := s.addRecordsOf(w, &events[i], records); err != nil {
					return err
				}
			}
		}
		return moved.note(w)
	})
	return stored, err
}

func (s *Store) addRecordsOf(w *writerTx, e *event.Event, records []event.Record) error {
	for i := range records {
		if len(records[i].SourceEventIDs) == 0 || records[i].SourceEventIDs[0] != e.EventID {
			continue
		}
		stored, err := s.addRecord(w, &records[i])
		if errors.Is(err, ErrTaken) {
			continue // the note says it all the same
		}
		if err != nil {
			return fmt.Errorf("save a record: %w", err)
		}
		if stored {
			w.change.Records = append(w.change.Records, records[i])
		}
	}
	return nil
}

func (s *Store) addEvent(w *writerTx, e *event.Event, moved *visits) (bool, error) {
	ns, err := s.spaces.ensure(w, e.Namespace, e.Source.ProjectPath)
	if err != nil {
		return false, err
	}
	if gone, err := s.buried(w, ns, e); err != nil || gone {
		return false, err
	}
	if twice, err := s.firedTwice(w, ns, e); err != nil || twice {
		return false, err
	}
	return s.insertEvent(w, ns, e, e.Kind != event.KindNote || e.Firing == nil, moved) // an agent's start says nothing to distil
}

// insertEvent stores an event unless its id is there.
func (s *Store) insertEvent(w *writerTx, ns int64, e *event.Event, pending bool, moved *visits) (bool, error) {
	f := event.Firing{}
	if e.Firing != nil {
		f = *e.Firing
	}
	now := s.now().UnixMilli()
	// Not ON CONFLICT DO NOTHING, for which SQLite keeps a journal of the statement in a file of its own.
	res, err := w.exec(`INSERT OR IGNORE INTO events(event_id, ns, session_id, kind, parent_event_id, actor_id, valid_time, source,
		content_hash, body, received_ms, via, fired_us, done_us, pending) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		e.EventID, ns, e.SessionID, string(e.Kind), e.ParentEventID, e.ActorID, e.ValidTime, string(e.Source.AppendJSON(nil)),
		e.ContentHash, string(e.Body), now, f.Via, f.From, f.To, pending)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	moved.add(ns, e, now)
	return true, nil
}

// firedTwice finds out whether e is the same happening as an event that is already there, reported by another
// registration of the hook or by one that ran beside it. Only events of this machine's hooks can be.
func (s *Store) firedTwice(w *writerTx, ns int64, e *event.Event) (bool, error) {
	if e.Firing == nil || e.ContentHash == "" {
		return false, nil
	}
	st, err := w.stmt(`SELECT via, fired_us, done_us FROM events WHERE ns = ? AND session_id = ? AND event_id <> ?
		AND kind = ? AND content_hash = ? AND parent_event_id = ? AND fired_us > 0 AND abs(fired_us - ?) < ?
		AND seq > (SELECT max(seq) - 400 FROM events)`)
	if err != nil {
		return false, err
	}
	rows, err := st.Query(ns, e.SessionID, e.EventID, string(e.Kind), e.ContentHash, e.ParentEventID, e.Firing.From, sameFiring.Microseconds())
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var f event.Firing
		if err := rows.Scan(&f.Via, &f.From, &f.To); err != nil {
			return false, err
		}
		overlap := e.Firing.From <= f.To+besides.Microseconds() && f.From <= e.Firing.To+besides.Microseconds()
		if overlap || f.Via != e.Firing.Via {
			return true, nil
		}
	}
	return false, rows.Err()
}

// firstLine is the first line of a prompt with words in it, at most 120 characters.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && utf8.ValidString(line) {
			return event.CutChars(line, 120)
		}
	}
	return ""
}

// EventQuery selects events; empty fields select all.
type EventQuery struct {
	Namespace, SessionID, Kind string
	ID                         string // only the event with this id
	Before                     string // only events with a smaller id
	From                       string // only events from this id on, and the oldest of them, oldest first
	Limit                      int
}

// Events are the newest events that a query selects, newest first, and how many it selects in all, Before, From and
// Limit apart.
func (s *Store) Events(ctx context.Context, q EventQuery) (items []event.Event, total int, err error) {
	where, args := []string{"1"}, []any{}
	add := func(cond string, arg any) { where, args = append(where, cond), append(args, arg) }
	if q.Namespace != "" {
		id, ok := s.spaces.id(q.Namespace)
		if !ok {
			return []event.Event{}, 0, nil
		}
		add("ns = ?", id)
	}
	if q.SessionID != "" {
		if q.Namespace == "" {
			where = append(where, "ns IN (SELECT id FROM namespaces)") // the index begins with it
		}
		add("session_id = ?", q.SessionID)
	}
	if q.Kind != "" {
		add("kind = ?", q.Kind)
	}
	if q.ID != "" {
		add("event_id = ?", q.ID)
	}
	cond := strings.Join(where, " AND ")
	if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM events WHERE "+cond, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count events: %w", err)
	}
	if q.Before != "" {
		cond, args = cond+" AND event_id < ?", append(args, q.Before)
	}
	order := " ORDER BY event_id DESC"
	if q.From != "" {
		cond, args, order = cond+" AND event_id >= ?", append(args, q.From), " ORDER BY event_id"
	}
	// The ids are sorted first, by an index alone: to sort events is to read all of them.
	items, err = s.events(ctx, "WHERE event_id IN (SELECT event_id FROM events WHERE "+cond+order+" LIMIT ?)"+order, append(args, q.Limit)...)
	return items, total, err
}

// events reads the events that the rest of a SELECT names.
func (s *Store) events(ctx context.Context, rest string, args ...any) ([]event.Event, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT event_id, ns, session_id, kind, parent_event_id, actor_id, valid_time,
		source, content_hash, body FROM events `+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []event.Event{}
	for rows.Next() {
		e, err := s.scanEvent(rows)
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

func (s *Store) scanEvent(rows *sql.Rows) (event.Event, error) {
	e := event.Event{SchemaVersion: event.SchemaVersion}
	var ns int64
	var source, body []byte
	if err := rows.Scan(&e.EventID, &ns, &e.SessionID, &e.Kind, &e.ParentEventID, &e.ActorID, &e.ValidTime, &source,
		&e.ContentHash, &body); err != nil {
		return e, err
	}
	e.Namespace, e.Body = s.spaces.name(ns), body
	return e, json.Unmarshal(source, &e.Source)
}

// Event is the event with an id; ok is false when there is none.
func (s *Store) Event(ctx context.Context, id string) (e event.Event, ok bool, err error) {
	found, err := s.events(ctx, "WHERE event_id = ?", id)
	if err != nil || len(found) == 0 {
		return event.Event{}, false, err
	}
	return found[0], true, nil
}
