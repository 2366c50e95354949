//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// impostor listens where the collector's address is recorded, and treats every connection as serve does.
func (b *box) impostor(serve func(net.Conn)) (socket string) {
	b.t.Helper()
	socket = filepath.Join(b.dir, "other.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		b.t.Fatal(err)
	}
	writeFile(b.t, filepath.Join(b.memory, "state", "collector.addr"), socket+"\n")
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer func() { _ = c.Close() }()
				serve(c)
			})
		}
	})
	b.t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return socket
}

// slowly writes to a connection, a piece at a time, until the other side is gone.
func slowly(c net.Conn, every time.Duration, pieces func(i int) string) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := 0; ; i++ {
		if _, err := io.WriteString(c, pieces(i)); err != nil {
			return
		}
		<-tick.C
	}
}

const head = "HTTP/1.1 200 OK\r\nKiro-Learn-Version: 1.1.0\r\nContent-Type: application/json\r\n"

// Outbox and collector: the collector is down, hung, slow or wrong. The hook keeps its budget, prints nothing, and the event
// waits; a collector that comes later has it without a restart of anything.
func TestBadCollectors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		serve func(c net.Conn)
	}{
		{"accepts and never answers", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		{"accepts and never reads", func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); _, _ = io.Copy(io.Discard, c) }},
		{"closes at once", func(net.Conn) {}},
		{"server error", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 Internal Server Error\r\nKiro-Learn-Version: 1.1.0\r\nContent-Length: 2\r\n\r\n{}")
		}},
		{"not found", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nKiro-Learn-Version: 1.1.0\r\nContent-Length: 0\r\n\r\n")
		}},
		{"a byte a second", func(c net.Conn) {
			slowly(c, time.Second, func(i int) string { return (head + "\r\n")[i%len(head) : i%len(head)+1] })
		}},
		{"endless body", func(c net.Conn) {
			_, _ = io.WriteString(c, head+"\r\n")
			slowly(c, time.Millisecond, func(int) string { return strings.Repeat(" ", 1<<10) })
		}},
		{"endless header", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			slowly(c, time.Millisecond, func(i int) string { return fmt.Sprintf("X-%d: %s\r\n", i, strings.Repeat("x", 1<<10)) })
		}},
		{"body that stops", func(c net.Conn) {
			_, _ = io.WriteString(c, head+"Content-Length: 500\r\n\r\n{\"event_id\":")
			_, _ = io.Copy(io.Discard, c)
		}},
		{"not HTTP", func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example.com ESMTP\r\n") }},
		{"HTTP of another program", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}")
		}},
		{"ok that says nothing", func(c net.Conn) { _, _ = io.WriteString(c, head+"Content-Length: 0\r\n\r\n") }},
		{"ok that is not JSON", func(c net.Conn) { _, _ = io.WriteString(c, head+"Content-Length: 6\r\n\r\n<html>") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, map[string]any{"collector": map[string]any{"autostart": false}, "hooks": map[string]any{"budget_ms": 500}})
			b.impostor(tt.serve)
			b.quiet("userPromptSubmit", b.prompt("s", "what did we decide?"))
			b.quiet("postToolUse", b.tool("s", fields{"a": 1}, "ok"))
			b.quiet("stop", b.stop("s", "done"))
			b.quiet("agentSpawn", fields{"hook_event_name": "agentSpawn", "cwd": b.project, "session_id": "s"})
			if n := b.waits(); n != 4 {
				t.Fatalf("%d events wait, want 4", n)
			}
			if err := os.Remove(filepath.Join(b.memory, "state", "collector.addr")); err != nil { // it has gone
				t.Fatal(err)
			}
			kinds := map[string]int{}
			for _, e := range b.stored("") {
				kinds[string(e.Kind)]++
			}
			if want := map[string]int{"prompt": 1, "tool_use": 1, "session_summary": 1, "note": 1}; fmt.Sprint(kinds) != fmt.Sprint(want) {
				t.Errorf("stored %v, want %v", kinds, want)
			}
		})
	}
}

