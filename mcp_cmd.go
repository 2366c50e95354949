package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"kiro-learn/hooks"
	"kiro-learn/internal/event"
	"kiro-learn/internal/logfile"
	"kiro-learn/internal/session"
	"kiro-learn/mcp"
)

type mcpCmd struct{}

// Run speaks with the agent that started it until that leaves.
func (mcpCmd) Run(a *app) error {
	signal.Ignore(syscall.SIGPIPE) // an agent that stops listening may have given us something to save
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	wd, _ := os.Getwd() // one that is gone is nobody's project
	return mcp.Serve(ctx, mcp.Options{
		Stdin: a.stdin, Stdout: a.stdout, Dirs: a.dirs, Config: a.config, Getenv: os.Getenv, WorkDir: wd,
		Origin:  func(dir string) event.Event { return hooks.Origin(a.dirs, dir, a.version, os.Getenv) },
		Agent:   session.FindAgent,
		Program: a.program, Version: a.version,
		Log: logfile.New(a.dirs.LogFile(), filepath.Join(a.dirs.State, "log-marks"), "mcp", nil),
	})
}
