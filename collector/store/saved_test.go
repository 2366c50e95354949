package store

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"kiro-learn/internal/event"
)

// A record that comes with its event is stored with it, and only then.
func TestARecordIsSavedWithItsEvent(t *testing.T) {
	var told []Change
	s, err := Open(filepath.Join(t.TempDir(), "memory.db"), Options{Index: words{1}, Changed: func(c Change) { told = append(told, c) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ctx := context.Background()
	plain, note := testEvent("s", event.KindPrompt, "hello"), testEvent("s", event.KindNote, "note")
	r, other := testRecord(nsA, "saved"), testRecord(nsA, "of an event that is not here")
	r.SourceEventIDs[0] = note.EventID
	for i := range 2 {
		if _, err := s.AddEvents(ctx, []event.Event{plain, note}, r, other); err != nil {
			t.Fatal(err)
		}
		found, total, err := s.ListRecords(ctx, nsA, Filter{}, 10, 0)
		if err != nil || total != 1 || found[0].RecordID != r.RecordID || found[0].SessionID != "s" || found[0].Revision != 1 {
			t.Errorf("time %d: %d records, %+v, %v", i, total, found, err)
		}
	}
	if len(told) == 0 || len(told[0].Records) != 1 || len(told[0].Events) != 2 {
		t.Errorf("told of %+v", told)
	}
	bad := testRecord(nsA, "bad")
	late := testEvent("s", event.KindNote, "late")
	bad.SourceEventIDs[0], bad.CreatedAt = late.EventID, "yesterday"
	if _, err := s.AddEvents(ctx, []event.Event{late}, bad); err == nil {
		t.Error("a record that cannot be saved did not stop its event")
	}
	if _, ok, err := s.Event(ctx, late.EventID); ok || err != nil {
		t.Errorf("the event is there without its record: %v", err)
	}
}

func TestEventsFromAnID(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	var ids []string
	for _, session := range []string{"s", "s", "other", "s", "s"} {
		e := testEvent(session, event.KindPrompt, session)
		ids = append(ids, e.EventID)
		if _, err := s.AddEvents(ctx, []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	got, total, err := s.Events(ctx, EventQuery{Namespace: nsA, SessionID: "s", From: ids[1], Limit: 2})
	if err != nil || total != 4 {
		t.Fatalf("total %d, %v", total, err)
	}
	var have []string
	for _, e := range got {
		have = append(have, e.EventID)
	}
	if want := []string{ids[1], ids[3]}; !slices.Equal(have, want) {
		t.Errorf("got %v, want %v", have, want)
	}
}

func TestRecordsOfASession(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	var want string
	for _, session := range []string{"one", "two"} {
		e, r := testEvent(session, event.KindNote, "note"), testRecord(nsA, "saved in "+session)
		r.SourceEventIDs[0], want = e.EventID, r.RecordID
		if _, err := s.AddEvents(ctx, []event.Event{e}, r); err != nil {
			t.Fatal(err)
		}
	}
	found, total, err := s.ListRecords(ctx, nsA, Filter{Session: "two"}, 10, 0)
	if err != nil || total != 1 || found[0].RecordID != want {
		t.Errorf("%d: %+v, %v", total, found, err)
	}
}
