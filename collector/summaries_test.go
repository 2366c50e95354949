package collector

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

// This test program is also the language model: with KL_MODEL set to a directory it keeps the prompt in a file of its
// own, waits until nobody locks the file "hold", and answers with the file "reply".
func TestMain(m *testing.M) {
	if dir := os.Getenv("KL_MODEL"); dir != "" && os.Getenv("KIRO_LEARN_CHILD") == "1" {
		os.Exit(model(dir))
	}
	os.Exit(m.Run())
}

func model(dir string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	f, err := os.CreateTemp(dir, "call-")
	if err != nil {
		return 2
	}
	if _, err := f.Write(prompt); err != nil || f.Close() != nil {
		return 3
	}
	hold := flock.New(filepath.Join(dir, "hold"))
	if hold.Lock() != nil || hold.Close() != nil {
		return 4
	}
	b, err := os.ReadFile(filepath.Join(dir, "reply"))
	if err != nil {
		return 5
	}
	if _, err := os.Stdout.Write(b); err != nil {
		return 6
	}
	return 0
}

// studio is a world with a language model.
type studio struct {
	*world
	dir  string
	hold *flock.Flock
}

func newStudio(t *testing.T, change func(*config.Config)) *studio {
	t.Helper()
	s := &studio{world: newWorld(t), dir: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KL_MODEL", s.dir)
	s.hold = flock.New(filepath.Join(s.dir, "hold"))
	s.config.LLM = config.LLM{Engine: "command", Command: []string{self}, Timeout: config.Duration(30 * time.Second)}
	s.config.SessionSummary.Enabled = true
	s.config.Extract.Idle = config.Duration(100 * time.Millisecond)
	if change != nil {
		change(&s.config)
	}
	s.reply(`{"intents":[{"title":"Cap the retries","ranges":[[1,1]],"status":"active"}]}`)
	s.start()
	return s
}

func (s *studio) reply(text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "reply"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *studio) calls() int {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, "call-*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(found)
}

// block makes the model wait; the returned function lets it go on.
func (s *studio) block() (release func()) {
	s.t.Helper()
	if err := s.hold.Lock(); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		if err := s.hold.Unlock(); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *studio) post(e event.Event) event.Event {
	s.t.Helper()
	if status, body := s.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
		s.t.Fatalf("%d %s", status, body)
	}
	return e
}

// turn is a prompt and its answer.
func (s *studio) turn(session, prompt, answer string) {
	s.t.Helper()
	p := s.post(s.event(event.KindPrompt, session, "", event.TextBody(prompt)))
	s.post(s.event(event.KindSessionSummary, session, p.EventID, event.TextBody(answer)))
}

// settle waits until nothing is being made.
func (s *studio) settle() {
	s.t.Helper()
	if status, body := s.do("POST", "/v1/extract", "", ""); status != 200 {
		s.t.Fatalf("%d %s", status, body)
	}
}

type summaryView struct {
	Code          string           `json:"code"`
	Enabled       bool             `json:"enabled"`
	Stale         bool             `json:"stale"`
	Intents       []map[string]any `json:"intents"`
	GenerateState string           `json:"generate_state"`
	UserTurns     int              `json:"user_turns"`
}

func (s *studio) summary(method, session string) (int, summaryView) {
	s.t.Helper()
	status, body := s.do(method, "/v1/sessions/"+session+"/summary", "application/json", "{}")
	var v summaryView
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		s.t.Fatalf("%s: %v", body, err)
	}
	return status, v
}

func (v *summaryView) titles() string {
	var out []string
	for _, in := range v.Intents {
		out = append(out, fmt.Sprint(in["title"]))
	}
	return strings.Join(out, ", ")
}

// until polls for something that another goroutine or process brings about.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s did not come about", what)
		}
	}
}

func (s *studio) logged(text string) bool {
	b, err := os.ReadFile(s.dirs.LogFile())
	return err == nil && strings.Contains(string(b), text)
}

