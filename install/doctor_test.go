package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kiro-learn/internal/config"
)

// healthy is a machine on which doctor has nothing to say, and the facts that go with it.
func healthy(t *testing.T, cli, ide string) (*machine, *Live) {
	m := newMachine(t, "h", cli, ide)
	m.kiro("agents/dev.json", agentPlain)
	m.kiro("agents/kiro-learn-model.json", `{"name": "kiro-learn-model", "tools": []}`)
	m.kiro("settings/cli.json", `{"chat.defaultAgent": "dev"}`)
	if err := m.install(Options{AllAgents: true}).Err(); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(m.dir, "kl")
	live := &Live{
		Version: "1.4.0", Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), DiskFree: 10 << 30, ModelAgent: "kiro-learn-model",
		Dirs:      config.Dirs{Config: home, Data: filepath.Join(home, "data"), State: filepath.Join(home, "state"), Run: filepath.Join(home, "run")},
		Collector: CollectorState{Running: true, Version: "1.4.0", Socket: filepath.Join(home, "run", "collector.sock")},
		Outbox:    OutboxState{MaxBytes: 1 << 20}, LastEvent: map[string]time.Time{"kiro-cli": time.Date(2026, 11, 30, 11, 0, 0, 0, time.UTC)},
		Events: 100,
	}
	for _, d := range []string{live.Dirs.Data, live.Dirs.State, live.Dirs.Run} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.write(live.Dirs.Database(), "db", 0o600)
	m.write(live.Collector.Socket, "", 0o600)
	m.write(live.Dirs.ConfigFile(), "{}", 0o600)
	_ = os.Chmod(live.Dirs.Data, 0o700)
	_ = os.Chmod(live.Dirs.Run, 0o700)
	return m, live
}

// edit replaces text in a file below .kiro, which must be there.
func (m *machine) edit(rel, old, text string) {
	m.t.Helper()
	p := filepath.Join(m.env.Home, ".kiro", filepath.FromSlash(rel))
	s := m.read(p)
	if !strings.Contains(s, old) {
		m.t.Fatalf("%s has no %q: %s", rel, old, s)
	}
	m.write(p, strings.Replace(s, old, text, 1), 0o644)
}

func (m *machine) remove(rel string) {
	m.t.Helper()
	if err := os.RemoveAll(filepath.Join(m.env.Home, filepath.FromSlash(rel))); err != nil {
		m.t.Fatal(err)
	}
}

func ill(fs []Finding) (out []string) {
	for _, f := range fs {
		if f.Status != OK {
			out = append(out, string(f.Status)+" "+f.Check+": "+f.Detail)
		}
	}
	return out
}

func TestDoctorOnAHealthyMachine(t *testing.T) {
	for _, c := range []struct{ cli, ide string }{{"2.21.3", ""}, {"3.2.0", "1.2.37"}, {"2.21.3", "0.12.3"}} {
		m, live := healthy(t, c.cli, c.ide)
		before := m.tree()
		fs := Doctor(m.env, *live)
		if bad := ill(fs); len(bad) > 0 {
			t.Errorf("CLI %s, IDE %s: %q", c.cli, c.ide, bad)
		}
		var checks []string
		for _, f := range fs {
			checks = append(checks, f.Check)
		}
		if want := []string{"program", "switches", "agents", "hooks", "ide", "mcp", "kiro", "collector", "outbox", "events", "files"}; !slices.Equal(checks, want) {
			t.Errorf("checked %v", checks)
		}
		if len(Fix(fs)) > 0 || len(before) != len(m.tree()) {
			t.Error("something was mended")
		}
	}
}

// What looks like a fault at first, and is none.
func TestDoctorIsContent(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(m *machine, l *Live)
	}{
		{"the collector has left, and the database is there", func(_ *machine, l *Live) { l.Collector, l.LastEvent = CollectorState{}, nil }},
		{"the collector is about to get the first event", func(_ *machine, l *Live) {
			l.Collector, l.LastEvent, l.Outbox.Pending, l.Outbox.Oldest = CollectorState{}, nil, 1, l.Now
			_ = os.Remove(l.Dirs.Database())
		}},
		{"the default agent is one in Markdown", func(m *machine, _ *Live) {
			m.kiro("agents/writer.md", "---\nname: writer\n---\n")
			m.edit("settings/cli.json", "dev", "writer")
		}},
		{"an agent with a list of tools of its own", func(m *machine, _ *Live) { m.kiro("agents/reader.json", `{"name": "reader", "tools": ["read"]}`) }},
		{"a hook file of the user's", func(m *machine, _ *Live) {
			m.kiro("hooks/lint.json", `{"version": "v1", "hooks": [{"name": "l", "trigger": "Stop", "action": {"type": "command", "command": "make"}}]}`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, live := healthy(t, "2.21.3", "")
			c.plant(m, live)
			if bad := ill(Doctor(m.env, *live)); len(bad) > 0 {
				t.Errorf("%q", bad)
			}
		})
	}
}

