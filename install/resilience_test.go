package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditOfAnotherProgramMeanwhileIsKept(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	agent := m.kiro("agents/a.json", agentPlain)
	mcp := m.kiro("settings/mcp.json", `{"mcpServers": {}}`)
	plan := m.planInstall(Options{})
	m.write(agent, strings.Replace(agentPlain, "no hooks yet", "changed meanwhile", 1), 0o644)
	m.write(mcp, "torn {", 0o644)
	hooks := m.kiro("hooks/kiro-learn.json", `{"version":"v1","hooks":[]}`) // appears meanwhile
	res := plan.Apply(m.env)
	if got := m.read(agent); !strings.Contains(got, "changed meanwhile") || !strings.Contains(got, "kiro-learn stop") {
		t.Errorf("agent %s", got)
	}
	if got := m.read(mcp); got != "torn {" || len(res.Failed) != 1 || res.Failed[0].Path != mcp {
		t.Errorf("mcp.json %q, failed %v", got, res.Failed)
	}
	if got := m.read(hooks); strings.Count(got, "kiro-learn stop") != 1 {
		t.Errorf("hook file %s", got)
	}
	m.write(mcp, `{}`, 0o644)
	m.uninstall(Options{})
	if got := m.read(hooks); got != `{"version":"v1","hooks":[]}` {
		t.Errorf("the hook file that was there first: %s", got)
	}
}

func TestFilesThatMayNotBeWritten(t *testing.T) {
	for _, c := range []struct {
		name   string
		plant  func(m *machine) string // gives the path of the file
		reason string
	}{
		{"read-only", func(m *machine) string {
			p := m.kiro("agents/x.json", agentPlain)
			_ = os.Chmod(p, 0o444)
			return p
		}, "is read-only"},
		{"a link into a read-only store", func(m *machine) string {
			m.write(filepath.Join(m.dir, "store", "x.json"), agentPlain, 0o444)
			return m.link("agents/x.json", filepath.Join(m.dir, "store", "x.json"))
		}, "is read-only"},
		{"a dangling link", func(m *machine) string { return m.link("settings/mcp.json", filepath.Join(m.dir, "nowhere")) }, "does not exist"},
		{"a link in a circle", func(m *machine) string {
			return m.link("settings/mcp.json", filepath.Join(m.env.Home, ".kiro/settings/mcp.json"))
		}, "too many"},
		{"a hook file that is a link", func(m *machine) string {
			m.write(filepath.Join(m.dir, "dot", "k.json"), `{"version":"v1","hooks":[]}`, 0o644)
			return m.link("hooks/kiro-learn.json", filepath.Join(m.dir, "dot", "k.json"))
		}, "Kiro skips hook files that are links"},
		{"a directory", func(m *machine) string {
			p := filepath.Join(m.env.Home, ".kiro/settings/mcp.json")
			m.mkdir(p)
			return p
		}, "not a regular file"},
		{"another server of our name", func(m *machine) string {
			return m.kiro("settings/mcp.json", "{\"mcpServers\": {\n\"kiro-learn\": {\"command\": \"npx\", \"args\": [\"x\"]}}}")
		}, "not ours"},
		{"another version of hook file", func(m *machine) string { return m.kiro("hooks/kiro-learn.json", `{"version":"v2","hooks":[]}`) }, "another version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", "2.21.3", "")
			path := c.plant(m)
			other := m.kiro("agents/other.json", agentPlain)
			original := m.tree()
			res := m.install(Options{AllAgents: true})
			if len(res.Failed) != 1 || res.Failed[0].Path != path || !strings.Contains(res.Failed[0].Reason, c.reason) {
				t.Errorf("failed %+v", res.Failed)
			}
			if len(res.Failed) == 1 && !strings.Contains(res.Failed[0].Hint, "type: kiro-learn install") {
				t.Errorf("no hint: %v", res.Failed[0])
			}
			rel, _ := filepath.Rel(m.env.Home, path)
			if m.tree()[rel] != original[rel] {
				t.Errorf("touched: %s", m.tree()[rel])
			}
			if !strings.Contains(m.read(other), "kiro-learn stop") {
				t.Error("the other files were not done")
			}
			m.uninstall(Options{})
			if d := cmp.Diff(original, m.tree()); d != "" {
				t.Errorf("after uninstall: %s", d)
			}
		})
	}
}

func (m *machine) link(rel, target string) string {
	m.t.Helper()
	p := filepath.Join(m.env.Home, ".kiro", filepath.FromSlash(rel))
	m.mkdir(filepath.Dir(p))
	if err := os.Symlink(target, p); err != nil {
		m.t.Fatal(err)
	}
	return p
}

