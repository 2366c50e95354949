package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Purge lets go for good what was forgotten before a time, and gives how many acts that were.
func (s *Store) Purge(ctx context.Context, before time.Time) (n int, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		res, err := w.exec("DELETE FROM forgettings WHERE at_ms < ?", before.UnixMilli())
		if err != nil {
			return err
		}
		gone, err := res.RowsAffected()
		if n = int(gone); err != nil || n == 0 {
			return err
		}
		return w.forgetPaths()
	})
	if err != nil {
		return 0, fmt.Errorf("let go what was forgotten: %w", err)
	}
	return n, nil
}

// trashed is what was forgotten before and is selected again.
type trashed struct {
	cond                      string
	args                      []any
	events, records, sessions int
}

// waiting finds what was forgotten before and is selected again. A session of which records are there, other than those
// that are about to go, does not count as going.
func (s *Store) waiting(ctx context.Context, q querier, sel Selection, gone []int64) (t trashed, err error) {
	t.cond = "0"
	switch ns, known := s.spaces.id(sel.Namespace); {
	case sel.All && known:
		t.cond, t.args = "ns = ?1", []any{ns}
	case sel.Session != "" && known:
		spaces := append(s.summarySpaces(sel.Namespace)[sel.Session], ns)
		t.cond, t.args = "session_id = ?1 AND ns IN (SELECT value FROM json_each(?2))", []any{sel.Session, list(spaces)}
	case len(sel.Records)+len(sel.Events) > 0:
		keys, err := trashKeys(ctx, q, sel)
		if err != nil {
			return t, err
		}
		// What is said of the sessions may quote it.
		t.cond = `(key IN (SELECT value FROM json_each(?1)) OR tbl NOT IN ('events', 'records') AND (ns, session_id) IN
			(SELECT ns, session_id FROM trash WHERE key IN (SELECT value FROM json_each(?1))))`
		t.args = []any{list(keys)}
	}
	for table, n := range map[string]*int{"events": &t.events, "records": &t.records} {
		found, err := column[int](ctx, q, "SELECT count(*) FROM trash WHERE tbl = '"+table+"' AND "+t.cond, t.args...)
		if err != nil {
			return t, err
		}
		*n = found[0]
	}
	rows, err := q.QueryContext(ctx, "SELECT DISTINCT ns, session_id FROM trash WHERE tbl = 'sessions' AND "+t.cond, t.args...)
	if err != nil {
		return t, err
	}
	places, err := readPlaces(rows)
	if err != nil {
		return t, err
	}
	left, err := recordsLeft(ctx, q, places, gone)
	t.sessions = len(places) - len(left)
	return t, err
}

// emptyTrash deletes what was forgotten before and is selected again.
func (s *Store) emptyTrash(w *writerTx, sel Selection, t trashed) error {
	if _, err := w.conn.ExecContext(context.Background(), "DELETE FROM trash WHERE "+t.cond, t.args...); err != nil {
		return err
	}
	if _, err := w.exec("DELETE FROM forgettings WHERE NOT EXISTS (SELECT 1 FROM trash t WHERE t.forgetting = forgettings.id)"); err != nil {
		return err
	}
	if sel.All {
		return w.forgetPaths()
	}
	return nil
}

// trashKeys are the ids in the trash that go with the selected ones, as Forget has them go together.
func trashKeys(ctx context.Context, q querier, sel Selection) ([]string, error) {
	named := append(append([]string{}, sel.Records...), sel.Events...)
	more, err := column[string](ctx, q, `WITH named AS (SELECT value id FROM json_each(?)),
		src AS (SELECT j.value id FROM trash t, json_each(t.row, '$.sources') s, json_each(s.atom) j WHERE t.tbl = 'records' AND t.key IN (SELECT id FROM named)),
		heads AS (SELECT CASE WHEN row ->> '$.kind' = 'prompt' OR row ->> '$.parent_event_id' = '' THEN key ELSE row ->> '$.parent_event_id' END id
			FROM trash WHERE tbl = 'events' AND key IN (SELECT id FROM src) AND row ->> '$.kind' <> 'note')
		SELECT key FROM trash WHERE tbl = 'events' AND (key IN (SELECT id FROM src UNION SELECT id FROM heads) OR row ->> '$.parent_event_id' IN (SELECT id FROM heads))
		UNION SELECT t.key FROM trash t, json_each(t.row, '$.sources') s, json_each(s.atom) j WHERE t.tbl = 'records' AND j.value IN (SELECT id FROM named)`, list(named))
	return append(named, more...), err
}

