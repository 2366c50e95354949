package collector

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
