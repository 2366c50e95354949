package main

import (
	"fmt"
	"strings"
)

const description = `A memory for Kiro agents: what one session learned is in front of the next one's prompt.

Start with "kiro-learn demo" to see it, and "kiro-learn install" to use it.`

// commands is the whole command line on one screen; each verb has a file of its own.
type commands struct {
	Search   searchCmd   `cmd:"" group:"memory" help:"Find memory records."`
	Show     showCmd     `cmd:"" group:"memory" help:"Show a memory record or an event whole."`
	Why      whyCmd      `cmd:"" group:"memory" help:"Say what the last prompts were shown, and why."`
	Sessions sessionsCmd `cmd:"" group:"memory" help:"List sessions, the latest first."`
	Summary  summaryCmd  `cmd:"" group:"memory" help:"Say where a session stands: what needs you, what is next."`
	UI       uiCmd       `cmd:"" name:"ui" group:"memory" help:"Open pages in a browser that show all of this, and let you change it."`
	Tail     tailCmd     `cmd:"" group:"memory" help:"Print events and records as they come."`

	Forget   forgetCmd   `cmd:"" group:"memory" help:"Take records, sessions or a whole project out of memory."`
	History  historyCmd  `cmd:"" group:"memory" help:"Show the older records that a record stands for."`
	Restore  restoreCmd  `cmd:"" group:"memory" help:"Bring back a record that another one stands for."`
	Projects projectsCmd `cmd:"" group:"memory" help:"List projects, or join two after a move."`
	Export   exportCmd   `cmd:"" group:"memory" help:"Write events and records as lines of JSON."`
	Import   importCmd   `cmd:"" group:"memory" help:"Store what an export holds, or the TypeScript kiro-learn's database."`

	Install   installCmd   `cmd:"" group:"setup" help:"Wire the hooks and the MCP server into every Kiro found."`
	Uninstall uninstallCmd `cmd:"" group:"setup" help:"Take everything out again and give the files back as they were."`
	Doctor    doctorCmd    `cmd:"" group:"setup" help:"Check what is wired and running, and say what to do."`
	Status    statusCmd    `cmd:"" group:"setup" help:"Say in a few lines how things are."`
	Demo      demoCmd      `cmd:"" group:"setup" help:"Play a recorded story through the real hooks in a temporary home."`
	Bench     benchCmd     `cmd:"" group:"setup" help:"Measure what it costs on this machine."`
	Version   versionCmd   `cmd:"" group:"setup" help:"Print the version."`

	Collector collectorCmd `cmd:"" group:"machine" help:"Run, start, stop or look at the collector."`
	Flush     flushCmd     `cmd:"" group:"machine" help:"Hand everything in the outbox to the collector."`
	Outbox    outboxCmd    `cmd:"" group:"machine" help:"Look at events that wait, and at those set aside."`
	MCP       mcpCmd       `cmd:"" name:"mcp" group:"machine" help:"Serve memory to an agent over the Model Context Protocol."`

	AgentSpawn       hookCmd `cmd:"" name:"agentSpawn" aliases:"SessionStart,sessionStart" group:"hooks" help:"An agent has started."`
	UserPromptSubmit hookCmd `cmd:"" name:"userPromptSubmit" aliases:"UserPromptSubmit" group:"hooks" help:"The user has sent a prompt; prints what is remembered about it."`
	PostToolUse      hookCmd `cmd:"" name:"postToolUse" aliases:"PostToolUse" group:"hooks" help:"A tool was used."`
	Stop             hookCmd `cmd:"" name:"stop" aliases:"Stop" group:"hooks" help:"A turn has ended."`
	PromptSubmit     hookCmd `cmd:"" name:"promptSubmit" group:"hooks" help:"Kiro IDE 0.x: the user has sent a prompt."`
	AgentStop        hookCmd `cmd:"" name:"agentStop" group:"hooks" help:"Kiro IDE 0.x: a turn has ended."`
	Hook             anyHook `cmd:"" name:"hook" group:"hooks" help:"A hook whose event the payload names."`
}

// hookCmd documents the hooks' flags; a hook itself never gets as far as the parser.
type hookCmd struct {
	Surface string `default:"auto" enum:"auto,kiro-cli,kiro-ide" help:"Which Kiro fires the hook."`
	Payload string `default:"auto" enum:"auto,stdin,env" help:"Where the payload comes from."`
	Via     string `help:"Which registration fires the hook; set by install."`
}

type anyHook struct {
	Event string `arg:"" optional:"" help:"The hook's name, if the payload does not say it."`
	hookCmd
}

type versionCmd struct{}

// Run prints the version and nothing else.
func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.stdout, "kiro-learn "+strings.TrimPrefix(a.version, "v"))
	return err
}
