package llm

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kiro-learn/internal/config"
)

// long is a timeout that no test waits for; short is one that a test waits out.
const (
	long  = config.Duration(2 * time.Minute)
	short = config.Duration(700 * time.Millisecond)
)

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// Neither of these may ever be told: what the prompt says, what a child says on its standard error.
const secret = "secret words"

func checkError(t *testing.T, err error, want string, is error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
		return
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("error %v is not %v", err, is)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error repeats what it must not: %v", err)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mode, prompt string
		timeout            config.Duration
		want, wantErr      string
		is                 error
	}{
		{"answers", "ok", "héllo", long, "You said héllo.", "", nil},
		{"as much as is allowed", "ok", strings.Repeat("p", 1<<20-11), long, "You said " + strings.Repeat("p", 1<<20-11) + ".", "", nil},
		{"does not read its input", "early", strings.Repeat("p", 4<<20), long, "answered without reading", "", nil},
		{"invalid text", "binary", "p", long, "a\uFFFDb", "", nil},
		{"forks and answers", "fork", "p", long, "You said p.", "", nil},
		{"forks a process that leaves the group", "fork,leave", "p", long, "You said p.", "", nil},
		{"ignores the request to end", "hang", secret, short, "", "command: no answer within 700ms", context.DeadlineExceeded},
		{"ignores it, and so does its child", "fork,hang", secret, short, "", "no answer within", context.DeadlineExceeded},
		{"5 MB", "big", secret, long, "", "longer than allowed: over 1048576 bytes", ErrTooLong},
		{"5 MB and a child", "big,fork", secret, long, "", "longer than allowed", ErrTooLong},
		{"blank", "empty", secret, long, "", "empty", ErrEmpty},
		{"exits at once", "exits", secret, long, "", "exit code 3", nil},
		{"fails half-way", "fails", secret, long, "", "exit code 7", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m, err := New(config.LLM{Engine: "command", Command: []string{self(t), "-x", "a b"}, Timeout: c.timeout}, w.options(c.mode))
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Complete(t.Context(), c.prompt)
			if c.wantErr != "" {
				checkError(t, err, c.wantErr, c.is)
			} else if err != nil || got != c.want {
				t.Errorf("Complete = %.60q (%d bytes), %v; want %.60q", got, len(got), err, c.want)
			}
			checkStarted(w, []string{"-x", "a b"})
		})
	}
}

// checkStarted looks at how the first program was started.
func checkStarted(w *world, args []string) {
	w.t.Helper()
	all := lines[started](w, "started")
	if len(all) == 0 {
		return // killed before it could say so
	}
	dir, err := filepath.EvalSymlinks(w.child())
	if err != nil {
		w.t.Fatal(err)
	}
	got := all[0]
	if real, err := filepath.EvalSymlinks(got.Dir); err == nil {
		got.Dir = real
	}
	if !slices.Equal(got.Args, args) || got.Dir != dir || got.Child != "1" || got.User != "" {
		w.t.Errorf("started as %+v, want %q in %s with KIRO_LEARN_CHILD=1 and without the user's prompt", got, args, dir)
	}
	if info, err := os.Stat(w.child()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		w.t.Errorf("private directory: %v, %v", info.Mode(), err)
	}
}

