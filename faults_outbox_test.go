//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"kiro-learn/internal/event"
	"kiro-learn/outbox"
)

// segments are the files of the queue, the newest last.
func (b *box) segments() []string {
	b.t.Helper()
	all, err := filepath.Glob(filepath.Join(b.memory, "state", "outbox", "*.q"))
	if err != nil || len(all) == 0 {
		b.t.Fatalf("no segments: %v", err)
	}
	return all
}

func (b *box) number(n int) {
	b.t.Helper()
	b.quiet("postToolUse", b.tool("s", fields{"n": n}, "ok"))
}

// Outbox and collector: a torn or poisoned queue. The events around the damage are delivered, the damage goes to quarantine
// and is counted, and the queue empties.
func TestTornQueue(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 200_000)
	_, _ = rand.Read(noise)
	tests := []struct {
		name   string
		damage func(segment []byte) []byte
		lost   bool // the damage hits the second of three events
	}{
		{"half a record", func(s []byte) []byte { return append(s, s[:len(s)/3]...) }, false},
		{"half a line of JSON", func(s []byte) []byte { return append(s, `{"event_id":"01AAAAAAAA`...) }, false},
		{"a line of garbage", func(s []byte) []byte { return append(s, "garbage\n"...) }, false},
		{"zeros, as after a power cut", func(s []byte) []byte { return append(s, make([]byte, 4096)...) }, false},
		{"200 KB of noise", func(s []byte) []byte { return append(s, noise...) }, false},
		{"noise in front", func(s []byte) []byte { return append(append([]byte(nil), noise...), s...) }, false},
		{"a flipped bit in the last event", func(s []byte) []byte { s[len(s)-20] ^= 4; return s }, true},
		{"cut in the last event", func(s []byte) []byte { return s[:len(s)-10] }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, noCollector())
			b.number(0)
			b.number(1)
			segment := b.segments()[0]
			content, err := os.ReadFile(segment)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(segment, tt.damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			b.number(2)
			got := ""
			for _, e := range b.stored("kind=tool_use") {
				got += fmt.Sprint(data(t, e, "tool_input", "n"), " ")
			}
			want := "0 1 2 "
			if tt.lost {
				want = "0 2 "
			}
			if got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
			st, err := b.outbox()
			if err != nil || st.Pending != 0 || st.Quarantined == 0 {
				t.Errorf("outbox %+v, %v; want nothing pending and the damage set aside", st, err)
			}
			if out := b.must("outbox", "quarantine"); strings.Count(out, "\n") != st.Quarantined {
				t.Errorf("%d set aside, listed as %q", st.Quarantined, out)
			}
		})
	}
}

