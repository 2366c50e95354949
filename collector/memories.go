package collector

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// postMemory stores a record that a client has made: the MCP server or another program. A record id is given once: the
// same record again changes nothing, and another one under it is refused, so that no client rewrites what others said.
func (c *Collector) postMemory(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/json")
	if !ok {
		return
	}
	var rec event.Record
	if err := json.Unmarshal(b, &rec); err != nil {
		fail(w, http.StatusBadRequest, "the record is not a JSON object of the wire contract", []event.Problem{})
		return
	}
	if p := rec.Problems(); len(p) > 0 {
		refuse(w, &invalid{p})
		return
	}
	c.scrubRecord(&rec)
	stands, err := c.reconcile(r.Context(), []event.Record{rec})
	if err != nil {
		c.internal(w, "compare the record", err)
		return
	}
	stored, err := c.store.AddRecord(r.Context(), rec, stands...)
	if errors.Is(err, store.ErrTaken) {
		reply(w, http.StatusConflict, map[string]string{"error": "another record has this record_id; post a record that says otherwise under an id of its own", "code": "record_exists"})
		return
	}
	if err != nil {
		c.internal(w, "store the record", err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"record_id": rec.RecordID, "stored": stored})
}

// filter reads type and since of a query, or answers 400 and gives false.
func filter(w http.ResponseWriter, q url.Values) (f store.Filter, ok bool) {
	f.Session, f.Projects = q.Get("session_id"), q.Get("of") == "projects"
	for _, t := range q["type"] {
		if t == "" {
			continue
		}
		if !event.IsObservationType(t) && !store.IsRecordType(t) {
			fail(w, http.StatusBadRequest, fmt.Sprintf("type must be one of: %v", append(event.ObservationTypes(), store.TypeFullSession, store.TypeChunk)), nil)
			return f, false
		}
		f.Types = append(f.Types, t)
	}
	var okSince, okUntil bool
	f.Since, okSince = instant(w, q, "since")
	if !okSince {
		return f, false
	}
	f.Until, okUntil = instant(w, q, "until")
	return f, okUntil
}

// instant reads a time of the query, or answers 400 and gives false. Without one it is the zero time.
func instant(w http.ResponseWriter, q url.Values, key string) (time.Time, bool) {
	s := q.Get(key)
	if s == "" {
		return time.Time{}, true
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		fail(w, http.StatusBadRequest, key+" must be a time such as 2026-01-31T12:00:00Z", nil)
	}
	return t, err == nil
}

func (c *Collector) getMemories(w http.ResponseWriter, r *http.Request) {
	limit, ok := number(w, r, "limit", 50, 1, 500)
	if !ok {
		return
	}
	offset, ok := number(w, r, "offset", 0, 0, 1<<30)
	if !ok {
		return
	}
	f, ok := filter(w, r.URL.Query())
	if !ok {
		return
	}
	found, total, err := c.store.ListRecords(r.Context(), r.URL.Query().Get("namespace"), f, limit, offset)
	if err != nil {
		c.internal(w, "read the records", err)
		return
	}
	items := make([]givenRecord, len(found))
	for i := range found {
		items[i] = given(r, found[i])
	}
	reply(w, http.StatusOK, map[string]any{"items": items, "total": total})
}

func (c *Collector) getMemory(w http.ResponseWriter, r *http.Request) {
	rec, ok, err := c.store.Record(r.Context(), r.PathValue("id"))
	if err != nil {
		c.internal(w, "read the record", err)
		return
	}
	if !ok {
		reply(w, http.StatusNotFound, map[string]string{"error": "there is no record with this id", "code": "record_not_found"})
		return
	}
	out := given(r, rec)
	out.SessionID = rec.SessionID
	if r.URL.Query().Get("check") == "true" {
		old := c.staleRecord(rec)
		out.Stale = &old
		where, err := c.store.WhereShown(r.Context(), rec.ID, 10)
		if err != nil {
			c.internal(w, "read the record", err)
			return
		}
		for _, v := range where {
			out.Shown = append(out.Shown, client.WhereShown{Namespace: v.Namespace, SessionID: v.SessionID, EventID: v.EventID, At: v.At, Why: whyOf(v.Why)})
		}
	}
	reply(w, http.StatusOK, out)
}

// maxFound is the most records that a search gives.
const maxFound = 100

// searchMemories answers the records that match, best first. Without a namespace all are searched, each by itself.
func (c *Collector) searchMemories(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, ok := number(w, r, "limit", 10, 1, maxFound)
	if !ok {
		return
	}
	f, ok := filter(w, q)
	if !ok {
		return
	}
	if q.Get("query") == "" {
		fail(w, http.StatusBadRequest, "query must not be empty", nil)
		return
	}
	spaces := []string{q.Get("namespace")}
	if spaces[0] == "" {
		spaces = c.searched(f.Types)
	}
	file := q.Get("file")
	ask := limit
	if file != "" || !f.Until.IsZero() {
		ask = maxFound // the choice is made of what is found
	}
	var found []recall.Result
	for _, ns := range spaces {
		got, err := c.recall.Search(r.Context(), recall.Query{Namespace: ns, Text: q.Get("query"), Types: f.Types, Since: f.Since, Limit: ask})
		if err != nil {
			c.internal(w, "search", err)
			return
		}
		found = append(found, got...)
	}
	found = slices.DeleteFunc(found, func(r recall.Result) bool {
		return !f.Until.IsZero() && !r.Created.Before(f.Until) ||
			file != "" && !slices.ContainsFunc(r.FilesTouched, func(name string) bool { return strings.Contains(name, file) })
	})
	if len(spaces) > 1 {
		slices.SortStableFunc(found, func(a, b recall.Result) int {
			switch {
			case a.Score > b.Score:
				return -1
			case a.Score < b.Score:
				return 1
			}
			return 0
		})
	}
	out := make([]givenRecord, 0, limit)
	for i := range found[:min(len(found), limit)] {
		rec := given(r, found[i].Stored)
		if q.Get("explain") == "true" {
			w := why(&found[i])
			rec.Why = &w
		}
		out = append(out, rec)
	}
	reply(w, http.StatusOK, out)
}

