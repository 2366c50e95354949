//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"kiro-learn/internal/event"
)

const isLinux = runtime.GOOS == "linux"

// box is a machine that fails its test when something is not as it must be.
type box struct {
	*machine
	t testing.TB
}

// newBox gives a test a machine, and ends it with the test. Settings are sections of config.json.
func newBox(t testing.TB, settings map[string]any) *box {
	t.Helper()
	program, err := current()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "kl-") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	m, err := newMachine(dir, program)
	if err == nil {
		err = m.configure(settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.leave()
		_ = os.RemoveAll(dir)
	})
	return &box{m, t}
}

// noCollector are the settings under which no hook starts one.
func noCollector() map[string]any {
	return map[string]any{"collector": map[string]any{"autostart": false}}
}

// with is the same machine with more in the environment; a later value for a name wins.
func (b *box) with(env ...string) *box {
	m := *b.machine
	m.env = append(append([]string(nil), m.env...), env...)
	return &box{&m, b.t}
}

// in is the same machine seen from another directory.
func (b *box) in(dir string) *box {
	m := *b.machine
	m.cwd = dir
	return &box{&m, b.t}
}

// fields are a payload.
type fields map[string]any

// bytes is a payload as a hook reads it: fields as JSON, text as it is.
func (b *box) bytes(payload any) string {
	switch p := payload.(type) {
	case string:
		return p
	case []byte:
		return string(p)
	case nil:
		return ""
	}
	j, err := json.Marshal(payload)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(j)
}

// feed gives a command its stdin.
func (b *box) feed(cmd *exec.Cmd, payload any) {
	b.t.Helper()
	pipe, err := piped(b.bytes(payload))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = pipe.Close() })
	cmd.Stdin = pipe
}

// hook runs a hook as every hook must run: exit 0, nothing on stderr. It gives what the hook printed.
func (b *box) hook(name string, payload any, args ...string) string {
	b.t.Helper()
	r, err := b.run(strings.NewReader(b.bytes(payload)), append([]string{name}, args...)...)
	switch {
	case err != nil:
		b.t.Error(err)
	case r.code != 0 || r.stderr != "":
		b.t.Errorf("%s: exit %d, stderr %q; want 0 and nothing", name, r.code, r.stderr)
	case r.took > hang:
		b.t.Errorf("%s took %v", name, r.took)
	}
	return r.stdout
}

// quiet runs a hook that has nothing to print.
func (b *box) quiet(name string, payload any, args ...string) {
	b.t.Helper()
	if out := b.hook(name, payload, args...); out != "" {
		b.t.Errorf("%s printed %q; want nothing", name, out)
	}
}

// prompt, tool and stop are the payloads of one session's hooks as CLI 2 sends them.
func (b *box) prompt(session, text string) fields {
	return fields{"hook_event_name": "userPromptSubmit", "cwd": b.project, "session_id": session, "prompt": text}
}

func (b *box) tool(session string, input, response any) fields {
	return fields{"hook_event_name": "postToolUse", "cwd": b.project, "session_id": session, "tool_name": "execute_bash", "tool_input": input, "tool_response": response}
}

func (b *box) stop(session, text string) fields {
	return fields{"hook_event_name": "stop", "cwd": b.project, "session_id": session, "assistant_response": text}
}

// must runs a command that must succeed and gives what it printed.
func (b *box) must(args ...string) string {
	b.t.Helper()
	r, err := b.run(nil, args...)
	if err != nil {
		b.t.Fatal(err)
	}
	if r.code != 0 {
		b.t.Fatalf("kiro-learn %s: exit %d: %s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// start starts the collector and gives its process id.
func (b *box) start() int {
	b.t.Helper()
	b.must("collector", "start", "--timeout", "50s")
	return b.pid()
}

func (b *box) pid() int {
	b.t.Helper()
	pid, err := b.collectorPID()
	if err != nil || pid <= 1 {
		b.t.Fatalf("collector: pid %d, %v", pid, err)
	}
	return pid
}

func (b *box) signal(pid int, s syscall.Signal) {
	b.t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		b.t.Fatalf("signal %d: %v", pid, err)
	}
}

// stored delivers what waits and gives the stored events that a query selects, oldest first.
func (b *box) stored(query string) []event.Event {
	b.t.Helper()
	b.must("flush", "--timeout", "50s")
	all, err := b.events(query)
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

// one is the only event that a query selects.
func (b *box) one(query string) event.Event {
	b.t.Helper()
	all := b.stored(query)
	if len(all) != 1 {
		b.t.Fatalf("%d events for %q, want 1: %s", len(all), query, texts(all))
	}
	return all[0]
}

// waits tells how many events lie in the outbox.
func (b *box) waits() int {
	b.t.Helper()
	st, err := b.outbox()
	if err != nil {
		b.t.Fatal(err)
	}
	return st.Pending
}

// text is what an event says; a tool use is its JSON.
func text(e event.Event) string {
	body, err := event.ParseBody(e.Body)
	if err != nil {
		return err.Error()
	}
	if body.Type == event.BodyJSON {
		return string(e.Body)
	}
	return body.Text()
}

func texts(all []event.Event) (out []string) {
	for _, e := range all {
		out = append(out, event.CutChars(text(e), 200))
	}
	return out
}

// data is a field of a tool use's data, by its path; nil when it is not there.
func data(t testing.TB, e event.Event, path ...string) any {
	t.Helper()
	var body struct {
		Data any `json:"data"`
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		t.Fatalf("body of %s: %v", e.EventID, err)
	}
	v := body.Data
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func writeFile(t testing.TB, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// size is a file's length in bytes; 0 where there is none.
func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
