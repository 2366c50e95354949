package extract

import (
	"strings"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

type actKind int

const (
	actOther actKind = iota
	actRead
	actWrite  // changed a file that may have been there before
	actCreate // said to have made a new file
	actDelete
	actCommand
)

// action is what one tool use did, as far as its event tells.
type action struct {
	id      string
	tool    string
	kind    actKind
	touched []touch
	command string
	detail  string // of a tool that is neither file nor command: what it was asked about
	out     outcome
	why     string   // of a command that failed: the line of its output that says why
	lines   []string // and the lines around it
}

// touch is one file an action named, relative to the project where it lies in it.
type touch struct {
	kind actKind
	path string
}

// ownTool tells whether a tool is kiro-learn's own: what it searched or saved is in memory already.
func ownTool(name string) bool {
	low := strings.ToLower(name)
	if strings.Contains(low, "kiro-learn") || strings.Contains(low, "kiro_learn") || strings.Contains(low, "kirolearn") {
		return true
	}
	switch low[strings.LastIndexAny(low, "/.:")+1:] {
	case "search_memory", "save_observation", "save_session_summary":
		return true
	}
	return false
}

// actionOf reads a tool_use event; ok is false for our own tools and for events that tell nothing.
func actionOf(e *event.Event) (action, bool) {
	body, err := event.ParseBody(e.Body)
	if err != nil {
		return action{}, false
	}
	t := body.Tool()
	if t.Name == "unknown" || ownTool(t.Name) {
		return action{}, false
	}
	a := action{id: e.EventID, tool: cutWords(oneLine(cleanText(t.Name)), 80), kind: kindOfTool(t.Name, t.Input), out: outcomeOf(t.Response)}
	base := projectBase(e.Source.ProjectPath)
	switch a.kind {
	case actCommand:
		a.command = strings.TrimSpace(cleanText(stringAt(t.Input, "command", "cmd", "script")))
		if a.command == "" {
			return action{}, false
		}
		if a.out.exit == "" || maskedExit(a.command) { // without a status, a success is that of the tool: it could run
			a.out.unmask()
		}
		if a.out.failed && !trivialCommand(a.command) {
			a.why, a.lines = errorLines(a.out.text, base)
		} else if !a.out.failed {
			a.touched = shellTouches(a.command, stringAt(t.Input, "cwd", "working_dir", "workingDirectory"), base)
		}
	case actOther:
		a.detail = toolDetail(t.Input)
	default:
		a.touched = fileTouches(a.kind, t, base, a.out)
	}
	return a, true
}

// kindOfTool tells what a tool does, by its name in any of Kiro's spellings, else by its arguments.
func kindOfTool(name string, input []byte) actKind {
	if strings.HasPrefix(name, "@") && !strings.HasPrefix(name, "@builtin/") {
		return actOther
	}
	n := strings.ToLower(strings.TrimPrefix(name, "@builtin/"))
	n = strings.NewReplacer("_", "", "-", "", " ", "").Replace(n)
	switch n {
	case "fswrite", "write", "strreplace", "fsappend", "append", "createfile", "writefile", "editfile", "edit", "multiedit",
		"insert",
		"fsreplace", "applypatch", "strreplaceeditor", "strreplacebasededittool", "replaceinfile", "editcode", "notebookedit":
		if stringAt(input, "command") == "create" || n == "createfile" {
			return actCreate
		}
		if stringAt(input, "command") == "view" {
			return actRead
		}
		return actWrite
	case "deletefile", "removefile", "fsdelete", "delete":
		return actDelete
	case "fsread", "read", "readfile", "readfiles", "readmultiplefiles", "readcode", "openfile", "view", "viewfile":
		return actRead
	case "executebash", "executepwsh", "executecmd", "executepowershell", "executecommand", "shell", "bash", "pwsh",
		"powershell", "runcommand",
		"terminal", "runterminalcommand", "runshellcommand", "localshell":
		return actCommand
	}
	return kindOfInput(n, input)
}

// kindOfInput guesses for a tool of a name not known. It takes for a write only what brings both a file and its text.
func kindOfInput(name string, input []byte) actKind {
	if len(pathsAt(input)) > 0 {
		for _, k := range []string{"content", "text", "file_text", "new_str", "newStr", "new_string", "newText"} {
			if rawjson.Get(input, k) != nil {
				return actWrite
			}
		}
		return actOther
	}
	if stringAt(input, "command") != "" && !strings.Contains(name, "todo") && !strings.Contains(name, "process") {
		return actCommand
	}
	return actOther
}

// toolDetail is the arguments that name a thing: short words without spaces, such as the key of an issue.
func toolDetail(input []byte) string {
	var out []string
	rawjson.Members(input, func(_ string, v []byte) bool {
		if rawjson.IsString(v) && len(v) <= 60 {
			if s := rawjson.Unquote(v); s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > 0x7e }) < 0 && !strings.Contains(s, redactedMark) {
				out = append(out, s)
			}
		}
		return len(out) < 3
	})
	return strings.Join(out, " ")
}

