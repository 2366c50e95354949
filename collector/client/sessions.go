package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Session is a session as lists show it.
type Session struct {
	Namespace   string    `json:"namespace"`
	SessionID   string    `json:"session_id"`
	ProjectPath string    `json:"project_path"`
	Surface     string    `json:"surface"`
	Title       string    `json:"title"`
	Started     time.Time `json:"started"`
	LastEvent   time.Time `json:"last_event"`
	Events      int       `json:"events"`
	Prompts     int       `json:"prompts"`
	Records     int       `json:"records"`
	State       string    `json:"state,omitempty"` // by the session's summary, if it has one
}

// ErrNoSession means that no session has an id, or an id that begins so.
var ErrNoSession = errors.New("there is no session whose id begins so")

// ManySessions means that the ids of several sessions begin so.
type ManySessions struct {
	Start string
	IDs   []string // some of them
}

// Error names some of them.
func (m *ManySessions) Error() string {
	return fmt.Sprintf("the ids of several sessions begin with %q, among them %s; write more of the one that is meant", m.Start, strings.Join(m.IDs, " and "))
}

// Sessions are a namespace's sessions, the latest first; those of all without one.
func (c *Client) Sessions(ctx context.Context, namespace string, limit int) ([]Session, error) {
	q := url.Values{"limit": {fmt.Sprint(limit)}}
	if namespace != "" {
		q.Set("namespace", namespace)
	}
	return c.sessions(ctx, q)
}

// Session gives the session of a namespace with an id, or the only one whose id begins so; where the namespace has none,
// that of any. The error is an ErrNoSession or a *ManySessions where there is none, or more than one.
func (c *Client) Session(ctx context.Context, namespace, start string) (Session, error) {
	s, err := c.session(ctx, url.Values{"namespace": {namespace}}, start)
	if errors.Is(err, ErrNoSession) {
		return c.session(ctx, url.Values{}, start)
	}
	return s, err
}

// session finds the session that an id or its beginning names. Lists cut ids, so the mark of the cut is no part of it.
func (c *Client) session(ctx context.Context, q url.Values, start string) (Session, error) {
	start = strings.TrimSuffix(strings.TrimSpace(start), "…")
	q.Set("session_id_start", start)
	q.Set("limit", "50")
	if start == "" {
		return Session{}, ErrNoSession
	}
	found, err := c.sessions(ctx, q)
	found = slices.DeleteFunc(found, func(s Session) bool { return !strings.HasPrefix(s.SessionID, start) }) // of a collector that does not know the question
	switch {
	case err != nil:
		return Session{}, err
	case len(found) == 0:
		return Session{}, ErrNoSession
	case len(found) == 1 || found[0].SessionID == start:
		return found[0], nil
	}
	return Session{}, &ManySessions{start, []string{found[0].SessionID, found[1].SessionID}}
}

func (c *Client) sessions(ctx context.Context, q url.Values) ([]Session, error) {
	var got struct {
		Items []Session `json:"items"`
	}
	err := c.Call(ctx, http.MethodGet, "/v1/sessions?"+q.Encode(), nil, &got)
	return got.Items, err
}
