package install

import (
	"slices"
	"strings"
)

const programName = "kiro-learn"

// hookNames are the hooks that the program answers to, by their canonical names. Each may begin with a capital, and
// SessionStart is another name for agentSpawn.
func hookNames() []string {
	return []string{"agentSpawn", "userPromptSubmit", "postToolUse", "stop", "promptSubmit", "agentStop"}
}

// canonicalHook is the hook that an argument names, "" for none.
func canonicalHook(arg string) string {
	if strings.EqualFold(arg, "sessionStart") {
		return "agentSpawn"
	}
	for _, h := range hookNames() {
		if len(arg) == len(h) && strings.EqualFold(arg[:1], h[:1]) && arg[1:] == h[1:] {
			return h
		}
	}
	return ""
}

// A Command is a command line of ours as it stands in a hook.
type Command struct {
	Program string // as written, quotes removed
	Hook    string // canonical name; "" for "hook", which takes the event from its payload
}

// ParseCommand reads a command line that does nothing but run a hook of ours: the program under any path, quoted or
// not, a hook's name, our own flags, and at most a redirection or an "|| true". A longer line that also runs us is its
// owner's, and is neither edited nor removed.
func ParseCommand(line string) (Command, bool) {
	for _, split := range []func(string) ([]string, bool){splitPOSIX, splitWindows} {
		words, ok := split(line)
		if !ok || len(words) < 2 || !isOurProgram(words[0]) {
			continue
		}
		c := Command{Program: words[0], Hook: canonicalHook(words[1])}
		args := words[2:]
		if words[1] == "hook" {
			if len(args) > 0 && canonicalHook(args[0]) != "" {
				c.Hook, args = canonicalHook(args[0]), args[1:]
			}
		} else if c.Hook == "" {
			continue
		}
		if onlyOurArguments(args) {
			return c, true
		}
	}
	return Command{}, false
}

// mentionsUs tells whether a command line runs the program somewhere, be it as part of something longer.
func mentionsUs(line string) bool {
	if _, ok := ParseCommand(line); ok {
		return true
	}
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()'\"", r) }) {
		if isOurProgram(w) {
			return true
		}
	}
	return false
}

func isOurProgram(path string) bool {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		if n := len(base) - len(ext); n > 0 && strings.EqualFold(base[n:], ext) {
			base = base[:n]
			break
		}
	}
	return strings.EqualFold(base, programName)
}

func onlyOurArguments(args []string) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--surface" || a == "--payload" || a == "--via":
			i++
			if i == len(args) || strings.HasPrefix(args[i], "-") {
				return false
			}
		case strings.HasPrefix(a, "--surface="), strings.HasPrefix(a, "--payload="), strings.HasPrefix(a, "--via="):
		default:
			return harmlessTail(args[i:])
		}
	}
	return true
}

// harmlessTail accepts what other installers and careful people put behind a hook's command.
func harmlessTail(words []string) bool {
	s := strings.Join(words, " ")
	for _, r := range []string{"2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null", "2>nul", "2>NUL"} {
		s = strings.TrimSpace(strings.Replace(s, r, "", 1))
	}
	return slices.Contains([]string{"", "|| true", "||true", "|| :", "|| exit 0", "; true", "; exit 0"}, s)
}

// splitPOSIX splits a command line as sh does as far as quotes and backslashes go. It does not know operators: they
// come out as words. Expansions make it give up, since the program is then not known.
func splitPOSIX(s string) (words []string, ok bool) {
	var w strings.Builder
	in := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t':
			if in {
				words = append(words, w.String())
				w.Reset()
			}
			in = false
			continue
		case c == '\n' || c == '$' || c == '`':
			return nil, false
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			w.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case c == '"':
			end, ok := doubleQuoted(s, i, &w)
			if !ok {
				return nil, false
			}
			i = end
		case c == '\\' && i+1 < len(s):
			i++
			w.WriteByte(s[i])
		default:
			w.WriteByte(c)
		}
		in = true
	}
	if in {
		words = append(words, w.String())
	}
	return words, len(words) > 0
}

// doubleQuoted reads the string that opens at s[i] and gives the index of its closing quote. $HOME at its start, as
// people write it in their dotfiles, is kept as text.
func doubleQuoted(s string, i int, w *strings.Builder) (end int, ok bool) {
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i, true
		case c == '`':
			return 0, false
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			w.WriteByte(s[i])
		default:
			w.WriteByte(c)
		}
	}
	return 0, false
}

// splitWindows splits as cmd and CreateProcess do for simple lines: double quotes only, a backslash is a backslash.
func splitWindows(s string) (words []string, ok bool) {
	s = strings.TrimPrefix(s, "& ") // PowerShell's call operator
	var w strings.Builder
	in, quoted := false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted, in = !quoted, true
		case c == '\n':
			return nil, false
		case (c == ' ' || c == '\t') && !quoted:
			if in {
				words = append(words, w.String())
				w.Reset()
			}
			in = false
		default:
			w.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, w.String())
	}
	return words, !quoted && len(words) > 0 && !strings.HasPrefix(words[0], "'")
}

// hookLine is the command line of a hook. Our hooks never fail, but in a file that a team shares the program is called by
// its name, and may be missing on a member's machine: that must not block their prompts. sh, bash and cmd all know exit.
func hookLine(program, arguments string) string {
	line := program + " " + arguments
	if program == programName {
		line += " || exit 0"
	}
	return line
}

// quote writes a program's path so that the shell of the system runs it. A path that needs no quotes gets none.
func quote(path, goos string) string {
	if goos == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")               // bash would eat backslashes; cmd takes a slash in a rooted path
		if !strings.ContainsAny(path, " &()[]{}^=;!'+,`%$#@") { // "~", as short names have it, is special only in front
			return path
		}
		return `"` + path + `"`
	}
	safe := func(r rune) bool {
		return r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r))
	}
	if strings.IndexFunc(path, func(r rune) bool { return !safe(r) }) < 0 && path != "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