// Outbox and collector: a poison event, which the collector refuses for ever, is set aside with the reason; the rest flows.
func TestPoisonEvents(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	b.number(0)
	good := b.stored("")[0]
	queue := outbox.New(filepath.Join(b.memory, "state", "outbox"), outbox.Options{})
	poison := map[string]func(e *event.Event) []byte{
		"an unknown kind":    func(e *event.Event) []byte { e.Kind = "rumour"; return nil },
		"no session":         func(e *event.Event) []byte { e.SessionID = ""; return nil },
		"a bad namespace":    func(e *event.Event) []byte { e.Namespace = "/actor//project/x/"; return nil },
		"a later schema":     func(e *event.Event) []byte { e.SchemaVersion = 2; return nil },
		"no body":            func(e *event.Event) []byte { e.Body = json.RawMessage(`{"type":"smoke"}`); return nil },
		"too big a body":     func(e *event.Event) []byte { e.Body = event.TextBody(strings.Repeat("x", event.MaxBody)); return nil },
		"no JSON":            func(*event.Event) []byte { return []byte("hello") },
		"another JSON":       func(*event.Event) []byte { return []byte(`["event"]`) },
		"a time of nonsense": func(e *event.Event) []byte { e.ValidTime = "yesterday"; return nil },
	}
	i := 0
	for name, change := range poison {
		e := good
		e.EventID = fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ69G5FA%d", i)
		line := change(&e)
		if line == nil {
			line = e.AppendJSON(nil)
		}
		if err := queue.Append(e.EventID, line, time.Second); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		i++
		b.number(i)
	}
	if n := len(b.stored("kind=tool_use")); n != len(poison)+1 {
		t.Errorf("%d good events stored, want %d", n, len(poison)+1)
	}
	if all, err := b.events(""); err != nil || len(all) != len(poison)+1 {
		t.Errorf("%d events stored, %v; want the good ones alone", len(all), err)
	}
	var listed []struct{ ID, Reason string }
	if err := json.Unmarshal([]byte(b.must("outbox", "quarantine", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed) != len(poison) {
		t.Errorf("%d set aside, want %d", len(listed), len(poison))
	}
	for _, l := range listed {
		if l.Reason == "" || strings.Contains(l.Reason, "yesterday") {
			t.Errorf("%s is set aside for the reason %q; want what is wrong, and no value", l.ID, l.Reason)
		}
	}
	if out := b.must("status"); !strings.Contains(out, fmt.Sprintf("%d set aside", len(poison))) || !strings.Contains(out, "kiro-learn outbox quarantine") {
		t.Errorf("the user is not told: %s", out)
	}
	// Tried again, they are refused again, and do not go round in circles.
	if out := b.must("outbox", "quarantine", "--requeue"); out != fmt.Sprintf("put back %d\n", len(poison)) {
		t.Errorf("requeue: %q", out)
	}
	b.must("flush", "--timeout", "50s")
	if st, err := b.outbox(); err != nil || st.Pending != 0 || st.Quarantined != len(poison) {
		t.Errorf("outbox %+v, %v; want %d set aside again", st, err, len(poison))
	}
	b.must("outbox", "quarantine", "--purge")
	if st, err := b.outbox(); err != nil || st.Quarantined != 0 {
		t.Errorf("outbox %+v, %v; want nothing left", st, err)
	}
}

// Outbox and collector: a lock is held for ever, or its file is removed while it is held. A hook waits at most its budget and
// writes beside; nothing is lost.
func TestLocksHeldForEver(t *testing.T) {
	t.Parallel()
	for _, removed := range []bool{false, true} {
		t.Run(fmt.Sprintf("removed %v", removed), func(t *testing.T) {
			t.Parallel()
			b := newBox(t, map[string]any{"collector": map[string]any{"autostart": false}, "hooks": map[string]any{"budget_ms": 500}})
			b.quiet("userPromptSubmit", b.prompt("s", "first")) // makes the files
			b.number(0)
			var locks []string
			_ = filepath.WalkDir(filepath.Join(b.memory, "state"), func(path string, _ os.DirEntry, err error) error {
				if strings.HasSuffix(path, ".lock") {
					locks = append(locks, path)
				}
				return err
			})
			if len(locks) < 2 {
				t.Fatalf("locks %q; there should be those of the outbox and of the ids", locks)
			}
			var held []*flock.Flock
			for _, path := range locks {
				l := flock.New(path) // the holder is this test, which does not let go: to others it is as good as stopped
				if ok, err := l.TryLock(); err != nil || !ok {
					t.Fatalf("lock %s: %v %v", path, ok, err)
				}
				held = append(held, l)
				if removed {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				}
			}
			for n := 1; n < 5; n++ {
				b.number(n)
			}
			b.quiet("userPromptSubmit", b.prompt("s", "second"))
			b.quiet("stop", b.stop("s", "third"))
			if n := b.waits(); n != 8 {
				t.Errorf("%d events wait, want 8", n)
			}
			for _, l := range held {
				if err := l.Unlock(); err != nil {
					t.Fatal(err)
				}
			}
			b.number(5)
			b.numbered(6)
			if all, err := b.events(""); err != nil || len(all) != 9 {
				t.Errorf("%d events stored, %v; want 9", len(all), err)
			}
		})
	}
}

// Outbox and collector: the queue is full, and what does not fit cannot be kept. The user learns it from doctor and from status,
// and once, in one line, when the next agent starts; the log says it once.
func TestFullOutboxIsTold(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]any{"collector": map[string]any{"autostart": false}, "outbox": map[string]any{"max_bytes": 1 << 20}})
	begun := time.Now()
	for n := range 8 {
		b.quiet("postToolUse", b.tool("s", fields{"n": n}, strings.Repeat("z", 300_000)))
	}
	st, err := b.outbox()
	if err != nil || st.Dropped < 4 || st.Dropped+st.Pending != 8 || st.DropReason == "" {
		t.Fatalf("outbox %+v, %v; want most of 8 dropped, with the reason", st, err)
	}
	start := func(session string) string {
		return b.hook("agentSpawn", fields{"hook_event_name": "agentSpawn", "cwd": b.project, "session_id": session})
	}
	want := fmt.Sprintf("kiro-learn could not keep %d events", st.Dropped)
	if out := start("next"); !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 1 || !strings.Contains(out, "kiro-learn doctor") {
		t.Errorf("the next agent is told %q; want one line", out)
	}
	if out := start("another"); out != "" {
		t.Errorf("the agent behind it is told again: %q", out)
	}
	if out := b.must("status"); !strings.Contains(out, fmt.Sprintf("%d dropped", st.Dropped)) || !strings.Contains(out, st.DropReason) {
		t.Errorf("status says %s", out)
	}
	r, err := b.run(nil, "doctor", "--no-self-test")
	if err != nil || !strings.Contains(r.stdout, fmt.Sprintf("%d events could not be kept", st.Dropped)) || !strings.Contains(r.stdout, "outbox.max_bytes") {
		t.Errorf("doctor says %s, %v", r.stdout, err)
	}
	log, err := os.ReadFile(filepath.Join(b.memory, "state", "kiro-learn.log"))
	if n := strings.Count(string(log), "the outbox did not take an event"); err != nil || n < 1 || n > 1+int(time.Since(begun)/time.Minute) {
		t.Errorf("the log says it %d times, %v; want once a minute at most", n, err)
	}
	if strings.Contains(string(log), "zzzz") {
		t.Error("the log holds what was said")
	}
	b.must("outbox", "status", "--forget-drops")
	if st, err := b.outbox(); err != nil || st.Dropped != 0 || st.Pending == 0 {
		t.Errorf("outbox %+v, %v; want the drops forgotten and what waits kept", st, err)
	}
	b.quiet("stop", b.stop("s", "room again"))
	if all := b.stored("kind=session_summary"); len(all) != 1 {
		t.Errorf("%d answers stored; want 1, now that there is room", len(all))
	}
}

