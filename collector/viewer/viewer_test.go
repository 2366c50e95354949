//go:build unix

package viewer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector"
	"kiro-learn/collector/client"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
	"kiro-learn/internal/eventid"
	"kiro-learn/internal/logfile"
)

const patience = 30 * time.Second

// world is a real collector in a home of its own, and what a browser needs to see its pages.
type world struct {
	t      testing.TB
	dirs   config.Dirs
	config config.Config
	client *client.Client
	ids    *eventid.Source
	cancel context.CancelFunc
	ended  chan error
	base   string // http://127.0.0.1:port
	http   *http.Client
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "kl") // short: socket paths are
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &world{t: t, dirs: config.FindDirs(func(string) string { return dir }), config: config.Default()}
	w.client, err = client.New(w.dirs, w.config.Collector)
	if err != nil {
		t.Fatal(err)
	}
	w.ids = eventid.New(w.dirs.State, nil)
	w.start()
	t.Cleanup(w.stop)
	return w
}

func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan error, 1)
	o := collector.Options{Dirs: w.dirs, Config: w.config, Version: "1.2.3", Log: logfile.New(w.dirs.LogFile(), "", "collector", nil)}
	go func() { w.ended <- collector.Run(ctx, o) }()
	ready, done := context.WithTimeout(ctx, patience)
	defer done()
	if _, err := w.client.WaitReady(ready); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) stop() {
	if w.ended == nil {
		return
	}
	w.cancel()
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Errorf("the collector ended with %v", err)
		}
	case <-time.After(patience):
		w.t.Error("the collector does not end")
	}
	w.ended = nil
}

