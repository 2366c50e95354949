package store

import (
	"context"
	"testing"

	"kiro-learn/internal/event"
)

// mode is how the writer's connection commits: 1 without waiting for the disk, 2 with.
func mode(t *testing.T, s *Store) (mode int) {
	t.Helper()
	if err := s.queue(t.Context(), &job{done: make(chan error, 1), soon: s.unsynced, do: func(w *writerTx) error {
		return w.conn.QueryRowContext(context.Background(), "PRAGMA synchronous").Scan(&mode)
	}}); err != nil {
		t.Fatal(err)
	}
	return mode
}

func TestOnlyWhatWasShownIsNotSynced(t *testing.T) {
	g := newGarden(t)
	g.turn(nsA, "s", "alpha")
	if got := mode(t, g.Store); got != 2 {
		t.Fatalf("an event is committed with synchronous=%d, want 2", got)
	}
	records, _, err := g.ListRecords(t.Context(), nsA, Filter{}, 1, 0)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if err := g.MarkShown(t.Context(), Showing{Namespace: nsA, SessionID: "s", Records: records}); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, g.Store); got != 1 {
		t.Errorf("what was shown is committed with synchronous=%d, want 1", got)
	}
	if shown, err := g.Shown(t.Context(), nsA, "s"); err != nil || len(shown) != 1 {
		t.Errorf("%v shown, %v", shown, err)
	}
	g.add(testEvent("s", event.KindNote, "beta"))
	if got := mode(t, g.Store); got != 2 {
		t.Errorf("the event after it is committed with synchronous=%d, want 2", got)
	}
}
