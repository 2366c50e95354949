package extract

import (
	"fmt"
	"slices"
	"strings"

	"kiro-learn/internal/event"
)

const (
	maxSources   = 50
	maxErrors    = 10  // error records of one turn
	maxDecisions = 16  // decision records of one turn
	maxAsked     = 300 // characters of the request in a summary
	maxResult    = 260 // characters of the answer in a summary; what else it says of weight are facts
	maxAnswer    = 800 // characters of the answer in a discovery
)

// Rules distils turns into memory records without a model: a summary of each turn that did or told something, its
// decisions, and the commands that failed with what became of them. It says nothing the events do not say, and nothing
// for small talk. The same turns always give the same records but for the ids, which newID makes ("mr_" and a ULID).
// Every record keeps the wire contract.
func Rules(turns []Turn, newID func() string) []event.Record {
	works := make([]*work, 0, len(turns))
	for i := range turns {
		works = append(works, workOf(&turns[i]))
	}
	perTurn := make([][]event.Record, len(works))
	for _, f := range failures(works) {
		at := f.last.turn
		if f.fixed != nil {
			at = f.fixed.turn
		}
		if len(perTurn[at]) == maxErrors {
			continue
		}
		if r, ok := errorRecord(f, works); ok {
			perTurn[at] = append(perTurn[at], r)
		}
	}
	seen := make(map[string]bool) // statements already in a record of this batch
	var out []event.Record
	for i, w := range works {
		decisions := w.decisionRecords(seen)
		if r, ok := w.summaryRecord(seen); ok {
			out = append(out, r)
		}
		out = append(append(out, decisions...), perTurn[i]...)
	}
	return seal(out, newID)
}

// seal fits the records to the contract, folds repeated ones and gives them ids.
func seal(in []event.Record, newID func() string) []event.Record {
	seen := make(map[string]bool)
	out := in[:0]
	for _, r := range in {
		r.Fit()
		key := r.Namespace + "\x00" + r.ObservationType + "\x00" + statementKey(r.Title) + "\x00" + statementKey(r.Summary)
		if seen[key] {
			continue
		}
		seen[key] = true
		r.RecordID = newID()
		if len(r.Problems()) == 0 { // events that break the contract themselves cannot make a record that keeps it
			out = append(out, r)
		}
	}
	return out
}

// work is a turn, read: who asked what, what was done, what was answered.
type work struct {
	turn      *Turn
	namespace string
	source    event.Source
	createdAt string
	req       request
	answer    []string // informative sentences
	said      []string // all sentences of the answer
	acts      []action // the tool uses that tell anything
	seen      int      // so many of acts are context only
}

func workOf(t *Turn) *work {
	w := &work{turn: t}
	last := t.last()
	if last == nil {
		return w
	}
	w.namespace, w.source, w.createdAt = last.Namespace, last.Source, last.ValidTime
	w.req = requestOf(promptText(t.Prompt))
	w.said = proseOf(answerText(t.Answer))
	w.answer = informative(w.said)
	w.plainFacts()
	for i := range t.Tools {
		a, ok := actionOf(&t.Tools[i])
		if !ok {
			continue
		}
		w.acts = append(w.acts, a)
		if i < t.Seen {
			w.seen = len(w.acts)
		}
	}
	return w
}

// plainFacts marks what a person told where that is all there was of a turn: nothing was asked, done or answered.
func (w *work) plainFacts() {
	heard := acknowledged(w.said)
	if len(w.turn.Tools) > 0 || len(w.said) > 0 && !heard || w.turn.Prompt == nil || len(w.req.sentences) > 3 {
		return
	}
	for i, s := range w.req.sentences {
		if !w.req.decided[i] && plainFact(s, heard) {
			w.req.decided[i], w.req.facts[i] = true, true
		}
	}
}

// finish gives a record what all records of a turn have, and its source events.
func (w *work) finish(r event.Record, ids []string) event.Record {
	r.Strategy = event.StrategyRules
	r.Namespace = w.namespace
	r.CreatedAt = w.createdAt
	for _, id := range ids {
		if len(r.SourceEventIDs) < maxSources && event.IsULID(id) && !slices.Contains(r.SourceEventIDs, id) {
			r.SourceEventIDs = append(r.SourceEventIDs, id)
		}
	}
	slices.Sort(r.SourceEventIDs)
	return r
}

