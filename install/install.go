// Package install knows where each Kiro keeps its hooks, and puts ours there and takes them out again without touching
// a byte that is not ours.
//
// A file is parsed to a syntax tree with byte offsets, and our entries are spliced into its text in the style that its
// owner writes; nothing is ever decoded and written again. Before a change counts it is proved: the result parses,
// holds our entries once, and taking them out gives the old file back byte for byte. A file for which that cannot be
// done is left alone and named with line and hint. Entries of ours are known by their parsed command line, not by a
// substring and not by a mark, so install finds and upgrades what any earlier version wrote, and uninstall works on a
// machine where the program is gone.
//
// What is written where:
//
//	CLI engines v1, v2   the agents' "hooks" in ~/.kiro/agents/*.json; an agent of our own if there is none
//	CLI engine v3, IDE 1 ~/.kiro/hooks/kiro-learn.json, or the project's
//	IDE 0                the project's .kiro/hooks/kiro-learn-*.kiro.hook, only where IDE 0 is in use
//	MCP                  ~/.kiro/settings/mcp.json, or the project's; and those of the hooked agents that take no servers
//	                     from there but may use ours, in their "mcpServers". A list of tools that does not admit ours is
//	                     its owner's to widen
//
// One CLI binary may run any engine, so both kinds are written for every machine; the collector stores an event once
// even if both fire.
//
// Without Agents or AllAgents the agents to hook are: the default agent if it is a file; else, since Kiro's built-in
// agent has none, all of the user's; else our own. Agents that are hooked already are always brought up to date. Where
// Kiro starts its built-in agent and only agents' hooks can fire, the plan offers to make our own agent the default; an
// agent that the user has chosen as the default stays that.
//
// Agents in Markdown are for engine v3 alone, which runs the hook file for every agent: they are not edited.
package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Env is the world as install sees it. All paths are absolute.
type Env struct {
	Home       string // the user's home; Kiro ignores KIRO_HOME for hooks, and so does this
	Project    string // root of the project in whose directory the user stands, "" for none
	StateDir   string // install.json and backups go here
	DataDir    string // of the memory; made, when known, so that purging can take back what was made for it
	Executable string // os.Executable()
	GOOS       string // runtime.GOOS
	Getenv     func(string) string
	LookPath   func(string) (string, error)
	// Run starts a program and gives its standard output; it must end when the context does.
	Run func(ctx context.Context, name string, args ...string) (string, error)

	lockWait time.Duration // 0 for lockWait
}

// Options are the user's choices.
type Options struct {
	Project    bool     // the project's files instead of the user's, without absolute paths
	Surface    string   // "" or "auto", "kiro-cli", "kiro-ide", or one of "agents", "hooks", "ide0", "mcp"
	Agents     []string // names of the agents to hook; "kiro-learn" makes our own
	AllAgents  bool
	SetDefault bool // the user agrees that our own agent becomes Kiro's default where Plan.AsksDefault says so
}

// A UsageError is a wish that cannot be met as it was put; its text ends with what to type instead.
type UsageError struct{ why string }

// Error is the whole message, hint included.
func (e *UsageError) Error() string { return e.why }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// surfaceSet says which kinds of entry to write.
type surfaceSet struct {
	agents  bool // hooks of agents
	servers bool // the MCP server in agents that would not see it otherwise
	hooks   bool // of hook files
	ide0    bool // hooks of IDE 0
	mcp     bool // the MCP server in mcp.json
}

func everySurface() surfaceSet { return surfaceSet{true, true, true, true, true} }

func surfaces(o Options, f Found) (surfaceSet, error) {
	old := major(f.IDE) == 0
	switch o.Surface {
	case "", "auto":
		return surfaceSet{agents: true, servers: true, hooks: true, ide0: old, mcp: true}, nil
	case "kiro-cli":
		return surfaceSet{agents: true, servers: true, hooks: true, mcp: true}, nil
	case "kiro-ide":
		return surfaceSet{hooks: true, ide0: old, mcp: true}, nil
	case "agents":
		return surfaceSet{agents: true, servers: true}, nil
	case "hooks":
		return surfaceSet{hooks: true}, nil
	case "ide0":
		return surfaceSet{ide0: true}, nil
	case "mcp":
		return surfaceSet{servers: true, mcp: true}, nil
	}
	return surfaceSet{}, usage("there is no surface %q: use auto, kiro-cli, kiro-ide, agents, hooks, ide0 or mcp", o.Surface)
}

