// Package recall turns a prompt into terms, finds the memory records of its project that these terms mean, ranks
// them, and renders the best as the block of context that an agent reads. It asks its source for one namespace only
// and checks every record that comes back, so that no project is shown another's. It shows nothing when the evidence
// is thin: silence costs less than noise.
package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"kiro-learn/collector/store"
)

// sessionPause is the pause after which records without a session id count as another session.
const sessionPause = 30 * time.Minute

const (
	maxShares  = 4  // processors that take records apart for one search
	leastShare = 24 // records that are worth another processor
)

// Query is what is searched for, and where.
type Query struct {
	Namespace string
	Text      string    // a prompt of any size and form
	SessionID string    // of the one who asks; may be empty
	Types     []string  // observation types, or types of records about a session; none: all
	Since     time.Time // zero: all
	Limit     int       // at most this many results; 0: 10
}

// Result is a record that matched.
type Result struct {
	store.Stored
	Score   float64
	Matched []string // terms of the prompt that the record itself holds, as they are indexed
	Explain Explain
	Stale   bool // its files are gone or changed since; the agent is told
}

// Explain says how a score came about.
type Explain struct {
	Terms     []TermScore
	Own       float64 // of the record's own terms
	Proximity float64
	Evidence  float64 // in nats, that the prompt means this record; a prompt is given records when one has more than 0
}

// TermScore is what one term of the prompt is worth.
type TermScore struct {
	Term   string   // as it is indexed
	Word   string   // as the prompt has it, folded and in small letters
	Fields []string // of the record that hold it
	Weight float64  // by its place in the prompt
	IDF    float64  // by its rarity in the project
	Docs   int      // records of the project that hold it
	Score  float64  // what it gave the record
}

// Engine finds records. It is safe for concurrent use.
type Engine struct {
	src     Source
	cache   *docCache
	tuning  tuning
	vectors *Vectors // nil: there are none
}

// New makes an engine over a source of records.
func New(src Source) *Engine {
	return &Engine{src: src, cache: newDocCache(cacheBytes), tuning: defaults()}
}

// Search gives the records that match a prompt, best first and without a floor of relevance. The words of courtesy and of
// any work count only where there are no others: whoever types "retry" or "go test" means it. Errors are those of the source.
func (e *Engine) Search(ctx context.Context, q Query) ([]Result, error) {
	f, err := e.find(ctx, q, true)
	if err != nil || f == nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	first := f.ranked[:min(limit, len(f.ranked))]
	if err := e.load(ctx, f, q.Namespace, first); err != nil {
		return nil, err
	}
	return f.results(first), nil
}

// found is what a search knows before the records are chosen.
type found struct {
	floor   *floor
	asked   []queryTerm // informative terms of the prompt, with their rarity, whether found or not
	terms   []queryTerm // those that were searched for
	prompt  prompt
	total   int // records of the project
	ranked  []scored
	near    map[int64][]neighbour
	byID    map[int64]store.Stored
	weighed []weighed // what the words of asked say
	against float64
}

// find ranks the records that match. With courtesy, a query of nothing but words of courtesy is one for these.
func (e *Engine) find(ctx context.Context, q Query, courtesy bool) (*found, error) {
	p := parse(q.Text, e.tuning.keepStops)
	if len(p.terms) == 0 && courtesy {
		p = parse(q.Text, true)
	}
	if len(p.terms) == 0 {
		return nil, nil
	}
	if len(p.terms) > maxTermsIn {
		p.terms = p.terms[:maxTermsIn]
	}
	near, stop := e.lookNear(ctx, q.Namespace, &p)
	defer stop()
	texts := make([]string, len(p.terms))
	for i, t := range p.terms {
		texts[i] = t.text
	}
	counts, total, err := e.src.TermCounts(ctx, q.Namespace, texts)
	if err != nil {
		return nil, fmt.Errorf("counting the words of a prompt: %w", err)
	}
	f := &found{floor: &e.tuning.floor, asked: p.terms, prompt: p, total: total}
	f.terms = e.tuning.weigh(p.terms, counts, total)
	if len(f.terms) > 0 {
		if err := e.rankInto(ctx, q, f); err != nil {
			return nil, err
		}
	}
	if err := e.addNearest(ctx, q, f, near()); err != nil {
		return nil, err
	}
	if len(f.ranked) == 0 {
		return nil, nil
	}
	return f, nil
}