// decisionRecords makes a record of each decision in the prompt and the answer that the batch has not stated before.
func (w *work) decisionRecords(seen map[string]bool) []event.Record {
	var out []event.Record
	make1 := func(kind string, d decision, e *event.Event) {
		key := statementKey(d.sentence)
		if seen[key] || len(out) == maxDecisions {
			return
		}
		seen[key] = true
		if d.reason != "" {
			seen[statementKey(d.reason)] = true
		}
		who := "Stated by the user"
		if e.Kind == event.KindSessionSummary {
			who = "Stated in the agent's answer"
		}
		full := oneLine(d.sentence + " " + d.reason)
		r := event.Record{ObservationType: kind, Title: decisionTitle(d.sentence), Summary: cutWords(full, 1200)}
		if w.req.plain && !w.req.question && statementKey(w.req.title) != statementKey(r.Title) && !strings.Contains(statementKey(full), statementKey(w.req.title)) {
			r.Summary += "\n" + who + " while working on: " + w.req.title
		} else {
			r.Summary += "\n" + who + "."
		}
		r.Concepts = concepts(conceptText{full, 1})
		out = append(out, w.finish(r, []string{e.EventID}))
	}
	if w.turn.Prompt != nil && !w.turn.Continued {
		for _, d := range decisionsIn(w.req.sentences, func(i int) bool { return w.req.decided[i] }) {
			kind := event.TypeDecision
			if w.req.facts[d.at] {
				kind = event.TypeDiscovery
			}
			make1(kind, d, w.turn.Prompt)
		}
	}
	if w.turn.Answer != nil {
		for _, d := range decisionsIn(w.said, func(i int) bool { return decisionIn(w.said[i], false) }) {
			make1(event.TypeDecision, d, w.turn.Answer)
		}
	}
	return out
}

// summaryRecord makes the record of what a turn was about; ok is false where there is nothing worth recalling.
func (w *work) summaryRecord(seen map[string]bool) (event.Record, bool) {
	acts := w.acts[w.seen:]
	ch := changesIn(acts)
	runs := commandRuns(acts)
	lookedOnly := len(ch.written)+len(ch.created)+len(ch.deleted)+len(runs) == 0 && !usedServer(acts)
	switch {
	case lookedOnly && len(acts) == 0 && (w.req.creative || !w.technicalAnswer()):
		return event.Record{}, false
	case lookedOnly && len(w.answer) == 0 && (w.req.title == "" || w.turn.Continued || len(ch.read) == 0):
		return event.Record{}, false
	}
	r := event.Record{ObservationType: event.TypeSessionSummary}
	if w.req.question && lookedOnly && len(w.answer) > 0 {
		r.ObservationType = event.TypeDiscovery
	}
	r.Title = w.summaryTitle(ch, runs)
	r.Facts = w.facts(r, seen)
	r.Summary = w.summaryText(r, ch, runs, acts)
	if r.Summary == "" {
		r.Summary = r.Title
	}
	if len(r.Facts) == 0 && routine(runs) && len(ch.written)+len(ch.created)+len(ch.deleted) == 0 && !usedServer(acts) {
		return event.Record{}, false // a commit says nothing its history does not
	}
	r.FilesTouched = ch.all()
	r.Concepts = concepts(conceptText{r.Title, 3}, conceptText{firstFew(w.answer), 2}, conceptText{firstFew(w.req.sentences), 1})
	return w.finish(r, w.sources(acts)), true
}

// firstFew joins the sentences of a text that its key terms are taken from.
func firstFew(list []string) string { return strings.Join(list[:min(len(list), 12)], " ") }

// result is the answer in brief: all of a discovery's; else its first sentence, and what follows that is no fact.
func (w *work) result(r event.Record) string {
	if r.ObservationType == event.TypeDiscovery {
		return shortText(w.answer, maxAnswer)
	}
	var list []string
	for i, s := range w.answer {
		if titleOf(withoutSpeaker(s), false) != r.Title && (i == 0 || !slices.Contains(r.Facts, s)) {
			list = append(list, s)
		}
	}
	return shortText(list, maxResult)
}

// facts gives the statements of the prompt and the answer that stand for themselves and that neither the title nor the
// summary will tell: a record says nothing twice.
func (w *work) facts(r event.Record, seen map[string]bool) []string {
	told := r.Title + "\n" + w.asked()
	if r.ObservationType == event.TypeDiscovery {
		told += "\n" + w.result(r)
	} else if len(w.answer) > 0 {
		told += "\n" + w.answer[0]
	}
	skip := func(s string) bool { return strings.Contains(told, strings.TrimRight(s, ".")) }
	var out []string
	if !w.turn.Continued {
		out = factsOf(w.req.sentences, func(i int) bool {
			return i == w.req.main || w.req.decided[i] || w.req.asks[i] >= 5 || skip(w.req.sentences[i])
		}, seen)
	}
	out = append(out, factsOf(w.said, func(i int) bool { return skip(w.said[i]) }, seen)...)
	return out[:min(len(out), maxFacts)]
}

