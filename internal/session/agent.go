package session

import (
	"os"
	"path/filepath"
	"strings"
)

// climbMax bounds how many wrappers may lie between a hook and its agent.
const climbMax = 8

// process is what the system tells of one process.
type process struct {
	parent int
	start  string
	args   []string // argv, as far as the system shows it
	name   string   // program name, where the system shows no argv
}

// FindAgent gives the agent process above this hook: its parent, or what lies above the shell that was started for this
// hook alone. A shell that runs a script, a person's commands, or several hooks is the agent itself. It never fails;
// at worst the agent is the parent and its start unknown.
func FindAgent() Agent {
	program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	return climb(os.Getppid(), program, newLookup())
}

// climb follows parents from pid until one is not a wrapper, or its own parent is outside of what may be seen.
func climb(pid int, program string, lookup func(int) (process, bool)) Agent {
	p, ok := lookup(pid)
	if !ok {
		return Agent{PID: pid}
	}
	for range climbMax {
		if p.parent <= 0 || !isWrapper(p, program) {
			break
		}
		above, ok := lookup(p.parent)
		if !ok {
			break
		}
		pid, p = p.parent, above
	}
	return Agent{PID: pid, Start: p.start}
}

// isWrapper reports whether p was started to run one hook and nothing else.
func isWrapper(p process, program string) bool {
	if p.args == nil {
		return isShell(p.name)
	}
	if len(p.args) < 2 {
		return false
	}
	switch name := programName(p.args[0]); {
	case isShell(name):
		text, ok := commandText(name, p.args[1:])
		return ok && invocations(text, program) == 1 && !loops(text)
	case isLauncher(name):
		return invocations(strings.Join(p.args[1:], " "), program) == 1
	}
	return false
}

// programName is the bare name of a program: no directory, no .exe, no dash of a login shell.
func programName(arg string) string {
	if i := strings.LastIndexAny(arg, `/\`); i >= 0 {
		arg = arg[i+1:]
	}
	if len(arg) > 4 && strings.EqualFold(arg[len(arg)-4:], ".exe") {
		arg = arg[:len(arg)-4]
	}
	return strings.TrimPrefix(arg, "-")
}

func isShell(name string) bool {
	switch strings.ToLower(name) {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "cmd", "powershell", "pwsh":
		return true
	}
	return false
}

// isLauncher names programs that stay to watch over the one command that they run.
func isLauncher(name string) bool {
	switch name {
	case "timeout", "gtimeout", "time", "sudo", "doas", "setsid", "strace":
		return true
	}
	return false
}

// commandText gives the commands that a shell was given as an argument; ok is false for a script or a person's shell.
func commandText(shell string, args []string) (text string, ok bool) {
	switch strings.ToLower(shell) {
	case "cmd":
		return afterOption(args, "/c")
	case "powershell", "pwsh":
		return afterOption(args, "-command", "-c")
	}
	command := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" || arg == "-":
		case arg == "--rcfile" || arg == "--init-file":
			i++
		case arg == "--command": // fish
			command = true
		case strings.HasPrefix(arg, "--"):
		case len(arg) > 1 && (arg[0] == '-' || arg[0] == '+'):
			command = command || arg[0] == '-' && strings.Contains(arg, "c")
			if strings.HasSuffix(arg, "o") || strings.HasSuffix(arg, "O") { // takes the name of a setting
				i++
			}
		default:
			return arg, command
		}
	}
	return "", false
}

func afterOption(args []string, options ...string) (string, bool) {
	for i, arg := range args {
		for _, o := range options {
			if strings.EqualFold(arg, o) {
				return strings.Join(args[i+1:], " "), true
			}
		}
	}
	return "", false
}

// invocations counts how often the command text runs program, or kiro-learn under its own name. A mention counts where
// a command stands or where a hook's name follows; a directory of the same name does not.
func invocations(text, program string) (n int) {
	words := commandWords(text)
	first := true // of a command
	for i, w := range words {
		if isSeparator(w) {
			first = true
			continue
		}
		if name := programName(w); name != "" && (name == program || name == "kiro-learn") && !strings.Contains(w, "=") {
			if first || i+1 < len(words) && isHookName(words[i+1]) {
				n++
			}
		}
		first = first && (strings.Contains(w, "=") || isPrefixWord(w))
	}
	return n
}

// loops reports whether the command text may run one mention of a hook many times, as nobody registers it with Kiro.
func loops(text string) bool {
	first := true
	for _, w := range commandWords(text) {
		if first && (w == "for" || w == "while" || w == "until") {
			return true
		}
		first = isSeparator(w) || first && isPrefixWord(w)
	}
	return false
}

// commandWords splits command text into bare words and separators of commands. Quotes are dropped and not obeyed: a
// quoted command is a command for the shell below.
func commandWords(text string) (words []string) {
	start := 0
	flush := func(end int) {
		if w := strings.Trim(text[start:end], `"'`+"`"); w != "" {
			words = append(words, w)
		}
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r':
			flush(i)
			start = i + 1
		case ';', '&', '|', '(', ')', '\n':
			flush(i)
			words = append(words, ";")
			start = i + 1
		}
	}
	flush(len(text))
	return words
}

func isSeparator(w string) bool { return w == ";" }

// isPrefixWord names what may stand before a command without being one.
func isPrefixWord(w string) bool {
	switch w {
	case "exec", "env", "command", "nohup", "time", "sudo", "!", "{", "then", "else", "do", "if", "while":
		return true
	}
	return false
}

// isHookName knows the hooks' names in either spelling, and the verb that reads the name from the payload.
func isHookName(w string) bool {
	switch strings.ToLower(w) {
	case "agentspawn", "sessionstart", "userpromptsubmit", "promptsubmit", "pretooluse", "posttooluse", "stop", "agentstop", "hook":
		return true
	}
	return false
}
