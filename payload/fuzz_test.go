package payload

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzRead holds what is promised of any input: nothing panics, JSON is JSON, text is valid UTF-8, what is kept is
// bounded, and neither the channel's pieces nor the piece that comes first make a difference.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../testdata/payloads/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no sample payloads: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, hook := range []string{"postToolUse", "userPromptSubmit", "stop", ""} {
			f.Add(b, hook)
		}
	}
	for _, s := range []string{
		`{"tool_response":"\ud83d\ude00 \ud83d \ude00 \ud83d\u0041 \ud83d\"","cwd":"C:\Users\dev\x"}`, "{\"prompt\":\"\xff\xfe \xe6\xbc\"}",
		"\xef\xbb\xbf{\"prompt\":\"a\u0000b\"}", "\xff\xfe{\x00}\x00", strings.Repeat("[", 600), `{"tool_input":` + strings.Repeat(`{"a":[`, 400),
		`{"tool_input":` + strings.Repeat(`[`, 600) + strings.Repeat(`]`, 600) + `,"tool_name":"t"}`, `{"tool_input":[1,-0.5e+3,NaN,01,tru]}`,
		`{"a":1}{"b":2}`, `nonsense`, `"text"`, `12`, `{"tool_response":"torn`, `{"tool_response":{"a":["torn`, `{"prompt":[{"content":["x",{"text":"y"}]}]}`,
	} {
		f.Add([]byte(s), "postToolUse")
		f.Add([]byte(s), "userPromptSubmit")
	}
	f.Fuzz(func(t *testing.T, in []byte, hook string) {
		whole := Read(Request{Name: hook, Stdin: strings.NewReader(string(in)), Whole: time.Hour})
		check(t, in, whole)
		bytewise := Read(Request{Name: hook, Stdin: iotest.OneByteReader(strings.NewReader(string(in))), Whole: time.Hour})
		if d := cmp.Diff(whole, bytewise); d != "" {
			t.Errorf("pieces of the input make a difference (-whole +bytes):\n%s", d)
		}
		check(t, in, Read(Request{Name: hook, Channel: ChannelEnv, Getenv: env("USER_PROMPT", string(in))}))
	})
}

func check(t *testing.T, in []byte, p Payload) {
	t.Helper()
	kept := 0
	texts := []string{p.CWD, p.SessionID, p.Prompt, p.ToolName, p.Assistant, string(p.ToolInput), string(p.ToolResponse)}
	for _, turn := range p.Turns {
		texts = append(texts, turn.Role, turn.Content)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			t.Errorf("invalid UTF-8 %q", s)
		}
		kept += len(s)
	}
	for _, b := range [][]byte{p.ToolInput, p.ToolResponse} {
		if b != nil && !json.Valid(b) {
			t.Errorf("invalid JSON %q", b)
		}
	}
	// The worst: a control character or an invalid byte takes six bytes or three, and the last turn is the prompt too.
	if most := 12*len(in) + 200; kept > most {
		t.Errorf("%d bytes are kept of %d, at most %d are expected", kept, len(in), most)
	}
}

// FuzzValid compares with the standard library where that reads the input.
func FuzzValid(f *testing.F) {
	f.Add([]byte(`[1,"a\u0041\n漢😀\ud83d\ude00",{"b":[null,true,-1.5e3]},{}]`))
	f.Add([]byte(`"\u0001\/"`))
	f.Fuzz(func(t *testing.T, value []byte) {
		in := append(append([]byte(`{"tool_input":`), value...), `,"tool_name":"t"}`...)
		var std, got any
		if !json.Valid(value) || !utf8.Valid(value) {
			return
		}
		p := Read(Request{Name: "postToolUse", Stdin: strings.NewReader(string(in)), Whole: time.Hour})
		if p.ToolName != "t" || p.Notes != nil {
			return // repaired: a NUL, a lone surrogate, or too deep; the other fuzz test has it
		}
		dec := func(b []byte, v *any) error {
			d := json.NewDecoder(strings.NewReader(string(b)))
			d.UseNumber()
			return d.Decode(v)
		}
		if dec(value, &std) != nil {
			return
		}
		if err := dec(p.ToolInput, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(std, got); d != "" {
			t.Errorf("(-encoding/json +ours)\n%s", d)
		}
	})
}