// summaryTitle is the request; where the prompt makes none, what the answer or the changes say.
func (w *work) summaryTitle(ch changes, runs []commandRun) string {
	switch {
	case w.req.title != "" && w.turn.Continued:
		return cutWords(w.req.title, event.MaxTitle-len(" (continued)")) + " (continued)"
	case w.req.title != "" && (refersBack(w.req.title) || saysNothing(w.req.title)) && len(ch.all()) > 0: // what "it" is, the files tell best
		return cutWords(w.req.title+" ("+listSome(ch.all(), 2)+")", event.MaxTitle)
	case w.req.title != "":
		return w.req.title
	case len(w.answer) > 0:
		return titleOf(withoutSpeaker(w.answer[0]), false)
	}
	if files := append(append(slices.Clone(ch.created), ch.written...), ch.deleted...); len(files) > 0 {
		return cutWords("Changed "+listSome(files, 3), event.MaxTitle)
	}
	if len(runs) > 0 {
		return cutWords("Ran "+runs[0].line, event.MaxTitle)
	}
	return "Used other tools"
}

// withoutSpeaker takes "I've" and the like off a sentence: "I've added a test" becomes "added a test".
func withoutSpeaker(s string) string {
	s = stripLeads(s)
	for _, p := range []string{"i've", "i’ve", "i have", "we've", "we have", "i", "we"} {
		if rest, ok := trimWord(s, p); ok && !strings.HasPrefix(rest, "'") {
			return rest
		}
	}
	return s
}

// summaryText tells the turn: what was asked, done and run, and how it ended, a line each.
func (w *work) summaryText(r event.Record, ch changes, runs []commandRun, acts []action) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if asked := w.asked(); asked != "" && r.ObservationType == event.TypeSessionSummary {
		add("Prompt: %s", asked)
	}
	if len(ch.created) > 0 {
		add("Created: %s.", listSome(ch.created, 10))
	}
	if len(ch.written) > 0 {
		add("Changed: %s.", listSome(ch.written, 12))
	}
	if len(ch.deleted) > 0 {
		add("Deleted: %s.", listSome(ch.deleted, 10))
	}
	if len(ch.read) > 0 && len(ch.created)+len(ch.written)+len(ch.deleted) == 0 {
		add("Read: %s.", listSome(ch.read, 8))
	}
	if len(runs) > 0 {
		add("Ran: %s.", listRuns(runs))
	}
	if used := serverTools(acts); len(used) > 0 {
		add("Used: %s.", listSome(used, 8))
	}
	if result := w.result(r); r.ObservationType == event.TypeDiscovery {
		lines = append(lines, result)
	} else if result != "" {
		add("Result: %s", result)
	}
	return cutWords(strings.Join(lines, "\n"), event.MaxSummary)
}

// asked is what the prompt says beside its title and its decisions, which have records of their own, in brief; the
// whole request where the title had to be cut.
func (w *work) asked() string {
	if w.turn.Continued || w.req.main < 0 || w.req.title == "" {
		return ""
	}
	var list []string
	from := max(0, w.req.main-2)
	for i, s := range w.req.sentences[from:min(len(w.req.sentences), w.req.main+3)] {
		i += from
		if i == w.req.main && !strings.HasSuffix(w.req.title, "…") || i != w.req.main && w.req.decided[i] || smallTalk(stripLeads(s)) || refersBack(s) || saysNothing(stripLeads(s)) {
			continue
		}
		list = append(list, s)
	}
	return shortText(list, maxAsked)
}

// sources are the events a summary rests on: the prompt, the answer, and the tool uses that did most.
func (w *work) sources(acts []action) []string {
	var ids []string
	if w.turn.Prompt != nil {
		ids = append(ids, w.turn.Prompt.EventID)
	}
	if w.turn.Answer != nil {
		ids = append(ids, w.turn.Answer.EventID)
	}
	for _, reads := range []bool{false, true} {
		for i := range acts {
			if (acts[i].kind == actRead || acts[i].kind == actOther) == reads {
				ids = append(ids, acts[i].id)
			}
		}
	}
	return ids
}
