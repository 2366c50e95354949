package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"kiro-learn/internal/event"
)

// Selection says what to forget: the records and events that are named; or a session; or all that a namespace holds; or
// what was made before a time or holds a text, within a namespace and a session if they are given.
type Selection struct {
	Namespace string    // needed for Session and All; else empty means any
	Records   []string  // record ids; the events of the turns that they were made from go with them
	Events    []string  // event ids; the records made from them go with them
	Session   string    // a session id
	All       bool      // everything of the namespace
	Before    time.Time // zero: of any age
	Contains  string    // letters count alike whether small or capital
}

// Forgotten tells what an act of forgetting took.
type Forgotten struct {
	ID       int64     `json:"id,omitempty"` // by which it can be undone; 0 when it cannot
	At       time.Time `json:"at"`
	What     string    `json:"what"` // "ids", "session", "project" or "search"
	Events   int       `json:"events"`
	Records  int       `json:"records"`
	Sessions int       `json:"sessions"`
	Related  []string  `json:"related,omitempty"` // records that stay although an event or all events behind them go
}

// Empty tells that nothing was selected.
func (f *Forgotten) Empty() bool { return f.Events == 0 && f.Records == 0 && f.Sessions == 0 }

// querier reads: the store's readers, or the writer within its transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// WouldForget tells what Forget would take.
func (s *Store) WouldForget(ctx context.Context, sel Selection, now bool) (Forgotten, error) {
	sel, what, err := s.searched(ctx, sel)
	if err != nil {
		return Forgotten{}, fmt.Errorf("choose what to forget: %w", err)
	}
	t, err := s.chooseAll(ctx, s.read, sel)
	if err != nil {
		return Forgotten{}, fmt.Errorf("choose what to forget: %w", err)
	}
	out, err := t.counted(ctx, s.read)
	out.What, out.At = what, s.now().UTC()
	if err == nil && now {
		var waiting trashed
		if waiting, err = s.waiting(ctx, s.read, sel, t.records); err == nil {
			out.add(waiting)
		}
	}
	if err != nil {
		return Forgotten{}, fmt.Errorf("choose what to forget: %w", err)
	}
	return out, nil
}

func (f *Forgotten) add(t trashed) {
	f.Events, f.Records, f.Sessions = f.Events+t.events, f.Records+t.records, f.Sessions+t.sessions
}

// Forget takes what is selected out of every table and index in one transaction, so that nothing finds it any more. It
// can be brought back with Restore until Purge lets it go; with now set it is not kept at all, nor is what was forgotten
// before and is selected again, and Erase makes sure of the file. Events of it that are delivered later, or again, are
// not stored.
func (s *Store) Forget(ctx context.Context, sel Selection, now bool) (out Forgotten, err error) {
	sel, what, err := s.searched(ctx, sel)
	if err != nil {
		return out, fmt.Errorf("choose what to forget: %w", err)
	}
	err = s.submit(ctx, func(w *writerTx) error {
		t, err := s.chooseAll(context.Background(), w.conn, sel)
		if err != nil {
			return err
		}
		if out, err = t.counted(context.Background(), w.conn); err != nil {
			return err
		}
		out.What, out.At = what, s.now().UTC()
		id, err := t.take(w, s, &out, now)
		if err != nil {
			return err
		}
		if now {
			waiting, err := s.waiting(context.Background(), w.conn, sel, nil)
			if err != nil {
				return err
			}
			out.add(waiting)
			return s.emptyTrash(w, sel, waiting)
		}
		out.ID = id
		return nil
	})
	if err != nil {
		return Forgotten{}, fmt.Errorf("forget: %w", err)
	}
	s.counts.forget()
	return out, nil
}

// searched turns a search by text or age into the ids that it finds.
func (s *Store) searched(ctx context.Context, sel Selection) (Selection, string, error) {
	switch {
	case sel.Contains != "" || !sel.Before.IsZero():
		found := Selection{Namespace: sel.Namespace}
		var err error
		found.Records, found.Events, err = s.holding(ctx, sel)
		return found, "search", err
	case sel.All:
		return sel, "project", nil
	case sel.Session != "":
		return sel, "session", nil
	}
	return sel, "ids", nil
}

