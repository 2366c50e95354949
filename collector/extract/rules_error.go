package extract

import (
	"fmt"
	"slices"
	"strings"

	"kiro-learn/internal/event"
)

// run is one command that ended in a known way.
type run struct {
	act  *action
	turn int
	old  bool // distilled in an earlier batch
}

// failure is a command that failed, up to where it passed or was last tried.
type failure struct {
	first, last run // the first failing run, and the last failing one
	fixed       *run
	retries     int
	check       check
	after       []*action // that changed files after the first failing run
	atLast      int       // so many of them came before the last run of the command
}

// failures finds the commands that failed, and what became of each, over all turns of the batch. A failure ends with a
// passing run of the same command, or of a similar one when the same is not run again.
func failures(works []*work) []*failure {
	var all []*failure
	b := book{works: works}
	for ti, w := range works {
		for i := range w.acts {
			a := &w.acts[i]
			if len(a.touched) > 0 && a.kind != actRead {
				for _, f := range all {
					if len(f.after) < maxSources && f.fixed == nil && works[f.first.turn].namespace == w.namespace {
						f.after = append(f.after, a)
					}
				}
			}
			if a.kind != actCommand || !a.out.known || trivialCommand(a.command) {
				continue
			}
			all = b.note(run{a, ti, i < w.seen}, all)
		}
	}
	return all
}

// book keeps the failures that are still open.
type book struct {
	works []*work
	open  []*failure
}

// note enters the end of a command: a failing one opens a failure, or goes on with one, by the last command of its
// script; a passing one closes all that its commands cover.
func (b *book) note(r run, all []*failure) []*failure {
	checks := checksOf(r.act.command)
	if len(checks) == 0 {
		return all
	}
	same := func(f *failure) bool { return b.works[f.first.turn].namespace == b.works[r.turn].namespace }
	if !r.act.out.failed {
		b.open = slices.DeleteFunc(b.open, func(f *failure) bool {
			if !same(f) || !slices.ContainsFunc(checks, func(c check) bool { return c.covers(f.check) }) {
				return false
			}
			f.fixed, f.atLast = &r, len(f.after)
			return true
		})
		return all
	}
	c := checks[len(checks)-1]
	for _, f := range b.open {
		if same(f) && f.check.family == c.family && (c.covers(f.check) || f.check.covers(c)) {
			f.last, f.atLast = r, len(f.after)
			f.retries++
			return all
		}
	}
	f := &failure{first: r, last: r, check: c}
	b.open = append(b.open, f)
	return append(all, f)
}

// trivialCommand tells whether a command only looks around, so that its failing says nothing about the project.
func trivialCommand(command string) bool {
	return !slices.ContainsFunc(shellCommands(mainCommand(command)), func(w []string) bool { return !trivialWords(w) })
}

func trivialWords(words []string) bool {
	switch words[0] {
	case "ls", "cat", "pwd", "cd", "echo", "head", "tail", "grep", "rg", "find", "which", "wc", "sort", "tree", "stat", "file",
		"true", "false",
		"test", "[", "sleep", "env", "printenv", "date", "whoami", "uname", "ps", "type", "command", "mkdir", "less", "awk",
		"cut", "xargs", "dir", "jq", "tee",
		"Get-ChildItem", "Get-Content", "Select-String", "kiro-learn", "uniq", "diff", "sed", "export", "printf", "touch",
		"cp", "mv", "rm", "chmod", "set":
		return true
	case "git":
		return len(words) < 2 || !slices.Contains([]string{
			"commit", "push", "merge", "rebase", "cherry-pick", "pull",
			"apply",
		}, words[1])
	}
	return false
}

// mainCommand is a command without the directory changes and settings before it.
func mainCommand(command string) string {
	command, _, _ = strings.Cut(command, "<<")
	command = strings.TrimSpace(command)
	for strings.HasPrefix(command, "cd ") {
		_, rest, ok := strings.Cut(command, "&&")
		if !ok {
			break
		}
		command = strings.TrimSpace(rest)
	}
	return command
}

// check is one command of a script, taken apart for comparing: go test -run X ./upload.
type check struct {
	family  string   // program and subcommand
	targets []string // what it works on, options left out
	part    string   // the option that picks a part of that
}

// checksOf gives the commands of a script that do more than look around.
func checksOf(command string) []check {
	var out []check
	for _, words := range shellCommands(mainCommand(command)) {
		if trivialWords(words) {
			continue
		}
		words = programWords(words)
		n := familyWords(words)
		c := check{family: strings.Join(words[:n], " ")}
		c.read(words[n:])
		out = append(out, c)
	}
	return out
}

// programWords is a command without settings and launchers before its program.
func programWords(words []string) []string {
	for len(words) > 1 {
		switch w := words[0]; {
		case strings.Contains(w, "=") && !strings.HasPrefix(w, "="), w == "sudo", w == "npx", w == "time", w == "poetry", w == "uv", w == "pipenv", w == "bunx":
			words = words[1:]
			if words[0] == "run" && len(words) > 1 && w != "sudo" && w != "time" {
				words = words[1:]
			}
		case len(words) > 2 && strings.HasPrefix(w, "python") && words[1] == "-m":
			words = words[2:]
		default:
			return words
		}
	}
	return words
}

