//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"kiro-learn/internal/event"
)

const (
	marker  = " [truncated by kiro-learn]"
	maxBody = event.MaxHookBody
)

// Payloads: the other channel, the other spelling. Every combination gives the same event.
func TestChannelsAndSpellings(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	long := strings.Repeat("a long prompt, ", 400) + "to its end" // more than the variable holds
	snake := func(hook string) string {
		return b.bytes(fields{"hook_event_name": hook, "cwd": b.project, "session_id": "@", "prompt": long})
	}
	camel := b.bytes(fields{"hookEventName": "UserPromptSubmit", "cwd": b.project, "sessionId": "@", "prompt": long})
	tests := []struct {
		name, hook, stdin, variable string
		args                        []string
	}{
		{name: "cli-1", hook: "userPromptSubmit", stdin: snake("userPromptSubmit"), variable: long[:4096]},
		{name: "cli-3", hook: "userPromptSubmit", stdin: snake("UserPromptSubmit")},
		{name: "pascal-command", hook: "UserPromptSubmit", stdin: snake("UserPromptSubmit")},
		{name: "name-in-payload", hook: "hook", stdin: snake("userPromptSubmit")},
		{name: "name-behind-hook", hook: "hook", args: []string{"UserPromptSubmit"}, stdin: snake("x")},
		{name: "camel-on-stdin", hook: "userPromptSubmit", stdin: camel},
		{name: "camel-name-in-payload", hook: "hook", stdin: camel},
		{name: "camel-in-variable", hook: "userPromptSubmit", args: []string{"--payload", "env"}, variable: camel},
		{name: "snake-in-variable", hook: "userPromptSubmit", args: []string{"--payload=env"}, variable: snake("userPromptSubmit")},
		{name: "variable-alone", hook: "userPromptSubmit", variable: snake("userPromptSubmit")},
		{name: "ide-0-text", hook: "promptSubmit", variable: long},
		{name: "forced-stdin", hook: "promptSubmit", args: []string{"--payload", "stdin"}, stdin: snake("promptSubmit"), variable: "another prompt"},
		{name: "a flag of a newer version", hook: "userPromptSubmit", args: []string{"--colour", "blue", "--fast"}, stdin: snake("userPromptSubmit")},
	}
	for _, tt := range tests {
		b := b.with("KIRO_SESSION_ID="+tt.name, "USER_PROMPT="+strings.ReplaceAll(tt.variable, `"@"`, `"`+tt.name+`"`))
		b.quiet(tt.hook, strings.ReplaceAll(tt.stdin, `"@"`, `"`+tt.name+`"`), tt.args...)
	}
	all := b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := only(t, all, tt.name)
			if e.Kind != event.KindPrompt || text(e) != long {
				t.Errorf("%s of %d bytes %.60q, want the prompt of %d", e.Kind, len(text(e)), text(e), len(long))
			}
		})
	}
}

// only is the one event of a session.
func only(t *testing.T, all []event.Event, session string) event.Event {
	t.Helper()
	var mine []event.Event
	for _, e := range all {
		if e.SessionID == session {
			mine = append(mine, e)
		}
	}
	if len(mine) != 1 {
		t.Fatalf("%d events of session %q, want 1: %q", len(mine), session, texts(mine))
	}
	return mine[0]
}