func TestUninstall(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(m *machine) // between install and uninstall
		want func(original map[string]string) map[string]string
	}{
		{"the program is gone", func(m *machine) { _ = os.Remove(m.env.Executable) }, nil},
		{"another program stands elsewhere", func(m *machine) { m.env.Executable = "/elsewhere/kiro-learn" }, nil},
		{"twice installed through other paths", func(m *machine) {
			for _, p := range []string{"a", "b"} {
				m.env.Executable = filepath.Join(m.dir, p, "kiro-learn")
				m.write(m.env.Executable, "", 0o755)
				m.install(Options{AllAgents: true})
			}
		}, nil},
		{"memory lost", func(m *machine) { _ = os.RemoveAll(m.env.StateDir) }, func(o map[string]string) map[string]string {
			// without memory an empty "hooks" cannot be told from one of ours
			o[".kiro/agents/tabs.json"] = "{\n\t\"name\": \"tabs\",\n\t\"tools\": [\"*\"]\n}\n"
			return o
		}},
		{"memory torn", func(m *machine) { m.write(memoryFile(m.env), `{"files": {"x": null`, 0o600) }, func(o map[string]string) map[string]string {
			o[".kiro/agents/tabs.json"] = "{\n\t\"name\": \"tabs\",\n\t\"tools\": [\"*\"]\n}\n"
			return o
		}},
		{"the user has added a key and a hook", func(m *machine) {
			p := filepath.Join(m.env.Home, ".kiro/agents/dev.json")
			s := strings.Replace(m.read(p), `"zeta":1`, `"zeta":2,"model":"m"`, 1)
			m.write(p, strings.Replace(s, `"agentSpawn":[`, `"agentSpawn":[{"command":"mine"},`, 1), 0o644)
		}, func(o map[string]string) map[string]string {
			o[".kiro/agents/dev.json"] = strings.NewReplacer(`"zeta":1`, `"zeta":2,"model":"m"`, `# <x>"}]}`, `# <x>"}],"agentSpawn":[{"command":"mine"}]}`).Replace(o[".kiro/agents/dev.json"])
			return o
		}},
		{"the user has taken our hooks out, and left the lists", func(m *machine) {
			p := filepath.Join(m.env.Home, ".kiro/agents/tabs.json")
			m.write(p, strings.Replace(agentTabs, "{}", `{"stop": [], "agentSpawn": []}`, 1), 0o640)
		}, nil},
		{"the user has added a hook to our file", func(m *machine) {
			p := filepath.Join(m.env.Home, ".kiro/hooks/kiro-learn.json")
			m.write(p, strings.Replace(m.read(p), "\"hooks\": [", "\"hooks\": [\n    {\"name\":\"x\",\"trigger\":\"Stop\",\"action\":{\"type\":\"command\",\"command\":\"x\"}},", 1), 0o600)
		}, func(o map[string]string) map[string]string {
			o[".kiro/hooks/kiro-learn.json"] = "{\n  \"version\": \"v1\",\n  \"hooks\": [\n    {\"name\":\"x\",\"trigger\":\"Stop\",\"action\":{\"type\":\"command\",\"command\":\"x\"}}\n  ]\n}\n"
			return o
		}},
		{"Kiro has copied our hooks to another file", func(m *machine) {
			m.kiro("hooks/dev.json", m.read(filepath.Join(m.env.Home, ".kiro/hooks/kiro-learn.json")))
		}, func(o map[string]string) map[string]string {
			o[".kiro/hooks/dev.json"] = "{\n  \"version\": \"v1\"\n}\n"
			return o
		}},
		{"a file is gone", func(m *machine) { _ = os.Remove(filepath.Join(m.env.Home, ".kiro/agents/dev.json")) }, func(o map[string]string) map[string]string {
			delete(o, ".kiro/agents/dev.json")
			return o
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", "2.21.3", "")
			furnish(m)
			want := m.tree()
			if err := m.install(Options{AllAgents: true}).Err(); err != nil {
				t.Fatal(err)
			}
			c.do(m)
			if c.want != nil {
				want = c.want(want)
			}
			for range 2 { // the second time there is nothing to do
				if err := m.uninstall(Options{}).Err(); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, m.tree()); d != "" {
					t.Errorf("after uninstall: %s", d)
				}
			}
			entries, _ := os.ReadDir(m.env.StateDir)
			entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == filepath.Base(lockFile(m.env)) })
			if c.name == "memory torn" { // backups that nothing refers to are for a person to judge
				entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == "backups" })
			}
			if len(entries) > 0 {
				t.Errorf("left in the state directory: %v", entries)
			}
		})
	}
}

