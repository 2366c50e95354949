//go:build unix

package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"kiro-learn/internal/event"
)

// Identity: no session id. It is derived: all hooks of one agent agree, two agents in one directory stay apart.
func TestDerivedSessions(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	kiro := filepath.Join(b.dir, "kiro") // an agent: a process that lives as long as its chat and fires hooks by a shell
	writeFile(t, kiro, "#!/bin/bash\nfor i in 1 2; do\n"+
		`  echo '{"prompt":"'$1' '$i'","cwd":"'"$PWD"'"}' | bash -c 'kiro-learn userPromptSubmit'`+"\n"+
		`  echo '{"tool_name":"'$1'","cwd":"'"$PWD"'"}' | bash -c 'exec kiro-learn postToolUse'`+"\n"+
		`  echo '{"assistant_response":"'$1' '$i'","cwd":"'"$PWD"'"}' | bash -c 'true; kiro-learn stop'`+"\ndone\n")
	if err := os.Chmod(kiro, 0o700); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	for _, agent := range []string{"ana", "bob"} {
		cmd := b.command(t.Context(), agent)
		cmd.Path, cmd.Args[0] = kiro, "kiro-cli"
		go func() { ended <- cmd.Run() }()
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	sessions := map[string]map[string]int{}
	for _, e := range b.stored("") {
		agent := "ana"
		if strings.Contains(text(e), "bob") {
			agent = "bob"
		}
		if !strings.HasPrefix(e.SessionID, "derived-") {
			t.Errorf("session %q, want a derived one", e.SessionID)
		}
		if sessions[agent] == nil {
			sessions[agent] = map[string]int{}
		}
		sessions[agent][e.SessionID]++
	}
	for agent, of := range sessions {
		if len(of) != 1 {
			t.Errorf("the hooks of %s disagree: %v", agent, of)
		}
		for id, n := range of {
			if n != 6 {
				t.Errorf("%d events of %s, want 6", n, agent)
			}
			if agent == "ana" && sessions["bob"][id] != 0 {
				t.Errorf("both agents have session %s", id)
			}
		}
	}
	if len(sessions) != 2 {
		t.Errorf("%d agents, want 2", len(sessions))
	}
}

// Identity: hostile or odd session ids. They are data only: distinct stay distinct, none becomes a file's name, and the same
// id in two projects does not merge.
func TestHostileSessionIDs(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	long := strings.Repeat("x", 64<<10)
	ids := []string{
		"../../../../escaped", "/etc/passwd", "..", ".", "a/b", "a_b", "a:b", "a b", "A/B", "a\\b", "a\x00b", "a\nb", "a\tb", long, long + "y",
		strings.Repeat("z", 128), strings.Repeat("z", 129), "漢字", "\U0001f600", "$(touch escaped)", "; rm -rf x", "%2e%2e%2f", "con", "derived-0123", "hashed-0123", "' OR 1=1 --", `{"a":1}`,
	}
	for i, id := range ids {
		b.quiet("userPromptSubmit", b.prompt(id, fmt.Sprintf("prompt %d", i)))
		b.quiet("postToolUse", b.tool(id, fields{"n": i}, "ok"))
	}
	other := filepath.Join(b.home, "other")
	if err := os.MkdirAll(filepath.Join(other, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.quiet("userPromptSubmit", fields{"cwd": other, "session_id": "a/b", "prompt": "in the other project"})
	all := b.stored("")
	session, prompts := map[string]string{}, map[string]string{}
	for _, e := range all {
		switch e.Kind {
		case event.KindPrompt:
			if had, ok := session[e.SessionID+e.Namespace]; ok {
				t.Errorf("%q and %q share session %.80q", had, text(e), e.SessionID)
			}
			session[e.SessionID+e.Namespace], prompts[e.EventID] = text(e), text(e)
		case event.KindToolUse:
			n := fmt.Sprint("prompt ", data(t, e, "tool_input", "n"))
			if got := prompts[e.ParentEventID]; got != n { // events come oldest first
				t.Errorf("the tool use of %q belongs to %q", n, got)
			}
		}
		if n := len([]rune(e.SessionID)); n == 0 || n > event.MaxSessionID {
			t.Errorf("session id of %d characters", n)
		}
	}
	if len(session) != len(ids)+1 {
		t.Errorf("%d sessions, want %d", len(session), len(ids)+1)
	}
	err := filepath.WalkDir(b.dir, func(path string, _ os.DirEntry, err error) error {
		for _, piece := range []string{"escaped", "passwd", "漢", "xxxx", "zzzz", "con"} {
			if name := filepath.Base(path); strings.Contains(name, piece) && !strings.HasPrefix(name, "con") && !strings.HasPrefix(name, "collector") || name == piece {
				t.Errorf("%s is named by a payload", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Identity: a project is known by its root, not by its folder's name or by how it is spelled.
func TestProjects(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	at := func(p ...string) string { return filepath.Join(append([]string{b.home}, p...)...) }
	for _, d := range []string{"one/api/.git/worktrees/tree", "two/api/.git", "one/api/src/deep", "mono/.git", "mono/packages/a", "mono/packages/b", "plain/src", "owned/.kiro", "owned/lib/.git", "tree/src", "Ana Lee/café/.git"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, at("mono/packages/a/package.json"), "{}")
	writeFile(t, at("plain/go.mod"), "module plain")
	writeFile(t, at("tree/.git"), "gitdir: "+at("one/api/.git/worktrees/tree")+"\n")
	writeFile(t, at("one/api/.git/worktrees/tree/commondir"), "../..\n")
	writeFile(t, at("one/api/.git/worktrees/tree/gitdir"), at("tree/.git")+"\n")
	if err := os.Symlink(at("one/api"), at("link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, cwd, root string }{
		{"repository", at("one/api"), "one/api"},
		{"same name elsewhere", at("two/api"), "two/api"},
		{"below it", at("one/api/src/deep"), "one/api"},
		{"trailing slash", at("one/api") + "/", "one/api"},
		{"double slash", at("one") + "//api", "one/api"},
		{"dots", at("one") + "/../one/./api", "one/api"},
		{"symlink", at("link"), "one/api"},
		{"below a symlink", at("link/src"), "one/api"},
		{"linked worktree", at("tree"), "one/api"},
		{"below a linked worktree", at("tree/src"), "one/api"},
		{"package of a monorepo", at("mono/packages/a"), "mono"},
		{"another package of it", at("mono/packages/b"), "mono"},
		{"manifest alone", at("plain/src"), "plain"},
		{"a .kiro above a repository", at("owned/lib"), "owned"},
		{"spaces and accents", at("Ana Lee/café"), "Ana Lee/café"},
	}
	for i, tt := range tests {
		b.quiet("userPromptSubmit", fields{"cwd": tt.cwd, "session_id": fmt.Sprint(i), "prompt": tt.name})
	}
	relative := fmt.Sprint(len(tests))
	b.in(at("one/api/src")).quiet("userPromptSubmit", fields{"session_id": relative, "prompt": "no directory said"})
	all := b.stored("")
	namespaces := map[string]string{}
	for i, tt := range append(tests, struct{ name, cwd, root string }{"no directory said", "", "one/api"}) {
		e := only(t, all, fmt.Sprint(i))
		if e.Source.ProjectPath != at(tt.root) {
			t.Errorf("%s: project %q, want %q", tt.name, e.Source.ProjectPath, at(tt.root))
		}
		if had, ok := namespaces[tt.root]; ok && had != e.Namespace {
			t.Errorf("%s: another namespace than others of %s", tt.name, tt.root)
		}
		namespaces[tt.root] = e.Namespace
	}
	distinct := map[string]bool{}
	for _, ns := range namespaces {
		distinct[ns] = true
	}
	if len(distinct) != len(namespaces) {
		t.Errorf("%d namespaces for %d projects", len(distinct), len(namespaces))
	}
}

// Identity: odd roots go to one unscoped bucket, nothing crashes, and nothing from it reaches a real project.
func TestOddRoots(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	file := filepath.Join(b.home, "a-file")
	writeFile(t, file, "")
	story := func(name string, from *box, cwd any) {
		p := fields{"session_id": name}
		if cwd != nil {
			p["cwd"] = cwd
		}
		with := func(more fields) fields {
			for k, v := range p {
				more[k] = v
			}
			return more
		}
		from.quiet("userPromptSubmit", with(fields{"prompt": "We decided to call the flamingo service by queue, because it is slow. " + name}))
		from.quiet("postToolUse", with(fields{"tool_name": "fs_write", "tool_input": fields{"command": "create", "path": "flamingo.go"}, "tool_response": "ok"}))
		from.quiet("stop", with(fields{"assistant_response": "The flamingo service is called by queue now."}))
	}
	story("home", b, b.home)
	story("root", b, "/")
	story("temp", b, os.TempDir())
	story("missing", b, filepath.Join(b.home, "never", "was"))
	story("file", b, file)
	story("empty-in-home", b.in(b.home), "")
	story("home-unset", b.with("HOME="), "/")
	gone := filepath.Join(b.home, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	// A shell whose directory is deleted under it.
	cmd := b.in(gone).command(t.Context(), "-c", `rmdir "$PWD" && echo '{"session_id":"deleted","prompt":"flamingo deleted"}' | kiro-learn userPromptSubmit`)
	cmd.Path, cmd.Args[0] = "/bin/sh", "sh"
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("in a deleted directory: %v %s", err, out)
	}
	all := b.stored("")
	namespaces, sessions := map[string][]string{}, map[string]bool{}
	for _, e := range all {
		namespaces[e.Namespace] = append(namespaces[e.Namespace], e.SessionID)
		sessions[e.SessionID] = true
	}
	if len(namespaces) != 1 || len(sessions) != 8 {
		t.Errorf("%d sessions in %d namespaces, want 8 in one: %v", len(sessions), len(namespaces), namespaces)
	}
	b.must("flush", "--extract", "--timeout", "50s")
	if records, err := b.records(""); err != nil || len(records) == 0 {
		t.Fatalf("%d records of the bucket, %v; this test then shows nothing", len(records), err)
	}
	if out := b.hook("userPromptSubmit", b.prompt("real", "how is the flamingo service called?")); out != "" {
		t.Errorf("a real project was given %q", out)
	}
	if out := b.must("search", "flamingo"); !strings.HasPrefix(out, "nothing found") {
		t.Errorf("a search in a real project found %q", out)
	}
}

// Identity: a project that is deleted keeps the identity that it had.
func TestDeletedProjectKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	sub := filepath.Join(b.project, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	ask := func(cwd, session string) {
		b.in(b.home).quiet("userPromptSubmit", fields{"cwd": cwd, "session_id": session, "prompt": "x"})
	}
	ask(b.project, "before")
	ask(sub, "before-below")
	if err := os.RemoveAll(b.project); err != nil {
		t.Fatal(err)
	}
	ask(b.project, "after")
	ask(sub, "after-below")
	all := b.in(b.home).stored("")
	want := only(t, all, "before").Namespace
	for _, s := range []string{"before-below", "after", "after-below"} {
		if got := only(t, all, s).Namespace; got != want {
			t.Errorf("%s: namespace %s, want %s", s, got, want)
		}
	}
}

// Identity: no HOME, no USER, nothing at all in the environment, and other zones. The event is kept and in order.
func TestBareEnvironments(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	zones := filepath.Join(b.dir, "no-zones")
	tests := []struct {
		name string
		env  []string // nil: as it is
		more []string
		zone string // the end of valid_time
	}{
		{"no HOME", drop(b.env, "HOME"), nil, ""},
		{"no USER", drop(b.env, "USER"), []string{"LOGNAME="}, ""},
		{"no PATH", drop(b.env, "PATH"), nil, ""},
		{"only the memory's place", []string{"KIRO_LEARN_HOME=" + b.memory}, nil, ""},
		{"far east", nil, []string{"TZ=Pacific/Kiritimati"}, "+14:00"},
		{"half an hour", nil, []string{"TZ=Asia/Kathmandu"}, "+05:45"},
		{"no such zone", nil, []string{"TZ=Atlantis/Capital", "ZONEINFO=" + zones}, "Z"},
		{"a zone of odd text", nil, []string{"TZ=../../etc/passwd"}, "Z"},
	}
	for _, tt := range tests {
		b := b.with(tt.more...)
		if tt.env != nil {
			b.env = append(tt.env, tt.more...)
		}
		b.quiet("userPromptSubmit", b.prompt(tt.name, tt.name))
	}
	all := b.stored("")
	for i, tt := range tests {
		e := only(t, all, tt.name)
		if !strings.HasSuffix(e.ValidTime, tt.zone) {
			t.Errorf("%s: valid_time %s, want %s at its end", tt.name, e.ValidTime, tt.zone)
		}
		when, err := time.Parse(time.RFC3339Nano, e.ValidTime)
		if err != nil || time.Since(when).Abs() > time.Hour {
			t.Errorf("%s: valid_time %s: %v", tt.name, e.ValidTime, err)
		}
		if all[i].EventID != e.EventID || e.ActorID != all[0].ActorID || e.ActorID == "" {
			t.Errorf("%s: out of order, or by another actor than the others: %q", tt.name, e.ActorID)
		}
	}
	// Nothing at all: where the memory then is depends on the system; here only the promise of a hook is at stake.
	b.env = []string{"XDG_STATE_HOME=" + filepath.Join(b.dir, "xdg"), "XDG_CONFIG_HOME=" + b.dir, "XDG_DATA_HOME=" + b.dir, "XDG_RUNTIME_DIR=" + b.dir, "KIRO_LEARN_DISABLE="}
	writeFile(t, filepath.Join(b.dir, "kiro-learn", "config.json"), `{"collector":{"autostart":false}}`)
	b.quiet("userPromptSubmit", b.prompt("xdg", "in the XDG directories"))
	if files, _ := filepath.Glob(filepath.Join(b.dir, "xdg", "kiro-learn", "outbox", "*.q")); len(files) != 1 {
		t.Errorf("%d segments in the XDG state directory, want 1", len(files))
	}
}

// drop is env without a variable.
func drop(env []string, name string) (out []string) {
	for _, kv := range env {
		if !strings.HasPrefix(kv, name+"=") {
			out = append(out, kv)
		}
	}
	return out
}

// Identity: events of one machine stay in the order of arrival when the clock says otherwise.
func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	b.quiet("userPromptSubmit", b.prompt("s", "first"))
	// The clock ran a year ahead when the last id was made, and has been set right since.
	file := filepath.Join(b.memory, "state", "last-event-id")
	ahead := ulid.MustNew(ulid.Timestamp(time.Now().AddDate(1, 0, 0)), rand.Reader).String()
	if size(file) != int64(len(ahead)) {
		t.Fatalf("%s is no id", file)
	}
	writeFile(t, file, ahead)
	for i := range 5 {
		b.quiet("userPromptSubmit", b.prompt("s", fmt.Sprintf("prompt %d", i)))
	}
	all := b.stored("")
	if got, want := fmt.Sprint(texts(all)), "[first prompt 0 prompt 1 prompt 2 prompt 3 prompt 4]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	for _, e := range all {
		if e.EventID <= ahead && text(e) != "first" {
			t.Errorf("the id of %q sorts before one made earlier", text(e))
		}
		if when, err := time.Parse(time.RFC3339Nano, e.ValidTime); err != nil || time.Since(when).Abs() > time.Hour {
			t.Errorf("valid_time of %q is %s", text(e), e.ValidTime)
		}
	}
}
