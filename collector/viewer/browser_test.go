//go:build unix

package viewer_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"kiro-learn/internal/event"
)

// TestInABrowser drives the pages in a headless Chromium, as a person would.
func TestInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	b := newChromium(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *world, *tab)
	}{
		{"the feed updates live and survives the collector", feedLives},
		{"the feed holds many events", feedHolds},
		{"search finds as one types", searchFinds},
		{"forget and undo work", forgetUndo},
		{"edit and restore work", editRestore},
		{"hostile strings stay text", hostileStays},
		{"pages keep their shape in each theme and width", keepShape},
		{"everything can be done by keyboard", byKeyboard},
		{"the theme is chosen and kept", themeKept},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			p := b.tab(t)
			c.run(t, w, p)
			for _, complaint := range b.complaints() {
				t.Errorf("the page complains: %s", complaint)
			}
		})
	}
}

// comeIn opens the link and waits for the first page.
func (p *tab) comeIn(w *world) {
	p.t.Helper()
	p.open(w.link())
	p.wait("location.pathname === '/' && document.querySelector('h1') && document.readyState === 'complete'")
}

func feedLives(t *testing.T, w *world, p *tab) {
	p.comeIn(w)
	p.wait("document.querySelector('#feed-empty').offsetParent")
	p.wait("document.querySelector('#live').textContent === 'Live.'")
	stop := w.keepTelling("shop", "first words <b>bold</b>")
	p.wait("document.querySelector('#feed').innerText.includes('first words <b>bold</b>')")
	stop()
	p.wait("!document.querySelector('#feed-empty').offsetParent")

	p.eval("document.querySelector('#pause').click()", nil)
	stop = w.keepTelling("shop", "while it is paused")
	p.wait("/^Paused, [0-9]+ new/.test(document.querySelector('#live').textContent)")
	stop()
	if strings.Contains(p.text("#feed"), "while it is paused") {
		t.Error("a feed that is paused goes on")
	}
	p.eval("document.querySelector('#pause').click()", nil)
	p.wait("document.querySelector('#feed').innerText.includes('while it is paused')")

	p.eval("document.querySelector('input[data-kind=prompt]').click()", nil)
	p.wait("document.querySelector('#feed').innerText === ''")
	p.eval("document.querySelector('input[data-kind=prompt]').click()", nil)
	p.wait("document.querySelector('#feed').innerText !== ''")

	w.stop()
	p.wait("document.querySelector('#live').classList.contains('off')")
	w.start()
	stop = w.keepTelling("shop", "after the restart")
	defer stop()
	p.wait("document.querySelector('#feed').innerText.includes('after the restart')")
	p.leads("nav a[href='/sessions']")
	p.wait("document.querySelector('h1').innerText === 'Sessions'")
}

