package extract

import (
	"fmt"
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

func TestSame(t *testing.T) {
	base := event.Record{
		Namespace: "/n/", Strategy: event.StrategyRules, ObservationType: event.TypeDecision, Title: "Cap retries at three",
		Summary: "The upload job retries at most 3 times because the gateway limits the rate of requests per client and minute.", FilesTouched: []string{"upload/upload.go"},
	}
	for _, c := range []struct {
		name   string
		change func(r *event.Record)
		want   bool
	}{
		{"the very same", func(*event.Record) {}, true},
		{"other punctuation and case", func(r *event.Record) {
			r.Summary = strings.ToUpper(strings.TrimSuffix(r.Summary, ".")) + "!"
		}, true},
		{"one word more", func(r *event.Record) { r.Summary += " Indeed." }, true},
		{"by a model", func(r *event.Record) { r.Strategy = event.StrategyModel }, true},
		{"saved by an agent", func(r *event.Record) { r.Strategy = event.StrategyMCPObservation }, true},
		{"another number", func(r *event.Record) { r.Summary = strings.Replace(r.Summary, "3 times", "5 times", 1) }, false},
		{"another number word", func(r *event.Record) { r.Title = "Cap retries at five" }, false},
		{"a negation", func(r *event.Record) { r.Summary = strings.Replace(r.Summary, "retries", "never retries", 1) }, false},
		{"a contraction", func(r *event.Record) { r.Summary = strings.Replace(r.Summary, "retries at", "doesn't retry at", 1) }, false},
		{"another file", func(r *event.Record) { r.FilesTouched = []string{"upload/download.go"} }, false},
		{"another name", func(r *event.Record) { r.Summary += " See max_retries." }, false},
		{"another project", func(r *event.Record) { r.Namespace = "/m/" }, false},
		{"another type", func(r *event.Record) { r.ObservationType = event.TypeError }, false},
		{"half of it is other", func(r *event.Record) {
			r.Summary = "The upload job retries at most 3 times, as the customer has asked."
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			newer := base
			c.change(&newer)
			if got := Same(&base, &newer); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
	own := base
	own.Strategy = event.StrategyMCPObservation
	if Same(&own, &base) {
		t.Error("a record of the rules replaces one that an agent saved")
	}
	short := event.Record{Title: "Use tabs", Summary: "Use tabs"}
	other := event.Record{Title: "Use spaces", Summary: "Use spaces"}
	if Same(&short, &other) || !Same(&short, &short) {
		t.Error("short records")
	}
}

func TestDuplicatesNamesTheOlderOnes(t *testing.T) {
	var older []event.Record
	for i := range 30 {
		r := event.Record{RecordID: fmt.Sprint("r", i), Title: "The same thing", Summary: "said again and again in many words of no consequence"}
		if i%2 == 1 {
			r.Summary += fmt.Sprint(" number ", i)
		}
		older = append(older, r)
	}
	newer := older[4]
	if got := Duplicates(older, &newer); strings.Join(got, " ") != "r0 r2 r6 r8 r10 r12 r14 r16 r18" {
		t.Error(got)
	}
}
