package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kiro-learn/collector/client"
)

// The resources: two lists, and what is in them by id.
const (
	sessionsURI = "kiro-learn://sessions"
	recordsURI  = "kiro-learn://records"
	listLength  = 50
	markdown    = "text/markdown"
)

func (s *server) addResources(p *sdk.Server) {
	p.AddResource(&sdk.Resource{URI: sessionsURI, Name: "sessions", Title: "Sessions", MIMEType: markdown, Description: "The latest sessions of this project, with their ids."},
		s.resource(func(ctx context.Context, ns, _ string) (string, error) { return s.sessionList(ctx, ns) }))
	p.AddResource(&sdk.Resource{URI: recordsURI, Name: "records", Title: "Memory records", MIMEType: markdown, Description: "The newest memory records of this project, with their ids."},
		s.resource(func(ctx context.Context, ns, _ string) (string, error) { return s.recordList(ctx, ns) }))
	p.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: sessionsURI + "/{session_id}", Name: "session", Title: "Session", MIMEType: markdown, Description: "Where a session stood: its summaries and its last turns."},
		s.resource(func(ctx context.Context, ns, id string) (string, error) {
			st, err := s.state(ctx, ns, id)
			return st.text(), err
		}))
	p.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: recordsURI + "/{record_id}", Name: "record", Title: "Memory record", MIMEType: markdown, Description: "A memory record whole, with the events it was made of."},
		s.resource(func(ctx context.Context, ns, id string) (string, error) {
			r, sources, err := s.record(ctx, ns, id)
			if err != nil {
				return "", err
			}
			return recordText(&r, sources), nil
		}))
}

// resource makes a handler that reads the text of a resource; id is the last part of its address, "" for a list.
func (s *server) resource(read func(ctx context.Context, namespace, id string) (string, error)) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		origin, ask := s.place(ctx, req.Session, req.Params.InputResponses)
		if ask != nil {
			return &sdk.ReadResourceResult{InputRequests: ask}, nil
		}
		uri := req.Params.URI
		id := ""
		for _, list := range []string{sessionsURI, recordsURI} {
			if rest, ok := strings.CutPrefix(uri, list+"/"); ok {
				var err error
				if id, err = url.PathUnescape(rest); err != nil || id == "" {
					return nil, sdk.ResourceNotFoundError(uri)
				}
			}
		}
		text, err := read(ctx, origin.Namespace, id)
		if noSession(err) || errors.Is(err, errNoRecord) {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		if err != nil {
			return nil, fault(err)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: markdown, Text: text}}}, nil
	}
}

func (s *server) sessionList(ctx context.Context, namespace string) (string, error) {
	var all []client.Session
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		all, err = s.agent().Sessions(ctx, namespace, listLength)
		return err
	})
	if err != nil {
		return "", s.explain("list the sessions", err)
	}
	if len(all) == 0 {
		return "There are no sessions in this project's memory yet.\n", nil
	}
	var b strings.Builder
	for _, v := range all {
		fmt.Fprintf(&b, "- %s, %s, %s: %s (%s/%s)\n", v.LastEvent.Local().Format("2006-01-02 15:04"), many(v.Prompts, "prompt"), many(v.Records, "record"), v.Title, sessionsURI, url.PathEscape(v.SessionID))
	}
	return b.String(), nil
}

func (s *server) recordList(ctx context.Context, namespace string) (string, error) {
	var all []client.Record
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		all, err = s.agent().Records(ctx, namespace, "", listLength)
		return err
	})
	if err != nil {
		return "", s.explain("list the records", err)
	}
	if len(all) == 0 {
		return "There are no records in this project's memory yet.\n", nil
	}
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "- %s, %s: %s (%s/%s)\n", day(r.CreatedAt), r.ObservationType, r.Title, recordsURI, r.RecordID)
	}
	return b.String(), nil
}
