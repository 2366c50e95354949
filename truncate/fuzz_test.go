package truncate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// FuzzBody: whatever the body, what comes out is JSON, valid UTF-8, within the size, and cut no further by a second run.
func FuzzBody(f *testing.F) {
	x := strings.Repeat(`x漢\n\u0001\ud83d\ude00`, 60)
	for _, s := range []string{
		`{"type":"text","content":"` + x + `"}`, `{"type":"message","turns":[{"role":"user","content":"` + x + `"},{"role":"a","content":"` + x + `"}]}`,
		`{"type":"json","data":{"tool_input":["` + x + `"],"tool_response":{"result":["` + x + `",{"a":"` + x + `"}]}}}`,
		`{"type":"json","data":{"` + x + `":1}}`, `{"type":"image"` + x, `{"type":"message","turns":[1,` + strings.Repeat(`{"content":"a"},`, 90) + `null]}`,
		`{"type":"json","data":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`, x, `{"data":1,"data":"` + x + `","type":"json","type":"json"}`,
	} {
		f.Add([]byte(s), uint16(400))
	}
	f.Fuzz(func(t *testing.T, in []byte, n uint16) {
		size := max(int(n), 256)
		got := Body(in, size)
		if len(in) <= size {
			if !bytes.Equal(got, in) {
				t.Fatalf("%q fits and became %q", in, got)
			}
			return
		}
		if len(got) > size {
			t.Errorf("%d bytes, at most %d are allowed: %q", len(got), size, got)
		}
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Errorf("invalid: %q", got)
		}
		if again := Body(got, size); !bytes.Equal(again, got) {
			t.Errorf("a second run makes %q of %q", again, got)
		}
	})
}

