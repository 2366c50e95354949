package recall

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// topics is a model of three dimensions: it knows what texts about gateways, cats and mail have in common.
func topics(text string) []byte {
	v := make([]byte, 3)
	for i, words := range []string{"gateway proxy ingress", "cat kitten", "mail letter"} {
		for w := range strings.FieldsSeq(words) {
			if strings.Contains(strings.ToLower(text), w) {
				v[i] += 60
			}
		}
	}
	return v
}

func TestVectorsAreATail(t *testing.T) {
	e, s := newEngine(t)
	ctx := context.Background()
	load(t, s, []event.Record{
		{Title: "Ingress limits", Summary: "Sixty a minute."},
		{Title: "The kitten", Summary: "Its picture is the icon."},
		{Title: "Our proxy is slow", Summary: "In the morning."},
		{Title: "Letters", Summary: "They are sent at noon."},
	}, 0)
	all, err := s.Unembedded(ctx, "topics", 10)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	var made []store.Vector
	for _, r := range all {
		made = append(made, store.Vector{ID: r.ID, Revision: r.Revision, Bytes: topics(r.Title + r.Summary)})
	}
	if err := s.SaveVectors(ctx, "topics", made); err != nil {
		t.Fatal(err)
	}
	find := func(e *Engine, prompt string) string {
		t.Helper()
		return strings.Join(first(t, e, prompt, 10), ", ")
	}
	embed := func(_ context.Context, text string) ([]byte, error) { return topics(text), nil }
	e.UseVectors(&Vectors{Model: "topics", Wait: time.Minute, Embed: embed})
	if got, want := find(e, "is the proxy slow"), "Our proxy is slow, Ingress limits"; got != want {
		t.Errorf("found %s, want the record with the words, then the one that means the like: %s", got, want)
	}
	if got, want := find(e, "a cat"), "The kitten"; got != want {
		t.Errorf("without a common word found %s, want %s", got, want)
	}
	if c, err := e.Context(ctx, Query{Namespace: testSpace, Text: "which cat do we have?"}, ContextOptions{}); err != nil || c.Text != "" {
		t.Errorf("a prompt without a common word is given %q, %v: meaning alone must not pass the floor", c.Text, err)
	}
	plain, err := e.Without("vectors")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := find(plain, "is the proxy slow"), "Our proxy is slow"; got != want {
		t.Errorf("without vectors found %s, want %s", got, want)
	}
	for name, embed := range map[string]func(ctx context.Context, text string) ([]byte, error){
		"that fail":       func(context.Context, string) ([]byte, error) { return nil, errors.New("no") },
		"of another kind": func(context.Context, string) ([]byte, error) { return []byte{1, 2}, nil },
		"that never come": func(ctx context.Context, _ string) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() },
	} {
		slow := New(s)
		slow.UseVectors(&Vectors{Model: "topics", Wait: time.Millisecond, Embed: embed})
		if got, want := find(slow, "is the proxy slow"), "Our proxy is slow"; got != want {
			t.Errorf("with vectors %s found %s, want %s", name, got, want)
		}
	}
}
