package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"kiro-learn/internal/event"
)

// Why says how a record came by its score.
type Why struct {
	Score float64   `json:"score"`
	Own   float64   `json:"own"`   // of this, what the record's own words gave
	Near  float64   `json:"near"`  // what words that stand together as in the prompt gave; the rest came from records nearby
	Terms []WhyTerm `json:"terms"` // those of the prompt that the record itself holds, most telling first
}

// WhyTerm is a word of the prompt that a record holds.
type WhyTerm struct {
	Word    string   `json:"word"`
	Fields  []string `json:"fields"`  // of title, summary, facts, concepts and files
	Records int      `json:"records"` // of the project that hold it
	Score   float64  `json:"score"`
}

// Explained is a record that was found, and why.
type Explained struct {
	Record
	Why Why `json:"why"`
}

// Recalled is a prompt that was looked up, and what it was shown.
type Recalled struct {
	EventID   string      `json:"event_id"`
	Namespace string      `json:"namespace"`
	SessionID string      `json:"session_id"`
	At        time.Time   `json:"at"`
	Prompt    string      `json:"prompt"` // its first 120 characters
	LatencyMS float64     `json:"latency_ms"`
	Records   []Explained `json:"records"` // best first; empty when nothing was relevant enough
}

// Shown is a record that a session was shown.
type Shown struct {
	EventID string       `json:"event_id,omitempty"` // of the prompt; absent at a session's start, and where it is not known
	At      time.Time    `json:"at"`
	Record  event.Record `json:"record"`
	Why     *Why         `json:"why,omitempty"`
}

// WhereShown is a session that was shown a record.
type WhereShown struct {
	Namespace string    `json:"namespace"`
	SessionID string    `json:"session_id"`
	EventID   string    `json:"event_id,omitempty"` // of the prompt; absent at a session's start, and where it is not known
	At        time.Time `json:"at"`
	Why       *Why      `json:"why,omitempty"`
}

// Explain finds records as Search does, with the reasons.
func (c *Client) Explain(ctx context.Context, namespace, query string, limit int, types []string, since time.Time) (out []Explained, err error) {
	q := searchQuery(namespace, query, limit, types, since)
	q.Set("explain", "true")
	err = c.Call(ctx, http.MethodGet, "/v1/memories/search?"+q.Encode(), nil, &out)
	return out, err
}

// Retrievals are the last prompts that the running collector has looked up, the newest first. An empty namespace gives
// those of every project.
func (c *Client) Retrievals(ctx context.Context, namespace string, limit int) ([]Recalled, error) {
	q := url.Values{"limit": {fmt.Sprint(limit)}}
	if namespace != "" {
		q.Set("namespace", namespace)
	}
	var out struct {
		Items []Recalled `json:"items"`
	}
	err := c.Call(ctx, http.MethodGet, "/v1/retrievals?"+q.Encode(), nil, &out)
	return out.Items, err
}
