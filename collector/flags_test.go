package collector

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

// Nothing is deleted because a flag was spelled in another way than the one that is documented.
func TestADryRunIsOneHoweverItIsSpelled(t *testing.T) {
	w := newWorld(t)
	w.start()
	e := w.event(event.KindNote, "s", "", event.TextBody("keep me"))
	if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
		t.Fatal(status, body)
	}
	ns := "namespace=" + url.QueryEscape(e.Namespace)
	for _, c := range []struct {
		query  string
		status int
	}{
		{"dry_run=true", 200},
		{"dry_run=True&now=true", 200},
		{"dry_run=1", 200},
		{"dry_run=yes", 200},
		{"dry_run", 200},
		{"dry_run=maybe", 400},
		{"dryrun=true", 400},
		{"now=perhaps", 400},
	} {
		if status, body := w.do("DELETE", "/v1/projects?"+ns+"&"+c.query, "", ""); status != c.status {
			t.Errorf("%s: %d %s, want %d", c.query, status, body, c.status)
		}
	}
	for _, body := range []string{`{"session":"s","dryRun":true}`, `{"contains":" "}`, `{"contains":"\t\n"}`} {
		if status, answer := w.do("POST", "/v1/forget", "application/json", body); status != 400 {
			t.Errorf("%s: %d %s, want 400", body, status, answer)
		}
	}
	if _, body := w.do("GET", "/v1/events", "", ""); !strings.Contains(body, "keep me") {
		t.Fatalf("the event is gone: %s", body)
	}
	if status, _ := w.do("DELETE", "/v1/projects?"+ns+"&dry_run=0&now=True", "", ""); status != 200 {
		t.Error("the project could not be forgotten")
	}
	if _, body := w.do("GET", "/v1/events", "", ""); strings.Contains(body, "keep me") {
		t.Errorf("the event is still there: %s", body)
	}
	if status, body := w.do("POST", "/v1/forget/undo", "application/json", "{}"); status == 200 {
		t.Errorf("now=True has left something to undo: %s", body)
	}
}

// What is given out bears the hash of what is given out, so that it can be taken in elsewhere.
func TestTheHashIsOfTheBodyThatIsGivenOut(t *testing.T) {
	w := newWorld(t)
	w.start()
	e := w.event(event.KindNote, "s", "", []byte(`{"type": "text", "content": "spaced  out"}`))
	e.ContentHash = event.Hash(e.Body)
	if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
		t.Fatal(status, body)
	}
	_, answer := w.do("GET", "/v1/events", "", "")
	var got struct{ Items []event.Event }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Items) != 1 {
		t.Fatal(answer, err)
	}
	if b := got.Items[0]; string(b.Body) != `{"type":"text","content":"spaced  out"}` || b.ContentHash != event.Hash(b.Body) {
		t.Errorf("body %s with hash %s, want %s", b.Body, b.ContentHash, event.Hash(b.Body))
	}
}
