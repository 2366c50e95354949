package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Neutral makes stored text safe to show to an agent: whatever it was made of, it cannot close or fake the frame it is
// shown in, pose as another speaker, open a tool call or a code fence, steer a terminal, or hide characters. It stays
// readable. Lines are kept, empty ones dropped. Neutral(Neutral(s)) is Neutral(s).
func Neutral(s string) string {
	s = visible(s)
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.SplitSeq(s, "\n") {
		if line = neutralLine(line); line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}

// oneLine is Neutral in one line.
func oneLine(s string) string { return strings.ReplaceAll(Neutral(s), "\n", " ") }

// visible drops terminal escapes, control characters and characters that show nothing or turn the direction of
// writing. A joiner between two characters that need it, as in emoji and Indic scripts, stays.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	clean := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' || c >= 0x7F {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	b := make([]byte, 0, len(s))
	prev := ' '
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == 0x1B || r == 0x9B:
			i += escapeLen(s[i:], r)
			continue
		case r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 || r == '\v' || r == '\f':
			r = '\n'
		case r == '\t' || unicode.Is(unicode.Zs, r):
			r = ' '
		case r < ' ' && r != '\n' || r >= 0x7F && r < 0xA0:
			continue
		case r == 0x200D || r == 0x200C || r == 0xFE0F:
			next, _ := utf8.DecodeRuneInString(s[i:])
			if prev < utf8.RuneSelf || invisible(prev) || r != 0xFE0F && (next < utf8.RuneSelf || invisible(next)) {
				continue
			}
		case invisible(r) || r >= 0xE000 && r <= 0xF8FF || r == 0x2800:
			continue
		}
		b = utf8.AppendRune(b, r)
		prev = r
	}
	return string(b)
}

// escapeLen is the length of what follows an escape character and belongs to its sequence.
func escapeLen(s string, first rune) int {
	i := 0
	if first == 0x1B {
		if s == "" {
			return 0
		}
		switch i = 1; s[0] {
		case '[':
		case ']', 'P', 'X', '^', '_': // a string up to BEL or ST
			for ; i < len(s) && i < 4096; i++ {
				if s[i] == 7 {
					return i + 1
				}
				if s[i] == 0x1B {
					return i + min(2, len(s)-i)
				}
				if s[i] == '\n' {
					return i
				}
			}
			return i
		default:
			if s[0] >= utf8.RuneSelf || s[0] < ' ' {
				return 0
			}
			return 1
		}
	}
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3F {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7E {
		i++
	}
	return i
}

// neutralLine takes from a line what would make it more than text.
func neutralLine(s string) string {
	for {
		was := s
		s = strings.TrimRight(strings.TrimSpace(s), " ")
		s = heading(s)
		s = runs(s)
		s = tags(s)
		s = speakers(s)
		s = ownWords(s)
		if s == was {
			return s
		}
	}
}

// heading takes the signs of a heading off, behind marks of quotes and lists too.
func heading(s string) string {
	i := 0
	for i < len(s) && strings.IndexByte("> \t-*+|", s[i]) >= 0 {
		i++
	}
	j := i
	for j < len(s) && s[j] == '#' {
		j++
	}
	if j > i && (j == len(s) || s[j] == ' ' || j-i > 1) {
		return s[:i] + strings.TrimLeft(s[j:], " ")
	}
	return s
}

// runs breaks what is made of repeated signs: fences, rules and markers of three hyphens or equal signs, and headings
// in the middle of a line.
func runs(s string) string {
	if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") && !strings.Contains(s, "---") &&
		!strings.Contains(s, "===") && !strings.Contains(s, "##") && !strings.Contains(s, "***") && !strings.Contains(s, "___") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c, j := s[i], i+1
		for j < len(s) && s[j] == c {
			j++
		}
		switch n := j - i; {
		case c == '`' && n >= 3:
			b = append(b, "''"...)
		case c == '~' && n >= 3:
			b = append(b, '~')
		case c == '-' && n >= 3:
			b = append(b, "—"...)
		case (c == '=' || c == '*' || c == '_') && n >= 3:
			b = append(b, c, c)
		case c == '#' && n >= 2:
			b = append(b, '#')
		default:
			b = append(b, s[i:j]...)
		}
		i = j
	}
	return string(b)
}

