package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/install"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

type doctorCmd struct {
	Fix      bool `help:"Mend what can be mended without harm."`
	JSON     bool `name:"json" help:"Print JSON."`
	SelfTest bool `default:"true" negatable:"" help:"Send a marked prompt through each installed command, as Kiro would, and remove it again."`
}

// Run checks everything; exit 1 when something fails.
func (c doctorCmd) Run(a *app) error {
	env, err := a.installEnv()
	if err != nil {
		return err
	}
	live := a.live(env)
	findings := install.Doctor(env, live)
	var mended []install.Finding
	if c.Fix {
		if mended = install.Fix(findings); len(mended) > 0 {
			findings = install.Doctor(env, live)
		}
	}
	if c.SelfTest && live.Disabled == "" {
		findings = append(findings, a.selfTest(install.Wired(env))...)
	}
	failed := false
	for _, f := range findings {
		failed = failed || f.Status == install.Fail
	}
	if c.JSON {
		if err := printJSON(a.stdout, map[string]any{"findings": findings, "mended": mended}); err != nil {
			return err
		}
	} else {
		a.printFindings(mended)
		a.printFindings(findings)
	}
	if failed {
		return &exitError{1, ""}
	}
	return nil
}

// findings are doctor's for the pages: without the self-test, which writes.
func (a *app) findings(context.Context) (any, error) {
	env, err := a.installEnv()
	if err != nil {
		return nil, err
	}
	return install.Doctor(env, a.live(env)), nil
}

func statusStyle(s install.Status) string {
	switch s {
	case install.OK:
		return green
	case install.Fail:
		return red
	}
	return yellow
}

func (a *app) printFindings(findings []install.Finding) {
	for _, f := range findings {
		detail := f.Detail
		if f.Path != "" && !strings.Contains(detail, f.Path) && f.Status != install.OK {
			detail += "  (" + short(f.Path) + ")"
		}
		_, _ = fmt.Fprintf(a.stdout, "%s  %-9s  %s\n", paint(a.stdout, statusStyle(f.Status), fmt.Sprintf("%-4s", f.Status)), f.Check, safe(detail))
		if f.Fix != "" {
			_, _ = fmt.Fprintf(a.stdout, "                 %s\n", safe(f.Fix))
		}
	}
}

// short is a path as a person at home writes it.
func short(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && err == nil {
		return filepath.Join("~", rest)
	}
	return path
}

// live gathers what doctor is to know of the running system, without starting anything.
func (a *app) live(env install.Env) install.Live {
	s, err := a.look()
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	_, warnings := config.Load(a.dirs)
	l := install.Live{
		Version: a.version, Dirs: a.dirs, ConfigWarnings: warnings, LastEvent: s.LastEvent, DiskFree: diskFree(a.dirs), LogBytes: logBytes(a.dirs), ModelAgent: "kiro-learn-compressor", Now: time.Now(),
		Outbox: install.OutboxState{
			Pending: s.Outbox.Pending, Quarantined: s.Outbox.Quarantined, Bytes: s.Outbox.Bytes, MaxBytes: a.config.Outbox.MaxBytes,
			Dropped: s.Outbox.Dropped, LastDrop: s.Outbox.LastDrop, DropReason: s.Outbox.DropReason, Error: problem,
		},
	}
	l.Outbox.Oldest, _ = time.Parse(time.RFC3339, s.Outbox.Oldest)
	l.Disabled = s.Off
	if problem := config.ProjectProblem(env.Project); problem != "" {
		l.ConfigWarnings = append(l.ConfigWarnings, problem)
	}
	l.Collector = install.CollectorState{Error: s.Problem, Failure: s.StartFailure}
	if a.config.Collector.URL == "" {
		l.Collector.Socket = s.Address
	}
	if s.Collector != nil {
		l.Collector.Running, l.Collector.Version, l.Collector.Damage = true, s.Collector.Version, s.Damage
		l.Events, l.EmptyPayloads = a.emptyPayloads()
	}
	if e := s.Engine; e.Extract == "llm" {
		l.Model = install.ModelState{Engine: a.config.LLM.Engine, Failing: e.Failing, Later: e.Later}
		if m := e.Model; m != nil {
			l.Model.Engine, l.Model.State, l.Model.Error, l.Model.RetryAt = m.Engine, m.State, m.LastError, m.RetryAt
		}
	}
	return l
}

// emptyPayloads counts, among the latest events, those of which Kiro told nothing.
func (a *app) emptyPayloads() (events, empty int) {
	cl, err := client.New(a.dirs, a.config.Collector)
	if err != nil {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var got struct {
		Items []event.Event `json:"items"`
	}
	if err := cl.Call(ctx, "GET", "/v1/events?limit=200", nil, &got); err != nil {
		return 0, 0
	}
	for i := range got.Items {
		if got.Items[i].Kind == event.KindNote {
			continue
		}
		events++
		b, err := event.ParseBody(got.Items[i].Body)
		if err != nil {
			continue
		}
		if tool := b.Tool(); strings.TrimSpace(b.Text()) == "" && (b.Type != event.BodyJSON || nothing(tool.Input) && nothing(tool.Response)) {
			empty++
		}
	}
	return events, empty
}

func nothing(raw []byte) bool { return strings.Trim(string(raw), "{}[]\" \n") == "" }

// logBytes is the size of the database's write-ahead log.
func logBytes(d config.Dirs) int64 {
	info, err := os.Stat(d.Database() + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// diskFree is how many bytes are free where the memory stands; negative when that is not known.
func diskFree(d config.Dirs) int64 {
	for _, dir := range []string{d.Data, d.State, d.Config} {
		if n, err := freeBytes(dir); err == nil {
			return n
		}
	}
	return -1
}
