package collector

import (
	"context"
	"errors"
	"net/http"

	"kiro-learn/collector/client"
	"kiro-learn/collector/extract"
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

// reconcile finds the stored records that new ones say again. A search that fails only leaves duplicates.
func (c *Collector) reconcile(ctx context.Context, made []event.Record) (out []store.Supersession, err error) {
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
		older := make([]event.Record, len(found))
		for k := range found {
			older[k] = found[k].Record
		}
		for _, id := range extract.Duplicates(older, r) {
			out = append(out, store.Supersession{Old: id, New: r.RecordID, Why: "duplicate"})
		}
	}
	return out, nil
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
