package install

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// install plans every file of an installation.
func (p *planner) install(set surfaceSet) error {
	chosen, own, err := chooseAgents(p.found, p.opt)
	if err != nil {
		return err
	}
	p.set, p.program = set, p.env.spelling(p.found.Program, p.opt.Project)
	dir, via := p.env.userDir(), viaUser
	if p.opt.Project {
		dir, via = p.env.projectDir(), viaProject
		p.plan.project = p.env.Project
		if !p.found.Program.OnPath {
			p.note("These files run %s by its name, which PATH does not find here: put %s on PATH.", programName, p.found.Program.Path)
		}
		if set.agents && len(chosen) == 0 {
			p.note("This project has no agents of its own; Kiro CLI 2 runs the hooks of yours: type kiro-learn install as well.")
		}
	}
	p.copyProgram()
	p.agents(chosen, own)
	if set.hooks {
		p.hookFile(filepath.Join(dir, "hooks", programName+".json"), p.program.shell, via)
	}
	if set.ide0 {
		p.ide0(p.program.shell)
	}
	if set.mcp {
		p.consider(filepath.Join(dir, "settings", "mcp.json"), "MCP server "+programName, shaped(mcpShape(p.program.plain), mcpFile(p.program.plain)))
	}
	p.remarks(set, chosen)
	return nil
}

func (p *planner) note(format string, args ...any) {
	p.plan.Notes = append(p.plan.Notes, fmt.Sprintf(format, args...))
}

// shaped plans a file in which ours are entries; whole is its content where there is none, nil if it is never made.
func shaped(s shape, whole object) redo {
	return func(old []byte, exists bool, m fileMemory) (outcome, error) {
		if !exists {
			if whole == nil {
				return outcome{}, &syntaxError{0, "is gone"}
			}
			return outcome{after: newFile(whole), memory: &fileMemory{Created: true}}, nil
		}
		after, was, err := s.edit(old, m.Before)
		m.Before = was
		return outcome{after: after, memory: &m}, err
	}
}

// copyProgram plans the copy of a program that stands where it cannot stay.
func (p *planner) copyProgram() {
	pr := p.found.Program
	if pr.Warning != "" {
		p.note("%s.", pr.Warning)
	}
	if pr.CopyTo == "" {
		return
	}
	src, err := os.ReadFile(pr.Source)
	if err != nil {
		p.refuse(pr.Source, err)
		return
	}
	action := Change{Path: pr.CopyTo, Action: Copy, What: "the program, from " + pr.Source, source: pr.Source}
	if old, err := os.ReadFile(pr.CopyTo); err == nil && bytes.Equal(old, src) {
		return
	}
	if info, err := os.Lstat(pr.CopyTo); err == nil && !info.Mode().IsRegular() {
		p.refuse(pr.CopyTo, &syntaxError{0, "is a link or a directory, and stands where the program has to go"})
		return
	}
	p.plan.Changes = append(p.plan.Changes, action)
}

// agents plans the files of agents.
func (p *planner) agents(chosen []Agent, own bool) {
	if !p.set.agents && !p.set.servers {
		return
	}
	var closed []string
	for _, a := range chosen {
		p.consider(a.Path, agentEntriesOf(a, p.set), shaped(agentShape(p.program, p.set), nil))
		if p.set.servers && a.NoTools {
			closed = append(closed, a.Name)
		}
	}
	if len(closed) > 0 {
		p.note("Agents whose lists of tools leave out memory, so that they cannot search it: %s. To let them, add \"@%s\" to their tools.", strings.Join(closed, ", "), programName)
	}
	if !p.set.agents {
		return
	}
	if own {
		p.ownAgent()
	}
	if !slices.Contains(p.found.Engines, "v1") || p.opt.Project {
		return // engine v3 runs the hook file whatever the agent
	}
	p.startedAgent(chosen, own)
}

// agentEntriesOf says what of ours stands in an agent's file.
func agentEntriesOf(a Agent, set surfaceSet) string {
	switch {
	case set.agents && set.servers && a.Server:
		return "hooks and MCP server of agent " + a.Name
	case set.agents:
		return "hooks of agent " + a.Name
	}
	return "MCP server of agent " + a.Name
}

func (p *planner) ownAgent() {
	file := filepath.Join(p.env.userDir(), "agents", ownAgentName+".json")
	p.consider(file, "an agent like Kiro's default, with hooks", shaped(agentShape(p.program, p.set), ownAgent(p.program.shell)))
}

