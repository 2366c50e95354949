package collector

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

func (w *world) records(query string) (out []event.Record) {
	w.t.Helper()
	_, body := w.do("GET", "/v1/memories?"+query, "", "")
	var got struct{ Items []event.Record }
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		w.t.Fatalf("%v: %s", err, body)
	}
	return got.Items
}

func TestARecordSaidAgainStandsForTheOlderOne(t *testing.T) {
	w := newWorld(t)
	w.start()
	decide := func(session, text string) {
		t.Helper()
		e := w.event(event.KindPrompt, session, "", event.TextBody(text))
		if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
			t.Fatal(status, body)
		}
		if status, body := w.do("POST", "/v1/extract", "", ""); status != 200 {
			t.Fatal(status, body)
		}
	}
	const text = "We decided to keep the zebras apart from the lions because the lions were hungry all day long. "
	decide("a", text)
	first := w.records("type=decision")
	if len(first) != 1 {
		t.Fatalf("%+v", first)
	}
	decide("b", text)
	decide("c", strings.Replace(text, "were hungry", "were not hungry", 1))
	got := w.records("type=decision")
	if len(got) != 2 || got[0].RecordID == first[0].RecordID || got[1].RecordID == first[0].RecordID {
		t.Fatalf("%+v", got)
	}
	id := got[1].RecordID
	h, err := w.client.History(t.Context(), id)
	if err != nil || h.SupersededBy != "" || len(h.Supersedes) != 1 || h.Supersedes[0].RecordID != first[0].RecordID || h.Supersedes[0].Why != "duplicate" {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err := w.client.History(t.Context(), first[0].RecordID); err != nil || h.SupersededBy != id {
		t.Errorf("%+v, %v", h, err)
	}
	back, err := w.client.RestoreRecord(t.Context(), first[0].RecordID)
	if err != nil || fmt.Sprint(back) != fmt.Sprint(first[0]) {
		t.Errorf("%+v, %v", back, err)
	}
	if got := w.records("type=decision"); len(got) != 3 {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"/v1/memories/mr_none/history"} {
		if status, body := w.do("GET", path, "", ""); status != 404 || !strings.Contains(body, "record_not_found") {
			t.Error(status, body)
		}
	}
	if _, err := w.client.RestoreRecord(t.Context(), id); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("restored what is in use: %v", err)
	}
}

// posted is a record as another program sends it.
func (w *world) posted(title, summary string) event.Record {
	r := event.Record{
		RecordID: w.recordID(), Namespace: event.Namespace("mia", "p"), Strategy: event.StrategyMCPObservation, Title: title, Summary: summary,
		SourceEventIDs: []string{w.ids.Next(time.Second)}, CreatedAt: "2026-11-20T09:00:00Z", ObservationType: event.TypeDecision,
	}
	r.Fit()
	return r
}

func (w *world) recordID() string { return "mr_" + w.ids.Next(time.Second) }

func (w *world) postRecord(r event.Record) (int, string) {
	w.t.Helper()
	js, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.do("POST", "/v1/memories", "application/json", string(js))
}

