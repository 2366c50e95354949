package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

// Stored is a record as the database has it.
type Stored struct {
	event.Record
	ID       int64     // position in the order of saving
	Created  time.Time // CreatedAt, parsed
	Revision int64     // advances when the record changes
	Bonds
}

// Bonds are what is known of a record beside the fields of the wire contract.
type Bonds struct {
	SessionID string // of its source events; empty when unknown
	Type      string // of a record about a session: TypeChunk or TypeFullSession; empty for others
	About     string // the namespace of the session that such a record is about
}

// Filter narrows a choice of records; empty fields choose all.
type Filter struct {
	Types    []string // observation types, or types of records about a session
	Since    time.Time
	Until    time.Time // before it
	Projects bool      // no records about a session as a whole
	Session  string    // only records whose first source is an event of this session
}

func (f Filter) empty() bool {
	return len(f.Types) == 0 && f.Since.IsZero() && f.Until.IsZero() && f.Session == "" && !f.Projects
}

// where is the filter as SQL conditions on the table r, each preceded by AND.
func (f Filter) where() (string, []any) {
	var b strings.Builder
	var args []any
	if len(f.Types) > 0 {
		cond, of := typesWhere(f.Types)
		b.WriteString(cond)
		args = append(args, of...)
	}
	if !f.Since.IsZero() {
		b.WriteString(" AND r.created_ms >= ?")
		args = append(args, f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		b.WriteString(" AND r.created_ms < ?")
		args = append(args, f.Until.UnixMilli())
	}
	if f.Projects {
		b.WriteString(" AND r.record_type = ''")
	}
	if f.Session != "" {
		b.WriteString(" AND r.session_id = ? AND r.session_id <> ''") // the index knows only those that have one
		args = append(args, f.Session)
	}
	return b.String(), args
}

// ErrTaken means that another record has the id already.
var ErrTaken = errors.New("another record has this id")

// AddRecord stores a valid record that somebody else has made, and what it stands for. A record that is there already, or
// was until another one stood for it, stays as it is: nobody rewrites memory by knowing an id. An equal one is not stored
// again; a differing one gives ErrTaken.
func (s *Store) AddRecord(ctx context.Context, r event.Record, stands ...Supersession) (stored bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		w.change = Change{}
		if stored, err = s.addRecord(w, &r); err != nil || !stored {
			return err
		}
		w.change.Records = []event.Record{r}
		for _, sup := range stands {
			if err := w.supersede(sup, s.now().UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrTaken) {
		err = fmt.Errorf("add a record: %w", err)
	}
	return stored, err
}

func (s *Store) addRecord(w *writerTx, r *event.Record) (bool, error) {
	ctx := context.Background()
	there, err := s.recordsOn(ctx, w.conn, "records r WHERE r.record_id = ?", r.RecordID)
	if err != nil {
		return false, err
	}
	old, err := s.supersededOn(ctx, w.conn, "WHERE record_id = ?", r.RecordID)
	switch {
	case err != nil:
		return false, err
	case len(there) > 0:
		return false, takenBy(&there[0].Record, r)
	case len(old) > 0:
		return false, takenBy(&old[0].Record, r)
	}
	return s.saveRecord(w, r)
}

// takenBy gives ErrTaken unless the two records are one.
func takenBy(there, r *event.Record) error {
	a, b := *there, *r
	a.Fit() // lists that are nil and lists that are empty say the same
	b.Fit()
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return ErrTaken
}

// SaveRecord stores a valid record. A record id that is already there is replaced by a differing record, which gets a new
// revision, and left alone by an equal one; stored tells whether anything changed.
func (s *Store) SaveRecord(ctx context.Context, r event.Record) (stored bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		w.change = Change{}
		if stored, err = s.saveRecord(w, &r); err != nil {
			return fmt.Errorf("save a record: %w", err)
		}
		if stored {
			w.change.Records = []event.Record{r}
		}
		return nil
	})
	return stored, err
}