func TestUninstallOfNothing(t *testing.T) {
	m := newMachine(t, "h", "", "")
	m.kiro("agents/a.json", `{"hooks": {"stop": []}, "x": null}`)
	m.kiro("agents/torn.json", `{"hooks": `)
	m.kiro("hooks/x.json", `{"version":"v1","hooks":[]}`)
	m.kiro("settings/cli.json", `{}`)
	original := m.tree()
	p, err := PlanUninstall(m.env, Options{})
	if err != nil || !p.Empty() || len(p.Refusals) > 0 {
		t.Errorf("%v, plan %q", err, p.Lines())
	}
	if err := p.Apply(m.env).Err(); err != nil || cmp.Diff(original, m.tree()) != "" {
		t.Errorf("%v", err)
	}
	m.env.Home = filepath.Join(m.dir, "not there")
	if err := m.uninstall(Options{}).Err(); err != nil {
		t.Error(err)
	}
}

// A file that cannot be cleaned is named, the others are done, and nothing of it is forgotten.
func TestUninstallNamesWhatItLeaves(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	agent := m.kiro("agents/a.json", `{"hooks": null}`)
	m.install(Options{})
	installed := m.read(agent)
	m.write(agent, installed[:len(installed)-1], 0o644)
	res := m.uninstall(Options{})
	if len(res.Failed) != 1 || res.Failed[0].Path != agent || res.Failed[0].Line != 1 || len(res.Leftover) != 1 {
		t.Errorf("result %+v", res)
	}
	m.write(agent, installed, 0o644)
	if err := m.uninstall(Options{}).Err(); err != nil || m.read(agent) != `{"hooks": null}` {
		t.Errorf("%v, %s", err, m.read(agent))
	}
}

func TestWhatCannotBeRememberedIsNotWritten(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	furnish(m)
	original := m.tree()
	m.env.StateDir = filepath.Join(m.write1("a file"), "state")
	if res := m.install(Options{AllAgents: true}); res.Err() == nil {
		t.Error("no error")
	}
	if d := cmp.Diff(original, m.tree()); d != "" {
		t.Errorf("written without a way back: %s", d)
	}
}

func (m *machine) write1(name string) string {
	p := filepath.Join(m.dir, name)
	m.write(p, "", 0o600)
	return p
}

func TestTwoLinksToOneFile(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	target := filepath.Join(m.dir, "dot", "a.json")
	m.write(target, agentTabs, 0o644)
	m.link("agents/a.json", target)
	m.link("agents/b.json", target)
	if plan := m.planInstall(Options{AllAgents: true}); strings.Count(strings.Join(plan.Lines(), "\n"), "agents/") != 1 {
		t.Errorf("plan %q", plan.Lines())
	}
	m.install(Options{AllAgents: true})
	if got := m.read(target); strings.Count(got, "kiro-learn stop") != 1 {
		t.Errorf("installed %s", got)
	}
	m.uninstall(Options{})
	if got := m.read(target); got != agentTabs {
		t.Errorf("uninstalled %q", got)
	}
}

func TestForeignFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such owner there")
	}
	info, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		user int
		want bool
	}{{"one's own", os.Getuid(), false}, {"another's", os.Getuid() + 1000, true}, {"root may", 0, false}} {
		if got := foreign(info, c.user); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestModes(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	m.kiro("settings/mcp.json", `{}`)
	m.install(Options{})
	for _, dir := range []string{m.env.StateDir, filepath.Join(m.env.Home, ".kiro", "hooks"), filepath.Join(m.env.Home, ".kiro", "agents")} {
		err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()]; err == nil && info.Mode().Perm() != want {
				t.Errorf("%s has mode %v", p, info.Mode().Perm())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if b, _ := filepath.Glob(filepath.Join(m.env.StateDir, "backups", "*-mcp.json")); len(b) != 1 || m.read(b[0]) != `{}` {
		t.Errorf("backups %v", b)
	}
}

func TestEveryDirectoryThatWeMadeGoes(t *testing.T) {
	m := newMachine(t, "h", "3.2.0", "")
	m.install(Options{})
	m.uninstall(Options{})
	if _, err := os.Stat(filepath.Join(m.env.Home, ".kiro")); err == nil {
		t.Error(".kiro stays")
	}
	m.install(Options{})
	m.kiro("hooks/mine.json", `{"version":"v1","hooks":[]}`)
	m.uninstall(Options{})
	if entries, _ := os.ReadDir(filepath.Join(m.env.Home, ".kiro")); len(entries) != 1 {
		t.Errorf(".kiro holds %v", entries)
	}
}
