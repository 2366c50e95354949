package viewer

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"kiro-learn/collector/client"
)

// lastUse is when something was last heard of a project.
func (p *place) lastUse() time.Time {
	id, err := ulid.ParseStrict(p.LastEvent)
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(id.Time())
}

func (p *place) link() string { return link("/projects/one", "ns", p.Namespace) }

// projectList lists every project that there is something of.
func (q *request) projectList() (page, error) {
	places, err := q.projects()
	if err != nil {
		return page{}, err
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(b.LastEvent, a.LastEvent) })
	body := el("div.head", el("h1", "Projects"))
	if len(places) == 0 {
		return page{title: "Projects", at: "/projects", body: all(body, emptyNote("No projects yet.", "A project appears with the first prompt that you send in it."))}, nil
	}
	most := 1
	for i := range places {
		most = max(most, places[i].Records)
	}
	kids := []any{at("data-list", "")}
	for i := range places {
		p := &places[i]
		kids = append(kids, el("li.project", el("div.row", el("a.title", href(p.link()), p.name()), q.since(p.lastUse())),
			el("div.meta", el("code", p.where())),
			el("svg.size", at("viewBox", "0 0 100 4"), at("preserveAspectRatio", "none"), at("aria-hidden", "true"), typeBar(p.Types, 100*float64(p.Records)/float64(most), 0, 0, 4)),
			el("div.meta", el("span", many(p.Records, "memory")), el("span", many(p.Sessions, "session")), el("span", many(p.Events, "event")),
				when(p.Pending > 0, func() html { return el("span", thousands(p.Pending)+" to distil") }))))
	}
	return page{title: "Projects", at: "/projects", body: all(body, el("ol.rows", kids...))}, nil
}

func (p *place) where() string {
	if p.ProjectPath == "" {
		return "its place is not known"
	}
	return p.ProjectPath
}

// oneProject shows what a project holds as pictures, and lets it be moved into another.
func (q *request) oneProject() (page, error) {
	places, err := q.projects()
	if err != nil {
		return page{}, err
	}
	i := slices.IndexFunc(places, func(p place) bool { return p.Namespace == q.q.Get("ns") })
	if i < 0 {
		return page{}, errNotThere
	}
	p := &places[i]
	act, err := q.activity(p.Namespace, days)
	if err != nil {
		return page{}, err
	}
	picture, err := q.mapOf(p)
	if err != nil {
		return page{}, err
	}
	body := all(el("p.crumb", el("a", href("/projects"), "Projects")),
		el("div.head", el("h1", p.name()), el("p", el("a.button", href(link("/memory", "project", p.Namespace)), "Its memory"), " ", el("a.button", href(link("/sessions", "project", p.Namespace)), "Its sessions"))),
		el("p.meta", el("code", p.where()), el("span", many(p.Records, "memory")), el("span", many(p.Sessions, "session")), el("span", many(p.Events, "event")), el("span", "last heard ", q.since(p.lastUse()))),
		picture,
		el("div.halves",
			el("section", el("h2", "Remembered, by type"), act.plot("records")),
			el("section", el("h2", "Activity"), act.plot("events"))),
		q.projectChanges(p, places))
	return page{title: p.name(), at: "/projects", body: body}, nil
}

// projectChanges are what can be done to a project.
func (q *request) projectChanges(p *place, places []place) html {
	kids := []any{at("name", "into"), at("aria-label", "Into"), at("required", ""), el("option", at("value", ""), "Choose a project")}
	for i := range places {
		if o := &places[i]; o.Namespace != p.Namespace {
			kids = append(kids, el("option", at("value", o.Namespace), o.name()+" · "+o.where()))
		}
	}
	merge := when(len(places) > 1, func() html {
		return sure("button.danger", "Merge into another", "All that this project holds moves into the other. The two cannot be told apart again.",
			q.form("/projects/merge", "", hidden("from", p.Namespace), el("select", kids...), " ", el("button.danger", "Merge")))
	})
	return el("section.card", el("h2", "Change it"), el("div.tools", merge,
		sure("button", "It has moved", "What it holds is given to the project that lies in the directory where it is now.",
			q.form("/projects/rename", "", hidden("from", p.Namespace), el("input.wide", at("name", "to"), at("aria-label", "Directory"), at("placeholder", p.where()), at("required", "")), " ", el("button", "It is there"))),
		sure("button.danger", "Forget it", "All that is known of this project goes. It can be undone for a week.", q.form("/projects/forget", "", hidden("ns", p.Namespace), el("button.danger", "Forget this project")))))
}

