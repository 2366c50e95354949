package event

import "strings"

// The types of observation a memory record can hold.
const (
	TypeToolUse        = "tool_use"
	TypeDecision       = "decision"
	TypeError          = "error"
	TypeDiscovery      = "discovery"
	TypePattern        = "pattern"
	TypeSessionSummary = "session_summary"
)

// ObservationTypes lists every observation type, in the order of the wire contract.
func ObservationTypes() []string {
	return []string{TypeToolUse, TypeDecision, TypeError, TypeDiscovery, TypePattern, TypeSessionSummary}
}

// The strategies by which records are made.
const (
	StrategyRules             = "rules"               // the built-in engine
	StrategyModel             = "llm-summary"         // a language model, from events
	StrategyMCPObservation    = "mcp_observation"     // the agent, by save_observation
	StrategyMCPSessionSummary = "mcp_session_summary" // the agent, by save_session_summary
)

// Strategies lists every strategy.
func Strategies() []string {
	return []string{StrategyModel, StrategyRules, StrategyMCPObservation, StrategyMCPSessionSummary}
}

// Record is one memory record: what is worth knowing in a later session. Limits are those of the constants above, in
// characters; Fit makes any record keep them.
type Record struct {
	RecordID        string   `json:"record_id"` // "mr_" and a ULID
	Namespace       string   `json:"namespace"`
	Strategy        string   `json:"strategy"`
	Title           string   `json:"title"`
	Summary         string   `json:"summary"`
	Facts           []string `json:"facts"`
	SourceEventIDs  []string `json:"source_event_ids"`
	CreatedAt       string   `json:"created_at"`
	Concepts        []string `json:"concepts"`
	FilesTouched    []string `json:"files_touched"`
	ObservationType string   `json:"observation_type"`
}

// Fit cuts every field to its limit at a character boundary, drops empty and repeated list entries, and makes nil
// lists empty, so that what is encoded keeps the wire contract.
func (r *Record) Fit() {
	r.Title = CutChars(strings.TrimSpace(r.Title), MaxTitle)
	r.Summary = CutChars(strings.TrimSpace(r.Summary), MaxSummary)
	r.Facts = fitList(r.Facts, MaxFact)
	r.Concepts = fitList(r.Concepts, MaxConcept)
	r.FilesTouched = fitList(r.FilesTouched, MaxFile)
	if r.SourceEventIDs == nil {
		r.SourceEventIDs = []string{}
	}
}

func fitList(in []string, max int) []string {
	out := make([]string, 0, len(in))
	seen := make(map[string]bool, len(in))
	for _, s := range in {
		s = CutChars(strings.TrimSpace(s), max)
		if s == "" || seen[s] {
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	return out
}

// CutChars is the first max characters of s; a cut shows as an ellipsis, which counts.
func CutChars(s string, max int) string {
	if len(s) <= max { // bytes are never fewer than characters
		return s
	}
	n, end := 0, 0
	for i := range s {
		if n == max-1 {
			end = i
		}
		if n == max {
			return s[:end] + "…"
		}
		n++
	}
	return s
}
