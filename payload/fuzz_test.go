package payload

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"
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
	for _, s := range faults() {
		f.Add([]byte(s), "postToolUse")
		f.Add([]byte(s), "stop")
	}
	f.Fuzz(func(t *testing.T, in []byte, hook string) {
		whole := Read(Request{Name: hook, Stdin: strings.NewReader(string(in)), Wait: time.Hour})
		check(t, in, whole)
		bytewise := Read(Request{Name: hook, Stdin: iotest.OneByteReader(strings.NewReader(string(in))), Wait: time.Hour})
		if d := cmp.Diff(whole, bytewise); d != "" {
			t.Errorf("pieces of the input make a difference (-whole +bytes):\n%s", d)
		}
		if got, most := allocates(string(in), hook), uint64(allocPerByte*len(in)+allocFixed); got > most {
			t.Errorf("%d bytes are allocated for %d, at most %d are promised", got, len(in), most)
		}
		check(t, in, Read(Request{Name: hook, Channel: ChannelEnv, Getenv: env("USER_PROMPT", string(in))}))
	})
}

// faults are inputs of the kinds that people have met.
func faults() []string {
	return []string{
		`{"tool_response":null,"session_id":7,"prompt":["a",{"role":"user","content":"b"}]}`, `{"tool_response":"` + strings.Repeat("<", 900) + `","session_id":"s","tool_name":"t"}`,
		`{"tool_response":{"result":[{"stdout":"` + strings.Repeat(`\u0001`, 300) + `"}]},"tool_name":"t"}`, `{"assistant_response":"` + strings.Repeat("漢", 300) + `"}`,
		"{\r\n\"cwd\":\"/x\",\r\n\"prompt\":\"p\"}\r\n", "{\"prompt\":\"\xed\xa0\xbd\u200d\",\"tool_name\":\"a\x00b\"}", `{"toolName":"fsWrite","toolArgs":{"path":"C:\Users\dev"},"toolSuccess":false}`,
		`{"tool_input":{"a":` + strings.Repeat("9", 400) + `},"tool_response":[1,[2,[3]]]}`, strings.Repeat(" ", 500) + `{"prompt":"late"}`, `{"prompt":"x","prompt":"y","session_id":{"a":1}}`,
		"\x01\x02\x03", strings.Repeat("{", 300), strings.Repeat(`{"prompt":`, 200) + "1", `{"tool_response":"\ud83d`, "null", "[]", `""`, "{}", "\ufeff\ufeff{}",
	}
}

// allocates gives what Read allocates for an input, in bytes.
func allocates(in string, hook string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Read(Request{Name: hook, Stdin: strings.NewReader(in), Wait: time.Hour})
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What Read allocates is bounded by the input: the worst is text of control characters, each of which becomes six bytes of
// JSON, on the way of a buffer that doubles.
const (
	allocPerByte = 40
	allocFixed   = 64 << 10
)

func TestAllocationsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and has no two goroutines")
	}
	const n = 1 << 20
	for _, tt := range []struct{ name, in string }{
		{"text", strings.Repeat("a", n)},
		{"text of control characters", strings.Repeat("\x01", n)},
		{"text of invalid bytes", strings.Repeat("\xff", n)},
		{"a string", `{"prompt":"` + strings.Repeat("word ", n/5) + `"}`},
		{"a string of control characters", `{"prompt":"` + strings.Repeat("\x01", n) + `"}`},
		{"a string of invalid bytes", `{"tool_response":"` + strings.Repeat("\xff", n) + `"}`},
		{"escapes", `{"tool_response":"` + strings.Repeat(`\"`, n/2) + `"}`},
		{"turns", `{"prompt":[` + strings.Repeat(`{"content":""},`, n/15) + `1]}`},
		{"words that are no JSON", `{"tool_response":[` + strings.Repeat("a,", n/2) + `1]}`},
		{"nesting", `{"tool_response":` + strings.Repeat("[", n)},
		{"repeated keys", "{" + strings.Repeat(`"prompt":"x",`, n/13) + `"a":1}`},
		{"unknown keys", "{" + strings.Repeat(`"k":{"a":[1]},`, n/14) + `"a":1}`},
		{"one long key", `{"` + strings.Repeat("k", n) + `":1}`},
		{"utf-16", utf16Of(`{"prompt":"` + strings.Repeat("漢", n/2) + `"}`)},
		{"white space", strings.Repeat(" \n", n/2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, hook := range []string{"postToolUse", "userPromptSubmit", "stop", ""} {
				if got, most := allocates(tt.in, hook), uint64(allocPerByte*len(tt.in)+allocFixed); got > most {
					t.Errorf("%s: %d bytes are allocated for %d, at most %d are promised", hook, got, len(tt.in), most)
				}
			}
		})
	}
}

func utf16Of(s string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
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
		p := Read(Request{Name: "postToolUse", Stdin: strings.NewReader(string(in)), Wait: time.Hour})
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