func TestSummarySwitchedOff(t *testing.T) {
	s := newStudio(t, func(c *config.Config) { c.SessionSummary.Enabled = false })
	s.turn("s", "add a retry to the upload", "done")
	s.turn("s", "and a test for it", "done")
	s.settle()
	if status, body := s.do("GET", "/v1/sessions/s/summary", "", ""); status != 200 || strings.TrimSpace(body) != `{"enabled":false}` {
		t.Errorf("GET gives %d %s", status, body)
	}
	if status, v := s.summary("POST", "s"); status != 409 || v.Code != "summary_disabled" {
		t.Errorf("POST gives %d %+v", status, v)
	}
	if n := s.calls(); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	if !s.logged(`"reason":"disabled"`) {
		t.Error("the log does not say why")
	}
}

func TestSummaryOfASession(t *testing.T) {
	s := newStudio(t, nil)
	if status, v := s.summary("GET", "nosuch"); status != 404 || v.Code != "session_not_found" {
		t.Errorf("GET of no session gives %d %+v", status, v)
	}
	if status, v := s.summary("POST", "nosuch"); status != 404 || v.Code != "session_not_found" {
		t.Errorf("POST of no session gives %d %+v", status, v)
	}
	s.turn("s", "cap the retries at three", "done")
	s.settle()
	if status, v := s.summary("GET", "s"); status != 200 || v.GenerateState != "too_few_turns" || !v.Enabled || v.Intents == nil || len(v.Intents) != 0 {
		t.Errorf("after one turn: %d %+v", status, v)
	}
	if status, v := s.summary("POST", "s"); status != 409 || v.Code != "summary_unavailable" || s.calls() != 0 {
		t.Errorf("after one turn POST gives %d %+v, %d calls", status, v, s.calls())
	}
	s.turn("s", "and a test for it", "done")
	s.settle() // it is made by itself
	if status, v := s.summary("GET", "s"); status != 200 || v.titles() != "Cap the retries" || v.Stale || v.UserTurns != 2 || v.GenerateState != "ready" || s.calls() != 1 {
		t.Errorf("after two turns: %d %+v, %d calls", status, v, s.calls())
	}
	if status, v := s.summary("POST", "s"); status != 200 || v.Stale || s.calls() != 1 {
		t.Errorf("an unchanged session: %d %+v, %d calls", status, v, s.calls())
	}
	s.reply("I would rather not.")
	s.turn("s", "one more thing", "done")
	s.settle()
	if status, v := s.summary("GET", "s"); status != 200 || v.titles() != "Cap the retries" || !v.Stale || s.calls() != 2 {
		t.Errorf("after a useless reply: %d %+v, %d calls", status, v, s.calls())
	}
	if status, v := s.summary("POST", "s"); status != 409 || v.Code != "summary_unavailable" || s.calls() != 3 {
		t.Errorf("asked for, and a useless reply again: %d %+v, %d calls", status, v, s.calls())
	}
	s.post(s.event(event.KindPrompt, "s", "", event.TextBody("still running")))
	if status, v := s.summary("POST", "s"); status != 409 || v.Code != "summary_turn_running" || s.calls() != 3 {
		t.Errorf("while a turn runs: %d %+v, %d calls", status, v, s.calls())
	}
}

func TestSummaryIsRedactedAtEveryDepth(t *testing.T) {
	s := newStudio(t, nil)
	const key = "AKIAQ3EXAMPLEZ7WQ2AB"
	s.reply(`{"intents":[{"title":"t ` + key + `","ranges":[[1,1]],"initial_intent":"` + key + `","progress":["` + strings.Repeat("x", 490) + " " + key +
		`"],"next_steps":[{"what":"rotate ` + key + `","why":"` + key + `","expect":"<private>secret word</private>"}]}],"constraints":["use ` + key + `"]}`)
	s.turn("s", "a", "b")
	s.turn("s", "c", "d")
	s.settle()
	_, body := s.do("GET", "/v1/sessions/s/summary", "", "")
	if strings.Contains(body, "AKIA") || strings.Contains(body, "secret word") || strings.Count(body, "[REDACTED]") < 6 {
		t.Errorf("got %s", body)
	}
}

