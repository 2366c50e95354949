package transcript

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const id = "sess_0b5e7c1a-1111-4222-8333-944455566677"

// write puts a session's file below a fresh home.
func write(t testing.TB, rel string, data []byte) Reader {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, ".kiro", "sessions", filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Reader{Home: home}
}

func standalone(t testing.TB, lines ...string) Reader {
	return write(t, "0123456789abcdef/"+id+"/messages.jsonl", []byte(strings.Join(lines, "\n")+"\n"))
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "payloads", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSamples(t *testing.T) {
	for _, c := range []struct{ name, file, rel, answer, prompt, mark string }{
		{
			"standalone", "cli3-session-messages.jsonl", "0123456789abcdef/" + id + "/messages.jsonl",
			"Three times: maxAttempts in upload/upload.go.", "how many times does the uploader retry?", "0@2026-11-20T09:00:00Z",
		},
		{
			"directory with prefix", "cli3-session-messages.jsonl", "ws/sess_" + id + "/messages.jsonl",
			"Three times: maxAttempts in upload/upload.go.", "how many times does the uploader retry?", "0@2026-11-20T09:00:00Z",
		},
		{
			"cli", "cli2-session.jsonl", "cli/" + id + ".jsonl",
			"Retry added: three attempts.", "add a retry to the uploader, at most three attempts", "m1@1763625600",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := write(t, c.rel, sample(t, c.file))
			if got, ok := r.LastAnswer(id); !ok || got != c.answer {
				t.Errorf("answer %q, %v; want %q", got, ok, c.answer)
			}
			got, mark, ok := r.LastPrompt(id)
			if !ok || got != c.prompt || mark != c.mark {
				t.Errorf("prompt %q, mark %q, %v; want %q, %q", got, mark, ok, c.prompt, c.mark)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	const (
		user  = `{"id":"u1","timestamp":"t1","payload":{"type":"user","content":"first"}}`
		start = `{"payload":{"type":"turn_start","executionId":"e"}}`
		end   = `{"payload":{"type":"turn_end","executionId":"e"}}`
		say   = `{"payload":{"type":"assistant","operationType":"Say","content":"done"}}`
	)
	for _, c := range []struct {
		name           string
		lines          []string
		answer, prompt string
	}{
		{"nothing", nil, "", ""},
		{"one turn", []string{user, start, say, end}, "done", "first"},
		{"inner objects alone", []string{`{"type":"user","content":"bare"}`, `{"type":"assistant","operationType":"Say","content":"ok"}`}, "ok", "bare"},
		{"last say counts", []string{user, say, `{"payload":{"type":"assistant","operationType":"Say","content":"later"}}`, end}, "later", "first"},
		{"reasoning is not kept", []string{user, say, `{"payload":{"type":"assistant","operationType":"Reasoning","content":"hm"}}`, end}, "done", "first"},
		{"only reasoning", []string{user, `{"payload":{"type":"assistant","operationType":"Reasoning","content":"hm"}}`, end}, "", "first"},
		{"answer to an earlier turn", []string{user, say, end, `{"payload":{"type":"user","content":"second"}}`, start}, "", "second"},
		{"synthetic message does not begin a turn", []string{user, say, `{"payload":{"type":"user","content":"note","_meta":{"kiro":{"syntheticUserMessageReason":"x"}}}}`, end}, "done", "first"},
		{"null reason is typed", []string{user, `{"payload":{"type":"user","content":"second","_meta":{"kiro":{"syntheticUserMessageReason":null}}}}`}, "", "second"},
		{"steer is not the prompt", []string{user, start, `{"payload":{"type":"user","source":"steer","content":"faster"}}`, say, end}, "done", "first"},
		{"steer alone is", []string{`{"payload":{"type":"user","source":"steer","content":"faster"}}`, `{"payload":{"type":"user","source":"steer","content":"stop"}}`}, "", "stop"},
		{"answer before a steer", []string{user, say, `{"payload":{"type":"user","source":"steer","content":"faster"}}`}, "", "first"},
		{"two executions of one turn", []string{user, start, say, end, start, end}, "done", "first"},
		{"content of parts", []string{`{"type":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"QUJD"},"b"]}`, `{"type":"assistant","content":[{"type":"thinking","text":"no"},{"type":"text","text":"yes"}]}`}, "yes", "a\nb"},
		{"content of another type", []string{user, say, `{"type":"assistant","operationType":"Say","content":{"x":1}}`, `{"type":"user","content":7}`}, "done", "first"},
		{"blank content", []string{user, say, `{"type":"assistant","operationType":"Say","content":" \n"}`}, "done", "first"},
		{"unicode", []string{`{"type":"user","content":"\u6f22\u5b57 \ud83d\ude00"}`, say}, "done", "漢字 😀"},
		{"garbage between", []string{user, "not json", `{"payload":`, "\x00\xff\xfe", "[]", "7", say, "", end}, "done", "first"},
		{"torn last line", []string{user, say, `{"payload":{"type":"assistant","operationType":"Say","content":"half of th`}, "done", "first"},
		{"cli records in between", []string{`{"kind":"Prompt","data":{"content":[{"kind":"text","data":"p"}]}}`, `{"kind":"AssistantMessage","data":{"content":[{"kind":"thinking","data":"t"}]}}`}, "", "p"},
		{"cli string content", []string{`{"kind":"Prompt","data":{"content":"p"}}`, `{"kind":"AssistantMessage","data":{"content":"a"}}`}, "a", "p"},
		{"crlf", []string{user + "\r", say + "\r"}, "done", "first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := standalone(t, c.lines...)
			if got, ok := r.LastAnswer(id); got != c.answer || ok != (c.answer != "") {
				t.Errorf("answer %q, %v; want %q", got, ok, c.answer)
			}
			if got, _, ok := r.LastPrompt(id); got != c.prompt || ok != (c.prompt != "") {
				t.Errorf("prompt %q, %v; want %q", got, ok, c.prompt)
			}
		})
	}
}

func TestMade(t *testing.T) {
	note := func(text, meta string) string {
		return `{"payload":{"type":"user","content":"` + text + `","_meta":{"kiro":` + meta + `}}}`
	}
	r := standalone(t, note("typed", `{"userMessageTag":"p1"}`), note("brief", `{"syntheticUserMessageReason":"workflow"}`), note("notice", `{"syntheticUserMessageReason":"x"}`),
		note("brief", `{"syntheticUserMessageReason":"workflow"}`), note("both", `{"syntheticUserMessageReason":"x"}`), note("both", `{}`), `{"type":"user","content":"plain"}`)
	if got := r.Made(id); !slices.Equal(got, []string{"brief", "notice"}) {
		t.Errorf("made by Kiro: %q", got)
	}
	if got := r.Made("no-such-session"); got != nil {
		t.Errorf("of no session: %q", got)
	}
}

func TestMarkChangesWithEveryPrompt(t *testing.T) {
	for _, c := range []struct{ name, first, second string }{
		{"ids", `{"id":"1","timestamp":"t","payload":{"type":"user","content":"go on"}}`, `{"id":"2","timestamp":"t","payload":{"type":"user","content":"go on"}}`},
		{"times", `{"id":"1","timestamp":"t1","payload":{"type":"user","content":"go on"}}`, `{"id":"1","timestamp":"t2","payload":{"type":"user","content":"go on"}}`},
		{"neither", `{"type":"user","content":"go on"}`, `{"type":"user","content":"go on"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, one, _ := standalone(t, c.first).LastPrompt(id)
			_, again, _ := standalone(t, c.first, `{"type":"turn_end"}`).LastPrompt(id)
			_, two, _ := standalone(t, c.first, c.second).LastPrompt(id)
			if one == "" || one != again || one == two {
				t.Errorf("marks %q, %q, %q: want the first two the same and the third another", one, again, two)
			}
		})
	}
}

func TestHostileSessionIDs(t *testing.T) {
	r := standalone(t, `{"type":"user","content":"p"}`)
	if err := os.WriteFile(filepath.Join(r.Home, ".kiro", "secret.jsonl"), []byte(`{"type":"user","content":"outside"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", ".", "..", "*", "sess_*", "../../secret", `..\..\secret`, "cli/../../secret", id + "/", id + "\x00", "[s]ess", "sess_?", "/etc/passwd", "C:x", strings.Repeat("a", 64<<10), id + "\n", id + ".", id + " "} {
		if _, _, ok := r.LastPrompt(bad); ok {
			t.Errorf("session id %.20q was read", bad)
		}
		if _, ok := r.WaitAnswer(context.Background(), bad); ok {
			t.Errorf("session id %.20q was answered", bad)
		}
	}
	if _, _, ok := r.LastPrompt(id); !ok {
		t.Error("the good id was not read")
	}
}

func TestNoSession(t *testing.T) {
	for _, r := range []Reader{{}, {Home: filepath.Join(t.TempDir(), "missing")}, {Home: t.TempDir()}} {
		if text, ok := r.LastAnswer(id); ok || text != "" {
			t.Errorf("answer %q from nothing", text)
		}
	}
	dir := write(t, "ws/"+id+"/messages.jsonl/x", nil) // a directory where the file should be
	if _, _, ok := dir.LastPrompt(id); ok {
		t.Error("a directory was read")
	}
}

func TestNewestFileWins(t *testing.T) {
	r := standalone(t, `{"type":"user","content":"new"}`)
	old := filepath.Join(r.Home, ".kiro", "sessions", "fedcba9876543210", id, "messages.jsonl")
	if err := os.MkdirAll(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, []byte(`{"type":"user","content":"old"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := r.LastPrompt(id); got != "new" {
		t.Errorf("got %q, want the prompt of the newer file", got)
	}
}

func TestIgnore(t *testing.T) {
	for _, c := range []struct {
		name, about string
		want        bool
	}{
		{"ours", `{"session_id":"x","cwd":"/run/kiro-learn/child"}`, false},
		{"the user's", `{"cwd":"/home/mia/shop"}`, true},
		{"unknown", `{"title":"t"}`, true},
		{"broken", `{"cwd":`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := standalone(t, `{"type":"user","content":"p"}`)
			about := filepath.Join(r.Home, ".kiro", "sessions", "0123456789abcdef", id, "session.json")
			if err := os.WriteFile(about, []byte(c.about), 0o600); err != nil {
				t.Fatal(err)
			}
			r.Ignore = func(cwd string) bool { return strings.HasPrefix(cwd, "/run/kiro-learn") }
			if _, _, ok := r.LastPrompt(id); ok != c.want {
				t.Errorf("read %v, want %v", ok, c.want)
			}
		})
	}
}

func TestWaitAnswer(t *testing.T) {
	const say = `{"payload":{"type":"assistant","operationType":"Say","content":"closing"}}`
	ctx := func(t *testing.T, d time.Duration) context.Context {
		c, cancel := context.WithTimeout(context.Background(), d)
		t.Cleanup(cancel)
		return c
	}
	t.Run("written late, in two pieces", func(t *testing.T) {
		r := standalone(t, `{"type":"user","content":"p"}`)
		path := r.find(id)
		done := make(chan error, 1)
		go func() {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				done <- err
				return
			}
			for _, piece := range []string{say[:30], say[30:] + "\n", `{"type":"turn_end"}` + "\n"} {
				_, err = f.WriteString(piece)
			}
			f.Close()
			done <- err
		}()
		got, ok := r.WaitAnswer(ctx(t, 20*time.Second), id)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if !ok || got != "closing" {
			t.Errorf("got %q, %v; want the closing message", got, ok)
		}
	})
	t.Run("never ends", func(t *testing.T) {
		r := standalone(t, `{"type":"user","content":"p"}`, say)
		if got, ok := r.WaitAnswer(ctx(t, 40*time.Millisecond), id); !ok || got != "closing" {
			t.Errorf("got %q, %v; want what there is at the deadline", got, ok)
		}
	})
	t.Run("the end comes only after the hooks", func(t *testing.T) {
		r := standalone(t, `{"type":"user","content":"p"}`, say)
		if got, ok := r.WaitAnswer(ctx(t, time.Hour), id); !ok || got != "closing" {
			t.Errorf("got %q, %v; want the answer of the settled file", got, ok)
		}
	})
	t.Run("ended before", func(t *testing.T) {
		r := standalone(t, `{"type":"user","content":"p"}`, `{"type":"turn_end"}`)
		if got, ok := r.WaitAnswer(ctx(t, time.Hour), id); ok {
			t.Errorf("got %q of a turn without an answer", got)
		}
	})
	t.Run("the cli's closing message calls no tool", func(t *testing.T) {
		r := write(t, "cli/"+id+".jsonl", sample(t, "cli2-session.jsonl"))
		if got, ok := r.WaitAnswer(ctx(t, time.Hour), id); !ok || got != "Retry added: three attempts." {
			t.Errorf("got %q, %v", got, ok)
		}
	})
	t.Run("without a deadline", func(t *testing.T) {
		r := standalone(t, `{"type":"user","content":"p"}`)
		if _, ok := r.WaitAnswer(context.Background(), id); ok {
			t.Error("an answer from nothing")
		}
	})
}

// counting counts the bytes that are read.
type counting struct {
	io.ReaderAt
	n int64
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.n += int64(n)
	return n, err
}

func TestHugeFile(t *testing.T) {
	r := standalone(t, `{"type":"user","content":"far back"}`)
	path := r.find(id)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 300 << 20 // a hole, which costs no disk
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := r.LastPrompt(id); ok {
		t.Error("read beyond the limit")
	}
	c := &counting{ReaderAt: f}
	linesBackwards(c, size, fileLimits(), func(int64, []byte) bool { return true })
	if c.n != fileLimits().all {
		t.Errorf("%d bytes read of a file without lines, want %d", c.n, fileLimits().all)
	}
	if _, err := f.WriteAt([]byte("\n"+`{"type":"user","content":"near"}`+"\n"), size); err != nil {
		t.Fatal(err)
	}
	if got, _, ok := r.LastPrompt(id); !ok || got != "near" {
		t.Errorf("got %q, %v; want the last prompt", got, ok)
	}
}

func TestLongLines(t *testing.T) {
	long := func(n int) string { return `{"type":"user","content":"` + strings.Repeat("x", n) + `"}` }
	for _, c := range []struct {
		name string
		n    int
		want int
	}{
		{"within the limit", 3 << 20, 3 << 20},
		{"beyond it", 5 << 20, len("first")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := standalone(t, `{"type":"user","content":"first"}`, long(c.n), `{"type":"turn_end"}`)
			if got, _, ok := r.LastPrompt(id); !ok || len(got) != c.want {
				t.Errorf("a prompt of %d bytes, %v; want %d", len(got), ok, c.want)
			}
		})
	}
}

// FuzzTail holds reading backwards against splitting the whole text, for chunks of every size.
func FuzzTail(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), uint8(1), uint8(200))
	f.Add([]byte("{\"type\":\"user\",\"content\":\"x\"}\n\nhalf"), uint8(7), uint8(40))
	f.Add([]byte("\n\nlonger than the limit\n12"), uint8(3), uint8(4))
	f.Fuzz(func(t *testing.T, b []byte, chunk, line uint8) {
		lim := limits{chunk: int64(chunk) + 1, line: int(line), all: 1 << 20}
		var want, got []string
		at := int64(len(b)) + 1
		lines := bytes.Split(b, []byte("\n"))
		for i := len(lines) - 1; i >= 0; i-- {
			at -= int64(len(lines[i])) + 1
			if l := bytes.TrimSpace(lines[i]); len(l) > 0 && len(lines[i]) <= lim.line {
				want = append(want, fmt.Sprintf("%d:%s", at, l))
			}
		}
		linesBackwards(bytes.NewReader(b), int64(len(b)), lim, func(offset int64, line []byte) bool {
			got = append(got, fmt.Sprintf("%d:%s", offset, line))
			parse(line, offset)
			return true
		})
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("read %q, want %q", got, want)
		}
	})
}

func BenchmarkLastAnswer(b *testing.B) {
	pad := `{"type":"tool_result","toolCallId":"t","content":"` + strings.Repeat("output ", 3000) + `","success":true}` + "\n"
	for _, c := range []struct {
		name string
		tail int
	}{{"at once", 0}, {"1 MB back", 50}, {"6 MB back", 290}} {
		b.Run(c.name, func(b *testing.B) {
			r := write(b, "ws/"+id+"/messages.jsonl", []byte(strings.Repeat(pad, 500)+`{"type":"user","content":"p"}`+"\n"+`{"type":"assistant","operationType":"Say","content":"a"}`+"\n"+strings.Repeat(pad, c.tail)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := r.LastAnswer(id); !ok {
					b.Fatal("no answer")
				}
			}
		})
	}
}
