package recall

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

const testSpace = "/actor/ana/project/1111/"

// newEngine is an engine over a store of its own.
func newEngine(t testing.TB) (*Engine, *store.Store) {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "memory.db"), store.Options{Index: Index{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return New(s), s
}

var testTime = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// save stores a record, filling what the test does not care about.
func save(t testing.TB, s *store.Store, i int, r event.Record) {
	t.Helper()
	created := testTime.Add(time.Duration(i) * time.Minute)
	if r.Namespace == "" {
		r.Namespace = testSpace
	}
	if r.RecordID == "" {
		r.RecordID = fmt.Sprintf("mr_01J%023d", i)
	}
	if r.ObservationType == "" {
		r.ObservationType = event.TypeDiscovery
	}
	if r.CreatedAt == "" {
		r.CreatedAt = created.Format(time.RFC3339)
	}
	if r.SourceEventIDs == nil {
		r.SourceEventIDs = []string{fmt.Sprintf("01J%023d", i)}
	}
	r.Strategy = event.StrategyRules
	if _, err := s.SaveRecord(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

// uploads are the records that the rules make of two turns about an upload job.
func uploads() []event.Record {
	return []event.Record{
		{
			Title: "Cap retries at three because the gateway rate-limits", ObservationType: event.TypeDecision,
			Summary: "The upload job times out against the gateway. We decided to cap retries at three because the gateway rate-limits. Retries are capped at three with exponential backoff starting at 200 ms; see upload/upload.go. Tests pass.",
			Facts:   []string{"upload_test.go:41: got 1 attempt, want 3"}, FilesTouched: []string{"upload/upload.go"},
		},
		{
			Title:   "Rename the Postgres table orders to purchase_orders in the migration",
			Summary: "Migration 0007 renames orders to purchase_orders.", FilesTouched: []string{"db/migrations/0007_purchase_orders.sql"},
		},
	}
}

func TestContextOfASmallProject(t *testing.T) {
	e, s := newEngine(t)
	for i, r := range uploads() {
		save(t, s, i, r)
	}
	for _, tt := range []struct{ name, prompt, want string }{
		{"another form of the words", "how many times may the uploader retry?", "three"},
		{"why", "why did we limit retries", "rate-limit"},
		{"a question about a name", "what is the orders table called now", "purchase_orders"},
		{"one word", "backoff", "200 ms"},
		{"a file", "upload.go", "upload/upload.go"},
		{"a mention of a file", "look at @upload/upload.go please", "upload/upload.go"},
		{"part of an identifier", "purchase-orders", "0007"},
		{"syntax of the index", `"gateway AND title:(retries* NEAR`, "three"},
		{"hello", "hello", ""},
		{"ok", "ok", ""},
		{"thanks", "thanks!", ""},
		{"continue", "continue", ""},
		{"another topic", "write a haiku about the sea", ""},
		{"empty", "", ""},
		{"blank", "   ", ""},
		{"stop words only", "what did we do?", ""},
		{"a word nobody wrote", "kubernetes", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: tt.prompt}, ContextOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" && c.Text != "" || !strings.Contains(c.Text, tt.want) {
				t.Errorf("%q got %q, want it to hold %q", tt.prompt, c.Text, tt.want)
			}
		})
	}
}

func TestContextIsOfOneProject(t *testing.T) {
	e, s := newEngine(t)
	for i, r := range uploads() {
		save(t, s, i, r)
	}
	q := Query{Namespace: "/actor/ana/project/2222/", Text: "how many times may the uploader retry?"}
	c, err := e.Context(context.Background(), q, ContextOptions{})
	if err != nil || c.Text != "" {
		t.Errorf("another project got %q, %v", c.Text, err)
	}
	if got, err := e.Search(context.Background(), q); err != nil || len(got) != 0 {
		t.Errorf("another project found %d records, %v", len(got), err)
	}
}

func TestContextIsNotRepeated(t *testing.T) {
	e, s := newEngine(t)
	records := uploads()
	save(t, s, 0, records[0])
	ask := func(session string) string {
		t.Helper()
		q := Query{Namespace: testSpace, Text: "how many retries does the uploader make?", SessionID: session}
		c, err := e.Context(context.Background(), q, ContextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	if ask("a") == "" || ask("a") != "" {
		t.Error("a record must be shown once in a session")
	}
	if ask("b") == "" {
		t.Error("another session was shown nothing")
	}
	records[0].Summary += " The cap is now five."
	save(t, s, 0, records[0])
	if got := ask("a"); !strings.Contains(got, "now five") {
		t.Errorf("the changed record was not shown again: %q", got)
	}
}

func TestContextLeavesOutItsOwnSession(t *testing.T) {
	e, s := newEngine(t)
	created := testTime
	ev := event.Event{
		EventID: "01J00000000000000000000009", SessionID: "one", ActorID: "ana", Namespace: testSpace, SchemaVersion: 1,
		Kind: event.KindPrompt, Body: event.TextBody("cap the retries"), ValidTime: created.Format(time.RFC3339),
		Source: event.Source{Surface: event.SurfaceCLI, Version: "1", ClientID: "host"},
	}
	if _, err := s.AddEvents(context.Background(), []event.Event{ev}); err != nil {
		t.Fatal(err)
	}
	r := uploads()[0]
	r.SourceEventIDs = []string{ev.EventID}
	save(t, s, 0, r)
	for _, tt := range []struct {
		name, session string
		o             ContextOptions
		want          bool
	}{
		{"own", "one", ContextOptions{Now: created.Add(48 * time.Hour)}, false},
		{"another", "two", ContextOptions{Now: created}, true},
		{"own, derived, young", "one", ContextOptions{Now: created.Add(20 * time.Minute), Derived: true}, false},
		{"own, derived, old", "one", ContextOptions{Now: created.Add(31 * time.Minute), Derived: true}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := Query{Namespace: testSpace, Text: "remind me how many retries the uploader makes", SessionID: tt.session}
			c, err := e.Context(context.Background(), q, tt.o)
			if err != nil || (c.Text != "") != tt.want {
				t.Errorf("got %q, %v; want text: %v", c.Text, err, tt.want)
			}
		})
	}
}

// A person who types a word that is courtesy in a prompt means it.
func TestSearchFindsWordsThatPromptsArePaddedWith(t *testing.T) {
	e, s := newEngine(t)
	save(t, s, 0, event.Record{Title: "Retry policy of the uploader", Summary: "The uploader does retry five times."})
	save(t, s, 1, event.Record{Title: "How to run go test", Summary: "Type go test ./... at the top."})
	save(t, s, 2, event.Record{Title: "Invoices", Summary: "They are rounded at the end."})
	for query, want := range map[string]string{"retry": "Retry policy of the uploader", "go test": "How to run go test", "how to run go test": "How to run go test"} {
		got, err := e.Search(t.Context(), Query{Namespace: testSpace, Text: query})
		if err != nil || len(got) == 0 || got[0].Title != want {
			t.Errorf("%s: %d found, %v, want %s first", query, len(got), err, want)
		}
	}
	if got, err := e.Search(t.Context(), Query{Namespace: testSpace, Text: "zzz nothing of the kind"}); err != nil || len(got) != 0 {
		t.Errorf("%d found for a word that no record holds, %v", len(got), err)
	}
}
