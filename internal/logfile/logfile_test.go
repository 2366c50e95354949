package logfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
		{
			"level": "warn", "time": when, "component": "hook", "pid": pid, "cause": "outbox full", "error": "no space [31m",
			"bytes": -1.0, "path": strings.Repeat("ü", 200),
		},
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

// roleEnv makes the test binary play one of several processes that log to the directory it names.
const roleEnv = "KIRO_LEARN_TEST_LOG"

func TestMain(m *testing.M) {
	dir := os.Getenv(roleEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	l := New(filepath.Join(dir, "log"), filepath.Join(dir, "marks"), "hook", nil)
	for range 20 {
		l.Warn("same cause", nil)
	}
	New(filepath.Join(dir, "log"), filepath.Join(dir, "marks"), "hook", nil).Warn("own cause "+os.Getenv("KIRO_LEARN_TEST_N"), nil)
	full := New(filepath.Join(dir, "full"), "", "hook", nil)
	for range 300 {
		full.Warn("many", nil, Str("fill", strings.Repeat("x", MaxValue)))
	}
	if d := l.Dropped() + full.Dropped(); d != 0 {
		panic(d)
	}
}

// TestProcesses has several processes log the same cause at once, and fill a log that is about to rotate.
func TestProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	var old bytes.Buffer
	for old.Len() < MaxSize-100_000 {
		old.WriteString(`{"cause":"old"}` + "\n")
	}
	if err := os.WriteFile(full, old.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	const processes = 5
	var running []*exec.Cmd
	for n := range processes {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), roleEnv+"="+dir, "KIRO_LEARN_TEST_N="+strconv.Itoa(n))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	causes := map[string]int{}
	for _, m := range lines(t, filepath.Join(dir, "log")) {
		causes[m["cause"].(string)]++
	}
	want := map[string]int{"same cause": 1}
	for n := range processes {
		want["own cause "+strconv.Itoa(n)] = 1
	}
	if d := cmp.Diff(want, causes); d != "" {
		t.Error(d)
	}
	all := append(lines(t, full+".1"), lines(t, full)...)
	if want := old.Len()/len(`{"cause":"old"}`+"\n") + processes*300; len(all) != want {
		t.Errorf("%d lines survived the rotation, want %d", len(all), want)
	}
	if info, err := os.Stat(full); err != nil || info.Size() > MaxSize/2 {
		t.Errorf("the log was not rotated: %v, %v", info.Size(), err)
	}
}

func TestOneLineAMinute(t *testing.T) {
	clock := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	steps := []struct {
		name  string
		step  time.Duration
		cause string
		want  int // lines so far
	}{
		{"first", 0, "a", 1},
		{"at once again", 0, "a", 1},
		{"another cause", 0, "b", 2},
		{"59 s later", 59 * time.Second, "a", 2},
		{"a minute later", time.Second, "a", 3},
		{"the clock steps back a little", -time.Second, "a", 3},
		{"the clock steps back an hour", -time.Hour, "a", 4},
		{"and goes on", time.Second, "a", 4},
		{"a cause that looks like a path", 0, "../../x", 5},
	}
	for _, s := range steps {
		clock = clock.Add(s.step)
		New(path, filepath.Join(dir, "marks"), "hook", at(&clock)).Warn(s.cause, nil) // a new process each time
		if got := len(lines(t, path)); got != s.want {
			t.Errorf("%s: %d lines, want %d", s.name, got, s.want)
		}
	}
	unlimited := New(path, "", "collector", at(&clock))
	unlimited.Info("a", nil)
	unlimited.Info("a", nil)
	if got := len(lines(t, path)); got != 7 {
		t.Errorf("without marks: %d lines, want 7", got)
	}
}

