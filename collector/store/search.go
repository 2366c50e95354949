package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

// Hit is a record that holds at least one of the words searched for.
type Hit struct {
	ID    int64
	Score float64 // bm25 over the fields; bigger is better
}

// key is what every word of a namespace begins with in the index.
func key(ns int64) string { return strconv.FormatInt(ns, 36) + "_" }

// keyed gives each word of a field its namespace's key.
func keyed(ns int64, words string) string {
	k := key(ns)
	fields := strings.Fields(words)
	for i, w := range fields {
		fields[i] = k + w
	}
	return strings.Join(fields, " ")
}

func (s *Store) indexRecord(w *writerTx, id, ns int64, r event.Record) error {
	if s.index == nil {
		return nil
	}
	f := s.index.Index(r)
	_, err := w.exec("INSERT OR REPLACE INTO search(rowid, title, summary, facts, concepts, files) VALUES (?,?,?,?,?,?)",
		id, keyed(ns, f.Title), keyed(ns, f.Summary), keyed(ns, f.Facts), keyed(ns, f.Concepts), keyed(ns, f.Files))
	if err != nil {
		return fmt.Errorf("index record %s: %w", r.RecordID, err)
	}
	return nil
}

// match is the full-text expression that finds a namespace's words, joined by OR or AND. Words are quoted, so none is
// taken for syntax.
func match(ns int64, words []string, join string) string {
	k := key(ns)
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(join)
		}
		b.WriteString(`"` + k + strings.ReplaceAll(w, `"`, "") + `"`)
	}
	return b.String()
}

// candidatesQuery begins at the full-text table whatever the filter: CROSS JOIN keeps SQLite from turning it round and
// probing the index once per record.
func candidatesQuery(f Filter, score, order string) (string, []any) {
	if f.empty() {
		return "SELECT search.rowid, " + score + " FROM search WHERE search MATCH ? ORDER BY " + order + " LIMIT ?", nil
	}
	cond, args := f.where()
	return "SELECT search.rowid, " + score + " FROM search CROSS JOIN records r ON r.id = search.rowid WHERE search MATCH ?" +
		cond + " ORDER BY " + order + " LIMIT ?", args
}

// Candidates are the records of a namespace that hold any of the words, best first by bm25. Its cost grows with the
// records that hold them.
func (s *Store) Candidates(ctx context.Context, namespace string, words []string, f Filter, limit int) ([]Hit, error) {
	query, cond := candidatesQuery(f, "-search.rank", "search.rank")
	return s.hits(ctx, namespace, words, " OR ", query, cond, limit)
}

// Newest are the newest records of a namespace that hold all of the words, the newest first and without scores. Its cost
// does not grow with the records that hold one word.
func (s *Store) Newest(ctx context.Context, namespace string, words []string, f Filter, limit int) ([]Hit, error) {
	query, cond := candidatesQuery(f, "0.0", "search.rowid DESC")
	return s.hits(ctx, namespace, words, " AND ", query, cond, limit)
}

