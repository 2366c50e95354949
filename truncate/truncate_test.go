package truncate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

const limit = event.MaxHookBody

// body decodes a result, which must be valid and within size.
func body(t *testing.T, got []byte, size int) event.Body {
	t.Helper()
	if len(got) > size {
		t.Fatalf("%d bytes, at most %d are allowed", len(got), size)
	}
	if !json.Valid(got) || !utf8.Valid(got) {
		t.Fatalf("invalid: %.100q", got)
	}
	b, err := event.ParseBody(got)
	if err != nil {
		t.Fatal(err)
	}
	e := event.Event{Body: got}
	for _, p := range e.Problems() {
		if strings.HasPrefix(p.Field, "body") {
			t.Errorf("breaks the wire contract: %s %s", p.Field, p.Problem)
		}
	}
	return b
}

func TestWhatFitsIsGivenBack(t *testing.T) {
	frame := len(event.TextBody(""))
	for _, in := range [][]byte{
		event.TextBody(strings.Repeat("a", limit-frame)), event.TextBody(strings.Repeat("a", limit-frame-1)),
		[]byte(`{ "type" : "text", "content" : "\u0041" }`), event.JSONBody([]byte(`{"a":[]}`)), []byte(`not JSON`), nil,
	} {
		if got := Body(in, limit); string(got) != string(in) || len(in) > 0 && &got[0] != &in[0] {
			t.Errorf("%.40q became %.40q", in, got)
		}
	}
}