// A fault is planted on a healthy machine; doctor has to name it and what to type next, and Fix to mend it where that is
// doctor --fix.
type fault struct {
	name    string
	plant   func(m *machine, l *Live)
	check   string
	status  Status
	detail  string
	fixable bool
	next    string // "~" for the home, "@" for the directory of all
}

const mends = "kiro-learn doctor --fix"

const (
	devJSON   = "agents/dev.json"
	hooksJSON = "hooks/kiro-learn.json"
	ide0JSON  = ".kiro/hooks/kiro-learn-stop.kiro.hook"
)

func wiringFaults() []fault {
	stop := func(m *machine) string { return m.env.Executable + " stop --surface kiro-cli --via agent" }
	return []fault{
		{"agent hook missing", func(m *machine, _ *Live) { m.edit(devJSON, stop(m), "other") }, "agents", Fail, "the hook of stop is missing", true, mends},
		{"agent hook's program gone", func(m *machine, _ *Live) { m.edit(devJSON, stop(m), "/gone/kiro-learn stop") }, "agents", Fail, "/gone/kiro-learn, which is gone", true, mends},
		{"all hooks' program gone", func(m *machine, _ *Live) {
			path := filepath.Join(m.env.Home, ".kiro", devJSON)
			m.write(path, strings.ReplaceAll(m.read(path), m.env.Executable+" ", "/gone/kiro-learn "), 0o644)
		}, "agents", Fail, "the hooks of agentSpawn, userPromptSubmit, postToolUse, stop run /gone/kiro-learn, which is gone", true, mends},
		{"agent hook's program not executable", func(m *machine, _ *Live) {
			m.write(filepath.Join(m.dir, "x", "kiro-learn"), "", 0o600)
			m.edit(devJSON, stop(m), filepath.Join(m.dir, "x", "kiro-learn")+" stop")
		}, "agents", Fail, "cannot be run", true, mends},
		{"agent hook by name, not on PATH", func(m *machine, _ *Live) { m.edit(devJSON, stop(m), "kiro-learn stop") }, "agents", Fail, "PATH does not find", true, mends},
		{"agent hook twice", func(m *machine, _ *Live) {
			m.edit(devJSON, `"stop": [`, `"stop": [{"command": "`+m.env.Executable+` stop"},`)
		}, "agents", Warn, "stands there 2 times", true, mends},
		{"agent hook in a group", func(m *machine, _ *Live) {
			m.edit(devJSON, `"stop": [`, `"stop": [{"matcher": "*", "hooks": [{"command": "kiro-learn stop"}]},`)
		}, "agents", Fail, "nested in a group", true, mends},
		{"agent hook with timeout", func(m *machine, _ *Live) { m.edit(devJSON, `"timeout_ms"`, `"timeout"`) }, "agents", Fail, `"timeout_ms"`, true, mends},
		{"agent hook with a string for a number", func(m *machine, _ *Live) { m.edit(devJSON, `10000`, `"10s"`) }, "agents", Fail, "not a number", true, mends},
		{"agent hook with an unknown key", func(m *machine, _ *Live) { m.edit(devJSON, `"timeout_ms"`, `"managedBy": 1, "timeout_ms"`) }, "agents", Fail, "managedBy", true, mends},
		{"agent hook for some tools only", func(m *machine, _ *Live) { m.edit(devJSON, `"matcher": "*"`, `"matcher": "fs_write"`) }, "agents", Fail, "only the tools fs_write", true, mends},
		{"agent hook cached", func(m *machine, _ *Live) { m.edit(devJSON, `"timeout_ms"`, `"cache_ttl_seconds": 60, "timeout_ms"`) }, "agents", Fail, "cached", true, mends},
		{"agent hook runs another hook", func(m *machine, _ *Live) { m.edit(devJSON, "kiro-learn stop", "kiro-learn postToolUse") }, "agents", Fail, "runs kiro-learn postToolUse", true, mends},
		{"agent hook for an event that is not ours", func(m *machine, _ *Live) {
			m.edit(devJSON, `"hooks": {`, `"hooks": {"preToolUse": [{"command": "kiro-learn postToolUse"}],`)
		}, "agents", Fail, "preToolUse is for an event", true, mends},
		{"agent hook given up at once", func(m *machine, _ *Live) { m.edit(devJSON, `"timeout_ms": 10000`, `"timeout_ms": 5`) }, "agents", Fail, "given up after 5 ms", true, mends},
		{"agent without the MCP server", func(m *machine, _ *Live) {
			only := agentShape(spelling{}, surfaceSet{servers: true})
			text, _, err := only.clean([]byte(m.read(filepath.Join(m.env.Home, ".kiro", devJSON))), nil)
			if err != nil {
				m.t.Fatal(err)
			}
			m.kiro(devJSON, string(text))
		}, "agents", Warn, "cannot search its memory", true, mends},
		{"agent's MCP server gone", func(m *machine, _ *Live) {
			m.edit(devJSON, `"command": "`+m.env.Executable+`",`, `"command": "/gone/kiro-learn",`)
		}, "agents", Fail, "the MCP server runs /gone/kiro-learn, which is gone", true, mends},
		{"agent's MCP server twice", func(m *machine, _ *Live) {
			m.edit(devJSON, `"kiro-learn": {`, `"memory": {"command": "kiro-learn", "args": ["mcp"]}, "kiro-learn": {`)
		}, "agents", Warn, "the MCP server stands there 2 times", true, mends},
		{"agent's MCP server switched off", func(m *machine, _ *Live) { m.edit(devJSON, `"args": ["mcp"]`, `"args": ["mcp"], "disabled": true`) }, "agents", Warn, "switched off", false, `set "disabled" to false in it`},
		{"agent with another's server of our name", func(m *machine, _ *Live) { m.edit(devJSON, `"args": ["mcp"]`, `"args": ["x"]`) }, "agents", Warn, "not ours, so it cannot search", false, "rename that server and type: kiro-learn install"},
		{"agent with both names of a key", func(m *machine, _ *Live) {
			m.edit(devJSON, `"name"`, `"includeMcpJson": true, "useLegacyMcpJson": true, "name"`)
		}, "agents", Fail, "useLegacyMcpJson is an older name", false, "edit the file; Kiro drops an agent that it does not understand"},
		{"a team's hooks, and no program on PATH", func(m *machine, _ *Live) { m.install(Options{Project: true, Surface: "hooks"}) }, "hooks", Fail, "run kiro-learn, which PATH does not find", false, "put ~/opt on PATH, for Kiro, too"},
		{"a team's MCP server, and no program on PATH", func(m *machine, _ *Live) { m.install(Options{Project: true, Surface: "mcp"}) }, "mcp", Fail, "runs kiro-learn, which PATH does not find", false, "put ~/opt on PATH, for Kiro, too"},
		{"agent with an event that Kiro rejects", func(m *machine, _ *Live) { m.edit(devJSON, `"hooks": {`, `"hooks": {"sessionEnd": [],`) }, "agents", Fail, `no hook "sessionEnd"`, false, "edit the file; Kiro drops an agent that it does not understand"},
		{"agent with a key that Kiro rejects", func(m *machine, _ *Live) { m.edit(devJSON, `"name"`, `"managedBy": "x", "name"`) }, "agents", Fail, `no key "managedBy"`, false, "edit the file; Kiro drops an agent that it does not understand"},
		{"another's nested hook in a hooked agent", func(m *machine, _ *Live) {
			m.edit(devJSON, `"stop": [`, `"stop": [{"hooks": [{"command": "x"}]},`)
		}, "agents", Fail, "nested in a group, as in other", false, "edit the file; Kiro drops an agent that it does not understand"},
		{"a line of the user's that also runs us", func(m *machine, _ *Live) {
			m.edit(devJSON, `"stop": [`, `"stop": [{"command": "kiro-learn stop && say done"},`)
		}, "agents", Warn, "part of a longer line", false, "remove it if you do not need it"},
		{"agent torn", func(m *machine, _ *Live) { m.kiro(devJSON, `{"hooks": {"stop": [{"command": "kiro-learn stop"`) }, "agents", Fail, "does not parse", false, "mend the file and type: kiro-learn install"},
		{"agent's link leads nowhere", func(m *machine, _ *Live) { m.link("agents/lost.json", filepath.Join(m.dir, "nowhere")) }, "agents", Warn, "does not exist", false, "mend the file and type: kiro-learn install"},
		{"no agent hooked", func(m *machine, _ *Live) { m.kiro(devJSON, agentPlain) }, "agents", Fail, "no agent has hooks", true, "kiro-learn install"},
		{"default agent not hooked", func(m *machine, _ *Live) {
			m.kiro("agents/new.json", `{"name": "new"}`)
			m.edit("settings/cli.json", "dev", "new")
		}, "agents", Warn, "the default agent has no hooks", true, mends},
		{"default agent's file gone", func(m *machine, _ *Live) { m.edit("settings/cli.json", "dev", "kiro-learn") }, "agents", Fail, "whose file is gone", true, mends},
		{"the built-in agent by default", func(m *machine, _ *Live) { m.kiro("settings/cli.json", "{}") }, "agents", Warn, "starts its built-in agent", false, "kiro-learn install --agent kiro-learn"},
		{"default agent without a file", func(m *machine, _ *Live) { m.edit("settings/cli.json", "dev", "kiro_default") }, "agents", Warn, "no file that could be hooked", false, "kiro-learn install --agent kiro-learn"},
		{"agent shadowed by the project's", func(m *machine, _ *Live) {
			m.write(filepath.Join(m.project, ".kiro/agents/dev.json"), agentPlain, 0o644)
			m.edit("agents/dev.json", `"plain"`, `"dev"`)
			m.write(filepath.Join(m.project, ".kiro/agents/dev.json"), `{"name": "dev"}`, 0o644)
		}, "agents", Warn, "goes before yours", false, "kiro-learn install --project --agent dev"},
		{"our model's agent hooked", func(m *machine, _ *Live) {
			m.kiro("agents/kiro-learn-model.json", `{"name": "kiro-learn-model", "hooks": {"stop": [{"command": "kiro-learn stop"}]}}`)
		}, "agents", Fail, "would remember itself", true, mends},
		{"a Markdown agent with our hooks", func(m *machine, _ *Live) {
			m.kiro("agents/x.md", "---\nhooks:\n  stop:\n    - command: kiro-learn stop\n---\n")
		}, "agents", Warn, "Markdown", false, "remove them from its front matter"},

		{"hook file gone", func(m *machine, _ *Live) { m.remove(".kiro/" + hooksJSON) }, "hooks", Fail, "no hook file", true, "kiro-learn install"},
		{"hook file a link", func(m *machine, _ *Live) {
			p := filepath.Join(m.env.Home, ".kiro", hooksJSON)
			m.write(filepath.Join(m.dir, "dot.json"), m.read(p), 0o644)
			m.remove(".kiro/" + hooksJSON)
			m.link(hooksJSON, filepath.Join(m.dir, "dot.json"))
		}, "hooks", Fail, "is a link", false, "remove the link and type: kiro-learn install"},
		{"hook file torn", func(m *machine, _ *Live) { m.kiro(hooksJSON, `{"version": "v1", "hooks": [`) }, "hooks", Fail, "does not parse", false, "mend or remove the file and type: kiro-learn install"},
		{"hook file of another version", func(m *machine, _ *Live) { m.edit(hooksJSON, `"v1"`, `"1"`) }, "hooks", Fail, "another version", false, "mend or remove the file and type: kiro-learn install"},
		{"hook file's program gone", func(m *machine, _ *Live) { m.edit(hooksJSON, m.env.Executable+" stop", "/gone/kiro-learn stop") }, "hooks", Fail, "which is gone", true, mends},
		{"trigger missing", func(m *machine, _ *Live) { m.edit(hooksJSON, m.env.Executable+" stop", "say") }, "hooks", Fail, "the hook of Stop is missing", true, mends},
		{"trigger misspelt", func(m *machine, _ *Live) { m.edit(hooksJSON, `"SessionStart"`, `"AgentSpawn"`) }, "hooks", Fail, "trigger AgentSpawn", true, mends},
		{"trigger twice", func(m *machine, _ *Live) {
			m.edit(hooksJSON, `"hooks": [`, `"hooks": [{"name": "x", "trigger": "Stop", "action": {"type": "command", "command": "`+m.env.Executable+` stop"}},`)
		}, "hooks", Warn, "stands there 2 times", true, mends},
		{"timeout in milliseconds", func(m *machine, _ *Live) { m.edit(hooksJSON, `"timeout": 10`, `"timeout_ms": 10000`) }, "hooks", Fail, "in seconds", true, mends},
		{"timeout inside the action", func(m *machine, _ *Live) { m.edit(hooksJSON, `"type": "command",`, `"type": "command", "timeout": 5,`) }, "hooks", Fail, "more in its action", true, mends},
		{"matcher too narrow", func(m *machine, _ *Live) { m.edit(hooksJSON, `".*"`, `"fs_write"`) }, "hooks", Fail, "fires only for fs_write", true, mends},
		{"hook without a name", func(m *machine, _ *Live) { m.edit(hooksJSON, `"name": "kiro-learn-stop",`, "") }, "hooks", Fail, "has no name", true, mends},
		{"hook switched off", func(m *machine, _ *Live) { m.edit(hooksJSON, `"enabled": true`, `"enabled": false`) }, "hooks", Warn, "switched off", false, `set "enabled" to true in it, or in Kiro's hook panel`},
		{"copies by agent migrate", func(m *machine, _ *Live) {
			m.kiro("hooks/dev.json", `{"version": "v1", "hooks": [{"name": "a", "trigger": "Stop", "action": {"type": "command", "command": "kiro-learn stop"}}]}`)
		}, "hooks", Warn, "1 copies", true, mends},
		{"a hook file of the user's that also runs us", func(m *machine, _ *Live) {
			m.kiro("hooks/dev.json", "{\"version\": \"v1\", \"hooks\": [\n{\"name\": \"a\", \"trigger\": \"Stop\", \"action\": {\"type\": \"command\", \"command\": \"say done; kiro-learn stop\"}}]}")
		}, "hooks", Warn, "line 2: a hook that you wrote", false, "remove it if you do not need it"},
		{"both scopes", func(m *machine, _ *Live) {
			m.write(filepath.Join(m.dir, "bin", "kiro-learn"), "#!/bin/sh\necho kiro-learn 1.4.0\n", 0o755)
			m.install(Options{Project: true, Surface: "hooks"})
		}, "hooks", Warn, "both fire", false, "kiro-learn uninstall --project, unless your team needs it"},

		{"MCP server missing", func(m *machine, _ *Live) { m.kiro("settings/mcp.json", `{"mcpServers": {}}`) }, "mcp", Warn, "does not know", true, mends},
		{"MCP server's program gone", func(m *machine, _ *Live) { m.edit("settings/mcp.json", m.env.Executable, "/gone/kiro-learn") }, "mcp", Fail, "which is gone", true, mends},
		{"MCP server switched off", func(m *machine, _ *Live) { m.edit("settings/mcp.json", `"args"`, `"disabled": true, "args"`) }, "mcp", Warn, "switched off", false, `set "disabled" to false in it`},
		{"MCP server twice", func(m *machine, _ *Live) {
			m.edit("settings/mcp.json", `"mcpServers": {`, `"mcpServers": {"memory": {"command": "`+m.env.Executable+`", "args": ["mcp"]},`)
		}, "mcp", Warn, "2 times", true, mends},
		{"mcp.json torn", func(m *machine, _ *Live) { m.kiro("settings/mcp.json", `{`) }, "mcp", Fail, "does not parse", false, "mend the file and type: kiro-learn install"},
		{"another's server of our name", func(m *machine, _ *Live) {
			m.kiro("settings/mcp.json", `{"mcpServers": {"kiro-learn": {"command": "npx"}}}`)
		}, "mcp", Warn, "not ours", false, "rename that server and type: kiro-learn install"},
		{"Kiro's own memory on", func(m *machine, _ *Live) {
			m.kiro("settings/cli.json", `{"chat.defaultAgent": "dev", "chat.enableMemory": true}`)
		}, "kiro", Warn, "chat.enableMemory", false, `set "chat.enableMemory" to false in it, if kiro-learn is to do that alone`},
		{"Kiro's settings torn", func(m *machine, _ *Live) { m.kiro("settings/cli.json", `{"a": `) }, "kiro", Warn, "does not parse", false, "mend the file"},
	}
}

