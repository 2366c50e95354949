package collector

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
	"kiro-learn/internal/session"
	"kiro-learn/outbox"
)

// inFiles are the files of the home that hold a word.
func (w *world) inFiles(word string) (found []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.dirs.Config, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(b), []byte(word)) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// tell gives the collector a turn that holds a word, and makes records of it.
func (w *world) tell(sessionID, word string) (records []event.Record) {
	w.t.Helper()
	p := w.event(event.KindPrompt, sessionID, "", event.TextBody("We decided to use "+word+" instead of tigers, because the zoo asked for it."))
	tool := w.event(event.KindToolUse, sessionID, p.EventID, event.JSONBody([]byte(`{"tool_name":"fs_write","tool_input":{"command":"create","path":"/p/zoo/`+word+`.go"},"tool_response":{"success":true}}`)))
	stop := w.event(event.KindSessionSummary, sessionID, p.EventID, event.TextBody("The cage is for "+word+" now; see zoo/"+word+".go."))
	for _, e := range []event.Event{p, tool, stop} {
		if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
			w.t.Fatal(status, body)
		}
	}
	if status, body := w.do("POST", "/v1/extract", "", ""); status != 200 {
		w.t.Fatal(status, body)
	}
	_, body := w.do("GET", "/v1/memories/search?query="+word, "", "")
	if err := json.Unmarshal([]byte(body), &records); err != nil || len(records) == 0 {
		w.t.Fatalf("%v: %s", err, body)
	}
	return records
}

func TestForgottenForGoodIsInNoFile(t *testing.T) {
	ns := url.QueryEscape(event.Namespace("mia", "p"))
	for _, c := range []struct {
		name string
		call func(w *world, recs []event.Record) (int, string)
	}{
		{"a session", func(w *world, _ []event.Record) (int, string) {
			return w.do("DELETE", "/v1/sessions/s?now=true&namespace="+ns, "", "")
		}},
		{"a session, wherever it is", func(w *world, _ []event.Record) (int, string) {
			return w.do("DELETE", "/v1/sessions/s?now=true", "", "")
		}},
		{"a project", func(w *world, _ []event.Record) (int, string) {
			return w.do("DELETE", "/v1/projects?now=true&namespace="+ns, "", "")
		}},
		{"every record that is found", func(w *world, recs []event.Record) (status int, body string) {
			for _, r := range recs {
				status, body = w.do("DELETE", "/v1/memories/"+r.RecordID+"?now=true", "", "")
			}
			return status, body
		}},
		{"a text", func(w *world, _ []event.Record) (int, string) {
			return w.do("POST", "/v1/forget", "application/json", `{"contains":"Zebraqux","now":true}`)
		}},
		{"a session in two steps", func(w *world, _ []event.Record) (int, string) {
			if status, body := w.do("DELETE", "/v1/sessions/s", "", ""); status != 200 {
				w.t.Error(status, body)
			}
			return w.do("POST", "/v1/forget/purge", "application/json", "{}")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			recs := w.tell("s", "zebraqux")
			w.tell("kept", "lionqux")
			waits := w.event(event.KindNote, "s", "", event.TextBody("zebraqux waits in the outbox"))
			bad := w.event("thought", "s", "", event.TextBody("zebraqux was refused"))
			q := outbox.New(w.dirs.Outbox(), outbox.Options{})
			for _, e := range []event.Event{waits, bad} {
				if err := q.Append(e.EventID, e.AppendJSON(nil), time.Second); err != nil {
					t.Fatal(err)
				}
			}
			if w.do("POST", "/v1/drain?wait=1", "", ""); len(w.inFiles("zebraqux")) < 2 {
				t.Fatal("the test is not set up")
			}
			if c.name == "every record that is found" { // the others name no session, and the two know nothing of its records
				w.do("POST", "/v1/forget", "application/json", `{"contains":"waits in the outbox","now":true}`)
				if _, err := q.Purge(func(outbox.Quarantine) bool { return true }); err != nil {
					t.Fatal(err)
				}
			}
			if status, body := c.call(w, recs); status != 200 {
				t.Fatal(status, body)
			}
			if found := w.inFiles("zebraqux"); len(found) > 0 {
				t.Errorf("still in %v", found)
			}
			for _, path := range []string{"/v1/memories", "/v1/events", "/v1/sessions", "/v1/memories/search?query=zebraqux", "/v1/stats"} {
				if _, body := w.do("GET", path, "", ""); strings.Contains(body, "zebraqux") {
					t.Errorf("%s: %s", path, body)
				}
			}
			if found := w.inFiles("lionqux"); len(found) == 0 && c.name != "a project" {
				t.Error("another session is gone too")
			}
			w.stop()
			if found := w.inFiles("zebraqux"); len(found) > 0 {
				t.Errorf("after the end still in %v", found)
			}
		})
	}
}

