package install

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	agentCompact = `{"zeta":1,"name":"dev","hooks":{"stop":[{"command":"a && b > /dev/null 2>&1 # <x>"}]},"n":12345678901234567890,"f":1.0,"s":"\u2028é","alpha":[1,  2]}`
	agentTabs    = "{\n\t\"name\": \"tabs\",\n\t\"tools\": [\"*\"],\n\t\"hooks\": {}\n}\n"
	agentPlain   = "{\n    \"name\": \"plain\",\n    \"description\": \"no hooks yet\",\n    \"tools\": [\"*\"]\n}"
	mcpComments  = "{\n  // servers that I use\n  \"mcpServers\": {\n    \"git\": {\"command\": \"uvx\", \"args\": [\"mcp-server-git\"],}, /* keep */\n  },\n}\n"
)

// furnish gives a machine files of every style that people write.
func furnish(m *machine) {
	m.kiro("agents/dev.json", agentCompact)
	m.kiro("agents/crlf.json", strings.ReplaceAll(strings.Replace(agentPlain, "plain", "crlf", 1), "\n", "\r\n"))
	m.kiro("agents/bom.json", "\ufeff"+strings.Replace(agentPlain, "plain", "bom", 1))
	m.kiro("settings/mcp.json", mcpComments)
	m.write(filepath.Join(m.dir, "dotfiles", "tabs.json"), agentTabs, 0o640)
	if err := os.Symlink(filepath.Join(m.dir, "dotfiles", "tabs.json"), filepath.Join(m.env.Home, ".kiro", "agents", "tabs.json")); err != nil {
		m.t.Fatal(err)
	}
}

func isSubsequence(a, b string) bool {
	for i := range len(b) {
		if a == "" {
			break
		}
		if b[i] == a[0] {
			a = a[1:]
		}
	}
	return a == ""
}

// installed decodes what Kiro would read: the hooks of an agent file, and of the hook file.
type agentFile struct {
	Hooks map[string][]map[string]any `json:"hooks"`
}

type hookFile struct {
	Version string `json:"version"`
	Hooks   []struct {
		Name, Trigger, Matcher string
		Action                 struct{ Type, Command string }
		Timeout                int
		Enabled                *bool
	} `json:"hooks"`
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestInstallOnEveryGeneration(t *testing.T) {
	for _, c := range []struct{ name, home, cli, ide string }{
		{"CLI 2", "h", "2.21.3", ""},
		{"CLI 3 and an odd home", "Ana Lee's $h é", "3.2.0", "1.2.37"},
		{"CLI 1", `quo"te\back`, "1.24.0", ""},
		{"only the IDE", "日本 `x` & ;", "", "1.0.182"},
		{"no Kiro program", "-dash", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, c.home, c.cli, c.ide)
			furnish(m)
			original := m.tree()
			plan := m.planInstall(Options{AllAgents: true})
			if d := cmp.Diff(original, m.tree()); d != "" {
				t.Errorf("planning wrote: %s", d)
			}
			res := plan.Apply(m.env)
			if err := res.Err(); err != nil {
				t.Fatal(err)
			}
			after := m.tree()
			checkInstalled(t, m, original, after)
			if again := m.planInstall(Options{AllAgents: true}); !again.Empty() {
				t.Errorf("the second install would write: %q", again.Lines())
			}
			runAll(t, m, after)
			if err := m.uninstall(Options{}).Err(); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(original, m.tree()); d != "" {
				t.Errorf("after uninstall: %s", d)
			}
			if _, err := os.Stat(memoryFile(m.env)); err == nil {
				t.Errorf("the memory stays: %s", m.read(memoryFile(m.env)))
			}
		})
	}
}

func checkInstalled(t *testing.T, m *machine, original, after map[string]string) {
	t.Helper()
	for f, text := range original {
		if !isSubsequence(text, after[f]) {
			t.Errorf("%s lost or reordered bytes:\n%s", f, after[f])
		}
	}
	if after[".kiro/agents/tabs.json (link)"] == "" {
		t.Error("a link became a file")
	}
	if info, _ := os.Stat(filepath.Join(m.dir, "dotfiles", "tabs.json")); info.Mode().Perm() != 0o640 {
		t.Errorf("mode became %v", info.Mode())
	}
	crlf := after[".kiro/agents/crlf.json"]
	if strings.Count(crlf, "\n") != strings.Count(crlf, "\r\n") || !strings.Contains(crlf, "userPromptSubmit") {
		t.Errorf("mixed line endings: %q", crlf)
	}
	for _, agent := range []string{"dev", "crlf", "bom", "tabs"} {
		hooks := decode[agentFile](t, after[".kiro/agents/"+agent+".json"]).Hooks
		if len(hooks) != 4 {
			t.Errorf("%s has hooks %v", agent, hooks)
		}
		for event, entries := range hooks {
			entry := entries[len(entries)-1]
			cmd, ours := ParseCommand(entry["command"].(string))
			if !ours || cmd.Hook != event || cmd.Program != m.env.Executable {
				t.Errorf("%s %s: %v", agent, event, entry)
			}
			if want := map[bool]any{true: "*", false: nil}[event == "postToolUse"]; entry["matcher"] != want {
				t.Errorf("%s: matcher %v", event, entry["matcher"])
			}
			if entry["timeout_ms"] != 10000.0 {
				t.Errorf("%s: timeout_ms %v", event, entry["timeout_ms"])
			}
		}
	}
	file := decode[hookFile](t, after[".kiro/hooks/kiro-learn.json"])
	var triggers []string
	for _, h := range file.Hooks {
		triggers = append(triggers, h.Trigger)
		if h.Action.Type != "command" || h.Name == "" || h.Timeout != 10 || (h.Trigger == "PostToolUse") != (h.Matcher == ".*") {
			t.Errorf("hook %+v", h)
		}
	}
	if file.Version != "v1" || !slices.Equal(triggers, []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"}) {
		t.Errorf("version %q, triggers %v", file.Version, triggers)
	}
}

