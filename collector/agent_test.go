package collector

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
	"kiro-learn/outbox"
)

// saved is a note that carries a record which an agent saved.
func (w *world) saved(session string, change func(e *event.Event, r *event.Record)) (event.Event, event.Record) {
	w.t.Helper()
	e := w.event(event.KindNote, session, "", nil)
	r := event.Record{
		RecordID: "mr_" + w.ids.Next(0), Namespace: e.Namespace, Strategy: event.StrategyMCPObservation, Title: "Cache key", Summary: "It holds the locale",
		Facts: []string{}, Concepts: []string{}, FilesTouched: []string{}, SourceEventIDs: []string{e.EventID}, CreatedAt: e.ValidTime, ObservationType: event.TypeDiscovery,
	}
	if change != nil {
		change(&e, &r)
	}
	data, err := json.Marshal(event.Saved{Tool: "save_observation", Record: &r})
	if err != nil {
		w.t.Fatal(err)
	}
	if e.Kind == event.KindNote {
		e.Body = event.JSONBody(data)
	} else {
		e.Body = event.JSONBody([]byte(`{"tool_name":"x","tool_input":{},"tool_response":{},"mcp_record":` + string(data) + `}`))
	}
	return e, r
}

func TestANoteMakesTheRecordThatItCarries(t *testing.T) {
	w := newWorld(t)
	w.start()
	for _, c := range []struct {
		name    string
		change  func(e *event.Event, r *event.Record)
		made    bool
		summary string
	}{
		{"an observation", nil, true, "It holds the locale"},
		{"a session summary", func(_ *event.Event, r *event.Record) {
			r.Strategy, r.ObservationType = event.StrategyMCPSessionSummary, event.TypeSessionSummary
		}, true, "It holds the locale"},
		{"private text", func(_ *event.Event, r *event.Record) { r.Summary = "a <private>secret</private> b" }, true, "a [REDACTED] b"},
		{"too long", func(_ *event.Event, r *event.Record) { r.Summary = strings.Repeat("s", 5000) }, true, strings.Repeat("s", 3999) + "…"},
		{"of another project", func(_ *event.Event, r *event.Record) { r.Namespace = event.Namespace("mia", "other") }, false, ""},
		{"of another strategy", func(_ *event.Event, r *event.Record) { r.Strategy = event.StrategyRules }, false, ""},
		{"made of another event", func(_ *event.Event, r *event.Record) { r.SourceEventIDs = []string{w.ids.Next(0)} }, false, ""},
		{"made of nothing", func(_ *event.Event, r *event.Record) { r.SourceEventIDs = nil }, false, ""},
		{"without a title", func(_ *event.Event, r *event.Record) { r.Title = " " }, false, ""},
		{"in a tool use", func(e *event.Event, _ *event.Record) { e.Kind = event.KindToolUse }, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, r := w.saved("s", c.change)
			if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 || !strings.Contains(body, `"stored":true`) {
				t.Fatalf("%d %s", status, body)
			}
			got, err := w.client.Record(t.Context(), r.RecordID)
			if made := err == nil; made != c.made || got.Summary != c.summary {
				t.Errorf("made %v %q, want %v %q", made, got.Summary, c.made, c.summary)
			}
		})
	}
}

// The note comes by the batch, by the outbox, and again: each record is there once.
func TestANoteByEveryWay(t *testing.T) {
	w := newWorld(t)
	w.start()
	byBatch, one := w.saved("s", nil)
	byOutbox, two := w.saved("s", nil)
	line := string(byBatch.AppendJSON(nil))
	w.do("POST", "/v1/events/batch", "application/x-ndjson", line+"\n"+line+"\n")
	q := outbox.New(w.dirs.Outbox(), outbox.Options{})
	for range 2 {
		if err := q.Append(byOutbox.EventID, byOutbox.AppendJSON(nil), 0); err != nil {
			t.Fatal(err)
		}
	}
	if status, body := w.do("POST", "/v1/drain?wait=1", "", ""); status != 200 {
		t.Fatal(body)
	}
	w.do("POST", "/v1/events", "application/json", string(byOutbox.AppendJSON(nil)))
	got, err := client.Agent{Client: w.client}.Records(t.Context(), byBatch.Namespace, "s", 10)
	if err != nil {
		t.Fatal(err)
	}
	have := []string{}
	for _, r := range got {
		have = append(have, r.RecordID)
	}
	want := []string{one.RecordID, two.RecordID}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("records %v, want %v", have, want)
	}
}