func TestForgettingCanBeUndone(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.tell("s", "zebraqux")
	look := func() (out []string) {
		for _, path := range []string{"/v1/memories", "/v1/events", "/v1/sessions", "/v1/memories/search?query=zebraqux"} {
			_, body := w.do("GET", path, "", "")
			out = append(out, body)
		}
		return out
	}
	before := strings.Join(look(), "\n")
	hooks := session.Store{Dir: w.dirs.Sessions()}
	hooks.Update(event.Namespace("mia", "p"), "s", time.Second, func(st *session.State) bool { st.PromptID = "x"; return true })
	status, body := w.do("DELETE", "/v1/sessions/s", "", "")
	var f client.Forgotten
	if err := json.Unmarshal([]byte(body), &f); err != nil || status != 200 || f.Events != 3 || f.Records == 0 || f.Sessions != 1 || f.Until.Sub(f.At) != 7*24*time.Hour {
		t.Fatalf("%d %s %v", status, body, err)
	}
	if got := strings.Join(look(), "\n"); strings.Contains(got, "zebraqux") {
		t.Errorf("still seen: %s", got)
	}
	if st := hooks.Load(event.Namespace("mia", "p"), "s"); st.PromptID != "" {
		t.Error("the hooks still remember")
	}
	if status, body := w.do("GET", "/v1/forget", "", ""); status != 200 || !strings.Contains(body, `"what":"session"`) {
		t.Error(status, body)
	}
	if status, body := w.do("POST", "/v1/forget/undo", "application/json", "{}"); status != 200 {
		t.Fatal(status, body)
	}
	if got := strings.Join(look(), "\n"); got != before {
		t.Errorf("got  %s\nwant %s", got, before)
	}
	if status, body := w.do("POST", "/v1/forget/undo", "application/json", "{}"); status != 404 || !strings.Contains(body, "nothing_to_undo") {
		t.Error(status, body)
	}
}

func TestForgetAnswers(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.tell("s", "zebraqux")
	other := w.event(event.KindNote, "shared", "", event.TextBody("x"))
	again := other
	again.EventID, again.Namespace = w.ids.Next(time.Second), event.Namespace("mia", "q")
	for _, e := range []event.Event{other, again} {
		w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil)))
	}
	const object = "application/json"
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		holds                    string
	}{
		{"an unknown record", "DELETE", "/v1/memories/mr_x", "", 404, `"code":"record_not_found"`},
		{"an unknown session", "DELETE", "/v1/sessions/x", "", 404, `"code":"session_not_found"`},
		{"a session of two projects", "DELETE", "/v1/sessions/shared", "", 409, `"code":"ambiguous"`},
		{"no project", "DELETE", "/v1/projects", "", 400, "namespace must not be empty"},
		{"an unknown project", "DELETE", "/v1/projects?namespace=x", "", 404, `"code":"project_not_found"`},
		{"nothing selected", "POST", "/v1/forget", "{}", 400, "nothing is selected"},
		{"no object", "POST", "/v1/forget", "[]", 400, "not a JSON object"},
		{"everything of nobody", "POST", "/v1/forget", `{"all":true}`, 400, "needs a namespace"},
		{"two ways at once", "POST", "/v1/forget", `{"record_ids":["x"],"contains":"y"}`, 400, "not several of them"},
		{"a bad time", "POST", "/v1/forget", `{"before":"yesterday"}`, 400, "before must be a time"},
		{"nothing found", "POST", "/v1/forget", `{"contains":"no such thing"}`, 200, `"events":0,"records":0`},
		{"a dry run", "POST", "/v1/forget", `{"session_id":"s","dry_run":true}`, 200, `"events":3`},
		{"nothing to undo", "POST", "/v1/forget/undo", `{"id":7}`, 404, `"code":"nothing_to_undo"`},
		{"still all there", "GET", "/v1/events?session_id=s", "", 200, `"total":3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			contentType := ""
			if c.method == "POST" {
				contentType = object
			}
			if status, body := w.do(c.method, c.path, contentType, c.body); status != c.status || !strings.Contains(body, c.holds) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}
