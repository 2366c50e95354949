package collector

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/collector/recall"
	"kiro-learn/internal/event"
)

const (
	keptRetrievals = 50  // prompts whose recall is remembered
	keptTimes      = 500 // of which the time is remembered
	promptChars    = 120 // of a prompt that is shown with it
)

// retrievals remembers what the last prompts were shown, and why. It holds ids and the words that met, no prompts and no
// records: these are read from the store when somebody asks, so that what was forgotten is not told here either.
type retrievals struct {
	mu    sync.Mutex
	last  []retrieval // oldest first
	times []client.Took
}

type retrieval struct {
	event   string
	at      time.Time
	latency float64 // milliseconds
	records []string
	why     []client.Why
}

func (r *retrievals) add(v retrieval) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) >= keptRetrievals {
		r.last = slices.Delete(r.last, 0, len(r.last)-keptRetrievals+1)
	}
	r.last = append(r.last, v)
	if len(r.times) >= keptTimes {
		r.times = slices.Delete(r.times, 0, len(r.times)-keptTimes+1)
	}
	r.times = append(r.times, client.Took{At: v.at, MS: v.latency})
}

// took are the times of the last retrievals, the latest last.
func (r *retrievals) took() []client.Took {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.times)
}

// newest are the retrievals that are remembered, the newest first.
func (r *retrievals) newest() []retrieval {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.last)
	slices.Reverse(out)
	return out
}

// remember keeps what a prompt was shown.
func (c *Collector) remember(e *event.Event, shown []recall.Result, latency float64) {
	v := retrieval{event: e.EventID, at: c.o.Now(), latency: latency}
	for i := range shown {
		v.records = append(v.records, shown[i].RecordID)
		v.why = append(v.why, why(&shown[i]))
	}
	c.recalled.add(v)
}

// why is an explanation as the API gives it.
func why(r *recall.Result) client.Why {
	out := client.Why{Score: r.Score, Own: r.Explain.Own, Near: r.Explain.Proximity, Terms: []client.WhyTerm{}}
	for _, t := range r.Explain.Terms {
		out.Terms = append(out.Terms, client.WhyTerm{Word: t.Word, Fields: t.Fields, Records: t.Docs, Score: t.Score})
	}
	slices.SortStableFunc(out.Terms, func(a, b client.WhyTerm) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// whyText is an explanation as it is kept with what was shown.
func whyText(r *recall.Result) string {
	b, err := json.Marshal(why(r))
	if err != nil {
		return ""
	}
	return string(b)
}

// whyOf reads an explanation as it is kept; nil where there is none.
func whyOf(text string) *client.Why {
	y := new(client.Why)
	if json.Unmarshal([]byte(text), y) != nil {
		return nil
	}
	return y
}

// getShown answers what a session was shown, the earliest first.
func (c *Collector) getShown(w http.ResponseWriter, r *http.Request) {
	found, err := c.store.ShownRecords(r.Context(), r.URL.Query().Get("namespace"), r.PathValue("id"))
	if err != nil {
		c.internal(w, "read what was shown", err)
		return
	}
	items := make([]client.Shown, len(found))
	for i, v := range found {
		items[i] = client.Shown{EventID: v.EventID, At: v.At, Record: v.Record, Why: whyOf(v.Why)}
	}
	reply(w, http.StatusOK, map[string]any{"items": items})
}

// getRetrievals answers the last prompts, newest first, with the records that each was shown and why.
func (c *Collector) getRetrievals(w http.ResponseWriter, r *http.Request) {
	limit, ok := number(w, r, "limit", 10, 1, keptRetrievals)
	if !ok {
		return
	}
	items := []client.Recalled{}
	for _, v := range c.recalled.newest() {
		item, ok, err := c.recalledBy(r.Context(), &v)
		if err != nil {
			c.internal(w, "read the prompts", err)
			return
		}
		if ns := r.URL.Query().Get("namespace"); !ok || ns != "" && ns != item.Namespace {
			continue
		}
		if items = append(items, item); len(items) == limit {
			break
		}
	}
	reply(w, http.StatusOK, map[string]any{"items": items})
}

// recalledBy is a retrieval with what the store still has of it; ok is false when the prompt was forgotten.
func (c *Collector) recalledBy(ctx context.Context, v *retrieval) (out client.Recalled, ok bool, err error) {
	e, ok, err := c.store.Event(ctx, v.event)
	if err != nil || !ok {
		return out, false, err
	}
	out = client.Recalled{EventID: v.event, Namespace: e.Namespace, SessionID: e.SessionID, At: v.at, LatencyMS: v.latency, Records: []client.Explained{}}
	if body, err := event.ParseBody(e.Body); err == nil {
		out.Prompt = event.CutChars(strings.Join(strings.Fields(body.Text()), " "), promptChars)
	}
	for i, id := range v.records {
		rec, ok, err := c.store.Record(ctx, id)
		if err != nil {
			return out, false, err
		}
		if ok {
			out.Records = append(out.Records, client.Explained{Record: known(&rec), Why: v.why[i]})
		}
	}
	return out, true, nil
}
