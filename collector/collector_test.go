package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
	"kiro-learn/internal/eventid"
	"kiro-learn/internal/logfile"
	"kiro-learn/internal/privacy"
	"kiro-learn/outbox"
)

// world is a real collector in a home of its own, reached through its real socket.
type world struct {
	t        testing.TB
	dirs     config.Dirs
	config   config.Config
	client   *client.Client
	listenOn *Listen
	ids      *eventid.Source
	ended    chan error
	cancel   context.CancelFunc
}

func newWorld(t testing.TB) *world {
	t.Helper()
	base, err := os.MkdirTemp("", "kl") // short: socket paths are
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	w := &world{t: t, dirs: config.FindDirs(func(string) string { return base }), config: config.Default()}
	if w.client, err = client.New(w.dirs, w.config.Collector); err != nil {
		t.Fatal(err)
	}
	w.ids = eventid.New(w.dirs.State, nil)
	return w
}

func (w *world) options(version string) Options {
	return Options{Dirs: w.dirs, Config: w.config, Version: version, Log: logfile.New(w.dirs.LogFile(), "", "collector", nil), Listen: w.listenOn}
}

func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan error, 1)
	go func() { w.ended <- Run(ctx, w.options("1.2.3")) }()
	ready, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	if _, err := w.client.WaitReady(ready); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.stop)
}

func (w *world) stop() {
	w.cancel()
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Errorf("the collector ended with %v", err)
		}
		w.ended <- nil
	case <-time.After(10 * time.Second):
		w.t.Fatal("the collector does not end")
	}
}

func (w *world) event(kind event.Kind, session, parent string, body []byte) event.Event {
	return event.Event{
		EventID: w.ids.Next(time.Second), ParentEventID: parent, SessionID: session, ActorID: "mia", Namespace: event.Namespace("mia", "p"), SchemaVersion: 1,
		Kind: kind, Body: body, ValidTime: time.Now().UTC().Format(time.RFC3339Nano), Source: event.Source{Surface: "kiro-cli", Version: "1", ClientID: "h", ProjectPath: "/p"},
	}
}

func (w *world) do(method, path, contentType, body string) (int, string) {
	w.t.Helper()
	a, err := w.client.Do(context.Background(), method, path, contentType, []byte(body))
	var status *client.StatusError
	if err != nil && !errors.As(err, &status) {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a.Status, string(a.Body)
}

func TestAPIAnswers(t *testing.T) {
	w := newWorld(t)
	w.start()
	good := w.event(event.KindNote, "s", "", event.TextBody("hello"))
	js := string(good.AppendJSON(nil))
	const object = "application/json"
	for _, c := range []struct {
		name, method, path, contentType, body string
		status                                int
		holds                                 string
	}{
		{"health", "GET", "/healthz", "", "", 200, `"status":"ok","version":"1.2.3","pid":` + fmt.Sprint(os.Getpid())},
		{"a new event", "POST", "/v1/events", object, js, 200, `{"event_id":"` + good.EventID + `","stored":true}`},
		{"a known event", "POST", "/v1/events", "application/json; charset=utf-8", js, 200, `"stored":false`},
		{"unknown fields pass", "POST", "/v1/events", object, strings.Replace(js, "{", `{"future":[1],`, 1), 200, `"stored":false`},
		{"not an event", "POST", "/v1/events", object, `{"event_id":"x"}`, 400, `"field":"event_id"`},
		{"not JSON", "POST", "/v1/events", object, `{`, 400, `"error":`},
		{"nothing", "POST", "/v1/events", object, ``, 400, `"details":[]`},
		{"a form of a web page", "POST", "/v1/events", "text/plain", js, 415, `"error":"the content type must be application/json"`},
		{"no content type", "POST", "/v1/events", "", js, 415, `"error":`},
		{"too large", "POST", "/v1/events", object, strings.Repeat(" ", maxRequest+1), 413, `"error":`},
		{"a body too large", "POST", "/v1/events", object, strings.Replace(js, "hello", strings.Repeat("x", event.MaxBody), 1), 400, `"field":"body"`},
		{"events", "GET", "/v1/events?session_id=s&kind=note", "", "", 200, `"total":1`},
		{"events of another session", "GET", "/v1/events?session_id=other", "", "", 200, `{"items":[],"total":0}`},
		{"a bad limit", "GET", "/v1/events?limit=many", "", "", 400, "limit must be a whole number from 1 to 500"},
		{"no such record", "GET", "/v1/memories/mr_01ARZ3NDEKTSV4RRFFQ69G5FAV", "", "", 404, `"code":"record_not_found"`},
		{"a bad record", "POST", "/v1/memories", object, `{"title":""}`, 400, `"field":"title"`},
		{"an empty query", "GET", "/v1/memories/search?query=", "", "", 400, "query must not be empty"},
		{"a bad type", "GET", "/v1/memories/search?query=x&type=gossip", "", "", 400, "type must be one of"},
		{"nothing found", "GET", "/v1/memories/search?query=x", "", "", 200, "[]"},
		{"a bad time", "GET", "/v1/memories?since=yesterday", "", "", 400, "since must be a time"},
		{"stats", "GET", "/v1/stats", "", "", 200, `"events_by_kind":{"note":1}`},
		{"sessions", "GET", "/v1/sessions", "", "", 200, `"session_id":"s"`},
		{"no such path", "GET", "/v2/events", "", "", 404, `"error":`},
		{"a wrong method", "PUT", "/v1/events", object, js, 404, `"error":`},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := w.do(c.method, c.path, c.contentType, c.body)
			if status != c.status || !strings.Contains(body, c.holds) {
				t.Errorf("got %d %.300s, want %d with %s", status, body, c.status, c.holds)
			}
		})
	}
}

