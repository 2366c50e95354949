package payload

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

const (
	uuid = "3f0a6b1e-9d55-4c0e-8a41-5f2f1f6f7a10"
	sess = "sess_0b7c7d4e-2e3a-4b55-9a5f-1c7e5f0f9b21"
	shop = "/home/mia/shop"
)

func env(kv ...string) func(string) string {
	return func(k string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == k {
				return kv[i+1]
			}
		}
		return ""
	}
}

func TestEverySamplePayload(t *testing.T) {
	js := func(s string) []byte { return []byte(s) }
	cli := func(h Hook, name, session string) Payload {
		return Payload{Hook: h, Name: name, Surface: event.SurfaceCLI, CWD: shop, SessionID: session}
	}
	with := func(p Payload, f func(*Payload)) Payload { f(&p); return p }
	for _, tt := range []struct {
		name string // the file
		hook string
		want Payload
	}{
		{"cli1-agentSpawn-with-prompt.json", "agentSpawn", with(cli(Spawn, "agentSpawn", ""), func(p *Payload) {
			p.Prompt, p.HasPrompt = "add a retry to the uploader", true
		})},
		{"cli1-userPromptSubmit-no-session.json", "userPromptSubmit", with(cli(Prompt, "userPromptSubmit", ""), func(p *Payload) {
			p.Prompt, p.HasPrompt = "add a retry to the uploader", true
		})},
		{"cli2-agentSpawn.json", "agentSpawn", cli(Spawn, "agentSpawn", uuid)},
		{"cli2-postToolUse-items.json", "postToolUse", with(cli(ToolUse, "postToolUse", uuid), func(p *Payload) {
			p.ToolName = "fs_read"
			p.ToolInput = js(`{"operations":[{"mode":"Line","path":"/home/mia/shop/upload/upload.go","start_line":1,"end_line":40}],"__tool_use_purpose":"look at the sender"}`)
			p.ToolResponse = js(`{"items":[{"Text":"package upload\n\nfunc Upload(req Request) error {\n\treturn send(req)\n}\n"}]}`)
		})},
		{"cli2-postToolUse-mcp.json", "postToolUse", with(cli(ToolUse, "postToolUse", uuid), func(p *Payload) {
			p.ToolName, p.ToolInput, p.ToolResponse = "@jira/get_issue", js(`{"key":"SHOP-12"}`), js(`{"success":false,"error":["not found"]}`)
		})},
		{"cli2-postToolUse-shell.json", "postToolUse", with(cli(ToolUse, "postToolUse", uuid), func(p *Payload) {
			p.ToolName, p.ToolInput = "execute_bash", js(`{"command":"go test ./...","summary":"run tests"}`)
			p.ToolResponse = js(`{"success":true,"result":[{"exit_status":"1","stdout":"--- FAIL: TestUpload (0.02s)\n    upload_test.go:41: got 1 attempt, want 3\nFAIL\tshop/upload\t0.031s\n","stderr":""}]}`)
		})},
		{"cli2-postToolUse-write.json", "postToolUse", with(cli(ToolUse, "postToolUse", uuid), func(p *Payload) {
			p.ToolName = "fs_write"
			p.ToolInput = js(`{"command":"str_replace","path":"/home/mia/shop/upload/upload.go","old_str":"return send(req)","new_str":"return retry(3, func() error { return send(req) })","summary":"retry the send"}`)
			p.ToolResponse = js(`{"success":true,"result":[""]}`)
		})},
		{"cli2-stop-empty.json", "stop", with(cli(Stop, "stop", uuid), func(p *Payload) { p.HasAssistant = true })},
		{"cli2-stop.json", "stop", with(cli(Stop, "stop", uuid), func(p *Payload) {
			p.Assistant, p.HasAssistant = "Retry added: three attempts with exponential backoff starting at 200 ms. `go test ./...` passes.", true
		})},
		{"cli2-userPromptSubmit-turns.json", "userPromptSubmit", with(cli(Prompt, "userPromptSubmit", uuid), func(p *Payload) {
			p.Prompt, p.HasPrompt = "and how often?", true
			p.Turns = []event.Turn{{Role: "user", Content: "what does the extraction worker do?"}, {Role: "assistant", Content: "it reads pending events"}, {Role: "user", Content: "and how often?"}}
		})},
		{"cli2-userPromptSubmit.json", "userPromptSubmit", with(cli(Prompt, "userPromptSubmit", uuid), func(p *Payload) {
			p.Prompt, p.HasPrompt = "add a retry to the uploader, at most three attempts", true
		})},
		{"cli3-PostToolUse-shell.json", "PostToolUse", with(cli(ToolUse, "PostToolUse", sess), func(p *Payload) {
			p.ToolName, p.ToolInput = "execute_bash", js(`{"command":"go vet ./...","cwd":"/home/mia/shop"}`)
			p.ToolResponse = js(`{"result":"Output:\n\nExit Code: 0"}`)
		})},
		{"cli3-PostToolUse-write.json", "PostToolUse", with(cli(ToolUse, "PostToolUse", sess), func(p *Payload) {
			p.ToolName = "str_replace"
			p.ToolInput = js(`{"path":"/home/mia/shop/upload/upload.go","oldStr":"retry(3,","newStr":"retry(maxAttempts,"}`)
			p.ToolResponse = js(`{"result":"Replaced text in /home/mia/shop/upload/upload.go"}`)
		})},
		{"cli3-SessionStart.json", "SessionStart", cli(Spawn, "SessionStart", sess)},
		{"cli3-Stop.json", "Stop", cli(Stop, "Stop", sess)},
		{"cli3-UserPromptSubmit-empty.json", "UserPromptSubmit", with(cli(Prompt, "UserPromptSubmit", sess), func(p *Payload) { p.HasPrompt = true })},
		{"cli3-UserPromptSubmit.json", "UserPromptSubmit", with(cli(Prompt, "UserPromptSubmit", sess), func(p *Payload) {
			p.Prompt, p.HasPrompt = "how many times does the uploader retry?", true
		})},
		{"ide0-agentStop.env.txt", "agentStop", Payload{Hook: Stop, Name: "agentStop", IDE0: true, Surface: event.SurfaceIDE}},
		{"ide0-postToolUse-broken.env.txt", "postToolUse", Payload{
			Hook: ToolUse, Name: "postToolUse", Surface: event.SurfaceIDE,
			ToolName: "unknown", ToolResponse: js(`{"result":"{\"toolName\":\"fsWrite\",\"toolArgs\":"}`), Notes: []string{"payload is no JSON, kept as text"},
		}},
		{"ide0-postToolUse.env.json", "postToolUse", Payload{
			Hook: ToolUse, Name: "postToolUse", Surface: event.SurfaceIDE,
			ToolName: "fsWrite", ToolInput: js(`{}`), ToolResponse: js(`{"result":"Created the config/retry.toml file.","success":true}`),
		}},
		{"ide0-promptSubmit.env.txt", "promptSubmit", Payload{
			Hook: Prompt, Name: "promptSubmit", IDE0: true, Surface: event.SurfaceIDE,
			Prompt: "move the retry limit into the config file", HasPrompt: true,
		}},
		{"ide1-PostToolUse-noinput.json", "PostToolUse", with(cli(ToolUse, "PostToolUse", sess), func(p *Payload) {
			p.ToolName, p.ToolInput, p.ToolResponse = "fs_write", js(`{}`), js(`{"result":"Created the /home/mia/shop/retry.go file."}`)
		})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := os.ReadFile("../testdata/payloads/" + tt.name)
			if err != nil {
				t.Fatal(err)
			}
			req := Request{Name: tt.hook, Stdin: pipe(t, string(b), true), Wait: time.Hour}
			if tt.want.Surface == event.SurfaceIDE {
				req = Request{Name: tt.hook, Surface: "kiro-ide", Channel: "env", Getenv: env("USER_PROMPT", string(b)), Stdin: untouched{t}}
			}
			if d := cmp.Diff(tt.want, Read(req)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// untouched is a stdin that a hook must not read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) { u.t.Error("stdin was read"); return 0, os.ErrClosed }

// pipe is a real pipe that holds text, closed or left open at the writer's end.
func pipe(t *testing.T, text string, closed bool) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	go func() {
		_, _ = w.WriteString(text)
		if closed {
			w.Close()
		}
	}()
	return r
}
