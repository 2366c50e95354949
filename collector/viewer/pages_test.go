//go:build unix

package viewer_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kiro-learn/internal/event"
	"kiro-learn/outbox"
)

func shop() string { return event.Namespace("mia", "shop") }

// holds complains where a page lacks something.
func (w *world) holds(where string, wants ...string) {
	w.t.Helper()
	page := w.page(where)
	_, main, _ := strings.Cut(page, "<main")
	for _, want := range wants {
		if !strings.Contains(page, want) {
			w.t.Errorf("%s lacks %q:\n%.6000s", where, want, main)
		}
	}
}

func TestEmptyPagesSayWhatToDo(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	w.holds("/", "Nothing has been heard yet", "kiro-learn doctor")
	w.holds("/sessions", "No sessions yet", "kiro-learn doctor")
	w.holds("/memory", "Nothing is remembered yet", "kiro-learn demo")
	w.holds("/memory?q=x", "Nothing found", "Try other words")
	w.holds("/memory?from=2026-01-01", "Nothing is remembered that fits")
	w.holds("/projects", "No projects yet")
	w.holds("/forgotten", "Nothing that was forgotten can be brought back")
	w.holds("/health", "Nothing waits to be stored", "No hook has run here yet")
	for _, path := range []string{"/nothing", "/memory/mr_01ARZ3NDEKTSV4RRFFQ69G5FAV", "/memory/x/edit", "/sessions/one", "/sessions/one?id=none", "/projects/one?ns=none"} {
		if status, body := w.get(path); status != http.StatusNotFound || !strings.Contains(body, "Not here") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestPagesTellTheStory(t *testing.T) {
	w := newWorld(t)
	w.tell(story())
	w.signIn()
	w.holds("/", "Why do we prune docker images nightly?", "str_replace src/export/export.go", "remembered today", "<b>4</b> <span>remembered yesterday", ">infra</option>")
	w.holds("/sessions", "How many times may the uploader retry", "shop", "2 prompts", "CLI")
	w.holds("/sessions/one?ns="+shop()+"&id=s-105", "The agent was shown", "Because it holds words of the prompt", "<b>gateway</b> in its", "made by rules from its events", "Remembered from it", "want 1999, got 19.99")
	yesterday := time.Now().AddDate(0, 0, -1).Format(time.DateOnly)
	w.holds("/memory?from="+yesterday+"&to="+yesterday, "Never log the Authorization header", "Cap retries at three")
	if page := w.page("/memory?to=" + yesterday); strings.Contains(page, "docker images nightly") {
		t.Error("a filter by day lets in what came after it")
	}
	w.holds("/memory?q=why+are+retries+capped", "best first", "We decided to cap retries at three", "by capped and retries")
	w.holds("/memory?file=src/cart/total.go", "1 memory that speaks of this file", "Change the cart")
	w.holds("/memory?type=error&project="+url.QueryEscape(shop()), "go test ./src/export failed")
	w.holds("/memory?q=retries&part=1", `<p class="dim count">`)
	if part := w.page("/memory?q=retries&part=1"); strings.Contains(part, "<html") {
		t.Error("a part of a page is a whole page")
	}
	link := regexp.MustCompile(`href="(/memory/mr_[0-9A-Z]+)">Cap retries`).FindStringSubmatch(w.page("/memory?q=why+are+retries+capped"))
	if link == nil {
		t.Fatal("there is no link to a record")
	}
	w.holds(link[1], "Shown to the agent", "in this session</a>", ", by ", "Made from")
	w.holds("/projects", "/home/mia/shop", "/home/mia/infra")
	w.holds("/projects/one?ns="+shop(), "What it is about", "upload.go", "Merge into another", "It has moved")
	w.holds("/projects/one?ns="+shop()+"&file=src/upload/upload.go", `id="found"`, "cell chosen", "Cap retries at three")
	w.holds("/health", "All that was heard has been distilled", "built-in rules", "half under")
	w.holds("/health/checks", "kiro-learn doctor")
}

// hostile are strings that would be something else than text if they were not escaped.
func hostile() []string {
	return []string{
		`<script>document.title='owned'</script>`, `"><img src=x onerror="document.title='owned'">`, `'><svg/onload=document.title='owned'>`,
		`</textarea></title><script>document.title='owned'</script>`, `javascript:document.title='owned'`, "\u202egnp.exe\u2066", "\x1b]0;owned\x07", `{{.}} ${7*7} &lt;b&gt;`,
	}
}

// poison has every field that a page shows hold hostile text. It gives a session and a record of it.
func (w *world) poison() (session, record string) {
	w.t.Helper()
	h := strings.Join(hostile(), " ")
	session = `s"><i>x</i>`
	p := w.event(event.KindPrompt, "shop", session, "", event.TextBody("We decided to use this because of that: "+h))
	data := fmt.Sprintf(`{"tool_name":%q,"tool_input":{"path":%q,"command":%q},"tool_response":{"result":[%q]}}`, `<b>tool</b>`, `<b>path</b>`, `<b>command</b>`, `<b>result</b>`)
	w.event(event.KindToolUse, "shop", session, p.EventID, event.JSONBody([]byte(data)))
	w.event(event.KindSessionSummary, "shop", session, p.EventID, event.TextBody(h))
	w.event(event.KindNote, "shop", session, "", event.TextBody(h))
	w.event(event.KindPrompt, `<b>project`, session, "", event.TextBody(h))
	w.distil()
	record = w.record(event.Record{Title: h[:190], Summary: h, Facts: hostile(), Concepts: []string{`<b>concept</b>`, `"><i>`}, FilesTouched: []string{`<b>dir</b>/<b>file</b>`, `src/"onload="x`}, SourceEventIDs: []string{p.EventID}})
	return session, record
}

// every are the pages of a world that was poisoned.
func every(session, record string) []string {
	id := url.QueryEscape(session)
	return []string{
		"/", "/sessions", "/sessions/one?ns=" + shop() + "&id=" + id, "/memory", "/memory?q=decided+" + url.QueryEscape(hostile()[1]), "/memory?q=script&file=" + url.QueryEscape(`"><b>x`),
		"/memory/" + record, "/memory/" + record + "/edit", "/projects", "/projects/one?ns=" + shop(), "/projects/one?ns=" + shop() + "&concept=" + url.QueryEscape(`<b>concept</b>`),
		"/projects/one?ns=" + shop() + "&file=" + url.QueryEscape(`<b>dir</b>/<b>file</b>`), "/health", "/forgotten", "/?project=" + url.QueryEscape(`"><b>`), "/memory?done=<b>x</b>&n=<b>", "/sessions?page=<b>",
	}
}

func TestHostileTextStaysText(t *testing.T) {
	w := newWorld(t)
	session, record := w.poison()
	w.signIn()
	own := regexp.MustCompile(`<(script src="/static/app\.js|img |svg |i class="dot)`)
	for _, path := range every(session, record) {
		page := w.page(path)
		for _, bad := range []string{"<script>", "<img", "<svg/", "<b>tool", "<b>path", "<b>dir", "<b>file", "<b>concept", "<b>project", "<b>result", "<b>x", "<i>x", "</textarea></title>", "\u202e", "\x1b", `href="javascript`, ` onload="x`} {
			if strings.Contains(page, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		if !own.MatchString(page) {
			t.Errorf("%s is no page of ours: %.300s", path, page)
		}
	}
}

func TestForgetAndUndo(t *testing.T) {
	w := newWorld(t)
	w.tell(story()[3:5])
	w.signIn()
	link := regexp.MustCompile(`href="(/memory/mr_[0-9A-Z]+)">We decided`).FindStringSubmatch(w.page("/memory?q=retries"))
	if link == nil {
		t.Fatal("nothing is remembered")
	}
	to := w.send(link[1]+"/forget", url.Values{})
	w.holds(to, "Forgotten.", "Undo", "made from the same turn and stays", ">Cap retries")
	if status, _ := w.get(link[1]); status != http.StatusNotFound {
		t.Errorf("what is forgotten: %d", status)
	}
	if page := w.page("/memory?q=retries"); strings.Contains(page, ">We decided") {
		t.Error("what is forgotten is found")
	}
	w.holds("/forgotten", "Bring it back")
	id := regexp.MustCompile(`name="id" value="([0-9]+)"`).FindStringSubmatch(w.page(to))
	to = w.send("/forget/undo", url.Values{"id": {id[1]}})
	w.holds(to, "It is back as it was")
	w.holds(link[1], "We decided to cap")

	to = w.send("/sessions/forget", url.Values{"ns": {shop()}, "id": {"s-104"}})
	w.holds(to, "Forgotten.", "No sessions yet")
}

func TestEditKeepsTheHistoryAndCanBeTakenBack(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	id := w.record(event.Record{Title: "Retries are capped at three", Summary: "Because of the gateway.", Facts: []string{"cap 3"}, FilesTouched: []string{"a.go"}, Concepts: []string{"retry"}})
	form := url.Values{"title": {"Retries are capped at five"}, "type": {"decision"}, "summary": {"The gateway was upgraded.\r\nIn May."}, "facts": {"cap 5\r\n\r\nwas 3"}, "files": {"a.go"}, "concepts": {"retry"}}
	first := w.send("/memory/"+id+"/edit", form)
	w.holds(first, "Retries are capped at five", "Saved.", "was 3", "Earlier versions", "Retries are capped at three", "before an edit")
	w.holds("/memory?q=capped", "five")
	if page := w.page("/memory?q=capped"); strings.Contains(page, "three") {
		t.Error("the earlier version is still found")
	}
	form.Set("title", "Retries are capped at seven")
	second := w.send(strings.Split(first, "?")[0]+"/edit", form)
	status, _, h := w.ask("GET", "/memory/"+id, nil)
	if status != http.StatusSeeOther || !strings.HasPrefix(second, h.Get("Location")) && !strings.HasPrefix(h.Get("Location"), strings.Split(first, "?")[0]) {
		t.Errorf("an old address: %d %s", status, h.Get("Location"))
	}
	back := w.send("/memory/"+id+"/restore", url.Values{})
	w.holds(back, "Retries are capped at three", "in use again", "Retries are capped at five", "Retries are capped at seven")
	var all struct {
		Total int `json:"total"`
	}
	if err := w.client.Call(context.Background(), "GET", "/v1/memories", nil, &all); err != nil || all.Total != 1 {
		t.Errorf("%d records in use, %v; want one", all.Total, err)
	}

	form.Set("title", "  ")
	status, body, _ := w.ask("POST", "/memory/"+id+"/edit", with(form, "token", tokenInput.FindStringSubmatch(w.page("/"))[1]))
	if status != http.StatusOK || !strings.Contains(body, "Not saved") || !strings.Contains(body, "The gateway was upgraded.") {
		t.Errorf("an edit without a title: %d %s", status, body)
	}
}

func with(f url.Values, k, v string) url.Values {
	f.Set(k, v)
	return f
}

func TestMergeMovesAProject(t *testing.T) {
	w := newWorld(t)
	w.tell(story()[2:4])
	w.signIn()
	to := w.send("/projects/merge", url.Values{"from": {event.Namespace("mia", "infra")}, "into": {shop()}})
	w.holds(to, "moved", "/home/mia/shop")
	w.holds("/memory?q=docker", "no space left on device")
	if status, _ := w.get("/projects/one?ns=" + event.Namespace("mia", "infra")); status != http.StatusNotFound {
		t.Errorf("the project that is no more: %d", status)
	}
}

func TestAMergeOfNothingIsRefused(t *testing.T) {
	w := newWorld(t)
	w.tell(story()[2:4])
	w.signIn()
	token := tokenInput.FindStringSubmatch(w.page("/"))
	if status, body, _ := w.ask(http.MethodPost, "/projects/merge", url.Values{"token": {token[1]}}); status != http.StatusBadRequest {
		t.Errorf("%d %s, want 400", status, body)
	}
}

func TestAProjectThatHasMovedIsGivenItsNewPlace(t *testing.T) {
	home := t.TempDir()
	for name, dir := range map[string]string{"HOME": "home", "TMPDIR": "tmp", ".": "shop2/.git"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if name != "." {
			t.Setenv(name, filepath.Join(home, dir)) // what lies in the temporary directory is nobody's project
		}
	}
	w := newWorld(t)
	w.tell(story()[3:4])
	w.signIn()
	to := w.send("/projects/rename", url.Values{"from": {shop()}, "to": {" " + filepath.Join(home, "shop2") + " "}})
	w.holds(to, "moved", "shop2")
	w.holds("/memory?q=retries", "Cap retries at three")
	if status, _ := w.get("/projects/one?ns=" + shop()); status != http.StatusNotFound {
		t.Errorf("the old place: %d", status)
	}
	token := tokenInput.FindStringSubmatch(w.page("/"))[1]
	for _, dir := range []string{"shop2", filepath.Join(home, "none"), "/"} {
		status, body, _ := w.ask("POST", "/projects/rename", url.Values{"from": {shop()}, "to": {dir}, "token": {token}})
		if status != http.StatusOK || !strings.Contains(body, "Not moved") {
			t.Errorf("to %s: %d %s", dir, status, body)
		}
	}
}

func TestListsGoPageByPage(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	for i := range 120 {
		w.record(event.Record{Title: fmt.Sprintf("Finding %03d", i), CreatedAt: time.Now().Add(time.Duration(i-200) * time.Minute).UTC().Format(time.RFC3339)})
	}
	w.holds("/memory", "Finding 119", "Finding 070", "page 1 of 3, 120 in all", "page=2")
	w.holds("/memory?page=3", "Finding 019", "Finding 000", "page 3 of 3")
	for _, page := range []string{"4", "0", "-1", "x", "99999999999999999999"} {
		w.page("/memory?page=" + page)
	}
}

func TestHealthTellsWhatIsStuck(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	w.refuse()
	w.holds("/health", "could not be stored as they are", "kiro-learn outbox quarantine", "Set aside</h2>", "event_id")
}

func TestTheFeedTellsWhatComes(t *testing.T) {
	w := newWorld(t)
	w.signIn()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", w.base+"/feed?project="+url.QueryEscape(shop()), nil)
	res, err := w.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("the feed is %s", got)
	}
	read := func(until string) string {
		var all strings.Builder
		b := make([]byte, 4096)
		for !strings.Contains(all.String(), until) {
			n, err := res.Body.Read(b)
			all.Write(b[:n])
			if err != nil {
				t.Fatalf("the feed ended with %v after %s", err, all.String())
			}
		}
		return all.String()
	}
	read("retry:")
	stop := w.keepTelling("infra", "not here", "shop", "<b>hello</b>\nworld")
	got := read("world")
	stop()
	if !strings.Contains(got, "&lt;b&gt;hello") || strings.Contains(got, "not here") {
		t.Errorf("the feed says %s", got)
	}
	w.stop() // it must not wait for who listens
}

// keepTelling posts a prompt in each of some projects again and again, since nobody knows when a feed has begun to listen.
func (w *world) keepTelling(projectsAndTexts ...string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			for i := 0; i < len(projectsAndTexts); i += 2 {
				w.event(event.KindPrompt, projectsAndTexts[i], "told", "", event.TextBody(projectsAndTexts[i+1]))
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(done); <-ended }
}

// refuse puts something into the outbox that is no event.
func (w *world) refuse() {
	w.t.Helper()
	if err := outbox.New(w.dirs.Outbox(), outbox.Options{MaxBytes: 1 << 20}).Append(w.ids.Next(time.Second), []byte(`{"event_id":"no"}`), time.Second); err != nil {
		w.t.Fatal(err)
	}
	var drained struct {
		Delivered int `json:"delivered"`
	}
	if err := w.client.Call(context.Background(), "POST", "/v1/drain?wait=true", struct{}{}, &drained); err != nil {
		w.t.Fatal(err)
	}
}