// The model's reply is about the session as it was when its events were read. What happens meanwhile makes it old.
func TestSummaryOfASessionThatMoves(t *testing.T) {
	s := newStudio(t, func(c *config.Config) { c.SessionSummary.RegenerateAfterTurns = 1000 })
	s.turn("s", "cap the retries at three", "done")
	s.turn("s", "and a test for it", "done")
	s.settle()
	s.turn("s", "a third", "done")
	s.settle()
	if n := s.calls(); n != 1 {
		t.Fatalf("%d calls", n)
	}
	s.reply(`{"intents":[{"title":"Too late","ranges":[[1,1]],"status":"active"}]}`)
	release := s.block()
	type answer struct {
		status int
		view   summaryView
	}
	asked := make(chan answer, 1)
	go func() {
		status, v := s.summary("POST", "s")
		asked <- answer{status, v}
	}()
	until(t, "the call", func() bool { return s.calls() == 2 })
	if status, v := s.summary("POST", "s"); status != 409 || v.Code != "summary_in_flight" {
		t.Errorf("a second request gives %d %+v", status, v)
	}
	if status, v := s.summary("GET", "s"); status != 200 || v.titles() != "Cap the retries" || !v.Stale {
		t.Errorf("meanwhile GET gives %d %+v", status, v)
	}
	s.post(s.event(event.KindPrompt, "s", "", event.TextBody("and this")))
	release()
	if a := <-asked; a.status != 409 || a.view.Code != "summary_turn_running" {
		t.Errorf("the request gives %d %+v", a.status, a.view)
	}
	if _, v := s.summary("GET", "s"); v.titles() != "Cap the retries" || !v.Stale {
		t.Errorf("a reply about what the session was has been kept: %+v", v)
	}
}

// A turn that ends while a summary is being made gets one of its own when that has ended.
func TestSummaryAfterATurnThatEndsMeanwhile(t *testing.T) {
	s := newStudio(t, nil)
	release := s.block()
	s.turn("s", "cap the retries at three", "done")
	s.turn("s", "and a test for it", "done")
	until(t, "the call", func() bool { return s.calls() == 1 })
	s.turn("s", "a third", "done")
	until(t, "the decline", func() bool { return s.logged(`"reason":"in_flight"`) })
	release()
	s.settle()
	if _, v := s.summary("GET", "s"); v.Stale || v.titles() != "Cap the retries" || s.calls() != 2 {
		t.Errorf("%+v, %d calls", v, s.calls())
	}
}

