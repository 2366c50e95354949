package recall

import (
	"context"
	"slices"
	"testing"

	"kiro-learn/internal/event"
)

// A prompt whose every word is in most records must not walk them all, and finds the newest that hold what tells most.
func TestWordsThatAreEverywhere(t *testing.T) {
	e, s := newEngine(t)
	e.tuning.postings, e.tuning.pool = 5, 8
	for i := range 60 {
		r := event.Record{Title: "gateway", Summary: "seen"}
		if i%2 == 0 {
			r.Title = "gateway retries"
		}
		save(t, s, i*90, r)
	}
	found, err := e.Search(context.Background(), Query{Namespace: testSpace, Text: "gateway retries", Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, r := range found {
		ids = append(ids, r.ID)
	}
	if want := []int64{59, 57, 55, 53}; !slices.Equal(ids, want) {
		t.Errorf("records %v, want the newest with both words, %v", ids, want)
	}
	found, err = e.Search(context.Background(), Query{Namespace: testSpace, Text: "gateway", Limit: 3})
	if err != nil || len(found) != 3 || found[0].ID < 50 {
		t.Errorf("found %d records, %v; want three of the newest", len(found), err)
	}
}

func TestAffordable(t *testing.T) {
	terms := []queryTerm{{text: "often", weight: 1, idf: 1, docs: 900}, {text: "rare", weight: 1, idf: 7, docs: 2}, {text: "some", weight: 1, idf: 3, docs: 60}}
	for _, tt := range []struct {
		name   string
		max    int
		want   []string
		walked int
	}{
		{"all", 1000, []string{"rare", "some", "often"}, 962},
		{"the rarest", 100, []string{"rare", "some"}, 62},
		{"at least one", 1, []string{"rare"}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, walked := affordable(terms, tt.max)
			if !slices.Equal(got, tt.want) || walked != tt.walked {
				t.Errorf("%v with %d records, want %v with %d", got, walked, tt.want, tt.walked)
			}
		})
	}
}