// searched are the namespaces of a search that names none: every project's, and where a type of records about sessions is
// asked for, the sessions' own. Else what a session's records say would be found twice.
func (c *Collector) searched(types []string) []string {
	return slices.DeleteFunc(c.store.Namespaces(), func(ns string) bool {
		return store.OfSession(ns) && !slices.ContainsFunc(types, store.IsRecordType)
	})
}

// givenRecord is a record in an answer.
type givenRecord struct {
	client.Record
	SessionID string              `json:"session_id,omitempty"` // of its first source, for who looks at one record
	Why       *client.Why         `json:"why,omitempty"`        // how a search found it, when that was asked for
	Stale     *bool               `json:"stale,omitempty"`      // its files are gone or changed since, when that was asked for
	Shown     []client.WhereShown `json:"shown,omitempty"`      // the last times, when that was asked for
}

func known(s *store.Stored) client.Record {
	return client.Record{Record: s.Record, RecordType: s.Type, About: s.About}
}

// given is a record as the sender of a request is to read it.
func given(r *http.Request, s store.Stored) givenRecord {
	out := givenRecord{Record: known(&s)}
	if forAgent(r) {
		neutral(&out.Record.Record)
	}
	return out
}

// getDigest answers what an agent that starts is shown: where the project's latest other session stood.
func (c *Collector) getDigest(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ns, own := q.Get("namespace"), q.Get("session_id")
	found, _, err := c.store.ListRecords(r.Context(), ns, store.Filter{Types: []string{event.TypeSessionSummary}}, 20, 0)
	if err != nil || ns == "" {
		if err != nil {
			c.o.Log.Warn("the session digest failed", err)
		}
		reply(w, http.StatusOK, map[string]string{"context": ""})
		return
	}
	text := ""
	for _, rec := range found {
		if rec.SessionID != "" && rec.SessionID == own {
			continue
		}
		if text = c.scrub.Text(recall.Digest(rec, c.openSteps(r.Context(), ns, rec.SessionID), maxDigest)); text == "" {
			continue
		}
		if err := c.store.MarkShown(r.Context(), store.Showing{Namespace: ns, SessionID: own, Records: []store.Stored{rec}}); err != nil {
			c.o.Log.Warn("what was shown could not be noted", err)
		}
		break
	}
	reply(w, http.StatusOK, map[string]string{"context": text})
}

// maxDigest is the most bytes that a session digest may have.
const maxDigest = 2048

func (c *Collector) getSessions(w http.ResponseWriter, r *http.Request) {
	limit, ok := number(w, r, "limit", 50, 1, 500)
	if !ok {
		return
	}
	offset, ok := number(w, r, "offset", 0, 0, 1<<30)
	if !ok {
		return
	}
	ns, id, start := r.URL.Query().Get("namespace"), r.URL.Query().Get("session_id"), r.URL.Query().Get("session_id_start")
	var items []store.Session
	var total int
	var err error
	switch {
	case id != "":
		items, err = c.store.FindSession(r.Context(), id)
		items = slices.DeleteFunc(items, func(v store.Session) bool { return ns != "" && v.Namespace != ns })
		total = len(items)
	case start != "":
		items, err = c.store.SessionsFrom(r.Context(), ns, start, limit)
		total = len(items)
	default:
		items, total, err = c.store.Sessions(r.Context(), ns, limit, offset)
	}
	if err != nil {
		c.internal(w, "read the sessions", err)
		return
	}
	if forAgent(r) {
		items = shownSessions(items)
	}
	given, err := c.withStates(r.Context(), ns, items)
	if err != nil {
		c.internal(w, "read the sessions", err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"items": given, "total": total})
}

func (c *Collector) getStats(w http.ResponseWriter, r *http.Request) {
	projects, err := c.store.Stats(r.Context(), r.URL.Query().Get("namespace"))
	if err != nil {
		c.internal(w, "count", err)
		return
	}
	last, err := c.store.LastEvents(r.Context())
	if err != nil {
		c.internal(w, "count", err)
		return
	}
	sum := map[string]int{}
	for _, p := range projects {
		sum["events"] += p.Events
		sum["records"] += p.Records
		sum["sessions"] += p.Sessions
		sum["pending_extraction"] += p.Pending
	}
	engine, err := c.engineState(r.Context())
	if err != nil {
		c.internal(w, "count", err)
		return
	}
	out := map[string]any{"total": sum, "projects": projects, "last_event": last, "engine": engine, "traffic": c.meter.traffic(c.o.Now(), c.started)}
	if d := c.damage.Load(); d != nil {
		out["damage"] = *d
	}
	reply(w, http.StatusOK, out)
}
