// Kiro-learn gives Kiro agents a memory across sessions: hook plugin, collector, MCP server, installer and command line
// in one binary.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"kiro-learn/collector/client"
	"kiro-learn/hooks"
	"kiro-learn/internal/config"
)

// version is set by the release build; `go install` leaves it to the build's own information.
var version = ""

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the program. A command line that begins with a hook's name always gives 0 and never reaches the parser: a flag
// that this version does not know must not cost the agent anything.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	begun := time.Now()
	config.SettleHome()
	if len(args) == 1 && args[0] == "stop" && isTerminal(stdin) { // a person, and no hook
		_, _ = fmt.Fprintln(stderr, "kiro-learn: stop is the hook that Kiro runs at the end of a turn; to stop the collector: kiro-learn collector stop")
		return 0
	}
	if len(args) > 0 && hooks.IsHook(args[0]) && !wantsHelp(args) {
		signal.Ignore(syscall.SIGPIPE) // Kiro may stop listening before we have printed
		hooks.Run(hooks.Process{Args: args, Stdin: stdin, Stdout: stdout, Getenv: os.Getenv, Program: program(), Version: buildVersion(), Begun: begun})
		return 0
	}
	return command(args, stdin, stdout, stderr)
}

func wantsHelp(args []string) bool {
	for _, a := range args[1:] {
		if a == "--help" || a == "-h" {
			return true
		}
	}
	return false
}

// app is what every command is given.
type app struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	dirs    config.Dirs
	config  config.Config
	version string
	program string
}

// exitError ends the program with a code, and a message unless it is empty.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func command(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	var cli commands
	exited := -1
	parser, err := kong.New(&cli, kong.Name("kiro-learn"), kong.Description(description), kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}), kong.Exit(func(c int) { exited = c; panic(kongExit{}) }),
		kong.ExplicitGroups([]kong.Group{
			{Key: "memory", Title: "Memory:"},
			{Key: "setup", Title: "Set-up:"},
			{Key: "machine", Title: "Behind the scenes:"},
			{Key: "hooks", Title: "Hooks, run by Kiro:"},
		}))
	if err != nil {
		return printError(stderr, err)
	}
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(kongExit); !ok {
				panic(p)
			}
			code = exited
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args[0] == "--version" {
		args[0] = "version"
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		_ = printError(stderr, fmt.Errorf("%w; try: %s --help", err, helpFor(err)))
		return 2
	}
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, dirs: config.FindDirs(os.Getenv), version: buildVersion(), program: program()}
	a.config, _ = config.Load(a.dirs)
	if err := ctx.Run(a); err != nil {
		return printError(stderr, err)
	}
	return 0
}

// helpFor is the command whose help says what was meant: as much of it as could be understood.
func helpFor(err error) string {
	var parse *kong.ParseError
	words := "kiro-learn"
	if errors.As(err, &parse) && parse.Context != nil {
		for _, step := range parse.Context.Path {
			if step.Command != nil {
				words += " " + step.Command.Name
			}
		}
	}
	return words
}

type kongExit struct{}

// printError says what went wrong and gives the exit code.
func printError(stderr io.Writer, err error) int {
	var exit *exitError
	if errors.As(err, &exit) {
		if exit.text != "" {
			_, _ = fmt.Fprintln(stderr, "kiro-learn: "+exit.text)
		}
		return exit.code
	}
	hint := ""
	if errors.Is(err, client.ErrAbsent) && !strings.Contains(err.Error(), ";") {
		hint = "; start one with: kiro-learn collector start"
	}
	_, _ = fmt.Fprintln(stderr, "kiro-learn: "+err.Error()+hint)
	return 1
}

func program() string {
	p, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return p
}

func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return strings.Trim(info.Main.Version, "()")
}
