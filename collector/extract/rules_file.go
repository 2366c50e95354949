package extract

import (
	"path"
	"strings"
	"unicode/utf8"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// fileTouches gives the files a file tool named in its arguments, else, where some Kiros send none, in its answer.
func fileTouches(kind actKind, t event.Tool, base string, out outcome) []touch {
	if out.failed {
		return nil
	}
	if p := stringAt(t.Input, "patch", "input"); kind == actWrite && strings.Contains(p, "*** ") {
		if list := patchTouches(p, base); len(list) > 0 {
			return list
		}
	}
	text := ""
	if kind != actRead {
		text = out.text
	}
	if kind == actWrite && strings.HasPrefix(strings.TrimSpace(text), "Created ") {
		kind = actCreate
	}
	paths := pathsAt(t.Input)
	if len(paths) == 0 {
		paths = pathInAnswer(text)
	}
	var list []touch
	for _, p := range paths {
		if p = relativePath(p, base); p != "" {
			list = append(list, touch{kind, p})
		}
	}
	return list
}

// pathsAt gives the values of the arguments that hold paths of files, in all of Kiro's spellings.
func pathsAt(input []byte) []string {
	var out []string
	add := func(v []byte) {
		if rawjson.IsString(v) {
			out = append(out, rawjson.Unquote(v))
		}
	}
	rawjson.Members(input, func(k string, v []byte) bool {
		switch k {
		case "path", "targetFile", "target_file", "file_path", "filePath", "file", "filename", "notebook_path":
			if !strings.HasSuffix(strings.ToLower(stringAt(input, "mode")), "directory") {
				add(v)
			}
		case "paths", "files", "image_paths", "file_paths", "filePaths":
			rawjson.Elements(v, func(e []byte) bool {
				if rawjson.IsObject(e) {
					out = append(out, pathsAt(e)...)
				} else {
					add(e)
				}
				return true
			})
		case "operations", "ops", "edits":
			rawjson.Elements(v, func(e []byte) bool {
				switch strings.ToLower(stringAt(e, "mode")) {
				case "directory", "search":
				default:
					if rawjson.IsObject(e) && rawjson.Get(e, "operations") == nil {
						out = append(out, pathsAt(e)...)
					}
				}
				return true
			})
		}
		return len(out) < 200
	})
	return out
}

// pathInAnswer finds the file in an answer such as "Created the config/retry.toml file."
func pathInAnswer(text string) []string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "Created", "Replaced", "Deleted", "Appended", "Updated", "Wrote", "Modified", "Edited", "Successfully", "Inserted":
	default:
		return nil
	}
	if strings.HasSuffix(rest, " file.") { // a path with spaces stands between "the" and "file."
		rest = strings.TrimSuffix(rest, " file.")
		if i := strings.Index(rest, "the "); i >= 0 {
			rest = rest[i+len("the "):]
		}
		rest = strings.TrimPrefix(rest[max(0, strings.LastIndex(rest, " to the ")):], " to the ")
		if strings.ContainsAny(rest, "./\\") {
			return []string{rest}
		}
		return nil
	}
	for _, w := range strings.Fields(rest) {
		w = strings.Trim(w, "`'\"(),.:;")
		if strings.ContainsAny(w, `/\`) || looksLikeFile(w) {
			return []string{w}
		}
	}
	return nil
}

func patchTouches(p, base string) []touch {
	var list []touch
	for line := range strings.Lines(p) {
		for head, kind := range map[string]actKind{"*** Add File: ": actCreate, "*** Update File: ": actWrite, "*** Delete File: ": actDelete} {
			if f, ok := strings.CutPrefix(line, head); ok {
				if f = relativePath(f, base); f != "" {
					list = append(list, touch{kind, f})
				}
			}
		}
	}
	return list
}

// projectBase is a project's path in the form relativePath compares with.
func projectBase(p string) string {
	return strings.TrimRight(strings.ReplaceAll(p, `\`, "/"), "/")
}

// relativePath is p relative to the project where it lies in it, with slashes; empty for what names no file.
func relativePath(p, base string) string {
	p = strings.TrimSpace(cleanText(p))
	p = strings.TrimPrefix(p, "file://")
	if p == "" || strings.ContainsAny(p, "\n") || strings.Contains(p, redactedMark) || utf8.RuneCountInString(p) > event.MaxFile || strings.HasSuffix(p, "…") {
		return ""
	}
	windows := strings.HasPrefix(p, `\\`) || len(p) > 2 && p[1] == ':' || strings.Contains(base, ":/")
	if windows || strings.Contains(p, `\`) && !strings.Contains(p, "/") {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if strings.HasSuffix(p, "/") {
		return ""
	}
	p = path.Clean(p)
	if base != "" {
		for _, b := range []string{base, strings.TrimPrefix(base, "/private")} { // macOS spells /tmp and /var in two ways
			if p == b {
				return ""
			}
			if len(p) > len(b) && p[len(b)] == '/' && (p[:len(b)] == b || windows && strings.EqualFold(p[:len(b)], b)) {
				return p[len(b)+1:]
			}
		}
	}
	if strings.HasPrefix(p, "../") || p == "." || p == ".." || p == "/" || p == "~" || strings.HasSuffix(p, "/..") {
		return ""
	}
	return p
}

// looksLikeFile tells whether the last part of a path looks like a file's name: with an extension, or one of those
// that never have one.
func looksLikeFile(p string) bool {
	name := p[strings.LastIndexAny(p, `/\`)+1:]
	switch name {
	case "Makefile", "Dockerfile", "LICENSE", "Gemfile", "Rakefile", "Procfile", "Jenkinsfile", "README", "CHANGELOG",
		"go.mod", "go.sum":
		return true
	}
	ext := path.Ext(name)
	if len(ext) < 2 || len(ext) > 12 {
		return false
	}
	letters := 0
	for _, c := range []byte(ext[1:]) {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return letters > 0 && name != ext || strings.HasPrefix(name, ".") && letters > 2
}

// shellTouches gives the files that a command plainly edits: git mv, git rm, mv, cp, rm, touch, tee, sed -i and output
// redirections, with names that need no shell to be understood. Everything else is left out.
func shellTouches(command, cwd, base string) []touch {
	var list []touch
	script, _, heredoc := strings.Cut(command, "<<")
	if heredoc { // the text of a here document is no command; what follows on its first line may redirect
		first, _, _ := strings.Cut(command[len(script):], "\n")
		if i := strings.Index(first, ">"); i >= 0 {
			script += " " + first[i:]
		}
	}
	add := func(kind actKind, p string) {
		if !looksLikeFile(p) || strings.ContainsAny(p, "$*?`{}[]~<>|&;=") {
			return
		}
		if cwd != "" && !strings.HasPrefix(p, "/") && !(len(p) > 1 && p[1] == ':') {
			p = cwd + "/" + p
		}
		if p = relativePath(p, base); p != "" && !strings.HasPrefix(p, "/tmp/") && !strings.HasPrefix(p, "/dev/") {
			list = append(list, touch{kind, p})
		}
	}
	for _, words := range shellCommands(script) {
		if len(words) == 2 && words[0] == "cd" {
			if strings.HasPrefix(words[1], "/") {
				cwd = words[1]
			} else if cwd != "" {
				cwd += "/" + words[1]
			} else {
				cwd = words[1]
			}
			continue
		}
		words = redirections(words, add)
		shellEdit(words, add)
	}
	return list
}

