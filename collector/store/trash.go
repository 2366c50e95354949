package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

// ErrNothing means that there is nothing to bring back.
var ErrNothing = errors.New("nothing that was forgotten can be brought back")

// A table that has the columns ns and session_id says something of a session. Such a table need not be known here: what
// it says goes with the session, and when the session loses events, since it may quote them.
func sessionTables(ctx context.Context, q querier) ([]string, error) {
	all, err := column[string](ctx, q, `SELECT m.name FROM sqlite_schema m WHERE m.type = 'table'
		AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'ns')
		AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'session_id') ORDER BY m.name`)
	return slices.DeleteFunc(all, func(t string) bool {
		return t == "events" || t == "records" || t == "sessions" || t == "shown" || t == "trash" || t == "history"
	}), err
}

// take moves the chosen rows into the trash, or deletes them, and gives the number of the act.
func (t *targets) take(w *writerTx, s *Store, out *Forgotten, now bool) (id int64, err error) {
	if out.Empty() {
		return 0, nil
	}
	ctx := context.Background()
	if !now {
		err := w.row("INSERT INTO forgettings(at_ms, what, events, records, sessions) VALUES (?,?,?,?,?) RETURNING id",
			[]any{out.At.UnixMilli(), out.What, out.Events, out.Records, out.Sessions}, &id)
		if err != nil {
			return 0, err
		}
	}
	if err := t.bury(w, s, id); err != nil {
		return 0, err
	}
	bound, err := sessionTables(ctx, w.conn)
	if err != nil {
		return 0, err
	}
	if err := w.keepRecordNumbers(t.records); err != nil {
		return 0, err
	}
	const these = " IN (SELECT value FROM json_each(?))"
	move := mover{w: w, forgetting: id}
	move.rows("records", "record_id", "id"+these, list(t.records))
	move.delete("DELETE FROM search WHERE rowid"+these, list(t.records))
	move.rows("history", "record_id", "record_id"+these, list(t.old))
	move.rows("events", "event_id", "seq"+these, list(t.events))
	for _, p := range slices.Concat(t.whole, t.touched) {
		for _, table := range bound {
			move.rows(table, "''", "ns = ? AND session_id = ?", p.ns, p.session)
		}
	}
	for _, p := range t.touched { // what was met may be words of a prompt that goes
		move.delete("UPDATE shown SET why = '' WHERE ns = ? AND session_id = ?", p.ns, p.session)
	}
	for _, p := range t.whole {
		move.delete("DELETE FROM shown WHERE ns = ? AND session_id = ?", p.ns, p.session)
		move.rows("sessions", "session_id", "ns = ? AND session_id = ?", p.ns, p.session)
	}
	if move.err != nil {
		return 0, move.err
	}
	for _, p := range t.touched {
		if err := w.recount(p); err != nil {
			return 0, err
		}
	}
	if now && t.all {
		if err := w.forgetPaths(); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// keepRecordNumbers keeps the numbers of records that go from being given again: others remember records by them.
func (w *writerTx) keepRecordNumbers(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := w.exec(`INSERT INTO meta(key, value) VALUES ('records_top', ?1)
		ON CONFLICT(key) DO UPDATE SET value = max(CAST(value AS INTEGER), CAST(?1 AS INTEGER))`, slices.Max(ids))
	return err
}

// forgetPaths clears where projects lie of which nothing is left.
func (w *writerTx) forgetPaths() error {
	_, err := w.exec(`UPDATE namespaces SET project_path = '' WHERE project_path <> '' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.ns = namespaces.id)
		AND NOT EXISTS (SELECT 1 FROM records r WHERE r.ns = namespaces.id) AND NOT EXISTS (SELECT 1 FROM trash t WHERE t.ns = namespaces.id)`)
	return err
}

// mover moves rows into the trash, or deletes them where there is no act to undo. It stops at the first error.
type mover struct {
	w          *writerTx
	forgetting int64 // 0: delete
	err        error
}

func (m *mover) delete(query string, args ...any) {
	if m.err == nil {
		_, m.err = m.w.conn.ExecContext(context.Background(), query, args...)
	}
}

func (m *mover) rows(table, key, cond string, args ...any) {
	if m.forgetting != 0 && m.err == nil {
		var object string
		if object, m.err = m.w.rowObject(table); m.err != nil {
			return
		}
		m.delete("INSERT INTO trash(forgetting, tbl, ns, session_id, key, row) SELECT ?, ?, ns, session_id, "+key+
			", "+object+" FROM "+table+" WHERE "+cond, append([]any{m.forgetting, table}, args...)...)
	}
	m.delete("DELETE FROM "+table+" WHERE "+cond, args...)
}

// rowObject is the SQL of a JSON object of all columns of a table's row, from which insertRow makes the row again.
func (w *writerTx) rowObject(table string) (string, error) {
	cols, err := columnsOf(w.conn, table)
	for i, c := range cols {
		cols[i] = "'" + c + "'," + c
	}
	return "json_object(" + strings.Join(cols, ",") + ")", err
}

func columnsOf(q querier, table string) ([]string, error) {
	return column[string](context.Background(), q, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table)
}

// recount makes a session's row say what its events say, after some came or went. Its counter moves on.
func (w *writerTx) recount(p place) error {
	var body string
	err := w.row("SELECT body FROM events WHERE ns = ? AND session_id = ? AND kind = 'prompt' ORDER BY event_id LIMIT 1", []any{p.ns, p.session}, &body)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	title := ""
	if b, err := event.ParseBody([]byte(body)); err == nil {
		title = firstLine(b.Text())
	}
	first, last, err := w.span(p)
	if err != nil {
		return err
	}
	_, err = w.exec(`INSERT INTO sessions(ns, session_id, surface, first_ms, last_ms, events, prompts, title, last_event, gen)
		SELECT ns, session_id, source ->> '$.surface', ?4, ?5, count(*), sum(kind = 'prompt'), ?3, max(event_id), 1
		FROM events WHERE ns = ?1 AND session_id = ?2 GROUP BY ns, session_id
		ON CONFLICT(ns, session_id) DO UPDATE SET first_ms = excluded.first_ms, last_ms = excluded.last_ms, events = excluded.events,
		prompts = excluded.prompts, title = excluded.title, last_event = excluded.last_event, gen = gen + 1`, p.ns, p.session, title, first, last)
	return err
}

// span is when a session's first and last events happened, in Unix milliseconds.
func (w *writerTx) span(p place) (first, last int64, err error) {
	rows, err := w.conn.QueryContext(context.Background(), "SELECT valid_time, received_ms FROM events WHERE ns = ? AND session_id = ?", p.ns, p.session)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = rows.Close() }()
	for some := false; rows.Next(); some = true {
		var valid string
		var at int64
		if err := rows.Scan(&valid, &at); err != nil {
			return 0, 0, err
		}
		if t, err := time.Parse(time.RFC3339Nano, valid); err == nil {
			at = t.UnixMilli()
		}
		if !some {
			first, last = at, at
		}
		first, last = min(first, at), max(last, at)
	}
	return first, last, rows.Err()
}

// Forgettings lists what can be brought back, the latest first.
func (s *Store) Forgettings(ctx context.Context) ([]Forgotten, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT id, at_ms, what, events, records, sessions FROM forgettings ORDER BY id DESC")
	if err != nil {
		return nil, fmt.Errorf("list what was forgotten: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []Forgotten{}
	for rows.Next() {
		var f Forgotten
		var at int64
		if err := rows.Scan(&f.ID, &at, &f.What, &f.Events, &f.Records, &f.Sessions); err != nil {
			return nil, fmt.Errorf("list what was forgotten: %w", err)
		}
		f.At = time.UnixMilli(at).UTC()
		out = append(out, f)
	}
	return out, rows.Err()
}

// Restore undoes an act of forgetting, the latest one where id is 0. It gives ErrNothing when there is none.
func (s *Store) Restore(ctx context.Context, id int64) (out Forgotten, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		w.change = Change{}
		var at int64
		err := w.row(`SELECT id, at_ms, what, events, records, sessions FROM forgettings
			WHERE id = CASE WHEN ?1 = 0 THEN (SELECT max(id) FROM forgettings) ELSE ?1 END`, []any{id},
			&out.ID, &at, &out.What, &out.Events, &out.Records, &out.Sessions)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNothing
		}
		if err != nil {
			return err
		}
		out.At = time.UnixMilli(at).UTC()
		return s.restore(w, out.ID)
	})
	if errors.Is(err, ErrNothing) {
		return Forgotten{}, ErrNothing
	}
	if err != nil {
		return Forgotten{}, fmt.Errorf("bring back what was forgotten: %w", err)
	}
	return out, nil
}

