package hooks

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The budget counts from the beginning of the process and includes what a hook waits for its payload, however that comes:
// not at all, in drops, or not to its end. The clock is the test's own, so the times are exact.
func TestStdinSharesTheBudget(t *testing.T) {
	const never = time.Hour
	for _, tt := range []struct {
		name, config, disable string
		pause                 time.Duration // between two bytes
		want                  time.Duration
	}{
		{"nobody writes", `{}`, "", never, 450 * time.Millisecond},
		{"drops", `{}`, "", 5 * time.Millisecond, 450 * time.Millisecond},
		{"a small budget", `{"hooks":{"budget_ms":50}}`, "", 7 * time.Millisecond, 45 * time.Millisecond},
		{"a big budget, nobody writes", `{"hooks":{"budget_ms":10000}}`, "", never, 1500 * time.Millisecond},
		{"a big budget, drops", `{"hooks":{"budget_ms":10000}}`, "", 7 * time.Millisecond, 2500 * time.Millisecond},
		{"switched off, nobody writes", `{"enabled":false}`, "", never, 250 * time.Millisecond},
		{"switched off, drops", `{"enabled":false}`, "", 7 * time.Millisecond, 500 * time.Millisecond},
		{"switched off by the environment, drops", `{"hooks":{"budget_ms":10000}}`, "1", 7 * time.Millisecond, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(tt.config), 0o600); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{"HOME": home, "KIRO_LEARN_HOME": home, "KIRO_LEARN_DISABLE": tt.disable}
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				var writing sync.WaitGroup
				defer writing.Wait()
				defer r.Close()
				writing.Go(func() {
					if tt.pause == never {
						return
					}
					_, err := io.WriteString(w, `{"unknown":"`)
					for ; err == nil; _, err = io.WriteString(w, "x") {
						time.Sleep(tt.pause)
					}
				})
				var out []byte
				begin := time.Now()
				Run(Process{Args: []string{"postToolUse"}, Stdin: r, Stdout: appender{&out}, Getenv: func(k string) string { return env[k] }, Begun: begin})
				if took := time.Since(begin); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
				if len(out) > 0 {
					t.Errorf("printed %q", out)
				}
			})
		})
	}
}

type appender struct{ to *[]byte }

func (a appender) Write(p []byte) (int, error) {
	*a.to = fmt.Append(*a.to, string(p))
	return len(p), nil
}
