package client

import (
	"context"
	"net/http"
)

// Project is what the collector holds of one project.
type Project struct {
	Namespace   string `json:"namespace"`
	ProjectPath string `json:"project_path"` // where it lay when it was first seen; empty when unknown
	Events      int    `json:"events"`
	Records     int    `json:"records"`
	Sessions    int    `json:"sessions"`
}

// Merge asks for all that one project holds to be moved into another.
type Merge struct {
	From        string `json:"from"` // namespace
	Into        string `json:"into"` // namespace; empty: of the project that lies at ProjectPath, to which it has moved
	ProjectPath string `json:"project_path,omitempty"`
}

// Merged counts what was moved.
type Merged struct {
	Events  int    `json:"events"`
	Records int    `json:"records"`
	Into    string `json:"into"` // namespace
}

// Projects lists every project there is something of.
func (c *Client) Projects(ctx context.Context) ([]Project, error) {
	var got struct {
		Items []Project `json:"items"`
	}
	err := c.Call(ctx, http.MethodGet, "/v1/projects", nil, &got)
	return got.Items, err
}

// MergeProjects moves all that one project holds into another.
func (c *Client) MergeProjects(ctx context.Context, m Merge) (out Merged, err error) {
	err = c.Call(ctx, http.MethodPost, "/v1/projects/merge", m, &out)
	return out, err
}
