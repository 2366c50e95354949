package extract

import (
	"slices"
	"strings"

	"kiro-learn/internal/rawjson"
)

// Check is one run of tests, of a build or the like, of which it is known how it ended.
type Check struct {
	Failed bool
	check
}

// Name is the program, its subcommand and what it was run on.
func (c Check) Name() string {
	return strings.TrimSpace(c.family + " " + strings.Join(c.targets, " ") + " " + c.part)
}

// Covers tells whether c checked all that d did.
func (c Check) Covers(d Check) bool { return c.Name() == d.Name() || c.covers(d.check) }

// link is how a command of a script is tied to the next one.
type link int

const (
	always link = iota // the next one runs whatever happened: a semicolon, a new line
	and                // only if this one succeeded
	or                 // only if this one failed
	pipe               // at the same time, and its status counts
	aside              // in the background
	last
)

// tied is one command of a script.
type tied struct {
	words []string
	link  link
}

// chain takes a script apart; ok is false for one with loops, conditions, functions, subshells or negations, of whose
// status nothing follows for a command within.
func chain(script string) (out []tied, ok bool) {
	at, quote := 0, byte(0)
	add := func(end int, l link) {
		for _, words := range shellCommands(script[at:end]) {
			out = append(out, tied{words, l})
		}
	}
	for i := 0; i < len(script); i++ {
		c := script[i]
		two := i+1 < len(script) && script[i+1] == c
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
			continue
		case c == '\'' || c == '"':
			quote = c
			continue
		case c == '\\':
			i++
			continue
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n;", script[i-1]) >= 0): // a comment
			end := strings.IndexByte(script[i:], '\n')
			if end < 0 {
				end = len(script) - i
			}
			script = script[:i] + script[i+end:]
			i--
			continue
		case c == '(' || c == '`' || c == '{':
			return nil, false
		case c == ';' || c == '\n':
			add(i, always)
		case c == '&' && two:
			add(i, and)
			i++
		case c == '|' && two:
			add(i, or)
			i++
		case c == '|':
			add(i, pipe)
		case c == '&' && (i == 0 || script[i-1] != '>') && (i+1 == len(script) || script[i+1] != '>'):
			add(i, aside)
		default:
			continue
		}
		at = i + 1
	}
	add(len(script), last)
	for _, t := range out {
		switch t.words[0] {
		case "if", "then", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "!", "exit", "trap", "return":
			return nil, false
		}
	}
	return out, quote == 0
}

// ended tells how a command ended, as far as the commands of it from a first one on go: by a status of zero of a chain in
// which nothing hides a failure, by any other status, or by what its report shows. known is false where it can have been
// either.
func ended(steps []tied, plain bool, out *outcome) (known, failed bool) {
	bad, good, none := verdictOf(out.text)
	switch {
	case out.exit != "" && out.exit != "0", out.failed, bad:
		return true, true
	case none || !plain || len(steps) == 0:
		return false, false
	case out.exit == "0" && straight(steps):
		return true, false
	}
	return good && !speaks(steps), false
}

// straight tells whether the status of the last command is that of all: none of them may have failed unseen.
func straight(steps []tied) bool {
	for i, t := range steps {
		if t.link == aside || t.link != and && i < len(steps)-1 {
			return false
		}
	}
	return true
}

// speaks tells whether, beside one check and what its report goes through, a script has commands that may print anything.
func speaks(steps []tied) bool {
	checks := 0
	for i, t := range steps {
		switch {
		case i > 0 && steps[i-1].link == pipe || t.link == aside:
		case t.checks():
			checks++
		case !slices.Contains([]string{"cd", "export", "set", "mkdir", "rm", "cp", "mv", "touch", "true", ":", "sleep", "chmod"}, t.words[0]):
			return true
		}
	}
	return checks != 1
}

// checks tells whether a command runs tests, a build or the like.
func (t tied) checks() bool {
	w := programWords(t.words)
	return verifies(strings.Join(w[:familyWords(w)], " "))
}

// whole is how a command ended, all of it but the looking around before it.
func whole(command string, out *outcome) (known, failed bool) {
	steps, plain := chain(mainCommand(command))
	from := slices.IndexFunc(steps, func(t tied) bool { return !trivialWords(t.words) })
	return ended(steps[max(0, from):], plain, out)
}

// verdictOf reads the report of a test run or build: whether it says that something failed, that something passed, or
// that there was nothing to run.
func verdictOf(output string) (bad, good, none bool) {
	for _, l := range outputLines(output, "") {
		low := strings.ToLower(l)
		switch {
		case strings.HasPrefix(l, "--- FAIL"), strings.HasPrefix(l, "FAIL ") || strings.HasPrefix(l, "FAIL\t") || l == "FAIL" || strings.HasPrefix(l, "FAILED ") || l == "FAILED",
			strings.HasPrefix(l, "npm ERR!"), strings.HasPrefix(l, "make: ***"), strings.HasPrefix(l, "error[E"), strings.HasPrefix(l, "BUILD FAIL"), strings.HasPrefix(low, "test result: failed"),
			counted(low, "failed"), counted(low, "failing"), counted(low, "failures"), counted(low, "failure"), counted(low, "errors"):
			bad = true
		case strings.Contains(low, "no test files"), strings.Contains(low, "no tests to run"), strings.Contains(low, "no tests ran"), strings.Contains(low, "no tests found"), strings.Contains(low, "no test found"),
			strings.Contains(low, "no tests were"), strings.HasPrefix(low, "collected 0 items"), strings.HasPrefix(low, "ran 0 tests"), strings.HasPrefix(low, "0 passing"), strings.HasPrefix(low, "running 0 tests"),
			strings.HasPrefix(low, "tests: 0 total"), strings.HasPrefix(low, "0 examples"), strings.Contains(low, "no examples found"):
			none = true
		case strings.HasPrefix(l, "ok "), l == "PASS", strings.HasPrefix(l, "OK ("), strings.Contains(l, "BUILD SUCCESS"),
			counted(low, "passed"), counted(low, "passing"), counted(low, "tests"), counted(low, "examples"):
			good = true
		}
	}
	return bad, good, none && !good
}