func (q *request) merge() (page, error) {
	f := q.r.PostForm
	var got client.Merged
	if err := q.api.call(q.ctx, http.MethodPost, "/v1/projects/merge", client.Merge{From: f.Get("from"), Into: f.Get("into")}, &got); err != nil {
		return page{}, err
	}
	return q.to(link("/projects/one", "ns", got.Into, "done", "merged", "count", strconv.Itoa(got.Records)))
}

// rename gives what a project holds to the one at its new place.
func (q *request) rename() (page, error) {
	f := q.r.PostForm
	to := strings.TrimSpace(f.Get("to"))
	if to == "" {
		return page{}, errNotThere
	}
	var got client.Merged
	err := q.api.call(q.ctx, http.MethodPost, "/v1/projects/merge", client.Merge{From: f.Get("from"), ProjectPath: to}, &got)
	if isStatus(err, http.StatusBadRequest) {
		return page{title: "Not moved", at: "/projects", body: all(el("h1", "Not moved"), el("p", "There is no project in ", el("code", to), ", or it is the same one. Give the whole path of the directory where it is now."),
			el("p", el("a.button", href(link("/projects/one", "ns", f.Get("from"))), "Back")))}, nil
	}
	if err != nil {
		return page{}, err
	}
	return q.to(link("/projects/one", "ns", got.Into, "done", "merged", "count", strconv.Itoa(got.Records)))
}

func (q *request) projectForget() (page, error) {
	ns := q.r.PostForm.Get("ns")
	if ns == "" {
		return page{}, errNotThere
	}
	return q.forget(client.Selection{Namespace: ns, All: true}, "/projects")
}

// mapOf is the map of a project, with what was chosen on it.
func (q *request) mapOf(p *place) (html, error) {
	concept, file := q.q.Get("concept"), q.q.Get("file")
	var m client.Map
	if err := q.api.get(q.ctx, "/v1/map", url.Values{"namespace": {p.Namespace}, "concept": {concept}}, &m); err != nil {
		return "", err
	}
	if m.Total == 0 {
		return emptyNote("There is nothing on the map yet.", "Files and concepts appear here when something is remembered about them."), nil
	}
	found := html("")
	if concept != "" || file != "" {
		w := wanted{text: concept, project: p.Namespace, file: file}
		list, err := q.foundList(w)
		if err != nil {
			return "", err
		}
		found = el("section", at("id", "found"), el("div.head", el("h2", "About ", el("code", file+concept)), el("a.button", href(p.link()), "The whole map")), list)
	}
	note := many(m.Records, "memory") + " by the files that they speak of"
	if m.Total > m.Records && concept == "" {
		note = "The newest " + note
	}
	if m.Unplaced > 0 {
		note += ", " + thousands(m.Unplaced) + " more speak of no file"
		if m.Unplaced == m.Records {
			note = many(m.Records, "memory") + ", none of which speaks of a file"
		}
	}
	parts := map[string]int{}
	for i := range m.Files {
		for t, n := range m.Files[i].Types {
			parts[t] += n
		}
	}
	var words []any
	for _, c := range m.Concepts {
		if len(words) == mapConcepts || len(words) >= 8 && c.N == 1 || strings.ContainsAny(c.Name, "/\\.") && c.Name != concept { // files are on the map already
			continue
		}
		here := attr{}
		if c.Name == concept {
			here = at("aria-current", "true")
		}
		words = append(words, el("li", el("a", href(link("/projects/one", "ns", p.Namespace, "concept", c.Name)), here, c.Name, " ", el("b", thousands(c.N)))))
	}
	return all(el("section", at("aria-labelledby", "map-h"), el("div.head", el("h2", at("id", "map-h"), "What it is about"), legend(partOrder(parts), parts, "records")),
		el("p.dim", note+". Bigger means more. Choose a file or a concept to see what is remembered about it."),
		when(len(words) > 0, func() html { return el("ul.chips", words...) }),
		when(len(m.Files) > 0, func() html {
			return el("div.map", at("tabindex", "0"), at("role", "group"), at("aria-label", "Map of files"), drawMap(p, m.Files, concept, file))
		})), found), nil
}