func (s *Store) saveRecord(w *writerTx, r *event.Record) (bool, error) {
	ns, err := s.spaces.ensure(w, r.Namespace, "")
	if err != nil {
		return false, err
	}
	created, err := time.Parse(time.RFC3339Nano, r.CreatedAt)
	if err != nil {
		return false, fmt.Errorf("created_at: %w", err)
	}
	var session string
	if len(r.SourceEventIDs) > 0 {
		err := w.row("SELECT session_id FROM events WHERE event_id = ?", []any{r.SourceEventIDs[0]}, &session)
		if err != nil && err != sql.ErrNoRows {
			return false, err
		}
	}
	lists := make([]string, 4)
	for i, l := range [][]string{r.Facts, r.Concepts, r.FilesTouched, r.SourceEventIDs} {
		if l == nil {
			l = []string{}
		}
		b, err := json.Marshal(l)
		if err != nil {
			return false, err
		}
		lists[i] = string(b)
	}
	var id int64
	// A number is never given twice, not even when the record that had it is gone.
	err = w.row(`INSERT INTO records(id, record_id, ns, session_id, strategy, type, title, summary, facts, concepts, files,
		sources, created_at, created_ms) VALUES (
		1 + max(coalesce((SELECT max(id) FROM records), 0), coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'records_top'), 0)),
		?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT(record_id) DO UPDATE SET revision = revision + 1, ns = excluded.ns, session_id = excluded.session_id,
		strategy = excluded.strategy, type = excluded.type, title = excluded.title, summary = excluded.summary,
		facts = excluded.facts, concepts = excluded.concepts, files = excluded.files, sources = excluded.sources,
		created_at = excluded.created_at, created_ms = excluded.created_ms
		WHERE (ns, strategy, type, title, summary, facts, concepts, files, sources, created_at) IS NOT
		(excluded.ns, excluded.strategy, excluded.type, excluded.title, excluded.summary, excluded.facts,
		excluded.concepts, excluded.files, excluded.sources, excluded.created_at) RETURNING id`,
		[]any{
			r.RecordID, ns, session, r.Strategy, r.ObservationType, r.Title, r.Summary, lists[0], lists[1], lists[2],
			lists[3], r.CreatedAt, created.UnixMilli(),
		}, &id)
	if err == sql.ErrNoRows {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, s.indexRecord(w, id, ns, *r)
}

const recordColumns = `SELECT r.id, r.record_id, r.ns, r.session_id, r.strategy, r.type, r.title, r.summary, r.facts,
	r.concepts, r.files, r.sources, r.created_at, r.created_ms, r.revision, r.record_type, r.about FROM `

func (s *Store) scanRecord(row interface{ Scan(...any) error }) (Stored, error) {
	var r Stored
	var ns, created, about int64
	var facts, concepts, files, sources []byte
	err := row.Scan(&r.ID, &r.RecordID, &ns, &r.SessionID, &r.Strategy, &r.ObservationType, &r.Title, &r.Summary,
		&facts, &concepts, &files, &sources, &r.CreatedAt, &created, &r.Revision, &r.Type, &about)
	if err != nil {
		return r, err
	}
	r.Namespace, r.Created, r.About = s.spaces.name(ns), time.UnixMilli(created), s.spaces.name(about)
	for _, l := range []struct {
		raw  []byte
		into *[]string
	}{{facts, &r.Facts}, {concepts, &r.Concepts}, {files, &r.FilesTouched}, {sources, &r.SourceEventIDs}} {
		if err := json.Unmarshal(l.raw, l.into); err != nil {
			return r, fmt.Errorf("record %s: %w", r.RecordID, err)
		}
	}
	return r, nil
}

func (s *Store) records(ctx context.Context, rest string, args ...any) ([]Stored, error) {
	return s.recordsOn(ctx, s.read, rest, args...)
}

// recordsOn reads the records that the rest of a SELECT names.
func (s *Store) recordsOn(ctx context.Context, q querier, rest string, args ...any) ([]Stored, error) {
	rows, err := q.QueryContext(ctx, recordColumns+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []Stored{}
	for rows.Next() {
		r, err := s.scanRecord(rows)
		if err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// Records are the records with the given numbers, in that order; numbers without a record are left out.
func (s *Store) Records(ctx context.Context, ids []int64) ([]Stored, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	found, err := s.records(ctx, "json_each(?) j CROSS JOIN records r ON r.id = j.value ORDER BY j.key", string(list))
	return found, err
}

// Record is the record with an id; ok is false when there is none.
func (s *Store) Record(ctx context.Context, recordID string) (r Stored, ok bool, err error) {
	found, err := s.records(ctx, "records r WHERE r.record_id = ?", recordID)
	if err != nil || len(found) == 0 {
		return Stored{}, false, err
	}
	return found[0], true, nil
}

// ListRecords are a namespace's records, newest first, and how many there are; an empty namespace lists all.
func (s *Store) ListRecords(ctx context.Context, namespace string, f Filter, limit, offset int) (items []Stored, total int, err error) {
	f.Projects = f.Projects && namespace == "" // a project's namespace has no others
	cond, args := f.where()
	if namespace != "" {
		ns, ok := s.spaces.id(namespace)
		if !ok {
			return []Stored{}, 0, nil
		}
		cond, args = " AND r.ns = ?"+cond, append([]any{ns}, args...)
	}
	if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM records r WHERE 1"+cond, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count records: %w", err)
	}
	const order = " ORDER BY r.created_ms DESC, r.id DESC"
	items, err = s.records(ctx, "records r WHERE r.id IN (SELECT r.id FROM records r WHERE 1"+cond+order+" LIMIT ? OFFSET ?)"+order, append(args, limit, offset)...)
	return items, total, err
}
