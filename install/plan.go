package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kiro-learn/internal/atomicfile"
)

// An Action is what happens to a file.
type Action string

// What can happen to a file.
const (
	Create Action = "create"
	Edit   Action = "edit"
	Remove Action = "remove"
	Copy   Action = "copy" // of the program itself
)

// A Change is one file that the plan writes or removes.
type Change struct {
	Path   string `json:"path"`
	Action Action `json:"action"`
	What   string `json:"what"` // for a person: "hooks of agent dev"
	Before []byte `json:"-"`    // nil where there is no file
	After  []byte `json:"-"`    // nil where the file goes
	source string // of a copy
	redo   redo
}

// A redo plans one file again from its present content, so that what another program wrote meanwhile is kept.
type redo func(old []byte, exists bool, m fileMemory) (outcome, error)

type outcome struct {
	after  []byte
	gone   bool        // the file is to be removed
	memory *fileMemory // to be kept for the file; nil to forget it
}

// A Refusal is a file that is left as it is, and why.
type Refusal struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"` // 1-based; 0 where no line is to blame
	Reason string `json:"reason"`
	Hint   string `json:"hint"`
}

// Error is the refusal on one line: file and line, reason, hint.
func (r Refusal) Error() string {
	at := r.Path
	if r.Line > 0 {
		at = fmt.Sprintf("%s:%d", r.Path, r.Line)
	}
	return at + ": " + r.Reason + "; " + r.Hint
}

// A Plan is what install or uninstall is about to do.
type Plan struct {
	Found       Found     `json:"found"`
	Changes     []Change  `json:"changes"`
	Unchanged   []string  `json:"unchanged"` // files that are as they should be
	Refusals    []Refusal `json:"refusals"`
	Notes       []string  `json:"notes"`        // what the user should know, a sentence each
	AsksDefault bool      `json:"asks_default"` // with Options.SetDefault, the plan would make our agent Kiro's default
	home        string
	found       []string // what was found, a line each
	uninstall   bool
	forget      []string // remembered projects that this plan leaves without anything of ours
	project     string   // to be remembered
	keeps       bool     // something of ours stays behind
	partial     bool     // an uninstall of one project only
	clear       []string // files that hold nothing of ours, and need not be remembered
}

// Empty tells that there is nothing to write.
func (p *Plan) Empty() bool { return len(p.Changes) == 0 }

// Lines says the plan to a person: what was found, and a line for each file.
func (p *Plan) Lines() []string {
	out := slices.Clone(p.found)
	for _, c := range p.Changes {
		out = append(out, fmt.Sprintf("%-6s  %s  (%s)", c.Action, p.short(c.Path), c.What))
	}
	for _, r := range p.Refusals {
		r.Path = p.short(r.Path)
		out = append(out, "skip    "+r.Error())
	}
	return out
}

func (p *Plan) short(path string) string {
	if rest, ok := strings.CutPrefix(path, p.home+string(filepath.Separator)); ok && p.home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// A planner collects a plan.
type planner struct {
	env   Env
	opt   Options
	found Found
	mem   *memory
	plan  *Plan
	seen  map[string]bool // targets already planned: two links may lead to one file

	set     surfaceSet // of an install
	program spelling
}

func newPlanner(env Env, o Options, f Found) *planner {
	plan := &Plan{Found: f, home: env.Home}
	return &planner{env: env, opt: o, found: f, mem: loadMemory(env), plan: plan, seen: map[string]bool{}}
}

// consider plans one file.
func (p *planner) consider(path, what string, again redo) {
	target, err := atomicfile.Target(path)
	if err != nil {
		target = path
	}
	if p.seen[target] {
		return
	}
	p.seen[target] = true
	if err != nil {
		p.refuse(path, err)
		return
	}
	old, exists, err := current(path)
	if err == nil {
		var out outcome
		if out, err = again(old, exists, *p.mem.file(path)); err == nil {
			p.record(path, what, old, exists, out, again)
			return
		}
	}
	if p.plan.uninstall && p.mem.Files[path] == nil && !strings.Contains(string(old), programName) {
		return // whatever is wrong with it, nothing of ours is in it
	}
	p.refuse(path, err)
}

func (p *planner) record(path, what string, old []byte, exists bool, out outcome, again redo) {
	c := Change{Path: path, What: what, Before: old, After: out.after, redo: again}
	if p.plan.uninstall && exists && !out.gone {
		p.tellWhatStays(path, old, out.after)
	}
	switch {
	case out.gone && exists:
		c.Action, c.After = Remove, nil
	case out.gone, exists && string(old) == string(out.after):
		if p.plan.uninstall {
			p.plan.clear = append(p.plan.clear, path)
		} else {
			p.plan.Unchanged = append(p.plan.Unchanged, path)
		}
		return
	case exists:
		c.Action = Edit
	default:
		c.Action, c.Before = Create, nil
	}
	if err := writable(path, exists); err != nil {
		p.refuse(path, err)
		return
	}
	p.plan.Changes = append(p.plan.Changes, c)
}

// tellWhatStays names what an uninstall leaves in a file although it has to do with us.
func (p *planner) tellWhatStays(path string, old, after []byte) {
	d, err := parse(after)
	if err != nil {
		return
	}
	for _, l := range wrapped(d) {
		p.note("%s:%d still runs kiro-learn, in a command that you wrote: remove it yourself.", p.plan.short(path), l)
	}
	if filepath.Base(path) == programName+".json" && string(old) != string(after) {
		p.note("%s stays without our hooks, since it holds more than install wrote.", p.plan.short(path))
	}
}

func (p *planner) refuse(path string, err error) {
	p.plan.Refusals = append(p.plan.Refusals, refusal(path, err, p.plan.uninstall))
	if p.plan.uninstall {
		p.plan.keeps = true
	}
}

func refusal(path string, err error, uninstall bool) Refusal {
	again := "kiro-learn install"
	if uninstall {
		again = "kiro-learn uninstall"
	}
	r := Refusal{Path: path, Reason: err.Error(), Hint: "mend it and type: " + again}
	var syntax *syntaxError
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &syntax):
		r.Line = syntax.line
	case errors.Is(err, errReadOnly), errors.Is(err, errForeign):
		r.Hint = "make it writable where it comes from, and type: " + again
	case errors.Is(err, errBusy):
		r.Hint = "wait until it is done, and type: " + again
	case errors.Is(err, errDangling):
		r.Hint = "remove the link or restore its target, and type: " + again
	case errors.As(err, &pathErr):
		if errors.Is(err, fs.ErrPermission) {
			r.Hint = "see that you may write there, and type: " + again
		}
		r.Reason = pathErr.Op + ": " + pathErr.Err.Error()
	}
	return r
}

var (
	errReadOnly = errors.New("is read-only")
	errForeign  = errors.New("belongs to another user")
	errDangling = errors.New("is a link to a file that does not exist")
)

// current is a file's content; exists is false where there is none.
func current(path string) (b []byte, exists bool, err error) {
	b, err = readFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err == nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, false, errDangling
	}
	return nil, false, nil
}

// writable respects a file that its owner has set read-only: a rename would get past that.
func writable(path string, exists bool) error {
	if !exists {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return errReadOnly
	}
	if foreign(info, os.Geteuid()) {
		return errForeign // a rename would give the file to this user
	}
	return nil
}
