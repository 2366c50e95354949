package collector

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"kiro-learn/collector/client"
	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// forAgent tells whether an answer is going to be read by an agent, so that stored text in it must not pose as anything
// else. People and programs are given it as it is.
func forAgent(r *http.Request) bool { return r.URL.Query().Get("neutral") == "true" }

// neutral makes a record's text safe to show to an agent.
func neutral(rec *event.Record) {
	rec.Title, rec.Summary = neutralLine(rec.Title), recall.Neutral(rec.Summary)
	for _, texts := range []*[]string{&rec.Facts, &rec.Concepts, &rec.FilesTouched} {
		out := make([]string, len(*texts)) // what is shown is a copy: the caller's may be cached
		for i, t := range *texts {
			out[i] = neutralLine(t)
		}
		*texts = out
	}
}

func neutralLine(s string) string { return strings.ReplaceAll(recall.Neutral(s), "\n", " ") }

const (
	timelineItems = 20
	timelineChars = 300 // of an item
)

// getTimeline tells what happened in a session, or around an event in its session, or in the events that are named, in a
// line or so each, oldest first. It is made for agents: all text is neutralised.
func (c *Collector) getTimeline(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, ok := number(w, r, "limit", timelineItems, 1, 200)
	if !ok {
		return
	}
	chars, ok := number(w, r, "chars", timelineChars, 20, 8000)
	if !ok {
		return
	}
	ns := q.Get("namespace")
	if ns == "" {
		fail(w, http.StatusBadRequest, "namespace must not be empty", nil)
		return
	}
	var events []event.Event
	var err error
	switch {
	case len(q["event_id"]) > 0:
		events, err = c.named(r.Context(), ns, q["event_id"], limit)
	case q.Get("around") != "":
		events, err = c.around(r.Context(), ns, q.Get("around"), limit)
	default:
		events, _, err = c.store.Events(r.Context(), store.EventQuery{Namespace: ns, SessionID: q.Get("session_id"), Limit: limit})
		slices.Reverse(events)
	}
	if err != nil {
		c.internal(w, "read the events", err)
		return
	}
	out := client.Timeline{Items: make([]client.Moment, 0, len(events))}
	for i := range events {
		out.Items = append(out.Items, moment(&events[i], chars))
	}
	reply(w, http.StatusOK, out)
}

// named are the events of a namespace with the given ids.
func (c *Collector) named(ctx context.Context, ns string, ids []string, limit int) ([]event.Event, error) {
	var out []event.Event
	for _, id := range ids[:min(len(ids), limit)] {
		e, ok, err := c.store.Event(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok && e.Namespace == ns {
			out = append(out, e)
		}
	}
	return out, nil
}

// around are the events before and after one in its session, itself among them; nothing where the namespace has no such
// event.
func (c *Collector) around(ctx context.Context, ns, id string, limit int) ([]event.Event, error) {
	e, ok, err := c.store.Event(ctx, id)
	if err != nil || !ok || e.Namespace != ns {
		return nil, err
	}
	q := store.EventQuery{Namespace: ns, SessionID: e.SessionID, Before: id, Limit: limit / 2}
	var before []event.Event
	if q.Limit > 0 {
		if before, _, err = c.store.Events(ctx, q); err != nil {
			return nil, err
		}
	}
	slices.Reverse(before)
	q.Before, q.From, q.Limit = "", id, limit-len(before)
	after, _, err := c.store.Events(ctx, q)
	return append(before, after...), err
}

// moment is an event in a line or so.
func moment(e *event.Event, chars int) client.Moment {
	m := client.Moment{EventID: e.EventID, SessionID: e.SessionID, Kind: string(e.Kind), Time: e.ValidTime}
	b, err := event.ParseBody(e.Body)
	if err != nil {
		return m
	}
	text := b.Text()
	switch saved := e.Saved(); {
	case saved != nil:
		text = "saved to memory: " + saved.Record.Title
	case e.Kind == event.KindToolUse:
		tool := b.Tool()
		text = tool.Name + " " + string(tool.Input)
		if chars > timelineChars && len(tool.Response) > 0 {
			text = event.CutChars(text, chars/2) + "\n" + string(tool.Response)
		}
	}
	// Cut twice: what is neutralised must not be half a megabyte, and may have grown.
	m.Text = event.CutChars(recall.Neutral(event.CutChars(text, 4*chars)), chars)
	if chars <= timelineChars {
		m.Text = strings.Join(strings.Fields(m.Text), " ")
	}
	return m
}

// shownSessions are sessions with their titles neutralised.
func shownSessions(in []store.Session) []store.Session {
	for i := range in {
		in[i].Title = neutralLine(in[i].Title)
	}
	return in
}