func TestBatchAnswersALineForEachInOrder(t *testing.T) {
	w := newWorld(t)
	w.start()
	a, b := w.event(event.KindNote, "s", "", event.TextBody("a")), w.event(event.KindNote, "s", "", event.TextBody("b"))
	body := string(a.AppendJSON(nil)) + "\n\n{bad\n" + string(b.AppendJSON(nil)) + "\r\n" + string(a.AppendJSON(nil))
	status, got := w.do("POST", "/v1/events/batch", "application/x-ndjson", body)
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if status != 200 || len(lines) != 4 {
		t.Fatalf("%d, %d lines: %s", status, len(lines), got)
	}
	for i, want := range []string{
		`{"event_id":"` + a.EventID + `","stored":true}`,
		`"error":"the event is not a JSON object`,
		`{"event_id":"` + b.EventID + `","stored":true}`,
		`{"event_id":"` + a.EventID + `","stored":false}`,
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %s, want %s", i, lines[i], want)
		}
	}
}

func TestOtherClientsTextIsScrubbedToo(t *testing.T) {
	w := newWorld(t)
	w.start()
	e := w.event(event.KindNote, "s", "", event.TextBody("a <private>hunter2</private> b"))
	e.ContentHash = event.Hash(e.Body)
	if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
		t.Fatal(status, body)
	}
	_, body := w.do("GET", "/v1/events", "", "")
	var got struct{ Items []event.Event }
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if want := event.TextBody("a [REDACTED] b"); !bytes.Equal(got.Items[0].Body, want) || got.Items[0].ContentHash != event.Hash(want) {
		t.Errorf("stored %s with %s", got.Items[0].Body, got.Items[0].ContentHash)
	}
}

// TestWorkOnPasswordsKeepsItsFiles: what a record is about is no secret, nor the names of the files behind it.
func TestWorkOnPasswordsKeepsItsFiles(t *testing.T) {
	c := Collector{scrub: privacy.Scrubber{Secrets: true}}
	r := event.Record{
		Title: "Add a reset page for the password", Summary: "Asked about the token of <private>hunter2",
		Facts:        []string{"zqx</private> is no more", "The limit is 5, token=hunter2hunter2"},
		Concepts:     []string{"reset page", "password"},
		FilesTouched: []string{"internal/api/v2/handler_test0.go", "login/token.go", "login/handler_v3.go"},
	}
	files, concepts := slices.Clone(r.FilesTouched), slices.Clone(r.Concepts)
	c.scrubRecord(&r)
	if !slices.Equal(r.FilesTouched, files) || !slices.Equal(r.Concepts, concepts) {
		t.Errorf("files %q, concepts %q", r.FilesTouched, r.Concepts)
	}
	if all := r.Summary + strings.Join(r.Facts, "\n"); strings.Contains(all, "hunter2") || strings.Contains(all, "zqx") {
		t.Errorf("kept %q", all)
	}
}

