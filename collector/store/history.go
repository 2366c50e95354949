package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

// Supersession says that a record stands for an older one of its namespace.
type Supersession struct {
	Old, New string // record ids
	Why      string // one word
}

// Superseded is a record that another one stands for.
type Superseded struct {
	event.Record
	By  string    // record id
	Why string    // "duplicate": the other says the same; "judged": a model says that it does; "model": a model has made better ones of its events; "edited": a person has
	At  time.Time // when
	Bonds
}

// supersede moves a record to the history. One that is gone, or in another namespace, is left as it is.
func (w *writerTx) supersede(sup Supersession, nowMS int64) error {
	ctx := context.Background()
	ids, err := column[int64](ctx, w.conn, `SELECT o.id FROM records o JOIN records n ON n.record_id = ?2 AND n.ns = o.ns
		WHERE o.record_id = ?1 AND o.record_id <> ?2`, sup.Old, sup.New)
	if err != nil || len(ids) == 0 {
		return err
	}
	return w.retire(ids[0], sup, nowMS)
}

// retire moves the record with a number to the history.
func (w *writerTx) retire(id int64, sup Supersession, atMS int64) error {
	object, err := w.rowObject("records")
	if err != nil {
		return err
	}
	if err := w.keepRecordNumbers([]int64{id}); err != nil {
		return err
	}
	for _, q := range []struct {
		text string
		args []any
	}{
		{"INSERT OR REPLACE INTO history(record_id, ns, session_id, by_id, why, at_ms, row) SELECT record_id, ns, session_id, ?, ?, ?, " +
			object + " FROM records WHERE id = ?", []any{sup.New, sup.Why, atMS, id}},
		{"DELETE FROM search WHERE rowid = ?", []any{id}},
		{"DELETE FROM records WHERE id = ?", []any{id}},
	} {
		if _, err := w.conn.ExecContext(context.Background(), q.text, q.args...); err != nil {
			return err
		}
	}
	return nil
}

// Supersede moves a record to the history of the one that stands for it.
func (s *Store) Supersede(ctx context.Context, sup Supersession) error {
	err := s.submit(ctx, func(w *writerTx) error { return w.supersede(sup, s.now().UnixMilli()) })
	if err != nil {
		return fmt.Errorf("supersede a record: %w", err)
	}
	return nil
}

// History are the records that a record stands for, the latest first, and those that these had stood for; by is the
// record that stands for it itself, empty when none does. ok is false when nothing is known of the id.
func (s *Store) History(ctx context.Context, recordID string) (old []Superseded, by string, ok bool, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT by_id FROM history WHERE record_id = ?", recordID).Scan(&by)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, "", false, fmt.Errorf("read a record's history: %w", err)
	}
	ok = err == nil
	if !ok {
		if _, ok, err = s.Record(ctx, recordID); err != nil || !ok {
			return nil, "", false, err
		}
	}
	old, err = s.supersededOn(ctx, s.read, `WHERE by_id IN (WITH RECURSIVE chain(id) AS
		(SELECT ? UNION SELECT h.record_id FROM history h JOIN chain c ON h.by_id = c.id) SELECT id FROM chain)
		ORDER BY at_ms DESC, record_id DESC`, recordID)
	return old, by, err == nil, err
}

