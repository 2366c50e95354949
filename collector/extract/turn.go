// Package extract makes memory records of closed turns, each event distilled exactly once: by built-in rules that need
// no model, or by a language model.
package extract

import (
	"slices"
	"strings"

	"kiro-learn/internal/event"
)

// Turn is one prompt, what was done for it, and how it ended. Any part may be missing. All events of a turn have one
// namespace.
type Turn struct {
	Prompt    *event.Event
	Tools     []event.Event // in the order of their ids
	Answer    *event.Event  // a session_summary event
	Notes     []event.Event // told by Kiro at the start of an agent; they are nobody's words and make no record
	Continued bool          // the prompt was distilled in an earlier batch and is context only
	Seen      int           // so many of the first Tools were distilled in an earlier batch and are context only
}

// Turns groups one session's events, sorted by event id, into turns: a prompt opens one; tool uses and answers join the
// turn that parent_event_id names, even when its prompt is not among the events, else the one open at their place. A
// second answer to one prompt, and an event of another namespace, make a turn of their own. Every event is in exactly
// one turn, except that a second answer's turn repeats the prompt as context.
func Turns(events []event.Event) []Turn {
	if !slices.IsSortedFunc(events, byEventID) {
		events = slices.Clone(events)
		slices.SortStableFunc(events, byEventID)
	}
	g := grouping{at: make(map[turnKey]int)}
	for i := range events {
		g.add(&events[i])
	}
	return g.turns
}

func byEventID(a, b event.Event) int { return strings.Compare(a.EventID, b.EventID) }

// turnKey is how later events find their turn: by the id of its prompt, within one namespace.
type turnKey struct{ prompt, namespace string }

type grouping struct {
	turns []Turn
	at    map[turnKey]int
	open  turnKey
}

func (g *grouping) add(e *event.Event) {
	if e.Kind == event.KindPrompt {
		g.open = turnKey{e.EventID, e.Namespace}
		if i, ok := g.at[g.open]; ok && g.turns[i].Prompt == nil { // a child that sorted before its prompt
			g.turns[i].Prompt = e
			return
		}
		g.start(g.open, Turn{Prompt: e})
		return
	}
	k := turnKey{e.ParentEventID, e.Namespace}
	if k.prompt == "" {
		k.prompt = g.open.prompt
	}
	i, ok := g.at[k]
	if !ok {
		i = g.start(k, Turn{})
	}
	t := &g.turns[i]
	switch e.Kind {
	case event.KindSessionSummary:
		if t.Answer != nil {
			i = g.start(k, Turn{Prompt: t.Prompt, Continued: true})
			t = &g.turns[i]
		}
		t.Answer = e
	case event.KindToolUse:
		t.Tools = append(t.Tools, *e)
	default:
		t.Notes = append(t.Notes, *e)
	}
}

func (g *grouping) start(k turnKey, t Turn) int {
	g.turns = append(g.turns, t)
	g.at[k] = len(g.turns) - 1
	return len(g.turns) - 1
}

// last is the turn's newest event; nil for an empty turn.
func (t *Turn) last() *event.Event {
	var last *event.Event
	take := func(e *event.Event) {
		if last == nil || e.EventID >= last.EventID {
			last = e
		}
	}
	if t.Prompt != nil {
		take(t.Prompt)
	}
	for i := range t.Notes {
		take(&t.Notes[i])
	}
	for i := range t.Tools {
		take(&t.Tools[i])
	}
	if t.Answer != nil {
		take(t.Answer)
	}
	return last
}

// promptText is what the person wrote: of a list of turns, the last one that is not the agent's.
func promptText(e *event.Event) string {
	if e == nil {
		return ""
	}
	b, err := event.ParseBody(e.Body)
	if err != nil {
		return ""
	}
	if b.Type == event.BodyMessage {
		for i := len(b.Turns) - 1; i >= 0; i-- {
			if r := strings.ToLower(b.Turns[i].Role); r != "assistant" && r != "system" && r != "tool" {
				return b.Turns[i].Content
			}
		}
		return ""
	}
	return b.Text()
}

// answerText is what the agent said at the end: of a list of turns, the last one.
func answerText(e *event.Event) string {
	if e == nil {
		return ""
	}
	b, err := event.ParseBody(e.Body)
	if err != nil {
		return ""
	}
	return b.Text()
}