// Payloads: a field has another type than usual. That field is kept or dropped; the event and its other fields survive.
func TestFieldsOfOtherTypes(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	tests := []struct {
		name, hook string
		change     string // in JSON, over the usual fields
		path       []string
		want       any
	}{
		{"response-text", "postToolUse", `{"tool_response":"ok"}`, []string{"tool_response", "result"}, "ok"},
		{"response-list", "postToolUse", `{"tool_response":["a",1]}`, []string{"tool_response", "result"}, []any{"a", 1.0}},
		{"response-null", "postToolUse", `{"tool_response":null}`, []string{"tool_response"}, map[string]any{"result": nil}},
		{"response-number", "postToolUse", `{"tool_response":17}`, []string{"tool_response", "result"}, 17.0},
		{"response-true", "postToolUse", `{"tool_response":true}`, []string{"tool_response", "result"}, true},
		{"response-items", "postToolUse", `{"tool_response":{"items":[{"Text":"x"},{"Json":{"a":null}}]}}`, []string{"tool_response", "items"}, []any{map[string]any{"Text": "x"}, map[string]any{"Json": map[string]any{"a": nil}}}},
		{"response-big-number", "postToolUse", `{"tool_response":{"result":{"id":12345678901234567890}}}`, []string{"tool_name"}, "write"},
		{"input-text", "postToolUse", `{"tool_input":"ls -l"}`, []string{"tool_name"}, "write"},
		{"input-list", "postToolUse", `{"tool_input":[1,2]}`, []string{"tool_name"}, "write"},
		{"input-null", "postToolUse", `{"tool_input":null}`, []string{"tool_input"}, nil},
		{"tool-number", "postToolUse", `{"tool_name":5}`, []string{"tool_response", "result"}, "fine"},
		{"tool-null", "postToolUse", `{"tool_name":null}`, []string{"tool_name"}, "unknown"},
		{"tool-object", "postToolUse", `{"tool_name":{"a":1}}`, []string{"tool_response", "result"}, "fine"},
		{"cwd-number", "postToolUse", `{"cwd":3}`, []string{"tool_name"}, "write"},
		{"cwd-null", "postToolUse", `{"cwd":null}`, []string{"tool_name"}, "write"},
		{"event-list", "postToolUse", `{"hook_event_name":["x"]}`, []string{"tool_name"}, "write"},
		{"prompt-null", "userPromptSubmit", `{"prompt":null}`, nil, nil},
		{"prompt-number", "userPromptSubmit", `{"prompt":42}`, nil, "42"},
		{"prompt-list-of-text", "userPromptSubmit", `{"prompt":["one","two"]}`, nil, "two"},
		{"prompt-empty-list", "userPromptSubmit", `{"prompt":[]}`, nil, nil},
		{"prompt-turns-odd", "userPromptSubmit", `{"prompt":[{"role":5,"content":"x"},{"content":"two"},7]}`, nil, "two"},
		{"answer-null", "stop", `{"assistant_response":null}`, nil, ""},
		{"answer-list", "stop", `{"assistant_response":["x"]}`, nil, "x"},
	}
	for _, tt := range tests {
		p := fields{
			"hook_event_name": tt.hook, "cwd": b.project, "session_id": tt.name, "prompt": "p", "tool_name": "write",
			"tool_input": fields{"path": "a"}, "tool_response": fields{"success": true, "result": "fine"}, "assistant_response": "a",
		}
		if err := json.Unmarshal([]byte(tt.change), &p); err != nil {
			t.Fatal(err)
		}
		b.quiet(tt.hook, p)
	}
	for _, id := range []string{`17`, `true`, `["a"]`, `{"a":1}`, `null`} {
		b.quiet("postToolUse", fields{"cwd": b.project, "session_id": json.RawMessage(id), "tool_name": "session " + id})
	}
	all := b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.path == nil && tt.want == nil { // nobody asked anything
				for _, e := range all {
					if e.SessionID == tt.name {
						t.Errorf("stored %q", text(e))
					}
				}
				return
			}
			e := only(t, all, tt.name)
			if tt.path == nil {
				if got := text(e); !strings.Contains(got, tt.want.(string)) {
					t.Errorf("text %q, want %q in it", got, tt.want)
				}
				return
			}
			if got := data(t, e, tt.path...); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%v is %#v, want %#v", tt.path, got, tt.want)
			}
		})
	}
	named := map[any]bool{}
	for _, e := range all {
		named[data(t, e, "tool_name")] = true
	}
	for _, id := range []string{`17`, `true`, `["a"]`, `{"a":1}`, `null`} {
		if !named["session "+id] {
			t.Errorf("the event with session_id %s was lost", id)
		}
	}
}

