package summary

import (
	"context"
	"slices"
	"strings"

	"kiro-learn/collector/extract"
	"kiro-learn/collector/llm"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

const (
	maxSources  = 50
	chunkFiles  = 60
	maxConcepts = 16
)

// Chunker makes the records about a session as a whole: of each batch that is distilled a chunk, which says what is new
// in it and is never rewritten, and one record of the full session, which is rewritten with each.
type Chunker struct {
	Store  *store.Store
	Engine func() (llm.Engine, error)    // nil: by rules; they also step in where the model fails
	NewID  func() string                 // "mr_" and a ULID
	Scrub  func(string) string           // takes private text and secrets out
	Made   func(session string) []string // the texts of prompts that Kiro made itself; nil: none are known
	Failed func(cause string, err error) // tells the log; is given no text of a session
}

// part is what a batch is known by.
type part struct {
	namespace, session string
	turns              []extract.Turn
	records            []event.Record
	chunks             [][]topic // earlier ones
	full               *store.Stored
	title              string // the session's
	made               madeTexts
}

// Of makes the records of a batch; none where nothing in it is worth a topic. It never fails: without a summary a session
// has its other records.
func (c *Chunker) Of(ctx context.Context, namespace, session string, turns []extract.Turn, records []event.Record) []store.SessionRecord {
	p := part{namespace: namespace, session: session, turns: turns, records: records, made: madeIn(c.Made, session)}
	before, err := c.Store.AboutSession(ctx, namespace, session)
	if err != nil {
		c.Failed("a session's chunks could not be read", err)
		return nil
	}
	for i := range before {
		if before[i].Type == store.TypeFullSession {
			p.full = &before[i]
		} else {
			p.chunks = append(p.chunks, parseTopics(before[i].Summary))
		}
	}
	if s, ok, err := c.Store.Session(ctx, namespace, session); err == nil && ok {
		p.title = s.Title
	}
	strategy, chunk, full := event.StrategyRules, []topic(nil), []topic(nil)
	if c.Engine != nil {
		if chunk, full, err = c.ask(ctx, &p); err != nil {
			c.Failed("a chunk of a session was made by rules", err)
		} else {
			strategy = event.StrategyModel
		}
	}
	if strategy == event.StrategyRules {
		chunk = p.byRules()
	}
	if chunk = fit(chunk, event.MaxSummary); len(chunk) == 0 {
		return nil
	}
	if full = fit(full, event.MaxSummary); len(full) == 0 {
		full = fit(merged(append(slices.Clone(p.chunks), chunk)), event.MaxSummary)
	}
	return c.records(&p, strategy, chunk, full)
}

// records makes the chunk's record and the full session's.
func (c *Chunker) records(p *part, strategy string, chunk, full []topic) []store.SessionRecord {
	actor, _, ok := event.SplitNamespace(p.namespace)
	base := event.Record{
		Strategy: strategy, ObservationType: event.TypeSessionSummary,
		Namespace: "/strategy/" + strategy + "/actor/" + actor + "/session/" + p.session + "/",
	}
	base.SourceEventIDs, base.CreatedAt = p.sources()
	if !ok || len(base.SourceEventIDs) == 0 {
		return nil
	}
	for i := range p.records {
		base.FilesTouched = append(base.FilesTouched, p.records[i].FilesTouched...)
		base.Concepts = append(base.Concepts, p.records[i].Concepts...)
	}
	one, all := base, base
	one.RecordID, all.RecordID = c.NewID(), c.NewID()
	one.Title, one.Summary = titleOf(chunk), render(chunk)
	all.Title, all.Summary = "Session: "+titleOf(full), render(full)
	if p.title != "" {
		all.Title = "Session: " + p.title
	}
	if p.full != nil {
		all.RecordID = p.full.RecordID
		all.FilesTouched = append(slices.Clone(p.full.FilesTouched), base.FilesTouched...)
		all.Concepts = append(slices.Clone(p.full.Concepts), base.Concepts...)
		all.SourceEventIDs = append(slices.Clone(p.full.SourceEventIDs), base.SourceEventIDs...)
	}
	var out []store.SessionRecord
	for _, r := range []store.SessionRecord{{Record: one, Type: store.TypeChunk, About: p.namespace}, {Record: all, Type: store.TypeFullSession, About: p.namespace}} {
		r.Title, r.Summary = c.Scrub(r.Title), c.Scrub(r.Summary)
		r.Fit()
		r.FilesTouched = r.FilesTouched[:min(len(r.FilesTouched), chunkFiles)]
		r.Concepts = r.Concepts[:min(len(r.Concepts), maxConcepts)]
		r.SourceEventIDs = newestOf(r.SourceEventIDs, maxSources)
		if len(r.Problems()) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// newestOf keeps the first one, by which a record finds its session, and the newest of a list.
func newestOf(ids []string, most int) []string {
	if len(ids) <= most {
		return ids
	}
	return append([]string{ids[0]}, ids[len(ids)-most+1:]...)
}

func titleOf(topics []topic) string {
	var names []string
	for _, t := range topics {
		names = append(names, t.name)
	}
	return event.CutChars(strings.Join(names, "; "), event.MaxTitle)
}

// sources are the prompts and answers of the batch, and when its newest event happened.
func (p *part) sources() (ids []string, at string) {
	newest := ""
	for i := range p.turns {
		t := &p.turns[i]
		events := []*event.Event{t.Prompt, t.Answer}
		if t.Prompt == nil && t.Answer == nil && len(t.Tools) > 0 {
			events = append(events, &t.Tools[0])
		}
		for _, e := range events {
			if e == nil {
				continue
			}
			if e.EventID > newest {
				newest, at = e.EventID, e.ValidTime
			}
			if !slices.Contains(ids, e.EventID) {
				ids = append(ids, e.EventID)
			}
		}
	}
	return ids, at
}

// byRules sorts the batch's turns into topics. A topic of an earlier chunk is gone on with under its name, and a line
// that an earlier chunk has is not repeated.
func (p *part) byRules() []topic {
	o := outliner{of: map[int]*goal{}}
	told := map[string]bool{}
	for _, chunk := range p.chunks {
		for _, t := range chunk {
			if !slices.ContainsFunc(o.goals, func(g *goal) bool { return g.title == t.name }) {
				o.goals = append(o.goals, &goal{title: t.name, words: extract.KeyWords(t.name), earlier: true})
			}
			for _, l := range t.lines {
				told[l] = true
			}
		}
	}
	if n := len(o.goals); n > 0 {
		o.current = o.goals[n-1]
	}
	of := map[string]*goal{} // an event → its goal
	for i := range p.turns {
		t := &p.turns[i]
		v, deeds := turnOf(t, i+1, p.made)
		if v.automatic && v.prompt != "" {
			continue
		}
		o.turn(&v, deeds)
		for _, e := range []*event.Event{t.Prompt, t.Answer} {
			if e != nil && o.of[v.n] != nil {
				of[e.EventID] = o.of[v.n]
			}
		}
	}
	for i := range p.records {
		r := &p.records[i]
		if r.ObservationType != event.TypeDecision {
			continue
		}
		for _, id := range r.SourceEventIDs {
			if g := of[id]; g != nil {
				g.notes = append(g.notes, "Decided: "+r.Title)
				break
			}
		}
	}
	var out []topic
	for _, g := range o.goals {
		t := topic{name: plain(g.title, topicName)}
		for _, l := range g.lines(o.log) {
			if l = plain(l, topicLine); l != "" && !told[l] && !slices.Contains(t.lines, l) {
				t.lines = append(t.lines, l)
			}
		}
		if len(g.turns) > 0 && len(t.lines) > 0 && t.name != "" {
			out = append(out, t)
		}
	}
	return out
}

// turnOf is a distilled turn as the outline reads it.
func turnOf(t *extract.Turn, n int, made madeTexts) (turn, []extract.Deed) {
	v := turn{n: n, ended: t.Answer != nil}
	if t.Prompt != nil {
		v.id = t.Prompt.EventID
		if !t.Continued {
			v.prompt = extract.Asked(t.Prompt)
			v.automatic = automatic(v.prompt) || made.has(t.Prompt)
		}
	}
	if t.Answer != nil {
		if a := strings.TrimSpace(textOf(t.Answer)); a != "" {
			v.answers = append(v.answers, a)
		}
	}
	var deeds []extract.Deed
	for i := range t.Tools[min(t.Seen, len(t.Tools)):] {
		if d, ok := extract.DeedOf(&t.Tools[t.Seen+i]); ok {
			deeds = append(deeds, d)
		}
	}
	return v, deeds
}

// lines tell what was done about a goal.
func (g *goal) lines(log []act) []string {
	var out []string
	for _, a := range g.asks {
		out = append(out, "Asked: "+a)
	}
	if g.abandoned {
		out = append(out, "Taken back by the person.")
	}
	out = append(out, g.notes...)
	if len(g.files) > 0 {
		out = append(out, "Changed: "+some(g.files, 8))
	}
	verdict, proof := g.checked(log)
	for _, s := range proof {
		if verdict != nil || strings.HasPrefix(s, "ran ") {
			out = append(out, capital(s))
		}
	}
	for _, a := range g.answers {
		if s := extract.Sentences(a.text); len(s) > 0 {
			out = append(out, "Result: "+strings.Join(s[:min(len(s), 2)], " "))
		}
	}
	for _, s := range g.steps() {
		out = append(out, "Left: "+s.What)
	}
	return out
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
