package store

import (
	"errors"
	"testing"

	"kiro-learn/internal/event"
)

func TestMergeMovesEverything(t *testing.T) {
	g := newGarden(t)
	_, a := g.turn(nsA, "one", "alpha")
	_, b := g.turn(nsA, "two", "beta")
	g.turn(nsB, "one", "delta")
	_, c := g.turn(nsA, "three", "gamma")
	if err := g.Supersede(t.Context(), Supersession{a.RecordID, b.RecordID, "duplicate"}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Forget(t.Context(), Selection{Namespace: nsA, Session: "three"}, false); err != nil {
		t.Fatal(err)
	}
	events, records, err := g.Merge(t.Context(), nsA, nsB, "/home/mia/b")
	if err != nil || events != 6 || records != 1 {
		t.Fatalf("%d events, %d records, %v", events, records, err)
	}
	if _, err := g.Restore(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if ok, err := g.Reinstate(t.Context(), a.RecordID); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, ns := range []string{nsA, nsB} {
		want := map[string]int{nsA: 0, nsB: 4}[ns]
		hits, err := g.Candidates(t.Context(), ns, []string{"alpha", "beta", "gamma", "delta"}, Filter{}, 10)
		_, total, err2 := g.ListRecords(t.Context(), ns, Filter{}, 10, 0)
		_, counted, err3 := g.TermCounts(t.Context(), ns, []string{"alpha"})
		if err := errors.Join(err, err2, err3); err != nil || len(hits) != want || total != want || counted != want {
			t.Errorf("%s: %d found, %d listed, %d counted, %v", ns, len(hits), total, counted, err)
		}
	}
	sessions, total, err := g.Sessions(t.Context(), "", 10, 0)
	if err != nil || total != 3 {
		t.Fatalf("%+v, %v", sessions, err)
	}
	for _, s := range sessions {
		if want := map[string]int{"one": 6, "two": 3, "three": 3}[s.SessionID]; s.Events != want || s.Namespace != nsB || s.Prompts != want/3 {
			t.Errorf("%+v", s)
		}
	}
	if stats, err := g.Stats(t.Context(), ""); err != nil || len(stats) != 1 || stats[0].Events != 12 || stats[0].ProjectPath != "/home/mia/b" {
		t.Errorf("%+v, %v", stats, err)
	}
	if r, ok, err := g.Record(t.Context(), c.RecordID); err != nil || !ok || r.Namespace != nsB {
		t.Errorf("%+v, %v", r, err)
	}
	if problems, err := g.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestMergeIntoANewPlace(t *testing.T) {
	g := newGarden(t)
	g.turn(nsA, "one", "alpha")
	ns := event.Namespace("mia", "moved")
	if events, records, err := g.Merge(t.Context(), nsA, ns, "/home/mia/moved"); err != nil || events != 3 || records != 1 {
		t.Fatalf("%d, %d, %v", events, records, err)
	}
	if stats, err := g.Stats(t.Context(), ""); err != nil || len(stats) != 1 || stats[0].Namespace != ns || stats[0].ProjectPath != "/home/mia/moved" {
		t.Errorf("%+v, %v", stats, err)
	}
	if _, _, err := g.Merge(t.Context(), ns, ns, ""); !errors.Is(err, ErrSameProject) {
		t.Error(err)
	}
	if events, records, err := g.Merge(t.Context(), "/actor/mia/project/none/", ns, ""); err != nil || events+records != 0 {
		t.Errorf("%d, %d, %v", events, records, err)
	}
}