func (s *Store) restore(w *writerTx, id int64) error {
	ctx := context.Background()
	tables, err := column[string](ctx, w.conn, "SELECT DISTINCT tbl FROM trash WHERE forgetting = ?", id)
	if err != nil {
		return err
	}
	// A session's row before what refers to it, and the others in any order.
	slices.SortStableFunc(tables, func(a, b string) int { return rank(a) - rank(b) })
	for _, table := range tables {
		if err := w.putBack(id, table); err != nil {
			return err
		}
	}
	back, err := s.recordsOn(ctx, w.conn, "records r WHERE r.record_id IN (SELECT key FROM trash WHERE forgetting = ? AND tbl = 'records')", id)
	if err != nil {
		return err
	}
	for _, r := range back {
		ns, err := s.spaces.ensure(w, r.Namespace, "")
		if err != nil {
			return err
		}
		if err := s.indexRecord(w, r.ID, ns, r.Record); err != nil {
			return err
		}
	}
	sessions, err := w.placesOf(id)
	if err != nil {
		return err
	}
	for _, p := range sessions {
		if err := w.recount(p); err != nil {
			return err
		}
	}
	if _, err := w.exec("DELETE FROM tombstones WHERE forgetting = ?", id); err != nil {
		return err
	}
	_, err = w.exec("DELETE FROM forgettings WHERE id = ?", id)
	return err
}