func TestTextIsCutAtTheByte(t *testing.T) {
	frame := len(event.TextBody(""))
	room := limit - frame - len(Marker)
	for _, tt := range []struct {
		name, content, want string
		size                int
	}{
		{"one byte over", strings.Repeat("a", limit-frame+1), strings.Repeat("a", room) + Marker, limit},
		{"far over", strings.Repeat("a", 4*limit), strings.Repeat("a", room) + Marker, limit},
		{"han", strings.Repeat("漢", 300_000), strings.Repeat("漢", room/3) + Marker, limit - room%3},
		{"han shifted by 1", "a" + strings.Repeat("漢", 300_000), "a" + strings.Repeat("漢", (room-1)/3) + Marker, limit - (room-1)%3},
		{"han shifted by 2", "aa" + strings.Repeat("漢", 300_000), "aa" + strings.Repeat("漢", (room-2)/3) + Marker, limit - (room-2)%3},
		{"emoji", strings.Repeat("😀", 300_000), strings.Repeat("😀", room/4) + Marker, limit - room%4},
		{"newlines, which take two bytes", "a" + strings.Repeat("\n", 600_000), "a" + strings.Repeat("\n", (room-1)/2) + Marker, limit - (room-1)%2},
		{"backslashes", strings.Repeat(`\`, 600_000), strings.Repeat(`\`, room/2) + Marker, limit - room%2},
		{"control characters, which take six", strings.Repeat("\x01", 400_000), strings.Repeat("\x01", room/6) + Marker, limit - room%6},
		{"less-than signs, which take one", strings.Repeat("<", 1<<20), strings.Repeat("<", room) + Marker, limit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Body(event.TextBody(tt.content), limit)
			if b := body(t, got, limit); b.Content != tt.want || len(got) != tt.size {
				t.Errorf("%d bytes ending in %q, want %d bytes", len(got), b.Content[max(0, len(b.Content)-40):], tt.size)
			}
		})
	}
}

func TestSizeIsCountedInTheShortestSpelling(t *testing.T) {
	long := `{"type": "text", "content": "` + strings.Repeat(`\u0061\u003c\/`, 100_000) + "\"}\n"
	want := string(event.TextBody(strings.Repeat("a</", 100_000)))
	if got := string(Body([]byte(long), limit)); got != want {
		t.Errorf("got %d bytes %.60s, want %d uncut", len(got), got, len(want))
	}
	pairs := `{"type":"text","content":"` + strings.Repeat(`\ud83d\ude00`, 100_000) + `"}`
	if got, want := string(Body([]byte(pairs), limit)), string(event.TextBody(strings.Repeat("😀", 100_000))); got != want {
		t.Errorf("pairs: got %d bytes, want %d uncut", len(got), len(want))
	}
}

func tool(input, response string) []byte {
	return event.JSONBody([]byte(`{"tool_name":"execute_bash","tool_input":` + input + `,"tool_response":` + response + `}`))
}

// fill makes of the one <x> in the body as many x as give the body the size.
func fill(b []byte, size int) string {
	i := bytes.IndexByte(b, '<')
	n := size - (len(b) - len("<x>"))
	return string(b[:i]) + strings.Repeat(string(b[i+1]), n) + string(b[i+len("<x>"):])
}

func TestJSONLeavesAreCutWhereItHurtsLeast(t *testing.T) {
	const mark = Marker
	x := func(n int) string { return strings.Repeat("x", n) }
	y := func(n int) string { return strings.Repeat("y", n) }
	for _, tt := range []struct {
		name, input, response string
		size                  int
		wantInput, want       string
	}{
		{
			"plain result", `{"command":"make"}`, `{"success":true,"result":"first line\n` + x(3000) + `"}`, 1000,
			`{"command":"make"}`, `{"success":true,"result":"first line\n<x>` + mark + `"}`,
		},
		{
			"nested result", `{"n":1.50}`, `{"success":true,"result":[{"exit_status":"0","stdout":"` + x(3000) + `","stderr":"short"}]}`, 1000,
			`{"n":1.50}`, `{"success":true,"result":[{"exit_status":"0","stdout":"<x>` + mark + `","stderr":"short"}]}`,
		},
		{
			"the result goes before a longer input", `{"text":"` + y(700) + `"}`, `{"result":"` + x(400) + `"}`, 1000,
			`{"text":"` + y(700) + `"}`, `{"result":"<x>` + mark + `"}`,
		},
		{
			"the input too when the result does not suffice", `{"path":"/p","text":"` + y(3000) + `"}`, `{"result":"` + x(400) + `"}`, 1000,
			`{"path":"/p","text":"<y>` + mark + `"}`, `{"result":"` + mark + `"}`,
		},
		{
			"a result shorter than the marker stays", `{"path":"/p","text":"` + y(3000) + `"}`, `{"success":true,"result":"short"}`, 1000,
			`{"path":"/p","text":"<y>` + mark + `"}`, `{"success":true,"result":"short"}`,
		},
		{
			"the longest of a result first", `{}`, `{"result":["` + y(300) + `","` + x(600) + `","` + y(299) + `"]}`, 1000,
			`{}`, `{"result":["` + y(300) + `","<x>` + mark + `","` + y(299) + `"]}`,
		},
		{
			"then the next", `{}`, `{"result":["` + y(900) + `","` + x(950) + `"]}`, 1000,
			`{}`, `{"result":["<y>` + mark + `","` + mark + `"]}`,
		},
		{
			"strings outside result come second", `{}`, `{"error":"` + x(900) + `","result":["` + y(500) + `"]}`, 1000,
			`{}`, `{"error":"<x>` + mark + `","result":["` + mark + `"]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Body(tool(tt.input, tt.response), tt.size)
			body(t, got, tt.size)
			if want := fill(tool(tt.wantInput, tt.want), tt.size); string(got) != want || len(got) != tt.size {
				t.Errorf("%d bytes\n got %s\nwant %s", len(got), got, want)
			}
		})
	}
}

func TestDataThatCannotBeCutBecomesText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and has no two goroutines")
	}
	var members []string
	for i := range 100_000 {
		members = append(members, fmt.Sprintf(`"%d":%d`, i, i))
	}
	plain := `{"success":true,"result":{` + strings.Join(members, ",") + `}}`
	for _, tt := range []struct{ name, response string }{
		{"no big string", plain},
		{"escapes in the text", `{"` + strings.Repeat(`k\n\"\\\u0001漢😀`, 60_000) + `":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 500_000; size < 500_012; size++ {
				in := tool(`{"command":"make"}`, tt.response)
				got := Body(in, size)
				var data map[string]string
				if err := json.Unmarshal(body(t, got, size).Data, &data); err != nil || len(data) != 1 {
					t.Fatalf("data is no object of one text: %v", err)
				}
				text, cut := strings.CutSuffix(data["_truncated"], Marker)
				whole := string(in[len(`{"type":"json","data":`) : len(in)-1])
				if !cut || !strings.HasPrefix(whole, text) {
					t.Fatalf("not the beginning of the data: %.80q", text)
				}
				// The next character of what the text says takes nine bytes at most: the escape \u0001 and its backslash.
				if free := size - len(got); free >= 9 {
					t.Errorf("%d bytes are left free", free)
				}
				if last := text[len(text)-1]; last == '\\' && !strings.HasSuffix(text, `\\`) {
					t.Errorf("ends inside an escape: %q", text[len(text)-10:])
				}
			}
		})
	}
}

func TestMessage(t *testing.T) {
	turns := func(in ...string) (out []event.Turn) {
		for i, s := range in {
			out = append(out, event.Turn{Role: []string{"user", "assistant"}[i%2], Content: s})
		}
		return out
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name string
		in   []event.Turn
		want []event.Turn
	}{
		{"the last turn", turns("a", x(2000)), turns("a", "<x>"+Marker)},
		{"one turn", turns(x(2000)), turns("<x>" + Marker)},
		{"an earlier turn, and the empty one goes", turns(x(2000), x(300)), turns("<x>" + Marker)},
		{"the end of the last turn", turns(x(700), x(300)), turns(x(700), "<x>"+Marker)},
		{"short turns stay", turns(x(2000), "yes", "ok"), turns("<x>"+Marker, "yes", "ok")},
		{"the earlier of two long ones stays whole", turns(x(400), x(400), x(400)), turns(x(400), x(400), "<x>"+Marker)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Body(event.MessageBody(tt.in), 1000)
			body(t, got, 1000)
			if want := fill(event.MessageBody(tt.want), 1000); string(got) != want {
				t.Errorf("%d bytes\n got %s\nwant %s", len(got), got, want)
			}
		})
	}
	t.Run("many short turns", func(t *testing.T) {
		var in []event.Turn
		for i := range 30_000 {
			in = append(in, event.Turn{Role: "user", Content: fmt.Sprint("turn ", i)})
		}
		in[0].Content = x(50_000)
		got := Body(event.MessageBody(in), limit)
		b := body(t, got, limit)
		if d := cmp.Diff(in[1:len(b.Turns)], b.Turns[1:]); d != "" {
			t.Error("the turns that stay are not the first ones")
		}
		if free := limit - len(got); free > 2*len(`{"role":"user","content":"turn 12345"},`) {
			t.Errorf("%d bytes are left free", free)
		}
	})
}

func TestWhatTheContractDoesNotKnow(t *testing.T) {
	big := strings.Repeat("x", 5000)
	for _, tt := range []struct{ name, in, want string }{
		{"member of a text", `{"type":"text","note":1.50,"content":"` + big + `"}`, `{"type":"text","note":1.50,"content":"xxx`},
		{"big member of a text", `{"type":"text","content":"kept","note":"` + big + `"}`, `{"type":"text","content":"kept"}`},
		{"big member of a message", `{"type":"message","note":"` + big + `","turns":[{"role":"assistant","content":"kept"}]}`, `{"type":"message","turns":[{"role":"assistant","content":"kept"}]}`},
		{"big role", `{"type":"message","turns":[{"role":"` + big + `","content":"kept"}]}`, `{"type":"message","turns":[{"role":"user","content":"kept"}]}`},
		{"big member of JSON", `{"type":"json","data":{"a":1},"note":"` + big + `"}`, `{"type":"json","data":{"_truncated":"{\"a\":1} [truncated by kiro-learn]"}}`},
		{"unknown type", `{"type":"image","pixels":"` + big + `"}`, `{"type":"json","data":{"_truncated":"{\"type\":\"image\",\"pixels\":\"xxx`},
		{"no turns", `{"type":"message","note":"` + big + `","turns":[]}`, `{"type":"json","data":{"_truncated":"{\"type\":\"message\",\"note\":\"xxx`},
		{"no content", `{"type":"text","note":"` + big + `"}`, `{"type":"json","data":{"_truncated":"{\"type\":\"text\",\"note\":\"xxx`},
		{"content of another type", `{"type":"text","content":5,"note":"` + big + `"}`, `{"type":"json","data":{"_truncated":"{\"type\":\"text\",\"content\":5,`},
		{"data is a string", `{"type":"json","data":"` + big + `"}`, `{"type":"json","data":"xxx`},
		{"not JSON", `{"type":"text","content":"` + big + `"`, `{"type":"text","content":"{\"type\":\"text\",\"content\":\"xxx`},
		{"invalid text", `{"type":"text","content":"` + strings.Repeat("\xff", 5000) + `"}`, "{\"type\":\"text\",\"content\":\"\ufffd\ufffd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Body([]byte(tt.in), 1000)
			body(t, got, 1000)
			if !strings.HasPrefix(string(got), tt.want) {
				t.Errorf("got %s\nwant %s…", got, tt.want)
			}
		})
	}
}
