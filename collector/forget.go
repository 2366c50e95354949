package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
	"kiro-learn/internal/session"
	"kiro-learn/outbox"
)

// forgetRoutes are the calls by which a person takes something out of memory. An agent is offered the smallest of them
// only: one record, which can be brought back.
func (c *Collector) forgetRoutes(m *http.ServeMux) {
	m.HandleFunc("DELETE /v1/memories/{id}", c.deleteMemory)
	m.HandleFunc("DELETE /v1/sessions/{id}", c.deleteSession)
	m.HandleFunc("DELETE /v1/projects", c.deleteProject)
	m.HandleFunc("POST /v1/forget", c.postForget)
	m.HandleFunc("GET /v1/forget", c.getForget)
	m.HandleFunc("POST /v1/forget/undo", c.postUndo)
	m.HandleFunc("POST /v1/forget/purge", c.postPurge)
}

func (c *Collector) deleteMemory(w http.ResponseWriter, r *http.Request) {
	c.answerForget(w, r, store.Selection{Records: []string{r.PathValue("id")}}, "there is no record with this id", "record_not_found")
}

func (c *Collector) deleteSession(w http.ResponseWriter, r *http.Request) {
	sel := store.Selection{Namespace: r.URL.Query().Get("namespace"), Session: cleanID(r.PathValue("id"))}
	if sel.Namespace == "" && !c.onlySession(w, r, &sel) {
		return
	}
	c.answerForget(w, r, sel, "there is no session with this id", "session_not_found")
}

// onlySession finds the namespace of a session that is named without one, or answers and gives false.
func (c *Collector) onlySession(w http.ResponseWriter, r *http.Request, sel *store.Selection) bool {
	if _, err := c.drain(r.Context()); err != nil { // it may still be in the outbox, and must not come in behind us
		c.o.Log.Warn("the outbox could not be drained", err)
	}
	found, err := c.store.SessionSpaces(r.Context(), sel.Session)
	switch {
	case err != nil:
		c.internal(w, "find the session", err)
	case len(found) > 1:
		reply(w, http.StatusConflict, map[string]string{"error": "several projects have a session with this id; name one with namespace", "code": "ambiguous"})
	case len(found) == 1:
		sel.Namespace = found[0]
		return true
	default:
		return true // unknown; the answer says so
	}
	return false
}

func (c *Collector) deleteProject(w http.ResponseWriter, r *http.Request) {
	sel := store.Selection{Namespace: r.URL.Query().Get("namespace"), All: true}
	if sel.Namespace == "" {
		fail(w, http.StatusBadRequest, "namespace must not be empty", nil)
		return
	}
	c.answerForget(w, r, sel, "there is nothing of this project", "project_not_found")
}

func (c *Collector) answerForget(w http.ResponseWriter, r *http.Request, sel store.Selection, none, code string) {
	got, err := c.forget(r.Context(), w, sel, r.URL.Query().Get("now") == "true", r.URL.Query().Get("dry_run") == "true")
	if err != nil {
		c.internal(w, "forget", err)
		return
	}
	if got.Empty() {
		reply(w, http.StatusNotFound, map[string]string{"error": none, "code": code})
		return
	}
	reply(w, http.StatusOK, c.shownForgotten(got))
}

func (c *Collector) postForget(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/json")
	if !ok {
		return
	}
	var in client.Selection
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields() // a misspelt dry_run must not delete
	if err := dec.Decode(&in); err != nil {
		fail(w, http.StatusBadRequest, "the selection is not a JSON object of the right shape: "+strings.TrimPrefix(err.Error(), "json: "), nil)
		return
	}
	sel, problem := selection(in)
	if problem != "" {
		fail(w, http.StatusBadRequest, problem, nil)
		return
	}
	if sel.Session != "" && sel.Namespace == "" && sel.Contains == "" && sel.Before.IsZero() && !c.onlySession(w, r, &sel) {
		return
	}
	got, err := c.forget(r.Context(), w, sel, in.Now, in.DryRun)
	if err != nil {
		c.internal(w, "forget", err)
		return
	}
	reply(w, http.StatusOK, c.shownForgotten(got))
}

// selection reads what is to be forgotten; problem says what is wrong with it.
func selection(in client.Selection) (sel store.Selection, problem string) {
	sel = store.Selection{Namespace: in.Namespace, Records: in.Records, Events: in.Events, Session: cleanID(in.Session), All: in.All, Contains: in.Contains}
	if in.Before != "" {
		t, err := time.Parse(time.RFC3339Nano, in.Before)
		if err != nil {
			return sel, "before must be a time such as 2026-01-31T12:00:00Z"
		}
		sel.Before = t
	}
	ids, search := len(sel.Records)+len(sel.Events) > 0, sel.Contains != "" || !sel.Before.IsZero()
	switch {
	case sel.Contains != "" && strings.TrimSpace(sel.Contains) == "":
		return sel, "contains must not be blank: everything holds a space"
	case ids && (search || sel.All || sel.Session != ""), sel.All && (search || sel.Session != ""):
		return sel, "name ids, or a session, or all, or a text and an age: not several of them"
	case !ids && !search && !sel.All && sel.Session == "":
		return sel, "nothing is selected"
	case sel.All && sel.Namespace == "":
		return sel, "all needs a namespace"
	}
	return sel, ""
}

