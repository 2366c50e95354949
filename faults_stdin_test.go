//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"kiro-learn/internal/event"
)

// held runs a hook whose stdin stays open behind what is written to it, in pieces of size bytes if that is not 0. It gives
// what the hook printed and what the writer met.
func (b *box) held(name, data string, size int, args ...string) (stdout string, written error) {
	b.t.Helper()
	cmd := exec.Command(b.program, append([]string{name}, args...)...)
	cmd.Dir, cmd.Env = b.cwd, b.env
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	stdin, in, err := os.Pipe()
	if err != nil {
		b.t.Error(err)
		return "", nil
	}
	defer func() { _ = in.Close() }()
	cmd.Stdin = stdin
	wrote := make(chan error, 1)
	early := size == 0 && len(data) <= 4096 // a pipe holds that much, and a hook that does not look at it may be gone soon
	if early {
		wrote <- dribble(in, data, 0)
	}
	err = cmd.Start()
	_ = stdin.Close()
	if err != nil {
		b.t.Error(err)
		return "", nil
	}
	if !early {
		go func() { wrote <- dribble(in, data, size) }()
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	begun := time.Now()
	select {
	case err = <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		b.t.Errorf("%s %q: still there after %v with stdin open", name, args, patience)
		return "", <-wrote
	}
	if took := time.Since(begun); err != nil || complaint.Len() > 0 || took > hang {
		b.t.Errorf("%s %q: %v, stderr %q, in %v", name, args, err, complaint.String(), took)
	}
	return out.String(), <-wrote
}

func dribble(w io.Writer, data string, size int) error {
	if size == 0 {
		_, err := io.WriteString(w, data)
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ; data != ""; <-tick.C {
		n := min(size, len(data))
		if _, err := io.WriteString(w, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Payloads: stdin that never closes.
func TestStdinThatNeverCloses(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	whole := func(session string) string { return b.bytes(b.tool(session, fields{"command": "make"}, "ok")) }
	tests := []struct {
		name, hook string
		data       string
		size       int
		args, env  []string
		want       []string // texts of the events of session name
	}{
		{"whole", "postToolUse", whole("whole"), 0, nil, nil, []string{"make"}},
		{"prompt", "userPromptSubmit", b.bytes(b.prompt("prompt", "hello there")), 0, nil, nil, []string{"hello there"}},
		{"pascal", "UserPromptSubmit", b.bytes(b.prompt("pascal", "hello there")), 0, nil, nil, []string{"hello there"}},
		{"slow", "postToolUse", whole("slow"), 16, nil, nil, []string{"make"}},
		{"three-bytes-at-a-time", "stop", b.bytes(b.stop("three-bytes-at-a-time", "done")), 3, nil, nil, []string{"done"}},
		{"more-behind-it", "postToolUse", whole("more-behind-it") + strings.Repeat(" junk", 1000), 0, nil, nil, []string{"make"}},
		{"nothing", "postToolUse", "", 0, nil, nil, nil},
		{"white-space", "userPromptSubmit", " \r\n\t", 0, nil, nil, nil},
		{"torn", "stop", strings.TrimSuffix(b.bytes(fields{"session_id": "torn", "cwd": b.project, "assistant_response": "as far as this"}), `"}`), 0, nil, nil, nil},
	}
	run := make(chan struct{}, 3)
	done := make(chan struct{})
	for _, tt := range tests {
		go func() {
			run <- struct{}{}
			defer func() { <-run; done <- struct{}{} }()
			b := b.with(append(tt.env, "KIRO_SESSION_ID="+tt.name)...)
			if out, err := b.held(tt.hook, tt.data, tt.size, tt.args...); err != nil || out != "" {
				b.t.Errorf("%s: the writer met %v, the hook printed %q", tt.name, err, out)
			}
		}()
	}
	for range tests {
		<-done
	}
	b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := b.events("session_id=" + tt.name)
			if err != nil {
				t.Fatal(err)
			}
			if tt.name == "torn" { // what there is of it is kept, whole or as the text that it is
				if len(all) != 1 || !strings.Contains(text(all[0]), "as far as this") {
					t.Fatalf("stored %q, want the words that had arrived", texts(all))
				}
				return
			}
			if len(all) != len(tt.want) || len(all) == 1 && !strings.Contains(text(all[0]), tt.want[0]) {
				t.Errorf("stored %q, want %q", texts(all), tt.want)
			}
		})
	}
}

// Payloads: IDE 0 gives its hooks a pipe that nobody writes to; they must not look at it.
func TestIDE0NeverTouchesStdin(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	tests := []struct {
		name, hook, variable string
		args                 []string
		want                 string
	}{
		{"prompt", "promptSubmit", "move the limit into the config", nil, "move the limit into the config"},
		{"prompt-json", "promptSubmit", `{"prompt":"move the limit"}`, nil, "move the limit"},
		{"tool", "postToolUse", `{"toolName":"fsWrite","toolArgs":{},"toolResult":"done","toolSuccess":true}`, []string{"--surface", "kiro-ide", "--payload", "env"}, `"tool_name":"fsWrite"`},
		{"tool-equals", "postToolUse", `{"toolName":"fsRead"}`, []string{"--surface=kiro-ide", "--payload=env"}, `"tool_name":"fsRead"`},
		{"answer", "agentStop", "All done.", nil, "All done."},
		{"no-answer", "agentStop", "", nil, ""},
		{"no-prompt", "promptSubmit", "", nil, ""},
	}
	for _, tt := range tests {
		// What is on stdin would win if it were read.
		out, err := b.with("KIRO_SESSION_ID="+tt.name, "USER_PROMPT="+tt.variable).held(tt.hook, `{"prompt":"from stdin","assistant_response":"from stdin","tool_name":"from stdin"}`, 0, tt.args...)
		if err != nil || out != "" {
			t.Errorf("%s: the writer met %v, the hook printed %q", tt.name, err, out)
		}
	}
	b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := b.events("session_id=" + tt.name)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" && len(all) == 0 {
				return
			}
			if len(all) != 1 || !strings.Contains(text(all[0]), tt.want) || tt.want == "" {
				t.Fatalf("stored %q, want one with %q", texts(all), tt.want)
			}
			if all[0].Source.Surface != event.SurfaceIDE {
				t.Errorf("surface %q, want %q", all[0].Source.Surface, event.SurfaceIDE)
			}
		})
	}
}