// Outbox and collector: the collector is stopped by a signal. See collector_gone.txtar for one that is absent or killed.
func TestStoppedCollectorCostsTheBudgetAtMost(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]any{"hooks": map[string]any{"budget_ms": 500}})
	pid := b.start()
	b.signal(pid, syscall.SIGSTOP)
	for i := range 5 {
		b.quiet("userPromptSubmit", b.prompt("s", fmt.Sprint("prompt ", i)))
		b.quiet("postToolUse", b.tool("s", fields{"i": i}, "ok"))
	}
	if n := b.waits(); n != 10 {
		t.Errorf("%d events wait, want 10", n)
	}
	if got := b.processes(); len(got) != 1 || got[0] != pid {
		t.Errorf("processes %v, want the stopped collector %d alone", got, pid)
	}
	b.signal(pid, syscall.SIGCONT)
	if !poll(func() bool { return b.waits() == 0 }) {
		t.Fatal("nobody drains the outbox")
	}
	if n := len(b.stored("")); n != 10 {
		t.Errorf("%d events stored, want 10", n)
	}
}

// Outbox and collector: what stands at the collector's place is no collector. Stale things are replaced when nobody answers
// there; a program, and a file that is not a socket, are left alone, and the collector works all the same.
func TestThingsAtTheAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lay   func(t *testing.T, b *box, socket string) (survives string)
		moved bool // the collector must listen elsewhere
	}{
		{"a stale socket", func(t *testing.T, b *box, socket string) string {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			_ = l.Close()
			return ""
		}, false},
		{"an address of a machine that was", func(t *testing.T, b *box, socket string) string {
			writeFile(t, filepath.Join(b.memory, "state", "collector.addr"), filepath.Join(b.dir, "gone", "x.sock")+"\n")
			return ""
		}, false},
		{"garbage for an address", func(t *testing.T, b *box, socket string) string {
			writeFile(t, filepath.Join(b.memory, "state", "collector.addr"), "\x00\xff not a path\n\n"+strings.Repeat("x", 300))
			return ""
		}, false},
		{"a regular file", func(t *testing.T, b *box, socket string) string {
			writeFile(t, socket, "keep me")
			return socket
		}, true},
		{"a directory", func(t *testing.T, b *box, socket string) string {
			writeFile(t, filepath.Join(socket, "file"), "keep me")
			return socket
		}, true},
		{"a foreign program", func(t *testing.T, b *box, socket string) string {
			listenElsewhere(t, socket)
			return socket
		}, true},
		{"a foreign program that the address names", func(t *testing.T, b *box, socket string) string {
			listenElsewhere(t, socket)
			writeFile(t, filepath.Join(b.memory, "state", "collector.addr"), socket+"\n")
			return socket
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, nil)
			socket := filepath.Join(b.memory, "run", "collector.sock")
			if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
				t.Fatal(err)
			}
			survives := tt.lay(t, b, socket)
			b.quiet("userPromptSubmit", b.prompt("s", "is anybody there?"))
			if e := b.one("kind=prompt"); text(e) != "is anybody there?" {
				t.Errorf("stored %q", text(e))
			}
			if moved := b.address() != socket; moved != tt.moved {
				t.Errorf("the collector listens at %s; elsewhere: %v, want %v", b.address(), moved, tt.moved)
			}
			if survives == "" {
				return
			}
			if _, err := os.Lstat(survives); err != nil {
				t.Errorf("what was there is gone: %v", err)
			}
			if c, err := net.Dial("unix", survives); err == nil { // the program still answers as itself
				line, err := bufio.NewReader(c).ReadString('\n')
				if err != nil || line != "220 not yours\r\n" {
					t.Errorf("the other program said %q, %v", line, err)
				}
				_ = c.Close()
			}
		})
	}
}

// listenElsewhere is a program of somebody else's. It must neither be signalled nor lose its socket.
func listenElsewhere(t *testing.T, socket string) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 not yours\r\n")
			_ = c.Close()
		}
	}()
}