// rankInto runs both stages: candidates from the index, then the ranking of them and their neighbours.
func (e *Engine) rankInto(ctx context.Context, q Query, f *found) error {
	hits, err := e.candidates(ctx, q, f.terms)
	if err != nil {
		return fmt.Errorf("searching records: %w", err)
	}
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	near, err := e.src.Neighbours(ctx, q.Namespace, ids[:min(len(ids), e.tuning.inContext)], e.tuning.span, e.tuning.span)
	if err != nil {
		return fmt.Errorf("finding neighbours: %w", err)
	}
	docs, err := e.docs(ctx, q.Namespace, withNeighbours(ids, near))
	if err != nil {
		return err
	}
	f.near = bothWays(near)
	for _, s := range e.tuning.rank(f.terms, docs, f.near, &f.prompt) {
		if s.score > 0 && q.passes(s.doc) {
			f.ranked = append(f.ranked, s)
		}
	}
	return nil
}

// candidates are the records that the ranking looks at. Where even the most telling word is in so many records that
// ranking them all would keep the user waiting, these are the newest with the two most telling words, or with one.
func (e *Engine) candidates(ctx context.Context, q Query, terms []queryTerm) ([]store.Hit, error) {
	texts, walked := affordable(terms, e.tuning.postings)
	filter, pool := store.Filter{Types: q.Types, Since: q.Since}, max(e.tuning.pool, q.Limit)
	if walked <= 4*e.tuning.postings {
		return e.src.Candidates(ctx, q.Namespace, texts, filter, pool)
	}
	var best []string
	for _, t := range byWorth(terms)[:min(len(terms), 2)] {
		best = append(best, t.text)
	}
	hits, err := e.src.Newest(ctx, q.Namespace, best, filter, pool)
	if err != nil || len(hits) >= pool/2 || len(best) == 1 {
		return hits, err
	}
	more, err := e.src.Newest(ctx, q.Namespace, best[:1], filter, pool-len(hits))
	for _, h := range more {
		if !slices.ContainsFunc(hits, func(o store.Hit) bool { return o.ID == h.ID }) {
			hits = append(hits, h)
		}
	}
	return hits, err
}

// docs are the records with the given ids, as the ranking sees them. Those of another project, which no source should
// give, are left out.
func (e *Engine) docs(ctx context.Context, namespace string, ids []int64) ([]*doc, error) {
	states, err := e.src.Revisions(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("reading revisions: %w", err)
	}
	docs := make([]*doc, 0, len(states))
	var missing []int64
	for _, s := range states {
		if d := e.cache.get(s); d != nil {
			docs = append(docs, d)
		} else {
			missing = append(missing, s.ID)
		}
	}
	made, err := e.takeApart(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("reading records: %w", err)
	}
	docs = append(docs, made...)
	return slices.DeleteFunc(docs, func(d *doc) bool { return d.space != namespace }), nil
}

// takeApart reads records and takes them apart, on several processors since somebody is waiting.
func (e *Engine) takeApart(ctx context.Context, ids []int64) ([]*doc, error) {
	shares := max(1, min(runtime.GOMAXPROCS(0), maxShares, len(ids)/leastShare))
	docs, errs := make([][]*doc, shares), make([]error, shares)
	var busy sync.WaitGroup
	for i := range shares {
		share := ids[i*len(ids)/shares : (i+1)*len(ids)/shares]
		busy.Go(func() {
			records, err := e.src.Records(ctx, share)
			errs[i] = err
			for k := range records {
				r := &records[k]
				d := makeDoc(r)
				e.cache.put(store.Revision{ID: r.ID, RecordID: r.RecordID, Revision: r.Revision}, d)
				docs[i] = append(docs[i], d)
			}
		})
	}
	busy.Wait()
	return slices.Concat(docs...), errors.Join(errs...)
}