func TestTurnsBecomeRecordsOnce(t *testing.T) {
	w := newWorld(t)
	w.config.Extract.Idle = config.Duration(50 * time.Millisecond)
	w.start()
	p := w.event(event.KindPrompt, "s", "", event.TextBody("We decided to cap retries at three because the gateway rate-limits."))
	stop := w.event(event.KindSessionSummary, "s", p.EventID, event.TextBody("Retries are capped at three in upload/upload.go."))
	for _, e := range []event.Event{p, stop} {
		if status, body := w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil))); status != 200 {
			t.Fatal(status, body)
		}
	}
	total := func() int {
		_, body := w.do("GET", "/v1/memories", "", "")
		var got struct{ Total int }
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		return got.Total
	}
	for end := time.Now().Add(10 * time.Second); total() == 0; {
		if time.Now().After(end) {
			t.Fatal("a closed turn was not distilled by itself")
		}
	}
	n := total()
	for range 2 {
		if status, body := w.do("POST", "/v1/extract", "", ""); status != 200 {
			t.Fatal(status, body)
		}
	}
	if got := total(); got != n {
		t.Errorf("%d records became %d", n, got)
	}
	next := w.event(event.KindPrompt, "other", "", event.TextBody("how often are retries tried?"))
	_, body := w.do("POST", "/v1/events?retrieve=true", "application/json", string(next.AppendJSON(nil)))
	var r client.Receipt
	if err := json.Unmarshal([]byte(body), &r); err != nil || r.Retrieval == nil || !strings.Contains(r.Retrieval.Context, "three") || len(r.Retrieval.Records) == 0 {
		t.Errorf("%v: %s", err, body)
	}
}

func TestARunningTurnIsLeftAloneUntilItEnds(t *testing.T) {
	w := newWorld(t)
	w.config.Extract.Idle = config.Duration(100 * time.Millisecond)
	w.start()
	running := w.event(event.KindPrompt, "running", "", event.TextBody("We decided to use zebras instead of horses."))
	ended := w.event(event.KindPrompt, "ended", "", event.TextBody("We decided to use lions instead of tigers."))
	end := w.event(event.KindSessionSummary, "ended", ended.EventID, event.TextBody("Lions it is, in zoo/cage.go."))
	for _, e := range []event.Event{running, ended, end} {
		w.do("POST", "/v1/events", "application/json", string(e.AppendJSON(nil)))
	}
	for until := time.Now().Add(10 * time.Second); ; {
		_, body := w.do("GET", "/v1/memories", "", "")
		if strings.Contains(body, "zebra") {
			t.Fatal("a turn that is still running was distilled")
		}
		if strings.Contains(body, "lions") || strings.Contains(body, "Lions") {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the ended turn was not distilled")
		}
	}
	_, body := w.do("GET", "/v1/stats", "", "")
	if !strings.Contains(body, `"pending_extraction":1`) {
		t.Errorf("the running turn's prompt should be pending: %s", body)
	}
}

