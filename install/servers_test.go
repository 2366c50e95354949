package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An agent gets our MCP server where its model would not see it otherwise, and only when this install is about that.
func TestServersOfAgents(t *testing.T) {
	const open = "{\n  \"name\": \"a\",\n  \"tools\": [\"*\"]\n}\n"
	for _, c := range []struct {
		name, agent   string
		o             Options
		hooks, server bool
		note          string
	}{
		{"sees nothing of mcp.json", open, Options{}, true, true, ""},
		{"takes mcp.json", strings.Replace(open, `"tools"`, `"includeMcpJson": true, "tools"`, 1), Options{}, true, false, ""},
		{"has a list of tools without it", strings.Replace(open, `"*"`, `"read"`, 1), Options{}, true, false, `cannot search it: a. To let them, add "@kiro-learn" to their tools.`},
		{"has no tools", `{"name": "a"}`, Options{}, true, false, "cannot search it: a."},
		{"only agents", open, Options{Surface: "agents"}, true, true, ""},
		{"only MCP", open, Options{Surface: "mcp"}, false, true, ""},
		{"only the IDE", open, Options{Surface: "kiro-ide"}, false, false, ""},
		{"only hook files", open, Options{Surface: "hooks"}, false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", "2.21.3", "")
			path := m.kiro("agents/a.json", c.agent)
			original := m.tree()
			plan := m.planInstall(c.o)
			if err := plan.Apply(m.env).Err(); err != nil {
				t.Fatal(err)
			}
			d, err := readDocument(path)
			if err != nil {
				t.Fatal(err)
			}
			if hooks, server := len(agentEntries(d)) == 4, len(mcpEntries(d)) == 1; hooks != c.hooks || server != c.server {
				t.Errorf("hooks %v, server %v in %s", hooks, server, m.read(path))
			}
			if c.server && !strings.Contains(strings.Join(plan.Lines(), "\n"), "MCP server of agent a") {
				t.Errorf("plan %q", plan.Lines())
			}
			if notes := strings.Join(plan.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "tools") {
				t.Errorf("notes %q", notes)
			}
			if again := m.planInstall(c.o); !again.Empty() {
				t.Errorf("the second install: %q", again.Lines())
			}
			if err := m.uninstall(Options{}).Err(); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(original, m.tree()); d != "" {
				t.Errorf("after uninstall: %s", d)
			}
		})
	}
}

func TestServerOfATeamsAgent(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	path := filepath.Join(m.project, ".kiro/agents/team.json")
	m.write(path, `{"name": "team", "tools": ["*"]}`, 0o644)
	m.install(Options{Project: true})
	if got := m.read(path); !strings.Contains(got, `"kiro-learn": {"command": "kiro-learn", "args": ["mcp"]}`) {
		t.Errorf("holds %s", got)
	}
}

// Every kind of file stays a link where it is one, keeps its mode, and is left alone where its owner has locked it.
func TestLinksAndLocksOfEveryKind(t *testing.T) {
	for rel, text := range map[string]string{
		".kiro/agents/a.json":                          agentTabs,
		".kiro/settings/mcp.json":                      mcpComments,
		".kiro/settings/cli.json":                      "{\n\t\"chat.defaultAgent\": null\n}\n",
		"shop/.kiro/hooks/kiro-learn-prompt.kiro.hook": string(newFile(ide0Hook("promptSubmit", "/old/kiro-learn"))),
	} {
		t.Run(rel, func(t *testing.T) {
			m := newMachine(t, "h", "2.21.3", "0.12.3")
			path, real := filepath.Join(m.env.Home, rel), filepath.Join(m.dir, "dotfiles", "f")
			m.write(real, text, 0o640)
			m.mkdir(filepath.Dir(path))
			if err := os.Symlink(real, path); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(real, 0o440); err != nil {
				t.Fatal(err)
			}
			o := Options{SetDefault: true}
			if strings.Contains(rel, "agents") {
				o = Options{AllAgents: true}
			}
			res := m.install(o)
			if len(res.Failed) != 1 || res.Failed[0].Path != path || !strings.Contains(res.Failed[0].Reason, "read-only") || m.read(real) != text {
				t.Errorf("locked: %+v, %q", res.Failed, m.read(real))
			}
			if err := os.Chmod(real, 0o640); err != nil {
				t.Fatal(err)
			}
			if err := m.install(o).Err(); err != nil {
				t.Fatal(err)
			}
			if got := m.read(real); !strings.Contains(got, "kiro-learn") || strings.Contains(got, "/old/") {
				t.Errorf("holds %q", got)
			}
			if target, _ := os.Readlink(path); target != real {
				t.Error("the link became a file")
			}
			if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
		})
	}
}