// startedAgent sees to it that the agent which Kiro starts is one with hooks. Where that is its built-in one, which has no
// file, our own is offered as the default, unless the user has said which agents this is about.
func (p *planner) startedAgent(chosen []Agent, own bool) {
	f := p.found
	hooked := func(name string) bool { return slices.ContainsFunc(chosen, func(a Agent) bool { return a.is(name) }) }
	ours := own || hooked(ownAgentName)
	switch said := len(p.opt.Agents) > 0 || p.opt.AllAgents; {
	case f.DefaultAgent == ownAgentName:
		return
	case !f.startsBuiltin(p.env):
		if slices.Contains(p.opt.Agents, ownAgentName) {
			p.note("Kiro starts the agent %s unless told otherwise; start it with --agent %s.", f.DefaultAgent, ownAgentName)
		}
		return
	case said && !ours:
		p.note("Kiro starts its built-in agent unless told otherwise, and that has no file to hook: type kiro-learn install --agent %s for an agent like it.", ownAgentName)
		return
	case f.DefaultFile != "" && f.DefaultFile != p.userSettings():
		p.note("%s makes Kiro start its built-in agent here, which has no file to hook: start it with --agent %s.", f.DefaultFile, ownAgentName)
		return
	}
	p.plan.AsksDefault = true
	if p.opt.SetDefault {
		p.ownAgent()
		p.consider(p.userSettings(), "default agent "+ownAgentName, setDefault)
		return
	}
	start := "start it with --agent " + ownAgentName
	if !ours {
		start = "start it with --agent and the name of one of yours"
	}
	p.note("Kiro starts its built-in agent unless told otherwise, and that has no file to hook: let install make %s, an agent like it, the default, or %s.", ownAgentName, start)
}

func (p *planner) userSettings() string {
	return filepath.Join(p.env.userDir(), "settings", "cli.json")
}

// hookFile plans kiro-learn.json for engine v3 and IDE 1, which skip a link there.
func (p *planner) hookFile(path, shell, via string) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		p.plan.Refusals = append(p.plan.Refusals, Refusal{Path: path, Reason: "is a link, and Kiro skips hook files that are links", Hint: "remove the link and type: kiro-learn install"})
		return
	}
	p.consider(path, "hooks of Kiro CLI 3 and IDE 1", shaped(v1Shape(shell, via), v1File(shell, via)))
}

func (p *planner) ide0(shell string) {
	if p.env.Project == "" {
		p.note("Kiro IDE 0 keeps hooks in projects only: type kiro-learn install in each project that you open with it.")
		return
	}
	if p.found.Program.OnPath {
		shell = programName
	} else if !p.opt.Project {
		p.note("The hooks of Kiro IDE 0 stand in this project and name %s: put its directory on PATH and install again before a team shares them.", p.found.Program.Path)
	}
	p.plan.project = p.env.Project
	for _, h := range ide0Hooks() {
		path := filepath.Join(p.env.projectDir(), "hooks", ide0FileName(h[0]))
		p.consider(path, h[1]+" of Kiro IDE 0", func(old []byte, exists bool, m fileMemory) (outcome, error) {
			if !exists {
				return outcome{after: newFile(ide0Hook(h[1], shell)), memory: &fileMemory{Created: true}}, nil
			}
			after, err := ide0Edit(old, h[1], shell)
			return outcome{after: after, memory: &m}, err
		})
	}
}

// remarks tells what a person would otherwise wonder about.
func (p *planner) remarks(set surfaceSet, chosen []Agent) {
	f := p.found
	for _, name := range f.Silent {
		p.note("%s does not say its version, so what depends on it was left out: when %s --version works, type kiro-learn install again.", name, name)
	}
	if !f.Kiro {
		p.note("No Kiro was found here; the hooks wait for one.")
	}
	if set.agents {
		var left []string
		for _, a := range f.Agents {
			isChosen := slices.ContainsFunc(chosen, func(c Agent) bool { return c.Path == a.Path })
			if !isChosen && a.Project == p.opt.Project && !strings.HasPrefix(a.Name, modelAgents) && a.Trouble == "" {
				left = append(left, a.Name)
			}
			if !p.opt.Project && a.Project && a.Ours == 0 && slices.ContainsFunc(chosen, func(c Agent) bool { return c.Name == a.Name }) {
				p.note("In this project its own agent %s goes before yours: type kiro-learn install --project to hook it too.", a.Name)
			}
		}
		if len(left) > 0 {
			p.note("Agents without hooks: %s. Type kiro-learn install --all-agents to hook them too.", strings.Join(left, ", "))
		}
	}
	if set.hooks && p.env.Project != "" && p.env.Project != p.env.Home {
		other := filepath.Join(p.env.projectDir(), "hooks", programName+".json")
		if p.opt.Project {
			other = filepath.Join(p.env.userDir(), "hooks", programName+".json")
		}
		if d, err := readDocument(other); err == nil && len(v1Entries(d)) > 0 {
			p.note("%s runs the same hooks, so each fires twice here; an event is still stored once.", other)
		}
	}
	if f.IDE0Files && f.IDE == "" && !set.ide0 {
		p.note("This project has hooks of Kiro IDE 0: if you still use that, type kiro-learn install --surface ide0.")
	}
}

