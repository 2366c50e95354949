package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"kiro-learn/internal/event"
)

// Health is the answer of a living collector.
type Health struct {
	Status       string   `json:"status"`
	Version      string   `json:"version"`
	PID          int      `json:"pid"`
	Capabilities []string `json:"capabilities"`
	StateDir     string   `json:"state_dir,omitempty"`
	Started      string   `json:"started,omitempty"`
}

// Health asks whether a collector is alive. Only an answer to this counts as alive: no pid file, no open port.
func (c *Client) Health(ctx context.Context) (h Health, err error) {
	err = c.Call(ctx, http.MethodGet, "/healthz", nil, &h)
	if err == nil && (h.Status != "ok" || h.PID == 0) {
		err = fmt.Errorf("%w: %s", ErrForeign, c.Address())
	}
	return h, err
}

// Receipt is the collector's answer to an event.
type Receipt struct {
	EventID   string     `json:"event_id"`
	Stored    bool       `json:"stored"` // false: it was there already
	Retrieval *Retrieval `json:"retrieval,omitempty"`
	Version   string     `json:"-"` // the collector's
}

// Retrieval is what a prompt's agent is to be shown.
type Retrieval struct {
	Context   string   `json:"context"`
	Records   []string `json:"records"` // ids of the records in Context
	LatencyMS float64  `json:"latency_ms"`
}

// PostEvent hands one serialised event over. When it returns without an error the event is durable.
func (c *Client) PostEvent(ctx context.Context, ev []byte, retrieve bool) (r Receipt, err error) {
	path := "/v1/events"
	if retrieve {
		path += "?retrieve=true"
	}
	a, err := c.Do(ctx, http.MethodPost, path, "application/json", ev)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(a.Body, &r); err != nil || r.EventID == "" {
		return r, fmt.Errorf("%w: %s", ErrForeign, c.Address())
	}
	r.Version = a.Version
	return r, nil
}

// nudge is a request to drain the outbox.
const nudge = "POST /v1/drain HTTP/1.1\r\nHost: kiro-learn\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// Nudge asks the local collector to drain the outbox and does not wait for the answer: a collector that is stopped must
// cost nothing. Only ErrAbsent is of interest.
func (c *Client) Nudge() error { return sendNudge(c.Address()) }

// Digest is what an agent that starts is to be shown of the sessions before it; "" when there is nothing.
func (c *Client) Digest(ctx context.Context, namespace, sessionID string) (string, error) {
	var d struct {
		Context string `json:"context"`
	}
	q := url.Values{"namespace": {namespace}, "session_id": {sessionID}}
	err := c.Call(ctx, http.MethodGet, "/v1/digest?"+q.Encode(), nil, &d)
	return d.Context, err
}

// Record is a record as a collector gives it.
type Record struct {
	event.Record
	RecordType string `json:"record_type,omitempty"` // CHUNK or FULL_SESSION of one about a session as a whole
	About      string `json:"about,omitempty"`       // the namespace that such a session belongs to
}

// Search finds records, best first. An empty namespace searches all of them.
func (c *Client) Search(ctx context.Context, namespace, query string, limit int, types []string, since time.Time) ([]Record, error) {
	return c.search(ctx, searchQuery(namespace, query, limit, types, since))
}

func searchQuery(namespace, query string, limit int, types []string, since time.Time) url.Values {
	q := url.Values{"query": {query}, "limit": {fmt.Sprint(limit)}}
	if namespace != "" {
		q.Set("namespace", namespace)
	}
	for _, t := range types {
		q.Add("type", t)
	}
	if !since.IsZero() {
		q.Set("since", since.UTC().Format(time.RFC3339))
	}
	return q
}

func (c *Client) search(ctx context.Context, q url.Values) (out []Record, err error) {
	err = c.Call(ctx, http.MethodGet, "/v1/memories/search?"+q.Encode(), nil, &out)
	return out, err
}

// Record gives the record with an id.
func (c *Client) Record(ctx context.Context, id string) (r Record, err error) {
	err = c.Call(ctx, http.MethodGet, "/v1/memories/"+url.PathEscape(id), nil, &r)
	return r, err
}