func feedHolds(t *testing.T, w *world, p *tab) {
	p.comeIn(w)
	p.wait("document.querySelector('#live').textContent === 'Live.'")
	for part := range 5 {
		var lines bytes.Buffer
		for i := range 100 {
			e := event.Event{
				EventID: w.ids.Next(time.Second), SessionID: "many", ActorID: "mia", Namespace: shop(), SchemaVersion: 1, Kind: event.KindNote, Body: event.TextBody(fmt.Sprintf("event %d of part %d", i, part)),
				ValidTime: time.Now().UTC().Format(time.RFC3339Nano), Source: event.Source{Surface: "kiro-cli", Version: "1", ClientID: "h", ProjectPath: "/home/mia/shop"},
			}
			lines.Write(e.AppendJSON(nil))
			lines.WriteByte('\n')
		}
		if _, err := w.client.Do(context.Background(), "POST", "/v1/events/batch", "application/x-ndjson", lines.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	stop := w.keepTelling("shop", "the last of all")
	defer stop()
	p.wait("document.querySelector('#feed').innerText.includes('the last of all')")
	var n int
	if p.eval("document.querySelector('#feed').childElementCount", &n); n > 300 {
		t.Errorf("the feed keeps %d things", n)
	}
}

func searchFinds(t *testing.T, w *world, p *tab) {
	w.tell(story())
	p.comeIn(w)
	p.open(w.base + "/memory")
	p.shot("memory")
	p.eval("document.querySelector('main input[name=q]').focus()", nil)
	p.typeText("idempotency")
	p.wait("document.querySelector('#results').innerText.includes('Orders from the mobile app') && !document.querySelector('#results').innerText.includes('docker')")
	p.wait("location.search === '?q=idempotency'")
	p.eval("document.querySelector('main input[name=q]').select()", nil)
	p.typeText("zeppelin")
	p.wait("document.querySelector('#results').innerText.includes('Nothing found')")
	p.eval("document.querySelector('main input[name=q]').select()", nil)
	p.typeText("retries")
	p.wait("document.querySelector('#results').innerText.includes('Cap retries')")
	p.eval("const s = document.querySelector('main select[name=type]'); s.value = 'decision'; s.dispatchEvent(new Event('input', {bubbles: true}))", nil)
	p.wait("location.search.includes('type=decision') && !document.querySelector('#results').innerText.includes('Cap retries')")
	p.leads("#results a.title")
	p.wait("document.querySelector('h1').innerText.includes('We decided to cap retries')")
}

func forgetUndo(t *testing.T, w *world, p *tab) {
	w.tell(story()[3:5])
	p.comeIn(w)
	p.open(w.base + "/memory?q=retries")
	p.leads("#results a.title")
	title := p.text("h1")
	p.leads("form[action$='/forget'] button")
	p.wait("document.querySelector('.notice').innerText.includes('Forgotten.')")
	p.wait("![...document.querySelectorAll('#results a.title')].some(a => a.innerText === " + quote(title) + ")")
	p.leads(".notice form button")
	p.wait("document.querySelector('.notice').innerText.includes('It is back')")
	p.wait("[...document.querySelectorAll('#results a.title')].some(a => a.innerText === " + quote(title) + ")")
}

func editRestore(t *testing.T, w *world, p *tab) {
	id := w.record(event.Record{Title: "Retries are capped at three", Facts: []string{"one"}})
	p.comeIn(w)
	p.open(w.base + "/memory/" + id)
	p.leads("a[href$='/edit']")
	p.eval("document.querySelector('[name=title]').value = 'Retries are capped at <b>five</b>'; document.querySelector('[name=facts]').value = 'two\\nthree'", nil)
	p.leads("form.edit button")
	p.wait("document.querySelector('h1').innerText === 'Retries are capped at <b>five</b>' && document.querySelectorAll('.facts li').length === 3")
	p.eval("document.querySelector('.history details').open = true", nil)
	p.leads(".history form button")
	p.wait("document.querySelector('h1').innerText === 'Retries are capped at three'")
}

func hostileStays(t *testing.T, w *world, p *tab) {
	session, record := w.poison()
	p.comeIn(w)
	for _, path := range every(session, record) {
		p.open(w.base + path)
		var bad string
		p.eval(`(() => {
			if (document.title.includes('owned') && !document.title.includes('document.title')) return 'the title is ' + document.title;
			const odd = document.querySelector('img, svg[onload], [onerror], [onload], iframe, object, main script, body > script');
			if (odd) return odd.outerHTML.slice(0, 200);
			for (const b of document.querySelectorAll('main b, main i')) if (['tool', 'path', 'dir', 'file', 'concept', 'project', 'command', 'x'].includes(b.innerText)) return b.outerHTML;
			return '';
		})()`, &bad)
		if bad != "" {
			t.Errorf("%s: %s", path, bad)
		}
	}
	p.open(w.base + "/")
	p.wait("document.querySelector('#live').textContent === 'Live.'")
	stop := w.keepTelling("shop", strings.Join(hostile(), " ")+" told")
	p.wait("document.querySelector('#feed .fresh') && document.querySelector('#feed').innerText.includes('<script>')")
	stop()
	p.open(w.base + "/memory")
	p.eval("document.querySelector('main input[name=q]').focus()", nil)
	p.typeText(`decided "><img src=x onerror=alert(1)>`)
	p.wait("location.search.includes('decided') && document.querySelector('#results .rows')")
	var n int
	if p.eval("document.querySelectorAll('img').length", &n); n != 0 {
		t.Errorf("%d images", n)
	}
}

// contrast finds visible text that does not stand out enough from what is behind it, by the measure of WCAG 2 AA.
const contrast = `(() => {
	const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
	const rgba = s => { c.clearRect(0, 0, 1, 1); c.fillStyle = s; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
	const light = ([r, g, b]) => [r, g, b].map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const b = rgba(getComputedStyle(e).backgroundColor); if (b[3] > 200) return b; } return [255, 255, 255, 255]; };
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), bad = [];
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest('svg, .off, .skip, .unseen, option')) continue;
		const s = getComputedStyle(e), a = light(rgba(s.color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) bad.push(ratio.toFixed(1) + ' ' + e.tagName + '.' + e.className + ': ' + walk.currentNode.data.trim().slice(0, 40));
	}
	return [...new Set(bad)].slice(0, 5).join('; ');
})()`

func keepShape(t *testing.T, w *world, p *tab) {
	w.tell(story())
	id := w.record(event.Record{
		Title: "A title " + strings.Repeat("that-goes-on-without-a-space/", 5), Summary: strings.Repeat("x", 400), Facts: []string{strings.Repeat("y", 300)},
		Concepts: []string{strings.Repeat("z", 90)}, FilesTouched: []string{"/home/mia/shop/" + strings.Repeat("deep/", 20) + "file.go"},
	})
	p.comeIn(w)
	pages := map[string]string{
		"now": "/", "sessions": "/sessions", "session": "/sessions/one?ns=" + url.QueryEscape(shop()) + "&id=s-105", "records": "/memory", "search": "/memory?q=why+are+retries+capped",
		"record": "/memory/" + id, "edit": "/memory/" + id + "/edit", "forgotten": "/forgotten", "projects": "/projects", "project": "/projects/one?ns=" + url.QueryEscape(shop()), "health": "/health",
	}
	for _, v := range []struct {
		name string
		wide int
		dark bool
	}{{"wide", 1280, false}, {"narrow", 360, true}} {
		p.size(v.wide, 900)
		for name, path := range pages {
			p.dark(v.dark)
			p.open(w.base + path)
			if name == "health" {
				p.wait("document.querySelector('[data-load]').getAttribute('aria-busy') === 'false'")
			}
			p.eval("document.querySelectorAll('details').forEach(d => d.open = true)", nil)
			p.shot(name + "-" + v.name)
			var wide int
			if p.eval("document.documentElement.scrollWidth", &wide); wide > v.wide {
				t.Errorf("%s is %d wide in a window of %d", path, wide, v.wide)
			}
			for _, dark := range []bool{v.dark, !v.dark} {
				p.dark(dark)
				var bad string
				if p.eval(contrast, &bad); bad != "" {
					t.Errorf("%s, dark %v: %s", path, dark, bad)
				}
			}
		}
	}
	var back string
	p.dark(true)
	if p.eval("getComputedStyle(document.body).backgroundColor", &back); back != "rgb(22, 22, 24)" {
		t.Errorf("in the dark the page is %s", back)
	}
}

func byKeyboard(t *testing.T, w *world, p *tab) {
	w.tell(story())
	p.comeIn(w)
	p.open(w.base + "/memory")
	p.tabKey()
	p.wait("document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().left >= 0")
	var outline string
	if p.eval("getComputedStyle(document.activeElement).outlineStyle", &outline); outline == "none" {
		t.Error("what has the focus cannot be seen")
	}
	p.key("j")
	p.wait("document.activeElement.matches('#results li:nth-child(1) a.title')")
	p.key("j")
	p.key("j")
	p.key("k")
	p.key("ArrowDown")
	p.key("ArrowUp")
	p.wait("document.activeElement.matches('#results li:nth-child(2) a.title')")
	p.key("/")
	p.wait("document.activeElement.matches('main input[name=q]')")
	p.typeText("docker")
	p.wait("location.search === '?q=docker'")
	p.key("ArrowDown")
	p.wait("document.activeElement.matches('#results li:nth-child(1) a.title')")
	p.open(w.base + "/health")
	p.key("/")
	p.wait("document.activeElement.matches('header input[name=q]')")
	p.key("Escape")
	p.wait("document.activeElement === document.body")
	for _, path := range []string{"/", "/memory", "/health", "/projects/one?ns=" + url.QueryEscape(shop())} {
		p.open(w.base + path)
		var bad string
		p.eval(`(() => {
			if (document.querySelectorAll('h1').length !== 1 || document.querySelectorAll('main').length !== 1 || !document.querySelector('header nav[aria-label]')) return 'landmarks';
			for (const f of document.querySelectorAll('input:not([type=hidden]), select, textarea')) if (!f.labels.length && !f.getAttribute('aria-label')) return 'no label: ' + f.outerHTML;
			for (const b of document.querySelectorAll('button, a')) if (!b.textContent.trim() && !b.getAttribute('aria-label')) return 'no name: ' + b.outerHTML;
			return '';
		})()`, &bad)
		if bad != "" {
			t.Errorf("%s: %s", path, bad)
		}
	}
}

func (p *tab) tabKey() {
	p.t.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		p.do("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}, nil)
	}
}

func themeKept(t *testing.T, w *world, p *tab) {
	p.dark(false)
	p.comeIn(w)
	p.leads("button[value=dark]")
	for _, path := range []string{"/", "/memory"} {
		p.open(w.base + path)
		var back string
		if p.eval("getComputedStyle(document.body).backgroundColor", &back); back != "rgb(22, 22, 24)" {
			t.Errorf("%s is %s", path, back)
		}
	}
	p.leads("button[value=auto]")
	p.wait("document.documentElement.dataset.theme === 'auto' && getComputedStyle(document.body).backgroundColor === 'rgb(251, 251, 250)' && location.pathname === '/memory'")
}
