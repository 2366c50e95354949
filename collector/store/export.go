package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"kiro-learn/internal/event"
)

// Item is one event or one record on its way out of or into a store.
type Item struct {
	Event     *event.Event
	Distilled bool // of the event: no record will be made of it any more
	Record    *event.Record
}

// exportPage is how many rows are read at once: between pages nothing of the database is held.
const exportPage = 200

// Export hands out the events of a namespace in the order of their ids, then its records; of every namespace, the one
// after the other, if none is given. What is stored meanwhile may or may not be among them.
func (s *Store) Export(ctx context.Context, namespace string, f func(Item) error) error {
	spaces := []string{namespace}
	if namespace == "" {
		var err error
		if spaces, err = column[string](ctx, s.read, "SELECT namespace FROM namespaces ORDER BY namespace"); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	for _, name := range spaces {
		ns, ok := s.spaces.id(name)
		if !ok {
			continue
		}
		if err := s.exportEvents(ctx, ns, f); err != nil {
			return err
		}
	}
	for _, name := range spaces {
		ns, ok := s.spaces.id(name)
		if !ok {
			continue
		}
		if err := s.exportRecords(ctx, ns, f); err != nil {
			return err
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

func (s *Store) exportRecords(ctx context.Context, ns int64, f func(Item) error) error {
	for after := ""; ; {
		page, err := s.records(ctx, "records r WHERE r.ns = ? AND r.record_id > ? ORDER BY r.record_id LIMIT ?", ns, after, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].RecordID
		for i := range page {
			if err := f(Item{Record: &page[i].Record}); err != nil {
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
		for i, it := range items {
			var err error
			if it.Event != nil {
				stored[i], err = s.importEvent(w, it)
			} else {
				stored[i], err = s.importRecord(w, it.Record)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	return stored, nil
}

func (s *Store) importEvent(w *writerTx, it Item) (bool, error) {
	ns, err := s.spaces.ensure(w, it.Event.Namespace, it.Event.Source.ProjectPath)
	if err != nil {
		return false, err
	}
	isNew, err := s.insertEvent(w, ns, it.Event, !it.Distilled)
	if isNew && !it.Distilled {
		w.change.Events = append(w.change.Events, *it.Event)
	}
	return isNew, err
}

func (s *Store) importRecord(w *writerTx, r *event.Record) (bool, error) {
	var one int
	err := w.row("SELECT 1 FROM records WHERE record_id = ?", []any{r.RecordID}, &one)
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	stored, err := s.saveRecord(w, r)
	if stored {
		w.change.Records = append(w.change.Records, *r)
	}
	return stored, err
}
