package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"kiro-learn/internal/event"
)

// SessionSummary is what was made of a session, and of which state of it.
type SessionSummary struct {
	Sig       string // the session's newest event id when its events were read
	Gen       int64  // and its counter
	UserTurns int    // turns of the person that it covers
	State     string // of the session in one word
	Generated time.Time
	Data      []byte // JSON
}

// Why a summary was not kept.
var (
	ErrMoved = errors.New("the session has gone on")
	ErrGone  = errors.New("there is no such session any more")
)

// Session is what is known of one session of a namespace; ok is false when there is none.
func (s *Store) Session(ctx context.Context, namespace, sessionID string) (v Session, ok bool, err error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return v, false, nil
	}
	found, err := s.sessions(ctx, "s.ns = ? AND s.session_id = ?", ns, sessionID)
	if err != nil || len(found) == 0 {
		return v, false, err
	}
	return found[0], true, nil
}

// Talk are the prompts and answers of a session, oldest first, without its tool uses and notes, and when its newest event
// of any kind happened: its own time, or that of its arrival if that is earlier.
func (s *Store) Talk(ctx context.Context, namespace, sessionID string) (events []event.Event, last time.Time, err error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, last, nil
	}
	events, err = s.events(ctx, `WHERE ns = ? AND session_id = ? AND kind IN ('prompt', 'session_summary') ORDER BY event_id`, ns, sessionID)
	if err != nil {
		return nil, last, err
	}
	var at string
	var arrived int64
	err = s.read.QueryRowContext(ctx, `SELECT valid_time, received_ms FROM events WHERE ns = ? AND session_id = ?
		ORDER BY event_id DESC LIMIT 1`, ns, sessionID).Scan(&at, &arrived)
	if errors.Is(err, sql.ErrNoRows) {
		return events, last, nil
	}
	if err != nil {
		return nil, last, fmt.Errorf("find the last event: %w", err)
	}
	last = time.UnixMilli(arrived)
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil && t.Before(last) {
		last = t
	}
	return events, last, nil
}

// EachEvent calls f for every event of a session, oldest first, until f gives false. Only one is in memory at a time.
func (s *Store) EachEvent(ctx context.Context, namespace, sessionID string, f func(event.Event) bool) error {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil
	}
	rows, err := s.read.QueryContext(ctx, `SELECT event_id, ns, session_id, kind, parent_event_id, actor_id, valid_time,
		source, content_hash, body FROM events WHERE ns = ? AND session_id = ? ORDER BY event_id`, ns, sessionID)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		e, err := s.scanEvent(rows)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if !f(e) {
			return nil
		}
	}
	return rows.Err()
}

// SessionSummary is the summary that is kept of a session; ok is false when there is none.
func (s *Store) SessionSummary(ctx context.Context, namespace, sessionID string) (v SessionSummary, ok bool, err error) {
	ns, known := s.spaces.id(namespace)
	if !known {
		return v, false, nil
	}
	var ms int64
	err = s.read.QueryRowContext(ctx, `SELECT sig, gen, user_turns, state, generated_ms, data FROM session_summaries
		WHERE ns = ? AND session_id = ?`, ns, sessionID).Scan(&v.Sig, &v.Gen, &v.UserTurns, &v.State, &ms, &v.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	if err != nil {
		return v, false, fmt.Errorf("read a session's summary: %w", err)
	}
	v.Generated = time.UnixMilli(ms).UTC()
	return v, true, nil
}

// SaveSessionSummary keeps a summary in place of an earlier one if the session still is as it was when v.Sig and v.Gen
// were taken; else it gives ErrMoved or ErrGone and changes nothing. An event that arrives, a prompt that opens a turn
// among them, moves both.
func (s *Store) SaveSessionSummary(ctx context.Context, namespace, sessionID string, v SessionSummary) error {
	return s.submit(ctx, func(w *writerTx) error {
		ns, ok := s.spaces.id(namespace)
		if !ok {
			return ErrGone
		}
		var sig string
		var gen int64
		err := w.row("SELECT last_event, gen FROM sessions WHERE ns = ? AND session_id = ?", []any{ns, sessionID}, &sig, &gen)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrGone
		}
		if err != nil {
			return fmt.Errorf("keep a session's summary: %w", err)
		}
		if sig != v.Sig || gen != v.Gen {
			return ErrMoved
		}
		_, err = w.exec(`INSERT OR REPLACE INTO session_summaries(ns, session_id, sig, gen, user_turns, state, generated_ms, data)
			VALUES (?,?,?,?,?,?,?,?)`, ns, sessionID, v.Sig, v.Gen, v.UserTurns, v.State, v.Generated.UnixMilli(), string(v.Data))
		if err != nil {
			return fmt.Errorf("keep a session's summary: %w", err)
		}
		return nil
	})
}

// SummaryStates gives the state of every session of a namespace that has a summary, by session id; an empty namespace
// gives all. The key of the outer map is the namespace.
func (s *Store) SummaryStates(ctx context.Context, namespace string) (map[string]map[string]string, error) {
	cond, args := "1", []any{}
	if namespace != "" {
		ns, ok := s.spaces.id(namespace)
		if !ok {
			return nil, nil
		}
		cond, args = "ns = ?", []any{ns}
	}
	rows, err := s.read.QueryContext(ctx, "SELECT ns, session_id, state FROM session_summaries WHERE "+cond, args...)
	if err != nil {
		return nil, fmt.Errorf("read the summaries' states: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]map[string]string{}
	for rows.Next() {
		var ns int64
		var id, state string
		if err := rows.Scan(&ns, &id, &state); err != nil {
			return nil, fmt.Errorf("read the summaries' states: %w", err)
		}
		name := s.spaces.name(ns)
		if out[name] == nil {
			out[name] = map[string]string{}
		}
		out[name][id] = state
	}
	return out, rows.Err()
}
