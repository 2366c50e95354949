package logfile

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lines decodes the log at path; every line must be one JSON object.
func lines(t *testing.T, path string) (all []map[string]any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

func at(clock *time.Time) func() time.Time { return func() time.Time { return *clock } }

func TestLine(t *testing.T) {
	clock := time.Date(2026, 11, 1, 12, 0, 0, 5e6, time.FixedZone("", 3600))
	path := filepath.Join(t.TempDir(), "state", "kiro-learn.log")
	l := New(path, "", "hook", at(&clock))
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log without lines made something: %v", err)
	}
	l.Warn("outbox full", errors.New("no\nspace\x1b[31m"), Int("bytes", -1), Str("path", strings.Repeat("ü", 300)))
	l.Error("broken", nil)
	l.Info("fine", nil, Str("bad utf8", "a\xffb"))
	pid := float64(os.Getpid())
	when := "2026-11-01T11:00:00.005Z"
	want := []map[string]any{
		{"level": "warn", "time": when, "component": "hook", "pid": pid, "cause": "outbox full", "error": "no space [31m",
			"bytes": -1.0, "path": strings.Repeat("ü", 200)},
		{"level": "error", "time": when, "component": "hook", "pid": pid, "cause": "broken"},
		{"level": "info", "time": when, "component": "hook", "pid": pid, "cause": "fine", "bad utf8": "a\ufffdb"},
	}
	if d := cmp.Diff(want, lines(t, path)); d != "" {
		t.Error(d)
	}
	if l.Dropped() != 0 {
		t.Errorf("dropped %d", l.Dropped())
	}
}
