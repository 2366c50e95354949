package client

import (
	"context"
	"net/http"
	"time"
)

// Selection says what to forget: records and events by their ids; or a session of a namespace; or all that a namespace
// holds; or what holds a text or was made before a time, within a namespace and a session if they are given.
type Selection struct {
	Namespace string   `json:"namespace,omitempty"`
	Records   []string `json:"record_ids,omitempty"`
	Events    []string `json:"event_ids,omitempty"`
	Session   string   `json:"session_id,omitempty"`
	All       bool     `json:"all,omitempty"`
	Contains  string   `json:"contains,omitempty"`
	Before    string   `json:"before,omitempty"` // ISO 8601
	Now       bool     `json:"now,omitempty"`    // not to be brought back
	DryRun    bool     `json:"dry_run,omitempty"`
}

// Forgotten tells what an act of forgetting took, or would take.
type Forgotten struct {
	ID       int64     `json:"id,omitempty"` // by which it can be undone; 0 when it cannot
	At       time.Time `json:"at"`
	Until    time.Time `json:"until"` // when it can no longer be undone; zero when it cannot
	What     string    `json:"what"`
	Events   int       `json:"events"`
	Records  int       `json:"records"`
	Sessions int       `json:"sessions"`
	Related  []string  `json:"related,omitempty"` // records that stay although an event or all events behind them go
}

// Forget takes out of memory what is selected.
func (c *Client) Forget(ctx context.Context, s Selection) (f Forgotten, err error) {
	err = c.Call(ctx, http.MethodPost, "/v1/forget", s, &f)
	return f, err
}

// Forgettings lists what can be brought back, the latest first.
func (c *Client) Forgettings(ctx context.Context) ([]Forgotten, error) {
	var got struct {
		Items []Forgotten `json:"items"`
	}
	err := c.Call(ctx, http.MethodGet, "/v1/forget", nil, &got)
	return got.Items, err
}

// Unforget brings back what an act of forgetting took; the latest one where id is 0.
func (c *Client) Unforget(ctx context.Context, id int64) (f Forgotten, err error) {
	err = c.Call(ctx, http.MethodPost, "/v1/forget/undo", map[string]int64{"id": id}, &f)
	return f, err
}

// Purge lets go for good all that could still be brought back.
func (c *Client) Purge(ctx context.Context) (n int, err error) {
	var got struct {
		Purged int `json:"purged"`
	}
	err = c.Call(ctx, http.MethodPost, "/v1/forget/purge", map[string]bool{}, &got)
	return got.Purged, err
}
