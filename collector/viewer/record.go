package viewer

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// oneRecord is a record as the API gives it alone.
type oneRecord struct {
	event.Record
	RecordType string              `json:"record_type"` // of one about a session as a whole
	SessionID  string              `json:"session_id"`
	Stale      bool                `json:"stale"`
	Shown      []client.WhereShown `json:"shown"`
}

func recordPath(id string) string { return "/memory/" + url.PathEscape(id) }

// record shows one record whole: what it says, where it comes from, what it stands for.
func (q *request) record() (page, error) {
	id := q.r.PathValue("id")
	var history client.History
	if err := q.api.get(q.ctx, "/v1/memories/"+url.PathEscape(id)+"/history", nil, &history); err != nil {
		return page{}, err
	}
	if history.SupersededBy != "" { // it is in the history of another one now
		return q.to(link(recordPath(history.SupersededBy), "done", q.q.Get("done")))
	}
	var r oneRecord
	if err := q.api.get(q.ctx, "/v1/memories/"+url.PathEscape(id), url.Values{"check": {"true"}}, &r); err != nil {
		return page{}, err
	}
	names, err := q.names()
	if err != nil {
		return page{}, err
	}
	sources, err := q.sources(&r)
	if err != nil {
		return page{}, err
	}
	made, _ := time.Parse(time.RFC3339Nano, r.CreatedAt) // the zero time says that there is none
	name, ok := names[r.Namespace]
	if !ok {
		name = placeName("", r.Namespace)
	}
	body := all(el("p.crumb", el("a", href("/memory"), "Memory"), " / ", el("a", href(link("/memory", "project", r.Namespace)), name)),
		el("div.head", el("h1", r.Title), typeTag(r.ObservationType)),
		el("p.meta", el("span", "from ", q.since(made)), el("span", strategyName(r.Strategy)),
			when(r.SessionID != "", func() html {
				return el("a", href(link("/sessions/one", "ns", r.Namespace, "id", r.SessionID)+"#"+first(r.SourceEventIDs)), "the session it comes from")
			})),
		when(r.Stale, func() html {
			return el("p.warnbox", "Out of date, perhaps: the files that it speaks of are gone or were changed after it. An agent that is shown it is told so.")
		}),
		el("div.columns",
			el("section.main", el("h2.unseen", "What it says"), el("div.says", el("p.text", r.Summary)),
				listOf("Facts", r.Facts, func(s string) html { return el("span", s) }),
				listOf("Files", r.FilesTouched, func(s string) html {
					return el("a", href(link("/memory", "project", r.Namespace, "file", s)), el("code", s))
				}),
				when(len(r.Concepts) > 0, func() html {
					return all(el("h3", "Concepts"), el("ul.chips", each(r.Concepts, func(c *string) html {
						return el("li", el("a", href(link("/memory", "project", r.Namespace, "q", *c)), *c))
					})))
				}),
				q.history(history)),
			el("aside", el("section.card", el("h2", "Change it"), when(r.RecordType == "", func() html { return el("p", el("a.button", href(recordPath(id)+"/edit"), "Edit")) }),
				q.form(recordPath(id)+"/forget", "", el("button.danger", "Forget it")),
				el("p.dim", "Forgetting takes the turn that it was made from with it, so that it is not made again. It can be undone for a week.")),
				sources, q.whereShown(&r))))
	return page{title: r.Title, at: "/memory", body: body}, nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func strategyName(s string) string {
	switch s {
	case event.StrategyRules:
		return "made by rules"
	case event.StrategyModel:
		return "made by a language model"
	case event.StrategyMCPObservation, event.StrategyMCPSessionSummary:
		return "saved by the agent"
	}
	return s
}

func listOf(title string, items []string, f func(string) html) html {
	if len(items) == 0 {
		return ""
	}
	return all(el("h3", title), el("ul.facts", each(items, func(s *string) html { return el("li", f(*s)) })))
}

// sources are the events that a record was made of, as far as they are still there.
func (q *request) sources(r *oneRecord) (html, error) {
	var kids []any
	for i, id := range r.SourceEventIDs {
		if i == 12 {
			break
		}
		var got struct {
			Items []event.Event `json:"items"`
		}
		if err := q.api.get(q.ctx, "/v1/events", url.Values{"event_id": {id}, "chars": {"600"}, "limit": {"1"}}, &got); err != nil {
			return "", err
		}
		for k := range got.Items {
			m := newMoment(&got.Items[k])
			text := m.text
			if m.tool != "" {
				text = m.tool + " " + m.input
			}
			kids = append(kids, el("li", el("span.kind", kindName(m.kind)), " ",
				el("a", href(link("/sessions/one", "ns", m.namespace, "id", m.session)+"#"+m.id), event.CutChars(oneLine(text), 90)), " ", q.since(m.at)))
		}
	}
	if len(kids) == 0 {
		return el("section.card", el("h2", "Made from"), el("p.dim", "The events are no longer here: it was imported, or they were let go for their age.")), nil
	}
	return el("section.card", el("h2", "Made from"), el("ul.plain", kids...)), nil
}

// whereShown tells where an agent was shown a record, and why.
func (q *request) whereShown(r *oneRecord) html {
	if len(r.Shown) == 0 {
		return el("section.card", el("h2", "Shown to the agent"), el("p.dim", "Never so far. It is shown with a prompt that it matters for."))
	}
	return el("section.card", el("h2", "Shown to the agent"), el("ul.plain", each(r.Shown, func(v *client.WhereShown) html {
		words := ""
		if v.Why != nil {
			words = ", by " + foundBy(v.Why)
		}
		at := ""
		if v.EventID != "" {
			at = "#" + v.EventID
		}
		return el("li", el("a", href(link("/sessions/one", "ns", v.Namespace, "id", v.SessionID)+at), "in this session"), " ", q.since(v.At), el("span.dim", words))
	})))
}

// history are the records that one stands for, each with a way back.
func (q *request) history(h client.History) html {
	if len(h.Supersedes) == 0 {
		return ""
	}
	return all(el("h3", at("id", "history"), "Earlier versions"), el("ol.rows.history", each(h.Supersedes, func(o *client.Superseded) html {
		how := map[string]string{"duplicate": "said the same", "model": "made anew by a language model", "edited": "before an edit"}[o.Why]
		return el("li", el("details", el("summary", o.Title, " ", el("span.dim", how+", "), q.since(o.At)),
			el("p.text", o.Summary), el("ul.facts", each(o.Facts, func(f *string) html { return el("li", *f) })),
			q.form(recordPath(o.RecordID)+"/restore", "", el("button", "Use this version again"))))
	})))
}

// editForm lets a person change what a record says.
func (q *request) editForm() (page, error) {
	var r oneRecord
	if err := q.api.get(q.ctx, "/v1/memories/"+url.PathEscape(q.r.PathValue("id")), nil, &r); err != nil {
		return page{}, err
	}
	return q.editPage(&r, ""), nil
}

func (q *request) editPage(r *oneRecord, problem string) page {
	kinds := []any{at("name", "type"), at("id", "f-type")}
	for _, t := range event.ObservationTypes() {
		kinds = append(kinds, el("option", at("value", t), on("selected", t == r.ObservationType), typeName(t)))
	}
	area := func(name, label string, rows int, value string) html {
		return all(el("label", at("for", "f-"+name), label), el("textarea", at("id", "f-"+name), at("name", name), at("rows", strconv.Itoa(rows)), "\n"+value))
	}
	return page{title: "Edit", at: "/memory", body: all(
		el("p.crumb", el("a", href("/memory"), "Memory"), " / ", el("a", href(recordPath(r.RecordID)), event.CutChars(r.Title, 60))),
		el("h1", "Edit"), when(problem != "", func() html { return el("p.warnbox", at("role", "alert"), "Not saved: "+problem) }),
		q.form(recordPath(r.RecordID)+"/edit", "edit",
			el("label", at("for", "f-title"), "Title"), el("input", at("id", "f-title"), at("name", "title"), at("value", r.Title), at("maxlength", strconv.Itoa(event.MaxTitle)), at("required", "")),
			el("label", at("for", "f-type"), "Type"), el("select", kinds...),
			area("summary", "What it says", 8, r.Summary), area("facts", "Facts, one a line", 6, lines(r.Facts)),
			area("files", "Files, one a line", 4, lines(r.FilesTouched)), area("concepts", "Concepts, one a line", 3, lines(r.Concepts)),
			el("p", el("button.primary", "Save"), " ", el("a.button", href(recordPath(r.RecordID)), "Leave it")),
			el("p.dim", "As it is now it is kept in the history, and can be used again.")))}
}

// edit saves what a person has written.
func (q *request) edit() (page, error) {
	id, f := q.r.PathValue("id"), q.r.PostForm
	e := client.Edited{
		Title: f.Get("title"), Summary: f.Get("summary"), ObservationType: f.Get("type"),
		Facts: fields(f.Get("facts")), FilesTouched: fields(f.Get("files")), Concepts: fields(f.Get("concepts")),
	}
	var saved event.Record
	err := q.api.call(q.ctx, http.MethodPut, "/v1/memories/"+url.PathEscape(id), e, &saved)
	if isStatus(err, http.StatusBadRequest) {
		return q.editPage(&oneRecord{Record: event.Record{
			RecordID: id, Title: e.Title, Summary: e.Summary, ObservationType: e.ObservationType, Facts: e.Facts, FilesTouched: e.FilesTouched, Concepts: e.Concepts,
		}}, err.Error()), nil
	}
	if err != nil {
		return page{}, err
	}
	return q.to(link(recordPath(saved.RecordID), "done", "edited"))
}

// recordForget takes a record, and the turn that it was made from, out of memory.
func (q *request) recordForget() (page, error) {
	return q.forget(client.Selection{Records: []string{q.r.PathValue("id")}}, "/memory")
}

// forget takes out of memory what is selected, and leads to a page that offers to take that back.
func (q *request) forget(sel client.Selection, then string) (page, error) {
	var got client.Forgotten
	if err := q.api.call(q.ctx, http.MethodPost, "/v1/forget", sel, &got); err != nil {
		return page{}, err
	}
	if got.ID == 0 {
		return page{}, errNotThere
	}
	return q.to(link(then, "done", "forgotten", "n", strconv.FormatInt(got.ID, 10), "related", strings.Join(got.Related[:min(len(got.Related), shownRelated)], " ")))
}

// undo brings back what was forgotten.
func (q *request) undo() (page, error) {
	id, err := strconv.ParseInt(q.r.PostForm.Get("id"), 10, 64)
	if err != nil || id <= 0 {
		return page{}, errNotThere
	}
	if err := q.api.call(q.ctx, http.MethodPost, "/v1/forget/undo", map[string]int64{"id": id}, nil); err != nil {
		return page{}, err
	}
	return q.to("/memory?done=undone")
}

// restore uses an earlier version of a record again.
func (q *request) restore() (page, error) {
	id := q.r.PathValue("id")
	if err := q.api.call(q.ctx, http.MethodPost, "/v1/memories/"+url.PathEscape(id)+"/restore", nil, nil); err != nil {
		return page{}, err
	}
	return q.to(link(recordPath(id), "done", "restored"))
}

// forgotten lists what can still be brought back.
func (q *request) forgotten() (page, error) {
	var got struct {
		Items []client.Forgotten `json:"items"`
	}
	if err := q.api.get(q.ctx, "/v1/forget", nil, &got); err != nil {
		return page{}, err
	}
	body := all(el("p.crumb", el("a", href("/memory"), "Memory")), el("h1", "Forgotten lately"))
	if len(got.Items) == 0 {
		return page{title: "Forgotten", at: "/memory", body: all(body, emptyNote("Nothing that was forgotten can be brought back.", "What you forget waits here for a week, and then goes for good."))}, nil
	}
	what := map[string]string{"ids": "a memory", "session": "a session", "project": "a project", "search": "what held a text, or was old"}
	return page{title: "Forgotten", at: "/memory", body: all(body, el("p.dim", "Nothing finds it any more. What it said is not shown here, either."), el("ol.rows", each(got.Items, func(f *client.Forgotten) html {
		name, ok := what[f.What]
		if !ok {
			name = f.What
		}
		return el("li", el("div.row", el("span", el("b", name), ": "+many(f.Records, "record")+" and "+many(f.Events, "event")),
			q.form("/forget/undo", "", hidden("id", strconv.FormatInt(f.ID, 10)), el("button", "Bring it back"))),
			el("div.meta", q.since(f.At), el("span", "until "+f.Until.Local().Format("2 Jan 15:04"))))
	})))}, nil
}