// link asks for an address that lets a browser in.
func (w *world) link() string {
	w.t.Helper()
	u, err := w.client.UI(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	w.base = u[:strings.Index(u, "/login")]
	return u
}

// signIn makes w.http a browser that has been let in.
func (w *world) signIn() {
	w.t.Helper()
	jar, _ := cookiejar.New(nil) // it never fails without options
	w.http = &http.Client{Jar: jar, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if status, body := w.get(w.link()); status != http.StatusOK || !strings.Contains(body, "Welcome") {
		w.t.Fatalf("login: %d %s", status, body)
	}
}

// get fetches a page, by its path or its whole address.
func (w *world) get(where string) (int, string) {
	w.t.Helper()
	status, body, _ := w.ask(http.MethodGet, where, nil)
	return status, body
}

// page fetches a page that must be there.
func (w *world) page(where string) string {
	w.t.Helper()
	status, body := w.get(where)
	if status != http.StatusOK {
		w.t.Fatalf("%s: %d %s", where, status, body)
	}
	return body
}

func (w *world) ask(method, where string, form url.Values, header ...string) (int, string, http.Header) {
	w.t.Helper()
	if strings.HasPrefix(where, "/") {
		where = w.base + where
	}
	r, err := http.NewRequest(method, where, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	res, err := w.http.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

var tokenInput = regexp.MustCompile(`name="token" value="([0-9a-f]+)"`)

// send posts a form with the session's token and gives where it leads.
func (w *world) send(path string, form url.Values) string {
	w.t.Helper()
	m := tokenInput.FindStringSubmatch(w.page("/"))
	if m == nil {
		w.t.Fatal("no form has a token")
	}
	form.Set("token", m[1])
	status, body, h := w.ask(http.MethodPost, path, form)
	if status != http.StatusSeeOther {
		w.t.Fatalf("POST %s: %d %s", path, status, body)
	}
	return h.Get("Location")
}

// event posts an event of a project.
func (w *world) event(kind event.Kind, project, session, parent string, body []byte) event.Event {
	w.t.Helper()
	e := event.Event{
		EventID: w.ids.Next(time.Second), ParentEventID: parent, SessionID: session, ActorID: "mia", Namespace: event.Namespace("mia", project), SchemaVersion: 1,
		Kind: kind, Body: body, ValidTime: time.Now().UTC().Format(time.RFC3339Nano), Source: event.Source{Surface: "kiro-cli", Version: "1", ClientID: "h", ProjectPath: "/home/mia/" + project},
	}
	if _, err := w.client.PostEvent(context.Background(), e.AppendJSON(nil), true); err != nil {
		w.t.Fatal(err)
	}
	return e
}

// turn is a prompt, a tool use and an end, distilled.
func (w *world) turn(project, session, prompt, answer string) event.Event {
	w.t.Helper()
	p := w.event(event.KindPrompt, project, session, "", event.TextBody(prompt))
	w.event(event.KindToolUse, project, session, p.EventID, event.JSONBody([]byte(`{"tool_name":"fs_write","tool_input":{"command":"create","path":"src/pay/retry.go"},"tool_response":{"result":["wrote 12 lines"]}}`)))
	w.event(event.KindSessionSummary, project, session, p.EventID, event.TextBody(answer))
	w.distil()
	return p
}

func (w *world) distil() {
	w.t.Helper()
	if err := w.client.Call(context.Background(), http.MethodPost, "/v1/extract", struct{}{}, nil); err != nil {
		w.t.Fatal(err)
	}
}

// record stores a record as it is.
func (w *world) record(r event.Record) string {
	w.t.Helper()
	r.RecordID = "mr_" + w.ids.Next(time.Second)
	if r.CreatedAt == "" {
		r.CreatedAt = time.Now().UTC().Format(time.RFC3339)
	}
	if r.Namespace == "" {
		r.Namespace = event.Namespace("mia", "shop")
	}
	if r.ObservationType == "" {
		r.ObservationType = event.TypeDecision
	}
	if r.Strategy == "" {
		r.Strategy = event.StrategyRules
	}
	if r.Summary == "" {
		r.Summary = "Something."
	}
	if r.SourceEventIDs == nil {
		r.SourceEventIDs = []string{w.ids.Next(time.Second)}
	}
	r.Fit()
	var status *client.StatusError
	err := w.client.Call(context.Background(), http.MethodPost, "/v1/memories", r, nil)
	if errors.As(err, &status) {
		w.t.Fatalf("%s %s", status.Text, status.Body)
	} else if err != nil {
		w.t.Fatal(err)
	}
	return r.RecordID
}

func TestOnlyALinkLetsIn(t *testing.T) {
	w := newWorld(t)
	link := w.link()
	w.signIn()
	let := w.http
	w.http = &http.Client{Timeout: patience}
	for _, path := range []string{"/", "/memory", "/sessions", "/projects", "/health", "/feed", "/nothing", "/login?token=" + strings.Repeat("0", 64)} {
		if status, body := w.get(path); status != http.StatusUnauthorized && status != http.StatusForbidden || strings.Contains(body, `name="token"`) {
			t.Errorf("%s without a cookie: %d", path, status)
		}
	}
	if res, err := w.http.Head(link); err != nil || res.StatusCode != http.StatusMethodNotAllowed || len(res.Cookies()) > 0 {
		t.Errorf("a look at a link: %v %v", res, err)
	}
	if status, _ := w.get(link); status != http.StatusOK {
		t.Errorf("a link that waits: %d", status)
	}
	if status, body := w.get(link); status != http.StatusForbidden || !strings.Contains(body, "kiro-learn ui") {
		t.Errorf("a link a second time: %d %s", status, body)
	}
	w.http = let
	w.page("/")
	w.stop()
	taken, err := net.Listen("tcp", strings.TrimPrefix(w.base, "http://"))
	w.start() // and its place is taken
	if err == nil {
		_ = taken.Close()
	}
	w.back()
	w.page("/") // the same address, key and cookie
	u, _ := url.Parse(w.base)
	cookies := let.Jar.Cookies(u)
	if len(cookies) != 1 {
		t.Fatalf("%d cookies", len(cookies))
	}
	other := "0"
	if strings.HasPrefix(cookies[0].Value, other) {
		other = "1"
	}
	for name, value := range map[string]string{"another session": other + cookies[0].Value[1:], "longer": cookies[0].Value + "0", "cut": cookies[0].Value[:40], "empty": ""} {
		if status, _, _ := w.plain("GET", "/", nil, "Cookie: "+cookies[0].Name+"="+value); status != http.StatusUnauthorized {
			t.Errorf("a cookie that is %s: %d", name, status)
		}
	}
}

// back waits until the pages are served again.
func (w *world) back() {
	w.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(w.base, "http://")); err == nil {
			_ = conn.Close()
			return
		}
	}
	w.t.Fatal("the pages do not come back")
}

// plain asks as a program that keeps no cookies.
func (w *world) plain(method, path string, form url.Values, header ...string) (int, string, http.Header) {
	w.t.Helper()
	had := w.http
	defer func() { w.http = had }()
	w.http = &http.Client{Timeout: patience, CheckRedirect: had.CheckRedirect}
	return w.ask(method, path, form, header...)
}

func TestTheCookieAndTheHeadersAreStrict(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	_, _, h := w.plain("GET", w.link(), nil)
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(h.Get("Set-Cookie"), want) {
			t.Errorf("the cookie %q is not %s", h.Get("Set-Cookie"), want)
		}
	}
	for _, path := range []string{"/", "/memory", "/static/app.css", "/nothing"} {
		_, _, h := w.ask("GET", path, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s: %q", path, name, h.Get(name))
			}
		}
	}
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	own := w.base
	for _, c := range []struct {
		name   string
		header []string
		status int
	}{
		{"a browser's own", []string{"Sec-Fetch-Site: same-origin", "Origin: " + own}, 200},
		{"typed", []string{"Sec-Fetch-Site: none"}, 200},
		{"our own form", []string{"Sec-Fetch-Site: same-origin", "Origin: null"}, 200},
		{"another name for this host", []string{"Host: evil.example"}, 403},
		{"another port", []string{"Host: 127.0.0.1:1"}, 403},
		{"no port", []string{"Host: 127.0.0.1"}, 403},
		{"another origin", []string{"Origin: http://evil.example"}, 403},
		{"another port's page", []string{"Origin: http://127.0.0.1:1"}, 403},
		{"a page without an origin", []string{"Origin: null"}, 403},
		{"two origins", []string{"Origin: " + own + ",http://evil.example"}, 403},
		{"another site's link", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"another port's link", []string{"Sec-Fetch-Site: same-site"}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			if status, _, _ := w.ask("GET", "/", nil, c.header...); status != c.status {
				t.Errorf("%d, want %d", status, c.status)
			}
		})
	}
}

