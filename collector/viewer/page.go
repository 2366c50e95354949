package viewer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

const (
	maxForm    = 1 << 20 // bytes of a form that is sent
	tokenField = "token" // of every form that writes
)

// request is one request of a browser that has been let in.
type request struct {
	*Viewer
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context
	session string
	q       url.Values
}

// page is what a handler makes: a whole page, or for the script that asks for it a part of one.
type page struct {
	title string
	at    string // of the navigation: the path of the page's place in it
	body  html
	part  html // the part that ?part=1 asks for; "" where there is none
	gone  bool // answered already, or elsewhere
}

// errNotThere gives a page that says so.
var errNotThere = errors.New("there is nothing here any more; it may have been forgotten")

// Handler serves the pages.
func (v *Viewer) Handler() http.Handler {
	m := http.NewServeMux()
	read := func(pattern string, f func(*request) (page, error)) { m.Handle("GET "+pattern, v.signedIn(f, false)) }
	write := func(pattern string, f func(*request) (page, error)) { m.Handle("POST "+pattern, v.signedIn(f, true)) }
	m.HandleFunc("GET /login", v.login)
	m.HandleFunc("GET /static/{name}", v.static)
	read("/{$}", (*request).now)
	read("/feed", (*request).feed)
	read("/sessions", (*request).sessions)
	read("/sessions/one", (*request).oneSession)
	read("/memory", (*request).memory)
	read("/memory/{id}", (*request).record)
	read("/memory/{id}/edit", (*request).editForm)
	read("/forgotten", (*request).forgotten)
	read("/projects", (*request).projectList)
	read("/projects/one", (*request).oneProject)
	read("/health", (*request).health)
	read("/health/checks", (*request).checks)
	write("/theme", (*request).theme)
	write("/sessions/forget", (*request).sessionForget)
	write("/memory/{id}/edit", (*request).edit)
	write("/memory/{id}/forget", (*request).recordForget)
	write("/memory/{id}/restore", (*request).restore)
	write("/forget/undo", (*request).undo)
	write("/projects/merge", (*request).merge)
	write("/projects/rename", (*request).rename)
	write("/projects/forget", (*request).projectForget)
	read("/", func(*request) (page, error) { return page{}, errNotThere })
	return v.guarded(m)
}

// policy allows nothing but what comes from here: no script in the page, no style in it, no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded is before every request, the signed-in and the others.
func (v *Viewer) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if why := v.gate.refusal(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		defer func() {
			if p := recover(); p != nil {
				v.o.Failed(fmt.Errorf("panic in %s: %T", r.Pattern, p)) // its value may hold what is stored
				http.Error(w, "the page could not be made; see the collector's log", http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// signedIn lets only those in who have come by a link; a write needs the session's token as well.
func (v *Viewer) signedIn(f func(*request) (page, error), write bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, ok := v.gate.session(r)
		if !ok {
			send(w, http.StatusUnauthorized, v.bare(r, "Come in by a link", el("p", "This page shows a private memory, so it needs a link that is yours alone. In a terminal, type:"),
				el("pre", "kiro-learn ui")))
			return
		}
		q := &request{Viewer: v, w: w, r: r, ctx: r.Context(), session: session, q: r.URL.Query()}
		if write {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				http.Error(w, "the form could not be read", http.StatusBadRequest)
				return
			}
			if !same(r.PostForm.Get(tokenField), v.gate.writeToken(session)) {
				http.Error(w, "this form is not one of ours, or too old: go back, load the page again and repeat", http.StatusForbidden)
				return
			}
		}
		p, err := f(q)
		switch {
		case err == nil && p.gone:
		case err == nil && q.q.Get("part") != "" && p.part != "":
			send(w, http.StatusOK, p.part)
		case err == nil:
			send(w, http.StatusOK, q.frame(p))
		case errors.Is(err, errNotThere) || isStatus(err, http.StatusNotFound):
			send(w, http.StatusNotFound, q.frame(page{title: "Not here", body: all(el("h1", "Not here"), el("p", errNotThere.Error()+"."), el("p", el("a", href("/memory"), "Look for it in memory")))}))
		case isStatus(err, http.StatusBadRequest):
			send(w, http.StatusBadRequest, q.frame(page{title: "That cannot be done", body: all(el("h1", "That cannot be done"), el("p", err.Error()))}))
		case r.Context().Err() != nil:
		default:
			v.o.Failed(fmt.Errorf("make %s: %w", r.URL.Path, err))
			send(w, http.StatusInternalServerError, q.frame(page{title: "That failed", body: all(el("h1", "That failed"), el("p", err.Error()))}))
		}
	})
}

func send(w http.ResponseWriter, status int, h html) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(h)) // a browser that has left needs no answer
}

