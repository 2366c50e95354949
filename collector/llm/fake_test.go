package llm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kiro-learn/internal/config"
)

// This test program is also the programs that the engines start: a copy of it named kiro-cli stands first on PATH, and
// LLM_FAKE says how it misbehaves. LLM_FAKE_DIR gets a file for every process that runs, and what it was told.

func TestMain(m *testing.M) {
	if mode := os.Getenv("LLM_FAKE"); mode != "" {
		os.Exit(fake(mode, os.Args[1:]))
	}
	os.Exit(withFakeKiro(m.Run))
}

func withFakeKiro(run func() int) int {
	dir, err := os.MkdirTemp("", "fake-kiro")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := "kiro-cli"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	if err == nil {
		var b []byte
		if b, err = os.ReadFile(self); err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o700)
		}
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		panic(err)
	}
	return run()
}

func note(kind string, v any) {
	b, _ := json.Marshal(v)
	f, err := os.OpenFile(filepath.Join(os.Getenv("LLM_FAKE_DIR"), kind), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n", b)
}

type started struct {
	Args  []string
	Dir   string
	Child string // KIRO_LEARN_CHILD
	User  string // USER_PROMPT
}

func fake(mode string, args []string) int {
	dir, _ := os.Getwd()
	note("started", started{args, dir, os.Getenv("KIRO_LEARN_CHILD"), os.Getenv("USER_PROMPT")})
	note("pids", os.Getpid()) // last: whoever waits for it knows that the rest is there
	switch {
	case mode == "sleep":
		return forever()
	case mode == "collector":
		m, err := New(config.LLM{Engine: "kiro", Timeout: config.Duration(time.Hour)},
			Options{ChildDir: os.Getenv("LLM_FAKE_CHILD"), Environ: append(os.Environ(), "LLM_FAKE=fork,hang")})
		if err != nil {
			panic(err)
		}
		_, _ = m.Complete(context.Background(), "p")
		return 0
	case slices.Contains(strings.Split(mode, ","), "exits"):
		fmt.Fprintln(os.Stderr, "secret words on stderr")
		return 3
	case len(args) > 0 && args[0] == "acp":
		return fakeACP(strings.Split(mode, ","), args)
	}
	return fakeChat(strings.Split(mode, ","), args)
}

func forever() int {
	signal.Ignore(syscall.SIGTERM)
	select {} // the signal handler's goroutine keeps this from being a deadlock
}

// grandchild starts a process that ignores requests to end and keeps the output open.
func grandchild(mode []string) {
	self, _ := os.Executable()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "LLM_FAKE=sleep")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if slices.Contains(mode, "leave") {
		leaveGroup(cmd)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	for noted := false; !noted; { // wait until it has signed in, so that the test knows whom to look for
		b, _ := os.ReadFile(filepath.Join(os.Getenv("LLM_FAKE_DIR"), "pids"))
		noted = slices.Contains(strings.Fields(string(b)), strconv.Itoa(cmd.Process.Pid))
	}
}

// fakeChat is both the headless chat and the program of the command engine.
func fakeChat(mode, args []string) int {
	has := func(s string) bool { return slices.Contains(mode, s) }
	if has("fork") {
		grandchild(mode)
	}
	if has("hang") {
		return forever()
	}
	if has("early") {
		fmt.Println("answered without reading")
		return 0
	}
	prompt, _ := io.ReadAll(os.Stdin)
	switch {
	case has("big"):
		fmt.Print(strings.Repeat("x", 5<<20))
	case has("empty"):
		fmt.Print(" \n\t\n")
	case has("binary"):
		fmt.Print("a\xffb")
	case has("fails"):
		fmt.Print("half an answ")
		fmt.Fprintf(os.Stderr, "could not: %s", prompt)
		return 7
	case slices.Contains(args, "--no-interactive"):
		fmt.Printf("\x1b[2J\x1b]0;title\x07\x1b[38;5;10m> \x1b[0mYou said \x1b[1m%s\x1b[0m.\r\n> quoted\n\n ▸ Credits: 0.1 • Time: 2s\n", prompt)
	default:
		fmt.Printf("You said %s.\n", prompt)
	}
	return 0
}

func fakeACP(mode, args []string) int {
	has := func(s string) bool { return slices.Contains(mode, s) }
	engine := slices.Contains(args, "--agent-engine=v2")
	if has("noacp") || has("old") && engine {
		fmt.Fprintln(os.Stderr, "error: unexpected argument")
		return 2
	}
	f := &fakeAgent{in: bufio.NewReader(os.Stdin), has: has}
	for {
		m, err := f.read()
		if err != nil {
			return 0
		}
		var params struct {
			Cwd    string              `json:"cwd"`
			Prompt []map[string]string `json:"prompt"`
		}
		_ = json.Unmarshal(m.Params, &params)
		switch m.Method {
		case "initialize":
			if has("mute") {
				return forever()
			}
			if has("garbage") {
				fmt.Print("\n\n\x1b[31mWARNING: not JSON\x1b[0m\n[1,2]\n\"x\"\n{\"jsonrpc\":\"2.0\"}\n{\"id\":99,\"result\":{}}\nnull\n")
			}
			f.result(m.ID, `{"protocolVersion":1,"agentCapabilities":{}}`)
		case "session/new":
			note("cwd", params.Cwd)
			if has("auth") {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"secret words"}}`+"\n", m.ID)
				continue
			}
			f.result(m.ID, `{"sessionId":"s1"}`)
			if has("deaf") {
				return forever()
			}
		case "session/prompt":
			if code := f.prompt(m.ID, params.Prompt[0]["text"], mode); code >= 0 {
				return code
			}
		}
	}
}

type fakeAgent struct {
	in  *bufio.Reader
	has func(string) bool
}

func (f *fakeAgent) read() (received, error) {
	line, err := f.in.ReadBytes('\n')
	if err != nil {
		return received{}, err
	}
	note("received", json.RawMessage(strings.TrimSpace(string(line))))
	var m received
	return m, json.Unmarshal(line, &m)
}

func (f *fakeAgent) result(id json.RawMessage, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func (f *fakeAgent) update(session, kind, text string) {
	b, _ := json.Marshal(text)
	fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":%q,"content":{"type":"text","text":%s}}}}`+"\n",
		session, kind, b)
}

// ask makes requests of the client, as Kiro does.
func (f *fakeAgent) ask() {
	for _, q := range []string{
		`"id":"a1","method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}`,
		`"id":2,"method":"session/request_permission","params":{"options":[{"optionId":"yes","kind":"allow_always"}]}`,
		`"id":3,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}`,
		`"id":4,"method":"_kiro/auth/getAccessToken"`,
	} {
		fmt.Printf("{\"jsonrpc\":\"2.0\",%s}\n", q)
		if _, err := f.read(); err != nil {
			panic(err)
		}
	}
}

// prompt plays one turn; it gives the exit code, or -1 to go on.
func (f *fakeAgent) prompt(id json.RawMessage, prompt string, mode []string) int {
	if f.has("fork") {
		grandchild(mode)
	}
	if f.has("asks") {
		f.ask()
	}
	switch {
	case f.has("hang"):
		return forever()
	case f.has("dies"):
		f.update("s1", "agent_message_chunk", "half an answ")
		return 1
	case f.has("big"):
		for range 5 << 10 {
			f.update("s1", "agent_message_chunk", strings.Repeat("x", 1<<10))
		}
	case f.has("line"):
		fmt.Print(strings.Repeat("y", 20<<20))
	}
	f.update("s1", "agent_thought_chunk", "thinking")
	f.update("other", "agent_message_chunk", "somebody else's")
	fmt.Println(`{"jsonrpc":"2.0","method":"_kiro.dev/metadata","params":{"x":1}}`)
	if !f.has("empty") {
		f.update("s1", "agent_message_chunk", "You said ")
		f.update("s1", "agent_message_chunk", prompt+".")
	}
	for _, reason := range []string{"max_tokens", "refusal", "cancelled"} {
		if f.has(reason) {
			f.result(id, `{"stopReason":"`+reason+`"}`)
			return -1
		}
	}
	f.result(id, `{"stopReason":"end_turn"}`)
	if f.has("leaves") {
		return 0
	}
	return -1
}

// A world is one test's private directory and the programs that ran in it.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t, t.TempDir()}
	t.Cleanup(w.checkNoneLeft)
	return w
}

func (w *world) child() string { return filepath.Join(w.dir, "state", "child") }

func (w *world) options(mode string) Options {
	return Options{ChildDir: w.child(), Environ: w.environ(mode)}
}

func (w *world) environ(mode string) []string {
	return append(os.Environ(), "LLM_FAKE="+mode, "LLM_FAKE_DIR="+w.dir, "LLM_FAKE_CHILD="+w.child(),
		"USER_PROMPT=the user's", "KIRO_SESSION_ID=the user's")
}

// lines decodes what fakes have noted.
func lines[T any](w *world, kind string) (all []T) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, kind))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			w.t.Fatalf("%s: %v", kind, err)
		}
		all = append(all, v)
	}
	return all
}

// checkNoneLeft is the promise of the package, held after every test.
func (w *world) checkNoneLeft() {
	for _, pid := range lines[int](w, "pids") {
		w.until(fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
	}
}

// until polls a condition that nothing signals.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			w.t.Errorf("not so after 20 s: %s", what)
			return
		}
	}
}
