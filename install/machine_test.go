package install

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A machine is a home with a Kiro in it, a project and a kiro-learn, in directories of its own.
type machine struct {
	t       *testing.T
	dir     string
	env     Env
	path    []string // PATH
	project string
}

// newMachine makes one whose home has the given base name; cli and ide are versions, "" for none.
func newMachine(t *testing.T, base, cli, ide string) *machine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	m := &machine{t: t, dir: t.TempDir()}
	home := filepath.Join(m.dir, base)
	m.project = filepath.Join(home, "shop")
	bin := filepath.Join(m.dir, "bin")
	m.path = []string{bin}
	m.mkdir(filepath.Join(m.project, ".git"))
	exe := filepath.Join(home, "opt", "kiro-learn")
	m.write(exe, "#!/bin/sh\necho \"$@\" >> \""+filepath.Join(m.dir, "ran")+"\"\n", 0o755)
	if cli != "" {
		m.write(filepath.Join(bin, "kiro-cli"), "#!/bin/sh\n[ \"$1\" = --version ] || exit 9\necho kiro-cli "+cli+"\n", 0o755)
	}
	if ide != "" {
		m.write(filepath.Join(bin, "kiro"), "#!/bin/sh\n[ \"$1\" = --version ] || exit 9\nprintf '"+ide+"\\nabcdef1234.5\\nx64\\n'\n", 0o755)
	}
	m.env = Env{
		Home: home, Project: m.project, StateDir: filepath.Join(m.dir, "state"), Executable: exe, GOOS: "linux",
		Getenv: func(string) string { return "" },
		LookPath: func(name string) (string, error) {
			for _, d := range m.path {
				f := filepath.Join(d, name)
				if info, err := os.Stat(f); err == nil && info.Mode()&0o111 != 0 {
					return f, nil
				}
			}
			return "", exec.ErrNotFound
		},
		Run: func(ctx context.Context, name string, args ...string) (string, error) {
			if !filepath.IsAbs(name) {
				var err error
				if name, err = m.env.LookPath(name); err != nil {
					return "", err
				}
			}
			out, err := exec.CommandContext(ctx, name, args...).Output()
			return string(out), err
		},
	}
	return m
}

func (m *machine) mkdir(dir string) {
	m.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) write(path, text string, mode fs.FileMode) {
	m.t.Helper()
	m.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		m.t.Fatal(err)
	}
}

// kiro writes a file below the user's .kiro and gives its path.
func (m *machine) kiro(rel, text string) string {
	m.t.Helper()
	path := filepath.Join(m.env.Home, ".kiro", filepath.FromSlash(rel))
	m.write(path, text, 0o644)
	return path
}

func (m *machine) read(path string) string {
	m.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

// tree is every file below all .kiro directories of the home, links as "-> target".
func (m *machine) tree() map[string]string {
	m.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(m.env.Home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, "/.kiro") {
			return err
		}
		rel, _ := filepath.Rel(m.env.Home, path)
		if e.Type()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			out[rel+" (link)"] = "-> " + target
		}
		b, err := os.ReadFile(path)
		if err != nil && e.Type()&fs.ModeSymlink != 0 {
			return nil // it leads nowhere
		}
		out[rel] = string(b)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

func (m *machine) planInstall(o Options) *Plan {
	m.t.Helper()
	p, err := PlanInstall(m.env, o)
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

func (m *machine) install(o Options) Result {
	m.t.Helper()
	return m.planInstall(o).Apply(m.env)
}

func (m *machine) uninstall(o Options) Result {
	m.t.Helper()
	p, err := PlanUninstall(m.env, o)
	if err != nil {
		m.t.Fatal(err)
	}
	return p.Apply(m.env)
}

// fewer makes the properties of a test that run programs or sync files be tried n times, unless the command line says.
func fewer(t *testing.T, n string) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if was := f.Value.String(); was == f.DefValue {
		if err := flag.Set("rapid.checks", n); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set("rapid.checks", was) })
	}
}
