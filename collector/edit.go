package collector

import (
	"encoding/json"
	"net/http"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// putMemory puts what a person has written in the place of a record. The record keeps its source and its time; as it was
// before, it stays in the history of the new one.
func (c *Collector) putMemory(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/json")
	if !ok {
		return
	}
	was, there, err := c.store.Record(r.Context(), r.PathValue("id"))
	if err != nil {
		c.internal(w, "read the record", err)
		return
	}
	if !there || was.Type != "" { // what is said of a session as a whole is made anew as it goes on
		reply(w, http.StatusNotFound, map[string]string{"error": "there is no record with this id", "code": "record_not_found"})
		return
	}
	in := client.Edited{Title: was.Title, Summary: was.Summary, Facts: was.Facts, Concepts: was.Concepts, FilesTouched: was.FilesTouched, ObservationType: was.ObservationType}
	if err := json.Unmarshal(b, &in); err != nil {
		fail(w, http.StatusBadRequest, "the request must be a JSON object with the fields that change", nil)
		return
	}
	rec := was.Record
	rec.RecordID = c.recordID()
	rec.Title, rec.Summary, rec.Facts, rec.Concepts, rec.FilesTouched, rec.ObservationType = in.Title, in.Summary, in.Facts, in.Concepts, in.FilesTouched, in.ObservationType
	c.scrubRecord(&rec)
	if p := rec.Problems(); len(p) > 0 {
		refuse(w, &invalid{p})
		return
	}
	if same(&rec, &was.Record) {
		reply(w, http.StatusOK, was.Record)
		return
	}
	if ok, err = c.store.Edit(r.Context(), was.RecordID, rec); err != nil || !ok {
		c.internal(w, "save the record", err)
		return
	}
	reply(w, http.StatusOK, rec)
}

// same tells whether two records say the same, whatever their ids.
func same(a, b *event.Record) bool {
	x, y := *a, *b
	x.RecordID, y.RecordID = "", ""
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && string(p) == string(q)
}
