package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

func (g *garden) export(ns string) (out []Item) {
	g.t.Helper()
	if err := g.Export(g.t.Context(), ns, func(it Item) error { out = append(out, it); return nil }); err != nil {
		g.t.Fatal(err)
	}
	return out
}

func TestExportIsStableAndImportGivesTheSame(t *testing.T) {
	g := newGarden(t)
	for i := range 90 { // more than a page
		g.turn([]string{nsA, nsB}[i%2], []string{"s", "t", "u"}[i%3], "word")
	}
	waits := testEvent("s", event.KindPrompt, "waits")
	g.add(waits)
	want := g.export("")
	if len(want) != 90*4+1 {
		t.Fatalf("%d items", len(want))
	}
	if diff := cmp.Diff(want, g.export("")); diff != "" {
		t.Errorf("a second export differs: %s", diff)
	}
	for i := 1; i < len(want); i++ {
		a, b := want[i-1], want[i]
		ordered := a.Event != nil && b.Event == nil || a.Event != nil && b.Event != nil && (a.Event.Namespace < b.Event.Namespace || a.Event.EventID < b.Event.EventID) ||
			a.Record != nil && b.Record != nil && (a.Record.Namespace < b.Record.Namespace || a.Record.RecordID < b.Record.RecordID)
		if !ordered {
			t.Fatalf("item %d is out of order", i)
		}
	}
	h := newGarden(t)
	for round, isNew := range []bool{true, false} {
		stored, err := h.Import(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range stored {
			if s != isNew {
				t.Fatalf("round %d: item %d stored: %v", round, i, s)
			}
		}
		if diff := cmp.Diff(want, h.export("")); diff != "" {
			t.Errorf("round %d: %s", round, diff)
		}
	}
	if diff := cmp.Diff(g.view()["sessions"], h.view()["sessions"]); diff != "" {
		t.Errorf("sessions: %s", diff)
	}
	if n, err := h.PendingCount(t.Context()); err != nil || n != 1 {
		t.Errorf("%d pending, %v", n, err)
	}
	if only := h.export(nsB); len(only) != 45*4 {
		t.Errorf("one project: %d items", len(only))
	}
}

func TestBondsAndHistoryAreExported(t *testing.T) {
	g := newGarden(t)
	_, a := g.turn(nsA, "s", "alpha")
	_, b := g.turn(nsA, "t", "beta")
	_, c := g.turn(nsA, "u", "gamma")
	for i, p := range []Supersession{{Old: a.RecordID, New: b.RecordID, Why: "duplicate"}, {Old: b.RecordID, New: c.RecordID, Why: "judged"}} {
		if err := g.Supersede(t.Context(), p); err != nil {
			t.Fatal(i, err)
		}
	}
	waits := testEvent("v", event.KindPrompt, "waits")
	g.add(waits)
	full := testRecord("/strategy/rules/actor/mia/session/v/", "all of it")
	if ok, err := g.Distilled(t.Context(), []string{waits.EventID}, nil, SessionRecord{Record: full, Type: TypeFullSession, About: nsA}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	want := g.export("")
	var bonds, retired int
	for _, it := range want {
		if it.Bonds.Type == TypeFullSession && it.Bonds.About == nsA {
			bonds++
		}
		if it.Retired != nil {
			retired++
		}
	}
	if bonds != 1 || retired != 2 {
		t.Fatalf("%d records about sessions, %d in the history: %+v", bonds, retired, want)
	}
	if only := g.export(nsA); len(only) != len(want) {
		t.Errorf("the project alone has %d items, everything %d", len(only), len(want))
	}
	// Without the events too: what is known of records does not hang on them.
	records := slices.DeleteFunc(slices.Clone(want), func(it Item) bool { return it.Record == nil })
	for _, in := range [][]Item{want, records} {
		h := newGarden(t)
		for range 2 {
			if _, err := h.Import(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(in, h.export("")); diff != "" {
				t.Error(diff)
			}
		}
		old, _, _, err := h.History(t.Context(), c.RecordID)
		if err != nil || len(old) != 2 {
			t.Errorf("%+v, %v", old, err)
		}
		if ok, err := h.Reinstate(t.Context(), a.RecordID); err != nil || !ok {
			t.Error(ok, err)
		}
		if got, ok, err := h.Record(t.Context(), a.RecordID); err != nil || !ok || got.SessionID != "s" {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestImportKeepsWhatIsThereAndBringsBackWhatWasForgotten(t *testing.T) {
	g := newGarden(t)
	_, rec := g.turn(nsA, "s", "alpha")
	items := g.export("")
	changed := rec
	changed.Summary = "newer"
	g.save(changed)
	if _, err := g.Import(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	if got, _, err := g.Record(t.Context(), rec.RecordID); err != nil || got.Summary != "newer" {
		t.Errorf("%q, %v", got.Summary, err)
	}
	if _, err := g.Forget(t.Context(), Selection{Namespace: nsA, All: true}, true); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Import(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(items, g.export("")); diff != "" {
		t.Error(diff)
	}
}

func TestTypeScriptDatabase(t *testing.T) {
	const (
		id  = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
		id2 = "01ARZ3NDEKTSV4RRFFQ69G5FAW"
	)
	e := event.Event{
		EventID: id2, ParentEventID: id, SessionID: "s", ActorID: "mia", Namespace: nsA, SchemaVersion: 1, Kind: event.KindPrompt,
		Body: event.TextBody("hello"), ValidTime: "2026-01-31T12:00:00Z", Source: event.Source{Surface: "kiro-ide", Version: "0.3.1", ClientID: "host", ProjectPath: "/p"},
	}
	rec := event.Record{
		RecordID: "mr_" + id, Namespace: nsA, Strategy: "llm-summary", Title: "T", Summary: "S", Facts: []string{"f1", "f2"}, Concepts: []string{},
		FilesTouched: []string{"a.go"}, SourceEventIDs: []string{id2}, CreatedAt: "2026-01-31T12:00:00Z", ObservationType: "decision",
	}
	js := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	type row map[string]any
	for _, c := range []struct {
		name            string
		events, records row
	}{
		{
			"snake case",
			row{
				"event_id": id2, "parent_event_id": id, "session_id": "s", "actor_id": "mia", "namespace": nsA, "schema_version": 1, "kind": "prompt",
				"body": js(e.Body), "valid_time": e.ValidTime, "source": js(e.Source),
			},
			row{
				"record_id": rec.RecordID, "namespace": nsA, "strategy": "llm-summary", "title": "T", "summary": "S", "facts": `["f1","f2"]`, "concepts": "[]",
				"files_touched": `["a.go"]`, "source_event_ids": js(rec.SourceEventIDs), "created_at": rec.CreatedAt, "observation_type": "decision",
			},
		},
		{
			"camel case, flat source, times in milliseconds",
			row{
				"eventId": id2, "parentEventId": id, "sessionId": "s", "actorId": "mia", "namespace": nsA, "kind": "prompt",
				"body": js(e.Body), "validTime": 1769860800000, "sourceSurface": "kiro-ide", "sourceVersion": "0.3.1", "sourceClientId": "host", "sourceProjectPath": "/p",
			},
			row{
				"recordId": rec.RecordID, "namespace": nsA, "title": "T", "summary": "S", "facts": "f1\nf2\n", "filesTouched": `["a.go"]`, "sourceEventIds": js(rec.SourceEventIDs),
				"createdAt": "2026-01-31 12:00:00", "observationType": "decision",
			},
		},
		{"one column of JSON", row{"id": id2, "data": js(e)}, row{"id": rec.RecordID, "record_json": js(rec), "created_at": 1769860800}},
		{"unknown columns", row{"event_id": id2, "payload": js(e), "embedding": []byte{1, 2, 255}, "rank": 0.5}, row{"record_id": rec.RecordID, "record": js(rec), "embedding": []byte{0}}},
		{"a text for a body, no actor", row{
			"event_id": id2, "parent_event_id": id, "session_id": "s", "namespace": nsA, "kind": "prompt", "content": "hello",
			"valid_time": e.ValidTime, "source": js(e.Source),
		}, row{"record": js(rec)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kiro learn.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			for table, r := range map[string]row{"events": c.events, "memory_records": c.records} {
				cols, marks, args := "", "", []any{}
				for k, v := range r {
					if cols != "" {
						cols, marks = cols+",", marks+","
					}
					cols, marks, args = cols+`"`+k+`"`, marks+"?", append(args, v)
				}
				if _, err := db.Exec("CREATE TABLE " + table + "(" + cols + ")"); err != nil {
					t.Fatal(err)
				}
				if _, err := db.Exec("INSERT INTO "+table+"("+cols+") VALUES ("+marks+")", args...); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			var got []Item
			if err := TypeScript(t.Context(), path, func(it Item) error { got = append(got, it); return nil }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Item{{Event: &e, Distilled: true}, {Record: &rec}}, got); diff != "" {
				t.Error(diff)
			}
			if p := append(got[0].Event.Problems(), got[1].Record.Problems()...); len(p) > 0 {
				t.Error(p)
			}
		})
	}
	t.Run("another database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "other.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE x (y)"); err != nil {
			t.Fatal(err)
		}
		_ = db.Close()
		if err := TypeScript(context.Background(), path, nil); !errors.Is(err, ErrNotTypeScript) {
			t.Error(err)
		}
		if err := TypeScript(context.Background(), path+".missing", nil); err == nil {
			t.Error("a missing file gave no error")
		}
	})
}