// Outbox and collector: the memory's place cannot be written at all. The hook promises nothing but to be out of the way.
func TestUnusableHomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		home func(t *testing.T, b *box) string
	}{
		{"a regular file", func(t *testing.T, b *box) string {
			writeFile(t, filepath.Join(b.dir, "f"), "x")
			return filepath.Join(b.dir, "f")
		}},
		{"below a regular file", func(t *testing.T, b *box) string {
			writeFile(t, filepath.Join(b.dir, "f"), "x")
			return filepath.Join(b.dir, "f", "kl")
		}},
		{"a link to nowhere", func(t *testing.T, b *box) string {
			if err := os.Symlink(filepath.Join(b.dir, "nowhere", "x"), filepath.Join(b.dir, "l")); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(b.dir, "l")
		}},
		{"a directory that takes no files", func(*testing.T, *box) string { return "/dev/fd/kl" }},
		{"its state is a file", func(t *testing.T, b *box) string {
			writeFile(t, filepath.Join(b.dir, "k", "state"), "x")
			return filepath.Join(b.dir, "k")
		}},
		{"its outbox is a file", func(t *testing.T, b *box) string {
			writeFile(t, filepath.Join(b.dir, "k", "state", "outbox"), "x")
			return filepath.Join(b.dir, "k")
		}},
		{"its log is a directory", func(t *testing.T, b *box) string {
			writeFile(t, filepath.Join(b.dir, "k", "state", "kiro-learn.log", "x"), "x")
			return filepath.Join(b.dir, "k")
		}},
		{"its settings are a directory", func(t *testing.T, b *box) string {
			writeFile(t, filepath.Join(b.dir, "k", "config.json", "x"), "x")
			return filepath.Join(b.dir, "k")
		}},
		{"its settings are no JSON", func(t *testing.T, b *box) string {
			writeFile(t, filepath.Join(b.dir, "k", "config.json"), "{,")
			return filepath.Join(b.dir, "k")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, nil)
			m := *b.machine
			m.memory = tt.home(t, b)
			m.env = append(m.env, "KIRO_LEARN_HOME="+m.memory)
			t.Cleanup(m.leave)
			c := &box{&m, t}
			for _, hook := range []string{"agentSpawn", "userPromptSubmit", "postToolUse", "stop"} {
				c.quiet(hook, fields{"hook_event_name": hook, "cwd": b.project, "session_id": "s", "prompt": "p", "tool_name": "t", "assistant_response": "a"})
			}
			// A person who asks is told, and not by a panic.
			r, err := c.run(nil, "status")
			if err != nil || r.code > 1 || strings.Contains(r.stderr, "goroutine") || r.code == 1 && !bytes.HasPrefix([]byte(r.stderr), []byte("kiro-learn: ")) {
				t.Errorf("status: exit %d, %v: %s", r.code, err, r.stderr)
			}
		})
	}
}