// targets are the rows that go.
type targets struct {
	ns       int64
	all      bool
	whole    []place  // sessions that go altogether
	touched  []place  // sessions that lose some events
	events   []int64  // seq
	records  []int64  // id
	old      []string // ids of superseded records
	eventIDs []string
}

// place is a session of a namespace.
type place struct {
	ns      int64
	session string
}

// chooseAll finds the rows of a selection, and what its records once stood for, since that says the same.
func (s *Store) chooseAll(ctx context.Context, q querier, sel Selection) (*targets, error) {
	t, err := s.choose(ctx, q, sel)
	if err != nil {
		return nil, err
	}
	cond, args := "0", []any{list(t.records), list(sel.Records)}
	switch {
	case t.ns == 0 && sel.Namespace != "":
		return t, nil
	case t.all:
		cond, args = "ns = ?3", append(args, t.ns)
	case sel.Session != "":
		cond, args = "ns = ?3 AND session_id = ?4", append(args, t.ns, sel.Session)
	case t.ns != 0:
		cond, args = "ns = ?3 AND record_id IN (SELECT value FROM json_each(?2))", append(args, t.ns)
	default:
		cond = "record_id IN (SELECT value FROM json_each(?2))"
	}
	t.old, err = column[string](ctx, q, `WITH RECURSIVE chain(id) AS (SELECT record_id FROM records WHERE id IN (SELECT value FROM json_each(?1))
		UNION SELECT record_id FROM history WHERE `+cond+` UNION SELECT h.record_id FROM history h JOIN chain c ON h.by_id = c.id)
		SELECT record_id FROM history WHERE record_id IN (SELECT id FROM chain) AND ?2 <> ''`, args...)
	return t, err
}

// choose finds the rows of a selection.
func (s *Store) choose(ctx context.Context, q querier, sel Selection) (*targets, error) {
	t := &targets{}
	if sel.Namespace != "" {
		var ok bool
		if t.ns, ok = s.spaces.id(sel.Namespace); !ok {
			return t, nil
		}
	}
	if sel.All || sel.Session != "" {
		if t.ns == 0 {
			return t, nil
		}
		t.all = sel.All
		return t, t.chooseSessions(ctx, q, s.summarySpaces(sel.Namespace), sel.Session)
	}
	if err := t.chooseIDs(ctx, q, sel); err != nil {
		return nil, err
	}
	if err := t.places(ctx, q); err != nil {
		return nil, err
	}
	var spaces []int64 // what summaries say of a session that loses events may quote them
	for _, p := range append(append([]place{}, t.whole...), t.touched...) {
		spaces = append(spaces, s.summarySpaces(s.spaces.name(p.ns))[p.session]...)
	}
	more, err := column[int64](ctx, q, "SELECT id FROM records WHERE ns IN (SELECT value FROM json_each(?))", list(spaces))
	t.records = union(t.records, more)
	return t, err
}

// summarySpaces are the namespaces in which summaries of an actor's sessions lie beside the project's, by session.
func (s *Store) summarySpaces(namespace string) map[string][]int64 {
	actor, _, _ := event.SplitNamespace(namespace)
	out := map[string][]int64{}
	s.spaces.mu.RLock()
	defer s.spaces.mu.RUnlock()
	for ns, id := range s.spaces.ids {
		if !strings.HasPrefix(ns, "/strategy/") {
			continue
		}
		if _, session, ok := strings.Cut(ns, "/actor/"+actor+"/session/"); ok {
			session = strings.TrimSuffix(session, "/")
			out[session] = append(out[session], id)
		}
	}
	return out
}

// chooseSessions takes one session of the namespace, or all that the namespace holds.
func (t *targets) chooseSessions(ctx context.Context, q querier, beside map[string][]int64, session string) error {
	cond, args := "ns = ?", []any{t.ns}
	if !t.all {
		cond, args = cond+" AND session_id = ?", append(args, session)
	}
	names, err := column[string](ctx, q, "SELECT session_id FROM sessions WHERE "+cond, args...)
	if err != nil {
		return err
	}
	var spaces []int64
	for _, n := range names {
		t.whole = append(t.whole, place{t.ns, n})
		for _, ns := range beside[n] {
			t.whole = append(t.whole, place{ns, n})
			spaces = append(spaces, ns)
		}
	}
	if t.events, err = column[int64](ctx, q, "SELECT seq FROM events WHERE "+cond, args...); err != nil {
		return err
	}
	if t.records, err = column[int64](ctx, q, "SELECT id FROM records WHERE "+cond, args...); err != nil {
		return err
	}
	more, err := column[int64](ctx, q, "SELECT id FROM records WHERE ns IN (SELECT value FROM json_each(?))", list(spaces))
	t.records = append(t.records, more...)
	return err
}