// login lets a browser in by a one-time token. It answers with a page that goes on by itself, and not with a redirect:
// a link that was followed from another program's page would lose a strict cookie on the way.
func (v *Viewer) login(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead { // what programs send that look at a link before a person follows it
		w.Header().Set("Allow", http.MethodGet)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if !v.gate.spend(r.URL.Query().Get("token")) {
		if _, ok := v.gate.session(r); ok {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		send(w, http.StatusForbidden, v.bare(r, "This link has been used", el("p", "A link lets one browser in, once, within five minutes. For a new one, type:"), el("pre", "kiro-learn ui")))
		return
	}
	http.SetCookie(w, v.gate.newCookie())
	send(w, http.StatusOK, v.bare(r, "Welcome", el("meta", at("http-equiv", "refresh"), at("content", "0;url=/")), el("p", el("a", href("/"), "Go on"))))
}

// places are the pages of the navigation.
func places() [][2]string {
	return [][2]string{{"/", "Now"}, {"/sessions", "Sessions"}, {"/memory", "Memory"}, {"/projects", "Projects"}, {"/health", "Health"}}
}

// bare is a page without navigation.
func (v *Viewer) bare(r *http.Request, title string, body ...any) html {
	return document(theme(r), title, el("main.bare", at("id", "main"), el("h1", title), all(body...)))
}

// frame is a page with everything around it.
func (q *request) frame(p page) html {
	var nav []any
	for _, it := range places() {
		here := attr{}
		if it[0] == p.at {
			here = at("aria-current", "page")
		}
		nav = append(nav, el("li", el("a", href(it[0]), here, it[1])))
	}
	return document(theme(q.r), p.title,
		el("a.skip", href("#main"), "Skip to content"),
		el("header.top",
			el("a.name", href("/"), el("span.mark", at("aria-hidden", "true")), "kiro-learn"),
			el("nav", at("aria-label", "Pages"), el("ul", nav...)),
			el("form.find", at("action", "/memory"), at("role", "search"),
				el("input", at("type", "search"), at("name", "q"), at("aria-label", "Search memory"), at("placeholder", "Search memory  /"), at("data-find", ""), at("autocomplete", "off"))),
			q.themes()),
		el("main", at("id", "main"), at("tabindex", "-1"), q.notice(), p.body),
		el("footer", "kiro-learn "+strings.TrimPrefix(q.o.Version, "v")+" · everything here stays on this machine"))
}

func document(theme, title string, body ...any) html {
	return "<!doctype html>\n" + el("html", at("lang", "en"), at("data-theme", theme),
		el("head", el("meta", at("charset", "utf-8")), el("meta", at("name", "viewport"), at("content", "width=device-width, initial-scale=1")),
			el("meta", at("name", "color-scheme"), at("content", "light dark")), el("title", title+" · kiro-learn"),
			el("link", at("rel", "icon"), href(asset("icon.svg"))), el("link", at("rel", "stylesheet"), href(asset("app.css"))),
			el("script", at("src", asset("app.js")), at("defer", ""))),
		el("body", body...))
}

// theme is what a browser has chosen; "auto" is the system's.
func theme(r *http.Request) string {
	if c, err := r.Cookie("kiro_learn_theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return "auto"
}

func (q *request) themes() html {
	var kids []any
	for _, t := range [][2]string{{"auto", "Auto"}, {"light", "Light"}, {"dark", "Dark"}} {
		pressed := "false"
		if theme(q.r) == t[0] {
			pressed = "true"
		}
		kids = append(kids, el("button", at("name", "theme"), at("value", t[0]), at("aria-pressed", pressed), t[1]))
	}
	return q.form("/theme", "theme", el("fieldset", append([]any{el("legend.unseen", "Theme")}, kids...)...), el("input", at("type", "hidden"), at("name", "back"), at("value", q.r.URL.RequestURI())))
}

// theme keeps what a browser has chosen and goes back to where it was.
func (q *request) theme() (page, error) {
	to := q.r.PostForm.Get("theme")
	http.SetCookie(q.w, &http.Cookie{Name: "kiro_learn_theme", Value: to, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return q.to(q.r.PostForm.Get("back"))
}

// to sends the browser to another of our pages.
func (q *request) to(where string) (page, error) {
	u, err := url.Parse(where)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(where, "/") || strings.HasPrefix(where, "//") || strings.ContainsAny(where, "\\\r\n") {
		where = "/"
	}
	q.w.Header().Set("Location", where)
	q.w.WriteHeader(http.StatusSeeOther)
	return page{gone: true}, nil
}

// form is a form that writes: it carries the session's token.
func (q *request) form(action, class string, kids ...any) html {
	name := "form"
	if class != "" {
		name += "." + class
	}
	return el(name, append([]any{at("method", "post"), at("action", action), q.token()}, kids...)...)
}

func (q *request) token() html {
	return hidden(tokenField, q.gate.writeToken(q.session))
}

func hidden(name, value string) html {
	return el("input", at("type", "hidden"), at("name", name), at("value", value))
}

// link is a path with a query; parameters without a value are left out.
func link(path string, kv ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i+1] != "" {
			q.Set(kv[i], kv[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// placeName is the short name of a project: the last part of its path.
func placeName(projectPath, namespace string) string {
	if name := path.Base(strings.ReplaceAll(projectPath, `\`, "/")); projectPath != "" && name != "/" && name != "." {
		return name
	}
	if _, id, ok := event.SplitNamespace(namespace); ok {
		return event.CutChars(id, 9)
	}
	return "nowhere"
}

// when is a time as a person says it, with the whole of it to be seen by who points at it.
func (q *request) since(t time.Time) html {
	if t.IsZero() {
		return el("span.dim", "never")
	}
	t = t.Local()
	return el("time", at("datetime", t.Format(time.RFC3339)), at("title", t.Format("Monday, 2 January 2006, 15:04:05")), ago(q.o.Now(), t))
}

func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < 0:
		return t.Format("2 Jan 15:04")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 12*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	switch local := now.Local(); {
	case day(local) == day(t):
		return "today " + t.Format("15:04")
	case day(local.AddDate(0, 0, -1)) == day(t):
		return "yesterday " + t.Format("15:04")
	case local.Year() == t.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

// many is a number and what is counted.
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") {
		return thousands(n) + " " + strings.TrimSuffix(what, "y") + "ies"
	}
	return thousands(n) + " " + what + "s"
}

// thousands is a number as it is read.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && n >= 10_000; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}
