package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"kiro-learn/internal/event"
)

// Item is one event or one record on its way out of or into a store.
type Item struct {
	Event     *event.Event
	Distilled bool // of the event: no record will be made of it any more
	Record    *event.Record
	Bonds     Bonds    // of the record
	Retired   *Retired // of a record that another one stands for
}

// Retired says what stands for a record, why, and since when.
type Retired struct {
	By, Why string
	At      time.Time
}

// exportPage is how many rows are read at once: between pages nothing of the database is held.
const exportPage = 200

// Export hands out the events of a namespace in the order of their ids, then the records in it and those about its sessions,
// then the history of them; of every namespace, the one after the other, if none is given. What is stored meanwhile may or
// may not be among them.
func (s *Store) Export(ctx context.Context, namespace string, f func(Item) error) error {
	spaces := []string{namespace}
	if namespace == "" {
		var err error
		if spaces, err = column[string](ctx, s.read, "SELECT namespace FROM namespaces ORDER BY namespace"); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	about := ""
	if namespace != "" {
		about = " OR r.about = ?1"
	}
	for _, part := range []func(ns int64) error{
		func(ns int64) error { return s.exportEvents(ctx, ns, f) },
		func(ns int64) error { return s.exportRecords(ctx, ns, about, f) },
		func(ns int64) error { return s.exportHistory(ctx, ns, f) },
	} {
		for _, name := range spaces {
			ns, ok := s.spaces.id(name)
			if !ok {
				continue
			}
			if err := part(ns); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) exportEvents(ctx context.Context, ns int64, f func(Item) error) error {
	for after := ""; ; {
		// The ids first: what order a page has must not depend on which index is taken.
		page, err := s.events(ctx, "WHERE ns = ? AND event_id > ? ORDER BY event_id LIMIT ?", ns, after, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].EventID
		pending, err := column[string](ctx, s.read, "SELECT event_id FROM events WHERE ns = ? AND event_id BETWEEN ? AND ? AND pending = 1", ns, page[0].EventID, after)
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		waits := make(map[string]bool, len(pending))
		for _, id := range pending {
			waits[id] = true
		}
		for i := range page {
			if err := f(Item{Event: &page[i], Distilled: !waits[page[i].EventID]}); err != nil {
				return err
			}
		}
	}
}

func (s *Store) exportRecords(ctx context.Context, ns int64, about string, f func(Item) error) error {
	for after := ""; ; {
		page, err := s.records(ctx, "records r WHERE (r.ns = ?1"+about+") AND r.record_id > ?2 ORDER BY r.record_id LIMIT ?3", ns, after, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].RecordID
		for i := range page {
			if err := f(Item{Record: &page[i].Record, Bonds: page[i].Bonds}); err != nil {
				return err
			}
		}
	}
}

func (s *Store) exportHistory(ctx context.Context, ns int64, f func(Item) error) error {
	for after := ""; ; {
		page, err := s.supersededOn(ctx, s.read, "WHERE ns = ? AND record_id > ? ORDER BY record_id LIMIT ?", ns, after, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].RecordID
		for i := range page {
			v := &page[i]
			if err := f(Item{Record: &v.Record, Bonds: v.Bonds, Retired: &Retired{By: v.By, Why: v.Why, At: v.At}}); err != nil {
				return err
			}
		}
	}
}

// Import stores valid events and records in one transaction and tells for each whether it was new. What is there already
// stays as it is, whatever the item says of it. What has been forgotten comes back: who imports it wants it.
func (s *Store) Import(ctx context.Context, items []Item) (stored []bool, err error) {
	err = s.submit(ctx, func(w *writerTx) error {
		stored = make([]bool, len(items))
		w.change = Change{}
		var moved visits
		for i, it := range items {
			var err error
			if it.Event != nil {
				stored[i], err = s.importEvent(w, it, &moved)
			} else {
				stored[i], err = s.importRecord(w, it)
			}
			if err != nil {
				return err
			}
		}
		return moved.note(w)
	})
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	return stored, nil
}

func (s *Store) importEvent(w *writerTx, it Item, moved *visits) (bool, error) {
	ns, err := s.spaces.ensure(w, it.Event.Namespace, it.Event.Source.ProjectPath)
	if err != nil {
		return false, err
	}
	isNew, err := s.insertEvent(w, ns, it.Event, !it.Distilled, moved)
	if isNew && !it.Distilled {
		w.change.Events = append(w.change.Events, *it.Event)
	}
	return isNew, err
}

// importRecord stores a record with its bonds, in the history where that is its place.
func (s *Store) importRecord(w *writerTx, it Item) (bool, error) {
	r := it.Record
	var one int
	err := w.row("SELECT 1 FROM records WHERE record_id = ?1 UNION ALL SELECT 1 FROM history WHERE record_id = ?1 LIMIT 1", []any{r.RecordID}, &one)
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	if it.Bonds.Type != "" {
		err = s.saveSessionRecord(w, &SessionRecord{Record: *r, Type: it.Bonds.Type, About: it.Bonds.About})
	} else {
		_, err = s.saveRecord(w, r)
	}
	if err != nil {
		return false, err
	}
	if it.Bonds.SessionID != "" { // the events that would say so may not be there
		if _, err := w.exec("UPDATE records SET session_id = ? WHERE record_id = ? AND session_id = ''", it.Bonds.SessionID, r.RecordID); err != nil {
			return false, err
		}
	}
	if it.Retired == nil {
		w.change.Records = append(w.change.Records, *r)
		return true, nil
	}
	var id int64
	if err := w.row("SELECT id FROM records WHERE record_id = ?", []any{r.RecordID}, &id); err != nil {
		return false, err
	}
	return true, w.retire(id, Supersession{Old: r.RecordID, New: it.Retired.By, Why: it.Retired.Why}, it.Retired.At.UnixMilli())
}