// Outbox and collector: a process whose number a stopped collector once had is nobody's business.
func TestForeignProcessIsNeverSignalled(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	other := exec.CommandContext(t.Context(), "sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = other.Wait(); close(ended) }()
	b.impostor(func(c net.Conn) { // it says that it is a collector, with that number, and hangs afterwards
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil && req.URL.Path == "/healthz" {
			body := fmt.Sprintf(`{"status":"ok","version":"0.0.1","pid":%d}`, other.Process.Pid)
			_, _ = fmt.Fprintf(c, "%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", head, len(body), body)
			return
		}
		_, _ = io.Copy(io.Discard, c)
	})
	b.configureOrFail(map[string]any{"hooks": map[string]any{"budget_ms": 300}})
	b.quiet("userPromptSubmit", b.prompt("s", "one"))
	b.quiet("stop", b.stop("s", "two"))
	if r, err := b.run(nil, "collector", "stop", "--timeout", "1s"); err != nil || r.code == 0 {
		t.Errorf("collector stop: %+v, %v; want a failure that says so", r, err)
	}
	select {
	case <-ended:
		t.Error("the other process was signalled")
	default:
	}
}

func (b *box) configureOrFail(sections map[string]any) {
	b.t.Helper()
	if err := b.configure(sections); err != nil {
		b.t.Fatal(err)
	}
}

// Outbox and collector: a socket path that is too long for the system.
func TestTooLongSocketPath(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	deep := filepath.Join(b.dir, strings.Repeat("deep/", 30))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	m := *b.machine
	m.memory = filepath.Join(deep, "kl")
	m.env = append(m.env, "KIRO_LEARN_HOME="+m.memory)
	b = &box{&m, t}
	t.Cleanup(m.leave)
	writeFile(t, filepath.Join(m.memory, "config.json"), `{"hooks":{"budget_ms":10000}}`)
	b.quiet("userPromptSubmit", b.prompt("s", "hello there"))
	if e := b.one(""); text(e) != "hello there" {
		t.Errorf("stored %q", text(e))
	}
	if n := len(b.address()); n > 103 {
		t.Errorf("the address has %d bytes: %s", n, b.address())
	}
	for path, want := range map[string]os.FileMode{b.address(): 0o600 | os.ModeSocket, filepath.Dir(b.address()): 0o700 | os.ModeDir} {
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// Outbox and collector: twenty hooks at once on a cold machine make one collector.
func TestTwentyHooksMakeOneCollector(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	hooks := make([]*exec.Cmd, 20)
	for i := range hooks {
		hooks[i] = b.command(t.Context(), "userPromptSubmit")
		b.feed(hooks[i], b.prompt(fmt.Sprint("s", i), fmt.Sprint("prompt ", i)))
	}
	for _, h := range hooks {
		if err := h.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range hooks {
		if err := h.Wait(); err != nil {
			t.Error(err)
		}
	}
	if n := len(b.stored("")); n != 20 {
		t.Errorf("%d events stored, want 20", n)
	}
	if !poll(func() bool { return len(b.processes()) == 1 }) {
		t.Errorf("processes %v, want one collector", b.processes())
	}
	log, err := os.ReadFile(filepath.Join(b.memory, "state", "kiro-learn.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "collector started"); n != 1 {
		t.Errorf("%d collectors have started, want 1:\n%s", n, log)
	}
}

// Outbox and collector: the collector that the very first hook starts holds nothing of it: its reader sees the end at once.
func TestCollectorInheritsNothing(t *testing.T) {
	t.Parallel()
	if !isLinux {
		t.Skip("reads /proc")
	}
	b := newBox(t, nil)
	// Descriptors 7 and 8 stand for what a Kiro may have left open in its hooks.
	cmd := b.command(t.Context(), "-c", `exec 7>"$HOME/seven" 8</dev/zero; kiro-learn userPromptSubmit 2>&1 | cat; echo END`)
	cmd.Path, cmd.Args[0] = "/bin/sh", "sh"
	cmd.Env = append(cmd.Env, "USER_PROMPT=the very first")
	b.feed(cmd, b.prompt("s", "the very first"))
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "END\n" || time.Since(begun) > hang {
		t.Fatalf("%v: %q after %v", err, out, time.Since(begun))
	}
	pid := b.pid()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) < 4 {
		t.Fatalf("%d descriptors, %v", len(fds), err)
	}
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		own := strings.HasPrefix(to, b.memory) || strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "anon_inode:") || to == "/dev/null" ||
			strings.HasPrefix(to, "/sys/fs/cgroup/") // the Go runtime reads how many processors it may use
		if err == nil && (!own || strings.HasPrefix(to, "pipe:")) {
			t.Errorf("the collector holds %s", to)
		}
	}
	sid, _, errno := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 || int(sid) != pid {
		t.Errorf("session %d of process %d, %v; want one of its own", sid, pid, errno)
	}
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || strings.HasPrefix(cwd, b.project) {
		t.Errorf("it works in %s, %v; the project could not be deleted or unmounted", cwd, err)
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || strings.Contains(string(environ), "USER_PROMPT") {
		t.Errorf("its environment holds the prompt, or cannot be read: %v", err)
	}
}
