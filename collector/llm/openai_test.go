package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kiro-learn/internal/config"
)

func chatCompletion(text, reason string) string {
	b, _ := json.Marshal(text)
	return fmt.Sprintf(`{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":{}}`, b, reason)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

func TestOpenAI(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		t.Error("the prompt was sent to another host")
		_, _ = io.WriteString(w, chatCompletion("stolen", "stop"))
	})
	text := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	redirect := func(code int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				text(200, chatCompletion("moved", "stop"))(w, r)
				return
			}
			http.Redirect(w, r, to, code)
		}
	}
	mb := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name          string
		timeout       config.Duration
		handler       http.HandlerFunc
		want, wantErr string
		is            error
	}{
		{"answers", long, text(200, chatCompletion(" héllo\n", "stop")), "héllo", "", nil},
		{
			"as much as is allowed, all escaped", long, text(200, chatCompletion("a"+strings.Repeat("\x01", 1<<20-2)+"a", "stop")),
			"a" + strings.Repeat("\x01", 1<<20-2) + "a", "", nil,
		},
		{"parts", long, text(200, `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"x"},{"text":"b"}]}}]}`), "ab", "", nil},
		{"one byte more", long, text(200, chatCompletion(mb+"x", "stop")), "", "longer than allowed", ErrTooLong},
		{"blank", long, text(200, chatCompletion(" ", "stop")), "", "empty", ErrEmpty},
		{"null", long, text(200, `{"choices":[{"message":{"content":null}}]}`), "", "empty", ErrEmpty},
		{"no choice", long, text(200, `{"choices":[]}`), "", "empty", ErrEmpty},
		{"cut off", long, text(200, chatCompletion("half an answ", "length")), "", "before its answer was complete", ErrTruncated},
		{"filtered", long, text(200, chatCompletion("", "content_filter")), "", "refused", nil},
		{"a web page", long, text(200, "<html>secret words</html>"), "", "check llm.base_url", nil},
		{"cut in the middle", long, text(200, `{"choices":[{"message":{"content":"secret words`), "", "check llm.base_url", nil},
		{"500", long, text(500, "secret words"), "", "status 500", nil},
		{"401", long, text(401, "secret words"), "", "status 401: check the key", nil},
		{"404", long, text(404, "secret words"), "", "status 404: check llm.base_url", nil},
		{"429", long, text(429, "secret words"), "", "status 429: try again later", nil},
		{"204", long, text(204, ""), "", "status 204", nil},
		{"redirects to another host", long, redirect(307, elsewhere+"/moved"), "", "redirects elsewhere", nil},
		{"redirects and drops the prompt", long, redirect(302, "/moved"), "", "redirects elsewhere", nil},
		{"redirects within", long, redirect(308, "/moved"), "moved", "", nil},
		{"redirects for ever", long, redirect(307, "/v1/chat/completions"), "", "redirects elsewhere", nil},
		{"endless body", long, func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := io.WriteString(w, mb); err != nil {
					return
				}
			}
		}, "", "longer than allowed", ErrTooLong},
		{"never answers", short, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "", "no answer within 700ms", context.DeadlineExceeded},
		{"stops in the middle", short, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"choices":`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "", "no answer within", context.DeadlineExceeded},
		{"hangs up", long, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}, "", "EOF", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // so that a client that leaves is noticed
				c.handler(w, r)
			})
			m, err := New(config.LLM{Engine: "openai", BaseURL: base + "/v1", Model: "m", Timeout: c.timeout}, Options{Environ: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Complete(t.Context(), "p "+secret)
			if c.wantErr != "" {
				checkError(t, err, c.wantErr, c.is)
				if strings.Contains(err.Error(), base) {
					t.Errorf("the error tells the address: %v", err)
				}
			} else if err != nil || got != c.want {
				t.Errorf("Complete = %.60q (%d bytes), %v; want %.60q", got, len(got), err, c.want)
			}
		})
	}
}

func TestOpenAIRequest(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"} {
		t.Run(path, func(t *testing.T) {
			var got []string
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got = []string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(b)}
				_, _ = io.WriteString(w, chatCompletion("ok", "stop"))
			})
			m, err := New(config.LLM{Engine: "openai", BaseURL: base + path, Model: "m", APIKeyEnv: "K", Timeout: long},
				Options{Environ: []string{"K=old", "KK=x", "K=the key\n"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Complete(t.Context(), "<p>\n"); err != nil {
				t.Fatal(err)
			}
			want := []string{
				"POST", "/v1/chat/completions", "application/json", "Bearer the key",
				`{"model":"m","messages":[{"role":"user","content":"\u003cp\u003e\n"}],"stream":false}`,
			}
			if !slices.Equal(got, want) {
				t.Errorf("the server received %q\nwant %q", got, want)
			}
		})
	}
}

// A server that fails, rests, and comes back: what the collector sees of it.
func TestBreaker(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var broken atomic.Bool
	var calls atomic.Int32
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if broken.Load() {
			w.WriteHeader(500)
		}
		_, _ = io.WriteString(w, chatCompletion("ok", "stop"))
	})
	m, err := New(config.LLM{Engine: "openai", BaseURL: base, Model: "m", Timeout: long},
		Options{Environ: []string{}, Failures: 3, Rest: time.Minute, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	const lastError = "openai: the endpoint answered with status 500: try again later"
	for _, step := range []struct {
		name    string
		after   time.Duration
		broken  bool
		asked   bool // the server was
		resting bool
		want    Status
	}{
		{"works", 0, false, true, false, Status{State: "closed", Calls: 1}},
		{"fails", 0, true, true, false, Status{State: "closed", Calls: 2, Failed: 1, InARow: 1, LastError: lastError}},
		{"works again", 0, false, true, false, Status{State: "closed", Calls: 3, Failed: 1}},
		{"first of three", 0, true, true, false, Status{State: "closed", Calls: 4, Failed: 2, InARow: 1, LastError: lastError}},
		{"second", 0, true, true, false, Status{State: "closed", Calls: 5, Failed: 3, InARow: 2, LastError: lastError}},
		{"third", 0, true, true, false, Status{State: "open", Calls: 6, Failed: 4, InARow: 3, LastError: lastError, RetryAt: now.Add(time.Minute)}},
		{"left in peace", 59 * time.Second, false, false, true, Status{State: "open", Calls: 6, Failed: 4, InARow: 3, LastError: lastError, RetryAt: now.Add(time.Minute)}},
		{"a trial fails", time.Second, true, true, false, Status{State: "open", Calls: 7, Failed: 5, InARow: 4, LastError: lastError, RetryAt: now.Add(3 * time.Minute)}},
		{"in peace for longer", 2*time.Minute - 1, false, false, true, Status{State: "open", Calls: 7, Failed: 5, InARow: 4, LastError: lastError, RetryAt: now.Add(3 * time.Minute)}},
		{"a trial succeeds", 1, false, true, false, Status{State: "closed", Calls: 8, Failed: 5}},
		{"as before", 0, true, true, false, Status{State: "closed", Calls: 9, Failed: 6, InARow: 1, LastError: lastError}},
	} {
		now = now.Add(step.after)
		broken.Store(step.broken)
		before := calls.Load()
		_, err := m.Complete(t.Context(), "p")
		if asked := calls.Load() != before; asked != step.asked || errors.Is(err, ErrResting) != step.resting || (err == nil) != (step.asked && !step.broken) {
			t.Errorf("%s: asked %v, error %v", step.name, asked, err)
		}
		step.want.Engine = "openai"
		if got := m.Status(); got != step.want {
			t.Errorf("%s: status\n%+v, want\n%+v", step.name, got, step.want)
		}
	}
}

func TestBreakerTrials(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	b := &breaker{limit: 1, rest: time.Second, now: func() time.Time { return now }}
	enter := func(want bool) {
		t.Helper()
		if trial, err := b.enter(); err != nil || trial != want {
			t.Fatalf("enter = %v, %v; want %v", trial, err, want)
		}
	}
	enter(false)
	enter(false)
	b.leave(false, failed, "one")
	opened := b.retryAt
	now = opened
	b.leave(false, failed, "a call that was under way")
	if b.retryAt != opened {
		t.Errorf("a call that was under way prolonged the rest to %v", b.retryAt)
	}
	enter(true)
	if _, err := b.enter(); !errors.Is(err, ErrResting) {
		t.Errorf("a second trial beside the first: %v", err)
	}
	if s := b.status(); s.State != "half-open" {
		t.Errorf("state %s during a trial", s.State)
	}
	b.leave(true, undecided, "")
	for _, rest := range []time.Duration{2, 4, 8, 16, 32, 32, 32} {
		enter(true)
		b.leave(true, failed, "again")
		if got := b.retryAt.Sub(now); got != rest*time.Second {
			t.Errorf("rest of %v, want %v s", got, rest)
		}
		now = b.retryAt
	}
	enter(true)
	b.leave(true, succeeded, "")
	enter(false)
	enter(false)
}