// familyWords counts the words that name the program and its subcommand.
func familyWords(words []string) int {
	n := 1
	if words[0] == "pytest" || words[0] == "jest" || words[0] == "vitest" || words[0] == "make" && len(words) == 1 {
		return n
	}
	for n < len(words) && n < 3 && !strings.HasPrefix(words[n], "-") && !strings.ContainsAny(words[n], "./\\:=*<>") {
		n++
		if w := words[n-1]; w != "run" && w != "exec" && w != "compose" {
			break
		}
	}
	return n
}

func (c *check) read(words []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case slices.Contains([]string{
			"-run", "--run", "-k", "-t", "--testNamePattern", "--grep", "-g",
			"--filter",
		}, w) && i+1 < len(words):
			c.part = words[i+1]
			i++
		case strings.HasPrefix(w, "-run=") || strings.HasPrefix(w, "--filter=") || strings.HasPrefix(w, "--grep=") || strings.Contains(w, "::"):
			c.part = w
		case strings.HasPrefix(w, "-") || strings.ContainsAny(w, "<>=&") || strings.Trim(w, "0123456789") == "":
		default:
			c.targets = append(c.targets, w)
		}
	}
}

// covers tells whether a passing command covers what a failed one of its family checked: all of its targets, and not
// only a part of them.
func (c check) covers(failed check) bool {
	if c.family != failed.family || c.part != "" && c.part != failed.part {
		return false
	}
	if len(c.targets) == 0 || slices.Contains(c.targets, "./...") {
		return true
	}
	for _, t := range failed.targets {
		if !slices.ContainsFunc(c.targets, func(w string) bool { w = strings.TrimSuffix(w, "/..."); return t == w || strings.HasPrefix(t, w+"/") }) {
			return false
		}
	}
	return len(failed.targets) > 0
}

// errorRecord tells of a failure what it said, what was changed after it, and how it ended. ok is false when the output
// says nothing, or when all of it was told in an earlier batch.
func errorRecord(f *failure, works []*work) (event.Record, bool) {
	w := works[f.last.turn]
	told := f.last
	if f.fixed != nil {
		w = works[f.fixed.turn]
		told = f.first
	}
	if f.last.old && (f.fixed == nil || f.fixed.old) {
		return event.Record{}, false
	}
	best, lines := told.act.why, told.act.lines
	if best == "" {
		return event.Record{}, false
	}
	cmd := commandLine(told.act.command, 80)
	r := event.Record{ObservationType: event.TypeError, Title: cutWords(cmd+" failed: "+withoutPlace(best), event.MaxTitle)}
	var b strings.Builder
	fmt.Fprintf(&b, "`%s` failed", commandLine(told.act.command, 160))
	if e := told.act.out.exit; e != "" && e != "0" {
		fmt.Fprintf(&b, " (exit status %s)", e)
	}
	b.WriteString(":\n" + strings.Join(lines, "\n"))
	var between []action
	ids := []string{f.first.act.id, f.last.act.id}
	for _, a := range f.after[:f.atLast] { // the effect of later changes was not seen
		between = append(between, *a)
		ids = append(ids, a.id)
	}
	changed := changesIn(between)
	files := append(append(changed.written, changed.created...), changed.deleted...)
	if len(files) > 0 {
		b.WriteString("\nChanged after it: " + listSome(files, 8) + ".")
	}
	switch {
	case f.fixed != nil && f.fixed.turn != f.last.turn:
		fmt.Fprintf(&b, "\nFixed in a later turn: `%s` passed.", commandLine(f.fixed.act.command, 160))
	case f.fixed != nil && len(files) == 0:
		fmt.Fprintf(&b, "\nThen `%s` passed; no file was seen to change in between.", commandLine(f.fixed.act.command, 160))
	case f.fixed != nil:
		fmt.Fprintf(&b, "\nFixed: `%s` passed afterwards.", commandLine(f.fixed.act.command, 160))
	case f.retries > 0:
		fmt.Fprintf(&b, "\nStill failing when last run, after %d tries.", f.retries+1)
	default:
		b.WriteString("\nIt was not seen to pass afterwards.")
	}
	r.Summary = b.String()
	r.FilesTouched = files
	r.Concepts = concepts(conceptText{text: strings.Join(lines, "\n"), weight: 1})
	if f.fixed != nil {
		ids = slices.Insert(ids, 0, f.fixed.act.id)
	}
	return w.finish(r, ids), true
}

// commandLine is a command for reading: its main part on one line, within max characters.
func commandLine(command string, max int) string {
	main := mainCommand(command)
	first, _, more := strings.Cut(main, "\n")
	for _, tail := range []string{" 2>&1", " | tail", " | head", " | grep"} { // how it was watched is not what was run
		if i := strings.LastIndex(first, tail); i > 0 && !strings.ContainsAny(first[i:], "&;\"'") || i > 0 && tail == " 2>&1" && !strings.Contains(first[i+5:], "&&") {
			first = first[:i]
		}
	}
	first = oneLine(strings.ReplaceAll(first, "`", "'"))
	if more {
		first += " …"
	}
	return cutWords(first, max)
}