func (s *Store) hits(ctx context.Context, namespace string, words []string, join, query string, cond []any, limit int) ([]Hit, error) {
	ns, ok := s.spaces.id(namespace)
	if !ok || len(words) == 0 {
		return nil, nil
	}
	args := append(append([]any{match(ns, words, join)}, cond...), limit)
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var hits []Hit
	for rows.Next() {
		var h Hit
		if err := rows.Scan(&h.ID, &h.Score); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// Neighbours are the records saved next to each of ids in its namespace: up to before earlier ones, nearest first, and
// up to after later ones, nearest first.
func (s *Store) Neighbours(ctx context.Context, namespace string, ids []int64, before, after int) (map[int64][]int64, error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, `SELECT j.value,
		(SELECT group_concat(id) FROM (SELECT id FROM records WHERE ns = ?1 AND id < j.value ORDER BY id DESC LIMIT ?3)),
		(SELECT group_concat(id) FROM (SELECT id FROM records WHERE ns = ?1 AND id > j.value ORDER BY id LIMIT ?4))
		FROM json_each(?2) j`, ns, string(list), before, after)
	if err != nil {
		return nil, fmt.Errorf("find neighbours: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := make(map[int64][]int64, len(ids))
	for rows.Next() {
		var id int64
		var prev, next *string
		if err := rows.Scan(&id, &prev, &next); err != nil {
			return nil, fmt.Errorf("find neighbours: %w", err)
		}
		for _, l := range []*string{prev, next} {
			if l == nil {
				continue
			}
			for _, v := range strings.Split(*l, ",") {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					return nil, fmt.Errorf("find neighbours: %w", err)
				}
				out[id] = append(out[id], n)
			}
		}
	}
	return out, rows.Err()
}

// Shown tells which records a session has been shown, and in which revision.
func (s *Store) Shown(ctx context.Context, namespace, sessionID string) (map[int64]int64, error) {
	out := map[int64]int64{}
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return out, nil
	}
	rows, err := s.read.QueryContext(ctx, "SELECT record, revision FROM shown WHERE ns = ? AND session_id = ?", ns, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read what was shown: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, rev int64
		if err := rows.Scan(&id, &rev); err != nil {
			return nil, fmt.Errorf("read what was shown: %w", err)
		}
		out[id] = rev
	}
	return out, rows.Err()
}

// Showing is that a session was shown records.
type Showing struct {
	Namespace, SessionID string
	EventID              string // of the prompt; empty at a session's start
	Records              []Stored
	Why                  []string // of each record, for a person; may be shorter
}

// MarkShown remembers what a session was shown. A power cut may make it forget the last ones.
func (s *Store) MarkShown(ctx context.Context, v Showing) error {
	return s.submitSoon(ctx, func(w *writerTx) error {
		ns, err := s.spaces.ensure(w, v.Namespace, "")
		if err != nil {
			return err
		}
		for i, r := range v.Records {
			why := ""
			if i < len(v.Why) {
				why = v.Why[i]
			}
			if _, err := w.exec(`INSERT INTO shown(ns, session_id, record, revision, at_ms, event_id, why)
				SELECT ?, ?, id, ?, ?, ?, ? FROM records WHERE id = ?
				ON CONFLICT(ns, session_id, record) DO UPDATE SET revision = excluded.revision, at_ms = excluded.at_ms,
				event_id = excluded.event_id, why = excluded.why`,
				ns, v.SessionID, r.Revision, s.now().UnixMilli(), v.EventID, why, r.ID); err != nil {
				return fmt.Errorf("remember what was shown: %w", err)
			}
		}
		return nil
	})
}

// ShownRecord is a record that a session was shown.
type ShownRecord struct {
	Stored
	EventID string // of the prompt; empty where that is not known
	At      time.Time
	Why     string // as it was given to MarkShown
}

// ShownRecords are the records that a session was shown and that are still in use, the earliest first and those of one
// time in the order of their numbers.
func (s *Store) ShownRecords(ctx context.Context, namespace, sessionID string) (out []ShownRecord, err error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, nil
	}
	rows, err := s.read.QueryContext(ctx, "SELECT record, event_id, at_ms, why FROM shown WHERE ns = ? AND session_id = ? ORDER BY at_ms, record LIMIT 1000", ns, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read what was shown: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var ids []int64
	for rows.Next() {
		var v ShownRecord
		var at int64
		if err := rows.Scan(&v.ID, &v.EventID, &at, &v.Why); err != nil {
			return nil, fmt.Errorf("read what was shown: %w", err)
		}
		v.At = time.UnixMilli(at).UTC()
		ids, out = append(ids, v.ID), append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what was shown: %w", err)
	}
	found, err := s.Records(ctx, ids)
	byID := make(map[int64]Stored, len(found))
	for _, r := range found {
		byID[r.ID] = r
	}
	kept := out[:0]
	for _, v := range out {
		if r, ok := byID[v.ID]; ok {
			v.Stored = r
			kept = append(kept, v)
		}
	}
	return kept, err
}

// WhereShown are the last times that a record was shown to a session, the latest first. Of the record itself they say
// nothing.
func (s *Store) WhereShown(ctx context.Context, id int64, limit int) (out []ShownRecord, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT ns, session_id, event_id, at_ms, why FROM shown WHERE record = ? ORDER BY at_ms DESC LIMIT ?", id, limit)
	if err != nil {
		return nil, fmt.Errorf("read where a record was shown: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v ShownRecord
		var ns, at int64
		if err := rows.Scan(&ns, &v.SessionID, &v.EventID, &at, &v.Why); err != nil {
			return nil, fmt.Errorf("read where a record was shown: %w", err)
		}
		v.Namespace, v.At = s.spaces.name(ns), time.UnixMilli(at).UTC()
		out = append(out, v)
	}
	return out, rows.Err()
}

// reindex makes the words of every record anew when the indexer's version is not the one that made them.
func (s *Store) reindex() error {
	if s.index == nil {
		return nil
	}
	want := strconv.Itoa(s.index.Version())
	var have string
	_ = s.read.QueryRow("SELECT value FROM meta WHERE key = 'index_version'").Scan(&have) // none yet: differs
	if have == want {
		return nil
	}
	for after := int64(0); ; {
		batch, err := s.records(context.Background(), "records r WHERE r.id > ? ORDER BY r.id LIMIT 500", after)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		after = batch[len(batch)-1].ID
		if err := s.submit(context.Background(), func(w *writerTx) error {
			for _, r := range batch {
				ns, err := s.spaces.ensure(w, r.Namespace, "")
				if err != nil {
					return err
				}
				if err := s.indexRecord(w, r.ID, ns, r.Record); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return s.submit(context.Background(), func(w *writerTx) error {
		_, err := w.exec("INSERT OR REPLACE INTO meta(key, value) VALUES ('index_version', ?)", want)
		return err
	})
}