func liveFaults() []fault {
	return []fault{
		{"hooks off", func(_ *machine, l *Live) { l.Disabled = "KIRO_LEARN_DISABLE is set" }, "switches", Warn, "KIRO_LEARN_DISABLE", false, "undo that, or leave it if you meant it"},
		{"the child's variable is set", func(m *machine, _ *Live) {
			m.env.Getenv = func(k string) string { return map[string]string{"KIRO_LEARN_CHILD": "1"}[k] }
		}, "switches", Fail, "KIRO_LEARN_CHILD", false, "unset KIRO_LEARN_CHILD"},
		{"configuration malformed", func(_ *machine, l *Live) { l.ConfigWarnings = []string{"section x is malformed"} }, "switches", Warn, "section x", false, "edit @/kl/config.json"},
		{"another program on PATH", func(m *machine, _ *Live) { m.write(filepath.Join(m.dir, "bin", "kiro-learn"), "#!/bin/sh\n", 0o755) }, "program", Warn, "another program", false, "remove it, or put ~/opt before its directory in PATH"},
		{"hooks run an older version", func(m *machine, _ *Live) {
			old := filepath.Join(m.dir, "old", "kiro-learn")
			m.write(old, "#!/bin/sh\necho kiro-learn 1.3.0\n", 0o755)
			m.edit(devJSON, m.env.Executable+" stop", old+" stop")
		}, "program", Warn, "hooks run version 1.3.0, this is 1.4.0", false, "kiro-learn install"},
		{"a hook's program does not run", func(m *machine, _ *Live) {
			broken := filepath.Join(m.dir, "broken", "kiro-learn")
			m.write(broken, "#!/bin/sh\nexit 1\n", 0o755)
			m.edit(hooksJSON, m.env.Executable+" stop", broken+" stop")
		}, "program", Fail, "does not run", false, "kiro-learn install"},
		{"run from go run", func(m *machine, _ *Live) {
			exe := filepath.Join(m.dir, "go-build1", "kiro-learn")
			m.write(exe, m.read(m.env.Executable), 0o755)
			m.env.Executable = exe
		}, "program", Warn, "will go", false, "kiro-learn install"},
		{"the program's path names a version", func(m *machine, _ *Live) {
			exe := filepath.Join(m.dir, "tools", "kiro-learn-1.4.0", "kiro-learn")
			m.write(exe, m.read(m.env.Executable), 0o755)
			m.env.Executable = exe
		}, "program", Warn, "names a version", false, "when that is done: kiro-learn install"},
		{"KIRO_HOME is set", func(m *machine, _ *Live) {
			m.env.Getenv = func(k string) string { return map[string]string{"KIRO_HOME": "/elsewhere"}[k] }
		}, "kiro", Warn, "KIRO_HOME is set", false, "unset KIRO_HOME if an agent's hooks are not heard"},
		{"events from the future", func(_ *machine, l *Live) { l.LastEvent["kiro-cli"] = l.Now.Add(49 * time.Hour) }, "events", Warn, "dated 49h0m0s ahead", false, "set the clock"},
		{"collector older", func(_ *machine, l *Live) { l.Collector.Version = "1.3.9" }, "collector", Warn, "collector is version 1.3.9", false, "kiro-learn collector stop; the next hook starts the new one"},
		{"collector does not start", func(_ *machine, l *Live) {
			l.Collector = CollectorState{Failure: "open the memory database: file is not a database"}
		}, "collector", Fail, "the collector does not start: open the memory database", false, "do what it says, then type: kiro-learn collector start"},
		{"collector hung", func(_ *machine, l *Live) { l.Collector = CollectorState{Error: "no answer in 1s"} }, "collector", Fail, "no answer", false, "kiro-learn collector stop, then kiro-learn collector start"},
		{"socket open to others", func(_ *machine, l *Live) { _ = os.Chmod(l.Collector.Socket, 0o666) }, "collector", Fail, "others may talk", true, mends},
		{"a damaged database", func(_ *machine, l *Live) { l.Collector.Damage = "row 5 missing" }, "collector", Fail, "the database is damaged: row 5 missing", false, "save what can be read: kiro-learn export FILE; then kiro-learn collector stop, move the database away and kiro-learn import FILE"},
		{"a model that fails", func(_ *machine, l *Live) {
			l.Model = ModelState{Engine: "kiro", State: "open", Error: "kiro: no answer", RetryAt: "2026-11-30T12:02:00Z", Later: 9}
		}, "model", Warn, "kiro fails, so the rules make the records and 9 events wait for it; it is asked again in 2m0s. The last failure: kiro: no answer", false, `see that kiro-cli works and is signed in, or set extract.engine to "rules"`},
		{"a model that cannot be made", func(_ *machine, l *Live) {
			l.Model = ModelState{Engine: "openai", State: "unavailable", Error: "set llm.base_url"}
		}, "model", Warn, "openai cannot be used", false, `see llm in the settings and the log, or set extract.engine to "rules"`},
		{"a model that fails now and then", func(_ *machine, l *Live) {
			l.Model = ModelState{Engine: "command", State: "closed", Error: "exit status 1", Failing: 2}
		}, "model", Warn, "command failed on what 2 sessions say", false, `see llm in the settings and the log, or set extract.engine to "rules"`},
		{"outbox unreadable", func(_ *machine, l *Live) { l.Outbox = OutboxState{Error: "open outbox: permission denied"} }, "outbox", Fail, "cannot be read: open outbox: permission denied", false, `see that it is yours, as with: sudo chown -R "$USER" @/kl/state`},
		{"kiro-cli that does not answer", func(m *machine, _ *Live) {
			m.write(filepath.Join(m.dir, "bin", "kiro-cli"), "#!/bin/sh\nexit 1\n", 0o755)
		}, "kiro", Warn, "kiro-cli does not say its version", false, "kiro-cli --version"},
		{"events wait", func(_ *machine, l *Live) { l.Outbox.Pending, l.Outbox.Oldest = 7, l.Now.Add(-26*time.Hour) }, "outbox", Warn, "7 events wait, the oldest for 26h", false, "kiro-learn flush"},
		{"events set aside", func(_ *machine, l *Live) { l.Outbox.Quarantined = 3 }, "outbox", Warn, "3 events could not", false, "kiro-learn outbox quarantine"},
		{"events lost", func(_ *machine, l *Live) { l.Outbox.Dropped, l.Outbox.DropReason = 4, "the outbox is full" }, "outbox", Warn, "4 events could not be kept", false, "make room on the disk or raise outbox.max_bytes, then type: kiro-learn outbox status --forget-drops"},
		{"outbox full", func(_ *machine, l *Live) { l.Outbox.Bytes = 1 << 20 }, "outbox", Fail, "full", false, "kiro-learn flush"},
		{"no event ever", func(_ *machine, l *Live) { l.LastEvent = nil }, "events", Warn, "no event", false, "start a new session in Kiro, since running ones keep the hooks they began with"},
		{"empty payloads", func(_ *machine, l *Live) { l.EmptyPayloads = 80 }, "events", Warn, "80 of the last 100", false, "update Kiro"},
		{"database readable", func(_ *machine, l *Live) { _ = os.Chmod(l.Dirs.Database(), 0o644) }, "files", Fail, "others may use 1", true, mends},
		{"state directory open", func(_ *machine, l *Live) { _ = os.Chmod(l.Dirs.State, 0o755) }, "files", Fail, "others may use 1", true, mends},
		{"token readable", func(_ *machine, l *Live) { _ = os.Chmod(l.Dirs.ConfigFile(), 0o640) }, "files", Fail, "others may use 1", true, mends},
		{"log held by a reader", func(_ *machine, l *Live) { l.LogBytes = 100 << 20 }, "files", Warn, "100 MiB", false, "close the program that has it open; the log shrinks by itself"},
		{"disk full", func(_ *machine, l *Live) { l.DiskFree = 5 << 20 }, "files", Fail, "5 MiB", false, "make room on that disk"},
		{"no Kiro", func(m *machine, _ *Live) {
			m.remove(".kiro")
			_ = os.Remove(filepath.Join(m.dir, "bin", "kiro-cli"))
		}, "kiro", Warn, "no Kiro was found", false, "install Kiro, then type: kiro-learn doctor"},
	}
}