func rank(table string) int {
	if table == "sessions" {
		return 0
	}
	return 1
}

// placesOf are the sessions whose events an act took.
func (w *writerTx) placesOf(id int64) ([]place, error) {
	rows, err := w.conn.QueryContext(context.Background(), "SELECT DISTINCT ns, session_id FROM trash WHERE forgetting = ? AND tbl = 'events'", id)
	if err != nil {
		return nil, err
	}
	return readPlaces(rows)
}

// readPlaces reads rows of a namespace's number and a session's id.
func readPlaces(rows *sql.Rows) (out []place, err error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.ns, &p.session); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// putBack inserts the rows of one table as they were. One that has come back by another way stays as it is; an event
// gets a new place in the order of arrival, since its old one may be taken.
// countBack counts the events of an act of forgetting by their hours, but for those that have come back another way.
func (w *writerTx) countBack(id int64) error {
	_, err := w.conn.ExecContext(context.Background(), `INSERT INTO hours(ns, hour, what, n)
		SELECT ns, coalesce(strftime('%s', row ->> '$.valid_time'), (row ->> '$.received_ms') / 1000) / 3600 AS hour, 'e' || (row ->> '$.kind') AS what, count(*)
		FROM trash t WHERE forgetting = ? AND tbl = 'events' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.event_id = t.key)
		GROUP BY ns, hour, what ON CONFLICT(ns, hour, what) DO UPDATE SET n = n + excluded.n`, id)
	return err
}

func (w *writerTx) putBack(id int64, table string) error {
	have, err := columnsOf(w.conn, table)
	if err != nil {
		return err
	}
	var raw string
	if err := w.row("SELECT row FROM trash WHERE forgetting = ? AND tbl = ? LIMIT 1", []any{id, table}, &raw); err != nil {
		return err
	}
	var kept map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &kept); err != nil {
		return err
	}
	var cols, values []string
	for _, c := range have {
		if _, ok := kept[c]; ok && (table != "events" || c != "seq") {
			cols, values = append(cols, c), append(values, "row ->> '$."+c+"'")
		}
	}
	if table == "events" {
		if err := w.countBack(id); err != nil {
			return err
		}
	}
	_, err = w.conn.ExecContext(context.Background(), "INSERT OR IGNORE INTO "+table+"("+strings.Join(cols, ",")+") SELECT "+
		strings.Join(values, ",")+" FROM trash WHERE forgetting = ? AND tbl = ? ORDER BY id", id, table)
	return err
}
