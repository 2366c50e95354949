package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Agent asks a collector for what an agent is going to read: stored text in the answers is neutralised, so that it cannot
// pose as anything but stored text.
type Agent struct{ *Client }

// Moment is one event of a timeline.
type Moment struct {
	EventID   string `json:"event_id"`
	SessionID string `json:"session_id"`
	Kind      string `json:"kind"`
	Time      string `json:"time"` // ISO 8601
	Text      string `json:"text"`
}

// Timeline is what happened, oldest first.
type Timeline struct {
	Items []Moment `json:"items"`
}

// Search finds a namespace's records, best first.
func (a Agent) Search(ctx context.Context, namespace, query string, limit int, types []string, since time.Time) ([]Record, error) {
	q := searchQuery(namespace, query, limit, types, since)
	q.Set("neutral", "true")
	return a.search(ctx, q)
}

// Record gives the record with an id, whatever its namespace.
func (a Agent) Record(ctx context.Context, id string) (r Record, err error) {
	err = a.Call(ctx, http.MethodGet, "/v1/memories/"+url.PathEscape(id)+"?neutral=true", nil, &r)
	return r, err
}

// Records are a namespace's newest records, those of one session if one is given, and of the types if some are given.
func (a Agent) Records(ctx context.Context, namespace, sessionID string, limit int, types ...string) ([]Record, error) {
	q := url.Values{"namespace": {namespace}, "limit": {fmt.Sprint(limit)}, "neutral": {"true"}, "type": types}
	if sessionID != "" {
		q.Set("session_id", sessionID)
	}
	var got struct {
		Items []Record `json:"items"`
	}
	err := a.Call(ctx, http.MethodGet, "/v1/memories?"+q.Encode(), nil, &got)
	return got.Items, err
}

// Sessions are a namespace's sessions, the latest first.
func (a Agent) Sessions(ctx context.Context, namespace string, limit int) ([]Session, error) {
	return a.sessions(ctx, url.Values{"namespace": {namespace}, "limit": {fmt.Sprint(limit)}, "neutral": {"true"}})
}

// Session gives the session of a namespace with an id, or the only one whose id begins so. The error is an ErrNoSession
// or a *ManySessions where there is none, or more than one.
func (a Agent) Session(ctx context.Context, namespace, start string) (Session, error) {
	return a.session(ctx, url.Values{"namespace": {namespace}, "neutral": {"true"}}, start)
}

// FullSession is the record about a session as a whole; ok is false where there is none yet.
func (a Agent) FullSession(ctx context.Context, namespace, sessionID string) (r Record, ok bool, err error) {
	var got struct {
		Items []Record `json:"items"`
	}
	q := url.Values{"session_id": {sessionID}, "type": {"FULL_SESSION"}, "neutral": {"true"}}
	err = a.Call(ctx, http.MethodGet, "/v1/memories?"+q.Encode(), nil, &got)
	for _, r := range got.Items {
		if r.About == namespace { // another project may have a session with this id
			return r, true, err
		}
	}
	return r, false, err
}

// Stands tells where a session stood: by the summary that a model made of it, else by rules, which byRules tells. It
// makes none.
func (a Agent) Stands(ctx context.Context, namespace, sessionID string) (s Summary, byRules bool, err error) {
	err = a.Call(ctx, http.MethodGet, summaryPath(namespace, sessionID, "summary", "neutral"), nil, &s)
	if err != nil || len(s.Intents) > 0 {
		return s, false, err
	}
	err = a.Call(ctx, http.MethodGet, summaryPath(namespace, sessionID, "outline", "neutral"), nil, &s)
	return s, true, err
}

// Events are the events with the given ids that the namespace has, in at most chars characters each.
func (a Agent) Events(ctx context.Context, namespace string, ids []string, chars int) ([]Moment, error) {
	return a.timeline(ctx, url.Values{"namespace": {namespace}, "event_id": ids, "limit": {fmt.Sprint(max(len(ids), 1))}, "chars": {fmt.Sprint(chars)}})
}

// Around are at most limit events of a session around one of them.
func (a Agent) Around(ctx context.Context, namespace, eventID string, limit int) ([]Moment, error) {
	return a.timeline(ctx, url.Values{"namespace": {namespace}, "around": {eventID}, "limit": {fmt.Sprint(limit)}})
}

// Latest are the last limit events of a session.
func (a Agent) Latest(ctx context.Context, namespace, sessionID string, limit int) ([]Moment, error) {
	return a.timeline(ctx, url.Values{"namespace": {namespace}, "session_id": {sessionID}, "limit": {fmt.Sprint(limit)}})
}

func (a Agent) timeline(ctx context.Context, q url.Values) ([]Moment, error) {
	var t Timeline
	err := a.Call(ctx, http.MethodGet, "/v1/timeline?"+q.Encode(), nil, &t)
	return t.Items, err
}