func TestKiro(t *testing.T) {
	t.Parallel()
	acp := []string{"acp", "--agent-engine=v2", "--agent", agentName}
	plain := []string{"acp", "--agent", agentName}
	chat := []string{"chat", "--no-interactive", "--trust-tools=", "--wrap", "never", "--agent", agentName}
	for _, c := range []struct {
		name, mode, prompt string
		timeout            config.Duration
		want, wantErr      string
		is                 error
		ways               [][]string
	}{
		{"answers", "ok", "héllo\n\u2028\x01", long, "You said héllo\n\u2028\x01.", "", nil, [][]string{acp}},
		{"leaves after its answer", "leaves", "p", long, "You said p.", "", nil, [][]string{acp}},
		{"prints garbage", "garbage", "p", long, "You said p.", "", nil, [][]string{acp}},
		{"asks for permission and files", "asks", "p", long, "You said p.", "", nil, [][]string{acp}},
		{"forks", "fork,leaves", "p", long, "You said p.", "", nil, [][]string{acp, nil}},
		{"forks a process that leaves the group", "fork,leave,leaves", "p", long, "You said p.", "", nil, [][]string{acp, nil}},
		{"an older build", "old", "p", long, "You said p.", "", nil, [][]string{acp, plain}},
		{"a build without the protocol", "noacp", "p", long, "You said p.\n> quoted", "", nil, [][]string{acp, plain, chat}},
		{"never takes up the conversation", "mute", "p", long, "You said p.\n> quoted", "", nil, [][]string{acp, chat}},
		{"never answers", "hang", secret, short * 5, "", "kiro: no answer within 3.5s", context.DeadlineExceeded, nil},
		{"never answers, forks", "fork,hang", secret, short * 5, "", "no answer within", context.DeadlineExceeded, nil},
		{"does not read", "deaf", strings.Repeat("p", 4<<20), short * 5, "", "no answer within", context.DeadlineExceeded, nil},
		{"5 MB", "big", secret, long, "", "longer than allowed: over 1048576 bytes", ErrTooLong, [][]string{acp}},
		{"20 MB without an end of line", "line", secret, long, "", "longer than allowed: a line", ErrTooLong, [][]string{acp}},
		{"dies half-way", "dies", secret, long, "", "ended in the middle", nil, [][]string{acp}},
		{"exits at once", "exits", secret, long, "", "exit code 3; try: kiro-cli whoami", nil, [][]string{acp, plain, chat}},
		{"not logged in", "auth", secret, long, "", "run: kiro-cli login", nil, [][]string{acp}},
		{"empty", "empty", secret, long, "", "empty", ErrEmpty, [][]string{acp}},
		{"cut off", "max_tokens", secret, long, "", "stopped before its answer was complete", ErrTruncated, [][]string{acp}},
		{"refuses", "refusal", secret, long, "", "refused", nil, [][]string{acp}},
		{"cancels", "cancelled", secret, long, "", "cancelled", nil, [][]string{acp}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m, err := New(config.LLM{Engine: "kiro", Timeout: c.timeout}, w.options(c.mode))
			if err != nil {
				t.Fatal(err)
			}
			if c.mode == "mute" {
				m.engine.(*kiro).handshake = 4 * time.Second
			}
			got, err := m.Complete(t.Context(), c.prompt)
			if c.wantErr != "" {
				checkError(t, err, c.wantErr, c.is)
			} else if err != nil || got != c.want {
				t.Errorf("Complete = %.60q (%d bytes), %v; want %.60q", got, len(got), err, c.want)
			}
			if c.ways != nil { // on a slow machine time may run out anywhere
				checkWays(w, c.ways)
			}
			checkStarted(w, acp)
		})
	}
}

func checkWays(w *world, ways [][]string) {
	w.t.Helper()
	var got [][]string
	for _, s := range lines[started](w, "started") {
		got = append(got, s.Args)
	}
	if !slices.EqualFunc(got, ways, slices.Equal[[]string]) {
		w.t.Errorf("started %q, want %q", got, ways)
	}
}

func TestKiroConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, err := New(config.LLM{Engine: "kiro", Timeout: long, Model: "m1"}, w.options("asks"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	cwd, _ := json.Marshal(w.child())
	want := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientCapabilities":{},"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":` + string(cwd) + `,"mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"prompt":[{"text":"p","type":"text"}],"sessionId":"s1"}}`,
		`{"jsonrpc":"2.0","id":"a1","result":{"outcome":{"optionId":"no","outcome":"selected"}}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"cancelled"}}}`,
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"this client has no such method"}}`,
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"this client has no such method"}}`,
	}
	var got []string
	for _, l := range lines[json.RawMessage](w, "received") {
		got = append(got, string(l))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the agent received\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	checkWays(w, [][]string{{"acp", "--agent-engine=v2", "--agent", agentName, "--model", "m1"}})

	var agent map[string]any
	b, err := os.ReadFile(filepath.Join(w.child(), ".kiro", "agents", agentName+".json"))
	if err != nil || json.Unmarshal(b, &agent) != nil {
		t.Fatalf("agent file: %q, %v", b, err)
	}
	if agent["name"] != agentName || len(agent["tools"].([]any)) != 0 || agent["includeMcpJson"] != false || agent["hooks"] != nil {
		t.Errorf("agent file: %s", b)
	}
}

func TestKiroRemembersTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, err := New(config.LLM{Engine: "kiro", Timeout: long}, w.options("old"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := m.Complete(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(lines[started](w, "started")); got != 3 {
		t.Errorf("%d programs started for two calls, want 2 and then 1", got)
	}
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, err := New(config.LLM{Engine: "kiro", Timeout: long}, w.options("hang"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		w.until("the prompt arrives", func() bool { return len(lines[json.RawMessage](w, "received")) == 3 })
		cancel()
	}()
	if _, err := m.Complete(ctx, "p"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if s := m.Status(); s.State != "closed" || s.Failed != 0 || s.Calls != 1 || s.Running != 0 {
		t.Errorf("status %+v: a call that was given up says nothing about the engine", s)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options("hang")
	o.Concurrency = 2
	m, err := New(config.LLM{Engine: "command", Command: []string{self(t)}, Timeout: long}, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 6 {
		go func() {
			_, err := m.Complete(ctx, "p")
			ended <- err
		}()
	}
	w.until("two programs run", func() bool { return len(lines[int](w, "pids")) == 2 })
	if s := m.Status(); s.Running != 2 {
		t.Errorf("%d calls run, want 2", s.Running)
	}
	cancel()
	for range 6 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the context's", err)
		}
	}
	if got := len(lines[int](w, "pids")); got != 2 {
		t.Errorf("%d programs were started, want 2", got)
	}
}

// The collector is killed in the middle of a call: its child dies with it, and what that had started when the next
// collector comes.
func TestCollectorDies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets a process be proven ours after its parent has died")
	}
	t.Parallel()
	w := newWorld(t)
	collector := exec.Command(self(t))
	collector.Env = w.environ("collector")
	if err := collector.Start(); err != nil {
		t.Fatal(err)
	}
	w.until("collector, child and grandchild run", func() bool { return len(lines[int](w, "pids")) == 3 })
	pids := lines[int](w, "pids")
	if err := collector.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = collector.Wait()
	w.until("the child is gone", func() bool { return !alive(pids[1]) })
	if n := KillLeftovers(w.child() + "x"); n != 0 {
		t.Errorf("%d processes of another collector were killed", n)
	}
	if !alive(pids[2]) {
		t.Fatal("the grandchild is gone already, so this test shows nothing")
	}
	if n := KillLeftovers(w.child()); n != 1 {
		t.Errorf("%d processes killed, want 1", n)
	}
}

func TestNewSaysWhatToSet(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		name string
		cfg  config.LLM
		env  []string
		want string
	}{
		{"no such engine", config.LLM{Engine: "x"}, nil, "set llm.engine"},
		{"no kiro-cli", config.LLM{Engine: "kiro"}, nil, "kiro-cli is not found"},
		{"no command", config.LLM{Engine: "command"}, nil, "set llm.command"},
		{"no such command", config.LLM{Engine: "command", Command: []string{"nowhere"}}, nil, "executable file not found"},
		{"no address", config.LLM{Engine: "openai", Model: "m"}, nil, "llm.base_url"},
		{"not http", config.LLM{Engine: "openai", Model: "m", BaseURL: "file:///etc/passwd"}, nil, "llm.base_url"},
		{"a password in the address", config.LLM{Engine: "openai", Model: "m", BaseURL: "http://u:secret words@h/"}, nil, "llm.base_url"},
		{"no model", config.LLM{Engine: "openai", BaseURL: "http://h/v1"}, nil, "set llm.model"},
		{"no key", config.LLM{Engine: "openai", Model: "m", BaseURL: "https://h/v1", APIKeyEnv: "K"}, []string{"K="}, "llm.api_key_env"},
		{"a key in clear text", config.LLM{Engine: "openai", Model: "m", BaseURL: "http://h/v1", APIKeyEnv: "K"}, []string{"K=" + secret}, "use https"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := New(c.cfg, Options{ChildDir: t.TempDir(), Environ: append([]string{"HOME=" + t.TempDir()}, c.env...)})
			if m != nil {
				t.Error("an engine was made")
			}
			checkError(t, err, c.want, nil)
		})
	}
}

func TestChatAnswer(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "hello\n", "hello"},
		{"colours, prompt, footer", "\x1b[32m> \x1b[0mone\ntwo\n\n\x1b[2m▸ Time: 3s\x1b[0m\n▸ Credits: 1\n", "one\ntwo"},
		{"only the first prompt sign", "> a\n> b", "a\n> b"},
		{"a footer sign inside", "a\n▸ b\nc", "a\n▸ b\nc"},
		{"window title", "\x1b]0;kiro\x07a\x1b]8;;http://x\x1b\\b", "ab"},
		{"spinner", "⠋ Thinking...\r⠙ Thinking...\rthe answer\r\nnext", "the answer\nnext"},
		{"cut in an escape", "a\x1b", "a"},
		{"cut in a sequence", "a\x1b[3", "a"},
		{"cut in a title", "a\x1b]0;x", "a"},
		{"other controls", "a\x00\x07\x7fb\tc", "ab\tc"},
		{"character set", "\x1b(Ba", "a"},
		{"nothing but a footer", "▸ Time: 3s", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := chatAnswer(c.in); got != c.want {
				t.Errorf("chatAnswer(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}
