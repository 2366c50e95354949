package mcp

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kiro-learn/internal/event"
	"kiro-learn/internal/privacy"
	"kiro-learn/internal/session"
)

const (
	rootsTime   = time.Second  // how long a client may take to name its roots
	rootsTries  = 2            // how often it is asked before we go without
	rootsKey    = "roots"      // under which roots are asked for within an answer
	rootsWithin = "2026-07-28" // since this version of the protocol a server asks only within an answer
)

// place finds out whose memory a call is about: that of the client's root where it names one, else that of the directory
// we were started in. Where the protocol lets us ask for roots only within the answer, ask is what the answer must be.
func (s *server) place(ctx context.Context, ss *sdk.ServerSession, told sdk.InputResponseMap) (origin event.Event, ask sdk.InputRequestMap) {
	s.asking.Lock() // of calls that come together one asks, and the others have its answer
	defer s.asking.Unlock()
	if root, asked := s.known(); asked {
		return s.origin(root), nil
	}
	var roots *sdk.ListRootsResult
	asked := true
	init := ss.InitializeParams()
	switch {
	case init == nil || init.Capabilities == nil || init.Capabilities.RootsV2 == nil:
	case init.ProtocolVersion < rootsWithin:
		if roots, asked = s.listRoots(ctx, ss); !asked {
			s.mute++
			asked = s.mute >= rootsTries
		}
	default:
		answer, ok := told[rootsKey]
		if !ok {
			return origin, sdk.InputRequestMap{rootsKey: &sdk.ListRootsParams{}}
		}
		roots, _ = answer.(*sdk.ListRootsResult)
	}
	root := s.choose(roots)
	s.know(root, asked)
	return s.origin(root), nil
}

func (s *server) known() (root string, asked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root, s.asked
}

func (s *server) know(root string, asked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.root, s.asked = root, asked
}

func (s *server) origin(root string) event.Event {
	if root == "" {
		root = s.o.WorkDir
	}
	return s.o.Origin(root)
}

// listRoots asks the client. ok is false where the answer may still come another time.
func (s *server) listRoots(ctx context.Context, ss *sdk.ServerSession) (roots *sdk.ListRootsResult, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	go func() {
		select {
		case <-s.left: // nobody answers any more
			cancel()
		case <-ctx.Done():
		}
	}()
	roots, err := ss.ListRoots(ctx, nil)
	if err != nil {
		s.o.Log.Info("the client did not name its roots", nil)
	}
	return roots, err == nil
}

// choose gives the first root that belongs to a project, else the first that is a directory; "" when there is none.
func (s *server) choose(roots *sdk.ListRootsResult) string {
	if roots == nil {
		return ""
	}
	first := ""
	for _, r := range roots.Roots {
		if r == nil {
			continue
		}
		dir := fileOf(r.URI, runtime.GOOS == "windows")
		if dir == "" {
			continue
		}
		if s.o.Origin(dir).Source.ProjectPath != "" {
			return dir
		}
		if first == "" {
			first = dir
		}
	}
	return first
}

// fileOf is the path that a file URI names; "" for any other.
func fileOf(uri string, windows bool) string {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Path == "" {
		return ""
	}
	path := u.Path
	if windows {
		if len(path) > 2 && path[0] == '/' && path[2] == ':' {
			path = path[1:] // file:///C:/src
		}
		if u.Host != "" && u.Host != "localhost" {
			path = "//" + u.Host + path
		}
		return strings.ReplaceAll(path, "/", `\`)
	}
	return filepath.Clean(path)
}

// sessionOf names the session that a call belongs to: the one that Kiro names in our environment, else one derived from
// the client's process as a hook's is.
func (s *server) sessionOf(origin *event.Event) string {
	_, project, _ := event.SplitNamespace(origin.Namespace)
	id := session.ID("", s.o.Getenv, origin.Source.Surface, project, s.o.Agent)
	if privacy.Holds(id) {
		return session.Hashed(id)
	}
	return id
}
