package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Summary is where a session stood. Of a feature that is switched off, Enabled alone is set.
type Summary struct {
	Enabled       bool       `json:"enabled"`
	Stale         bool       `json:"stale"` // the session has moved since
	Intents       []Intent   `json:"intents"`
	Constraints   []string   `json:"constraints"`
	GeneratedAt   *time.Time `json:"generated_at"` // nil: never
	UserTurns     int        `json:"user_turns"`
	LastActivity  time.Time  `json:"last_activity"`
	GenerateState string     `json:"generate_state"` // ready, too_few_turns or unavailable
}

// Intent is one thing that the person wanted.
type Intent struct {
	Title           string   `json:"title"`
	Ranges          [][2]int `json:"ranges"` // first and last turn of each stretch, from 1
	Status          string   `json:"status"`
	Verified        *bool    `json:"verified"`
	State           string   `json:"state"` // needs-you, in-progress, done or dropped
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
	Expect string `json:"expect"`
}

// Text is the step in a line.
func (s Step) Text() string {
	text := s.What
	if s.Why != "" {
		text += ", because " + s.Why
	}
	if s.Expect != "" {
		text += " → " + s.Expect
	}
	return text
}

// States are the states of intents, in the order in which they ask for attention.
func States() []string { return []string{"needs-you", "in-progress", "done", "dropped"} }

// State is the session's: that of the intent that asks for most attention; "" without intents.
func (s *Summary) State() string {
	for _, state := range States() {
		if slices.ContainsFunc(s.Intents, func(in Intent) bool { return in.State == state }) {
			return state
		}
	}
	return ""
}

func summaryPath(namespace, session, what string, more ...string) string {
	q := url.Values{}
	if namespace != "" {
		q.Set("namespace", namespace)
	}
	for _, name := range more {
		q.Set(name, "true")
	}
	return "/v1/sessions/" + url.PathEscape(session) + "/" + what + "?" + q.Encode()
}

// Summary gives the summary that a model made of a session; it makes none. An empty namespace means the latest session
// with the id.
func (c *Client) Summary(ctx context.Context, namespace, session string) (s Summary, err error) {
	err = c.Call(ctx, http.MethodGet, summaryPath(namespace, session, "summary"), nil, &s)
	return s, err
}

// MakeSummary has a model summarise a session that has moved since its last summary, and waits: give ctx a deadline of
// minutes.
func (c *Client) MakeSummary(ctx context.Context, namespace, session string) (s Summary, err error) {
	err = c.Call(ctx, http.MethodPost, summaryPath(namespace, session, "summary"), struct{}{}, &s)
	return s, err
}

// Outline gives what rules make of a session's events: always there, no model asked.
func (c *Client) Outline(ctx context.Context, namespace, session string) (s Summary, err error) {
	err = c.Call(ctx, http.MethodGet, summaryPath(namespace, session, "outline"), nil, &s)
	return s, err
}
