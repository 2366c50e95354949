package install

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func update() bool { f := flag.Lookup("update"); return f != nil && f.Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	_ = os.Setenv("KIRO_LEARN_DISABLE", "1") // a real kiro-learn that a test should ever run keeps nothing
	os.Exit(m.Run())
}

// Each archive of testdata/golden holds a file "before" and the same file "after" an install of /opt/kiro-learn. The
// archive's name begins with the kind of file. When the comment says "escaped", "\r" and "\ufeff" in both are written so.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(archives) < 30 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar := readArchive(t, name)
			kind, _, _ := strings.Cut(filepath.Base(name), "-")
			edit, clean := editors(t, kind)
			escaped := strings.Contains(ar.comment, "escaped")
			raw, shown := strings.NewReplacer(`\r`, "\r", `\ufeff`, "\ufeff"), strings.NewReplacer("\r", `\r`, "\ufeff", `\ufeff`)
			old := ar.before
			if escaped {
				old = raw.Replace(old)
			}
			after, mem, err := edit([]byte(old), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := string(after)
			if escaped {
				got = shown.Replace(got)
			}
			if update() {
				text := ar.comment + "-- before --\n" + ar.before + "-- after --\n" + got
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(ar.after, got); d != "" {
				t.Errorf("after: %s", d)
			}
			if again, _, err := edit(after, mem); err != nil || string(again) != string(after) {
				t.Errorf("a second install (%v): %s", err, cmp.Diff(string(after), string(again)))
			}
			if strings.Contains(ar.comment, "had ours") {
				return
			}
			if undone, err := clean(after, mem); err != nil || string(undone) != old {
				t.Errorf("uninstall (%v): %s", err, cmp.Diff(old, string(undone)))
			}
		})
	}
}

// editors puts our entries into a kind of file, and takes them out again.
func editors(t *testing.T, kind string) (edit func([]byte, before) ([]byte, before, error), clean func([]byte, before) ([]byte, error)) {
	t.Helper()
	switch s, ok := kinds()[kind]; {
	case ok:
		return s.edit, func(b []byte, mem before) ([]byte, error) { out, _, err := s.clean(b, mem); return out, err }
	case kind == "settings":
		return editDefault, cleanDefault
	case kind == "ide0": // such a file is ours alone, so uninstall removes it
		return func(b []byte, _ before) ([]byte, before, error) {
				after, err := ide0Edit(b, "promptSubmit", "/opt/kiro-learn")
				return after, nil, err
			}, func(b []byte, _ before) ([]byte, error) {
				out, err := cleanIDE0(b, true, fileMemory{})
				if !out.gone {
					t.Error("uninstall leaves the file")
				}
				return out.after, err
			}
	}
	t.Fatalf("no kind %q", kind)
	return nil, nil
}

// An archive is one golden file, in the txtar format.
type archive struct{ comment, before, after string }

func readArchive(t *testing.T, name string) archive {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	comment, rest, ok := strings.Cut(string(b), "-- before --\n")
	if !ok {
		t.Fatalf("%s has no file before", name)
	}
	before, after, _ := strings.Cut(rest, "-- after --\n")
	return archive{comment, before, after}
}