func TestOutboxIsDrainedAndPoisonSetAside(t *testing.T) {
	w := newWorld(t)
	q := outbox.New(w.dirs.Outbox(), outbox.Options{})
	a, b := w.event(event.KindNote, "s", "", event.TextBody("a")), w.event(event.KindNote, "s", "", event.TextBody("b"))
	bad := w.event("thought", "s", "", event.TextBody("never valid"))
	for _, e := range []event.Event{a, bad, b} {
		if err := q.Append(e.EventID, e.AppendJSON(nil), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Append("junk", []byte("no JSON at all"), time.Second); err != nil {
		t.Fatal(err)
	}
	w.start()
	if status, body := w.do("POST", "/v1/drain?wait=true", "", ""); status != 200 {
		t.Fatal(status, body)
	}
	st, err := q.Status()
	if err != nil || st.Pending != 0 || st.Quarantined != 2 {
		t.Errorf("outbox %+v, %v", st, err)
	}
	_, body := w.do("GET", "/v1/events", "", "")
	if !strings.Contains(body, `"total":2`) || !strings.Contains(body, a.EventID) || !strings.Contains(body, b.EventID) {
		t.Errorf("stored %s", body)
	}
	var reasons []string
	if err := q.Quarantined(func(x outbox.Quarantine) bool { reasons = append(reasons, x.Reason); return true }); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(reasons, "|"); !strings.Contains(all, "kind must be one of") || !strings.Contains(all, "not a JSON object") {
		t.Errorf("reasons %q", reasons)
	}
}

func TestOnlyOneCollectorAndANewerOneTakesOver(t *testing.T) {
	w := newWorld(t)
	w.start() // 1.2.3
	for _, v := range []string{"1.2.3", "1.1.9", "devel", "1.2.3-rc1"} {
		if err := Run(context.Background(), w.options(v)); !errors.Is(err, ErrRunning) {
			t.Errorf("version %s: %v, want ErrRunning", v, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, w.options("1.10.0")) }()
	for end := time.Now().Add(10 * time.Second); ; {
		if h, err := w.client.Health(context.Background()); err == nil && h.Version == "1.10.0" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the newer version did not take over")
		}
	}
	if err := <-w.ended; err != nil {
		t.Errorf("the older one ended with %v", err)
	}
	w.ended <- nil
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestIdleCollectorLeaves(t *testing.T) {
	w := newWorld(t)
	w.config.Collector.IdleExit = config.Duration(100 * time.Millisecond)
	w.start()
	select {
	case err := <-w.ended:
		if err != nil {
			t.Error(err)
		}
		w.ended <- nil
	case <-time.After(10 * time.Second):
		t.Fatal("still there")
	}
	if _, err := w.client.Health(context.Background()); !errors.Is(err, client.ErrAbsent) {
		t.Errorf("after leaving: %v", err)
	}
}

func TestSocketsInTheWay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what stands in the way differs there")
	}
	t.Run("a dead socket is replaced", func(t *testing.T) {
		w := newWorld(t)
		_ = os.MkdirAll(w.dirs.Run, 0o700)
		l, err := net.Listen("unix", w.dirs.Socket())
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		_ = l.Close()
		w.start()
		if w.client.Address() != w.dirs.Socket() {
			t.Errorf("listens on %s", w.client.Address())
		}
	})
	t.Run("another program's socket is left alone", func(t *testing.T) {
		w := newWorld(t)
		_ = os.MkdirAll(w.dirs.Run, 0o700)
		l, err := net.Listen("unix", w.dirs.Socket())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte("220 mail.example ESMTP\r\n"))
				_ = c.Close()
			}
		}()
		w.start()
		if w.client.Address() == w.dirs.Socket() {
			t.Error("took the other program's address")
		}
		if c, err := net.Dial("unix", w.dirs.Socket()); err != nil {
			t.Errorf("the other program's socket is gone: %v", err)
		} else {
			_ = c.Close()
		}
	})
	t.Run("a file is left alone", func(t *testing.T) {
		w := newWorld(t)
		_ = os.MkdirAll(w.dirs.Run, 0o700)
		if err := os.WriteFile(w.dirs.Socket(), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.start()
		if b, _ := os.ReadFile(w.dirs.Socket()); string(b) != "mine" {
			t.Errorf("the file holds %q", b)
		}
	})
	t.Run("a path too long for a socket", func(t *testing.T) {
		w := newWorld(t)
		long := filepath.Join(w.dirs.Config, strings.Repeat("d", 120))
		w.dirs = config.FindDirs(func(string) string { return long })
		w.client, _ = client.New(w.dirs, w.config.Collector)
		w.start()
		info, err := os.Stat(filepath.Dir(w.client.Address()))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the short path's directory: %v, %v", info, err)
		}
	})
	t.Run("modes", func(t *testing.T) {
		w := newWorld(t)
		w.start()
		for _, p := range []string{w.client.Address(), w.dirs.AddressFile()} {
			if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", p, info, err)
			}
		}
	})
}