// FuzzMaximal: whatever text is cut, in whatever shape of body, one more character of it would not have fit. The size
// that is asked for is anything from what the shape needs to a byte less than the whole.
func FuzzMaximal(f *testing.F) {
	for _, s := range []string{
		"", "a", strings.Repeat("漢", 300), "a" + strings.Repeat("漢", 300), strings.Repeat("👩\u200d👩\u200d👧", 40), strings.Repeat("<\u0001", 200),
		strings.Repeat(`"\`, 200), strings.Repeat("\x00é\n", 150), "\xff\xfe" + strings.Repeat("x", 400), strings.Repeat("\u2028&", 99),
	} {
		for shape := range uint8(3) {
			f.Add(s, uint16(300), shape)
		}
	}
	f.Fuzz(func(t *testing.T, content string, n uint16, shape uint8) {
		if content = strings.ToValidUTF8(content, "\ufffd"); len(content) > 1<<14 {
			t.Skip("long")
		}
		build := []func(string) []byte{
			func(s string) []byte { return event.TextBody(s) },
			func(s string) []byte { return event.JSONBody([]byte(`{"tool_response":{"result":` + quoted(s) + `}}`)) },
			func(s string) []byte { return event.MessageBody([]event.Turn{{Role: "user", Content: s}}) },
		}[shape%3]
		whole := build(content)
		if len(whole) <= 256 {
			t.Skip("fits")
		}
		size := 256 + int(n)%(len(whole)-256)
		got := Body(whole, size)
		again := Body(got, size)
		if len(got) > size || !bytes.Equal(again, got) {
			t.Fatalf("%d bytes of %d; a second run makes %q of %q", len(got), size, again, got)
		}
		kept := 0 // bytes of the content
		for kept < len(content) && !bytes.Equal(build(content[:kept]+Marker), got) {
			_, w := utf8.DecodeRuneInString(content[kept:])
			kept += w
		}
		if kept == len(content) {
			t.Fatalf("%q became %q, which is no beginning of it with the marker", whole, got)
		}
		_, w := utf8.DecodeRuneInString(content[kept:])
		if more := build(content[:kept+w] + Marker); len(more) <= size {
			t.Errorf("one more character would have fit: %d of %d bytes", len(more), size)
		}
	})
}

// text is text of every width that a character can have in JSON.
func textOf(t *rapid.T, most int) string {
	return strings.Repeat(rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\\n\x01é漢😀\u200d")), 1, 12, -1).Draw(t, "unit"), rapid.IntRange(0, most).Draw(t, "times"))
}

func TestTextIsCutAsLateAsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := textOf(t, 200)
		size := rapid.IntRange(256, 2000).Draw(t, "size")
		got := Body(event.TextBody(content), size)
		b, err := event.ParseBody(got)
		if err != nil || len(got) > size {
			t.Fatalf("%d bytes of %d: %v", len(got), size, err)
		}
		kept, cut := strings.CutSuffix(b.Content, Marker)
		if !cut {
			if b.Content != content {
				t.Fatalf("got %q", b.Content)
			}
			return
		}
		if !strings.HasPrefix(content, kept) {
			t.Fatalf("%q does not begin %q", kept, content)
		}
		_, n := utf8.DecodeRuneInString(content[len(kept):])
		if more := event.TextBody(content[:len(kept)+n] + Marker); len(more) <= size {
			t.Errorf("one more character would have fit: %d of %d bytes", len(more), size)
		}
	})
}

// TestJSONKeepsAllButTheEndsOfStrings draws data of every shape: either all of it stays but for the ends of strings, or
// it becomes text. At most one string may be cut short of what would fit: the last one cut.
func TestJSONKeepsAllButTheEndsOfStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var leaves []string
		for range rapid.IntRange(1, 8).Draw(t, "leaves") {
			leaves = append(leaves, textOf(t, 40))
		}
		inResult := rapid.IntRange(0, len(leaves)).Draw(t, "in result")
		build := func(leaves []string) []byte {
			a, b := mustJSON(leaves[:inResult]), mustJSON(leaves[inResult:])
			return event.JSONBody([]byte(`{"n":1e400,"tool_response":{"result":` + a + `,"k":[]},"b":` + b + `,"z":null}`))
		}
		in, size := build(leaves), rapid.IntRange(256, 3000).Draw(t, "size")
		got := Body(in, size)
		if len(got) > size || !json.Valid(got) {
			t.Fatalf("%d of %d bytes: %q", len(got), size, got)
		}
		data := rawjson.Get(got, "data")
		if rawjson.Get(data, "_truncated") != nil {
			return
		}
		kept := leavesOf(data)
		if len(kept) != len(leaves) || string(build(kept)) != string(got) {
			t.Fatalf("more than the ends of strings has changed: %s", got)
		}
		restored := 0
		for i, s := range kept {
			if s == leaves[i] {
				continue
			}
			p, cut := strings.CutSuffix(s, Marker)
			if !cut || !strings.HasPrefix(leaves[i], p) || len(quoted(s)) > len(quoted(leaves[i])) {
				t.Fatalf("%q became %q", leaves[i], s)
			}
			if i >= inResult {
				for _, r := range kept[:inResult] {
					if len(quoted(r)) > len(quoted(Marker)) {
						t.Fatalf("%q was cut while %q of the result could be", leaves[i], r)
					}
				}
			}
			if p != "" {
				restored++
				_, n := utf8.DecodeRuneInString(leaves[i][len(p):])
				if more := len(got) + len(quoted(leaves[i][:len(p)+n])) - len(quoted(p)); more <= size {
					t.Errorf("one more character would have fit: %d of %d bytes", more, size)
				}
			}
		}
		if restored > 1 {
			t.Errorf("%d strings are cut in the middle, one suffices", restored)
		}
	})
}

func leavesOf(data []byte) (leaves []string) {
	for _, list := range [][]byte{rawjson.Get(rawjson.Get(data, "tool_response"), "result"), rawjson.Get(data, "b")} {
		rawjson.Elements(list, func(v []byte) bool { leaves = append(leaves, rawjson.Unquote(v)); return true })
	}
	return leaves
}

func mustJSON(list []string) string {
	var b []byte
	for _, s := range list {
		b = append(append(b, ','), quoted(s)...)
	}
	return "[" + strings.TrimPrefix(string(b), ",") + "]"
}

func quoted(s string) string { return string(rawjson.AppendString(nil, s)) }

func TestMessageKeepsItsBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in []event.Turn
		for i := range rapid.IntRange(1, 8).Draw(t, "turns") {
			in = append(in, event.Turn{Role: fmt.Sprint("r", i), Content: textOf(t, 60)})
		}
		size := rapid.IntRange(256, 3000).Draw(t, "size")
		got := Body(event.MessageBody(in), size)
		b, err := event.ParseBody(got)
		if err != nil || len(got) > size || len(b.Turns) == 0 || b.Turns[0].Role != "r0" {
			t.Fatalf("%d of %d bytes: %v %s", len(got), size, err, got)
		}
		at, cuts := 0, 0
		for _, turn := range b.Turns {
			for at < len(in) && in[at].Role != turn.Role {
				at++
			}
			if at == len(in) {
				t.Fatalf("turn %q is out of order", turn.Role)
			}
			if turn.Content == in[at].Content {
				continue
			}
			p, cut := strings.CutSuffix(turn.Content, Marker)
			if !cut || !strings.HasPrefix(in[at].Content, p) {
				t.Fatalf("%q became %q", in[at].Content, turn.Content)
			}
			cuts++
		}
		if cuts > 1 {
			t.Errorf("%d turns are cut, one suffices", cuts)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	leaves := strings.TrimSuffix(strings.Repeat(`"a leaf that is a little longer than the marker",`, 200_000), ",")
	for _, bm := range []struct {
		name string
		body []byte
	}{
		{"fits", event.TextBody(strings.Repeat("a", 4000))},
		{"text 2 MB", event.TextBody(strings.Repeat("漢字 and text\n", 120_000))},
		{"result 2 MB", tool(`{"command":"make"}`, `{"success":true,"result":"`+strings.Repeat(`a log line\n`, 180_000)+`"}`)},
		{"200 000 leaves", tool(`{}`, `{"result":[`+leaves+`]}`)},
		{"200 000 turns", []byte(`{"type":"message","turns":[` + strings.Repeat(`{"role":"user","content":"a turn"},`, 200_000) + `{"role":"user","content":"last"}]}`)},
		{"no big string", tool(`{}`, `{"result":[`+strings.Repeat(`12345,`, 400_000)+`0]}`)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.body)))
			b.ReportAllocs()
			for b.Loop() {
				if got := Body(bm.body, event.MaxHookBody); len(got) > event.MaxHookBody {
					b.Fatal(len(got))
				}
			}
		})
	}
}
