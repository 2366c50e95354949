package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffReads(t *testing.T) {
	c := Change{Path: "/h/a.json", Action: Edit, Before: []byte("1\n2\n3\n4\n5\n6\n7\n8\n9"), After: []byte("1\n2\n3\n4\nnew\n5\n6\n7\n8\n9\n")}
	want := "--- /h/a.json\n+++ /h/a.json\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n+new\n 5\n 6\n 7\n 8\n-9\n\\ No newline at end of file\n+9\n"
	if got := unified(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p := Plan{Changes: []Change{{Path: "/h/bin/kiro-learn", Action: Copy, source: "/tmp/go-build1/kiro-learn"}, {Path: "/h/x", Action: Create, After: []byte("a\n"), redo: cleanMCP}}}
	if got, want := p.Diff(), "copy /tmp/go-build1/kiro-learn to /h/bin/kiro-learn\n--- /dev/null\n+++ /h/x\n@@ -0,0 +1,1 @@\n+a\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A diff that patch does not turn the one file into the other with is a picture of a diff.
func TestDiffIsARealOne(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch program here")
	}
	fewer(t, "40")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "{", "}", "", "long line\r"}), 1, 30).Draw(t, "lines")
			return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		})
		before, after := text.Draw(rt, "before"), text.Draw(rt, "after")
		if before == after || before == "" || after == "" {
			return
		}
		f := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(f, []byte(before), 0o600); err != nil {
			rt.Fatal(err)
		}
		cmd := exec.Command(patch, "--binary", "-s", f)
		cmd.Stdin = strings.NewReader(unified(Change{Path: f, Action: Edit, Before: []byte(before), After: []byte(after)}))
		if out, err := cmd.CombinedOutput(); err != nil {
			rt.Fatalf("%v %s", err, out)
		}
		if got, _ := os.ReadFile(f); string(got) != after {
			rt.Fatalf("patch made %q of %q, want %q", got, before, after)
		}
	})
}