// chooseIDs takes the records and events that are named, the events of the turns that the records were made from, and
// the records made from the events.
func (t *targets) chooseIDs(ctx context.Context, q querier, sel Selection) (err error) {
	in := func(col string) string {
		c := col + " IN (SELECT value FROM json_each(?1))"
		if t.ns != 0 {
			c += " AND ns = ?2"
		}
		return c
	}
	args := func(v any) []any {
		if t.ns != 0 {
			return []any{list(v), t.ns}
		}
		return []any{list(v)}
	}
	if t.records, err = column[int64](ctx, q, "SELECT id FROM records WHERE "+in("record_id"), args(sel.Records)...); err != nil {
		return err
	}
	named, err := column[int64](ctx, q, "SELECT seq FROM events WHERE "+in("event_id"), args(sel.Events)...)
	if err != nil {
		return err
	}
	made, err := column[int64](ctx, q, `SELECT DISTINCT r.id FROM events e JOIN records r ON r.ns = e.ns AND r.session_id = e.session_id, json_each(r.sources) j
		WHERE e.seq IN (SELECT value FROM json_each(?)) AND j.value = e.event_id`, list(named))
	if err != nil {
		return err
	}
	// A note is the record that an agent saved; it says nothing else, and its turn nothing of it.
	turns, err := column[int64](ctx, q, `WITH src AS (SELECT DISTINCT e.seq, e.event_id, e.parent_event_id, e.kind, e.ns, e.session_id FROM records r, json_each(r.sources) j
		JOIN events e ON e.event_id = j.value WHERE r.id IN (SELECT value FROM json_each(?)) AND e.ns = r.ns),
		heads AS (SELECT ns, session_id, CASE WHEN kind = 'prompt' OR parent_event_id = '' THEN event_id ELSE parent_event_id END head FROM src WHERE kind <> 'note')
		SELECT seq FROM src UNION
		SELECT e.seq FROM heads h JOIN events e ON e.ns = h.ns AND e.session_id = h.session_id WHERE e.event_id = h.head OR e.parent_event_id = h.head`, list(t.records))
	if err != nil {
		return err
	}
	t.records, t.events = union(t.records, made), union(named, turns)
	return nil
}

// places finds the sessions that the chosen events leave empty or shorter.
func (t *targets) places(ctx context.Context, q querier) error {
	rows, err := q.QueryContext(ctx, `SELECT c.ns, c.session_id, c.n = (SELECT count(*) FROM events e WHERE e.ns = c.ns AND e.session_id = c.session_id)
		FROM (SELECT ns, session_id, count(*) n FROM events WHERE seq IN (SELECT value FROM json_each(?)) GROUP BY ns, session_id) c`, list(t.events))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var p place
		var empty bool
		if err := rows.Scan(&p.ns, &p.session, &empty); err != nil {
			return err
		}
		if empty {
			t.whole = append(t.whole, p)
		} else {
			t.touched = append(t.touched, p)
		}
	}
	return rows.Err()
}

// counted says what goes, and which records stay that share an event with it or are all that is left of their session.
func (t *targets) counted(ctx context.Context, q querier) (out Forgotten, err error) {
	out.Events, out.Records = len(t.events), len(t.records)+len(t.old)
	if t.eventIDs, err = column[string](ctx, q, "SELECT event_id FROM events WHERE seq IN (SELECT value FROM json_each(?))", list(t.events)); err != nil {
		return out, err
	}
	left, err := recordsLeft(ctx, q, t.whole, t.records)
	if err != nil {
		return out, err
	}
	var stay []int64
	for _, p := range t.whole {
		if stay = append(stay, left[p]...); len(left[p]) == 0 && (t.ns == 0 || p.ns == t.ns) {
			out.Sessions++
		}
	}
	if len(t.touched)+len(stay) == 0 {
		return out, nil
	}
	out.Related, err = column[string](ctx, q, `SELECT record_id FROM records WHERE id IN (SELECT value FROM json_each(?3) UNION
		SELECT r.id FROM events e JOIN records r ON r.ns = e.ns AND r.session_id = e.session_id, json_each(r.sources) j
		WHERE e.seq IN (SELECT value FROM json_each(?1)) AND j.value = e.event_id AND r.id NOT IN (SELECT value FROM json_each(?2))) ORDER BY id`,
		list(t.events), list(t.records), list(stay))
	return out, err
}

