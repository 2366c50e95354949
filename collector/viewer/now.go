package viewer

import (
	"net/url"
	"strconv"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

const firstMoments = 40 // that the feed begins with

// now is the first page: what is happening.
func (q *request) now() (page, error) {
	places, err := q.projects()
	if err != nil {
		return page{}, err
	}
	var got struct {
		Items []event.Event `json:"items"`
	}
	ns := q.q.Get("project")
	err = q.api.get(q.ctx, "/v1/events", url.Values{"limit": {strconv.Itoa(firstMoments)}, "chars": {strconv.Itoa(textChars)}, "namespace": {ns}, "count": {"false"}}, &got)
	if err != nil {
		return page{}, err
	}
	act, err := q.activity(ns, days)
	if err != nil {
		return page{}, err
	}
	items := make([]any, 0, len(got.Items)+1)
	items = append(items, at("id", "feed"), at("data-feed", link("/feed", "project", ns)), at("aria-live", "off"), at("data-list", ""))
	for i := range got.Items {
		m := newMoment(&got.Items[i])
		items = append(items, q.feedItem(&m))
	}
	body := all(el("div.head", el("h1", "Now"), q.projectFilter("/", places, ns)),
		q.today(places, act, ns),
		el("section", at("aria-labelledby", "activity-h"), el("h2", at("id", "activity-h"), "Activity, last 30 days"), act.plot("events")),
		el("section", at("aria-labelledby", "feed-h"), el("div.head", el("h2", at("id", "feed-h"), "Live feed"),
			el("p.live", at("id", "live"), at("role", "status"), "Load the page again to see what is new.")),
			feedTools(), when(len(got.Items) == 0, emptyFeed), el("ol.feed", items...)))
	return page{title: "Now", at: "/", body: body}, nil
}

func emptyFeed() html {
	return el("div.empty", at("id", "feed-empty"), el("p", el("b", "Nothing has been heard yet.")),
		el("p", "Open a project in Kiro and send a prompt: it appears here as it happens. If it does not, type "), el("pre", "kiro-learn doctor"))
}

func feedTools() html {
	kids := []any{at("id", "feed-tools"), at("hidden", "")}
	kids = append(kids, el("button", at("type", "button"), at("id", "pause"), at("aria-pressed", "false"), "Pause"))
	for _, k := range kindNames() {
		kids = append(kids, el("label.check", el("input", at("type", "checkbox"), at("checked", ""), at("data-kind", k[0])), k[1]))
	}
	return el("div.tools", kids...)
}

// feedItem is one line of the feed.
func (q *request) feedItem(m *moment) html {
	kind := m.kind
	if kind == "saved" {
		kind = string(event.KindNote)
	}
	return el("li.item."+className(kind), at("data-id", m.id),
		el("div.meta", el("span.kind", kindName(m.kind)), " ", el("a", href(link("/sessions/one", "ns", m.namespace, "id", m.session)+"#"+m.id), placeName(m.project, m.namespace)), " ", q.since(m.at)),
		m.shown())
}

// recordItem is a record in the feed.
func (q *request) recordItem(r *event.Record, project string) html {
	if project == "" {
		project = placeName("", r.Namespace)
	}
	made, _ := time.Parse(time.RFC3339Nano, r.CreatedAt) // the zero time says that there is none
	return el("li.item.record", at("data-id", r.RecordID), el("div.meta", el("span.kind", "Remembered"), " ", el("span", project), " ", q.since(made), " ", typeTag(r.ObservationType)),
		el("p.text", el("a", href("/memory/"+url.PathEscape(r.RecordID)), r.Title)))
}

// className is a kind or a type as the style sheet names it; only known ones are.
func className(s string) string {
	for _, k := range kindNames() {
		if k[0] == s {
			return s
		}
	}
	for _, t := range event.ObservationTypes() {
		if t == s {
			return s
		}
	}
	return "other"
}

// today says in a few numbers how things are.
func (q *request) today(places []place, act activity, ns string) html {
	var total place
	for _, p := range places {
		if ns == "" || p.Namespace == ns {
			total.Records, total.Events, total.Pending, total.Sessions = total.Records+p.Records, total.Events+p.Events, total.Pending+p.Pending, total.Sessions+p.Sessions
		}
	}
	last := act.last()
	midnight := q.midnight(0)
	yesterday := link("/memory", "project", ns, "from", q.midnight(-1).Format(time.DateOnly), "to", q.midnight(-1).Format(time.DateOnly))
	stat := func(n int, what string, to string) html {
		return el("li", el("a", href(to), el("b", thousands(n)), " ", el("span", what)))
	}
	return el("ul.stats",
		stat(last.sum("events"), "events today", link("/sessions", "project", ns)),
		stat(last.sum("records"), "remembered today", link("/memory", "project", ns, "from", midnight.Format(time.DateOnly))),
		stat(act.day(-1).sum("records"), "remembered yesterday", yesterday),
		stat(total.Records, "remembered in all", link("/memory", "project", ns)),
		stat(total.Pending, "events to distil", "/health"))
}

// midnight is the beginning of the day so many days from today.
func (q *request) midnight(days int) time.Time {
	n := q.o.Now().Local()
	return time.Date(n.Year(), n.Month(), n.Day()+days, 0, 0, 0, 0, n.Location())
}

// place is a project as the API counts it.
type place struct {
	Namespace   string         `json:"namespace"`
	ProjectPath string         `json:"project_path"`
	Events      int            `json:"events"`
	Records     int            `json:"records"`
	Sessions    int            `json:"sessions"`
	Pending     int            `json:"pending_extraction"`
	LastEvent   string         `json:"last_event"`
	Kinds       map[string]int `json:"events_by_kind"`
	Types       map[string]int `json:"records_by_type"`
}

func (p *place) name() string { return placeName(p.ProjectPath, p.Namespace) }

// stats is what the API counts.
type stats struct {
	Projects []place       `json:"projects"`
	Engine   client.Engine `json:"engine"`
}

// projects are those that there is something of.
func (q *request) projects() ([]place, error) {
	var s stats
	err := q.api.get(q.ctx, "/v1/stats", nil, &s)
	return s.Projects, err
}

// projectFilter lets a page be narrowed to one project.
func (q *request) projectFilter(action string, places []place, chosen string) html {
	if len(places) < 2 && chosen == "" {
		return ""
	}
	return el("form.filter", at("action", action), projectSelect(places, chosen), el("button", "Show"))
}

func projectSelect(places []place, chosen string) html {
	kids := []any{at("name", "project"), at("aria-label", "Project"), at("data-auto", ""), el("option", at("value", ""), "All projects")}
	for i := range places {
		p := &places[i]
		kids = append(kids, el("option", at("value", p.Namespace), on("selected", p.Namespace == chosen), p.name()))
	}
	return el("select", kids...)
}

func typeTag(t string) html { return el("span.tag."+className(t), typeName(t)) }

// typeName is an observation type as people read it.
func typeName(t string) string {
	switch t {
	case event.TypeToolUse:
		return "change"
	case event.TypeSessionSummary:
		return "summary"
	case "":
		return "other"
	}
	return t
}
