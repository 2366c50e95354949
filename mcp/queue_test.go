package mcp

import (
	"strings"
	"testing"
	"time"

	"kiro-learn/outbox"
)

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		<-tick.C
	}
}

func (b *box) waiting() int {
	b.t.Helper()
	st, err := outbox.New(b.dirs().Outbox(), outbox.Options{}).Status()
	if err != nil {
		b.t.Fatal(err)
	}
	return st.Pending
}

// once makes sure that a record and its note have been stored once.
func (b *box) once(id string) {
	b.t.Helper()
	n := 0
	for _, r := range b.records() {
		if r.RecordID == id {
			n++
		}
	}
	r := b.record(id)
	m, err := b.api().Do(b.t.Context(), "GET", "/v1/events?kind=note&namespace="+r.Namespace, "", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if notes := strings.Count(string(m.Body), `"event_id":"`+r.SourceEventIDs[0]); n != 1 || notes != 1 {
		b.t.Errorf("%d records and %d notes: %s", n, notes, m.Body)
	}
}

func TestWithoutACollector(t *testing.T) {
	b := newBox(t)
	b.configure(`{"collector":{"autostart":false}}`)
	_, s := b.connect(nil, "")
	r := good(t, s, "save_observation", observationArgs())
	id := idIn(t, r)
	if !strings.HasPrefix(r.text, "Queued observation "+id) || r.data["queued"] != true {
		t.Errorf("answer %q %v", r.text, r.data)
	}
	r = good(t, s, "save_session_summary", summaryArgs())
	sum := idIn(t, r)
	if !strings.HasPrefix(r.text, "Queued turn summary "+sum) {
		t.Errorf("answer %q", r.text)
	}
	for tool, a := range map[string]args{"search_memory": {"query": "cache"}, "get_memory": {"record_id": id}, "timeline": {}, "session_summary": {}} {
		if r := use(t, s, tool, a); !r.bad || !strings.Contains(r.text, "cannot be reached") || !strings.Contains(r.text, "doctor") {
			t.Errorf("%s: %v %q", tool, r.bad, r.text)
		}
	}
	if n := b.waiting(); n != 2 {
		t.Errorf("%d events wait, want 2", n)
	}
	b.run("collector", "start")
	b.run("flush", "--timeout", "20s")
	b.once(id)
	b.once(sum)
	if got := b.record(sum); got.Title != "Make the importer idempotent" || got.Strategy != "mcp_session_summary" {
		t.Errorf("record %+v", got)
	}
	r = good(t, s, "search_memory", args{"query": "cache key"}) // the same server goes on with the collector that came
	if got := ids(r.data["records"]); len(got) == 0 || got[0] != id {
		t.Errorf("search: %v", got)
	}
}

func TestTheCollectorIsStartedWhenItIsNeeded(t *testing.T) {
	b := newBox(t)
	_, s := b.connect(nil, "")
	good(t, s, "search_memory", args{"query": "cache"})
	b.run("collector", "stop")
	r := good(t, s, "save_observation", observationArgs())
	b.run("collector", "start")
	b.run("flush", "--timeout", "20s") // it may have been queued when the next start had to wait
	b.once(idIn(t, r))
}
