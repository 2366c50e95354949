package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kiro-learn/internal/config"
)

// A Status says how bad a finding is.
type Status string

// A finding is fine, something to know, or something that keeps memory from working.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// A Finding is one thing that doctor looked at.
type Finding struct {
	Check   string `json:"check"` // what was looked at: "program", "agents", "hooks", "ide", "mcp", "collector", …
	Status  Status `json:"status"`
	Path    string `json:"path,omitempty"` // the file it is about
	Detail  string `json:"detail"`
	Fix     string `json:"fix,omitempty"` // what to type or do next
	Fixable bool   `json:"fixable"`       // Fix can mend it without harm
	mend    func() error
	hooks   []string // that share a fault of their program
}

// Live is what doctor needs to know of the running system; whoever calls it fills it in.
type Live struct {
	Version        string      // of this program
	Dirs           config.Dirs // whose modes are checked; empty strings are skipped
	Disabled       string      // why hooks do nothing, as a sentence; "" when they work
	ConfigWarnings []string    // of config.Load
	Collector      CollectorState
	Model          ModelState
	Outbox         OutboxState
	LastEvent      map[string]time.Time // newest event by surface; a surface without events is missing
	Events         int                  // how many recent events were looked at for EmptyPayloads
	EmptyPayloads  int                  // how many of them had nothing in them
	DiskFree       int64                // bytes free where the data stands; negative when unknown
	LogBytes       int64                // of the database's write-ahead log
	ModelAgent     string               // agent of our own model runs, "" for none
	Now            time.Time
}

// CollectorState is how the collector answered.
type CollectorState struct {
	Running bool
	Version string // its own; older than the program's until it hands over
	Socket  string // path, "" when it listens elsewhere
	Error   string // why it could not be asked; "" when none runs, which is no fault
	Damage  string // of its database, which could not be mended
	Failure string // why the last one did not start, where none runs
}

// ModelState is how the language model does that makes the records.
type ModelState struct {
	Engine  string // "" where the rules make the records, or nobody knows
	State   string // of its breaker, "unavailable" where it could not be made, "" before it was needed
	Error   string // the last one
	RetryAt string // when it is asked again, ISO 8601
	Failing int    // sessions whose batches have failed
	Later   int    // events that the rules have distilled meanwhile and that it is to distil again
}

// OutboxState is what waits to be delivered.
type OutboxState struct {
	Pending     int
	Quarantined int
	Bytes       int64
	MaxBytes    int64     // 0 when unknown
	Oldest      time.Time // of the pending ones
	Dropped     int       // events that could not be kept, since they were last forgotten about
	LastDrop    string    // when the last of them was, as the outbox says it
	DropReason  string
	Error       string // why it cannot be read; "" when it can
}

// A doctor collects findings.
type doctor struct {
	env   Env
	live  Live
	found Found
	out   []Finding
	bad   int // findings that are not OK, since the last section began
}

// Doctor looks at everything that can keep memory from working, in the order in which a person would, and changes
// nothing. Each section has at least one finding, but that of a language model that nobody asked for.
func Doctor(env Env, live Live) []Finding {
	d := &doctor{env: env, live: live, found: Detect(env)}
	if d.live.Now.IsZero() {
		d.live.Now = time.Now()
	}
	d.section("program", "the program stands at "+d.found.Program.Path, d.program)
	d.section("switches", "hooks are on", d.switches)
	d.section("agents", "", d.agents)
	d.section("hooks", "", d.hooks)
	d.section("ide", "", d.ide)
	d.section("mcp", "Kiro knows the MCP server", d.mcp)
	d.section("kiro", "nothing in Kiro's settings is in the way", d.kiro)
	d.section("collector", d.collectorLine(), d.collector)
	d.section("model", d.modelLine(), d.model)
	d.section("outbox", numbered(live.Outbox.Pending, "event waits", "events wait"), d.outbox)
	d.section("events", d.eventsLine(), d.events)
	d.section("files", "only you can read what is kept", d.files)
	return d.out
}

