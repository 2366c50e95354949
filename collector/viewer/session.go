package viewer

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

const sessionEvents = 120 // of a session that one page shows

// turn is what began with one prompt.
type turn struct {
	id      string // of the prompt; of the first event where there is none
	prompt  *moment
	moments []moment
	shown   []client.Shown
}

// session is one session: where it stands, and what happened in it, turn by turn.
func (q *request) oneSession() (page, error) {
	ns, id := q.q.Get("ns"), q.q.Get("id")
	var found struct {
		Items []sessionRow `json:"items"`
	}
	if err := q.api.get(q.ctx, "/v1/sessions", url.Values{"namespace": {ns}, "session_id": {id}}, &found); err != nil {
		return page{}, err
	}
	if id == "" || len(found.Items) == 0 {
		return page{}, errNotThere
	}
	s := found.Items[0]
	turns, older, err := q.turns(&s, q.q.Get("before"))
	if err != nil {
		return page{}, err
	}
	sum, made, err := q.summary(&s)
	if err != nil {
		return page{}, err
	}
	records, err := q.sessionRecords(&s)
	if err != nil {
		return page{}, err
	}
	body := all(
		el("p.crumb", el("a", href("/sessions"), "Sessions"), " / ", el("a", href(link("/sessions", "project", s.Namespace)), placeName(s.ProjectPath, s.Namespace))),
		el("div.head", el("h1", event.CutChars(s.name(), lineChars)), stateTag(s.State)),
		el("p.meta", el("span", surfaceName(s.Surface)), el("span", "began ", q.since(s.Started)), el("span", "last heard ", q.since(s.LastEvent)),
			el("span", many(s.Prompts, "prompt")+", "+many(s.Events, "event")), el("code", event.CutChars(s.SessionID, 40))),
		el("div.columns",
			el("section.main", at("aria-labelledby", "turns-h"), el("h2", at("id", "turns-h"), "What happened"),
				when(older != "", func() html {
					return el("p", el("a.button", href(link("/sessions/one", "ns", s.Namespace, "id", s.SessionID, "before", older)), "Earlier in this session"))
				}),
				el("ol.turns", each(turns, q.turnItem))),
			el("aside", q.summaryCard(sum, made), q.sessionMemory(records), q.forgetSession(&s))))
	return page{title: s.name(), at: "/sessions", body: body}, nil
}

// turns reads the last events of a session before one of them, in turns; older is where to go on, empty at the beginning.
func (q *request) turns(s *sessionRow, before string) (out []turn, older string, err error) {
	var got struct {
		Items []event.Event `json:"items"`
	}
	err = q.api.get(q.ctx, "/v1/events", url.Values{"namespace": {s.Namespace}, "session_id": {s.SessionID}, "limit": {strconv.Itoa(sessionEvents)}, "chars": {strconv.Itoa(textChars)}, "before": {before}}, &got)
	if err != nil {
		return nil, "", err
	}
	var shown struct {
		Items []client.Shown `json:"items"`
	}
	if err := q.api.get(q.ctx, "/v1/sessions/"+url.PathEscape(s.SessionID)+"/shown", url.Values{"namespace": {s.Namespace}}, &shown); err != nil {
		return nil, "", err
	}
	if len(got.Items) == sessionEvents {
		older = got.Items[len(got.Items)-1].EventID
	}
	at := map[string]int{} // the turn of a prompt
	for i := range slices.Backward(got.Items) {
		m := newMoment(&got.Items[i])
		k, known := at[m.parent]
		switch {
		case m.kind == string(event.KindPrompt):
			at[m.id] = len(out)
			out = append(out, turn{id: m.id, prompt: &m})
		case known:
			out[k].moments = append(out[k].moments, m)
		case len(out) > 0 && m.parent == "":
			out[len(out)-1].moments = append(out[len(out)-1].moments, m)
		default:
			if m.parent != "" {
				at[m.parent] = len(out)
			}
			out = append(out, turn{id: m.id, moments: []moment{m}})
		}
	}
	for _, v := range shown.Items {
		if k, ok := at[v.EventID]; ok {
			out[k].shown = append(out[k].shown, v)
		} else if v.EventID == "" && len(out) > 0 && older == "" { // at its start, or before it was noted at which prompt
			out[0].shown = append(out[0].shown, v)
		}
	}
	return out, older, nil
}

func (q *request) turnItem(t *turn) html {
	var head html
	if t.prompt != nil {
		head = el("div.said.you", at("id", t.id), el("div.meta", el("span.kind", "You"), " ", q.since(t.prompt.at)), t.prompt.shown())
		head = all(head, q.shownAt(t))
	} else {
		head = all(when(len(t.shown) > 0, func() html { return q.shownAt(t) }), el("div", at("id", t.id)))
	}
	return el("li.turn", head, each(t.moments, func(m *moment) html {
		name := kindName(m.kind)
		if m.kind == string(event.KindSessionSummary) {
			return el("div.said.agent", at("id", m.id), el("div.meta", el("span.kind", "Agent"), " ", q.since(m.at)), m.shown())
		}
		if m.kind == string(event.KindToolUse) {
			return el("div.did", at("id", m.id), m.shown())
		}
		return el("div.noted", at("id", m.id), el("div.meta", el("span.kind", name), " ", q.since(m.at)), m.shown())
	}))
}