// Payloads: bigger than the cap. The body is valid JSON within it, and whatever stands behind the big field survives.
func TestBiggerThanTheCap(t *testing.T) {
	if testing.Short() {
		t.Skip("megabytes take long under the race detector, and one process at a time has no races to show")
	}
	t.Parallel()
	b := newBox(t, noCollector())
	// raw, since the order of the fields matters: the session and the tool's name come behind the big one.
	result := func(session, response string) string {
		return `{"hook_event_name":"postToolUse","tool_input":{"command":"make"},"tool_response":` + response +
			`,"cwd":` + quoted(b.project) + `,"session_id":"` + session + `","tool_name":"the tool"}`
	}
	stdout := func(s string) string { return `{"success":true,"result":[{"stdout":` + s + `,"exit_status":"7"}]}` }
	const around = len(`{"type":"json","data":{"tool_name":"the tool","tool_input":{"command":"make"},"tool_response":{"result":""}}}`)
	tests := []struct {
		name, payload string
		cut           bool
		least         int // bytes that must be left of the body: a cut is as late as it can be
	}{
		{"two-megabytes", result("two-megabytes", stdout(quoted(strings.Repeat("line of output\n", 140_000)))), true, maxBody - 2},
		{"fits-exactly", result("fits-exactly", `{"result":"`+strings.Repeat("z", maxBody-around)+`"}`), false, maxBody},
		{"one-over", result("one-over", `{"result":"`+strings.Repeat("z", maxBody-around+1)+`"}`), true, maxBody},
		{"a-million-<", result("a-million-<", stdout(`"`+strings.Repeat("<", 1<<20)+`"`)), true, maxBody - 8},
		{"escaped-<", result("escaped-<", stdout(`"`+strings.Repeat(`\u003c`, 1<<20)+`"`)), true, maxBody - 8},
		{"control-characters", result("control-characters", stdout(`"`+strings.Repeat(`\u0001`, 1<<20)+`"`)), true, maxBody - 8},
		{"quotes-and-backslashes", result("quotes-and-backslashes", stdout(`"`+strings.Repeat(`\"\\`, 1<<19)+`"`)), true, maxBody - 8},
		{"two-big-leaves", result("two-big-leaves", `{"result":{"a":`+quoted(strings.Repeat("a", 600_000))+`,"b":`+quoted(strings.Repeat("b", 600_000))+`}}`), true, maxBody - 8},
		{"bare-text", result("bare-text", quoted(strings.Repeat("t", 900_000))), true, maxBody - 8},
		{"many-small-leaves", result("many-small-leaves", `{"result":[`+strings.Repeat(`"0123456789",`, 90_000)+`""]}`), true, 0},
		{"deep", result("deep", strings.Repeat(`{"result":`, 60_000)+`"`+strings.Repeat("d", 600_000)+`"`+strings.Repeat("}", 60_000)), true, 0},
	}
	for _, tt := range tests {
		b.quiet("postToolUse", tt.payload)
	}
	all := b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := only(t, all, tt.name)
			if n := len(e.Body); n > maxBody || n < tt.least {
				t.Errorf("body of %d bytes, want %d to %d", n, tt.least, maxBody)
			}
			if !json.Valid(e.Body) || !utf8.Valid(e.Body) {
				t.Error("the body is not valid JSON in UTF-8")
			}
			if got := strings.Contains(string(e.Body), "[truncated by kiro-learn]"); got != tt.cut {
				t.Errorf("marked as cut: %v, want %v", got, tt.cut)
			}
			if tt.least == 0 {
				return // too much structure to keep
			}
			if got := data(t, e, "tool_name"); got != "the tool" {
				t.Errorf("tool_name %q", got)
			}
			if got := data(t, e, "tool_input", "command"); got != "make" {
				t.Errorf("tool_input.command %q", got)
			}
			if strings.Contains(tt.payload, "exit_status") && !strings.Contains(string(e.Body), `"exit_status":"7"`) {
				t.Error("exit_status, which stands beside the big field, is gone")
			}
		})
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Payloads: a cut in the middle of a character. Whatever is cut, everywhere, stays valid.
func TestCutsKeepCharactersWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("megabytes take long under the race detector, and one process at a time has no races to show")
	}
	t.Parallel()
	b := newBox(t, noCollector())
	characters := map[string]string{"han": "漢", "family": "👩\u200d👩\u200d👧", "accent": "e\u0301", "emoji": "😀"}
	type kase struct{ name, hook, full string }
	var tests []kase
	for name, c := range characters {
		for shift := range 3 {
			full := strings.Repeat("x", shift) + strings.Repeat(c, 900_000/len(c))
			for _, hook := range []string{"userPromptSubmit", "postToolUse", "stop"} {
				if shift > 0 && (hook != "postToolUse" || name == "accent") {
					continue
				}
				tests = append(tests, kase{fmt.Sprintf("%s-%d-%s", name, shift, hook), hook, full})
			}
		}
	}
	for _, tt := range tests {
		b.quiet(tt.hook, fields{"hook_event_name": tt.hook, "cwd": b.project, "session_id": tt.name, "prompt": tt.full, "tool_name": "t", "tool_response": tt.full, "assistant_response": tt.full})
	}
	all := b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := only(t, all, tt.name)
			got := text(e)
			if tt.hook == "postToolUse" {
				got, _ = data(t, e, "tool_response", "result").(string)
			}
			kept, ok := strings.CutSuffix(got, marker)
			if !ok || !strings.HasPrefix(tt.full, kept) || !utf8.ValidString(kept) || strings.ContainsRune(kept, utf8.RuneError) {
				t.Fatalf("%d bytes that end with %q are no cut of the text", len(got), got[max(0, len(got)-60):])
			}
			if n := len(e.Body); n > maxBody || n < maxBody-30 {
				t.Errorf("body of %d bytes, want just below %d", n, maxBody)
			}
		})
	}
	// What is made of them is cut as well: title, summary, context.
	han := strings.Repeat("数据库迁移", 60_000)
	b.quiet("userPromptSubmit", b.prompt("turn", "x"+han))
	b.quiet("postToolUse", fields{"session_id": "turn", "cwd": b.project, "tool_name": "fs_write", "tool_input": fields{"command": "create", "path": "db/迁移.go"}})
	b.quiet("stop", b.stop("turn", han))
	b.must("flush", "--extract", "--timeout", "50s")
	records, err := b.records("")
	if err != nil || len(records) == 0 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		for _, s := range append(append([]string{r.Title, r.Summary}, r.Facts...), r.Concepts...) {
			if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
				t.Errorf("record %s has a broken character in %.80q", r.RecordID, s)
			}
		}
		if n := utf8.RuneCountInString(r.Title); n == 0 || n > event.MaxTitle {
			t.Errorf("title of %d characters", n)
		}
		if n := utf8.RuneCountInString(r.Summary); n > event.MaxSummary {
			t.Errorf("summary of %d characters", n)
		}
	}
	context := b.hook("userPromptSubmit", b.prompt("later", "数据库迁移"))
	if context == "" || len(context) > 8192 || !utf8.ValidString(context) || strings.ContainsRune(context, utf8.RuneError) {
		t.Errorf("context of %d bytes: %.200q", len(context), context)
	}
}

