package collector

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"kiro-learn/collector/client"
	"kiro-learn/collector/extract"
	"kiro-learn/collector/llm"
	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

func (c *Collector) historyRoutes(m *http.ServeMux) {
	m.HandleFunc("GET /v1/memories/{id}/history", c.getHistory)
	m.HandleFunc("POST /v1/memories/{id}/restore", c.postRestore)
}

// alike is how many stored records a new one is compared with.
const alike = 20

// reconcile finds the records that say the same as new ones, by their texts.
func (c *Collector) reconcile(ctx context.Context, made []event.Record) ([]store.Supersession, error) {
	matches, err := c.matches(ctx, made)
	return stands(matches), err
}

// reconcileByModel has the language model judge those that are alike without being the same. When it fails, their texts
// decide. It can only move a record to the history of one that is like it, from where it can be brought back.
func (c *Collector) reconcileByModel(ctx context.Context, made []event.Record) ([]store.Supersession, error) {
	matches, err := c.matches(ctx, made)
	if err != nil {
		return nil, err
	}
	m, err := c.engine.get()
	if err == nil {
		err = extract.Judge(ctx, m, matches, c.scrub.Text)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.Is(err, llm.ErrResting) {
		c.o.Log.Warn("the language model did not judge which records are the same", err)
	}
	return stands(matches), nil
}

// matches finds what is like new records, among the stored ones and among themselves. A search that fails only leaves
// duplicates.
func (c *Collector) matches(ctx context.Context, made []event.Record) (out []extract.Match, err error) {
	for i := range made {
		r := &made[i]
		found, err := c.recall.Search(ctx, recall.Query{Namespace: r.Namespace, Text: extract.Query(r), Types: []string{r.ObservationType}, Limit: alike})
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			c.o.Log.Warn("records could not be compared", err)
			continue
		}
		older := slices.Clone(made[:i])
		for k := range found {
			if !slices.ContainsFunc(older, func(o event.Record) bool { return o.RecordID == found[k].RecordID }) {
				older = append(older, found[k].Record)
			}
		}
		out = append(out, extract.Matches(older, r)...)
	}
	return out, nil
}

func stands(matches []extract.Match) (out []store.Supersession) {
	for _, m := range matches {
		if m.Same {
			old, by := m.Stands()
			out = append(out, store.Supersession{Old: old, New: by, Why: m.Why()})
		}
	}
	return out
}

// getHistory answers what a record stands for, and what stands for it.
func (c *Collector) getHistory(w http.ResponseWriter, r *http.Request) {
	old, by, ok, err := c.store.History(r.Context(), r.PathValue("id"))
	if err != nil {
		c.internal(w, "read the record's history", err)
		return
	}
	if !ok {
		reply(w, http.StatusNotFound, map[string]string{"error": "there is no record with this id", "code": "record_not_found"})
		return
	}
	out := client.History{SupersededBy: by, Supersedes: make([]client.Superseded, len(old))}
	for i, o := range old {
		out.Supersedes[i] = client.Superseded{Record: o.Record, By: o.By, Why: o.Why, At: o.At}
		if forAgent(r) {
			neutral(&out.Supersedes[i].Record)
		}
	}
	reply(w, http.StatusOK, out)
}

func (c *Collector) postRestore(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	ok, err := c.store.Reinstate(r.Context(), id)
	if err != nil {
		c.internal(w, "bring the record back", err)
		return
	}
	rec, there, err := c.store.Record(r.Context(), id)
	switch {
	case err != nil || ok && !there:
		c.internal(w, "bring the record back", errors.Join(err, errors.New("it is not there")))
	case !ok:
		reply(w, http.StatusNotFound, map[string]string{"error": "no record stands for one with this id", "code": "record_not_found"})
	default:
		reply(w, http.StatusOK, rec.Record)
	}
}
