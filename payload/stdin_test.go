package payload

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kiro-learn/internal/event"
)

const shellUse = `{"hook_event_name":"postToolUse","cwd":"/home/mia/shop","session_id":"s","tool_name":"execute_bash","tool_input":{"command":"go test"},"tool_response":{"success":true,"result":"ok"}}`

// TestStdinTiming runs hooks against a pipe in a clock of its own, so the times are exact.
func TestStdinTiming(t *testing.T) {
	type writer func(w *io.PipeWriter)
	all := func(text string) writer { return func(w *io.PipeWriter) { io.WriteString(w, text) } }
	each := func(text string, n int, pause time.Duration) writer {
		return func(w *io.PipeWriter) {
			for len(text) > 0 {
				k := min(n, len(text))
				if _, err := io.WriteString(w, text[:k]); err != nil {
					return
				}
				text = text[k:]
				time.Sleep(pause)
			}
		}
	}
	torn := shellUse[:strings.Index(shellUse, `"ok"`)+2]
	for _, tt := range []struct {
		name  string
		hook  string
		env   []string
		write writer
		took  time.Duration
		want  func(Payload) bool
	}{
		{"a whole value, never closed", "postToolUse", nil, all(shellUse), 0, func(p Payload) bool {
			return p.ToolName == "execute_bash" && p.Notes == nil
		}},
		{"two documents, never closed", "postToolUse", nil, all(shellUse + `{"tool_name":"second"}`), 0, func(p Payload) bool {
			return p.ToolName == "execute_bash"
		}},
		{"nobody writes", "postToolUse", nil, all(""), 450 * time.Millisecond, func(p Payload) bool {
			return p.ToolName == "" && p.ToolResponse == nil && fmt.Sprint(p.Notes) == "[gave up waiting for a payload]"
		}},
		{
			"nobody writes, IDE 0 has it in the environment", "postToolUse",
			[]string{"VSCODE_PID", "1", "USER_PROMPT", `{"toolName":"fsWrite","toolResult":"ok"}`},
			all(""),
			150 * time.Millisecond, func(p Payload) bool { return p.ToolName == "fsWrite" && string(p.ToolResponse) == `{"result":"ok"}` },
		},
		{"nobody writes, the prompt is in the environment", "userPromptSubmit", []string{"USER_PROMPT", "why?"}, all(""), 450 * time.Millisecond, func(p Payload) bool {
			return p.Prompt == "why?" && p.HasPrompt && p.Surface == event.SurfaceCLI
		}},
		{"nobody writes, the environment holds the user's prompt and not the answer", "stop", []string{"USER_PROMPT", "why?"}, all(""), 450 * time.Millisecond, func(p Payload) bool {
			return !p.HasAssistant && !p.HasPrompt
		}},
		{"a slow writer is read whole", "postToolUse", nil, each(shellUse, 16, 10*time.Millisecond), time.Duration(len(shellUse)-1) / 16 * 10 * time.Millisecond, func(p Payload) bool {
			return p.ToolName == "execute_bash" && string(p.ToolResponse) == `{"success":true,"result":"ok"}` && p.Notes == nil
		}},
		{"a slow writer that was slow to start", "postToolUse", nil, func(w *io.PipeWriter) {
			time.Sleep(300 * time.Millisecond)
			each(shellUse, 16, 10*time.Millisecond)(w)
		}, 300*time.Millisecond + time.Duration(len(shellUse)-1)/16*10*time.Millisecond, func(p Payload) bool { return p.SessionID == "s" && p.Notes == nil }},
		{"a writer that stalls", "postToolUse", nil, all(torn), 450 * time.Millisecond, func(p Payload) bool {
			return p.ToolName == "execute_bash" && p.SessionID == "s" && strings.HasPrefix(string(p.ToolResponse), `{"result":"{\"success\":true,\"result\":\"o`)
		}},
		{"a writer of drops that goes on for ever", "userPromptSubmit", nil, each(`{"prompt":"`+strings.Repeat("a", 1000), 1, 7*time.Millisecond), 450 * time.Millisecond, func(p Payload) bool {
			return strings.HasPrefix(p.Prompt, "aaa") && strings.HasSuffix(p.Prompt, marker)
		}},
		{"a slow writer that ends just in time", "stop", nil, each(`{"assistant_response":"`+strings.Repeat("a", 20)+`"}`, 1, 10*time.Millisecond), 440 * time.Millisecond, func(p Payload) bool {
			return p.Assistant == strings.Repeat("a", 20) && p.Notes == nil
		}},
		{"a big payload that takes longer", "stop", nil, each(`{"assistant_response":"`+strings.Repeat("a", 6<<20)+`"}`, 1<<20, 90*time.Millisecond), 540 * time.Millisecond, func(p Payload) bool {
			return len(p.Assistant) > 1<<20 && fmt.Sprint(p.Notes) == "[cut a text that is too long]"
		}},
		{"a big payload that comes slowly", "stop", nil, each(`{"assistant_response":"`+strings.Repeat("a", 12<<20), 1<<20, 130*time.Millisecond), 750 * time.Millisecond, func(p Payload) bool {
			return len(p.Assistant) > 1<<20
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				var wg sync.WaitGroup
				defer wg.Wait()
				defer r.Close()
				wg.Go(func() { tt.write(w) })
				begin := time.Now()
				p := Read(Request{Name: tt.hook, Getenv: env(tt.env...), Stdin: r, Wait: 450 * time.Millisecond})
				if took := time.Since(begin); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if !tt.want(p) {
					t.Errorf("got %+v, response %s, notes %v", p, p.ToolResponse, p.Notes)
				}
			})
		})
	}
}