// Times say nothing about freshness: a rewrite that keeps them all is seen.
func TestSummaryIsStaleAfterARewriteThatKeepsTimes(t *testing.T) {
	s := newStudio(t, nil)
	s.turn("s", "cap the retries at three", "done")
	s.turn("s", "and a test for it", "done")
	s.settle()
	if _, v := s.summary("GET", "s"); v.Stale || len(v.Intents) != 1 {
		t.Fatalf("%+v", v)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(s.dirs.Database())+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	res, err := db.Exec(`UPDATE events SET body = '{"type":"text","content":"cap them at five"}' WHERE kind = 'prompt' AND body LIKE '%three%'`)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, v := s.summary("GET", "s"); !v.Stale || len(v.Intents) != 1 {
		t.Errorf("after the rewrite: %+v", v)
	}
	if status, v := s.summary("POST", "s"); status != 200 || v.Stale || s.calls() != 2 {
		t.Errorf("made anew: %d %+v, %d calls", status, v, s.calls())
	}
}

func TestSummaryDeclines(t *testing.T) {
	off := t.TempDir()
	if err := os.MkdirAll(filepath.Join(off, ".kiro"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(off, ".kiro", "kiro-learn.json"), []byte(`{"enabled": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStudio(t, func(c *config.Config) { c.SessionSummary.RegenerateAfterTurns = 2 })
	for _, c := range []struct {
		name, session, reason string
		act                   func()
		status                int // of a request
		code                  string
		calls                 int // of the model, by the request
	}{
		{"too few turns", "few", "too_few_turns", func() { s.turn("few", "a", "b") }, 409, "summary_unavailable", 0},
		{"a turn that was cut short", "cut", "stop_reason:empty", func() { s.turn("cut", "a", "b"); s.turn("cut", "c", "") }, 200, "", 1},
		{"running", "run", "running", func() {
			s.turn("run", "a", "b")
			p := s.event(event.KindPrompt, "run", "", event.TextBody("c"))
			late := s.event(event.KindSessionSummary, "run", "", event.TextBody("of an earlier turn"))
			first := s.post(s.event(event.KindPrompt, "run", "", event.TextBody("the last one")))
			late.ParentEventID = p.EventID
			s.post(p)
			s.post(late)
			_ = first
		}, 409, "summary_turn_running", 0},
		{"memory is off for the project", "off", "memory_mode", func() {
			for range 2 {
				p := s.event(event.KindPrompt, "off", "", event.TextBody("a"))
				p.Namespace, p.Source.ProjectPath = event.Namespace("mia", "q"), off
				a := s.event(event.KindSessionSummary, "off", p.EventID, event.TextBody("b"))
				a.Namespace, a.Source.ProjectPath = p.Namespace, off
				s.post(p)
				s.post(a)
			}
		}, 409, "summary_unavailable", 0},
		{"cadence", "cad", "cadence", func() {
			s.turn("cad", "a", "b")
			s.turn("cad", "c", "d")
			s.settle()
			s.turn("cad", "e", "f")
		}, 200, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.act()
			s.settle()
			if !s.logged(`"reason":"` + c.reason + `"`) {
				t.Errorf("the log does not give the reason %s", c.reason)
			}
			before := s.calls()
			status, v := s.summary("POST", c.session)
			if status != c.status || v.Code != c.code || s.calls()-before != c.calls {
				t.Errorf("a request gives %d %+v and %d calls, want %d %s and %d", status, v, s.calls()-before, c.status, c.code, c.calls)
			}
		})
	}
}

func TestSummaryOfATurnWithoutAnEnd(t *testing.T) {
	s := newStudio(t, nil)
	s.turn("s", "cap the retries at three", "done")
	s.settle()
	p := s.event(event.KindPrompt, "s", "", event.TextBody("and a test"))
	p.ValidTime = time.Now().Add(-11 * time.Minute).UTC().Format(time.RFC3339Nano)
	s.post(p)
	if status, v := s.summary("POST", "s"); status != 200 || v.UserTurns != 2 || s.calls() != 1 {
		t.Errorf("eleven minutes after its last event: %d %+v, %d calls", status, v, s.calls())
	}
}

func TestSummaryWithoutAnEngine(t *testing.T) {
	s := newStudio(t, func(c *config.Config) { c.LLM.Command = []string{filepath.Join(t.TempDir(), "no-such-program")} })
	s.turn("s", "cap the retries in upload.go at three", "done")
	s.turn("s", "which port does the collector use?", "It uses 8080.")
	s.settle()
	if status, v := s.summary("GET", "s"); status != 200 || v.GenerateState != "unavailable" || len(v.Intents) != 0 {
		t.Errorf("GET gives %d %+v", status, v)
	}
	if status, v := s.summary("POST", "s"); status != 409 || v.Code != "summary_unavailable" {
		t.Errorf("POST gives %d %+v", status, v)
	}
	_, body := s.do("GET", "/v1/sessions/s/outline", "", "")
	var v summaryView
	if err := json.Unmarshal([]byte(body), &v); err != nil || v.titles() != "Which port does the collector use?, Cap the retries in upload.go at three" {
		t.Errorf("the outline is %s", body)
	}
}

// Sessions of two projects may have one id.
func TestSummaryOfSessionsThatShareAnID(t *testing.T) {
	s := newStudio(t, nil)
	s.turn("s", "a", "b")
	s.turn("s", "c", "d")
	s.settle()
	q := event.Namespace("mia", "q")
	p := s.event(event.KindPrompt, "s", "", event.TextBody("later"))
	p.Namespace = q
	s.post(p)
	for ns, want := range map[string]int{event.Namespace("mia", "p"): 2, q: 1, "": 1} {
		_, body := s.do("GET", "/v1/sessions/s/summary?namespace="+ns, "", "")
		var v summaryView
		if err := json.Unmarshal([]byte(body), &v); err != nil || v.UserTurns != want {
			t.Errorf("namespace %q gives %s", ns, body)
		}
	}
	if status, _ := s.do("GET", "/v1/sessions/s/summary?namespace=/actor/x/project/y/", "", ""); status != 404 {
		t.Errorf("another namespace gives %d", status)
	}
}

func TestSummaryAskedForByMany(t *testing.T) {
	s := newStudio(t, func(c *config.Config) { c.SessionSummary.RegenerateAfterTurns = 1000 })
	s.turn("s", "a", "b")
	s.turn("s", "c", "d")
	s.settle()
	s.turn("s", "e", "f")
	s.settle()
	before := s.calls()
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for range 12 {
		wg.Go(func() {
			status, v := s.summary("POST", "s")
			mu.Lock()
			defer mu.Unlock()
			got[fmt.Sprint(status, v.Code)]++
		})
	}
	wg.Wait()
	if s.calls() != before+1 || got["200"] < 1 || got["200"]+got["409summary_in_flight"] != 12 {
		t.Errorf("%d calls, answers %v", s.calls()-before, got)
	}
}

// A collector that is told to leave does not wait for a model, and the client gets an answer.
func TestSummaryWhileTheCollectorLeaves(t *testing.T) {
	s := newStudio(t, nil)
	release := s.block()
	defer release()
	s.turn("s", "a", "b")
	s.turn("s", "c", "d")
	until(t, "the call", func() bool { return s.calls() == 1 })
	if _, err := s.client.Do(context.Background(), "POST", "/v1/shutdown", "", nil); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			t.Error(err)
		}
		s.ended <- nil
	case <-time.After(15 * time.Second):
		t.Fatal("the collector waits for the model")
	}
}

// What is said of a session as a whole is found by its type and its namespace, and never in a project.
func TestRecordsAboutASession(t *testing.T) {
	s := newStudio(t, func(c *config.Config) { c.SessionSummary.Enabled = false })
	s.turn("s1", "Please cap the zanzibar retries in upload.go at three", "I capped the zanzibar retries at three in upload.go, since the gateway gives up after that.")
	s.settle()
	space := "/strategy/rules/actor/mia/session/s1/"
	for _, c := range []struct {
		name, path string
		want       []string // record types; "" for a record of the project
	}{
		{"the session's own namespace", "/v1/memories?namespace=" + space, []string{"FULL_SESSION", "CHUNK"}},
		{"the full session of it", "/v1/memories?type=FULL_SESSION&namespace=" + space, []string{"FULL_SESSION"}},
		{"all full sessions", "/v1/memories?type=FULL_SESSION", []string{"FULL_SESSION"}},
		{"chunks", "/v1/memories?type=CHUNK", []string{"CHUNK"}},
		{"the project", "/v1/memories?namespace=" + event.Namespace("mia", "p"), []string{""}},
		{"a search in the session", "/v1/memories/search?query=zanzibar&namespace=" + space, []string{"FULL_SESSION", "CHUNK"}},
		{"a search for full sessions", "/v1/memories/search?query=zanzibar&type=FULL_SESSION", []string{"FULL_SESSION"}},
		{"a search everywhere", "/v1/memories/search?query=zanzibar", []string{""}},
		{"a search in the project", "/v1/memories/search?query=zanzibar&namespace=" + event.Namespace("mia", "p"), []string{""}},
		{"a search in the project for full sessions", "/v1/memories/search?query=zanzibar&type=FULL_SESSION&namespace=" + event.Namespace("mia", "p"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := s.do("GET", c.path, "", "")
			if !strings.HasPrefix(body, "[") { // a list is {items, total}
				var l struct {
					Items json.RawMessage `json:"items"`
				}
				if err := json.Unmarshal([]byte(body), &l); err != nil {
					t.Fatal(err)
				}
				body = string(l.Items)
			}
			var got []struct {
				RecordType      string `json:"record_type"`
				ObservationType string `json:"observation_type"`
				Title           string `json:"title"`
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			var types []string
			for _, r := range got {
				types = append(types, r.RecordType)
				if r.ObservationType != "session_summary" {
					t.Errorf("%s is a %s", r.Title, r.ObservationType)
				}
			}
			if strings.Join(types, ",") != strings.Join(c.want, ",") {
				t.Errorf("got %q, want %q in %s", types, c.want, body)
			}
		})
	}
	p := s.event(event.KindPrompt, "s2", "", event.TextBody("why are the zanzibar retries capped in upload.go?"))
	_, body := s.do("POST", "/v1/events?retrieve=true", "application/json", string(p.AppendJSON(nil)))
	if strings.Contains(body, "topic") || !strings.Contains(body, "zanzibar") {
		t.Errorf("recalled: %s", body)
	}
	if _, body := s.do("GET", "/v1/stats", "", ""); strings.Contains(body, "/strategy/") || !strings.Contains(body, `"projects":[{`) {
		t.Errorf("counted as a project: %s", body)
	}
}