// forget takes out of every place what is selected. What still waits in the outbox is stored first, so that it is
// selected too. Afterwards nothing of it is in the quarantine, the hooks' files or, if now is set, the database; else it
// waits there in the trash.
func (c *Collector) forget(ctx context.Context, w http.ResponseWriter, sel store.Selection, now, dry bool) (store.Forgotten, error) {
	longAnswer(w)
	if _, err := c.drain(ctx); err != nil {
		c.o.Log.Warn("the outbox could not be drained", err)
	}
	if dry {
		return c.store.WouldForget(ctx, sel, now)
	}
	places, err := c.places(ctx, sel)
	if err != nil {
		return store.Forgotten{}, err
	}
	got, err := c.store.Forget(ctx, sel, now)
	if err != nil {
		return got, err
	}
	for _, p := range places { // losing these costs an event its parent's id, nothing else
		if err := (session.Store{Dir: c.o.Dirs.Sessions()}).Remove(p.Namespace, p.SessionID); err != nil {
			return got, err
		}
	}
	if err := c.forgetRefused(sel); err != nil || !now {
		return got, err
	}
	return got, c.store.Erase(ctx)
}

// places are the sessions that a selection takes whole, as far as it names them.
func (c *Collector) places(ctx context.Context, sel store.Selection) (out []store.Session, err error) {
	switch {
	case sel.Session != "" && sel.Contains == "" && sel.Before.IsZero():
		return []store.Session{{Namespace: sel.Namespace, SessionID: sel.Session}}, nil
	case sel.All:
		for {
			items, total, err := c.store.Sessions(ctx, sel.Namespace, 500, len(out))
			if err != nil {
				return nil, err
			}
			if out = append(out, items...); len(out) >= total || len(items) == 0 {
				return out, nil
			}
		}
	}
	return nil, nil
}

// forgetRefused deletes from the quarantine what belongs to a selection, or may: damaged bytes belong to whatever they
// name.
func (c *Collector) forgetRefused(sel store.Selection) error {
	_, err := c.queue.Purge(func(q outbox.Quarantine) bool {
		var e event.Event
		if json.Unmarshal(q.Data, &e) != nil || e.SessionID == "" && e.Namespace == "" {
			return named(q.Data, sel)
		}
		switch {
		case sel.Contains != "":
			return (sel.Namespace == "" || sel.Namespace == e.Namespace) && strings.Contains(strings.ToLower(string(q.Data)), strings.ToLower(sel.Contains))
		case sel.All:
			return e.Namespace == sel.Namespace
		case sel.Session != "" && sel.Before.IsZero():
			return e.SessionID == sel.Session && (e.Namespace == sel.Namespace || e.Namespace == "")
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("forget what was set aside: %w", err)
	}
	return nil
}

func named(b []byte, sel store.Selection) bool {
	for _, s := range []string{sel.Contains, sel.Session, sel.Namespace} {
		if s != "" && strings.Contains(strings.ToLower(string(b)), strings.ToLower(s)) {
			return true
		}
	}
	return false
}

// shownForgotten is what a client is told.
func (c *Collector) shownForgotten(f store.Forgotten) client.Forgotten {
	out := client.Forgotten{ID: f.ID, At: f.At, What: f.What, Events: f.Events, Records: f.Records, Sessions: f.Sessions, Related: f.Related}
	if f.ID != 0 {
		out.Until = f.At.Add(c.grace())
	}
	return out
}

// grace is how long what is forgotten can be brought back.
func (c *Collector) grace() time.Duration { return time.Duration(c.o.Config.Retention.Forgotten) }

func (c *Collector) getForget(w http.ResponseWriter, r *http.Request) {
	found, err := c.store.Forgettings(r.Context())
	if err != nil {
		c.internal(w, "list what was forgotten", err)
		return
	}
	items := make([]client.Forgotten, len(found))
	for i, f := range found {
		items[i] = c.shownForgotten(f)
	}
	reply(w, http.StatusOK, map[string]any{"items": items})
}

func (c *Collector) postUndo(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/json")
	if !ok {
		return
	}
	var in struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		fail(w, http.StatusBadRequest, "the request must be a JSON object with an id", nil)
		return
	}
	got, err := c.store.Restore(r.Context(), in.ID)
	if errors.Is(err, store.ErrNothing) {
		reply(w, http.StatusNotFound, map[string]string{"error": err.Error(), "code": "nothing_to_undo"})
		return
	}
	if err != nil {
		c.internal(w, "bring back what was forgotten", err)
		return
	}
	got.ID = 0
	c.worker.Wake() // some of it may wait to be distilled
	reply(w, http.StatusOK, c.shownForgotten(got))
}

func (c *Collector) postPurge(w http.ResponseWriter, r *http.Request) {
	longAnswer(w)
	n, err := c.purge(r.Context(), c.o.Now().Add(time.Second))
	if err != nil {
		c.internal(w, "let go what was forgotten", err)
		return
	}
	reply(w, http.StatusOK, map[string]int{"purged": n})
}

// purge lets go what was forgotten before a time, and erases it from the file.
func (c *Collector) purge(ctx context.Context, before time.Time) (int, error) {
	n, err := c.store.Purge(ctx, before)
	if err != nil || n == 0 {
		return n, err
	}
	return n, c.store.Erase(ctx)
}

// longAnswer lets an answer take longer than a request may: a big database is written anew.
func longAnswer(w http.ResponseWriter) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // one that cannot be set is one that does not hold
	_ = rc.SetWriteDeadline(time.Time{})
}
