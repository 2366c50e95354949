package recall

import (
	"context"
	"slices"
	"time"

	"kiro-learn/collector/store"
)

// ContextOptions bound what a prompt is given.
type ContextOptions struct {
	MaxBytes   int       // of the text; 0: 8192
	MaxTokens  int       // of the text, as Tokens estimates them; 0: a quarter of MaxBytes
	MaxRecords int       // 0: 10
	Now        time.Time // zero: records of the asking session are left out whatever their age
	Derived    bool      // the session id is derived, so it may outlive a chat: only what is younger than 30 minutes is its own
	// Stale tells of the records that may be shown, best first, which speak of files that are no longer as they were then;
	// nil: none.
	Stale func(records []store.Stored) []bool
	// EventID is the prompt's, and Why says why a record is shown; both are remembered with what is shown.
	EventID string
	Why     func(r *Result) string
}

// Context is what a prompt is given. Without a relevant record it is empty.
type Context struct {
	Text    string
	Records []Result // those in Text, best first
}

// considered is how many records the choice for a prompt is made from.
const considered = 60

// ownAge is how long a record of a derived session counts as its own.
const ownAge = 30 * time.Minute

// Context gives the records that matter for a prompt, as text for the agent. Records below the floor of relevance, of
// the asking session itself, those it has been shown in the same revision, and repetitions are left out. What is
// returned is remembered as shown when the query names its session. Errors are those of the source.
func (e *Engine) Context(ctx context.Context, q Query, o ContextOptions) (Context, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = 8192
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = o.MaxBytes / 4
	}
	if o.MaxRecords == 0 {
		o.MaxRecords = 10
	}
	f, err := e.find(ctx, q, false)
	if err != nil || f == nil {
		return Context{}, err
	}
	var shown map[int64]int64
	if q.SessionID != "" {
		if shown, err = e.src.Shown(ctx, q.Namespace, q.SessionID); err != nil {
			return Context{}, err
		}
	}
	relevant := f.relevant()
	if len(relevant) == 0 {
		return Context{}, nil
	}
	if err := e.load(ctx, f, q.Namespace, relevant); err != nil {
		return Context{}, err
	}
	chosen := f.choose(relevant, &q, &o, shown)
	if len(chosen) == 0 {
		return Context{}, nil
	}
	results := f.results(chosen)
	o.markStale(results)
	text, records := blockWithin(results, o.MaxBytes, o.MaxTokens, o.MaxRecords)
	if len(records) == 0 || q.SessionID == "" {
		return Context{text, records}, nil
	}
	showing := store.Showing{Namespace: q.Namespace, SessionID: q.SessionID, EventID: o.EventID, Records: make([]store.Stored, len(records))}
	for i := range records {
		showing.Records[i] = records[i].Stored
		if o.Why != nil {
			showing.Why = append(showing.Why, o.Why(&records[i]))
		}
	}
	if err := e.src.MarkShown(ctx, showing); err != nil {
		return Context{}, err
	}
	return Context{text, records}, nil
}

// markStale asks about the best of the results only: few of the others will be shown.
func (o *ContextOptions) markStale(results []Result) {
	if o.Stale == nil {
		return
	}
	best := results[:min(len(results), 2*o.MaxRecords)]
	stored := make([]store.Stored, len(best))
	for i := range best {
		stored[i] = best[i].Stored
	}
	for i, stale := range o.Stale(stored) {
		if i < len(best) {
			best[i].Stale = stale
		}
	}
}

// choose takes the records that a prompt may be given, best first.
func (f *found) choose(relevant []scored, q *Query, o *ContextOptions, shown map[int64]int64) []scored {
	var out []scored
	for _, s := range relevant {
		r, ok := f.byID[s.doc.id]
		if !ok {
			continue
		}
		if rev, ok := shown[r.ID]; ok && rev == r.Revision {
			continue
		}
		if own(&r, q, o) {
			continue
		}
		if slices.ContainsFunc(out, func(o scored) bool { return alike(o.doc, s.doc) }) {
			continue
		}
		if out = append(out, s); len(out) == considered {
			break
		}
	}
	return out
}

// own tells whether a record was made from the asking session, so that the agent still has it before its eyes.
func own(r *store.Stored, q *Query, o *ContextOptions) bool {
	if q.SessionID == "" || r.SessionID != q.SessionID {
		return false
	}
	return !o.Derived || o.Now.IsZero() || o.Now.Sub(r.Created) <= ownAge
}
