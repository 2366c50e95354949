package recall

import (
	"context"
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

// first gives the titles of the best records for a prompt.
func first(t *testing.T, e *Engine, prompt string, n int) (titles []string) {
	t.Helper()
	found, err := e.Search(context.Background(), Query{Namespace: testSpace, Text: prompt, Limit: n})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found {
		titles = append(titles, r.Title)
	}
	return titles
}

func TestRecordsOfTheSameFilesComeTogether(t *testing.T) {
	e, s := newEngine(t)
	for i, r := range []event.Record{
		{Title: "Gateway alarm", Summary: "The pager was silent.", FilesTouched: []string{"ops/pager.yaml"}},
		{Title: "Gateway limits uploads", Summary: "Uploads of the gateway are limited.", FilesTouched: []string{"quota/bucket.go"}},
		{Title: "Gateway timeout", Summary: "It was raised from ten to thirty seconds after many complaints of the shops.", FilesTouched: []string{"quota/bucket.go"}},
		{Title: "Colour of the menu", Summary: "Blue.", FilesTouched: []string{"web/menu.css"}},
		{Title: "Mail templates", Summary: "In German.", FilesTouched: []string{"mail/de.txt"}},
		{Title: "Gateway certificate", Summary: "Renewed by cron.", FilesTouched: []string{"ops/certificate.sh"}},
	} {
		save(t, s, i*90, r)
	}
	got := first(t, e, "uploads limited gateway", 2)
	if want := "Gateway limits uploads, Gateway timeout"; strings.Join(got, ", ") != want {
		t.Errorf("the best are %q, want %q", got, want)
	}
	plain, err := e.Without("links")
	if err != nil {
		t.Fatal(err)
	}
	if got := first(t, plain, "uploads limited gateway", 2); got[1] == "Gateway timeout" {
		t.Error("the record of the same file is second without links as well, so this test tells nothing")
	}
}

func TestLongListsOfFilesDoNotLowerARecord(t *testing.T) {
	e, s := newEngine(t)
	many := make([]string, 40)
	for i := range many {
		many[i] = "assets/icon" + strings.Repeat("x", i+1) + ".svg"
	}
	save(t, s, 0, event.Record{Title: "Lanterns are drawn as vectors", Summary: "All of them.", FilesTouched: many})
	save(t, s, 90, event.Record{Title: "Lanterns", Summary: "They are expensive in winter and nobody knows why, so ask the shop again.", FilesTouched: []string{"a.go"}})
	if got := first(t, e, "lanterns drawn", 1); len(got) != 1 || got[0] != "Lanterns are drawn as vectors" {
		t.Errorf("the best is %q", got)
	}
	d := &doc{length: [fieldCount]float32{10, 50, 0, 0, 400}, occ: []occurrence{{hash([]byte("lantern")), fieldTitle << posBits}}}
	tune := defaults()
	avg := [fieldCount]float64{10, 50, 1, 1, 4}
	tf := tune.frequencies([]queryTerm{{hash: hash([]byte("lantern"))}}, d, &avg)
	if tf[0] != 2 {
		t.Errorf("one occurrence in a title of usual length counts %v, want the title's weight 2", tf[0])
	}
}