// redirections reports files that output goes to and gives the words without them.
func redirections(words []string, add func(actKind, string)) []string {
	var rest []string
	for i := 0; i < len(words); i++ {
		w := strings.TrimPrefix(words[i], "1")
		switch {
		case (w == ">" || w == ">>") && i+1 < len(words):
			add(actWrite, words[i+1])
			i++
		case strings.HasPrefix(w, ">") && len(w) > 1 && w[1] != '&' && w[1] != '(':
			add(actWrite, strings.TrimLeft(w, ">"))
		default:
			rest = append(rest, words[i])
		}
	}
	return rest
}

func shellEdit(words []string, add func(actKind, string)) {
	if len(words) > 1 && words[0] == "git" && (words[1] == "mv" || words[1] == "rm") {
		words = words[1:]
	}
	if len(words) < 2 {
		return
	}
	var names []string
	inPlace := false
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") {
			inPlace = inPlace || strings.HasPrefix(w, "-i") || w == "--in-place"
			continue
		}
		names = append(names, w)
	}
	switch n := len(names); {
	case words[0] == "mv" && n == 2 && looksLikeFile(names[1]):
		add(actDelete, names[0])
		add(actWrite, names[1])
	case words[0] == "cp" && n == 2:
		add(actWrite, names[1])
	case words[0] == "rm":
		for _, f := range names {
			add(actDelete, f)
		}
	case words[0] == "touch" || words[0] == "tee":
		for _, f := range names {
			add(actWrite, f)
		}
	case words[0] == "sed" && inPlace && n >= 2:
		for _, f := range names[1:] {
			add(actWrite, f)
		}
	}
}

// shellCommands splits a script into simple commands and those into words, as far as quotes go. It expands nothing.
func shellCommands(script string) [][]string {
	var out [][]string
	var words []string
	var w strings.Builder
	in, quote := false, byte(0)
	word := func() {
		if in {
			words = append(words, w.String())
			w.Reset()
			in = false
		}
	}
	for i := 0; i < len(script) && i < 8192; i++ {
		c := script[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				w.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			word()
		case c == ';' || c == '|' || c == '\n' || c == '&' && !(i > 0 && script[i-1] == '>') && !(i+1 < len(script) && script[i+1] == '>'):
			word()
			if len(words) > 0 {
				out = append(out, words)
				words = nil
			}
		default:
			in = true
			w.WriteByte(c)
		}
	}
	word()
	if len(words) > 0 {
		out = append(out, words)
	}
	return out
}
