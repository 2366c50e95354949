package install

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// On Windows, too: what is installed in a home with a blank runs in cmd, twice is once, and uninstall gives every byte back.
func TestRoundTripOnWindows(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "Ana Lee é")
	kiro := func(rel, text string) string {
		path := filepath.Join(home, ".kiro", filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kiro("agents/dev.json", "{\r\n\t\"name\": \"dev\",\r\n\t\"tools\": [\"*\"]\r\n}")
	kiro("settings/mcp.json", "\ufeff"+mcpComments)
	program, ran := filepath.Join(home, "kiro-learn.cmd"), filepath.Join(dir, "ran")
	if err := os.WriteFile(program, []byte("@echo %*>> \""+ran+"\"\r\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := Env{
		Home: home, StateDir: filepath.Join(dir, "state"), Executable: program, GOOS: "windows",
		Getenv:   func(string) string { return "" },
		LookPath: func(string) (string, error) { return "", exec.ErrNotFound },
	}
	original := treeOf(t, home)
	install := func(o Options) {
		t.Helper()
		p, err := PlanInstall(env, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(env).Err(); err != nil {
			t.Fatal(err)
		}
	}
	install(Options{AllAgents: true, SetDefault: true})
	once := treeOf(t, home)
	install(Options{AllAgents: true, SetDefault: true})
	if d := cmp.Diff(once, treeOf(t, home)); d != "" {
		t.Errorf("the second install: %s", d)
	}
	wired := Wired(env)
	if len(wired) != 8 {
		t.Errorf("wired %v", wired)
	}
	for _, w := range wired {
		if strings.Contains(w.Line, `"`) {
			continue // this volume keeps no short names
		}
		if out, err := exec.Command("cmd", "/C", w.Line).CombinedOutput(); err != nil {
			t.Errorf("cmd /C %s: %v %s", w.Line, err, out)
		}
		if b, err := os.ReadFile(ran); err != nil || !strings.HasPrefix(string(b), w.Hook+" ") {
			t.Errorf("%s ran with %q, %v", w.Line, b, err)
		}
		_ = os.Remove(ran)
	}
	p, err := PlanUninstall(env, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(env).Err(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(original, treeOf(t, home)); d != "" {
		t.Errorf("after uninstall: %s", d)
	}
}

// treeOf is every file of a home, and its directories.
func treeOf(t *testing.T, home string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := ""
		if !e.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		}
		out = append(out, path+": "+text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}
