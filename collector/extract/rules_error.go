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
	changed     []touch // files changed between the first failure and the end
	between     []string
}

// failures finds the commands that failed, and what became of each, over all turns of the batch. A failure ends with a
// passing run of the same command, or of a similar one when the same is not run again.
func failures(works []*work) []*failure {
	var all []*failure
	open := make(map[string]*failure)
	for ti, w := range works {
		for i := range w.acts {
			a := &w.acts[i]
			if len(a.touched) > 0 && a.kind != actRead {
				for _, f := range all {
					if f.fixed == nil && works[f.first.turn].namespace == w.namespace {
						f.changed = append(f.changed, a.touched...)
						f.between = append(f.between, a.id)
					}
				}
			}
			if a.kind != actCommand || !a.out.known || trivialCommand(a.command) {
				continue
			}
			r := run{a, ti, i < w.seen}
			key := w.namespace + "\x00" + commandFamily(a.command)
			f := open[key]
			switch {
			case a.out.failed && f == nil:
				f = &failure{first: r, last: r}
				open[key] = f
				all = append(all, f)
			case a.out.failed:
				f.last = r
				f.retries++
			case f != nil && sameCheck(a.command, f.last.act.command):
				f.fixed = &r
				delete(open, key)
			}
		}
	}
	return all
}

// trivialCommand tells whether a command only looks around, so that its failing says nothing about the project.
func trivialCommand(command string) bool {
	for _, words := range shellCommands(mainCommand(command)) {
		switch words[0] {
		case "ls", "cat", "pwd", "cd", "echo", "head", "tail", "grep", "rg", "find", "which", "wc", "sort", "tree", "stat", "file", "true", "false",
			"test", "[", "sleep", "env", "printenv", "date", "whoami", "uname", "ps", "type", "command", "mkdir", "less", "awk", "cut", "xargs", "dir",
			"Get-ChildItem", "Get-Content", "Select-String", "kiro-learn", "uniq", "diff", "sed", "export", "printf", "touch", "cp", "mv", "rm", "chmod":
		case "git":
			if len(words) < 2 || !slices.Contains([]string{"commit", "push", "merge", "rebase", "cherry-pick", "pull", "apply"}, words[1]) {
				continue
			}
			return false
		default:
			return false
		}
	}
	return true
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

// commandFamily is what similar commands have in common: the program and its subcommand.
func commandFamily(command string) string {
	cmds := shellCommands(mainCommand(command))
	if len(cmds) == 0 {
		return ""
	}
	words := cmds[0]
	for len(words) > 1 && (strings.Contains(words[0], "=") || words[0] == "sudo" || words[0] == "npx" || words[0] == "time" || words[0] == "poetry" || words[0] == "uv") {
		words = words[1:]
		if words[0] == "run" && len(words) > 1 {
			words = words[1:]
		}
	}
	if len(words) > 2 && strings.HasPrefix(words[0], "python") && words[1] == "-m" {
		words = words[2:]
	}
	n := 1
	for n < len(words) && n < 3 && !strings.HasPrefix(words[n], "-") && !strings.ContainsAny(words[n], "./\\:=*") {
		n++
		if words[n-1] != "run" && words[n-1] != "exec" && words[n-1] != "compose" {
			break
		}
	}
	return strings.Join(words[:n], " ")
}

// sameCheck tells whether a passing command covers what the failed one checked: the same, or a wider one of its family.
func sameCheck(passed, failed string) bool {
	p, f := strings.Join(strings.Fields(mainCommand(passed)), " "), strings.Join(strings.Fields(mainCommand(failed)), " ")
	if p == f || strings.HasPrefix(f, p) || strings.HasPrefix(p, f) || strings.Contains(p, "./...") {
		return true
	}
	pw, fw := strings.Fields(p), strings.Fields(f)
	shared := 0
	for _, w := range pw {
		if slices.Contains(fw, w) {
			shared++
		}
	}
	return shared*2 >= len(pw) && shared >= 2
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
	base := projectBase(w.source.ProjectPath)
	best, lines := errorLines(told.act.out.text, base)
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
	changed := changesOf(f.changed)
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
	ids := append([]string{f.first.act.id, f.last.act.id}, f.between...)
	if f.fixed != nil {
		ids = append(ids, f.fixed.act.id)
	}
	return w.finish(r, ids), true
}

// commandLine is a command for reading: its main part on one line, within max characters.
func commandLine(command string, max int) string {
	main := mainCommand(command)
	first, _, more := strings.Cut(main, "\n")
	first = oneLine(strings.ReplaceAll(first, "`", "'"))
	if more {
		first += " …"
	}
	return cutWords(first, max)
}
