package collector

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
	"kiro-learn/internal/session"
)

// postEvent stores one event and, for a prompt that asks for it, recalls. Both run side by side: what is recalled does
// not depend on the prompt's being stored, and its failure never fails the ingest.
func (c *Collector) postEvent(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/json")
	if !ok {
		return
	}
	e, err := c.decode(b)
	if err != nil {
		refuse(w, err)
		return
	}
	recalled := make(chan *client.Retrieval, 1)
	if retrieve := r.URL.Query().Get("retrieve"); retrieve == "true" && e.Kind == event.KindPrompt {
		go func() { recalled <- c.retrieve(r.Context(), &e) }()
	} else {
		recalled <- nil
	}
	stored, err := c.store.AddEvents(r.Context(), []event.Event{e}, c.savedRecords(e)...)
	if err != nil {
		c.internal(w, "store the event", err)
		return
	}
	reply(w, http.StatusOK, client.Receipt{EventID: e.EventID, Stored: stored[0], Retrieval: <-recalled})
}

// refuse answers an event or record that breaks the contract.
func refuse(w http.ResponseWriter, err error) {
	var bad *invalid
	if errors.As(err, &bad) {
		fail(w, http.StatusBadRequest, bad.Error(), bad.problems)
		return
	}
	fail(w, http.StatusBadRequest, err.Error(), []event.Problem{})
}

// retrieve recalls for a prompt within its share of the hook's budget.
func (c *Collector) retrieve(ctx context.Context, e *event.Event) *client.Retrieval {
	begun := time.Now()
	out := &client.Retrieval{Records: []string{}}
	defer func() {
		if recover() != nil {
			c.o.Log.Error("recall failed", errors.New("recall panicked"))
		}
		out.LatencyMS = float64(time.Since(begun).Microseconds()) / 1000
		c.meter.called("recall", time.Since(begun), false)
	}()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.o.Config.Hooks.BudgetMS)*time.Millisecond*3/5)
	defer cancel()
	body, err := event.ParseBody(e.Body)
	if err != nil {
		return out
	}
	text := body.Text()
	if e.Firing != nil && e.Firing.Tail != "" {
		text += "\n\n" + c.scrub.Text(e.Firing.Tail)
	}
	got, err := c.recall.Context(ctx, recall.Query{Namespace: e.Namespace, Text: text, SessionID: e.SessionID},
		recall.ContextOptions{
			MaxBytes: c.o.Config.Hooks.ContextMaxBytes, Now: c.o.Now(), Derived: strings.HasPrefix(e.SessionID, session.DerivedPrefix),
			Stale:   func(records []store.Stored) []bool { return staleIn(e.Source.ProjectPath, records) },
			EventID: e.EventID, Why: whyText,
		})
	if err != nil {
		c.o.Log.Warn("recall failed", err)
		return out
	}
	out.Context = c.scrub.Text(got.Text)
	for _, rec := range got.Records {
		out.Records = append(out.Records, rec.RecordID)
	}
	c.remember(e, got.Records, float64(time.Since(begun).Microseconds())/1000)
	return out
}

// batchLine is the answer to one line of a batch.
type batchLine struct {
	EventID string          `json:"event_id,omitempty"`
	Stored  *bool           `json:"stored,omitempty"`
	Error   string          `json:"error,omitempty"`
	Details []event.Problem `json:"details,omitempty"`
}

// postBatch stores newline-separated events and answers a line for each, in order. A bad line does not stop the others.
func (c *Collector) postBatch(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/x-ndjson", "application/ndjson", "application/json")
	if !ok {
		return
	}
	var lines []batchLine
	var events []event.Event
	var at []int
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		e, err := c.decode(line)
		if err != nil {
			bl := batchLine{EventID: e.EventID, Error: err.Error()}
			if bad := (*invalid)(nil); errors.As(err, &bad) {
				bl.Details = bad.problems
			}
			lines = append(lines, bl)
			continue
		}
		at, events = append(at, len(lines)), append(events, e)
		lines = append(lines, batchLine{EventID: e.EventID})
	}
	if len(events) > 0 {
		stored, err := c.store.AddEvents(r.Context(), events, c.savedRecords(events...)...)
		if err != nil {
			c.internal(w, "store the events", err)
			return
		}
		for i, line := range at {
			lines[line].Stored = &stored[i]
		}
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	for i := range lines {
		if writeLine(w, &lines[i]) != nil {
			return
		}
	}
}

// getEvents answers newest first.
func (c *Collector) getEvents(w http.ResponseWriter, r *http.Request) {
	limit, ok := number(w, r, "limit", 50, 1, 500)
	if !ok {
		return
	}
	chars, ok := number(w, r, "chars", 0, 20, 1<<20)
	if !ok {
		return
	}
	q := r.URL.Query()
	items, total, err := c.store.Events(r.Context(), store.EventQuery{
		Namespace: q.Get("namespace"), SessionID: q.Get("session_id"), ID: q.Get("event_id"),
		Kind: q.Get("kind"), Before: q.Get("before"), Limit: limit,
	})
	if err != nil {
		c.internal(w, "read the events", err)
		return
	}
	for i := range items {
		items[i].Body = cutBody(items[i].Body, chars)
	}
	reply(w, http.StatusOK, map[string]any{"items": items, "total": total})
}
