package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// agents looks at the hooks of agent files, which engines v1 and v2 run.
func (d *doctor) agents(check string) {
	hooked := 0
	for _, a := range d.found.Agents {
		if a.Trouble != "" {
			d.unreadable(check, a)
			continue
		}
		if a.Name == d.live.ModelAgent || strings.HasPrefix(a.Name, modelAgents) {
			d.modelAgent(check, a)
			continue
		}
		doc, err := readDocument(a.Path)
		if err != nil {
			continue
		}
		if a.Ours > 0 {
			hooked++
			d.hookedAgent(check, a, doc)
		}
		d.othersInAgent(check, a, doc)
		d.usersOwn(check, a.Path, doc)
	}
	d.agentCoverage(check, hooked)
	d.notesInMarkdown(check)
}

func (d *doctor) unreadable(check string, a Agent) {
	status, detail := Warn, a.Trouble
	if b, err := readFile(a.Path); err == nil && strings.Contains(string(b), programName) {
		status = Fail
	}
	if _, err := os.Stat(a.Path); err != nil {
		detail = "leads to a file that does not exist"
	} else if d.env.Project == "" && a.Project {
		return
	}
	d.report(Finding{Check: check, Status: status, Path: a.Path, Detail: "the agent " + detail + ", so Kiro does not load it", Fix: "mend the file and type: kiro-learn install"}, nil)
}

func (d *doctor) modelAgent(check string, a Agent) {
	if a.Ours > 0 {
		d.report(Finding{Check: check, Status: Fail, Path: a.Path, Detail: "the agent of kiro-learn's own model runs has hooks, so it would remember itself"},
			d.file(a.Path, "hooks of agent "+a.Name, cleanAgent(a.Path, everySurface())))
	}
}

// hookedAgent looks at our entries in one file. One mend puts all of them right.
func (d *doctor) hookedAgent(check string, a Agent, doc *document) {
	mend := d.file(a.Path, "hooks of agent "+a.Name, shaped(agentShape(d.env.spelling(d.found.Program, a.Project), everySurface()), nil))
	bad := func(status Status, format string, args ...any) {
		d.report(Finding{Check: check, Status: status, Path: a.Path, Detail: fmt.Sprintf(format, args...)}, mend)
	}
	seen := map[string]int{}
	for _, p := range agentEntries(doc) {
		seen[p.id]++
		if !slices.Contains(agentEvents(), p.id) {
			bad(Fail, "the hook under %s is for an event that kiro-learn does not take", p.id)
			continue
		}
		if fault := agentHookFault(*p.value, p.id); fault != "" {
			bad(Fail, "the hook of %s %s", p.id, fault)
		}
		l, ok := lit(agentCommand(*p.value))
		if !ok {
			continue
		}
		c, _ := ParseCommand(l.String())
		d.programFault(Finding{Check: check, Path: a.Path}, "the hook of "+p.id, c.Program, a.Project, mend)
		if c.Hook != p.id && c.Hook != "" {
			bad(Fail, "the hook of %s runs kiro-learn %s", p.id, c.Hook)
		}
	}
	d.servers(check, a.Path, doc, a.Project, mend)
	if err := mcpFit(doc); err != nil && mayUseServer(doc) && !takesServers(doc) {
		d.report(Finding{Check: check, Status: Warn, Path: a.Path, Detail: "the agent " + err.Error() + ", so it cannot search its memory", Fix: "rename that server and type: kiro-learn install"}, nil)
	} else if len(mcpEntries(doc)) == 0 && a.Server {
		bad(Warn, "the agent takes no servers from mcp.json and does not name ours, so it cannot search its memory")
	}
	for _, event := range agentEvents() {
		switch n := seen[event]; {
		case n == 0:
			bad(Fail, "the hook of %s is missing", event)
		case n > 1:
			bad(Warn, "the hook of %s stands there %d times", event, n)
		}
	}
}

// othersInAgent looks at what is not ours but makes Kiro drop the file, and our hooks with it.
func (d *doctor) othersInAgent(check string, a Agent, doc *document) {
	warn := func(at hujson.Value, format string, args ...any) {
		status := Warn
		if a.Ours > 0 {
			status = Fail
		}
		d.report(Finding{
			Check: check, Status: status, Path: a.Path, Detail: fmt.Sprintf("line %d: ", line(doc.text, at.StartOffset)) + fmt.Sprintf(format, args...),
			Fix: "edit the file; Kiro drops an agent that it does not understand",
		}, nil)
	}
	root, _ := doc.root.Value.(*hujson.Object)
	for i := range root.Members {
		if k := keyOf(root, i); !slices.Contains(agentKeys(), k) {
			warn(root.Members[i].Name, "agents have no key %q", k)
		}
	}
	if old := doc.find("useLegacyMcpJson"); old != nil && doc.find("includeMcpJson") != nil {
		warn(*old, "useLegacyMcpJson is an older name of includeMcpJson, which is there, too")
	}
	hooks := doc.find("hooks")
	o, ok := (*hujson.Object)(nil), false
	if hooks != nil {
		o, ok = hooks.Value.(*hujson.Object)
		if !ok && !isNull(*hooks) {
			warn(*hooks, "hooks is %s where Kiro expects an object", kindName(*hooks))
		}
	}
	if !ok {
		return
	}
	for i := range o.Members {
		event := keyOf(o, i)
		if !slices.Contains(append(agentEvents(), "preToolUse"), event) {
			warn(o.Members[i].Name, "agents have no hook %q", event)
		}
		list, ok := o.Members[i].Value.Value.(*hujson.Array)
		if !ok {
			warn(o.Members[i].Value, "hooks.%s is %s where Kiro expects a list", event, kindName(o.Members[i].Value))
			continue
		}
		for j := range list.Elements {
			otherHook(list.Elements[j], event, warn)
		}
	}
}