// stringAt is the text of the first of the members keys of an object that is a string and not empty.
func stringAt(obj []byte, keys ...string) string {
	for _, k := range keys {
		if v := rawjson.Get(obj, k); rawjson.IsString(v) {
			if s := rawjson.Unquote(v); s != "" {
				return s
			}
		}
	}
	return ""
}

// outcome is how a tool use ended.
type outcome struct {
	known  bool   // whether it is told at all
	failed bool   // known, and it did not succeed
	exit   string // exit status where one is told
	text   string // output and error messages, in the order given
}

// outcomeOf reads a tool response of any of Kiro's shapes: {success, result, error}, {items: [{Text}, {Json}]}, a plain
// string that ends in "Exit Code: N", content lists of MCP. An exit status says more than a success flag.
func outcomeOf(raw []byte) outcome {
	var o outcome
	var b strings.Builder
	o.read(raw, &b, 0)
	o.text = b.String()
	if o.exit == "" {
		o.exit = exitCodeIn(o.text)
	}
	if o.exit != "" {
		o.known = true
		o.failed = o.failed || o.exit != "0"
	}
	return o
}

// maskedExit tells whether a command's exit status is not that of its work: a pipe ends in a filter, or another command
// follows whatever happened.
func maskedExit(command string) bool {
	main := mainCommand(command)
	return strings.Contains(strings.ReplaceAll(main, "\\|", ""), "|") || strings.Contains(main, "; echo")
}

// unmask corrects a success that may only be the filter's, or only tell that the tool ran, by what the output says.
func (o *outcome) unmask() {
	if o.failed {
		return
	}
	bad, good, _ := verdictOf(o.text)
	for _, l := range outputLines(o.text, "") {
		bad = bad || strings.HasPrefix(l, "FAIL") || strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "[ERROR] ")
		good = good || l == "OK" || strings.HasPrefix(l, "test result: ok") || strings.Contains(l, " passed")
	}
	if o.known, o.failed = bad || good, bad; bad && o.exit == "0" {
		o.exit = ""
	}
}

func (o *outcome) read(v []byte, b *strings.Builder, depth int) {
	v = v[rawjson.Space(v, 0):]
	switch {
	case depth > 5 || len(v) == 0:
	case v[0] == '"':
		if s := rawjson.Unquote(v); s != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(s)
		}
	case v[0] == '[':
		rawjson.Elements(v, func(e []byte) bool { o.read(e, b, depth+1); return true })
	case v[0] == '{':
		rawjson.Members(v, func(k string, m []byte) bool { o.member(k, m, b, depth); return true })
	}
}

func (o *outcome) member(key string, v []byte, b *strings.Builder, depth int) {
	word := strings.Trim(string(v[:min(len(v), 16)]), `"`)
	switch key {
	case "success":
		o.known = true
		o.failed = o.failed || word == "false"
	case "isError", "is_error":
		o.known = true
		o.failed = o.failed || word == "true"
	case "exit_status", "exitStatus", "exitCode", "exit_code":
		if word != "null" && word != "" && (o.exit == "" || o.exit == "0") {
			o.exit = exitNumber(word)
		}
	case "result", "error", "items", "Text", "Json", "text", "content", "stdout", "stderr", "output", "message":
		o.read(v, b, depth+1)
	}
}

// exitNumber is the number of an exit status in any spelling, such as "exit status: 1".
func exitNumber(s string) string {
	s = strings.TrimSpace(s)
	s = s[strings.LastIndexAny(s, " :")+1:]
	if s == "" || strings.Trim(s, "-0123456789") != "" {
		return ""
	}
	return s
}

// exitCodeIn finds the "Exit Code: N" that ends a plain string response.
func exitCodeIn(text string) string {
	tail := strings.ToLower(text[max(0, len(text)-200):])
	i := strings.LastIndex(tail, "exit code:")
	if i < 0 {
		return ""
	}
	n, rest, _ := strings.Cut(strings.TrimSpace(tail[i+len("exit code:"):]), "\n")
	if strings.TrimSpace(rest) != "" {
		return ""
	}
	return exitNumber(n)
}
