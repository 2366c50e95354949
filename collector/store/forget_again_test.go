package store

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

// TestForgettingTwiceNowTakesWhatWaits: who forgets with a way back and then wants it really gone says the same again.
func TestForgettingTwiceNowTakesWhatWaits(t *testing.T) {
	for _, c := range []struct {
		name string
		sel  func(e []event.Event, r event.Record) Selection
	}{
		{"ids", func(e []event.Event, r event.Record) Selection {
			return Selection{Records: []string{r.RecordID}}
		}},
		{"an event", func(e []event.Event, r event.Record) Selection {
			return Selection{Events: []string{e[0].EventID, e[1].EventID, e[2].EventID}}
		}},
		{"session", func([]event.Event, event.Record) Selection { return Selection{Namespace: nsA, Session: "s"} }},
		{"project", func([]event.Event, event.Record) Selection { return Selection{Namespace: nsA, All: true} }},
		{"text", func([]event.Event, event.Record) Selection { return Selection{Contains: "zanzibar"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGarden(t)
			events, rec := g.turn(nsA, "s", "zanzibar")
			sel := c.sel(events, rec)
			if _, err := g.Forget(t.Context(), sel, false); err != nil {
				t.Fatal(err)
			}
			would, err := g.WouldForget(t.Context(), sel, true)
			if err != nil || would.Events != 3 || would.Records != 1 {
				t.Errorf("foretold %+v, %v", would, err)
			}
			f, err := g.Forget(t.Context(), sel, true)
			if err != nil || f.Events != 3 || f.Records != 1 {
				t.Errorf("%+v, %v", f, err)
			}
			if err := g.Erase(t.Context()); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(bytes.ToLower(g.files()), []byte("zanzibar")) && c.name != "text" {
				t.Error("still in the file")
			}
		})
	}
}

// TestRecordsThatStayAreNamedAndTheirSessionCanBeForgotten: one turn may make several records.
func TestRecordsThatStayAreNamedAndTheirSessionCanBeForgotten(t *testing.T) {
	for _, now := range []bool{false, true} {
		t.Run(fmt.Sprint("now ", now), func(t *testing.T) {
			g := newGarden(t)
			events, first := g.turn(nsA, "s", "zebraqux")
			other, alone := testRecord(nsA, "zebraqux decided"), testRecord(nsA, "zebraqux noted")
			other.SourceEventIDs = []string{events[0].EventID}
			alone.SourceEventIDs = other.SourceEventIDs
			g.save(other)
			g.save(alone)
			if err := g.submit(t.Context(), func(w *writerTx) error { // the event that it was made from went before
				_, err := w.exec("UPDATE records SET sources = '[\"01J\"]' WHERE record_id = ?", alone.RecordID)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			stays := []string{other.RecordID, alone.RecordID}
			sel := Selection{Records: []string{first.RecordID}}
			would, err := g.WouldForget(t.Context(), sel, now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.Forget(t.Context(), sel, now)
			if err != nil || got.Events != 3 || got.Records != 1 || got.Sessions != 0 || !cmp.Equal(got.Related, stays) || !cmp.Equal(would.Related, stays) || would.Sessions != 0 {
				t.Errorf("forgot %+v, foretold %+v, %v", got, would, err)
			}
			if got, err = g.Forget(t.Context(), sel, true); err != nil || got.Sessions != 0 || got.Empty() != now {
				t.Errorf("forgot again: %+v, %v", got, err)
			}
			for step, want := range []Forgotten{{Records: 2}, {Records: 2}, {}} { // with a way back, then for good
				spaces, err := g.SessionSpaces(t.Context(), "s")
				if err != nil || len(spaces) != min(want.Records, 1) {
					t.Fatalf("step %d: %v, %v", step, spaces, err)
				}
				sel := Selection{Namespace: nsA, Session: "s"}
				would, err := g.WouldForget(t.Context(), sel, step > 0)
				if err != nil {
					t.Fatal(err)
				}
				got, err := g.Forget(t.Context(), sel, step > 0)
				if err != nil || got.Records != want.Records || got.Events != 0 || would.Records != want.Records || would.Empty() != got.Empty() {
					t.Errorf("step %d: %+v, foretold %+v, %v", step, got, would, err)
				}
			}
			if hits, err := g.Candidates(t.Context(), nsA, []string{"zebraqux"}, Filter{}, 10); err != nil || len(hits) != 0 {
				t.Errorf("%v, %v", hits, err)
			}
		})
	}
}