// uninstall plans every file in which something of ours may stand.
func (p *planner) uninstall(set surfaceSet) {
	p.plan.uninstall, p.plan.partial = true, p.opt.Project
	var dirs []string
	if !p.opt.Project {
		dirs = append(dirs, p.env.userDir())
	}
	for _, root := range append([]string{p.env.Project}, p.mem.Projects...) {
		if root == "" || p.opt.Project && root != p.env.Project {
			continue
		}
		dirs = append(dirs, filepath.Join(root, ".kiro"))
		p.plan.forget = append(p.plan.forget, root)
	}
	for _, dir := range dirs {
		p.sweep(dir, set)
	}
	if set == everySurface() && !p.opt.Project {
		p.leftFiles(dirs)
		if f := p.mem.Program; f != "" {
			if _, err := os.Lstat(f); err == nil {
				p.plan.Changes = append(p.plan.Changes, Change{Path: f, Action: Remove, What: "the program's copy"})
			}
		}
	}
	if set != everySurface() {
		p.plan.keeps = true
	}
}

// sweep plans the removal of ours from one .kiro directory.
func (p *planner) sweep(dir string, set surfaceSet) {
	if set.agents || set.servers {
		for _, a := range agentsIn(filepath.Join(dir, "agents"), false) {
			p.consider(a.Path, agentEntriesOf(a, set), cleanAgent(a.Path, set))
		}
	}
	if set.agents {
		p.consider(filepath.Join(dir, "settings", "cli.json"), "default agent", restoreDefault)
	}
	if set.hooks {
		eachFile(filepath.Join(dir, "hooks"), ".json", func(path string) { p.consider(path, "hooks of Kiro CLI 3 and IDE 1", cleanHooks(path)) })
	}
	if set.ide0 {
		eachFile(filepath.Join(dir, "hooks"), ".kiro.hook", func(path string) { p.consider(path, "hook of Kiro IDE 0", cleanIDE0) })
	}
	if set.mcp {
		p.consider(filepath.Join(dir, "settings", "mcp.json"), "MCP server", cleanMCP)
	}
}

// leftFiles plans remembered files outside the directories swept, such as those of a home that was moved.
func (p *planner) leftFiles(dirs []string) {
	for _, path := range slices.Sorted(maps.Keys(p.mem.Files)) {
		dir := filepath.Dir(filepath.Dir(path))
		if slices.Contains(dirs, dir) {
			if _, err := os.Lstat(path); err != nil {
				p.plan.clear = append(p.plan.clear, path)
			}
			continue
		}
		dirs = append(dirs, dir)
		p.sweep(dir, everySurface())
	}
}

// cleaned plans the removal of entries; rest says whether what is left is nothing but our own making.
func cleaned(s shape, rest func(d *document, m fileMemory) bool) redo {
	return func(old []byte, exists bool, m fileMemory) (outcome, error) {
		if !exists {
			return outcome{gone: true}, nil
		}
		after, n, err := s.clean(old, m.Before)
		if err != nil {
			return outcome{}, err
		}
		if d, err := parse(after); err == nil && (n > 0 || m.Created) && rest(d, m) {
			return outcome{gone: true}, nil
		}
		return outcome{after: after}, nil
	}
}

func cleanAgent(path string, set surfaceSet) redo {
	return cleaned(agentShape(spelling{}, set), func(d *document, m fileMemory) bool {
		if !m.Created && !(m.unknown && filepath.Base(path) == ownAgentName+".json") {
			return false
		}
		base, err := parse(newFile(ownAgentBase()))
		return err == nil && canonical(d) == canonical(base)
	})
}

func cleanHooks(path string) redo {
	return cleaned(v1Shape("", ""), func(d *document, m fileMemory) bool {
		if !m.Created && !(m.unknown && filepath.Base(path) == programName+".json") {
			return false
		}
		o, _ := d.root.Value.(*hujson.Object)
		for i := range o.Members {
			if k := keyOf(o, i); k != "version" && k != "hooks" || k == "hooks" && len(items(&o.Members[i].Value).items) > 0 {
				return false
			}
		}
		return true
	})
}

func cleanMCP(old []byte, exists bool, m fileMemory) (outcome, error) {
	return cleaned(mcpShape(""), func(d *document, m fileMemory) bool { return m.Created && hollow(d) })(old, exists, m)
}

// hollow tells that nothing is left in a file but braces.
func hollow(d *document) bool {
	return len(items(&d.root).items) == 0 && comments(d.text) == ""
}

func cleanIDE0(old []byte, exists bool, m fileMemory) (outcome, error) {
	if !exists {
		return outcome{gone: true}, nil
	}
	d, err := parse(old)
	if err != nil {
		return outcome{}, err
	}
	if _, _, ours := ide0Ours(d); ours {
		return outcome{gone: true}, nil
	}
	return outcome{after: old}, nil
}
