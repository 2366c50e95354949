package recall

import (
	"context"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// titles are those of the records that a prompt is given, each in brackets.
func titles(t *testing.T, e *Engine, prompt string) string {
	t.Helper()
	c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: prompt}, ContextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range c.Records {
		b.WriteString("[" + r.Title + "]")
	}
	return b.String()
}

// saveDistilled stores a record of a session that is known by the event of which it was made.
func saveDistilled(t *testing.T, s *store.Store, i int, session string, r event.Record) {
	t.Helper()
	ev := event.Event{
		EventID: "01J0000000000000000000000" + string(rune('A'+i)), SessionID: session, ActorID: "ana", Namespace: testSpace, SchemaVersion: 1,
		Kind: event.KindPrompt, Body: event.TextBody(r.Title), ValidTime: testTime.Format(time.RFC3339),
		Source: event.Source{Surface: event.SurfaceCLI, Version: "1", ClientID: "host"},
	}
	if _, err := s.AddEvents(context.Background(), []event.Event{ev}); err != nil {
		t.Fatal(err)
	}
	r.SourceEventIDs = []string{ev.EventID}
	save(t, s, i, r)
}

func TestWhatWasDistilledIsNotShownForItsNeighbours(t *testing.T) {
	e, s := newEngine(t)
	for i, r := range []event.Record{
		{Title: "Use NATS instead of RabbitMQ for the scan events", ObservationType: event.TypeDecision, Summary: "Rabbit's clustering pages us at night."},
		{Title: "Wie deployen wir auf staging?", Summary: "Mit make und nomad, nach vault login."},
		{Title: "go test ./carriers failed: signature mismatch: got 9f2a want 77b1", ObservationType: event.TypeError, Summary: "The raw body is signed."},
		{Title: "Add a feature flag for the new pricing engine", ObservationType: event.TypeSessionSummary, Summary: "The flag pricing_v2 is stored per customer and cached for 30 seconds."},
		{Title: "Retry uploads 404 times", Summary: "A number that somebody liked."},
	} {
		saveDistilled(t, s, i, "one", r)
	}
	for _, tt := range []struct{ name, prompt, want string }{
		{"a neighbour in the same session", "is rabbit still used anywhere?", "[Use NATS instead of RabbitMQ for the scan events]"},
		{"a number is not a piece of a hash", "turn pricing_v2 on for customer 77", "[Add a feature flag for the new pricing engine]"},
		{"a number alone", "what about 30?", ""},
		{"a number in an order", "set timeout to 30 seconds", ""},
		{"the hash itself", "signature mismatch: want 77b1", "[go test ./carriers failed: signature mismatch: got 9f2a want 77b1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := titles(t, e, tt.prompt); got != tt.want {
				t.Errorf("%q was given %q, want %q", tt.prompt, got, tt.want)
			}
		})
	}
}

// Notes of a talk: the answer stands behind the question and shares no word with it.
func TestANoteIsShownBesideItsQuestion(t *testing.T) {
	e, s := newEngine(t)
	for i, r := range []event.Record{
		{Title: "Ana: what did you name the hedgehog?"},
		{Title: "Ben: Mortimer, after grandpa"},
		{Title: "Ana: lovely weather"},
	} {
		save(t, s, i, r)
	}
	save(t, s, 600, event.Record{Title: "Ben: another day"})
	got := titles(t, e, "what is the name of the hedgehog?")
	if !strings.Contains(got, "hedgehog") || !strings.Contains(got, "Mortimer") || strings.Contains(got, "another day") {
		t.Errorf("got %q, want the question and its answer and nothing of another day", got)
	}
}

func TestWordsOfEverydayInATinyProject(t *testing.T) {
	e, s := newEngine(t)
	for i, r := range []event.Record{
		{Title: "Make the tracking page faster, it takes 4 seconds", ObservationType: event.TypeSessionSummary, Summary: "The scans table had no index."},
		{Title: "Why do integration tests hang on my mac but not in CI?", ObservationType: event.TypeSessionSummary, Summary: "The tests time out after two minutes."},
	} {
		save(t, s, i, r)
	}
	for _, prompt := range []string{
		"how do I make sourdough starter faster", "set timeout to 30 seconds", "my mac is out of battery", "book me a table for two",
		"which table should I buy?", "how do I cook rice in 30 minutes",
	} {
		if got := titles(t, e, prompt); got != "" {
			t.Errorf("%q was given %q, want nothing", prompt, got)
		}
	}
	for prompt, want := range map[string]string{
		"why was the tracking page slow": "tracking", "the integration tests hang on macOS": "integration", "is there an index on scans?": "tracking",
	} {
		if got := titles(t, e, prompt); !strings.Contains(got, want) {
			t.Errorf("%q was given %q, want %q", prompt, got, want)
		}
	}
}

// In a project of two records that are of one turn each word is in both, which does not make it one of the project's everyday.
func TestTwoRecordsOfOneTurn(t *testing.T) {
	e, s := newEngine(t)
	const title = "We decided to cap retries at three because the gateway rate-limits"
	save(t, s, 0, event.Record{Title: title, ObservationType: event.TypeDecision, Summary: "Stated by the user."})
	save(t, s, 1, event.Record{Title: title, ObservationType: event.TypeSessionSummary, Summary: "Retries are capped at three in upload/upload.go."})
	for _, prompt := range []string{"how often are retries tried?", "how many retries does the gateway allow?"} {
		if titles(t, e, prompt) == "" {
			t.Errorf("%q was given nothing", prompt)
		}
	}
	for _, prompt := range []string{"how do I make three eggs?", "are there three days left?", "how often is the cat fed?"} {
		if got := titles(t, e, prompt); got != "" {
			t.Errorf("%q was given %q, want nothing", prompt, got)
		}
	}
}
