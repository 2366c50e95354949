package payload

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

// read is a hook with all the time of the world, on however slow a machine.
func read(hook, stdin string) Payload {
	return Read(Request{Name: hook, Stdin: strings.NewReader(stdin), Wait: time.Hour})
}

func TestHookOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		want Hook
		ide0 bool
	}{
		{"agentSpawn", Spawn, false},
		{"AgentSpawn", Spawn, false},
		{"sessionStart", Spawn, false},
		{"SessionStart", Spawn, false},
		{"userPromptSubmit", Prompt, false},
		{"UserPromptSubmit", Prompt, false},
		{"promptSubmit", Prompt, true},
		{"PromptSubmit", Prompt, false},
		{"postToolUse", ToolUse, false},
		{"PostToolUse", ToolUse, false},
		{"stop", Stop, false},
		{"Stop", Stop, false},
		{"agentStop", Stop, true},
		{"AgentStop", Stop, false},
		{"preToolUse", Other, false},
		{"SessionEnd", Other, false},
		{"", Other, false},
		{"nosuch", Other, false},
	} {
		if got, ide0 := HookOf(tt.name); got != tt.want || ide0 != tt.ide0 {
			t.Errorf("HookOf(%q) = %q, %v, want %q, %v", tt.name, got, ide0, tt.want, tt.ide0)
		}
	}
}

func TestTheHookOfTheCommandLineWins(t *testing.T) {
	for _, tt := range []struct {
		argv, payload string
		want          Hook
		name          string
	}{
		{"stop", "postToolUse", Stop, "stop"},
		{"", "PostToolUse", ToolUse, "PostToolUse"},
		{"nosuch", "PostToolUse", ToolUse, "PostToolUse"},
		{"preToolUse", "preToolUse", Other, "preToolUse"},
		{"", "SessionEnd", Other, "SessionEnd"},
		{"", "", Other, ""},
	} {
		p := read(tt.argv, `{"tool_name":"t","hook_event_name":"`+tt.payload+`"}`)
		if p.Hook != tt.want || p.Name != tt.name {
			t.Errorf("%q with %q: got %q %q, want %q %q", tt.argv, tt.payload, p.Hook, p.Name, tt.want, tt.name)
		}
	}
}