// counted tells whether a line counts something, and more than none of it: "3 failed", "failures: 3".
func counted(low, what string) bool {
	for from := 0; ; {
		i := strings.Index(low[from:], what)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(what)
		before := strings.TrimRight(low[:i], " ")
		n := before[strings.LastIndexAny(before, " ,(:;")+1:]
		if after, ok := strings.CutPrefix(strings.TrimLeft(low[from:], " "), ":"); ok {
			n, _, _ = strings.Cut(strings.TrimLeft(after, " "), " ")
			n = strings.Trim(n, ",;.")
		}
		if n != "" && strings.Trim(n, "0123456789") == "" && strings.Trim(n, "0") != "" {
			return true
		}
	}
}

// checked are the test runs and builds of a command of which it is known how they ended.
func checked(command string, out *outcome) (all []Check) {
	steps, plain := chain(mainCommand(command))
	from := slices.IndexFunc(steps, tied.checks)
	known, failed := ended(steps[max(0, from):], plain, out)
	if !known {
		return nil
	}
	if bad, _, _ := verdictOf(out.text); failed && !bad && slices.ContainsFunc(steps, func(t tied) bool { return !trivialWords(t.words) && !t.checks() }) {
		return nil // another command may be the one that failed
	}
	for _, c := range checksOf(command) {
		if verifies(c.family) && !onlyTold(steps, c.family) {
			all = append(all, Check{failed, c})
		}
	}
	return all
}

// onlyTold tells whether the commands of a family only say what they would do, or how they are called.
func onlyTold(steps []tied, family string) bool {
	return slices.ContainsFunc(steps, func(t tied) bool {
		w := programWords(t.words)
		n := familyWords(w)
		if strings.Join(w[:n], " ") != family {
			return false
		}
		return slices.ContainsFunc(w[n:], func(w string) bool {
			return slices.Contains([]string{"-h", "--help", "--version", "-V", "--collect-only", "--co", "-list", "--list", "--listTests", "--list-tests", "--no-run", "--dry-run", "--just-print", "--passWithNoTests"}, w) ||
				family == "make" && w == "-n" || family == "go test" && (w == "-c" || strings.HasPrefix(w, "-list=") || w == "-run=^$" || w == "^$")
		})
	})
}

// alters tells whether a command may change files of the project without naming them.
func alters(command string) bool {
	return slices.ContainsFunc(shellCommands(mainCommand(command)), func(words []string) bool {
		w := programWords(words)
		sub := ""
		for _, s := range w[1:] {
			if !strings.HasPrefix(s, "-") {
				sub = s
				break
			}
		}
		switch w[0] {
		case "git":
			return slices.Contains([]string{"checkout", "restore", "reset", "revert", "stash", "merge", "rebase", "pull", "cherry-pick", "apply", "am", "switch", "clean"}, sub)
		case "patch", "unzip", "rsync", "gofmt", "gofumpt", "goimports", "black", "isort", "autopep8", "rustfmt", "prettier", "codemod", "jscodeshift", "comby":
			return true
		case "go":
			return slices.Contains([]string{"generate", "get", "fmt", "fix", "mod"}, sub)
		case "cargo":
			return slices.Contains([]string{"fmt", "fix", "add", "update", "remove"}, sub)
		case "npm", "pnpm", "yarn", "bundle", "pip", "pip3", "composer":
			return slices.Contains([]string{"install", "i", "ci", "add", "remove", "uninstall", "update", "upgrade"}, sub)
		case "eslint", "ruff", "biome", "rubocop", "golangci-lint", "stylelint":
			return slices.ContainsFunc(w, func(s string) bool { return s == "--fix" || s == "--write" || s == "-A" || s == "format" })
		case "sed", "perl":
			return slices.ContainsFunc(w, func(s string) bool {
				return strings.HasPrefix(s, "-i") || strings.HasPrefix(s, "-pi") || s == "--in-place"
			})
		}
		return false
	})
}

// delegates tells whether a tool has another agent work, whose own tool uses are not seen.
func delegates(tool string) bool {
	n := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool))
	return strings.Contains(n, "subagent") || n == "delegate" || n == "task"
}

// inBackground tells whether a tool was asked not to wait for its command.
func inBackground(input []byte) bool {
	for _, k := range []string{"run_in_background", "runInBackground", "background", "is_background"} {
		if string(rawjson.Get(input, k)) == "true" {
			return true
		}
	}
	return false
}