// Payloads: the parent is still writing when the hook leaves.
func TestParentStillWriting(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	tests := []struct {
		name, hook string
		env        []string
		file       string // below the machine's directory, with "enabled": false
		data       func(b *box) string
	}{
		{name: "switched off by the environment", hook: "postToolUse", env: []string{"KIRO_LEARN_DISABLE=1"}},
		{name: "a child of our own", hook: "userPromptSubmit", env: []string{"KIRO_LEARN_CHILD=1"}},
		{name: "switched off by the settings", hook: "stop", file: "kl/config.json"},
		{name: "switched off by the project", hook: "postToolUse", file: "home/shop/.kiro/kiro-learn.json"},
		{name: "a hook that is not ours", hook: "hook", data: func(b *box) string {
			return b.bytes(fields{"hook_event_name": "preToolUse", "cwd": b.project, "tool_input": big})
		}},
		{name: "no JSON at all", hook: "agentSpawn", data: func(*box) string { return big }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, noCollector()).with(tt.env...)
			if tt.file != "" {
				writeFile(t, filepath.Join(b.dir, tt.file), `{"enabled":false,"hooks":{"budget_ms":10000}}`)
			}
			data := b.bytes(b.tool("s", nil, big))
			if tt.data != nil {
				data = tt.data(b)
			}
			for _, size := range []int{0, 200_000} { // at once, and in pieces
				if out, err := b.held(tt.hook, data, size); err != nil || out != "" {
					t.Errorf("in pieces of %d: the writer met %v, the hook printed %q", size, err, out)
				}
			}
		})
	}
}

// Payloads: BOM, CRLF, trailing garbage, two documents, other encodings.
func TestPayloadWrappings(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	tests := []struct {
		name string
		wrap func(p string) string
	}{
		{"bom", func(p string) string { return "\ufeff" + p }},
		{"bom-crlf", func(p string) string { return "\ufeff" + p + "\r\n" }},
		{"two-boms", func(p string) string { return "\ufeff\ufeff" + p }},
		{"indented-crlf", func(p string) string {
			return strings.ReplaceAll(strings.ReplaceAll(p, `,"`, ",\r\n  \""), "{", "{\r\n") + "\r\n"
		}},
		{"blank-lines-before", func(p string) string { return "\n\r\n \t" + p }},
		{"garbage-behind", func(p string) string { return p + "}}]] %%% \x00\xff" }},
		{"two-documents", func(p string) string { return p + p }},
		{"two-lines", func(p string) string { return p + "\n" + strings.ReplaceAll(p, "the words", "other words") }},
		{"utf16-le", func(p string) string { return utf16Text(p, false) }},
		{"utf16-be", func(p string) string { return utf16Text(p, true) }},
	}
	for _, tt := range tests {
		for _, hook := range []string{"userPromptSubmit", "postToolUse", "stop"} {
			b.quiet(hook, tt.wrap(b.bytes(fields{"session_id": tt.name, "cwd": b.project, "prompt": "the words", "tool_name": "the words", "assistant_response": "the words"})))
		}
	}
	b.stored("")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := b.events("session_id=" + tt.name)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(texts(all))
			want := `[the words {"type":"json","data":{"tool_name":"the words","tool_input":{},"tool_response":{}}} the words]`
			if got != want {
				t.Errorf("stored %s\nwant   %s", got, want)
			}
		})
	}
}

func utf16Text(s string, big bool) string {
	var out []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return string(out)
}

// Payloads: empty, in every way and many times: no event, no output, no log that grows.
func TestEmptyPayloads(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	inputs := []string{
		"", "\n", " \t\r\n", "{}", " {} \r\n", "\ufeff", "\ufeff{}", "null", "[]", `""`,
		b.bytes(b.prompt("s", "")), b.bytes(b.prompt("s", " \n\t ")), b.bytes(fields{"session_id": "s", "cwd": b.project, "prompt": nil}),
	}
	log := filepath.Join(b.memory, "state", "kiro-learn.log")
	var first int64
	for round := range 3 {
		for _, in := range inputs {
			b.quiet("userPromptSubmit", in)
			if !strings.Contains(in, "session_id") {
				b.quiet("postToolUse", in)
				b.quiet("UserPromptSubmit", in)
			}
		}
		if round == 0 {
			first = size(log)
		}
	}
	if grown := size(log) - first; grown > 2048 {
		t.Errorf("the log grew by %d bytes in two more rounds of the same", grown)
	}
	for _, e := range b.stored("") {
		if s := text(e); s != "null" && s != "[]" && s != `""` && !strings.Contains(s, "null") && !strings.Contains(s, `"[]"`) && !strings.Contains(s, `\"\"`) {
			t.Errorf("nothing was said and this was stored: %s %q", e.Kind, s)
		}
	}
}