func TestOnce(t *testing.T) {
	clock := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	l := New("", filepath.Join(t.TempDir(), "marks"), "hook", at(&clock))
	var got []bool
	for _, step := range []time.Duration{0, time.Second, time.Hour - 2*time.Second, time.Second, time.Second} {
		clock = clock.Add(step)
		got = append(got, l.Once("tidy up", time.Hour))
	}
	if d := cmp.Diff([]bool{true, false, false, true, false}, got); d != "" {
		t.Error(d)
	}
	for _, rubbish := range []string{"", "x", "99999999999999999999999"} {
		marks, _ := filepath.Glob(filepath.Join(l.marks, "*[0-9a-f]"))
		if len(marks) != 1 {
			t.Fatalf("marks: %v", marks)
		}
		if err := os.WriteFile(marks[0], []byte(rubbish), 0o600); err != nil {
			t.Fatal(err)
		}
		if !l.Once("tidy up", time.Hour) {
			t.Errorf("a mark of %q silences the cause", rubbish)
		}
	}
}

func TestRotation(t *testing.T) {
	for _, tt := range []struct {
		name        string
		size        int64
		occupied    bool // <name>.1 is a directory that cannot be replaced
		want, want1 bool // the old content is in the log; in <name>.1
	}{
		{"room", MaxSize - 1000, false, true, false},
		{"full", MaxSize, false, false, true},
		{"far too big", 3 * MaxSize, false, false, true},
		{"no way to put it aside", MaxSize, true, true, false},
		{"no way, and far too big", 3 * MaxSize, true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte("{\"old\":1}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, tt.size); err != nil {
				t.Fatal(err)
			}
			if tt.occupied {
				if err := os.MkdirAll(filepath.Join(path+".1", "x"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			l := New(path, "", "hook", nil)
			l.Warn("new", nil)
			head := func(name string) string {
				b, _ := os.ReadFile(name)
				return string(b[:min(10, len(b))])
			}
			if got := head(path) == "{\"old\":1}\n"; got != tt.want {
				t.Errorf("old content in the log: %v", got)
			}
			if got := head(path+".1") == "{\"old\":1}\n"; got != tt.want1 {
				t.Errorf("old content put aside: %v", got)
			}
			if b, _ := os.ReadFile(path); !strings.Contains(string(b), `"cause":"new"`) || l.Dropped() != 0 {
				t.Errorf("the new line is missing; dropped %d", l.Dropped())
			}
		})
	}
}

func TestNothingFailsTheCaller(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(t.TempDir(), "pipe")
	tests := []struct {
		name string
		path string
	}{
		{"no path", ""},
		{"below a file", filepath.Join(file, "log")},
		{"a directory", t.TempDir()},
		{"NUL", "a\x00b"},
	}
	if makePipe(fifo) == nil {
		tests = append(tests, struct{ name, path string }{"a pipe that nobody reads", fifo})
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		tests = append(tests, struct{ name, path string }{"a full device", "/dev/full"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New(tt.path, "", "hook", nil)
			l.Warn("one", errors.New("x"))
			l.Error("two", nil)
			if l.Dropped() != 2 {
				t.Errorf("dropped %d, want 2", l.Dropped())
			}
		})
	}
	var none *Log
	none.Warn("x", nil)
	if none.Dropped() != 0 || none.Once("x", time.Minute) {
		t.Error("a nil log is not silent")
	}
}

// TestWithoutMarks: where processes cannot agree, the age of the log keeps the minute.
func TestWithoutMarks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	clock := time.Now()
	path := filepath.Join(dir, "log")
	for range 3 {
		New(path, filepath.Join(file, "marks"), "hook", at(&clock)).Warn("disk", nil)
	}
	if got := len(lines(t, path)); got != 1 {
		t.Errorf("%d lines, want 1", got)
	}
	clock = clock.Add(2 * time.Minute)
	New(path, filepath.Join(file, "marks"), "hook", at(&clock)).Warn("disk", nil)
	if got := len(lines(t, path)); got != 2 {
		t.Errorf("%d lines after two minutes, want 2", got)
	}
}

func BenchmarkHeldBack(b *testing.B) {
	dir := b.TempDir()
	l := New(filepath.Join(dir, "log"), filepath.Join(dir, "marks"), "hook", nil)
	for b.Loop() {
		l.Warn("same", nil)
	}
}

func BenchmarkLine(b *testing.B) {
	l := New(filepath.Join(b.TempDir(), "log"), "", "hook", nil)
	err := errors.New("no space left on device")
	for b.Loop() {
		l.Warn("same", err, Int("bytes", 5))
	}
}
