package collector

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

func TestStaleIn(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "shop")
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, at := range map[string]time.Time{"old.go": made.Add(-time.Hour), "at_once.go": made.Add(time.Second), "new.go": made.Add(time.Hour), "../outside.go": made.Add(time.Hour)} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Join(root, "dir"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		files []string
		want  bool
	}{
		{"no files", nil, false},
		{"as it was", []string{"old.go"}, false},
		{"changed by the turn itself", []string{"at_once.go"}, false},
		{"changed since", []string{"new.go"}, true},
		{"gone", []string{"dir/gone.go"}, true},
		{"one of two as it was", []string{"new.go", "old.go"}, false},
		{"one gone, one changed", []string{"gone.go", "new.go"}, true},
		{"an absolute path", []string{filepath.Join(root, "new.go")}, true},
		{"of a directory that is not there", []string{"other/machine.go"}, false},
		{"a directory", []string{"dir"}, false},
		{"outside the project", []string{"../outside.go", filepath.Join(base, "outside.go"), "../../etc/passwd"}, false},
		{"no name at all", []string{"", "\x00", "."}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := store.Stored{Record: event.Record{FilesTouched: c.files}, Created: made}
			if got := staleIn(root, []store.Stored{r, r}); len(got) != 2 || got[0] != c.want || got[1] != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if got := staleIn("", []store.Stored{{}}); got != nil {
		t.Error("a project without a place")
	}
}