func TestAClosedStdinIsNotWaitedFor(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	gone := pipe(t, "", true)
	gone.Close()
	for _, tt := range []struct {
		name  string
		stdin io.Reader
	}{
		{"none", nil}, {"no file", (*os.File)(nil)}, {"null device", null}, {"empty", strings.NewReader("")}, {"newline", strings.NewReader("\r\n")}, {"closed", gone}, {"empty pipe", pipe(t, "", true)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Read(Request{Name: "promptSubmit", Channel: "auto", Stdin: tt.stdin, Getenv: env("USER_PROMPT", "a"), Wait: time.Hour})
			q := Read(Request{Name: "userPromptSubmit", Stdin: tt.stdin, Getenv: env("USER_PROMPT", "a"), Wait: time.Hour})
			if p.Prompt != "a" || q.Prompt != "a" {
				t.Errorf("got %q and %q, want the prompt of the environment", p.Prompt, q.Prompt)
			}
		})
	}
}

func TestIDE0NeverTouchesStdin(t *testing.T) {
	for _, tt := range []struct{ hook, channel string }{{"promptSubmit", "auto"}, {"agentStop", ""}, {"postToolUse", "env"}, {"userPromptSubmit", "env"}} {
		t.Run(tt.hook, func(t *testing.T) {
			for _, v := range []string{"", "all done"} {
				Read(Request{Name: tt.hook, Channel: tt.channel, Stdin: untouched{t}, Getenv: env("USER_PROMPT", v)})
			}
		})
	}
}

func TestAParentThatIsStillWritingMeetsNoBrokenPipe(t *testing.T) {
	r, w := io.Pipe()
	done := make(chan error)
	go func() {
		if _, err := io.WriteString(w, shellUse); err != nil {
			done <- err
		}
		_, err := w.Write(make([]byte, 30<<20))
		done <- err
	}()
	if p := Read(Request{Name: "postToolUse", Stdin: r}); p.ToolName != "execute_bash" {
		t.Errorf("got %+v", p)
	}
	if err := <-done; err != nil {
		t.Errorf("the parent got %v", err)
	}
	w.Close()
}

func TestDrain(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		name  string
		write int
		close bool
		max   int64
		took  time.Duration
		left  bool // the writer is not done
	}{
		{"a megabyte into a disabled hook", mb, true, 8 * mb, 0, false},
		{"a megabyte, never closed", mb, false, 8 * mb, 100 * time.Millisecond, false},
		{"nobody writes", 0, false, 8 * mb, 100 * time.Millisecond, false},
		{"more than is taken", 8 * mb, true, mb, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				written := make(chan error, 1)
				go func() {
					_, err := w.Write(make([]byte, tt.write))
					if tt.close {
						w.Close()
					}
					written <- err
				}()
				begin := time.Now()
				Drain(r, tt.max, 200*time.Millisecond)
				if took := time.Since(begin); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				synctest.Wait()
				select {
				case err := <-written:
					if err != nil || tt.left {
						t.Errorf("the writer is done with error %v", err)
					}
				default:
					if !tt.left && tt.write > 0 {
						t.Error("the writer still waits")
					}
				}
				r.Close()
			})
		})
	}
}

func TestAWriterThatNeverRestsIsLeftInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		var wg sync.WaitGroup
		defer wg.Wait()
		defer r.Close()
		wg.Go(func() {
			for {
				if _, err := w.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		begin := time.Now()
		Drain(r, 1<<20, 200*time.Millisecond)
		if took := time.Since(begin); took != 200*time.Millisecond {
			t.Errorf("took %v, want 200ms", took)
		}
	})
}

func TestManyEmptyPayloadsSayNothing(t *testing.T) {
	for i := range 10_000 {
		in := []string{"", "{}", "\n", " { } \r\n", "\xef\xbb\xbf"}[i%5]
		for _, hook := range []string{"postToolUse", "userPromptSubmit", "stop"} {
			p := Read(Request{Name: hook, Stdin: bytes.NewReader([]byte(in))})
			if p.ToolName != "" || p.HasPrompt || p.HasAssistant || p.ToolResponse != nil || p.Notes != nil {
				t.Fatalf("%q: got %+v", in, p)
			}
		}
	}
}
