package mcp

import (
	"bytes"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
	"kiro-learn/internal/project"
	"kiro-learn/internal/session"
)

// offline are the options of a server without a collector, in directories of its own.
func offline(t testing.TB, in io.Reader, out io.Writer) Options {
	dir := t.TempDir()
	c := config.Default()
	c.Collector.Autostart = false
	return Options{
		Stdin: in, Stdout: out, Dirs: config.Dirs{Config: dir, Data: dir, State: dir, Run: dir}, Config: c, Getenv: func(string) string { return "" }, WorkDir: dir,
		Origin: func(dir string) event.Event {
			return event.Event{
				ActorID: "mia", Namespace: event.Namespace("mia", project.IDOf(dir)), SchemaVersion: event.SchemaVersion,
				Source: event.Source{Surface: event.SurfaceCLI, Version: "0", ClientID: "host", ProjectPath: dir},
			}
		},
		Agent: func() session.Agent { return session.Agent{PID: 1} }, Version: "0",
	}
}

func uri(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func TestProjectOfTheClientsRoots(t *testing.T) {
	for _, version := range append(sdk.SupportedProtocolVersions()[:3:3], "2024-11-05") {
		t.Run(version, func(t *testing.T) {
			b := newBox(t)
			blog, notes := b.newProject("my blog ü"), b.newProject("notes")
			nowhere := filepath.Dir(b.home) // of no project
			spaceOf := func(c *sdk.ClientSession) string {
				return b.record(idIn(t, good(t, c, "save_observation", observationArgs()))).Namespace
			}
			space := func(dir string) string {
				_, id, _ := event.SplitNamespace(spaceOf(second(b.connect(&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}, version))))
				if dir != b.project {
					real, err := filepath.EvalSymlinks(dir)
					if err != nil {
						t.Fatal(err)
					}
					return project.IDOf(real)
				}
				return id
			}
			c, s := b.connect(nil, version, &sdk.Root{URI: "https://example.org/x"}, &sdk.Root{URI: uri(nowhere)}, &sdk.Root{URI: uri(blog)})
			if _, id, _ := event.SplitNamespace(spaceOf(s)); id != space(blog) {
				t.Errorf("with a root: %s, want the root's %s", id, space(blog))
			}
			if version < rootsWithin {
				c.RemoveRoots(uri(blog))
				c.AddRoots(&sdk.Root{URI: uri(notes)})
				waitFor(t, "the new root to count", func() bool {
					_, id, _ := event.SplitNamespace(spaceOf(s))
					return id == space(notes)
				})
			}
			_, bare := b.connect(nil, version)
			if _, id, _ := event.SplitNamespace(spaceOf(bare)); id != space(b.project) {
				t.Errorf("without roots: %s, want the directory's %s", id, space(b.project))
			}
		})
	}
}

func second(_ *sdk.Client, s *sdk.ClientSession) *sdk.ClientSession { return s }

// A client that says it has roots and never names them costs a moment, twice, and then nothing.
func TestRootsThatAreNeverNamed(t *testing.T) {
	r := newBox(t).raw()
	r.send(strings.Replace(initialize("2025-06-18"), `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1))
	r.answer("1")
	asked := 0
	for i := range 4 {
		r.send(callLine(10+i, "search_memory", args{"query": "cache"}) + "\n")
		for {
			m, line, ok := r.next()
			if !ok {
				t.Fatal("the server left")
			}
			if m.Method == "roots/list" {
				asked++
			} else if m.Method == "" {
				if !bytes.Contains(m.Result, []byte("Nothing in this project's memory")) {
					t.Errorf("answer %s", line)
				}
				break
			}
		}
	}
	if asked != rootsTries {
		t.Errorf("asked %d times, want %d", asked, rootsTries)
	}
	r.send(callLine(20, "search_memory", args{"query": "cache"}))
	if rest := r.end(); len(rest) != 1 {
		t.Errorf("at the end: %v", rest)
	}
}

func TestFileOf(t *testing.T) {
	for _, tt := range []struct {
		uri     string
		windows bool
		want    string
	}{
		{"file:///home/mia/shop", false, "/home/mia/shop"},
		{"file:///home/mia/my%20shop/%C3%BC/", false, "/home/mia/my shop/ü"},
		{"FILE://localhost/home/mia", false, "/home/mia"},
		{"https://example.org/x", false, ""},
		{"file:", false, ""},
		{"%zz", false, ""},
		{"", false, ""},
		{"file:///C:/src/shop", true, `C:\src\shop`},
		{"file:///c%3A/src/shop", true, `c:\src\shop`},
		{"file://server/share/x", true, `\\server\share\x`},
	} {
		if got := fileOf(tt.uri, tt.windows); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.uri, got, tt.want)
		}
	}
}

func TestSessionOf(t *testing.T) {
	env := map[string]string{}
	o := offline(t, nil, nil)
	o.Getenv = func(name string) string { return env[name] }
	s := &server{o: o}
	a, b := o.Origin("/a"), o.Origin("/b")
	derived := s.sessionOf(&a)
	if !strings.HasPrefix(derived, session.DerivedPrefix) || s.sessionOf(&a) != derived || s.sessionOf(&b) == derived {
		t.Errorf("derived %q, again %q, elsewhere %q", derived, s.sessionOf(&a), s.sessionOf(&b))
	}
	if hook := session.ID("", o.Getenv, event.SurfaceCLI, project.IDOf("/a"), o.Agent); hook != derived {
		t.Errorf("a hook of the same agent derives %q, we %q", hook, derived)
	}
	env["KIRO_SESSION_ID"] = "chat-1"
	if got := s.sessionOf(&a); got != "chat-1" {
		t.Errorf("named: %q", got)
	}
}
