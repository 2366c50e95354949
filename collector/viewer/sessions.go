package viewer

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

const perPage = 50

// sessionRow is a session as the API lists it.
type sessionRow struct {
	Namespace   string    `json:"namespace"`
	SessionID   string    `json:"session_id"`
	ProjectPath string    `json:"project_path"`
	Surface     string    `json:"surface"`
	Title       string    `json:"title"`
	Started     time.Time `json:"started"`
	LastEvent   time.Time `json:"last_event"`
	Events      int       `json:"events"`
	Prompts     int       `json:"prompts"`
	Records     int       `json:"records"`
	State       string    `json:"state"`
}

func (s *sessionRow) link() string {
	return link("/sessions/one", "ns", s.Namespace, "id", s.SessionID)
}

func (s *sessionRow) name() string {
	if s.Title != "" {
		return s.Title
	}
	return "session " + event.CutChars(s.SessionID, 24)
}

// sessions is the list of sessions.
func (q *request) sessions() (page, error) {
	places, err := q.projects()
	if err != nil {
		return page{}, err
	}
	ns, n := q.q.Get("project"), q.pageNumber()
	var got struct {
		Items []sessionRow `json:"items"`
		Total int          `json:"total"`
	}
	if err := q.api.get(q.ctx, "/v1/sessions", url.Values{"namespace": {ns}, "limit": {strconv.Itoa(perPage)}, "offset": {strconv.Itoa((n - 1) * perPage)}}, &got); err != nil {
		return page{}, err
	}
	body := all(el("div.head", el("h1", "Sessions"), q.projectFilter("/sessions", places, ns)))
	if len(got.Items) == 0 {
		body = all(body, el("div.empty", el("p", el("b", "No sessions yet.")),
			el("p", "A session appears here with the first prompt that you send in Kiro. If you have sent one, type "), el("pre", "kiro-learn doctor")))
		return page{title: "Sessions", at: "/sessions", body: body}, nil
	}
	kids := []any{at("data-list", "")}
	for i := range got.Items {
		kids = append(kids, q.sessionItem(&got.Items[i]))
	}
	body = all(body, el("ol.rows", kids...), q.pager(got.Total, n, func(p string) string { return link("/sessions", "project", ns, "page", p) }))
	return page{title: "Sessions", at: "/sessions", body: body}, nil
}

func (q *request) sessionItem(s *sessionRow) html {
	return el("li", el("div.row", el("a.title", href(s.link()), event.CutChars(s.name(), lineChars)), stateTag(s.State)),
		el("div.meta", el("b", placeName(s.ProjectPath, s.Namespace)), el("span", surfaceName(s.Surface)), el("span", many(s.Prompts, "prompt")), el("span", many(s.Records, "memory")), q.since(s.LastEvent)))
}

func surfaceName(s string) string {
	switch s {
	case event.SurfaceCLI:
		return "CLI"
	case event.SurfaceIDE:
		return "IDE"
	}
	return s
}

// stateTag is where a session or an intent stands, in words.
func stateTag(state string) html {
	names := map[string]string{"needs-you": "needs you", "in-progress": "in progress", "done": "done", "dropped": "dropped"}
	name, ok := names[state]
	if !ok {
		return ""
	}
	return el("span.state."+state, name)
}

// pageNumber is that of a list, from 1.
func (q *request) pageNumber() int {
	n, err := strconv.Atoi(q.q.Get("page"))
	if err != nil || n < 1 || n > 1<<20 {
		return 1
	}
	return n
}

// pager leads to the pages of a list around the one that is shown.
func (q *request) pager(total, n int, to func(page string) string) html {
	last := (total + perPage - 1) / perPage
	if last < 2 {
		return el("p.dim.count", thousands(total)+" in all")
	}
	way := func(n int, name string, there bool) html {
		if !there {
			return el("span.button.off", at("aria-hidden", "true"), name)
		}
		return el("a.button", href(to(strconv.Itoa(n))), name)
	}
	return el("nav.pager", at("aria-label", "Pages of the list"), way(n-1, "Newer", n > 1), way(n+1, "Older", n < last),
		el("span.dim", "page "+thousands(n)+" of "+thousands(last)+", "+thousands(total)+" in all"))
}

// sure asks before something that cannot be taken back, without a script: the button is behind a fold.
func sure(class, what, warning string, form html) html {
	return el("details.sure", el("summary."+class, what), el("div", el("p", warning), form))
}

// lines are the words of a list as a field of a form has them, one a line.
func lines(list []string) string { return strings.Join(list, "\n") }

// fields are the lines of a field of a form.
func fields(text string) []string {
	out := []string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