func TestTimeline(t *testing.T) {
	w := newWorld(t)
	w.start()
	var all []event.Event
	add := func(e event.Event) {
		all = append(all, e)
		if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
			t.Fatal(body)
		}
	}
	for i := range 5 {
		p := w.event(event.KindPrompt, "s", "", event.TextBody(fmt.Sprintf("prompt %d <system>\n## x", i)))
		add(p)
		add(w.event(event.KindToolUse, "s", p.EventID, event.JSONBody([]byte(`{"tool_name":"fsWrite","tool_input":{"path":"a.go"},"tool_response":{"result":"done"}}`))))
	}
	elsewhere := w.event(event.KindPrompt, "s", "", event.TextBody("another project"))
	elsewhere.Namespace = event.Namespace("mia", "other")
	add(elsewhere)
	note, _ := w.saved("s2", nil)
	add(note)
	a := client.Agent{Client: w.client}
	ns := event.Namespace("mia", "p")
	line := func(i int) string {
		if i%2 == 0 {
			return fmt.Sprintf("prompt %d ‹system> x", i/2)
		}
		return `fsWrite {"path":"a.go"}`
	}
	for _, c := range []struct {
		name string
		get  func() ([]client.Moment, error)
		want []int // places in all
	}{
		{"the latest", func() ([]client.Moment, error) { return a.Latest(t.Context(), ns, "s", 3) }, []int{7, 8, 9}},
		{"around", func() ([]client.Moment, error) { return a.Around(t.Context(), ns, all[4].EventID, 4) }, []int{2, 3, 4, 5}},
		{"around the first", func() ([]client.Moment, error) { return a.Around(t.Context(), ns, all[0].EventID, 4) }, []int{0, 1, 2, 3}},
		{"around the last", func() ([]client.Moment, error) { return a.Around(t.Context(), ns, all[9].EventID, 4) }, []int{7, 8, 9}},
		{"only itself", func() ([]client.Moment, error) { return a.Around(t.Context(), ns, all[4].EventID, 1) }, []int{4}},
		{"around another project's", func() ([]client.Moment, error) { return a.Around(t.Context(), ns, elsewhere.EventID, 4) }, nil},
		{"around nothing", func() ([]client.Moment, error) { return a.Around(t.Context(), ns, w.ids.Next(0), 4) }, nil},
		{"by id", func() ([]client.Moment, error) {
			return a.Events(t.Context(), ns, []string{all[1].EventID, elsewhere.EventID, all[0].EventID}, 100)
		}, []int{1, 0}},
		{"of nobody", func() ([]client.Moment, error) { return a.Latest(t.Context(), ns, "nobody", 3) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.get()
			if err != nil {
				t.Fatal(err)
			}
			var have, want []string
			for _, m := range got {
				have = append(have, m.EventID+" "+m.Text)
			}
			for _, i := range c.want {
				want = append(want, all[i].EventID+" "+line(i))
			}
			if !slices.Equal(have, want) {
				t.Errorf("got  %q\nwant %q", have, want)
			}
		})
	}
	if got, err := a.Latest(t.Context(), ns, "s2", 3); err != nil || len(got) != 1 || got[0].Text != "saved to memory: Cache key" {
		t.Errorf("a saved record: %v %v", got, err)
	}
	if got, err := a.Events(t.Context(), ns, []string{all[1].EventID}, 1000); err != nil || len(got) != 1 || !strings.Contains(got[0].Text, `"result":"done"`) {
		t.Errorf("with room for the response: %v %v", got, err)
	}
	for _, q := range []string{"", "namespace=" + url.QueryEscape(ns) + "&limit=0", "namespace=" + url.QueryEscape(ns) + "&chars=x"} {
		if status, body := w.do("GET", "/v1/timeline?"+q, "", ""); status != 400 {
			t.Errorf("%q: %d %s", q, status, body)
		}
	}
}

func TestWhatAnAgentReadsIsNeutral(t *testing.T) {
	w := newWorld(t)
	w.start()
	p := w.event(event.KindPrompt, "s", "", event.TextBody("<system> hello"))
	note, r := w.saved("s", func(_ *event.Event, r *event.Record) {
		r.Title, r.Summary, r.Facts = "quokka <system>", "<system>\n\n## heading", []string{"<system>"}
	})
	for _, e := range []event.Event{p, note} {
		w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil)))
	}
	a := client.Agent{Client: w.client}
	found, err := a.Search(t.Context(), r.Namespace, "quokka", 10, nil, time.Time{})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	one, err := a.Record(t.Context(), r.RecordID)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []client.Record{found[0], one} {
		if got.Title != "quokka ‹system>" || got.Summary != "‹system>\nheading" || got.Facts[0] != "‹system>" {
			t.Errorf("shown as %+v", got)
		}
	}
	plain, err := w.client.Record(t.Context(), r.RecordID)
	if err != nil || plain.Title != r.Title {
		t.Errorf("a person is shown %q, %v", plain.Title, err)
	}
	sessions, err := a.Sessions(t.Context(), r.Namespace, 10)
	if err != nil || len(sessions) != 1 || sessions[0].Title != "‹system> hello" || sessions[0].Records != 1 {
		t.Errorf("sessions %+v %v", sessions, err)
	}
	if none, err := a.Sessions(t.Context(), event.Namespace("mia", "other"), 10); err != nil || len(none) != 0 {
		t.Errorf("another project's sessions %+v %v", none, err)
	}
}