func TestDoctorFindsWhatIsPlanted(t *testing.T) {
	faults := append(wiringFaults(), liveFaults()...)
	if len(faults) < 30 {
		t.Fatalf("only %d faults", len(faults))
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			m, live := healthy(t, "2.21.3", "")
			f.plant(m, live)
			checkFault(t, m, live, f)
		})
	}
}

func checkFault(t *testing.T, m *machine, live *Live, f fault) {
	t.Helper()
	before := m.tree()
	fs := Doctor(m.env, *live)
	i := slices.IndexFunc(fs, func(x Finding) bool {
		return x.Check == f.check && x.Status == f.status && strings.Contains(x.Detail, f.detail)
	})
	if i < 0 {
		t.Fatalf("not found; doctor says %q", ill(fs))
	}
	next := strings.NewReplacer(m.env.Home, "~", m.dir, "@").Replace(fs[i].Fix)
	if next != f.next || fs[i].Fixable != f.fixable {
		t.Errorf("next to type: %q, want %q; fixable %v", next, f.next, fs[i].Fixable)
	}
	if d := len(m.tree()) - len(before); d != 0 {
		t.Errorf("looking changed %d files", d)
	}
	if !f.fixable {
		return
	}
	for _, r := range Fix(fs) {
		if r.Status != OK {
			t.Errorf("not mended: %+v", r)
		}
	}
	again := Doctor(m.env, *live)
	if slices.ContainsFunc(again, func(x Finding) bool { return x.Check == f.check && x.Status != OK }) {
		t.Errorf("after the fix doctor says %q", ill(again))
	}
}

