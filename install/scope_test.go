package install

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOwnAgentForAUserWhoHasNone(t *testing.T) {
	const own = ".kiro/agents/kiro-learn.json"
	for _, c := range []struct {
		name, cli, settings string // settings: content of cli.json, "" for none
		agree, asks         bool
		wantSettings        string
	}{
		{"CLI 2, agreed, no settings", "2.21.3", "", true, true, "{\n  \"chat.defaultAgent\": \"kiro-learn\"\n}\n"},
		{"CLI 2, not agreed", "2.21.3", "{\n\t\"x\": 1\n}", false, true, "{\n\t\"x\": 1\n}"},
		{"CLI 2, agreed, other settings", "2.21.3", "{\n\t\"x\": 1\n}", true, true, "{\n\t\"x\": 1,\n\t\"chat.defaultAgent\": \"kiro-learn\"\n}"},
		{"CLI 2, agreed, the built-in named", "2.9.0", `{"chat.defaultAgent": "kiro_default", "y":[ ]}`, true, true, `{"chat.defaultAgent": "kiro-learn", "y":[ ]}`},
		{"CLI 3 reads the hook file", "3.2.0", "", true, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", c.cli, "")
			if c.settings != "" {
				m.kiro("settings/cli.json", c.settings)
			}
			original := m.tree()
			plan := m.planInstall(Options{SetDefault: c.agree})
			if plan.AsksDefault != c.asks {
				t.Errorf("asks %v", plan.AsksDefault)
			}
			if err := plan.Apply(m.env).Err(); err != nil {
				t.Fatal(err)
			}
			after := m.tree()
			if got := after[".kiro/settings/cli.json"]; got != c.wantSettings {
				t.Errorf("settings %q, want %q", got, c.wantSettings)
			}
			agent := decode[map[string]any](t, after[own])
			if agent["name"] != "kiro-learn" || agent["includeMcpJson"] != true || len(agent["hooks"].(map[string]any)) != 4 {
				t.Errorf("agent %v", agent)
			}
			for key := range agent {
				if !slices.Contains(agentKeys(), key) {
					t.Errorf("Kiro would drop the agent for the key %s", key)
				}
			}
			if again := m.planInstall(Options{SetDefault: c.agree}); !again.Empty() {
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

func TestWhatTheUserChoseSinceStays(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	m.install(Options{SetDefault: true})
	settings := m.kiro("settings/cli.json", `{"chat.defaultAgent": "mine"}`)
	own := filepath.Join(m.env.Home, ".kiro/agents/kiro-learn.json")
	m.write(own, strings.Replace(m.read(own), `"name"`, `"prompt": "be brief", "name"`, 1), 0o600)
	m.kiro("agents/x.json", "{\"hooks\": {\"stop\": [\n{\"command\": \"say done && kiro-learn stop\"}]}}")
	plan, err := PlanUninstall(m.env, Options{})
	if err != nil || plan.Apply(m.env).Err() != nil {
		t.Fatal(err)
	}
	notes := strings.Join(plan.Notes, "\n")
	if !strings.Contains(notes, "x.json:2 still runs kiro-learn") || !strings.Contains(notes, "kiro-learn.json stays without our hooks") || len(plan.Notes) != 2 {
		t.Errorf("notes %q", notes)
	}
	if got := m.read(settings); got != `{"chat.defaultAgent": "mine"}` {
		t.Errorf("settings %q", got)
	}
	if got := m.read(own); !strings.Contains(got, "be brief") || strings.Contains(got, "hooks") || strings.Contains(got, "agentSpawn") {
		t.Errorf("the agent that the user made their own: %s", got)
	}
}

func TestWhichAgents(t *testing.T) {
	for _, c := range []struct {
		name, setting string
		o             Options
		want          []string
		err           string
	}{
		{"the default agent if it is a file", "b", Options{}, []string{"b"}, ""},
		{"by its file's name", "file-of-c", Options{}, []string{"c"}, ""},
		{"all when the default is built in", "kiro_default", Options{}, []string{"a", "b", "c"}, ""},
		{"all when nothing is set", "", Options{}, []string{"a", "b", "c"}, ""},
		{"all on request", "b", Options{AllAgents: true}, []string{"a", "b", "c"}, ""},
		{"by name", "b", Options{Agents: []string{"a", "c"}}, []string{"a", "c"}, ""},
		{"our own on request", "b", Options{Agents: []string{"kiro-learn"}}, []string{"kiro-learn"}, ""},
		{"unknown", "", Options{Agents: []string{"x"}}, nil, "use one of a, b, c"},
		{"built in", "", Options{Agents: []string{"kiro_default"}}, nil, "would replace it"},
		{"no such surface", "", Options{Surface: "vim"}, nil, "use auto, kiro-cli"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", "2.21.3", "")
			m.kiro("agents/a.json", `{"name":"a"}`)
			m.kiro("agents/b.json", `{"name":"b"}`)
			m.kiro("agents/file-of-c.json", `{"name":"c"}`)
			m.kiro("agents/kiro-learn-compressor.json", `{"name":"kiro-learn-compressor","tools":[]}`)
			m.kiro("agents/.#b.json", `not an agent, an editor's lock`)
			if c.setting != "" {
				m.kiro("settings/cli.json", `{"chat.defaultAgent":"`+c.setting+`"}`)
			}
			plan, err := PlanInstall(m.env, c.o)
			var usage *UsageError
			if c.err != "" {
				if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			plan.Apply(m.env)
			var hooked []string
			for _, a := range Detect(m.env).Agents {
				if a.Ours > 0 {
					hooked = append(hooked, a.Name)
				}
			}
			if !slices.Equal(hooked, c.want) {
				t.Errorf("hooked %v, want %v", hooked, c.want)
			}
			if unhooked := 3 - len(c.want); c.o.Agents == nil && (unhooked > 0) != strings.Contains(strings.Join(plan.Notes, " "), "--all-agents") {
				t.Errorf("notes %q", plan.Notes)
			}
		})
	}
}

// A hooked agent is brought up to date whatever agents this run is about.
func TestHookedAgentsAreUpgraded(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	m.kiro("agents/a.json", `{"name":"a"}`)
	b := m.kiro("agents/b.json", `{"name":"b","hooks":{"stop":[{"command":"/old/kiro-learn stop"}]}}`)
	m.install(Options{Agents: []string{"a"}})
	if got := m.read(b); strings.Contains(got, "/old/") || strings.Count(got, "kiro-learn stop") != 1 {
		t.Errorf("left stale: %s", got)
	}
}

func TestProjectScopeIsPortable(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	m.write(filepath.Join(m.project, ".kiro/agents/team.json"), agentPlain, 0o644)
	original := m.tree()
	res := m.install(Options{Project: true})
	if err := res.Err(); err != nil {
		t.Fatal(err)
	}
	for f, text := range m.tree() {
		if strings.Contains(text, m.dir) {
			t.Errorf("%s names this machine: %s", f, text)
		}
		if !strings.HasPrefix(f, "shop/") {
			t.Errorf("%s is not the project's", f)
		}
	}
	if !strings.Contains(m.tree()["shop/.kiro/hooks/kiro-learn.json"], `"kiro-learn userPromptSubmit --via project || exit 0"`) {
		t.Error("no hook file in the project")
	}
	for _, w := range Wired(m.env) { // a member of the team who has no kiro-learn
		cmd := exec.Command("bash", "-c", w.Line)
		cmd.Env = []string{"PATH=" + t.TempDir()} // whoever runs this test may have one
		if out, err := cmd.Output(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %q", w.Line, err, out)
		}
	}
	if notes := m.planInstall(Options{Project: true}).Notes; !strings.Contains(strings.Join(notes, " "), "PATH does not find") {
		t.Errorf("notes %q", notes)
	}

	// uninstall from elsewhere finds the project again
	m.env.Project = ""
	if err := m.uninstall(Options{}).Err(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(original, m.tree()); d != "" {
		t.Errorf("after uninstall: %s", d)
	}
	if _, err := os.Stat(filepath.Join(m.project, ".kiro", "hooks")); err == nil {
		t.Error("a directory that install made stays")
	}
	if _, err := PlanInstall(m.env, Options{Project: true}); err == nil || !strings.Contains(err.Error(), "no project") {
		t.Errorf("error %v", err)
	}
}

func TestUninstallOfOneProjectLeavesTheOthers(t *testing.T) {
	m := newMachine(t, "h", "3.2.0", "")
	other := filepath.Join(m.env.Home, "other")
	m.mkdir(other)
	m.install(Options{})
	m.install(Options{Project: true})
	user := m.tree()
	m.env.Project = other
	m.install(Options{Project: true})
	if err := m.uninstall(Options{Project: true}).Err(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(user, m.tree()); d != "" {
		t.Errorf("after uninstall of one project: %s", d)
	}
	if got := loadMemory(m.env).Projects; !slices.Equal(got, []string{m.project}) {
		t.Errorf("remembered %v", got)
	}
	m.uninstall(Options{})
	if left := m.tree(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestIDE0(t *testing.T) {
	m := newMachine(t, "h", "", "0.12.3")
	foreign := filepath.Join(m.project, ".kiro/hooks/lint.kiro.hook")
	m.write(foreign, `{"when":{"type":"fileEdited"},"then":{"type":"runCommand","command":"echo kiro-learn stop"}}`, 0o644)
	original := m.tree()
	m.install(Options{})
	prompt := filepath.Join(m.project, ".kiro/hooks/kiro-learn-prompt.kiro.hook")
	h := decode[struct {
		Enabled bool
		When    struct{ Type string }
		Then    struct{ Type, Command string }
	}](t, m.read(prompt))
	if !h.Enabled || h.When.Type != "promptSubmit" || h.Then.Type != "runCommand" || h.Then.Command != m.env.Executable+" promptSubmit --surface kiro-ide --payload env --via ide0" {
		t.Errorf("hook %+v", h)
	}
	m.write(prompt, strings.NewReplacer(`"enabled": true`, `"enabled": false`, m.env.Executable, "/old/kiro-learn").Replace(m.read(prompt)), 0o644)
	m.install(Options{})
	if got := m.read(prompt); !strings.Contains(got, `"enabled": false`) || strings.Contains(got, "/old/") {
		t.Errorf("upgraded to %s", got)
	}
	m.uninstall(Options{})
	if d := cmp.Diff(original, m.tree()); d != "" {
		t.Errorf("after uninstall: %s", d)
	}
	m.write(prompt, `{"when":{"type":"promptSubmit"},"then":{"type":"askAgent","prompt":"hi"}}`, 0o644)
	if res := m.install(Options{Surface: "ide0"}); len(res.Failed) != 1 || !strings.Contains(res.Failed[0].Reason, "not ours") {
		t.Errorf("a foreign file under our name: %v", res.Failed)
	}
}

func TestIDE1GetsNoOldHooks(t *testing.T) {
	for _, c := range []struct {
		name, ide, surface string
		want               bool
	}{{"1.x", "1.2.37", "", false}, {"0.x", "0.12.3", "", true}, {"0.x as the IDE", "0.12.3", "kiro-ide", true}, {"none", "", "", false}, {"asked for", "1.2.37", "ide0", true}} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", "", c.ide)
			m.install(Options{Surface: c.surface})
			_, err := os.Stat(filepath.Join(m.project, ".kiro/hooks/kiro-learn-tool.kiro.hook"))
			if (err == nil) != c.want {
				t.Errorf("written %v, want %v", err == nil, c.want)
			}
		})
	}
}