// chooseAgents gives the agent files to hook, and whether to make our own.
func chooseAgents(f Found, o Options) (chosen []Agent, own bool, err error) {
	var candidates []Agent
	for _, a := range f.Agents {
		if a.Project == o.Project && !strings.HasPrefix(a.Name, modelAgents) {
			candidates = append(candidates, a)
		}
	}
	switch {
	case len(o.Agents) > 0:
		chosen, own, err = namedAgents(candidates, o)
	case o.AllAgents:
		chosen = candidates
	default:
		i := slices.IndexFunc(candidates, func(a Agent) bool { return f.DefaultAgent != "" && a.is(f.DefaultAgent) })
		if i >= 0 {
			chosen = candidates[i : i+1]
		} else {
			chosen = candidates
		}
	}
	if err != nil {
		return nil, false, err
	}
	for _, a := range candidates {
		if a.Ours > 0 && !slices.ContainsFunc(chosen, func(c Agent) bool { return c.Path == a.Path }) {
			chosen = append(chosen, a)
		}
	}
	lost := f.DefaultAgent == ownAgentName && !slices.ContainsFunc(f.Agents, func(a Agent) bool { return a.is(ownAgentName) })
	if len(o.Agents) == 0 && !o.Project && (len(candidates) == 0 || lost) {
		own = true
	}
	return chosen, own, nil
}

func (a Agent) is(name string) bool {
	return a.Name == name || strings.HasSuffix(strings.ReplaceAll(a.Path, `\`, "/"), "/"+name+".json")
}

func namedAgents(candidates []Agent, o Options) (chosen []Agent, own bool, err error) {
	var names []string
	for _, a := range candidates {
		names = append(names, a.Name)
	}
	for _, n := range o.Agents {
		i := slices.IndexFunc(candidates, func(a Agent) bool { return a.is(n) })
		switch {
		case i >= 0:
			chosen = append(chosen, candidates[i])
		case n == ownAgentName && !o.Project:
			own = true
		case n == "kiro_default" || n == "default" || n == "kiro_planner" || n == "kiro_help":
			return nil, false, usage("%s is built into Kiro, and a file of that name would replace it: use --agent %s for an agent like it", n, ownAgentName)
		case o.Project && len(names) == 0:
			return nil, false, usage("this project has no agent %q, and none at all: leave out --project to hook yours", n)
		case len(names) == 0:
			return nil, false, usage("there is no agent %q, and no agent file at all: use --agent %s", n, ownAgentName)
		default:
			return nil, false, usage("there is no agent %q: use one of %s", n, strings.Join(names, ", "))
		}
	}
	return chosen, own, nil
}

// PlanInstall says what installing would change. It changes nothing. Files that have to be left alone are the plan's
// refusals; the error is a *UsageError, or says why nothing can be planned at all.
func PlanInstall(env Env, o Options) (*Plan, error) {
	if env.Home == "" {
		return nil, errors.New("the home directory is not known: set HOME and try again")
	}
	if o.Project && env.Project == "" {
		return nil, usage("this directory belongs to no project: change into one, or leave out --project")
	}
	f := Detect(env)
	set, err := surfaces(o, f)
	if err != nil {
		return nil, err
	}
	p := newPlanner(env, o, f)
	for _, l := range f.lines(env, p.plan.short) {
		p.plan.found = append(p.plan.found, "found   "+l)
	}
	if err := p.install(set); err != nil {
		return nil, err
	}
	return p.plan, nil
}

// PlanUninstall says what taking out everything of ours would change: in the user's files, this project's, and those
// of every project that install remembers; with Options.Project only in this project's.
func PlanUninstall(env Env, o Options) (*Plan, error) {
	if env.Home == "" {
		return nil, errors.New("the home directory is not known: set HOME and try again")
	}
	if o.Project && env.Project == "" {
		return nil, usage("this directory belongs to no project: change into one, or leave out --project")
	}
	set := everySurface()
	if o.Surface != "" && o.Surface != "auto" {
		var err error
		if set, err = surfaces(o, Found{IDE: "0.0"}); err != nil {
			return nil, err
		}
	}
	p := newPlanner(env, o, Found{})
	p.uninstall(set)
	return p.plan, nil
}