// load reads the records of ranked, which are then in f.byID unless they were forgotten meanwhile.
func (e *Engine) load(ctx context.Context, f *found, namespace string, ranked []scored) error {
	ids := make([]int64, len(ranked))
	for i := range ranked {
		ids[i] = ranked[i].doc.id
	}
	records, err := e.src.Records(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading records: %w", err)
	}
	f.byID = make(map[int64]store.Stored, len(records))
	for _, r := range records {
		if r.Namespace == namespace {
			f.byID[r.ID] = r
		}
	}
	return nil
}

// passes tells whether a record is one that the query asks for; neighbours come unfiltered.
func (q *Query) passes(d *doc) bool {
	if !q.Since.IsZero() && d.created.Before(q.Since) {
		return false
	}
	return len(q.Types) == 0 || slices.Contains(q.Types, d.kind) || d.about != "" && slices.Contains(q.Types, d.about)
}

// affordable are the terms whose records may be walked: the best first, until they occur in more than max records
// together, but at least one. Terms that are left out still count in the ranking. walked is in how many they occur.
func affordable(terms []queryTerm, max int) (out []string, walked int) {
	for _, t := range byWorth(terms) {
		if walked+t.docs > max && len(out) > 0 {
			break
		}
		walked += t.docs
		out = append(out, t.text)
	}
	return out, walked
}

// byWorth are terms by what they give a record that holds them, most first.
func byWorth(terms []queryTerm) []queryTerm {
	order := slices.Clone(terms)
	slices.SortStableFunc(order, func(a, b queryTerm) int { return cmp.Compare(b.weight*b.idf, a.weight*a.idf) })
	return order
}

// withNeighbours is every id once, candidates first.
func withNeighbours(ids []int64, near map[int64][]int64) []int64 {
	out := slices.Clone(ids)
	seen := make(map[int64]bool, len(ids)*3)
	for _, id := range ids {
		seen[id] = true
	}
	for _, id := range ids {
		for _, n := range near[id] {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}

// neighbour is a record saved near another: offset records later, or earlier when offset is negative.
type neighbour struct {
	id     int64
	offset int
}

// bothWays makes every record a neighbour of its neighbours. The source gives each record's earlier neighbours and its
// later ones, the nearest first.
func bothWays(near map[int64][]int64) map[int64][]neighbour {
	out := make(map[int64][]neighbour, len(near)*2)
	add := func(a int64, n neighbour) {
		if a != n.id && !slices.ContainsFunc(out[a], func(o neighbour) bool { return o.id == n.id }) {
			out[a] = append(out[a], n)
		}
	}
	for id, list := range near {
		before, after := 0, 0
		for _, n := range list {
			if n < id {
				before--
				add(id, neighbour{n, before})
				add(n, neighbour{id, -before})
			} else {
				after++
				add(id, neighbour{n, after})
				add(n, neighbour{id, -after})
			}
		}
	}
	return out
}

// results makes results of what was ranked.
func (f *found) results(ranked []scored) []Result {
	out := make([]Result, 0, len(ranked))
	for i := range ranked {
		if _, ok := f.byID[ranked[i].doc.id]; ok {
			out = append(out, f.result(&ranked[i]))
		}
	}
	return out
}

func (f *found) result(s *scored) Result {
	r := Result{Stored: f.byID[s.doc.id], Score: s.score, Matched: []string{}}
	r.Explain = Explain{Own: s.own, Proximity: s.near, Evidence: f.evidence(s)}
	for k, tf := range s.tf {
		if tf == 0 {
			continue
		}
		t := &f.terms[k]
		r.Matched = append(r.Matched, t.text)
		r.Explain.Terms = append(r.Explain.Terms, TermScore{Term: t.text, Word: t.word, Fields: s.doc.fieldsOf(t.hash), Weight: t.weight, IDF: t.idf, Docs: t.docs, Score: s.gave[k]})
	}
	return r
}