// tags turns the opening bracket of anything like a tag, a template token or a tool call into a typographic one.
// Brackets behind a letter, as of generic types, stay unless what follows is such a token.
func tags(s string) string {
	if !strings.ContainsAny(s, "<[") {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	token := false // within a chat template's token, whose end is no pipe operator
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '<' && i+1 < len(s) && opensTag(s, i):
			b = append(b, "‹"...)
			token = token || s[i+1] == '|'
		case s[i] == '>' && token && s[i-1] == '|':
			b = append(b, "›"...)
			token = false
		case s[i] == '[' && opensToken(s[i+1:]):
			b = append(b, '(')
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}

func opensTag(s string, i int) bool {
	next, _ := utf8.DecodeRuneInString(s[i+1:])
	switch {
	case next == '/' || next == '|' || next == '｜' || next == '!' || next == '?' || next == '<':
		return true
	case !unicode.IsLetter(next):
		return false
	case i == 0 || !wordByte(s[i-1]):
		return true
	}
	name := s[i+1:]
	if end := strings.IndexAny(name, "> \t"); end >= 0 {
		name = name[:end]
	}
	switch strings.ToLower(name) {
	case "s", "bos", "eos", "invoke", "system", "user", "assistant", "human", "tool", "function", "parameter", "instructions":
		return true
	}
	return strings.ContainsAny(name, "_:|")
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ']' || c == ')'
}

func opensToken(s string) bool {
	s = strings.TrimPrefix(s, "/")
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return false
	}
	switch strings.ToUpper(strings.TrimSpace(s[:end])) {
	case "INST", "SYS", "SYSTEM", "USER", "ASSISTANT", "TOOL_CALLS", "TOOL_RESULTS", "AVAILABLE_TOOLS", "SYSTEM_PROMPT", "TOOL_CALL", "TOOL_RESULT":
		return true
	}
	return false
}

// speakers takes the colon from a line that begins as if somebody spoke, and from the names that chat templates use
// anywhere in it.
func speakers(s string) string {
	for _, w := range [...]string{"SYSTEM:", "Human:", "HUMAN:", "Assistant:", "ASSISTANT:", "System:", "USER:"} {
		if strings.Contains(s, w) {
			s = strings.ReplaceAll(s, w, w[:len(w)-1]+" -")
		}
	}
	i := 0
	for i < len(s) && !wordByte(s[i]) && s[i] < utf8.RuneSelf {
		i++
	}
	j := i
	for j < len(s) && (s[j]|32 >= 'a' && s[j]|32 <= 'z') {
		j++
	}
	if !speaker(s[i:j]) && !(strings.EqualFold(s[i:j], "role") && speaker(firstWord(s[j:]))) {
		return s
	}
	k := j
	for k < len(s) && strings.IndexByte(" *_`\"')]", s[k]) >= 0 {
		k++
	}
	if rest, ok := strings.CutPrefix(s[k:], ":"); ok {
		return s[:k] + " -" + rest
	}
	if rest, ok := strings.CutPrefix(s[k:], "："); ok {
		return s[:k] + " -" + rest
	}
	return s
}

// speaker tells whether a word names one who speaks in a conversation.
func speaker(word string) bool {
	switch strings.ToLower(word) {
	case "system", "human", "assistant", "user", "developer", "tool", "ai", "model", "instruction", "instructions":
		return true
	}
	return false
}

// firstWord is the first word of s behind what parts a key from its value.
func firstWord(s string) string {
	s = strings.TrimLeft(s, " *_`\"':)]")
	end := strings.IndexFunc(s, func(r rune) bool { return (r|32 < 'a') || (r|32 > 'z') })
	if end < 0 {
		return s
	}
	return s[:end]
}

// ownWords breaks the sentences of our own frame.
func ownWords(s string) string {
	for _, w := range [...]string{"notes from earlier sessions", "these are past observations"} {
		for {
			i := indexFold(s, w)
			if i < 0 {
				break
			}
			s = s[:i] + "(quoted) " + s[i+strings.IndexByte(w, ' ')+1:]
		}
	}
	return s
}

// indexFold finds an ASCII phrase whatever its case, and -1 without it.
func indexFold(s, phrase string) int {
	for i := 0; i+len(phrase) <= len(s); i++ {
		if s[i]|32 == phrase[0] && strings.EqualFold(s[i:i+len(phrase)], phrase) {
			return i
		}
	}
	return -1
}
