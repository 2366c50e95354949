package summary

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"kiro-learn/internal/event"
)

// Caps of what a model may say, in characters and entries.
const (
	titleChars   = 200
	lineChars    = 500
	initialChars = 1000
	maxRanges    = 100
	maxLines     = 20
)

// A given is an intent as a model wrote it: every field may have any shape.
type given struct {
	Title         json.RawMessage `json:"title"`
	Ranges        json.RawMessage `json:"ranges"`
	Status        json.RawMessage `json:"status"`
	Verified      json.RawMessage `json:"verified"`
	OriginTurn    json.RawMessage `json:"origin_turn"`
	InitialIntent json.RawMessage `json:"initial_intent"`
	Progress      json.RawMessage `json:"progress"`
	NextSteps     json.RawMessage `json:"next_steps"`
}

// normal makes a summary of a model's object for a session with so many turns of the person. What cannot be placed is
// dropped: an intent without a title, or without a stretch of turns that exists. States are derived, never taken over.
func normal(raw json.RawMessage, turns, maxIntents, maxConstraints int) (Doc, error) {
	var o struct {
		Intents     []json.RawMessage `json:"intents"`
		Constraints json.RawMessage   `json:"constraints"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return Doc{}, errNoIntents
	}
	d := Doc{Intents: []Intent{}, Constraints: []string{}}
	for _, r := range o.Intents {
		var g given
		if json.Unmarshal(r, &g) != nil {
			continue
		}
		if in, ok := g.intent(turns); ok {
			d.Intents = append(d.Intents, in)
		}
	}
	if len(d.Intents) == 0 && len(o.Intents) > 0 {
		return Doc{}, errNothingFit
	}
	sorted(d.Intents)
	d.Intents = d.Intents[:min(len(d.Intents), maxIntents)]
	d.Constraints = lines(o.Constraints, maxConstraints)
	return d, nil
}

func (g *given) intent(turns int) (Intent, bool) {
	in := Intent{
		Title: line(g.Title, titleChars), Ranges: rangesOf(g.Ranges, turns), Status: statusOf(g.Status),
		Verified: truth(g.Verified), InitialIntent: line(g.InitialIntent, initialChars),
		Progress: lines(g.Progress, maxLines), NextSteps: stepsOf(g.NextSteps),
	}
	if in.Title == "" || len(in.Ranges) == 0 {
		return in, false
	}
	if n, ok := whole(g.OriginTurn); ok && n >= 1 && n <= turns {
		in.OriginTurn = &n
	}
	in.settle()
	return in, true
}

// settle derives what follows from the rest.
func (in *Intent) settle() {
	in.State = stateOf(in.Status, in.Verified)
	in.LastTouchedTurn = 0
	for _, r := range in.Ranges {
		in.LastTouchedTurn = max(in.LastTouchedTurn, r[1])
	}
}

// rangesOf reads [[1,2],[4,4]]; a bare number stands for a stretch of one turn.
func rangesOf(raw json.RawMessage, turns int) [][2]int {
	out := [][2]int{}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return out
	}
	for _, r := range list {
		first, last := 0, 0
		var pair []json.RawMessage
		if n, ok := whole(r); ok {
			first, last = n, n
		} else if json.Unmarshal(r, &pair) == nil && (len(pair) == 1 || len(pair) == 2) {
			first, _ = whole(pair[0])
			last, _ = whole(pair[len(pair)-1])
		}
		v := [2]int{first, last}
		if first < 1 || last < first || last > turns || slices.Contains(out, v) || len(out) == maxRanges {
			continue
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b [2]int) int {
		if a[0] != b[0] {
			return a[0] - b[0]
		}
		return a[1] - b[1]
	})
	return out
}

// statusOf takes the usual spellings; what is not known to have ended is active.
func statusOf(raw json.RawMessage) string {
	s := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(text(raw)))
	switch s {
	case "completed", "complete", "done", "finished", "closed", "resolved":
		return statusCompleted
	case "abandoned", "dropped", "cancelled", "canceled", "retracted", "superseded":
		return statusAbandoned
	}
	return statusActive
}

func truth(raw json.RawMessage) *bool {
	yes, no := true, false
	switch strings.ToLower(strings.Trim(strings.TrimSpace(string(raw)), `"`)) {
	case "true":
		return &yes
	case "false":
		return &no
	}
	return nil
}

// whole reads a whole number, given as a number or as text.
func whole(raw json.RawMessage) (int, bool) {
	s := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	s = strings.TrimSuffix(s, ".0")
	n, err := strconv.Atoi(s)
	return n, err == nil && n < 1<<30
}

// text is the text of a JSON string; "" of anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// line is a JSON string in one line.
func line(raw json.RawMessage, chars int) string {
	return event.CutChars(strings.Join(strings.Fields(text(raw)), " "), chars)
}

// lines reads a list of strings, or one string.
func lines(raw json.RawMessage, most int) []string {
	out := []string{}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, r := range list {
		if s := line(r, lineChars); s != "" && !slices.Contains(out, s) && len(out) < most {
			out = append(out, s)
		}
	}
	return out
}

// stepsOf reads a list of {what, why, expect}, or of strings.
func stepsOf(raw json.RawMessage) []Step {
	out := []Step{}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, r := range list {
		var o struct {
			What   json.RawMessage `json:"what"`
			Why    json.RawMessage `json:"why"`
			Expect json.RawMessage `json:"expect"`
		}
		s := Step{What: line(r, lineChars)}
		if s.What == "" && json.Unmarshal(r, &o) == nil {
			s = Step{line(o.What, lineChars), line(o.Why, lineChars), line(o.Expect, lineChars)}
		}
		if s.What != "" && !slices.Contains(out, s) && len(out) < maxLines {
			out = append(out, s)
		}
	}
	return out
}