func otherHook(v hujson.Value, event string, warn func(hujson.Value, string, ...any)) {
	if !agentEntryIsOurs(v) && nestedHooks(v) != nil {
		warn(v, "a hook of %s is nested in a group, as in other agents' files", event)
	}
}

// usersOwn finds lines of the user's that also run us.
func (d *doctor) usersOwn(check, path string, doc *document) {
	for _, l := range wrapped(doc) {
		d.report(Finding{
			Check: check, Status: Warn, Path: path, Fix: "remove it if you do not need it",
			Detail: fmt.Sprintf("line %d: a hook that you wrote runs kiro-learn as part of a longer line; install leaves it alone, so the event may be reported twice", l),
		}, nil)
	}
}

// agentCoverage looks for agents in use that are not hooked.
func (d *doctor) agentCoverage(check string, hooked int) {
	old := slices.Contains(d.found.Engines, "v1") // only agents' hooks can fire by default
	install := func(o Options) func() error {
		return func() error {
			p, err := PlanInstall(d.env, o)
			if err != nil {
				return err
			}
			return p.Apply(d.env).Err()
		}
	}
	if hooked == 0 && len(d.found.Engines) > 0 {
		status := Warn
		if old {
			status = Fail
		}
		d.report(Finding{Check: check, Status: status, Detail: "no agent has hooks, so Kiro CLI " + d.found.CLI + " remembers nothing with its classic engines", Fix: "kiro-learn install"}, install(Options{Surface: "agents"}))
		return
	}
	switch name := d.found.DefaultAgent; {
	case name != "" && len(d.found.Engines) > 0:
		d.defaultAgent(check, name, install)
	case name == "" && old:
		d.report(Finding{Check: check, Status: Warn, Detail: "Kiro CLI " + d.found.CLI + " starts its built-in agent, which has no file that could be hooked", Fix: "kiro-learn install --agent " + ownAgentName}, nil)
	}
	for _, a := range d.found.Agents {
		shadow := a.Project && a.Ours == 0 && slices.ContainsFunc(d.found.Agents, func(u Agent) bool { return !u.Project && u.Name == a.Name && u.Ours > 0 })
		if shadow {
			d.report(Finding{Check: check, Status: Warn, Path: a.Path, Detail: "in this project this agent goes before yours of the same name, and has no hooks", Fix: "kiro-learn install --project --agent " + a.Name}, nil)
		}
	}
	if hooked > 0 && d.bad == 0 {
		d.ok(check, "", "%s", numbered(hooked, "agent has hooks", "agents have hooks"))
	} else if hooked == 0 && d.bad == 0 {
		d.ok(check, "", "no Kiro CLI here, so no agent needs hooks")
	}
}

func (d *doctor) defaultAgent(check, name string, install func(Options) func() error) {
	i := slices.IndexFunc(d.found.Agents, func(a Agent) bool { return a.is(name) })
	switch {
	case i < 0 && name == ownAgentName:
		d.report(Finding{Check: check, Status: Fail, Path: d.found.DefaultFile, Detail: "the default agent is " + name + ", whose file is gone"}, install(Options{Agents: []string{ownAgentName}, Surface: "agents"}))
	case i < 0 && !d.found.startsBuiltin(d.env):
		// an agent in Markdown, for engine v3, which runs the hook file
	case i < 0:
		d.report(Finding{Check: check, Status: Warn, Path: d.found.DefaultFile, Detail: "the default agent is " + name + ", which has no file that could be hooked", Fix: "kiro-learn install --agent kiro-learn"}, nil)
	case d.found.Agents[i].Ours == 0 && d.found.Agents[i].Trouble == "":
		a := d.found.Agents[i]
		d.report(Finding{Check: check, Status: Warn, Path: a.Path, Detail: "the default agent has no hooks"}, install(Options{Agents: []string{a.Name}, Surface: "agents", Project: a.Project}))
	}
}

// notesInMarkdown looks at agents written in Markdown, which only engine v3 reads, and which are not edited.
func (d *doctor) notesInMarkdown(check string) {
	for _, dir := range d.env.kiroDirs() {
		eachFile(filepath.Join(dir, "agents"), ".md", func(path string) {
			b, err := readFile(path)
			if err != nil {
				return
			}
			for l := range strings.Lines(string(b)) {
				if _, command, ok := strings.Cut(l, "command:"); ok && mentionsUs(strings.TrimSpace(command)) {
					d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "a Markdown agent runs kiro-learn's hooks, which the hook file does already", Fix: "remove them from its front matter"}, nil)
					return
				}
			}
		})
	}
}