func TestWritesNeedTheSessionsToken(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	for name, token := range map[string]string{"none": "", "a wrong one": strings.Repeat("0", 64)} {
		if status, _, _ := w.ask("POST", "/theme", url.Values{"theme": {"dark"}, "token": {token}}); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	other := w.http
	w.signIn()
	theirs := tokenInput.FindStringSubmatch(w.page("/"))[1]
	w.http = other
	if status, _, _ := w.ask("POST", "/theme", url.Values{"theme": {"dark"}, "token": {theirs}}); status != http.StatusForbidden {
		t.Errorf("another session's: %d", status)
	}
	if to := w.send("/theme", url.Values{"theme": {"dark"}, "back": {"/memory?q=x"}}); to != "/memory?q=x" {
		t.Errorf("went to %q", to)
	}
	if !strings.Contains(w.page("/"), `data-theme="dark"`) {
		t.Error("the theme was not kept")
	}
	for _, away := range []string{"//evil.example", "https://evil.example", `/\evil.example`, "evil", "javascript:alert(1)", "/\r\nX: y"} {
		if to := w.send("/theme", url.Values{"theme": {"dark"}, "back": {away}}); to != "/" {
			t.Errorf("%q leads to %q", away, to)
		}
	}
	if status, _, _ := w.ask("POST", "/theme", url.Values{"back": {strings.Repeat("x", 1<<20+1000)}}); status != http.StatusBadRequest {
		t.Errorf("a form of more than 1 MiB: %d", status)
	}
}

func TestTheFirstPageIsLight(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	for range 15 {
		w.turn("shop", "s1", "Please cap the retries of the uploader at three, because the gateway limits the rate.", "Done: the uploader retries three times.")
	}
	page := w.page("/")
	size := len(page)
	for _, m := range regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		size += len(w.page(m[1]))
	}
	if size > 150_000 || strings.Contains(page, "://") {
		t.Errorf("the first page is %d bytes, or asks elsewhere", size)
	}
}
