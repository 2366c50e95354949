package session

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

const updatesEach = 25

// playUpdates counts up SpawnSeen in the store that the environment names.
func playUpdates() {
	s := Store{Dir: os.Getenv("KIRO_LEARN_TEST_DIR")}
	for range updatesEach {
		s.Update("/n/", "s", time.Minute, func(st *State) bool { st.SpawnSeen++; return true })
	}
}

func TestSamePrompt(t *testing.T) {
	const now = 1_800_000_000_000
	st := State{PromptID: "01J", PromptHash: "h", PromptTime: now}
	tests := []struct {
		name string
		st   State
		hash string
		at   int64
		want bool
	}{
		{"at once", st, "h", now, true},
		{"1500 ms later", st, "h", now + 1500, true},
		{"1501 ms later", st, "h", now + 1501, false},
		{"two seconds later", st, "h", now + 2000, false},
		{"another prompt", st, "g", now, false},
		{"the clock stepped back a little", st, "h", now - 1500, true},
		{"the clock stepped back an hour", st, "h", now - 3_600_000, false},
		{"nothing recorded", State{}, "h", 0, false},
		{"no hash", State{PromptID: "01J", PromptTime: now}, "", now, false},
		{"no id to use again", State{PromptHash: "h", PromptTime: now}, "h", now, false},
		{"a time of long ago", State{PromptID: "01J", PromptHash: "h", PromptTime: math.MinInt64}, "h", now, false},
		{"a time far ahead", State{PromptID: "01J", PromptHash: "h", PromptTime: math.MaxInt64}, "h", now, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.st.SamePrompt(tt.hash, tt.at); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestUpdateAndLoad(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "state", "sessions")}
	if got := s.Load("/n/", "s"); got != (State{}) {
		t.Errorf("a new session has %+v", got)
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("loading made the directory")
	}
	want := State{PromptID: "01J", PromptHash: "h", PromptTime: 5, PromptMark: "m", SpawnSeen: 7}
	if got := s.Update("/n/", "s", time.Second, func(st *State) bool { *st = want; return true }); got != want {
		t.Errorf("updated to %+v", got)
	}
	s.Update("/n/", "s", time.Second, func(st *State) bool { st.PromptID = "unsaid"; return false })
	for _, tt := range []struct {
		name, namespace, id string
		want                State
	}{
		{"the session", "/n/", "s", want},
		{"the same id in another project", "/m/", "s", State{}},
		{"another session", "/n/", "S", State{}},
		{"a border that moved", "/n/s", "", State{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, s.Load(tt.namespace, tt.id)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFieldsCanBeClearedAndForeignOnesStay(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	file := s.file("/n/", "s")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"prompt_id":"01J","prompt_mark":"m","later":{"a":[1]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Update("/n/", "s", time.Second, func(st *State) bool { st.PromptMark, st.SpawnSeen = "", 3; return true })
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(`{"prompt_id":"01J","spawn_seen":3,"later":{"a":[1]}}`), &want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNamesAndModes(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "sessions")}
	for _, id := range []string{"../../../etc/passwd", "CON", "a:b", strings.Repeat("x", 1<<16), "\x00", ""} {
		s.Update("/actor/a/project/p/", id, time.Second, func(st *State) bool { st.PromptHash = digest(id); return true })
		if got := s.Load("/actor/a/project/p/", id); got.PromptHash != digest(id) {
			t.Errorf("id of %d bytes: not found again", len(id))
		}
	}
	err := filepath.WalkDir(s.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if path != s.Dir && name != lockName && strings.Trim(name, "0123456789abcdef") != "" && strings.Trim(strings.TrimSuffix(name, ".json"), "0123456789abcdef") != "" {
			t.Errorf("odd name %s", path)
		}
		info, err := d.Info()
		if want := map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNothingBreaksAHook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	set := func(st *State) bool { st.PromptID = "new"; return true }
	t.Run("no directory", func(t *testing.T) {
		if got := (Store{Dir: file}).Update("/n/", "s", time.Second, set); got.PromptID != "new" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("no place at all", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if got := (Store{}).Update("/n/", "s", time.Second, set); got.PromptID != "new" {
			t.Errorf("got %+v", got)
		}
		if left, _ := os.ReadDir("."); len(left) != 0 || (Store{}).Load("/n/", "s") != (State{}) {
			t.Errorf("the process's own directory was used: %v", left)
		}
	})
	s := Store{Dir: t.TempDir()}
	for _, rubbish := range []string{"", "null", "[1]", "{", `{"prompt_id":5}`, strings.Repeat("[", 100_000), "\xff"} {
		t.Run(fmt.Sprintf("rubbish %.10q", rubbish), func(t *testing.T) {
			s.Update("/n/", "s", time.Second, func(*State) bool { return true })
			if err := os.WriteFile(s.file("/n/", "s"), []byte(rubbish), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := s.Load("/n/", "s"); got != (State{}) {
				t.Errorf("loaded %+v", got)
			}
			s.Update("/n/", "s", time.Second, set)
			if got := s.Load("/n/", "s"); got.PromptID != "new" {
				t.Errorf("after an update: %+v", got)
			}
		})
	}
	t.Run("locked elsewhere", func(t *testing.T) {
		l := flock.New(filepath.Join(filepath.Dir(s.file("/n/", "s")), lockName))
		if err := l.Lock(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Unlock() }()
		s.Update("/n/", "s", 5*time.Millisecond, func(st *State) bool { st.PromptID = "without"; return true })
		if got := s.Load("/n/", "s"); got.PromptID != "without" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestProcessesUpdateOneAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	const processes = 4
	var running []*exec.Cmd
	for range processes {
		cmd := exec.Command(executable(t))
		cmd.Env = append(os.Environ(), roleEnv+"=update", "KIRO_LEARN_TEST_DIR="+dir)
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
	if got := (Store{Dir: dir}).Load("/n/", "s").SpawnSeen; got != processes*updatesEach {
		t.Errorf("%d updates survived, want %d", got, processes*updatesEach)
	}
}

func TestOneOfTwoFiringsGivesTheID(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	fire := func(id, hash string, at int64) string {
		return s.Update("/n/", "s", time.Second, func(st *State) bool {
			if st.SamePrompt(hash, at) {
				return false
			}
			st.PromptID, st.PromptHash, st.PromptTime = id, hash, at
			return true
		}).PromptID
	}
	for _, tt := range []struct {
		name, id, hash string
		at             int64
		want           string
	}{
		{"first", "A", "continue", 10_000, "A"},
		{"its double", "B", "continue", 10_040, "A"},
		{"again two seconds later", "C", "continue", 12_000, "C"},
		{"its double, by an earlier clock", "D", "continue", 11_990, "C"},
		{"other words at once", "E", "stop", 12_010, "E"},
	} {
		if got := fire(tt.id, tt.hash, tt.at); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestPrune(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	limit := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i, age := range []time.Duration{-time.Hour, -time.Second, time.Second, time.Hour} {
		id := fmt.Sprint("s", i)
		s.Update("/n/", id, time.Second, func(st *State) bool { st.PromptID = id; return true })
		if err := os.Chtimes(s.file("/n/", id), limit, limit.Add(age)); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(filepath.Dir(s.file("/n/", "s0")), ".x.json.tmp1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, limit, limit.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := s.Prune(limit); n != 2 {
		t.Errorf("removed %d, want 2", n)
	}
	for i := range 4 {
		id := fmt.Sprint("s", i)
		if got, want := s.Load("/n/", id).PromptID == id, i >= 2; got != want {
			t.Errorf("%s there: %v, want %v", id, got, want)
		}
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("an unfinished write stayed")
	}
	if n := (Store{Dir: filepath.Join(s.Dir, "none")}).Prune(limit); n != 0 {
		t.Errorf("removed %d of nothing", n)
	}
}

func BenchmarkLoad(b *testing.B) {
	s := Store{Dir: b.TempDir()}
	s.Update("/n/", "s", time.Second, func(st *State) bool { st.PromptID = "01J"; return true })
	for b.Loop() {
		if s.Load("/n/", "s").PromptID != "01J" {
			b.Fatal("not found")
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	s := Store{Dir: b.TempDir()}
	for b.Loop() {
		s.Update("/n/", "s", time.Second, func(st *State) bool { st.SpawnSeen++; return true })
	}
}

func TestRemove(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for _, id := range []string{"a", "b"} {
		s.Update("/n/", id, time.Second, func(st *State) bool { st.PromptID = id; return true })
	}
	for range 2 { // one that is gone is no error
		if err := s.Remove("/n/", "a"); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := s.Load("/n/", "a"), s.Load("/n/", "b"); a.PromptID != "" || b.PromptID != "b" {
		t.Errorf("a %+v, b %+v", a, b)
	}
	if err := (Store{}).Remove("/n/", "a"); err != nil {
		t.Error(err)
	}
}