func TestDoctorOnIDE0(t *testing.T) {
	hook := func(m *machine) string { return filepath.Join(m.project, ide0JSON) }
	for _, f := range []fault{
		{"one file gone", func(m *machine, _ *Live) { _ = os.Remove(hook(m)) }, "ide", Fail, "1 of 3", false, "kiro-learn install --surface ide0"},
		{"all gone", func(m *machine, _ *Live) { _ = os.RemoveAll(filepath.Dir(hook(m))) }, "ide", Fail, "no hooks for Kiro IDE 0.12.3", false, "kiro-learn install --surface ide0"},
		{"torn", func(m *machine, _ *Live) { m.write(hook(m), "{", 0o644) }, "ide", Fail, "does not parse", false, "remove the file and type: kiro-learn install --surface ide0"},
		{"program gone", func(m *machine, _ *Live) {
			m.write(hook(m), strings.Replace(m.read(hook(m)), m.env.Executable, "/gone/kiro-learn", 1), 0o644)
		}, "ide", Fail, "which is gone", true, mends},
		{"program by name, and not on PATH", func(m *machine, _ *Live) {
			m.write(hook(m), strings.Replace(m.read(hook(m)), m.env.Executable, "kiro-learn", 1), 0o644)
		}, "ide", Fail, "runs kiro-learn, which PATH does not find", false, "put ~/opt on PATH, for Kiro, too"},
		{"fires at another event", func(m *machine, _ *Live) {
			m.write(hook(m), strings.Replace(m.read(hook(m)), `"type": "agentStop"`, `"type": "fileEdited"`, 1), 0o644)
		}, "ide", Fail, "fires at fileEdited", true, mends},
		{"switched off", func(m *machine, _ *Live) {
			m.write(hook(m), strings.Replace(m.read(hook(m)), "true", "false", 1), 0o644)
		}, "ide", Warn, "switched off", false, "switch it on in Kiro's hook panel"},
		{"another's file under our name", func(m *machine, _ *Live) { m.write(hook(m), `{"then": {"command": "x"}}`, 0o644) }, "ide", Warn, "something else", false, "rename the file and type: kiro-learn install --surface ide0"},
		{"the IDE is 1.x by now", func(m *machine, _ *Live) {
			m.write(filepath.Join(m.dir, "bin", "kiro"), "#!/bin/sh\necho 1.2.37\n", 0o755)
		}, "ide", Warn, "may run the hooks of IDE 0", false, "kiro-learn uninstall --project --surface ide0"},
	} {
		t.Run(f.name, func(t *testing.T) {
			m, live := healthy(t, "2.21.3", "0.12.3")
			f.plant(m, live)
			checkFault(t, m, live, f)
		})
	}
}