// numbered is a count with the words that go with one, or with any other number.
func numbered(n int, one, more string) string {
	if n == 1 {
		more = one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// section runs checks, and says that all is well if they found nothing and good is not empty.
func (d *doctor) section(check, good string, run func(check string)) {
	d.bad = 0
	run(check)
	if d.bad == 0 && good != "" {
		d.out = append(d.out, Finding{Check: check, Status: OK, Detail: good})
	}
}

func (d *doctor) ok(check, path, format string, args ...any) {
	d.out = append(d.out, Finding{Check: check, Status: OK, Path: path, Detail: fmt.Sprintf(format, args...)})
}

// report adds a finding that is not fine. mend is nil where only a person can mend it.
func (d *doctor) report(f Finding, mend func() error) {
	f.mend, f.Fixable = mend, mend != nil
	switch {
	case f.Fix != "":
	case f.Fixable:
		f.Fix = "kiro-learn doctor --fix"
	default:
		f.Fix = "kiro-learn install"
	}
	d.out = append(d.out, f)
	d.bad++
}

// Fix mends the findings that are fixable, and gives what became of each: OK, or Fail with the reason. Findings of one
// file may mend each other.
func Fix(findings []Finding) (out []Finding) {
	for _, f := range findings {
		if !f.Fixable || f.mend == nil {
			continue
		}
		f.Status, f.Fix = OK, ""
		if err := f.mend(); err != nil {
			f.Status, f.Fix = Fail, "mend it by hand: "+err.Error()
		}
		f.Detail = "mended: " + f.Detail
		if f.Status == Fail {
			f.Detail = strings.Replace(f.Detail, "mended", "not mended", 1)
		}
		f.Fixable, f.mend = false, nil
		out = append(out, f)
	}
	return out
}

// file mends one file by planning and applying it alone. It is nil where the program has to be put in its place first,
// which is install's to do.
func (d *doctor) file(path, what string, again redo) func() error {
	if to := d.found.Program.CopyTo; to != "" {
		if _, err := os.Stat(to); err != nil {
			return nil
		}
	}
	return func() error {
		p := newPlanner(d.env, Options{}, d.found)
		p.consider(path, what, again)
		return p.plan.Apply(d.env).Err()
	}
}

func (d *doctor) program(check string) {
	p := d.found.Program
	switch {
	case p.CopyTo != "":
		d.report(Finding{Check: check, Status: Warn, Path: p.Source, Detail: "the program stands in a place from which it will go", Fix: "kiro-learn install"}, nil)
	case p.Warning != "":
		d.report(Finding{Check: check, Status: Warn, Path: p.Path, Detail: p.Warning, Fix: "when that is done: kiro-learn install"}, nil)
	}
	if onPath, err := d.env.LookPath(programName); err == nil && !sameFile(onPath, d.env.Executable) {
		d.report(Finding{Check: check, Status: Warn, Path: onPath, Detail: "PATH finds another program than this one", Fix: "remove it, or put " + filepath.Dir(d.env.Executable) + " before its directory in PATH"}, nil)
	}
	for _, path := range d.namedPrograms(Wired(d.env)) {
		if sameFile(path, d.env.Executable) || d.env.Run == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		out, err := d.env.Run(ctx, path, "version")
		cancel()
		v := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(out), programName))
		switch {
		case err != nil:
			d.report(Finding{Check: check, Status: Fail, Path: path, Detail: "a hook's program does not run", Fix: "kiro-learn install"}, nil)
		case v != d.live.Version:
			d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "hooks run version " + v + ", this is " + d.live.Version, Fix: "kiro-learn install"}, nil)
		}
	}
}

// namedPrograms are the files of programs that exist among those that hooks name.
func (d *doctor) namedPrograms(wired []Wiring) (out []string) {
	for _, w := range wired {
		c, _ := ParseCommand(w.Line)
		if path, err := d.resolve(c.Program); err == nil && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// resolve finds the file that a hook's program names, as the shell would.
func (d *doctor) resolve(program string) (string, error) {
	for _, home := range []string{"$HOME/", "${HOME}/", "~/"} {
		if rest, ok := strings.CutPrefix(program, home); ok {
			program = filepath.Join(d.env.Home, rest)
		}
	}
	if !strings.ContainsAny(program, `/\`) {
		return d.env.LookPath(program)
	}
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return "", errors.New("is gone")
	case info.IsDir() || d.env.GOOS != "windows" && info.Mode()&0o111 == 0:
		return "", errors.New("cannot be run")
	}
	return program, nil
}

// programFault looks at the program that what, a hook or the server, runs, and reports what is wrong with it. In a file that
// names the program by its name alone, as a team's do, mending the file mends nothing.
func (d *doctor) programFault(f Finding, what, program string, byName bool, mend func() error) {
	_, err := d.resolve(program)
	if err == nil {
		return
	}
	why := err.Error()
	if !strings.ContainsAny(program, `/\`) {
		why = "PATH does not find"
		if byName {
			mend, f.Fix = nil, "put "+filepath.Dir(d.found.Program.Path)+" on PATH, for Kiro, too"
		}
	}
	why = program + ", which " + why
	f.Status, f.Detail = Fail, what+" runs "+why
	if hook, ok := strings.CutPrefix(what, "the hook of "); ok {
		f.hooks = []string{hook}
		if n := len(d.out) - 1; n >= 0 && d.out[n].Path == f.Path && d.out[n].hooks != nil && strings.HasSuffix(d.out[n].Detail, why) {
			last := &d.out[n] // one finding for what is one fault
			last.hooks = append(last.hooks, hook)
			last.Detail = "the hooks of " + strings.Join(last.hooks, ", ") + " run " + why
			return
		}
	}
	d.report(f, mend)
}