// recordsLeft are the records of sessions that stay when some go.
func recordsLeft(ctx context.Context, q querier, of []place, gone []int64) (map[place][]int64, error) {
	pairs := make([][2]any, len(of))
	for i, p := range of {
		pairs[i] = [2]any{p.ns, p.session}
	}
	rows, err := q.QueryContext(ctx, `SELECT r.ns, r.session_id, r.id FROM json_each(?1) p JOIN records r ON r.session_id = p.value ->> 1 AND r.ns = p.value ->> 0
		WHERE r.session_id <> '' AND r.id NOT IN (SELECT value FROM json_each(?2)) ORDER BY r.id`, list(pairs), list(gone))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	left := map[place][]int64{}
	for rows.Next() {
		var p place
		var id int64
		if err := rows.Scan(&p.ns, &p.session, &id); err != nil {
			return nil, err
		}
		left[p] = append(left[p], id)
	}
	return left, rows.Err()
}

// until is the greatest id that an event made so far can have.
func (s *Store) until() string {
	var id ulid.ULID
	_ = id.SetTime(uint64(max(s.now().UnixMilli(), 0))) // a year that does not fit leaves zero, and the newest event's id counts
	for i := 6; i < len(id); i++ {
		id[i] = 0xff
	}
	return id.String()
}

func sessionKey(session string) string {
	h := sha256.Sum256([]byte(session))
	return "s:" + hex.EncodeToString(h[:])
}

// buried tells whether an event belongs to what has been forgotten.
func (s *Store) buried(w *writerTx, ns int64, e *event.Event) (bool, error) {
	if !s.graves[ns] {
		return false, nil // as in most projects, and each event asks
	}
	var n int
	err := w.row("SELECT count(*) FROM tombstones WHERE ns = ? AND key IN ('', ?, ?) AND until_id >= ?",
		[]any{ns, sessionKey(e.SessionID), "e:" + e.EventID, e.EventID}, &n)
	return n > 0, err
}

func (s *Store) loadGraves() error {
	all, err := column[int64](context.Background(), s.read, "SELECT DISTINCT ns FROM tombstones")
	s.graves = make(map[int64]bool, len(all))
	for _, ns := range all {
		s.graves[ns] = true
	}
	return err
}

// bury keeps what goes from coming back.
func (t *targets) bury(w *writerTx, s *Store, forgetting int64) error {
	put := func(ns int64, key, until string) error {
		s.graves[ns] = true
		_, err := w.exec(`INSERT INTO tombstones(ns, key, until_id, forgetting) VALUES (?,?,?,?)
			ON CONFLICT(ns, key) DO UPDATE SET until_id = max(until_id, excluded.until_id), forgetting = excluded.forgetting`, ns, key, until, forgetting)
		return err
	}
	if t.all {
		return put(t.ns, "", s.until())
	}
	for _, p := range t.whole {
		if err := put(p.ns, sessionKey(p.session), s.until()); err != nil {
			return err
		}
	}
	if len(t.touched) == 0 {
		return nil
	}
	for _, p := range t.touched {
		s.graves[p.ns] = true
	}
	_, err := w.conn.ExecContext(context.Background(), `INSERT OR REPLACE INTO tombstones(ns, key, until_id, forgetting)
		SELECT ns, 'e:' || event_id, event_id, ? FROM events WHERE seq IN (SELECT value FROM json_each(?))`, forgetting, list(t.events))
	return err
}

// column reads the first column of a query's rows.
func column[T any](ctx context.Context, q querier, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []T
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// list is values as the JSON that json_each takes apart.
func list(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" {
		return "[]"
	}
	return string(b)
}

func union(a, b []int64) []int64 {
	seen := make(map[int64]bool, len(a)+len(b))
	var out []int64
	for _, v := range append(append(make([]int64, 0, len(a)+len(b)), a...), b...) {
		if !seen[v] {
			seen[v], out = true, append(out, v)
		}
	}
	return out
}
