package viewer

import (
	"net/url"
	"strconv"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// foundRecord is a record of a list or a search.
type foundRecord struct {
	event.Record
	Why *client.Why `json:"why"`
}

// wanted is what a person looks for in memory.
type wanted struct{ text, project, kind, from, to, file string }

func (q *request) wanted() wanted {
	return wanted{q.q.Get("q"), q.q.Get("project"), q.q.Get("type"), q.q.Get("from"), q.q.Get("to"), q.q.Get("file")}
}

func (w wanted) link(page string) string {
	return link("/memory", "q", w.text, "project", w.project, "type", w.kind, "from", w.from, "to", w.to, "file", w.file, "page", page)
}

func (w wanted) anything() bool { return w != wanted{} }

// query is what the API is asked for. Days are the person's own, from the beginning of one to the end of the other.
func (w wanted) query() url.Values {
	v := url.Values{"namespace": {w.project}}
	if w.kind != "" {
		v.Set("type", w.kind)
	}
	if t, err := time.ParseInLocation(time.DateOnly, w.from, time.Local); err == nil {
		v.Set("since", t.UTC().Format(time.RFC3339))
	}
	if t, err := time.ParseInLocation(time.DateOnly, w.to, time.Local); err == nil {
		v.Set("until", t.AddDate(0, 0, 1).UTC().Format(time.RFC3339))
	}
	return v
}

// memory is what is remembered: all of it, newest first, or what a search finds in the order in which a prompt would be
// shown it.
func (q *request) memory() (page, error) {
	w := q.wanted()
	list, err := q.memoryList(w)
	if err != nil {
		return page{}, err
	}
	if q.q.Get("part") != "" {
		return page{part: list}, nil
	}
	places, err := q.projects()
	if err != nil {
		return page{}, err
	}
	return page{title: "Memory", at: "/memory", body: all(
		el("div.head", el("h1", "Memory"), el("p", el("a", href("/forgotten"), "Forgotten lately"))),
		q.memoryForm(w, places), el("div", at("id", "results"), at("aria-live", "polite"), list))}, nil
}

func (q *request) memoryForm(w wanted, places []place) html {
	kinds := []any{at("name", "type"), at("aria-label", "Type"), el("option", at("value", ""), "All types")}
	for _, t := range event.ObservationTypes() {
		kinds = append(kinds, el("option", at("value", t), on("selected", t == w.kind), typeName(t)))
	}
	y := q.midnight(-1).Format(time.DateOnly)
	return el("form.filter.memory", at("action", "/memory"), at("role", "search"), at("data-live", "#results"),
		el("input.wide", at("type", "search"), at("name", "q"), at("value", w.text), at("placeholder", "Words, as in a prompt"), at("aria-label", "Search for"), at("autocomplete", "off")),
		projectSelect(places, w.project), el("select", kinds...),
		el("label", "from ", el("input", at("type", "date"), at("name", "from"), at("value", w.from))),
		el("label", "to ", el("input", at("type", "date"), at("name", "to"), at("value", w.to))),
		el("input", at("name", "file"), at("value", w.file), at("placeholder", "File"), at("aria-label", "File")),
		el("button", "Search"), el("a.button", href(wanted{project: w.project, from: y, to: y}.link("")), "Yesterday"),
		when(w.anything(), func() html { return el("a.button", href("/memory"), "Clear") }))
}

// memoryList is the list under the form.
func (q *request) memoryList(w wanted) (html, error) {
	if w.text != "" || w.file != "" {
		return q.foundList(w)
	}
	n := q.pageNumber()
	v := w.query()
	v.Set("limit", strconv.Itoa(perPage))
	v.Set("offset", strconv.Itoa((n-1)*perPage))
	v.Set("of", "projects")
	var got struct {
		Items []foundRecord `json:"items"`
		Total int           `json:"total"`
	}
	if err := q.api.get(q.ctx, "/v1/memories", v, &got); err != nil {
		return "", err
	}
	if len(got.Items) == 0 {
		if w.anything() {
			return emptyNote("Nothing is remembered that fits.", "Take out a filter, or look at another day."), nil
		}
		return el("div.empty", el("p", el("b", "Nothing is remembered yet.")), el("p", "Work with your agent as usual: decisions, errors, changes and findings are distilled from it a few seconds after each turn."),
			el("p", "To see how it looks, type "), el("pre", "kiro-learn demo")), nil
	}
	names, err := q.names()
	if err != nil {
		return "", err
	}
	return all(q.recordList(got.Items, names, ""), q.pager(got.Total, n, w.link)), nil
}

// foundList is what a search finds.
func (q *request) foundList(w wanted) (html, error) {
	v := w.query()
	v.Set("query", w.text)
	if w.text == "" {
		v.Set("query", w.file)
	}
	v.Set("file", w.file)
	v.Set("limit", strconv.Itoa(perPage))
	v.Set("explain", "true")
	var got []foundRecord
	if err := q.api.get(q.ctx, "/v1/memories/search", v, &got); err != nil {
		return "", err
	}
	if len(got) == 0 {
		return emptyNote("Nothing found.", "Try other words, another project or no filter. Words that are in every record say nothing."), nil
	}
	names, err := q.names()
	if err != nil {
		return "", err
	}
	how := many(len(got), "memory") + ", best first, as a prompt with these words would be shown them"
	switch {
	case w.text == "" && len(got) == 1:
		how = "1 memory that speaks of this file"
	case w.text == "":
		how = many(len(got), "memory") + " that speak of this file"
	}
	return all(el("p.dim.count", how), q.recordList(got, names, w.text)), nil
}

func emptyNote(what, hint string) html { return el("div.empty", el("p", el("b", what)), el("p", hint)) }

// names are the projects' names by their namespaces.
func (q *request) names() (map[string]string, error) {
	var got struct {
		Items []client.Project `json:"items"`
	}
	if err := q.api.get(q.ctx, "/v1/projects", nil, &got); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range got.Items {
		out[p.Namespace] = placeName(p.ProjectPath, p.Namespace)
	}
	return out, nil
}

func (q *request) recordList(items []foundRecord, names map[string]string, text string) html {
	kids := []any{at("data-list", "")}
	for i := range items {
		r := &items[i]
		name, ok := names[r.Namespace]
		if !ok {
			name = placeName("", r.Namespace)
		}
		made, _ := time.Parse(time.RFC3339Nano, r.CreatedAt) // the zero time says that there is none
		kids = append(kids, el("li", el("div.row", el("a.title", href("/memory/"+url.PathEscape(r.RecordID)), r.Title), typeTag(r.ObservationType)),
			el("p.gist", event.CutChars(oneText(r.Summary), 220)),
			el("div.meta", el("b", name), q.since(made), filesBrief(r.FilesTouched),
				when(text != "" && r.Why != nil, func() html { return el("span", "by "+foundBy(r.Why)) }))))
	}
	return el("ol.rows", kids...)
}

func oneText(s string) string { return oneLineOf(s, 400) }

func filesBrief(files []string) html {
	if len(files) == 0 {
		return ""
	}
	more := ""
	if len(files) > 1 {
		more = " and " + strconv.Itoa(len(files)-1) + " more"
	}
	return el("span", el("code", placeName(files[0], "")), more)
}

// foundBy are the words by which a search found a record.
func foundBy(y *client.Why) string {
	var words []string
	for i, t := range y.Terms {
		if i == 4 {
			break
		}
		words = append(words, t.Word)
	}
	if len(words) == 0 {
		return "what stands near it"
	}
	return inWords(words)
}
