package extract

import (
	"fmt"
	"slices"
	"strings"
)

// maxFiles bounds the files of one record.
const maxFiles = 60

// changes are the files of a turn, each in one list, in the order they were first named.
type changes struct{ written, created, deleted, read []string }

func changesIn(acts []action) changes {
	var list []touch
	for i := range acts {
		list = append(list, acts[i].touched...)
	}
	return changesOf(list)
}

// changesOf sorts touches by what was done to each file in the end. A file that was read or changed before it was
// written anew is changed, not created; one created and deleted again is deleted.
func changesOf(list []touch) changes {
	state := make(map[string]actKind)
	var order []string
	for _, t := range list {
		old, known := state[t.path]
		if !known {
			order = append(order, t.path)
			state[t.path] = t.kind
			continue
		}
		switch {
		case t.kind == actRead:
		case t.kind == actDelete:
			state[t.path] = actDelete
		case old == actCreate:
		default:
			state[t.path] = actWrite
		}
	}
	var ch changes
	for _, p := range order {
		switch state[p] {
		case actRead:
			ch.read = append(ch.read, p)
		case actDelete:
			ch.deleted = append(ch.deleted, p)
		case actCreate:
			ch.created = append(ch.created, p)
		default:
			ch.written = append(ch.written, p)
		}
	}
	return ch
}

// all lists the files, written ones before read ones.
func (ch changes) all() []string {
	out := slices.Concat(ch.written, ch.created, ch.deleted, ch.read)
	return out[:min(len(out), maxFiles)]
}

// listSome joins the first n of a list and counts the rest.
func listSome(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// commandRun is a command of a turn with all the ways it ended, in order.
type commandRun struct {
	line string
	ends []string // "passed", "failed", "ran"
	why  string   // its last failing run failed
}

const maxRuns = 8

// commandRuns gives the commands that did something, each once.
func commandRuns(acts []action) []commandRun {
	var out []commandRun
	at := make(map[string]int)
	for i := range acts {
		a := &acts[i]
		if a.kind != actCommand || trivialCommand(a.command) {
			continue
		}
		line := commandLine(a.command, 120)
		n, ok := at[line]
		if !ok {
			n = len(out)
			at[line] = n
			out = append(out, commandRun{line: line})
		}
		end := "ran"
		if a.out.failed {
			end = "failed"
			out[n].why = a.why
		} else if a.out.known {
			end = "passed"
		}
		if k := len(out[n].ends); k == 0 || out[n].ends[k-1] != end {
			out[n].ends = append(out[n].ends, end)
		}
	}
	return out
}

// routine tells whether all that was run is the version control's, and nothing of it failed.
func routine(runs []commandRun) bool {
	for _, r := range runs {
		if !strings.HasPrefix(r.line, "git ") || slices.Contains(r.ends, "failed") {
			return false
		}
	}
	return len(runs) > 0
}

// listRuns tells commands and how they ended: "`go test ./x` failed (got 1, want 3), then passed".
func listRuns(runs []commandRun) string {
	var out []string
	for _, r := range runs[:min(len(runs), maxRuns)] {
		s, told := "`"+r.line+"`", false
		for i, end := range r.ends[max(0, len(r.ends)-4):] {
			switch {
			case end == "ran" && i == 0:
			case i == 0:
				s += " " + end
			default:
				s += ", then " + end
			}
			if end == "failed" && r.why != "" && !told {
				told = true
				s += " (" + cutWords(r.why, 160) + ")"
			}
		}
		out = append(out, s)
	}
	return joinRest(out, len(runs), "command")
}

func joinRest(list []string, total int, what string) string {
	s := strings.Join(list, "; ")
	if n := total - len(list); n > 0 {
		s += fmt.Sprintf("; and %d more %ss", n, what)
	}
	return s
}

// usedServer tells whether a tool of an MCP server, other than ours, was used.
func usedServer(acts []action) bool { return len(serverTools(acts)) > 0 }

// serverTools lists the tools of MCP servers that were used, what for, and which failed.
func serverTools(acts []action) []string {
	var out []string
	for i := range acts {
		a := &acts[i]
		if a.kind != actOther || !strings.HasPrefix(a.tool, "@") {
			continue
		}
		s := a.tool
		if a.detail != "" {
			s += " " + a.detail
		}
		if a.out.failed {
			if best, _ := errorLines(a.out.text, ""); best != "" {
				s += " (failed: " + cutWords(best, 120) + ")"
			} else {
				s += " (failed)"
			}
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
