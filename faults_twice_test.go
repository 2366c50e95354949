//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// together starts the hooks of one moment and waits for all of them.
func (b *box) together(hooks ...*exec.Cmd) {
	b.t.Helper()
	outs := make([]bytes.Buffer, len(hooks))
	for i, h := range hooks {
		h.Stderr = &outs[i]
		if err := h.Start(); err != nil {
			b.t.Fatal(err)
		}
	}
	for i, h := range hooks {
		if err := h.Wait(); err != nil || outs[i].Len() > 0 {
			b.t.Errorf("%q: %v, stderr %q", h.Args, err, outs[i].String())
		}
	}
}

func (b *box) fired(name string, payload any, args ...string) *exec.Cmd {
	cmd := b.command(b.t.Context(), append([]string{name}, args...)...)
	b.feed(cmd, payload)
	return cmd
}

// Outbox and collector: delivered twice, because the reply is lost behind the commit.
func TestReplyLostAfterCommit(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", head + "Content-Length: 900\r\n\r\n{\"event_id\"", "HTTP/1.1 502 Bad Gateway\r\nKiro-Learn-Version: 1.1.0\r\nContent-Length: 0\r\n\r\n"} {
		t.Run(fmt.Sprintf("answer of %d bytes", len(answer)), func(t *testing.T) {
			t.Parallel()
			b := newBox(t, map[string]any{"collector": map[string]any{"autostart": false}, "hooks": map[string]any{"budget_ms": 3000}})
			b.start()
			real := b.address()
			stored := make(chan struct{}, 16)
			b.impostor(func(c net.Conn) {
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil || req.URL.Path != "/v1/events" {
					return // the nudge; nobody drains yet
				}
				up, err := net.Dial("unix", real)
				if err != nil {
					return
				}
				defer func() { _ = up.Close() }()
				req.URL.Scheme, req.URL.Host, req.Close = "", "", true
				if req.Write(up) == nil {
					_, _ = io.Copy(io.Discard, up) // the collector's answer, which nobody gets
					stored <- struct{}{}
				}
				_, _ = io.WriteString(c, answer)
			})
			b.quiet("userPromptSubmit", b.prompt("s", "do not repeat me"))
			select {
			case <-stored:
			case <-time.After(patience):
				t.Fatal("the event never reached the collector")
			}
			if n := b.waits(); n != 1 {
				t.Fatalf("%d events wait, want the one that was not acknowledged", n)
			}
			writeFile(t, filepath.Join(b.memory, "state", "collector.addr"), real+"\n")
			if e := b.one(""); text(e) != "do not repeat me" {
				t.Errorf("stored %q", text(e))
			}
			if n := b.waits(); n != 0 {
				t.Errorf("%d events still wait", n)
			}
		})
	}
}

// Outbox and collector: delivered twice, because the hook is registered in two places.
func TestTwoRegistrationsAreOneHappening(t *testing.T) {
	t.Parallel()
	for _, collector := range []string{"running", "absent"} {
		t.Run(collector, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, noCollector())
			if collector == "running" {
				b.start()
			}
			payloads := map[string]fields{"userPromptSubmit": b.prompt("s", "deploy it"), "postToolUse": b.tool("s", fields{"command": "make"}, "ok"), "stop": b.stop("s", "deployed")}
			for _, hook := range []string{"userPromptSubmit", "postToolUse", "stop"} {
				// Kiro starts both at the same moment.
				b.together(b.fired(hook, payloads[hook], "--via", "user"), b.fired(hook, payloads[hook], "--via", "project"))
			}
			b.together(b.fired("userPromptSubmit", b.prompt("t", "and again"), "--via", "agent"))
			b.together(b.fired("userPromptSubmit", b.prompt("t", "and again"), "--via", "user")) // a slow machine: one behind the other
			b.together(b.fired("userPromptSubmit", b.prompt("u", "no names")), b.fired("UserPromptSubmit", b.prompt("u", "no names")))
			got := fmt.Sprint(texts(b.stored("")))
			want := `[deploy it {"type":"json","data":{"tool_name":"execute_bash","tool_input":{"command":"make"},"tool_response":{"result":"ok"}}} deployed and again no names]`
			if got != want {
				t.Errorf("stored %s\nwant   %s", got, want)
			}
		})
	}
}

// Outbox and collector: what a person says twice, and what a tool does twice, is two happenings.
func TestRealRepeatsAreTwo(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	b.start()
	first := time.Now()
	b.quiet("userPromptSubmit", b.prompt("s", "continue"))
	b.quiet("userPromptSubmit", b.prompt("other", "continue")) // another session at the same time
	b.quiet("postToolUse", b.tool("s", fields{"command": "make"}, "ok"), "--via", "user")
	b.quiet("postToolUse", b.tool("s", fields{"command": "make test"}, "ok"), "--via", "user") // another call
	poll(func() bool { return time.Since(first) > 2*time.Second })
	b.quiet("userPromptSubmit", b.prompt("s", "continue"))
	b.quiet("postToolUse", b.tool("s", fields{"command": "make"}, "ok"), "--via", "user")
	count := map[string]int{}
	for _, e := range b.stored("") {
		count[e.SessionID+" "+string(e.Kind)]++
	}
	if want := map[string]int{"s prompt": 2, "other prompt": 1, "s tool_use": 3}; fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("stored %v, want %v", count, want)
	}
	prompts, err := b.events("session_id=s&kind=prompt")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := b.events("session_id=s&kind=tool_use")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 0, 1} { // each belongs to its own turn
		if tools[i].ParentEventID != prompts[want].EventID {
			t.Errorf("tool use %d belongs to another turn", i)
		}
	}
}

// numbered checks that the tool uses 0 to n-1 are stored, each once.
func (b *box) numbered(n int) {
	b.t.Helper()
	seen := map[any]int{}
	for _, e := range b.stored("kind=tool_use") {
		seen[data(b.t, e, "tool_input", "n")]++
	}
	for i := range n {
		if seen[float64(i)] != 1 {
			b.t.Errorf("event %d is stored %d times", i, seen[float64(i)])
		}
	}
	if len(seen) != n {
		b.t.Errorf("%d events stored, want %d", len(seen), n)
	}
	st, err := b.outbox()
	if err != nil || st.Pending+st.Quarantined+st.Dropped != 0 {
		b.t.Errorf("outbox %+v, %v; want it empty", st, err)
	}
}