// Payloads: invalid text. It is replaced, real pairs stay, the rest of the event is unharmed and can be found.
func TestInvalidText(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	tests := []struct{ name, inside, want string }{
		{"lone-high-surrogate", `one \ud83d two`, "one \ufffd two"},
		{"lone-low-surrogate", `one \ude00 two`, "one \ufffd two"},
		{"swapped-pair", `one \ude00\ud83d two`, "one \ufffd\ufffd two"},
		{"real-pair-behind-a-lone-one", `one \ud83d\ud83d\ude00 two`, "one \ufffd😀 two"},
		{"real-pair", `one \ud83d\ude00 two`, "one 😀 two"},
		{"raw-bytes", "one \xff\xfe two", "one \ufffd\ufffd two"},
		{"half-a-character", "one \xe6\xbc two", "one * two"},
		{"overlong", "one \xc0\xaf two", "one * two"},
		{"raw-surrogate", "one \xed\xa0\xbd two", "one * two"},
		{"raw-control-characters", "one \x01\x1b[0m\n two", "one * two"},
		{"raw-tab-and-newline", "one \t\r\n two", "one * two"},
		{"nul-escaped", `one \u0000 two`, "one * two"},
		{"nul-raw", "one \x00 two", "one * two"},
	}
	for i, tt := range tests {
		for _, hook := range []string{"userPromptSubmit", "postToolUse"} {
			b.quiet(hook, `{"hook_event_name":"`+hook+`","session_id":"`+tt.name+`","tool_name":"t","tool_response":{"result":"`+tt.inside+`","n":5},"prompt":"`+
				tt.inside+fmt.Sprintf(` zanzibar%d`, i)+`","cwd":`+quoted(b.project)+`}`)
		}
	}
	searched := []int{len(tests) - 1, len(tests) - 2, 0}
	for _, i := range searched {
		b.quiet("userPromptSubmit", `{"session_id":"turn","prompt":"`+tests[i].inside+fmt.Sprintf(` zanzibar%d`, i)+`","cwd":`+quoted(b.project)+`}`)
		b.quiet("postToolUse", fields{"session_id": "turn", "cwd": b.project, "tool_name": "fs_write", "tool_input": fields{"command": "create", "path": "a.go"}})
		b.quiet("stop", b.stop("turn", "done"))
	}
	all := b.stored("")
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var prompt, tool event.Event
			for _, e := range all {
				switch {
				case e.SessionID != tt.name:
				case e.Kind == event.KindPrompt:
					prompt = e
				case e.Kind == event.KindToolUse:
					tool = e
				}
			}
			if prompt.EventID == "" || tool.EventID == "" {
				t.Fatalf("lost one: %q, %q", text(prompt), text(tool))
			}
			result, _ := data(t, tool, "tool_response", "result").(string)
			for _, got := range []string{strings.TrimSuffix(text(prompt), fmt.Sprintf(" zanzibar%d", i)), result} {
				before, after, glob := strings.Cut(tt.want, "*")
				ok := got == tt.want || glob && strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
				if !ok || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
					t.Errorf("stored %q, want %q", got, tt.want)
				}
			}
			if got := data(t, tool, "tool_response", "n"); got != 5.0 {
				t.Errorf("the field behind it is %v, want 5", got)
			}
		})
	}
	// What stands behind a NUL can be searched.
	b.must("flush", "--extract", "--timeout", "50s")
	for _, i := range searched {
		word := fmt.Sprintf("zanzibar%d", i)
		if out := b.must("search", "--json", word); !strings.Contains(out, word) {
			t.Errorf("%s: search finds nothing behind it: %s", tests[i].name, out)
		}
	}
}

