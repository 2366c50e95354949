//go:build unix

package viewer_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// chromium is a headless browser, driven by the DevTools protocol over a pipe: JSON messages that end in a zero byte.
type chromium struct {
	t       testing.TB
	cmd     *exec.Cmd
	in      *os.File
	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	closed  chan struct{}
	noise   []string // what pages complained of
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// findBrowser gives the path of a Chromium. Without one the test is passed over, but not in CI, which installs it.
func findBrowser(t testing.TB) string {
	t.Helper()
	for _, name := range []string{os.Getenv("KIRO_LEARN_BROWSER"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("there is no Chromium here, and in CI there must be")
	}
	t.Skip("there is no Chromium here: install one, or name it in KIRO_LEARN_BROWSER, to see the pages tested in it")
	return ""
}

func newChromium(t testing.TB) *chromium {
	t.Helper()
	path := findBrowser(t)
	profile, err := os.MkdirTemp("", "kl-chromium")
	if err != nil {
		t.Fatal(err)
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b := &chromium{t: t, in: in, waiting: map[int]chan message{}, closed: make(chan struct{})}
	b.cmd = exec.Command(path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-background-networking", "--disable-sync",
		"--hide-scrollbars", "--force-color-profile=srgb", "--user-data-dir="+profile, "about:blank")
	b.cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // its descriptors 3 and 4
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = toBrowser.Close(), fromBrowser.Close()
	go b.listen(out)
	t.Cleanup(func() {
		_ = in.Close() // it leaves when its pipe ends
		select {
		case <-b.closed:
		case <-time.After(patience):
			_ = b.cmd.Process.Kill()
		}
		_ = b.cmd.Wait()
		_ = out.Close()
		_ = os.RemoveAll(profile)
	})
	return b
}

func (b *chromium) listen(out *os.File) {
	defer close(b.closed)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if ch := b.waiting[m.ID]; ch != nil {
			delete(b.waiting, m.ID)
			ch <- m
		}
		switch m.Method {
		case "Page.javascriptDialogOpening", "Runtime.exceptionThrown":
			b.noise = append(b.noise, m.Method+" "+string(m.Params))
		case "Log.entryAdded": // what the security policy has kept from running, above all
			if s := string(m.Params); !strings.Contains(s, `"source":"network"`) {
				b.noise = append(b.noise, s)
			}
		}
		b.mu.Unlock()
	}
}

// call sends a command and decodes its result.
func (b *chromium) call(session, method string, params, result any) {
	b.t.Helper()
	if err := b.try(session, method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

func (b *chromium) try(session, method string, params, result any) error {
	p, err := json.Marshal(params)
	if err != nil {
		return err
	}
	ch := make(chan message, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.waiting[id] = ch
	line, err := json.Marshal(message{ID: id, Session: session, Method: method, Params: p})
	if err == nil {
		_, err = b.in.Write(append(line, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-ch:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-b.closed:
		return fmt.Errorf("%s: the browser has ended", method)
	case <-time.After(2 * patience):
		return fmt.Errorf("%s: no answer", method)
	}
}

// complaints are what pages have complained of since the last call: alerts, exceptions, what the policy forbade.
func (b *chromium) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.noise
	b.noise = nil
	return out
}

// tab is a page of its own, in a profile of its own.
type tab struct {
	*chromium
	session string
}

func (b *chromium) tab(t testing.TB) *tab {
	t.Helper()
	b.t = t
	var c struct{ BrowserContextID, TargetID, SessionID string }
	b.call("", "Target.createBrowserContext", map[string]any{}, &c)
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": c.BrowserContextID}, &c)
	b.call("", "Target.attachToTarget", map[string]any{"targetId": c.TargetID, "flatten": true}, &c)
	p := &tab{b, c.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.do(domain+".enable", map[string]any{}, nil)
	}
	p.size(1280, 900)
	return p
}

func (p *tab) do(method string, params, result any) {
	p.t.Helper()
	p.call(p.session, method, params, result)
}

func (p *tab) size(wide, high int) {
	p.t.Helper()
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// dark has the system prefer a dark theme, or a light one.
func (p *tab) dark(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	p.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// open goes to a page and waits until it is there, with what it loads.
func (p *tab) open(url string) {
	p.t.Helper()
	p.eval("window.leaving = true", nil)
	p.do("Page.navigate", map[string]any{"url": url}, nil)
	p.wait("!window.leaving && document.readyState === 'complete'")
}

// eval runs a script in the page.
func (p *tab) eval(script string, result any) {
	p.t.Helper()
	if err := p.tryEval(script, result); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) tryEval(script string, result any) error {
	var got struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	err := p.try(p.session, "Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true}, &got)
	if err != nil {
		return err
	}
	if got.ExceptionDetails != nil {
		return fmt.Errorf("%s: %s", script, got.ExceptionDetails)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(got.Result.Value, result)
}

// wait waits until a condition holds in the page, which may be on its way to another one.
func (p *tab) wait(cond string) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		var ok bool
		if err := p.tryEval("!!("+cond+")", &ok); err == nil && ok {
			return
		}
	}
	var page string
	_ = p.tryEval("location.pathname + ' ' + document.body.innerText", &page) // what can be seen of it
	p.t.Fatalf("%s does not come true: %.2000s", cond, page)
}

// leads clicks on what a selector names and waits for the page that it leads to.
func (p *tab) leads(selector string) {
	p.t.Helper()
	p.eval("window.leaving = true; document.querySelector("+quote(selector)+").click()", nil)
	p.wait("!window.leaving && document.readyState === 'complete'")
}

func (p *tab) text(selector string) (s string) {
	p.t.Helper()
	p.eval("(document.querySelector("+quote(selector)+") || {innerText: ''}).innerText", &s)
	return s
}

func (p *tab) key(key string) {
	p.t.Helper()
	p.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": onlyChar(key)}, nil)
	p.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

func onlyChar(key string) string {
	if len(key) == 1 {
		return key
	}
	return ""
}

func (p *tab) typeText(s string) {
	p.t.Helper()
	p.do("Input.insertText", map[string]any{"text": s}, nil)
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always can
	return string(b)
}

// shot keeps a picture of the page where KIRO_LEARN_SHOTS says, for a person to look at.
func (p *tab) shot(name string) {
	p.t.Helper()
	dir := os.Getenv("KIRO_LEARN_SHOTS")
	if dir == "" {
		return
	}
	var got struct{ Data string }
	p.do("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": os.Getenv("KIRO_LEARN_SHOTS_WHOLE") != ""}, &got)
	b, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o600); err != nil {
		p.t.Fatal(err)
	}
}