// supersededOn reads the records of the history that the rest of a SELECT names.
func (s *Store) supersededOn(ctx context.Context, q querier, rest string, args ...any) (out []Superseded, err error) {
	rows, err := q.QueryContext(ctx, "SELECT by_id, why, at_ms, ns, row FROM history "+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		v, err := s.scanSuperseded(rows)
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func (s *Store) scanSuperseded(rows *sql.Rows) (v Superseded, err error) {
	var at, ns int64
	var row []byte
	if err := rows.Scan(&v.By, &v.Why, &at, &ns, &row); err != nil {
		return v, err
	}
	var r struct {
		ID       string `json:"record_id"`
		Session  string `json:"session_id"`
		Kind     string `json:"record_type"`
		About    int64  `json:"about"`
		Strategy string `json:"strategy"`
		Type     string `json:"type"`
		Title    string `json:"title"`
		Summary  string `json:"summary"`
		Facts    string `json:"facts"`
		Concepts string `json:"concepts"`
		Files    string `json:"files"`
		Sources  string `json:"sources"`
		Created  string `json:"created_at"`
	}
	if err := json.Unmarshal(row, &r); err != nil {
		return v, err
	}
	v.At = time.UnixMilli(at).UTC()
	v.Bonds = Bonds{SessionID: r.Session, Type: r.Kind, About: s.spaces.name(r.About)}
	v.Record = event.Record{RecordID: r.ID, Namespace: s.spaces.name(ns), Strategy: r.Strategy, Title: r.Title, Summary: r.Summary, CreatedAt: r.Created, ObservationType: r.Type}
	for _, l := range []struct {
		js   string
		into *[]string
	}{{r.Facts, &v.Facts}, {r.Concepts, &v.Concepts}, {r.Files, &v.FilesTouched}, {r.Sources, &v.SourceEventIDs}} {
		if err := json.Unmarshal([]byte(l.js), l.into); err != nil {
			return v, err
		}
	}
	return v, nil
}

// Edit saves a record in the place of an older one of its namespace, which moves to the new one's history. It gives false
// where the older one is not in use.
func (s *Store) Edit(ctx context.Context, old string, r event.Record) (ok bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		w.change, ok = Change{}, false
		var n int
		if err := w.row("SELECT count(*) FROM records WHERE record_id = ?", []any{old}, &n); err != nil || n == 0 {
			return err
		}
		if _, err := s.saveRecord(w, &r); err != nil {
			return err
		}
		ok, w.change.Records = true, []event.Record{r}
		return w.supersede(Supersession{Old: old, New: r.RecordID, Why: WhyEdited}, s.now().UnixMilli())
	})
	if err != nil {
		return false, fmt.Errorf("edit a record: %w", err)
	}
	return ok, nil
}

// WhyEdited is why a record stands for one that a person has edited.
const WhyEdited = "edited"

// Reinstate brings a superseded record back: beside the one that stood for it, or, where that was made by editing it, in
// its place. It gives false when the history has no such record.
func (s *Store) Reinstate(ctx context.Context, recordID string) (ok bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		w.change, ok = Change{}, false
		var raw, by, why string
		err := w.row("SELECT row, by_id, why FROM history WHERE record_id = ?", []any{recordID}, &raw, &by, &why)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.insertRow("records", raw); err != nil {
			return err
		}
		back, err := s.recordsOn(context.Background(), w.conn, "records r WHERE r.record_id = ?", recordID)
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
			w.change.Records = append(w.change.Records, r.Record)
		}
		ok = true
		if _, err = w.exec("DELETE FROM history WHERE record_id = ?", recordID); err != nil || why != WhyEdited {
			return err
		}
		return w.giveWay(by, recordID, s.now().UnixMilli())
	})
	if err != nil {
		return false, fmt.Errorf("bring a record back: %w", err)
	}
	return ok, nil
}

// giveWay moves the last of the editions that follow one to the history of the one that is in use again.
func (w *writerTx) giveWay(edition, to string, nowMS int64) error {
	for {
		var next string
		err := w.row("SELECT by_id FROM history WHERE record_id = ? AND why = ?", []any{edition, WhyEdited}, &next)
		if errors.Is(err, sql.ErrNoRows) || next == to {
			return w.supersede(Supersession{Old: edition, New: to, Why: WhyEdited}, nowMS)
		}
		if err != nil {
			return err
		}
		edition = next
	}
}

// insertRow inserts a row that was kept as a JSON object, with the columns that both it and the table have.
func (w *writerTx) insertRow(table, raw string) error {
	have, err := columnsOf(w.conn, table)
	if err != nil {
		return err
	}
	var kept map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &kept); err != nil {
		return err
	}
	var cols, values []string
	for _, c := range have {
		if _, ok := kept[c]; ok {
			cols, values = append(cols, c), append(values, "?1 ->> '$."+c+"'")
		}
	}
	_, err = w.conn.ExecContext(context.Background(), "INSERT OR IGNORE INTO "+table+"("+strings.Join(cols, ",")+") SELECT "+strings.Join(values, ","), raw)
	return err
}
