package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"kiro-learn/internal/event"
)

// History is what a record stands for, and what stands for it.
type History struct {
	SupersededBy string       `json:"superseded_by,omitempty"` // record id; empty when the record is in use
	Supersedes   []Superseded `json:"supersedes"`              // the latest first, with those that they had stood for
}

// Superseded is a record that another one stands for.
type Superseded struct {
	event.Record
	By  string    `json:"by"`  // record id
	Why string    `json:"why"` // "duplicate", "judged", "model" or "edited"
	At  time.Time `json:"at"`
}

// Edited is what a person changes of a record; what is left out stays.
type Edited struct {
	Title           string   `json:"title"`
	Summary         string   `json:"summary"`
	Facts           []string `json:"facts"`
	Concepts        []string `json:"concepts"`
	FilesTouched    []string `json:"files_touched"`
	ObservationType string   `json:"observation_type"`
}

// EditRecord puts what a person has written in the place of a record, which stays in the history of the new one.
func (c *Client) EditRecord(ctx context.Context, id string, e Edited) (r event.Record, err error) {
	err = c.Call(ctx, http.MethodPut, "/v1/memories/"+url.PathEscape(id), e, &r)
	return r, err
}

// History asks for a record's history.
func (c *Client) History(ctx context.Context, id string) (h History, err error) {
	err = c.Call(ctx, http.MethodGet, "/v1/memories/"+url.PathEscape(id)+"/history", nil, &h)
	return h, err
}

// RestoreRecord brings a superseded record back beside the one that stood for it.
func (c *Client) RestoreRecord(ctx context.Context, id string) (r event.Record, err error) {
	err = c.Call(ctx, http.MethodPost, "/v1/memories/"+url.PathEscape(id)+"/restore", nil, &r)
	return r, err
}
