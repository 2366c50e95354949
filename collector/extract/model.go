package extract

import (
	"context"
	"slices"
	"strings"

	"kiro-learn/internal/event"
)

// Completer is what is needed of a language model: a prompt in, its answer out.
type Completer interface {
	Complete(ctx context.Context, prompt string) (string, error)
}

// Model distils turns into memory records with a language model. Scrub takes private text and secrets out of the prompt
// once more before it leaves; the records are to be scrubbed by the caller. Everything that the answer says too much is
// cut, so that every record keeps the wire contract. An answer that is none is an error, as is one that never comes.
func Model(ctx context.Context, m Completer, turns []Turn, scrub func(string) string, newID func() string) ([]event.Record, error) {
	if !anySaid(turns) {
		return nil, nil // nothing that a model could say anything about
	}
	answer, err := m.Complete(ctx, scrub(modelPrompt(turns)))
	if err != nil {
		return nil, err
	}
	drafts, err := parseAnswer(answer)
	if err != nil {
		return nil, err
	}
	var out []event.Record
	ended := slices.ContainsFunc(turns, func(t Turn) bool { return t.Answer != nil })
	for _, d := range drafts {
		if d.ObservationType == event.TypeSessionSummary && !ended {
			d.ObservationType = event.TypeDiscovery // a summary is of a turn that has ended
		}
		out = append(out, d.finish(turns))
	}
	return seal(out, newID), nil
}

// anySaid tells whether the turns hold anything but an agent's start and empty answers.
func anySaid(turns []Turn) bool {
	for i := range turns {
		t := &turns[i]
		if len(t.Tools) > t.Seen || !t.Continued && strings.TrimSpace(promptText(t.Prompt)) != "" || strings.TrimSpace(answerText(t.Answer)) != "" {
			return true
		}
	}
	return false
}

// finish gives a draft what all records of its turns have. It cannot name events itself, only turns, so that no answer
// lays a record at the door of another project or session.
func (d drafted) finish(turns []Turn) event.Record {
	r := d.Record
	r.Strategy = event.StrategyModel
	var about []*Turn
	for _, n := range d.turns {
		if n >= 1 && n <= len(turns) {
			about = append(about, &turns[n-1])
		}
	}
	if len(about) == 0 {
		for i := range turns {
			about = append(about, &turns[i])
		}
	}
	for _, t := range about {
		for _, e := range t.events() {
			if len(r.SourceEventIDs) < maxSources && !slices.Contains(r.SourceEventIDs, e.EventID) {
				r.SourceEventIDs = append(r.SourceEventIDs, e.EventID)
			}
		}
		if last := t.last(); last != nil && (r.CreatedAt == "" || last.ValidTime > r.CreatedAt) {
			r.Namespace, r.CreatedAt = last.Namespace, last.ValidTime
		}
	}
	slices.Sort(r.SourceEventIDs)
	return r
}

// events are the turn's own events, the most telling first.
func (t *Turn) events() (out []*event.Event) {
	if t.Prompt != nil && !t.Continued {
		out = append(out, t.Prompt)
	}
	if t.Answer != nil {
		out = append(out, t.Answer)
	}
	for i := range t.Tools {
		if i >= t.Seen {
			out = append(out, &t.Tools[i])
		}
	}
	return out
}