// holding finds the records and events that a search by text and age selects, what waits to be undone among them.
func (s *Store) holding(ctx context.Context, sel Selection) (records, events []string, err error) {
	cond, args := "1", []any{}
	if sel.Namespace != "" {
		ns, ok := s.spaces.id(sel.Namespace)
		if !ok {
			return nil, nil, nil
		}
		cond, args = cond+" AND ns = ?", append(args, ns)
	}
	if sel.Session != "" {
		cond, args = cond+" AND session_id = ?", append(args, sel.Session)
	}
	aged := func(col string) string {
		if sel.Before.IsZero() {
			return cond
		}
		return cond + " AND " + col + " < " + fmt.Sprint(sel.Before.UnixMilli())
	}
	const valid = "coalesce(CAST(round(unixepoch(%[1]s, 'subsec') * 1000) AS INTEGER), %[2]s)"
	inTrash := func(col string) string { return "(row ->> '$." + col + "')" }
	type source struct {
		query string
		into  *[]string
	}
	of := func(format string, cols ...any) string { return fmt.Sprintf(format, cols...) }
	for _, src := range []source{
		{"SELECT record_id, title || char(10) || summary, facts || concepts || files FROM records WHERE " + aged("created_ms"), &records},
		{"SELECT event_id, session_id, body FROM events WHERE " + aged(of(valid, "valid_time", "received_ms")), &events},
		{of("SELECT record_id, %s || char(10) || %s, %s || %s || %s FROM history WHERE ", inTrash("title"), inTrash("summary"), inTrash("facts"), inTrash("concepts"), inTrash("files")) + aged(inTrash("created_ms")), &records},
		{of("SELECT key, %s || char(10) || %s, %s || %s || %s FROM trash WHERE tbl = 'records' AND ", inTrash("title"), inTrash("summary"), inTrash("facts"), inTrash("concepts"), inTrash("files")) + aged(inTrash("created_ms")), &records},
		{of("SELECT key, session_id, %s FROM trash WHERE tbl = 'events' AND ", inTrash("body")) + aged(of(valid, inTrash("valid_time"), inTrash("received_ms"))), &events},
	} {
		ids, err := s.containing(ctx, sel.Contains, src.query, args...)
		if err != nil {
			return nil, nil, err
		}
		*src.into = append(*src.into, ids...)
	}
	return records, events, nil
}

// containing are the first columns of the rows whose second column, plain text, or third, JSON texts one behind the
// other, hold a text.
func (s *Store) containing(ctx context.Context, text, query string, args ...any) (ids []string, err error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	want := strings.ToLower(text)
	for rows.Next() {
		var id, plain, js string
		if err := rows.Scan(&id, &plain, &js); err != nil {
			return nil, err
		}
		if strings.Contains(strings.ToLower(plain), want) || jsonHolds(js, want) {
			ids = append(ids, id)
		}
	}
	return ids, rows.Err()
}

// jsonHolds tells whether a string in a sequence of JSON values holds the lower-case text want.
func jsonHolds(js, want string) bool {
	if !strings.ContainsRune(js, '\\') { // nothing is spelled otherwise than it reads
		return strings.Contains(strings.ToLower(js), want)
	}
	d := json.NewDecoder(strings.NewReader(js))
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := tok.(string); ok && strings.Contains(strings.ToLower(s), want) {
			return true
		}
	}
}

// erasePatience is how long Erase waits for readers of old pages.
const erasePatience = 10 * time.Second

// errReaders means that a reader keeps old pages of the log alive.
var errReaders = errors.New("a reader still holds old pages of the database; try again in a moment")

// Erase makes sure that what was deleted is in no file any more: the database is written anew without its free pages and
// the gaps in its pages, and the log is emptied. It needs as much free disk as the database has bytes, twice.
func (s *Store) Erase(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(erasePatience, untilDeadline(ctx)))
	defer cancel()
	// SQLite overwrites what it deletes, but not the copies that it left in the gaps of pages when it moved cells about.
	err := s.alone(ctx, func(w *writerTx) error {
		_, err := w.conn.ExecContext(context.Background(), "VACUUM")
		return err
	})
	if err == nil {
		err = s.emptyLog(ctx)
	}
	s.dropBackups()
	if err != nil {
		return fmt.Errorf("erase what was forgotten from the file: %w", err)
	}
	return nil
}

func untilDeadline(ctx context.Context) time.Duration {
	if d, ok := ctx.Deadline(); ok {
		return time.Until(d)
	}
	return 0
}

// emptyLog writes the whole log into the database and cuts it to nothing, as soon as no reader needs it.
func (s *Store) emptyLog(ctx context.Context) error {
	for {
		var busy, pages, done int
		err := s.alone(ctx, func(w *writerTx) error {
			return w.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &done)
		})
		if err != nil || busy == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return errReaders
		case <-time.After(20 * time.Millisecond):
		}
	}
}
