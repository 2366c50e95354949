package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

// ErrNotTypeScript means that a file is no database of the TypeScript kiro-learn.
var ErrNotTypeScript = errors.New("this is no database of the TypeScript kiro-learn: it has no table events or memory_records")

// TypeScript hands out the events, then the records, of the TypeScript kiro-learn's database. Only the names of the wire
// contract are relied upon: columns may be spelled in snake_case or camelCase, and a column may hold several fields as a
// JSON object. What cannot be read as an event or a record is handed out as far as it can. The file is not changed.
func TypeScript(ctx context.Context, path string, f func(Item) error) error {
	db, err := openForeign(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = db.Close() }()
	tables, err := column[string](ctx, db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name IN ('events', 'memory_records') ORDER BY name")
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if len(tables) == 0 {
		return ErrNotTypeScript
	}
	// Its records were made as the events came, so no event waits, unless there are no records at all.
	made := 0
	for _, t := range tables {
		if t == "memory_records" {
			if err := db.QueryRowContext(ctx, "SELECT count(*) FROM memory_records").Scan(&made); err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
		}
	}
	for _, t := range tables {
		err := eachRow(ctx, db, t, func(row fields) error {
			if t == "events" {
				e := row.event()
				return f(Item{Event: &e, Distilled: made > 0})
			}
			r := row.record()
			return f(Item{Record: &r})
		})
		if err != nil {
			return fmt.Errorf("read the %s of %s: %w", t, path, err)
		}
	}
	return nil
}

// openForeign opens a database to read. One whose log cannot be opened, as in a directory that is read-only, is read
// without it.
func openForeign(path string) (*sql.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dsn := "file:" + (&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath() + "?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"
	for _, more := range []string{"", "&immutable=1"} {
		var db *sql.DB
		if db, err = sql.Open("sqlite", dsn+more); err != nil {
			return nil, err
		}
		var n int
		if err = db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&n); err == nil {
			return db, nil
		}
		_ = db.Close()
	}
	return nil, err
}

// fields are a row by the names of the wire contract.
type fields map[string]any

func eachRow(ctx context.Context, db *sql.DB, table string, f func(fields) error) error {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" ORDER BY rowid")
	if err != nil {
		rows, err = db.QueryContext(ctx, "SELECT * FROM "+table) // a view or a table without row numbers
	}
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row := fields{}
		for i, n := range names {
			row.add(n, values[i])
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// add puts a column's value where the wire contract has it. An object that holds fields of its own is taken apart, as far
// as no column says better what it says.
func (r fields) add(name string, v any) { r.nested(name, v, 3) }

func (r fields) nested(name string, v any, depth int) {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	if name = snake(name); v == nil {
		return
	}
	s, ok := v.(string)
	var inner map[string]json.RawMessage
	if ok && depth > 0 && name != "body" && strings.HasPrefix(strings.TrimSpace(s), "{") && json.Unmarshal([]byte(s), &inner) == nil {
		for k, raw := range inner {
			if _, own := r[snake(k)]; own {
				continue
			}
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			r.nested(k, text, depth-1)
		}
	}
	r[name] = v
}

// snake spells a name as the wire contract does.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// text is the first of several fields that is there.
func (r fields) text(names ...string) string {
	for _, n := range names {
		switch v := r[n].(type) {
		case string:
			if v != "" {
				return v
			}
		case int64:
			return strconv.FormatInt(v, 10)
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		case time.Time:
			return v.UTC().Format(time.RFC3339Nano)
		}
	}
	return ""
}

// time is the first of several fields that is there, as ISO 8601: numbers are seconds or milliseconds since 1970.
func (r fields) time(names ...string) string {
	s := r.text(names...)
	if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 && n < math.MaxInt64/1e6 {
		if n < 1e11 {
			n *= 1000
		}
		return time.UnixMilli(int64(n)).UTC().Format(time.RFC3339Nano)
	}
	if t, err := time.Parse(time.DateTime, s); err == nil { // as SQLite's own functions write it, in UTC
		return t.Format(time.RFC3339)
	}
	return s
}

func (r fields) list(names ...string) []string {
	s := strings.TrimSpace(r.text(names...))
	out := []string{}
	if strings.HasPrefix(s, "[") && json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (r fields) event() event.Event {
	e := event.Event{
		EventID: r.text("event_id", "id"), ParentEventID: r.text("parent_event_id"), SessionID: r.text("session_id"),
		ActorID: r.text("actor_id"), Namespace: r.text("namespace"), SchemaVersion: event.SchemaVersion, Kind: event.Kind(r.text("kind")),
		ValidTime: r.time("valid_time", "created_at", "timestamp"), ContentHash: r.text("content_hash"),
	}
	if e.ActorID == "" {
		e.ActorID, _, _ = event.SplitNamespace(e.Namespace)
	}
	e.Source = event.Source{
		Surface: r.text("surface", "source_surface"), Version: r.text("version", "source_version", "client_version"),
		ClientID: r.text("client_id", "source_client_id"), ProjectPath: r.text("project_path", "source_project_path"),
	}
	if e.Source.Surface == "" {
		e.Source.Surface = event.SurfaceCLI
	}
	for _, s := range []*string{&e.Source.Version, &e.Source.ClientID} {
		if *s == "" {
			*s = "unknown"
		}
	}
	body := r.text("body", "body_json", "content")
	switch b, err := event.ParseBody([]byte(body)); {
	case err == nil && b.Type != "":
		e.Body = []byte(body)
	case json.Valid([]byte(body)) && strings.HasPrefix(strings.TrimSpace(body), "{"):
		e.Body = event.JSONBody([]byte(body))
	default:
		e.Body = event.TextBody(body)
	}
	if e.ContentHash != "" {
		e.ContentHash = event.Hash(e.Body) // what it was made of there may have been spelled otherwise
	}
	return e
}

func (r fields) record() event.Record {
	rec := event.Record{
		RecordID: r.text("record_id", "id"), Namespace: r.text("namespace"), Strategy: r.text("strategy"), Title: r.text("title"),
		Summary: r.text("summary"), Facts: r.list("facts"), Concepts: r.list("concepts"), FilesTouched: r.list("files_touched", "files"),
		SourceEventIDs: r.list("source_event_ids", "source_events"), CreatedAt: r.time("created_at", "valid_time"), ObservationType: r.text("observation_type", "type"),
	}
	if !event.IsStrategy(rec.Strategy) {
		rec.Strategy = event.StrategyModel
	}
	if !event.IsObservationType(rec.ObservationType) {
		rec.ObservationType = event.TypeDiscovery
	}
	if id := strings.TrimPrefix(rec.RecordID, "mr_"); len(rec.SourceEventIDs) == 0 && event.IsULID(id) {
		rec.SourceEventIDs = []string{id} // the contract wants one, and nobody knows which it was
	}
	rec.Fit()
	return rec
}