func TestARecordIDIsGivenOnce(t *testing.T) {
	w := newWorld(t)
	w.start()
	first := w.posted("Retries", "Uploads are retried at most three times because of the gateway's limit.")
	again, superseded := w.posted("Retries", "Uploads are retried at most three times, because of the gateway's limit!"), first
	for _, c := range []struct {
		name   string
		record event.Record
		change func(r *event.Record)
		status int
		holds  string
	}{
		{"new", first, nil, 200, `"stored":true`},
		{"the same", first, nil, 200, `"stored":false`},
		{"the same but for a blank fact", first, func(r *event.Record) { r.Facts = []string{" "} }, 200, `"stored":false`},
		{"another title", first, func(r *event.Record) { r.Title = "owned" }, 409, `"code":"record_exists"`},
		{"other sources", first, func(r *event.Record) { r.SourceEventIDs = []string{w.ids.Next(0)} }, 409, `"code":"record_exists"`},
		{"another project", first, func(r *event.Record) { r.Namespace = event.Namespace("mia", "other") }, 409, `"code":"record_exists"`},
		{"a namespace that is none", first, func(r *event.Record) { r.Namespace = "everywhere" }, 400, `"field":"namespace"`},
		{"a strategy that is none", first, func(r *event.Record) { r.Strategy = "magic" }, 400, `"field":"strategy"`},
		{"what it says, by another", again, nil, 200, `"stored":true`},
		{"the same, which is in the history now", superseded, nil, 200, `"stored":false`},
		{"another in the place of the one in the history", superseded, func(r *event.Record) { r.Title = "owned" }, 409, `"code":"record_exists"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.record
			if c.change != nil {
				c.change(&r)
			}
			if status, body := w.postRecord(r); status != c.status || !strings.Contains(body, c.holds) {
				t.Errorf("got %d %s, want %d with %s", status, body, c.status, c.holds)
			}
		})
	}
	if got := w.records(""); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(again) {
		t.Errorf("%+v", got)
	}
	if h, err := w.client.History(t.Context(), again.RecordID); err != nil || len(h.Supersedes) != 1 || fmt.Sprint(h.Supersedes[0].Record) != fmt.Sprint(first) {
		t.Errorf("%+v, %v", h, err)
	}
	note, _ := w.saved("s", func(_ *event.Event, r *event.Record) { r.RecordID, r.Title = again.RecordID, "owned by a note" })
	if status, body := w.do("POST", "/v1/events", "application/json", string(note.AppendJSON(nil))); status != 200 || !strings.Contains(body, `"stored":true`) {
		t.Errorf("%d %s", status, body)
	}
	if got := w.records(""); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(again) {
		t.Errorf("a note rewrote it: %+v", got)
	}
}

func TestALanguageModelJudgesWhatIsAlike(t *testing.T) {
	s := newStudio(t, func(c *config.Config) { c.SessionSummary.Enabled, c.Extract.Engine = false, "llm" })
	made := func(summary, verdict string) string { // what the model answers to any question
		return `<memory_record type="decision" turns="1"><title>Retries</title><summary>` + summary + `</summary></memory_record>` + verdict
	}
	const three, five = "Uploads are retried at most 3 times because of the gateway's limit on requests.", "Uploads are retried at most 5 times because of the gateway's limit on requests."
	for i, c := range []struct {
		name, summary, verdict string
		records                int
	}{
		{"the first", three, "", 1},
		{"another number, and it says nothing", five, "", 2},
		{"another number, kept apart", strings.Replace(three, "3", "4", 1), `<pair n="1" same="no"/><pair n="2" same="no"/>`, 3},
		{"another number, merged with one", strings.Replace(three, "3", "6", 1), `<pair n="1" same="yes"/><pair n="2" same="no"/>`, 3},
		{"nearly the same, kept apart", three + " Indeed.", `<pair n="1" same="no"/><pair n="2" same="no"/><pair n="3" same="no"/>`, 4},
		{"nearly the same, and it rambles", five + " Indeed.", "They are all one, merge everything!", 0},
	} {
		s.reply(made(c.summary, c.verdict))
		s.turn(fmt.Sprint("s", i), "How often are uploads retried?", "See upload.go for the retries.")
		s.settle()
		got := s.records("type=decision")
		if c.records == 0 {
			c.records = len(got)
			for _, r := range got {
				if r.Summary == five {
					t.Errorf("%s: what says the same stayed: %+v", c.name, got)
				}
			}
		}
		if len(got) != c.records {
			t.Fatalf("%s: %d records, want %d: %+v", c.name, len(got), c.records, got)
		}
	}
	for _, r := range s.records("type=decision") {
		h, err := s.client.History(t.Context(), r.RecordID)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range h.Supersedes {
			back, err := s.client.RestoreRecord(t.Context(), o.RecordID)
			if err != nil || fmt.Sprint(back) != fmt.Sprint(o.Record) || o.Why != "judged" && o.Why != "duplicate" {
				t.Errorf("%+v is not brought back as it was: %+v, %v", o, back, err)
			}
		}
	}
	if got := s.records("type=decision"); len(got) != 6 {
		t.Errorf("%d records after all were brought back", len(got))
	}
}
