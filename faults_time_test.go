//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"kiro-learn/internal/event"
)

// Identity: an event of the year 2100 is stored, and what is made of it does not stand before what fits better.
func TestFutureEventsDoNotRuleRecall(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	b.turn("one", "We decided that the flamingo queue holds nine hundred jobs.", "flamingo/queue.go", "The flamingo queue holds nine hundred jobs.")
	first := b.stored("kind=prompt")[0]
	future := func(kind event.Kind, body []byte, at time.Time) {
		t.Helper()
		e := first
		e.EventID, e.SessionID, e.Kind, e.Body, e.ContentHash = ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), "future", kind, body, ""
		e.ValidTime = at.Format(time.RFC3339)
		if status, answer, err := b.call("POST", "/v1/events", e.AppendJSON(nil), "Content-Type: application/json"); err != nil || status != 200 {
			t.Fatalf("status %d, %v: %s", status, err, answer)
		}
	}
	at := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	future(event.KindPrompt, event.TextBody("We decided that the pelican cache is flushed on every flamingo release."), at)
	future(event.KindSessionSummary, event.TextBody("The pelican cache is flushed on every flamingo release."), at.Add(time.Second))
	b.must("flush", "--extract", "--timeout", "50s")
	if all := b.stored("session_id=future"); len(all) != 2 || !strings.HasPrefix(all[0].ValidTime, "2100-") {
		t.Fatalf("stored %q", texts(all))
	}
	out := b.hook("userPromptSubmit", b.prompt("two", "how many jobs does the flamingo queue hold?"))
	right, wrong := strings.Index(out, "nine hundred"), strings.Index(out, "pelican")
	if right < 0 || wrong >= 0 && wrong < right {
		t.Errorf("the answer stands behind the future's: %s", out)
	}
	// What comes now, in the present, is still stored, found and in order.
	b.turn("three", "We decided that the ostrich report is sent on Mondays.", "ostrich.go", "The ostrich report is sent on Mondays.")
	b.must("flush", "--extract", "--timeout", "50s")
	if out := b.hook("userPromptSubmit", b.prompt("four", "when is the ostrich report sent?")); !strings.Contains(out, "Mondays") {
		t.Errorf("what was said behind it is not recalled: %q", out)
	}
}
