package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/hooks"
	"kiro-learn/internal/config"
	"kiro-learn/outbox"
)

// state is how things are, without starting anything.
type state struct {
	Version   string         `json:"version"`
	Enabled   bool           `json:"enabled"`
	Collector *client.Health `json:"collector"` // null: none answers
	Problem   string         `json:"problem,omitempty"`

	StartFailure string               `json:"start_failure,omitempty"` // of the last collector, where none runs
	Address      string               `json:"address"`
	Outbox       outbox.Status        `json:"outbox"`
	Totals       map[string]int       `json:"totals"`
	LastEvent    map[string]time.Time `json:"last_event"` // by surface
	Engine       client.Engine        `json:"engine"`
	Damage       string               `json:"damage,omitempty"` // of the database, which could not be mended
	Log          string               `json:"log"`
	Settings     string               `json:"settings"`
	Off          string               `json:"off,omitempty"` // why hooks do nothing here
	Database     string               `json:"database"`
}

func (a *app) look() (state, error) {
	s := state{Version: a.version, Enabled: a.config.Enabled, Log: a.dirs.LogFile(), Settings: a.dirs.ConfigFile(), Database: a.dirs.Database(), Off: a.off()}
	var err error
	if s.Outbox, err = a.queue().Status(); err != nil {
		return s, err
	}
	cl, err := client.New(a.dirs, a.config.Collector)
	if err != nil {
		return s, err
	}
	s.Address = cl.Address()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	h, err := cl.Health(ctx)
	if err != nil {
		if !errors.Is(err, client.ErrAbsent) {
			s.Problem = err.Error()
		}
		s.StartFailure = a.dirs.StartFailure()
		return s, nil
	}
	s.Collector = &h
	var stats struct {
		Total     map[string]int       `json:"total"`
		LastEvent map[string]time.Time `json:"last_event"`
		Engine    client.Engine        `json:"engine"`
		Damage    string               `json:"damage"`
	}
	if err := cl.Call(ctx, "GET", "/v1/stats", nil, &stats); err != nil {
		s.Problem = err.Error()
	}
	s.Totals, s.LastEvent, s.Engine, s.Damage = stats.Total, stats.LastEvent, stats.Engine, stats.Damage
	return s, nil
}

type statusCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run says how things are; it starts nothing and exits 0 whatever it finds.
func (c statusCmd) Run(a *app) error {
	s, err := a.look()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(a.stdout, s)
	}
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(a.stdout, format+"\n", args...) }
	if s.Off != "" {
		p("switched off: %s", s.Off)
	}
	switch {
	case s.Collector != nil:
		p("collector  %s, pid %d", s.Collector.Version, s.Collector.PID)
		p("memory     %s", holds(s.Totals))
		if s.Damage != "" {
			p("           the database is damaged: %s; save what can be read with: kiro-learn export FILE", safe(s.Damage))
		}
		printEngine(p, s.Engine)
		for surface, t := range s.LastEvent {
			p("last event %s ago from %s", time.Since(t).Round(time.Second), surface)
		}
		if len(s.LastEvent) == 0 {
			p("last event none yet; start a new Kiro session, and if none comes then: kiro-learn doctor")
		}
	case s.Problem != "":
		p("collector  does not answer: %s", s.Problem)
	case s.StartFailure != "":
		p("collector  does not start: %s", safe(s.StartFailure))
	default:
		p("collector  not running; the next hook starts it")
	}
	p("outbox     %s waiting, %d set aside, %d dropped", many(s.Outbox.Pending, "event"), s.Outbox.Quarantined, s.Outbox.Dropped)
	if s.Outbox.Quarantined > 0 {
		p("           look at them: kiro-learn outbox quarantine")
	}
	if s.Outbox.Dropped > 0 {
		p("           dropped because: %s", s.Outbox.DropReason)
	}
	p("settings   %s", s.Settings)
	return nil
}

// holds is what the totals of a collector's store say.
func holds(total map[string]int) string {
	return fmt.Sprintf("%s from %s in %s, %d to distil", many(total["records"], "record"), many(total["events"], "event"), many(total["sessions"], "session"), total["pending_extraction"])
}

// off says why hooks do nothing in this directory; "" where they work.
func (a *app) off() string {
	wd, _ := os.Getwd() // one that is gone is nobody's project
	root := hooks.ProjectRoot(a.dirs, wd)
	switch {
	case config.Disabled(os.Getenv):
		return "KIRO_LEARN_DISABLE is set here"
	case !a.config.Enabled:
		return `"enabled" is false in ` + a.dirs.ConfigFile()
	case config.ProjectProblem(root) != "":
		return "this project's .kiro/kiro-learn.json cannot be read, which counts as off"
	case !config.ProjectEnabled(root):
		return "this project switches it off in .kiro/kiro-learn.json"
	}
	return ""
}

// printEngine says how the language model is doing, if one makes the records.
func printEngine(p func(string, ...any), e client.Engine) {
	if e.Extract != "llm" {
		return
	}
	switch m := e.Model; {
	case m == nil:
		p("model      not needed so far")
	case m.State == "closed":
		p("model      %s, %s, %d failed", m.Engine, many(m.Calls, "call"), m.Failed)
	case m.State == "unavailable":
		p("model      %s cannot be used, so the rules make the records: %s", m.Engine, safe(m.LastError))
	default:
		p("model      %s is left in peace after failures, so the rules make the records; the last one: %s", m.Engine, safe(m.LastError))
		p("           it is tried again %s", soon(m.RetryAt))
	}
	if e.Failing > 0 {
		p("           what was said in %s failed and is tried again soon", many(e.Failing, "session"))
	}
	if e.Later > 0 {
		p("           %s to be distilled again by it, %s", many(e.Later, "event"), soon(e.LaterAt))
	}
}

// soon is a time to come, as people say it.
func soon(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if d := time.Until(t); err == nil && d > time.Second {
		return "in " + d.Round(time.Second).String()
	}
	return "with the next batch"
}
