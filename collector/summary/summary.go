// Package summary says where a session stands: what the person wanted of it, intent by intent, and what became of each.
// A language model makes it of the session's prompts and answers, for a user who has switched that on; rules make a
// plainer one of the events, always. Beside them it keeps a session's chunks, one for each batch that was distilled, and
// one record of the session as a whole. It reads events and never rewrites one.
package summary

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// The states of an intent; a session's state is that of the intent that asks for most attention.
const (
	StateNeedsYou   = "needs-you"   // said to be done, and not verified
	StateInProgress = "in-progress" // not done
	StateDone       = "done"
	StateDropped    = "dropped" // abandoned
)

const (
	statusActive    = "active"
	statusCompleted = "completed"
	statusAbandoned = "abandoned"
)

// What GenerateState says about asking for a summary now.
const (
	GenerateReady       = "ready"
	GenerateTooFew      = "too_few_turns"
	GenerateUnavailable = "unavailable" // no language model is configured, or it cannot be used
)

// Intent is one thing that the person wanted. Turns are counted from 1 and are the person's alone.
type Intent struct {
	Title           string   `json:"title"`
	Ranges          [][2]int `json:"ranges"` // first and last turn of each stretch that was about it
	Status          string   `json:"status"` // active, completed or abandoned
	Verified        *bool    `json:"verified"`
	State           string   `json:"state"`
	LastTouchedTurn int      `json:"last_touched_turn"`
	OriginTurn      *int     `json:"origin_turn"`
	InitialIntent   string   `json:"initial_intent"`
	Progress        []string `json:"progress"`
	NextSteps       []Step   `json:"next_steps"`
}

// Step is something that is left to do.
type Step struct {
	What   string `json:"what"`
	Why    string `json:"why"`
	Expect string `json:"expect"` // what shows that it is done
}

// Doc is a summary as it is kept.
type Doc struct {
	Intents     []Intent `json:"intents"`
	Constraints []string `json:"constraints"`
}

// View is what a reader is given of a session's summary.
type View struct {
	Enabled       bool
	Stale         bool       // the session has moved since
	Generated     *time.Time // nil: never
	UserTurns     int        // of the session now
	LastActivity  time.Time
	GenerateState string
	Doc
}

// MarshalJSON gives the fields of the wire contract; of a feature that is switched off, that alone.
func (v View) MarshalJSON() ([]byte, error) {
	if !v.Enabled {
		return []byte(`{"enabled":false}`), nil
	}
	at := (*string)(nil)
	if v.Generated != nil {
		s := v.Generated.UTC().Format(time.RFC3339)
		at = &s
	}
	return json.Marshal(struct {
		Enabled       bool     `json:"enabled"`
		Stale         bool     `json:"stale"`
		Intents       []Intent `json:"intents"`
		Constraints   []string `json:"constraints"`
		GeneratedAt   *string  `json:"generated_at"`
		UserTurns     int      `json:"user_turns"`
		LastActivity  string   `json:"last_activity"`
		GenerateState string   `json:"generate_state"`
	}{true, v.Stale, orEmpty(v.Intents), orEmpty(v.Constraints), at, v.UserTurns, v.LastActivity.UTC().Format(time.RFC3339), v.GenerateState})
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// stateOf derives an intent's state.
func stateOf(status string, verified *bool) string {
	switch {
	case status == statusAbandoned:
		return StateDropped
	case status == statusCompleted && verified != nil && !*verified:
		return StateNeedsYou
	case status == statusCompleted:
		return StateDone
	}
	return StateInProgress
}

// State is the session's in one word: that of the intent that asks for most attention; "" without intents.
func (d Doc) State() string {
	for _, s := range []string{StateNeedsYou, StateInProgress, StateDone, StateDropped} {
		if slices.ContainsFunc(d.Intents, func(i Intent) bool { return i.State == s }) {
			return s
		}
	}
	return ""
}

// Open are the steps that are left of intents that are not done, a line each, those that need the person first.
func (d Doc) Open() []string {
	var out []string
	for _, state := range []string{StateNeedsYou, StateInProgress} {
		for _, in := range d.Intents {
			if in.State != state {
				continue
			}
			if state == StateNeedsYou && len(in.NextSteps) == 0 {
				out = append(out, in.Title+" (done, not verified)")
			}
			for _, s := range in.NextSteps {
				line := s.What
				if s.Why != "" {
					line += " (" + s.Why + ")"
				}
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return out
}

// sorted puts the intents that were touched last first.
func sorted(in []Intent) {
	slices.SortStableFunc(in, func(a, b Intent) int { return b.LastTouchedTurn - a.LastTouchedTurn })
}

// Map gives a copy with every text passed through f.
func (d Doc) Map(f func(string) string) Doc {
	each := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = f(s)
		}
		return out
	}
	out := Doc{Intents: make([]Intent, len(d.Intents)), Constraints: each(d.Constraints)}
	for i, in := range d.Intents {
		in.Title, in.InitialIntent, in.Progress = f(in.Title), f(in.InitialIntent), each(in.Progress)
		steps := make([]Step, len(in.NextSteps))
		for k, s := range in.NextSteps {
			steps[k] = Step{f(s.What), f(s.Why), f(s.Expect)}
		}
		in.NextSteps = steps
		out.Intents[i] = in
	}
	return out
}
