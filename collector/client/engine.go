package client

import (
	"context"
	"net/http"
)

// Engine says how events become memory records.
type Engine struct {
	Extract string `json:"extract"`            // "rules" or "llm"
	Failing int    `json:"failing"`            // sessions whose batches have failed and are tried again soon
	Later   int    `json:"later"`              // events that the rules have distilled and the model is to distil again
	LaterAt string `json:"later_at,omitempty"` // when it tries again, ISO 8601; absent where it may at once
	Model   *Model `json:"model,omitempty"`    // the language model; absent until it is needed
}

// Model is how the language model has been doing since the collector started.
type Model struct {
	Engine    string `json:"engine"`
	State     string `json:"state"` // of its breaker: "closed": in use; "open": left in peace; "half-open": the next call is a trial; or "unavailable": it could not be made
	Calls     int    `json:"calls"`
	Failed    int    `json:"failed"`
	LastError string `json:"last_error,omitempty"`
	RetryAt   string `json:"retry_at,omitempty"` // ISO 8601
}

// Engine asks how events become records.
func (c *Client) Engine(ctx context.Context) (Engine, error) {
	var got struct {
		Engine Engine `json:"engine"`
	}
	err := c.Call(ctx, http.MethodGet, "/v1/stats", nil, &got)
	return got.Engine, err
}