// shownAt tells what the agent was shown with a prompt, and why.
func (q *request) shownAt(t *turn) html {
	if len(t.shown) == 0 {
		return el("p.shown.none", "The agent was shown nothing new: no memory was relevant enough, or it had been shown before in this session.")
	}
	return el("details.shown", el("summary", "The agent was shown "+many(len(t.shown), "memory")), el("ul", each(t.shown, func(v *client.Shown) html {
		return el("li", el("a", href("/memory/"+url.PathEscape(v.Record.RecordID)), v.Record.Title), " ", typeTag(v.Record.ObservationType), reason(v.Why))
	})))
}

// reason says in a sentence why a record was shown, or found.
func reason(y *client.Why) html {
	if y == nil {
		return el("p.why.dim", "Why was not noted.")
	}
	var words []any
	for i, t := range y.Terms {
		if i == 8 {
			break
		}
		words = append(words, el("li", el("b", t.Word), " in its "+inWords(t.Fields), el("span.dim", " · in "+many(t.Records, "memory")+" of the project")))
	}
	rest := y.Score - y.Own
	return el("div.why", el("p", "Because it holds words of the prompt:"), el("ul", words...),
		when(len(words) == 0, func() html { return el("p.dim", "None of its own: it stands beside memory that does.") }),
		el("p.dim", "Score "+unit(y.Score)+": "+unit(y.Own)+" by its own words, "+unit(max(rest, 0))+" by what stands near, dates, sessions and files."))
}

// inWords are names as a sentence lists them.
func inWords(names []string) string {
	var b []byte
	for i, n := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b = append(b, " and "...)
		case i > 0:
			b = append(b, ", "...)
		}
		b = append(b, n...)
	}
	return string(b)
}

// summary is where a session stands: by a model where it made one, else by rules; made says by which.
func (q *request) summary(s *sessionRow) (sum client.Summary, made string, err error) {
	ask := func(what string) error {
		sum = client.Summary{}
		return q.api.get(q.ctx, "/v1/sessions/"+url.PathEscape(s.SessionID)+"/"+what, url.Values{"namespace": {s.Namespace}}, &sum)
	}
	if err := ask("summary"); err != nil && !isStatus(err, http.StatusNotFound) {
		return sum, "", err
	}
	if len(sum.Intents) > 0 {
		made = "made by a language model"
		if sum.Stale {
			made += "; the session has gone on since"
		}
		return sum, made, nil
	}
	err = ask("outline")
	if isStatus(err, http.StatusNotFound) {
		return client.Summary{}, "", nil
	}
	return sum, "made by rules from its events", err
}

func (q *request) summaryCard(s client.Summary, made string) html {
	if len(s.Intents) == 0 {
		return el("section.card", el("h2", "Where it stands"), el("p.dim", "Nothing was asked for in it yet."))
	}
	return el("section.card", el("h2", "Where it stands"), el("p.dim", made), el("ul.intents", each(s.Intents, func(in *client.Intent) html {
		return el("li", stateTag(in.State), el("b", in.Title),
			when(in.Verified != nil && !*in.Verified && in.State == "needs-you", func() html { return el("p.dim", "Nobody has seen it work since the last change.") }),
			el("ul", each(in.Progress, func(p *string) html { return el("li", *p) })),
			when(len(in.NextSteps) > 0, func() html {
				return all(el("h4", "Next"), el("ul", each(in.NextSteps, func(n *client.Step) html {
					return el("li", n.What, when(n.Why != "", func() html { return el("span.dim", " because "+n.Why) }))
				})))
			}))
	})), when(len(s.Constraints) > 0, func() html {
		return all(el("h4", "Rules that you gave"), el("ul", each(s.Constraints, func(c *string) html { return el("li", *c) })))
	}))
}

func (q *request) sessionRecords(s *sessionRow) ([]event.Record, error) {
	var got struct {
		Items []event.Record `json:"items"`
	}
	err := q.api.get(q.ctx, "/v1/memories", url.Values{"namespace": {s.Namespace}, "session_id": {s.SessionID}, "limit": {"100"}}, &got)
	return got.Items, err
}

func (q *request) sessionMemory(records []event.Record) html {
	if len(records) == 0 {
		return el("section.card", el("h2", "Remembered from it"), el("p.dim", "Nothing yet. What happens is distilled a few seconds after a turn ends; a turn in which nothing is decided, changed or found may leave nothing."))
	}
	return el("section.card", el("h2", "Remembered from it"), el("ul.plain", each(records, func(r *event.Record) html {
		return el("li", typeTag(r.ObservationType), " ", el("a", href("/memory/"+url.PathEscape(r.RecordID)), r.Title))
	})))
}

func (q *request) forgetSession(s *sessionRow) html {
	return el("section.card", q.form("/sessions/forget", "", hidden("ns", s.Namespace), hidden("id", s.SessionID), el("button.danger", "Forget this session")),
		el("p.dim", "Its events and what was remembered from it go. It can be undone for a week."))
}

// sessionForget takes a session out of memory.
func (q *request) sessionForget() (page, error) {
	f := q.r.PostForm
	if f.Get("id") == "" || f.Get("ns") == "" {
		return page{}, errNotThere
	}
	return q.forget(client.Selection{Namespace: f.Get("ns"), Session: f.Get("id")}, "/sessions")
}
