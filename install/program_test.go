package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindProgram(t *testing.T) {
	for _, c := range []struct {
		name, exe string
		links     [][2]string // link, target, below the machine's directory
		want      string
		copied    bool
		onPath    bool
		warns     bool
	}{
		{"where it stands", "opt/kiro-learn", nil, "opt/kiro-learn", false, false, false},
		{"on PATH", "bin/kiro-learn", nil, "bin/kiro-learn", false, true, false},
		{"Homebrew's link", "brew/Cellar/kiro-learn/1.2.3/bin/kiro-learn", [][2]string{{"bin/kiro-learn", "brew/Cellar/kiro-learn/1.2.3/bin/kiro-learn"}}, "bin/kiro-learn", false, true, false},
		{"a versioned directory with a link at home", "tools/kiro-learn-v0.4.0/kiro-learn", [][2]string{{"h/.local/bin/kiro-learn", "tools/kiro-learn-v0.4.0/kiro-learn"}}, "h/.local/bin/kiro-learn", false, false, false},
		{"mise's latest", "mise/installs/kiro-learn/0.4.0/bin/kiro-learn", [][2]string{{"mise/installs/kiro-learn/latest", "mise/installs/kiro-learn/0.4.0"}, {"mise/installs/kiro-learn/0.4", "mise/installs/kiro-learn/0.4.0"}}, "mise/installs/kiro-learn/latest/bin/kiro-learn", false, false, false},
		{"a versioned directory alone", "tools/0.4.0/kiro-learn", nil, "tools/0.4.0/kiro-learn", false, false, true},
		{"PATH has another one", "opt/kiro-learn", [][2]string{{"bin/kiro-learn", "other/kiro-learn"}}, "opt/kiro-learn", false, false, false},
		{"go run", "tmp/go-build123/b001/exe/kiro-learn", nil, "h/.local/bin/kiro-learn", true, false, false},
		{"another name", "dl/kiro-learn_linux_amd64", nil, "h/.local/bin/kiro-learn", true, false, false},
		{"a download", "h/Downloads/kiro-learn", nil, "h/.local/bin/kiro-learn", true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", "", "")
			m.env.Executable = filepath.Join(m.dir, c.exe)
			m.write(m.env.Executable, "the program", 0o755)
			for _, l := range c.links {
				target, link := filepath.Join(m.dir, l[1]), filepath.Join(m.dir, l[0])
				if _, err := os.Stat(target); err != nil {
					m.write(target, "another", 0o755)
				}
				m.mkdir(filepath.Dir(link))
				if err := os.Symlink(target, link); err != nil {
					t.Fatal(err)
				}
			}
			p := findProgram(m.env)
			if p.Path != filepath.Join(m.dir, c.want) || (p.CopyTo != "") != c.copied || p.OnPath != c.onPath || (p.Warning != "") != c.warns {
				t.Errorf("got %+v", p)
			}
			if !c.copied {
				return
			}
			m.install(Options{})
			if got := m.read(p.Path); got != "the program" {
				t.Errorf("copied %q", got)
			}
			if info, _ := os.Stat(p.Path); info.Mode().Perm() != 0o755 {
				t.Errorf("mode %v", info.Mode())
			}
			if again := m.planInstall(Options{}); !again.Empty() {
				t.Errorf("the second install: %q", again.Lines())
			}
			m.uninstall(Options{})
			if _, err := os.Stat(p.Path); err == nil {
				t.Error("the copy stays")
			}
		})
	}
}

func TestAProgramThatWasThereFirstStays(t *testing.T) {
	m := newMachine(t, "h", "", "")
	mine := filepath.Join(m.env.Home, ".local/bin/kiro-learn")
	m.write(mine, "older", 0o755)
	m.env.Executable = filepath.Join(m.dir, "go-build1", "kiro-learn")
	m.write(m.env.Executable, "newer", 0o755)
	m.install(Options{})
	if got := m.read(mine); got != "newer" {
		t.Errorf("holds %q", got)
	}
	m.uninstall(Options{})
	if _, err := os.Stat(mine); err != nil {
		t.Error("uninstall removed a program that the user had put there")
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name, cli, script string
		version           string
		engines           []string
	}{
		{"2.x", "2.21.3", "", "2.21.3", []string{"v1", "v2", "v3"}},
		{"early 2.x", "2.3.0", "", "2.3.0", []string{"v1", "v2"}},
		{"1.x", "1.24.0", "", "1.24.0", []string{"v1"}},
		{"3.x", "3.2.0", "", "3.2.0", []string{"v2", "v3"}},
		{"none", "", "", "", nil},
		{"fails", "", "#!/bin/sh\nexit 1\n", "", nil},
		{"says nothing", "", "#!/bin/sh\n", "", nil},
		{"chatters first", "", "#!/bin/sh\necho 'A new version is available'\necho 'kiro-cli v2.28.0 (abc1234)'\n", "2.28.0", []string{"v1", "v2", "v3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", c.cli, "")
			if c.script != "" {
				m.write(filepath.Join(m.dir, "bin", "kiro-cli"), c.script, 0o755)
			}
			f := Detect(m.env)
			if f.CLI != c.version || !slices.Equal(f.Engines, c.engines) {
				t.Errorf("got %q %v", f.CLI, f.Engines)
			}
		})
	}
}

// A kiro-cli that hangs is given a deadline, and install goes on without its version.
func TestVersionHasADeadline(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	m.env.Run = func(ctx context.Context, _ string, _ ...string) (string, error) {
		if _, ok := ctx.Deadline(); !ok {
			return "", errors.New("no deadline")
		}
		return "kiro-cli 2.0.1", nil
	}
	if got := Detect(m.env).CLI; got != "2.0.1" {
		t.Errorf("got %q", got)
	}
}

func TestWindowsPlaces(t *testing.T) {
	env := Env{GOOS: "windows", Home: `C:\Users\dev`, Getenv: func(k string) string {
		return map[string]string{"LOCALAPPDATA": `C:\Users\dev\AppData\Local`}[k]
	}}
	env.Executable = `D:\my tools\kiro-learn.exe`
	env.LookPath = func(string) (string, error) { return "", os.ErrNotExist }
	if p := findProgram(env); p.CopyTo != env.binFile() {
		t.Errorf("a path that no two shells quote alike is named as it is: %+v", p)
	}
	if got := env.shellPath(Program{Path: `C:\Users\dev\AppData\Local\Programs\kiro-learn\kiro-learn.exe`}); got != "C:/Users/dev/AppData/Local/Programs/kiro-learn/kiro-learn.exe" {
		t.Errorf("got %s", got)
	}
	env.Home, env.Getenv = `C:\Users\R&D`, func(string) string { return "" }
	if p := findProgram(env); !strings.Contains(p.Warning, "without blanks") {
		t.Errorf("no word on a path that no two shells quote alike: %+v", p)
	}
}
