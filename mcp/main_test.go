package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kiro-learn/collector/client"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// program is the real binary, built once.
var program string

// clientOf names the environment variable with which this test program is a client of the server that it holds.
const clientOf = "KL_TEST_CLIENT_OF"

func TestMain(m *testing.M) {
	if server := os.Getenv(clientOf); server != "" {
		os.Exit(beClient(server))
	}
	if reply := os.Getenv(replyIn); reply != "" && os.Getenv("KIRO_LEARN_CHILD") == "1" {
		os.Exit(beModel(reply))
	}
	flag.Parse()
	os.Exit(withProgram(m.Run))
}

// replyIn names the environment variable with which this test program is a language model: it gives the text of a file.
const replyIn = "KL_TEST_REPLY_IN"

func beModel(reply string) int {
	b, err := os.ReadFile(reply)
	if err != nil {
		return 1
	}
	if _, err := os.Stdout.Write(b); err != nil {
		return 2
	}
	return 0
}

// beClient greets a server, which shares its stderr, and waits to be killed.
func beClient(server string) int {
	cmd := exec.Command(server, "mcp")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return 1
	}
	if _, err := io.WriteString(stdin, initialize("2025-06-18")); err != nil {
		return 2
	}
	_ = cmd.Wait() // never: it is there as long as we are
	return 3
}

func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "kiro-learn-mcp")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "kiro-learn")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "kiro-learn")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return run()
}

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// box is a home with a project and a kiro-learn of its own.
type box struct {
	t       *testing.T
	home    string
	kl      string
	project string
	extra   []string // environment
}

func newBox(t *testing.T) *box {
	t.Helper()
	dir, err := os.MkdirTemp("", "kl") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, home: filepath.Join(dir, "home"), kl: filepath.Join(dir, "kl")}
	b.project = b.newProject("shop")
	t.Cleanup(func() {
		_ = b.command("collector", "stop").Run() // there may be none
		_ = os.RemoveAll(dir)
	})
	return b
}

func (b *box) newProject(name string) string {
	b.t.Helper()
	dir := filepath.Join(b.home, name)
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

func (b *box) env() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "KIRO_") && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "VSCODE_") && name != "HOME" && name != "USERPROFILE" {
			env = append(env, kv)
		}
	}
	return append(append(env, "HOME="+b.home, "USERPROFILE="+b.home, "KIRO_LEARN_HOME="+b.kl), b.extra...)
}

func (b *box) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = b.env(), b.project
	return cmd
}

func (b *box) run(args ...string) string {
	b.t.Helper()
	out, err := b.command(args...).CombinedOutput()
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// hook fires a hook of Kiro in the box's project.
func (b *box) hook(event, session, field, text string) {
	b.t.Helper()
	in, err := json.Marshal(map[string]string{"hook_event_name": event, "cwd": b.project, "session_id": session, field: text})
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := b.command(event)
	cmd.Stdin = bytes.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v %s", event, err, out)
	}
}

// turn is a prompt and its answer, through the hooks.
func (b *box) turn(session, prompt, answer string) {
	b.t.Helper()
	b.hook("userPromptSubmit", session, "prompt", prompt)
	b.hook("stop", session, "assistant_response", answer)
}

// configure writes the settings.
func (b *box) configure(text string) {
	b.t.Helper()
	if err := os.MkdirAll(b.kl, 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.kl, "config.json"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) dirs() config.Dirs {
	return config.FindDirs(func(name string) string { return map[string]string{"KIRO_LEARN_HOME": b.kl}[name] })
}

// api asks the box's collector.
func (b *box) api() *client.Client {
	b.t.Helper()
	c, err := client.New(b.dirs(), config.Collector{})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func (b *box) record(id string) event.Record {
	b.t.Helper()
	r, err := b.api().Record(b.t.Context(), id)
	if err != nil {
		b.t.Fatalf("record %s: %v", id, err)
	}
	return r.Record
}

// records are all records there are.
func (b *box) records() []event.Record {
	b.t.Helper()
	var got struct {
		Items []event.Record `json:"items"`
	}
	if err := b.api().Call(b.t.Context(), http.MethodGet, "/v1/memories?limit=500", nil, &got); err != nil {
		b.t.Fatal(err)
	}
	return got.Items
}

// connect starts the real server and speaks with it through the SDK's client over pipes.
func (b *box) connect(o *sdk.ClientOptions, version string, roots ...*sdk.Root) (*sdk.Client, *sdk.ClientSession) {
	b.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, o)
	c.AddRoots(roots...)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b.t.Cleanup(cancel)
	session, err := c.Connect(ctx, &sdk.CommandTransport{Command: b.command("mcp")}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := session.Close(); err != nil && !errors.Is(err, sdk.ErrConnectionClosed) {
			b.t.Errorf("close: %v", err)
		}
	})
	return c, session
}

// said is what a tool answered.
type reply struct {
	text  string
	bad   bool
	data  map[string]any
	fault error // of the protocol
}

func use(t *testing.T, s *sdk.ClientSession, tool string, args any) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return reply{fault: err}
	}
	var r reply
	for _, c := range res.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			r.text += text.Text
		}
	}
	r.bad = res.IsError
	r.data, _ = res.StructuredContent.(map[string]any)
	return r
}

// good is use for a call that must succeed.
func good(t *testing.T, s *sdk.ClientSession, tool string, args any) reply {
	t.Helper()
	r := use(t, s, tool, args)
	if r.bad || r.fault != nil {
		t.Fatalf("%s: %q %v", tool, r.text, r.fault)
	}
	return r
}

// idIn is the record id in an answer.
func idIn(t *testing.T, r reply) string {
	t.Helper()
	id, _ := r.data["record_id"].(string)
	if !strings.HasPrefix(id, "mr_") || !event.IsULID(id[3:]) || !strings.Contains(r.text, id) {
		t.Fatalf("no record id in %q, %v", r.text, r.data)
	}
	return id
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type args = map[string]any

// summaryArgs are the arguments of a good summary.
func summaryArgs() args {
	return args{
		"request": "Make the importer idempotent", "investigated": "The quokka importer", "learned": "It upserts by SKU",
		"completed": "Unique index on sku", "next_steps": "Backfill old rows", "files_read": []string{"a.go", "b.go"}, "files_modified": []string{"b.go", "c.go"},
	}
}

func observationArgs() args {
	return args{
		"title": "Cache key", "summary": "The cache key holds the locale", "observation_type": "discovery",
		"concepts": []string{"cache"}, "files_touched": []string{"cache.go"}, "facts": []string{"locale is part of the key"},
	}
}

func with(m args, key string, value any) args {
	out := args{}
	for k, v := range m {
		out[k] = v
	}
	if value == nil {
		delete(out, key)
		return out
	}
	out[key] = value
	return out
}
