package store

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

func TestSupersededRecordsAreOutOfSightAndComeBack(t *testing.T) {
	g := newGarden(t)
	a, b, c, other := testRecord(nsA, "alpha"), testRecord(nsA, "beta"), testRecord(nsA, "gamma"), testRecord(nsB, "delta")
	for _, r := range []event.Record{a, b, c, other} {
		g.save(r)
	}
	before := g.view()
	for _, sup := range []Supersession{
		{a.RecordID, b.RecordID, "duplicate"},
		{b.RecordID, c.RecordID, "model"},
		{c.RecordID, c.RecordID, "itself"},
		{other.RecordID, c.RecordID, "another project's"},
		{c.RecordID, "mr_none", "nobody"},
		{"mr_none", c.RecordID, "nobody"},
	} {
		if err := g.Supersede(t.Context(), sup); err != nil {
			t.Fatal(err)
		}
	}
	items, total, err := g.ListRecords(t.Context(), "", Filter{}, 10, 0)
	if err != nil || total != 2 || items[0].RecordID != other.RecordID && items[1].RecordID != other.RecordID {
		t.Fatalf("%d left: %+v, %v", total, items, err)
	}
	if hits, err := g.Candidates(t.Context(), nsA, []string{"alpha", "beta", "gamma"}, Filter{}, 10); err != nil || len(hits) != 1 {
		t.Errorf("found %v, %v", hits, err)
	}
	old, by, ok, err := g.History(t.Context(), c.RecordID)
	if err != nil || !ok || by != "" || len(old) != 2 {
		t.Fatalf("%+v %q %v %v", old, by, ok, err)
	}
	for _, o := range old {
		want := map[string]event.Record{a.RecordID: a, b.RecordID: b}[o.RecordID]
		if diff := cmp.Diff(want, o.Record); diff != "" {
			t.Error(diff)
		}
	}
	if _, by, ok, err := g.History(t.Context(), a.RecordID); err != nil || !ok || by != b.RecordID {
		t.Errorf("by %q, %v, %v", by, ok, err)
	}
	if _, _, ok, err := g.History(t.Context(), "mr_none"); ok || err != nil {
		t.Errorf("a history of nobody: %v", err)
	}
	for _, r := range []event.Record{a, b} {
		if ok, err := g.Reinstate(t.Context(), r.RecordID); !ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
	}
	if diff := cmp.Diff(before, g.view()); diff != "" {
		t.Error(diff)
	}
	if ok, err := g.Reinstate(t.Context(), a.RecordID); ok || err != nil {
		t.Errorf("twice: %v, %v", ok, err)
	}
}

func TestForgettingTakesWhatARecordStoodFor(t *testing.T) {
	for _, c := range []struct {
		name string
		sel  func(oldest, newest event.Record) Selection
	}{
		{"the one in use", func(_, n event.Record) Selection { return Selection{Records: []string{n.RecordID}} }},
		{"its session", func(_, _ event.Record) Selection { return Selection{Namespace: nsA, Session: "new"} }},
		{"the project", func(_, _ event.Record) Selection { return Selection{Namespace: nsA, All: true} }},
		{"the text", func(_, _ event.Record) Selection { return Selection{Contains: "zebra"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGarden(t)
			_, first := g.turn(nsA, "old", "zebra")
			_, second := g.turn(nsA, "new", "zebra")
			if err := g.Supersede(t.Context(), Supersession{first.RecordID, second.RecordID, "duplicate"}); err != nil {
				t.Fatal(err)
			}
			f, err := g.Forget(t.Context(), c.sel(first, second), false)
			if err != nil || f.Records != 2 {
				t.Fatalf("%+v, %v", f, err)
			}
			if _, _, ok, err := g.History(t.Context(), first.RecordID); ok || err != nil {
				t.Errorf("still in the history: %v", err)
			}
			if _, err := g.Restore(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if old, _, _, err := g.History(t.Context(), second.RecordID); err != nil || len(old) != 1 || old[0].RecordID != first.RecordID {
				t.Errorf("not restored: %+v, %v", old, err)
			}
			if _, err := g.Forget(t.Context(), c.sel(first, second), true); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Forget(t.Context(), Selection{Namespace: nsA, All: true}, true); err != nil { // the old session's own events
				t.Fatal(err)
			}
			if err := g.Erase(t.Context()); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(g.files(), []byte("zebra")) {
				t.Error("still in the file")
			}
		})
	}
}