func TestSurface(t *testing.T) {
	for _, tt := range []struct {
		name, hook, surface string
		env                 []string
		want                string
	}{
		{"plain", "stop", "auto", nil, event.SurfaceCLI},
		{"editor", "stop", "auto", []string{"VSCODE_PID", "1"}, event.SurfaceIDE},
		{"editor's other variable", "stop", "", []string{"VSCODE_IPC_HOOK", "/run/x.sock"}, event.SurfaceIDE},
		{"terminal of the editor", "stop", "auto", []string{"VSCODE_PID", "1", "TERM_PROGRAM", "vscode"}, event.SurfaceCLI},
		{"terminal of Kiro", "stop", "auto", []string{"VSCODE_PID", "1", "TERM_PROGRAM", "kiro"}, event.SurfaceCLI},
		{"editor started from another terminal", "stop", "auto", []string{"VSCODE_PID", "1", "TERM_PROGRAM", "iTerm.app"}, event.SurfaceIDE},
		{"IDE 0's own hook", "agentStop", "auto", nil, event.SurfaceIDE},
		{"told", "agentStop", "kiro-cli", []string{"VSCODE_PID", "1"}, event.SurfaceCLI},
		{"told otherwise", "stop", "kiro-ide", nil, event.SurfaceIDE},
		{"told nonsense", "stop", "emacs", nil, event.SurfaceCLI},
	} {
		if got := Read(Request{Name: tt.hook, Surface: tt.surface, Getenv: env(tt.env...)}).Surface; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestChannelsAndSpellings: the same happening gives the same Payload, however it is told.
func TestChannelsAndSpellings(t *testing.T) {
	type spelling struct{ name, text string }
	for _, kind := range []struct {
		hooks     []string
		spellings []spelling
		want      Payload
	}{
		{
			[]string{"postToolUse", "PostToolUse"},
			[]spelling{
				{"snake", `{"cwd":"/p","session_id":"s","tool_name":"t","tool_input":{"a":1},"tool_response":"ok"}`},
				{"camel", `{"cwd":"/p","sessionId":"s","toolName":"t","toolInput":{"a":1},"toolResponse":"ok"}`},
				{"IDE 0", `{"cwd":"/p","sessionId":"s","toolName":"t","toolArgs":{"a":1},"toolResult":"ok"}`},
				{"object", `{"cwd":"/p","session_id":"s","tool_name":"t","tool_input":{"a":1},"tool_response":{"result":"ok"}}`},
				{"camel object", `{"cwd":"/p","sessionId":"s","toolName":"t","toolArgs":{"a":1},"toolResult":{"result":"ok"}}`},
				{"spaced and escaped", "\ufeff{ \"cwd\" : \"\\/p\" , \"session\\u005fid\":\"s\",\r\n\"tool_name\":\"\\u0074\",\"tool_input\":{ \"a\" : 1 },\"tool_response\":\"ok\"}\r\n"},
			},
			Payload{Hook: ToolUse, Surface: event.SurfaceIDE, CWD: "/p", SessionID: "s", ToolName: "t", ToolInput: []byte(`{"a":1}`), ToolResponse: []byte(`{"result":"ok"}`)},
		},
		{
			[]string{"userPromptSubmit", "UserPromptSubmit", "promptSubmit"},
			[]spelling{{"snake", `{"cwd":"/p","session_id":"s","prompt":"why 漢?"}`}, {"camel", `{"prompt":"why \u6f22?","sessionId":"s","cwd":"/p"}`}},
			Payload{Hook: Prompt, Surface: event.SurfaceIDE, CWD: "/p", SessionID: "s", Prompt: "why 漢?", HasPrompt: true},
		},
		{
			[]string{"stop", "Stop", "agentStop"},
			[]spelling{
				{"snake", `{"cwd":"/p","session_id":"s","assistant_response":"done"}`},
				{"camel", `{"cwd":"/p","sessionId":"s","assistantResponse":"done"}`},
				{"last", `{"cwd":"/p","session_id":"s","last_assistant_message":"done"}`},
				{"parts", `{"cwd":"/p","session_id":"s","assistant_response":[{"text":"done"}]}`},
			},
			Payload{Hook: Stop, Surface: event.SurfaceIDE, CWD: "/p", SessionID: "s", Assistant: "done", HasAssistant: true},
		},
	} {
		for _, hook := range kind.hooks {
			for _, sp := range kind.spellings {
				for channel, req := range map[string]Request{
					"stdin":                  {Channel: "stdin", Stdin: strings.NewReader(sp.text)},
					"stdin in single bytes":  {Channel: "stdin", Stdin: iotest.OneByteReader(strings.NewReader(sp.text))},
					"stdin over environment": {Channel: "stdin", Stdin: strings.NewReader(sp.text), Getenv: env("USER_PROMPT", "cut at 4096 byt")},
					"environment":            {Channel: "env", Getenv: env("USER_PROMPT", sp.text)},
					"found in environment":   {Getenv: env("USER_PROMPT", sp.text), Stdin: strings.NewReader("")},
					"told by both":           {Getenv: env("USER_PROMPT", sp.text), Stdin: strings.NewReader(sp.text)},
				} {
					req.Name, req.Surface, req.Wait = hook, event.SurfaceIDE, time.Hour
					want := kind.want
					want.Name, want.IDE0 = hook, hook == "promptSubmit" || hook == "agentStop"
					if d := cmp.Diff(want, Read(req)); d != "" {
						t.Errorf("%s, %s, %s (-want +got):\n%s", hook, sp.name, channel, d)
					}
				}
			}
		}
	}
}

func TestAFieldOfAnotherType(t *testing.T) {
	const rest = `,"cwd":"/p","tool_name":"t","session_id":"s"}`
	for _, tt := range []struct{ name, response, want string }{
		{"string", `"ok"`, `{"result":"ok"}`},
		{"array", `[1,"a"]`, `{"result":[1,"a"]}`},
		{"null", `null`, `{"result":null}`},
		{"number", `1.50`, `{"result":1.50}`},
		{"bool", `false`, `{"result":false}`},
		{"object", `{"x":12345678901234567890}`, `{"x":12345678901234567890}`},
		{"no JSON at all", `NaN`, `{"result":"NaN"}`},
		{"leading zero", `{"n":01}`, `{"n":"01"}`},
	} {
		t.Run("tool_response is "+tt.name, func(t *testing.T) {
			p := read("postToolUse", `{"tool_response":`+tt.response+rest)
			if string(p.ToolResponse) != tt.want || p.CWD != "/p" || p.ToolName != "t" || p.SessionID != "s" {
				t.Errorf("got %s in %+v, want %s", p.ToolResponse, p, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, in, want string }{
		{"number", `42`, "42"},
		{"big number", `12345678901234567890`, "12345678901234567890"},
		{"negative", `-1`, "-1"},
		{"null", `null`, ""},
		{"object", `{"a":1}`, ""},
		{"bool", `true`, ""},
		{"empty", `""`, ""},
		{"path pieces", `"../../etc"`, "../../etc"},
	} {
		t.Run("session_id is "+tt.name, func(t *testing.T) {
			p := read("stop", `{"session_id":`+tt.in+`,"assistant_response":"done"}`)
			if p.SessionID != tt.want || p.Assistant != "done" {
				t.Errorf("got %q in %+v, want %q", p.SessionID, p, tt.want)
			}
		})
	}
	turn := func(role, content string) event.Turn { return event.Turn{Role: role, Content: content} }
	for _, tt := range []struct {
		name, in, want string
		turns          []event.Turn
		has            bool
	}{
		{"null", `null`, "", nil, false},
		{"empty", `""`, "", nil, true},
		{"empty list", `[]`, "", nil, false},
		{"number", `7`, "7", nil, true},
		{"object", `{"a":[1]}`, `{"a":[1]}`, nil, true},
		{"list of text", `["a",{"text":"b"}]`, "a\nb", nil, true},
		{"list of numbers", `[1,2]`, "[1,2]", nil, true},
		{"turns", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]}]`, "a", []event.Turn{turn("user", "a"), turn("assistant", "b")}, true},
		{"turns without roles", `[{"content":"a"},{"content":null},{"content":{"x":1}}]`, `{"x":1}`, []event.Turn{turn("user", "a"), turn("user", ""), turn("user", `{"x":1}`)}, true},
	} {
		t.Run("prompt is "+tt.name, func(t *testing.T) {
			p := read("userPromptSubmit", `{"prompt":`+tt.in+`,"cwd":"/p"}`)
			if d := cmp.Diff(tt.turns, p.Turns); d != "" || p.Prompt != tt.want || p.HasPrompt != tt.has || p.CWD != "/p" {
				t.Errorf("got %+v, want %q\n%s", p, tt.want, d)
			}
		})
	}
	t.Run("others", func(t *testing.T) {
		p := read("postToolUse", `{"cwd":[1],"tool_name":7,"tool_input":"plain","tool_response":null,"toolResult":"r","toolSuccess":false,"assistant_response":null}`)
		if p.CWD != "" || p.ToolName != "unknown" || string(p.ToolInput) != `"plain"` || string(p.ToolResponse) != `{"result":"r","success":false}` || p.HasAssistant {
			t.Errorf("got %+v, %s, %s", p, p.ToolInput, p.ToolResponse)
		}
	})
	t.Run("repeated key", func(t *testing.T) {
		p := read("postToolUse", `{"session_id":"first","tool_name":"a","session_id":"last","tool_name":"b","tool_response":"x"}`)
		if p.SessionID != "last" || p.ToolName != "b" || string(p.ToolResponse) != `{"result":"x"}` {
			t.Errorf("got %+v", p)
		}
	})
}

func TestInvalidText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"lone high surrogate", `a \ud83d b`, "a \ufffd b"},
		{"lone low surrogate", `a \ude00 b`, "a \ufffd b"},
		{"two high ones", `\ud83d\ud83d\ude00`, "\ufffd😀"},
		{"a real pair", `\ud83d\ude00`, "😀"},
		{"pair in capitals", `\uD83D\uDE00`, "😀"},
		{"lone at the end", `x\ud83d`, "x\ufffd"},
		{"half a pair", `\ud83d\u00`, "\ufffd\\u00"},
		{"raw bytes", "a\xff\xfeb", "a\ufffd\ufffdb"},
		{"cut character", "a\xe6\xbc", "a\ufffd\ufffd"},
		{"raw control characters", "a\tb\nc\x1bd\x01", "a\tb\nc\x1bd\x01"},
		{"NUL", "a\x00b", "a\ufffdb"},
		{"escaped NUL", `a\u0000b`, "a\ufffdb"},
		{"line separators", "a\u2028b\u2029", "a\u2028b\u2029"},
		{"joined emoji", "👩‍💻", "👩‍💻"},
		{"short escapes", `\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t"},
		{"escaped ASCII", `\u003cprivate\u003e`, "<private>"},
		{"Windows path", `C:\Users\dev\x`, `C:\Users\dev\x`},
		{"\\u without digits", `C:\users\u12`, `C:\users\u12`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := read("userPromptSubmit", `{"prompt":"`+tt.in+`","cwd":"/p","session_id":"s"}`)
			if p.Prompt != tt.want || p.CWD != "/p" || p.SessionID != "s" {
				t.Errorf("got %q in %+v, want %q", p.Prompt, p, tt.want)
			}
			u := read("postToolUse", `{"tool_response":{"`+tt.in+`":["`+tt.in+`"]},"tool_name":"t"}`)
			var v map[string][]string
			if err := json.Unmarshal(u.ToolResponse, &v); err != nil || u.ToolName != "t" {
				t.Fatalf("got %q in %+v: %v", u.ToolResponse, u, err)
			}
			if d := cmp.Diff(map[string][]string{tt.want: {tt.want}}, v); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestInvalidEscapesAreSaidOnce(t *testing.T) {
	p := read("postToolUse", `{"cwd":"C:\Users\dev","tool_response":"`+strings.Repeat(`C:\Users `, 1000)+`","tool_name":"t"}`)
	if fmt.Sprint(p.Notes) != "[repaired an invalid escape]" || p.CWD != `C:\Users\dev` {
		t.Errorf("got %q, notes %q", p.CWD, p.Notes)
	}
}

func TestEncodings(t *testing.T) {
	const text = `{"prompt":"漢 😀 why?","session_id":"s"}`
	utf16Of := func(order binary.AppendByteOrder, bom bool) string {
		var b []byte
		if bom {
			b = order.AppendUint16(b, 0xfeff)
		}
		for _, u := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	for _, tt := range []struct{ name, in string }{
		{"BOM", "\xef\xbb\xbf" + text},
		{"CRLF", "\r\n" + text + "\r\n"},
		{"trailing garbage", text + "\x00\xff}]"},
		{"two documents", text + text},
		{"UTF-16 little", utf16Of(binary.LittleEndian, true)},
		{"UTF-16 big", utf16Of(binary.BigEndian, true)},
		{"UTF-16 little without BOM", utf16Of(binary.LittleEndian, false)},
		{"UTF-16 big without BOM", utf16Of(binary.BigEndian, false)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, stdin := range []func() Payload{
				func() Payload { return read("userPromptSubmit", tt.in) },
				func() Payload {
					return Read(Request{Name: "userPromptSubmit", Stdin: iotest.OneByteReader(strings.NewReader(tt.in)), Wait: time.Hour})
				},
			} {
				if p := stdin(); p.Prompt != "漢 😀 why?" || p.SessionID != "s" || p.Notes != nil {
					t.Errorf("got %+v", p)
				}
			}
		})
	}
}

func TestNoJSON(t *testing.T) {
	deep := strings.Repeat("[", 200_000)
	for _, tt := range []struct{ name, in, text string }{
		{"text", "hello there", "hello there"},
		{"BOM and text", "\ufeffhello", "hello"},
		{"invalid text", "h\xffllo\x00", "h\ufffdllo\ufffd"},
		{"JSON string", `"hello"`, `"hello"`},
		{"number", `42`, `42`},
		{"array", `[1,2]`, `[1,2]`},
		{"deep", deep, deep},
		{"word", "nope", "nope"},
		{"braces", "{not json}", "{not json}"},
		{"JSON5", "{tool_name:'x'}", "{tool_name:'x'}"},
		{"wrong bracket", `{"x":[1}`, `{"x":[1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, _ := json.Marshal(map[string]string{"result": tt.text})
			var got map[string]string
			p := read("postToolUse", tt.in)
			if err := json.Unmarshal(p.ToolResponse, &got); err != nil || got["result"] != tt.text || len(got) != 1 || p.ToolName != "unknown" {
				t.Errorf("tool: got %.80s %.80s, want %.80s", p.ToolName, p.ToolResponse, want)
			}
			if p := read("userPromptSubmit", tt.in); p.Prompt != tt.text || !p.HasPrompt {
				t.Errorf("prompt: got %.80q", p.Prompt)
			}
			if p := Read(Request{Name: "agentStop", Getenv: env("USER_PROMPT", tt.in)}); p.Assistant != tt.text || !p.HasAssistant {
				t.Errorf("answer: got %.80q", p.Assistant)
			}
		})
	}
	t.Run("more than is kept", func(t *testing.T) {
		for _, open := range []string{"", `"`, "[", "[["} {
			in := open + strings.Repeat("漢", 2<<20)
			if p := read("userPromptSubmit", in); p.Prompt != in[:len(open)+(maxString-len(open))/3*3]+marker {
				t.Errorf("%q: got %d bytes", open, len(p.Prompt))
			}
		}
		if p := read("userPromptSubmit", strings.Repeat("[", 5<<20)); len(p.Prompt) != maxString+len(marker) {
			t.Errorf("got %d bytes", len(p.Prompt))
		}
	})
	t.Run("a prompt in the environment that begins with JSON", func(t *testing.T) {
		for _, in := range []string{`{"prompt":"a"} what is this?`, `{"prompt":"a", oops}`, `{"prompt":"a"`, `{"name":"a"}`, `[1]`} {
			if p := Read(Request{Name: "promptSubmit", Getenv: env("USER_PROMPT", in)}); p.Prompt != in {
				t.Errorf("got %q, want %q", p.Prompt, in)
			}
		}
	})
	t.Run("an object that we do not know", func(t *testing.T) {
		p := read("postToolUse", `{"kind":"toolDone"}`)
		if p.ToolName != "unknown" || string(p.ToolResponse) != `{"result":"{\"kind\":\"toolDone\"}"}` {
			t.Errorf("got %+v %s", p, p.ToolResponse)
		}
	})
}

func TestTornObjectKeepsWhatIsWhole(t *testing.T) {
	for _, tt := range []struct{ name, in, tool, session, input, response string }{
		{"in a key", `{"tool_name":"t","session_id":"s","tool_resp`, "t", "s", "", ""},
		{"in the session id", `{"tool_name":"t","session_id":"s`, "t", "", "", ""},
		{"in the name", `{"session_id":"s","tool_name":"t`, "unknown", "s", "", ""},
		{"in the input", `{"tool_name":"t","session_id":"s","tool_input":{"a":`, "t", "s", "", ""},
		{"in a number", `{"tool_name":"t","session_id":12`, "t", "", "", ""},
		{"in a response", `{"tool_name":"t","session_id":"s","tool_input":{},"tool_response":"long te`, "t", "s", "{}", `{"result":"long te [truncated by kiro-learn]"}`},
		{"in an escape", `{"tool_name":"t","session_id":"s","tool_response":"long \ud83d`, "t", "s", "", "{\"result\":\"long \ufffd [truncated by kiro-learn]\"}"},
		{"inside a response", `{"tool_name":"t","session_id":"s","tool_response":{"result":["lo`, "t", "s", "", `{"result":"{\"result\":[\"lo [truncated by kiro-learn]"}`},
		{"second response", `{"tool_name":"t","session_id":"s","tool_response":"whole","tool_response":"to`, "t", "s", "", `{"result":"whole"}`},
		{"garbage", `{"tool_name":"t","session_id":"s",, "cwd":"/p"}`, "t", "s", "", ""},
		{"unescaped quote", `{"tool_name":"t","session_id":"s","tool_response":"he said "no"."}`, "t", "s", "", `{"result":"he said "}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := read("postToolUse", tt.in)
			if p.ToolName != tt.tool || p.SessionID != tt.session || string(p.ToolInput) != tt.input || string(p.ToolResponse) != tt.response {
				t.Errorf("got %+v, input %s, response %s", p, p.ToolInput, p.ToolResponse)
			}
			if len(p.Notes) == 0 || !strings.Contains(strings.Join(p.Notes, ","), "torn") {
				t.Errorf("notes %q do not say so", p.Notes)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`[`, n) + `"x\"y"` + strings.Repeat(`]`, n) }
	for _, tt := range []struct {
		name string
		n    int
		text bool
	}{{"deep", maxDepth, false}, {"too deep", maxDepth + 1, true}, {"far too deep", 100_000, true}} {
		t.Run(tt.name, func(t *testing.T) {
			p := read("postToolUse", `{"tool_input":`+nest(tt.n)+`,"tool_response":"ok","tool_name":"t"}`)
			want := nest(tt.n)
			if tt.text {
				q, _ := json.Marshal(want)
				want = string(q)
			}
			if string(p.ToolInput) != want || p.ToolName != "t" || string(p.ToolResponse) != `{"result":"ok"}` {
				t.Errorf("got %.80s of %d bytes in %q, want %d bytes", p.ToolInput, len(p.ToolInput), p.ToolName, len(want))
			}
			if (len(p.Notes) == 1) != tt.text {
				t.Errorf("notes %q", p.Notes)
			}
		})
	}
}

func TestFieldsBehindABigOneSurvive(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and has no two goroutines")
	}
	const mb = 1 << 20
	for _, tt := range []struct {
		name, unit string
		n          int
		cut        bool
	}{
		{"2 MB", "o", 2 * mb, false},
		{"30 MB", "o", 30 * mb, true},
		{"han", "漢", 2 * mb, true},
		{"emoji", "👩‍💻", mb, true},
		{"less-than signs", "<", 2 * mb, false},
		{"control characters", `\u0001`, mb, true},
		{"quotes", `\"`, 3 * mb, true},
		{"surrogate pairs", `\ud83d\ude00`, 2 * mb, true},
	} {
		for shift := range min(3, len(unquote(t, tt.unit))) {
			t.Run(fmt.Sprintf("%s/%d", tt.name, shift), func(t *testing.T) {
				text := strings.Repeat("a", shift) + strings.Repeat(tt.unit, tt.n)
				p := read("postToolUse", `{"tool_response":{"success":true,"result":[{"stdout":"`+text+`","exit_status":"0"}]},"session_id":"s","tool_name":"execute_bash"}`)
				if p.SessionID != "s" || p.ToolName != "execute_bash" {
					t.Fatalf("fields behind are lost: %+v", p.Notes)
				}
				var v struct {
					Success bool
					Result  []struct {
						Stdout string
						Status string `json:"exit_status"`
					}
				}
				if err := json.Unmarshal(p.ToolResponse, &v); err != nil || !utf8.Valid(p.ToolResponse) {
					t.Fatal(err)
				}
				out, was := v.Result[0].Stdout, strings.HasSuffix(v.Result[0].Stdout, marker)
				unit := unquote(t, tt.unit)
				out = strings.TrimSuffix(out, marker)[shift:]
				if was != tt.cut || strings.Repeat(unit, len(out)/len(unit)+1)[:len(out)] != out || v.Result[0].Status != "0" || !v.Success {
					t.Errorf("cut is %v, %d bytes, want cut %v", was, len(out), tt.cut)
				}
				if !tt.cut && len(out) != tt.n {
					t.Errorf("%d bytes of %d are left", len(out), tt.n)
				}
				if len(p.ToolResponse) > maxString+200 || tt.cut && len(p.ToolResponse) < maxString-10 {
					t.Errorf("%d bytes are kept", len(p.ToolResponse))
				}
			})
		}
	}
}

func unquote(t *testing.T, inside string) (s string) {
	t.Helper()
	if err := json.Unmarshal([]byte(`"`+inside+`"`), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and has no two goroutines")
	}
	big := strings.Repeat("x", 3<<20)
	list := "[" + strings.TrimSuffix(strings.Repeat(`"`+big+`",`, 8), ",") + "]"
	for _, tt := range []struct{ name, in string }{
		{"a field of many strings", `{"tool_input":` + list + `,"tool_response":"ok","tool_name":"t"}`},
		{"two such fields", `{"tool_input":` + list + `,"toolResult":` + list + `,"tool_response":"ok","tool_name":"t"}`},
		{"many unknown fields", `{` + strings.Repeat(`"unknown":"`+big+`",`, 12) + `"tool_response":"ok","tool_name":"t"}`},
		{"one field again and again", `{` + strings.Repeat(`"tool_input":"`+big+`",`, 12) + `"tool_response":"ok","tool_name":"t"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &scanner{keepRaw: true}
			s.write([]byte(tt.in))
			s.end()
			kept := len(s.raw) + len(s.in)
			for _, f := range s.fields {
				kept += cap(f)
			}
			if kept > maxTotal {
				t.Errorf("%d bytes are kept", kept)
			}
			p := read("postToolUse", tt.in)
			if p.ToolName != "t" || string(p.ToolResponse) != `{"result":"ok"}` || p.ToolInput != nil && !json.Valid(p.ToolInput) {
				t.Errorf("got %q %.80s %.80s", p.ToolName, p.ToolResponse, p.ToolInput)
			}
		})
	}
}

// TestThirtyMegabytesCostAFew counts what is allocated, of which the collector may free some meanwhile.
func TestThirtyMegabytesCostAFew(t *testing.T) {
	in := `{"tool_response":"` + strings.Repeat("z", 30<<20) + `","tool_name":"t"}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := read("postToolUse", in)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 40<<20 || p.ToolName != "t" {
		t.Errorf("%d bytes were allocated", got)
	}
}

// TestPiecesMakeNoDifference cuts around every limit of the scanner, where the fuzz test's inputs do not reach.
func TestPiecesMakeNoDifference(t *testing.T) {
	unit := `漢\n\ud83d\ude00"`
	unit = unit[:len(unit)-1]
	ins := []string{
		`{"tool_response":["` + strings.Repeat(unit, 5<<20/len(unit)) + `",1,{"k":"v"}],"tool_name":"t"}`,
		`{"tool_input":` + strings.Repeat(`[`, 600) + `"` + strings.Repeat(unit, 5<<20/len(unit)) + `"` + strings.Repeat(`]`, 600) + `,"tool_name":"t"}`,
	}
	for i, in := range ins {
		var want [fieldCount][]byte
		for k, n := range []int{piece, 4093, 7} {
			s := &scanner{keepRaw: true}
			for rest := in; rest != ""; {
				m := min(n, len(rest))
				s.write([]byte(rest[:m]))
				rest = rest[m:]
			}
			s.end()
			if k == 0 {
				want = s.fields
				if string(want[toolName]) != `"t"` {
					t.Fatalf("%d: no tool name", i)
				}
			}
			for f := range want {
				if !bytes.Equal(want[f], s.fields[f]) {
					t.Errorf("input %d, field %d: pieces of %d bytes make a difference", i, f, n)
				}
			}
		}
	}
}