// runAll runs every installed command as Kiro does, and expects the program to have seen its arguments.
func runAll(t *testing.T, m *machine, after map[string]string) {
	t.Helper()
	var commands, want []string
	for event, entries := range decode[agentFile](t, after[".kiro/agents/dev.json"]).Hooks {
		commands = append(commands, entries[len(entries)-1]["command"].(string))
		want = append(want, event+" --surface kiro-cli --via agent")
	}
	for i, h := range decode[hookFile](t, after[".kiro/hooks/kiro-learn.json"]).Hooks {
		commands = append(commands, h.Action.Command)
		want = append(want, []string{"agentSpawn", "userPromptSubmit", "postToolUse", "stop"}[i]+" --via user")
	}
	for _, shell := range []string{"sh", "bash"} {
		_ = os.Remove(filepath.Join(m.dir, "ran"))
		for _, c := range commands {
			if out, err := exec.Command(shell, "-c", c).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s -c %q: %v %s", shell, c, err, out)
			}
		}
		got := strings.Split(strings.TrimSpace(m.read(filepath.Join(m.dir, "ran"))), "\n")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: the program saw %s", shell, d)
		}
	}
}

func TestFilesThatDoNotParseAreLeftAlone(t *testing.T) {
	bad := map[string]struct {
		text   string
		line   int
		reason string
	}{
		"torn":      {"{\"name\": \"x\",\n \"hooks\": {\"stop\": [", 2, "does not parse"},
		"utf16":     {"\xff\xfe{\x00}\x00", 1, "UTF-16"},
		"utf16bare": {"{\x00}\x00", 1, "NUL"},
		"list":      {"[]", 1, "a list"},
		"null":      {"null", 1, "null"},
		"empty":     {"", 1, "is empty"},
		"blank":     {" \n ", 1, "is empty"},
		"bomonly":   {"\ufeff", 1, "is empty"},
		"string":    {`"hooks"`, 1, "a string"},
		"hooklist":  {"{\n\"hooks\": [\n]}", 2, "hooks is a list"},
		"hooktrue":  {`{"hooks": true}`, 1, "hooks is true or false"},
		"eventobj":  {"{\"hooks\": {\n\n\"stop\": {}}}", 3, "hooks.stop is an object"},
		"twice":     {"{\"hooks\": {},\n\"hooks\": {}}", 2, "twice"},
		"deep":      {strings.Repeat("[", 100_000), 0, "nested"},
		"two":       {"{}\n{}", 2, "does not parse"},
		"notagent":  {`{"name": {"a": 1}}`, 1, "not an agent"},
	}
	m := newMachine(t, "h", "2.21.3", "")
	for name, b := range bad {
		m.kiro("agents/"+name+".json", b.text)
	}
	m.kiro("agents/good.json", agentPlain)
	res := m.install(Options{AllAgents: true})
	if res.Err() == nil || len(res.Failed) != len(bad) {
		t.Errorf("%d of %d refused: %v", len(res.Failed), len(bad), res.Failed)
	}
	for _, r := range res.Failed {
		name := strings.TrimSuffix(filepath.Base(r.Path), ".json")
		if b := bad[name]; r.Line != b.line || !strings.Contains(r.Reason, b.reason) || !strings.Contains(r.Hint, "type: kiro-learn install") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, b := range bad {
		if got := m.read(filepath.Join(m.env.Home, ".kiro/agents", name+".json")); got != b.text {
			t.Errorf("%s was touched: %q", name, got)
		}
	}
	if got := m.read(filepath.Join(m.env.Home, ".kiro/agents/good.json")); !strings.Contains(got, "kiro-learn stop") {
		t.Errorf("the good file was not done: %s", got)
	}
	if err := m.uninstall(Options{}).Err(); err != nil {
		t.Errorf("nothing of ours stands in the bad files, so uninstall has nothing to say of them: %v", err)
	}
	if got := m.read(filepath.Join(m.env.Home, ".kiro/agents/good.json")); got != agentPlain {
		t.Errorf("uninstall left %q", got)
	}
}