// Payloads: invalid escapes, such as a Windows path as it is. They are repaired, and the log says so once.
func TestInvalidEscapes(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	tests := []struct{ name, inside, want string }{
		{"windows-path", `C:\Users\dev\shop`, `C:\Users\dev\shop`},
		{"path-with-real-escapes", `C:\Temp\new`, "C:\\Temp\new"},
		{"unknown-escape", `a \q b \' c`, `a \q b \' c`},
		{"short-unicode", `a \u12 b`, `a \u12 b`},
		{"unicode-of-no-hex", `a \uzzzz b`, `a \uzzzz b`},
	}
	for range 4 {
		for _, tt := range tests {
			b.quiet("postToolUse", `{"session_id":"`+tt.name+`","tool_name":"t","tool_input":{"path":"`+tt.inside+`","n":5},"cwd":`+quoted(b.project)+`}`)
		}
	}
	log, err := os.ReadFile(filepath.Join(b.memory, "state", "kiro-learn.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "\n"); n == 0 || n > 4 { // one, and one more where a minute ended meanwhile
		t.Errorf("%d log lines for 20 hooks, want 1:\n%s", n, log)
	}
	if strings.Contains(string(log), "Users") {
		t.Errorf("the payload's text is in the log:\n%s", log)
	}
	all := b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, e := range all {
				if e.SessionID != tt.name {
					continue
				}
				if got := data(t, e, "tool_input", "path"); got != tt.want {
					t.Errorf("path %q, want %q", got, tt.want)
				}
				if got := data(t, e, "tool_input", "n"); got != 5.0 {
					t.Errorf("the field behind it is %v, want 5", got)
				}
				return
			}
			t.Error("lost")
		})
	}
}