func TestALostAddressIsRecordedAgain(t *testing.T) {
	w := newWorld(t)
	w.start()
	if err := os.WriteFile(w.dirs.AddressFile(), []byte("/nowhere/at/all.sock\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Nudge(); !errors.Is(err, client.ErrAbsent) {
		t.Fatalf("a wrong address gave %v", err)
	}
	if err := os.Remove(w.dirs.AddressFile()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); client.RecordedAddress(w.dirs) != w.dirs.Socket(); {
		if time.Now().After(end) {
			t.Fatal("the address was not recorded again")
		}
		if err := w.client.Nudge(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACollectorWhoseSocketIsGoneLeaves(t *testing.T) {
	w := newWorld(t)
	w.start()
	conn, err := net.Dial("unix", w.dirs.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := os.Remove(w.dirs.Socket()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("POST /v1/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-w.ended:
		if err != nil {
			t.Error(err)
		}
		w.ended <- nil
	case <-time.After(10 * time.Second):
		t.Fatal("still there, unreachable")
	}
}

func TestACollectorThatWaitsLeavesWhenAPersonStopsTheOther(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(w.dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	lock := theLock(w.dirs) // one that is on its way out, and does not answer any more
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	began := time.Now()
	go func() { done <- Run(context.Background(), w.options("1.2.3")) }()
	for !StoppedSince(w.dirs, began) || time.Since(began) < 50*time.Millisecond { // until it surely waits
		if err := NoteStop(w.dirs); err != nil {
			t.Fatal(err)
		}
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	w.start() // and one that begins afterwards is not concerned
}

func TestASessionThatWaitsInTheOutboxCanBeForgotten(t *testing.T) {
	w := newWorld(t)
	w.start()
	e := w.event(event.KindPrompt, "waiting", "", event.TextBody("zebraquagga"))
	if err := outbox.New(w.dirs.Outbox(), outbox.Options{}).Append(e.EventID, e.AppendJSON(nil), time.Second); err != nil {
		t.Fatal(err)
	}
	if status, body := w.do("DELETE", "/v1/sessions/waiting?now=true", "", ""); status != 200 || !strings.Contains(body, `"events":1`) {
		t.Errorf("%d %s", status, body)
	}
	if _, body := w.do("GET", "/v1/events", "", ""); !strings.Contains(body, `"total":0`) {
		t.Errorf("still there: %s", body)
	}
}

func TestACollectorWhoseDatabaseIsGoneLeaves(t *testing.T) {
	w := newWorld(t)
	w.start()
	if err := os.Remove(w.dirs.Database()); err != nil {
		t.Fatal(err)
	}
	_ = w.client.Nudge() // it looks after each drain
	select {
	case err := <-w.ended:
		if err != nil {
			t.Error(err)
		}
		w.ended <- nil
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on acknowledging into a file that nobody can open")
	}
}

func TestThePromptThatStandsBehindAPasteIsAskedWith(t *testing.T) {
	w := newWorld(t)
	w.start()
	rec := event.Record{
		RecordID: "mr_" + w.ids.Next(time.Second), Namespace: event.Namespace("mia", "p"), Strategy: "rules", Title: "Kafka consumer lag alert threshold", Summary: "The kafka consumer lag alert fires above 10000.",
		SourceEventIDs: []string{w.ids.Next(time.Second)}, CreatedAt: "2026-11-20T09:00:00Z", ObservationType: "decision",
	}
	rec.Fit()
	js, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := w.do("POST", "/v1/memories", "application/json", string(js)); status != 200 {
		t.Fatal(status, body)
	}
	e := w.event(event.KindPrompt, "q", "", event.TextBody(strings.Repeat("INFO request handled\n", 100)))
	e.Firing = &event.Firing{From: 1, To: 2, Tail: "why is the kafka consumer lag alert firing?"}
	_, body := w.do("POST", "/v1/events?retrieve=true", "application/json", string(e.AppendJSON(nil)))
	if !strings.Contains(body, "above 10000") {
		t.Errorf("not recalled: %s", body)
	}
	if _, body := w.do("GET", "/v1/events?session_id=q", "", ""); strings.Contains(body, "kafka") {
		t.Error("the end of the prompt was kept beside its body")
	}
}
