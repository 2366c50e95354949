package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What privacy and truncate leave behind in a text.
const (
	cutMark      = "[truncated by kiro-learn]"
	redactedMark = "[REDACTED"
)

// cleanText makes hostile text plain: valid UTF-8, Unix line ends, no terminal escapes, no control, direction or
// zero-width characters. Tabs become spaces so that a line shows as one.
func cleanText(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 || strings.Contains(s, "\u009b") {
		s = dropEscapes(s)
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if strings.Contains(s, cutMark) {
		s = strings.ReplaceAll(s, cutMark, "…") // a sentence that ends so is known to be cut
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= ' ' && r < 0x7f || r == '\n':
			return r
		case r == '\t' || r == '\u00a0':
			return ' '
		case r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f' || r == '\u0085':
			return '\n'
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r == 0x200b, r == 0x200e, r == 0x200f, r == 0x2060, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
			return -1
		}
		return r // an invalid byte comes as U+FFFD and is written as that
	}, s)
}

// dropEscapes removes terminal escapes: CSI and OSC sequences whole, other ones with their next byte.
func dropEscapes(s string) string {
	s = strings.ReplaceAll(s, "\u009b", "\x1b[")
	var b strings.Builder
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		switch {
		case strings.HasPrefix(s, "["):
			n := 1
			for n < len(s) && s[n] >= 0x20 && s[n] < 0x40 {
				n++
			}
			s = s[min(n+1, len(s)):]
		case strings.HasPrefix(s, "]"):
			n := strings.IndexAny(s[:min(len(s), 4096)], "\a\x1b")
			switch {
			case n < 0:
				s = s[1:]
			case s[n] == '\a':
				s = s[n+1:]
			default:
				s = strings.TrimPrefix(s[n+1:], "\\")
			}
		case s != "":
			_, n := utf8.DecodeRuneInString(s)
			s = s[n:]
		}
	}
	b.WriteString(s)
	return b.String()
}

// dropInjected removes what Kiro or kiro-learn put beside the words of a person or an agent: recalled notes are not
// news, and must not become new records of themselves.
func dropInjected(s string) string {
	if _, in, ok := strings.Cut(s, "--- USER MESSAGE BEGIN ---"); ok {
		s, _, _ = strings.Cut(in, "--- USER MESSAGE END ---")
	}
	s = dropBetween(s, "--- CONTEXT ENTRY BEGIN ---", "--- CONTEXT ENTRY END ---")
	s = dropBetween(s, "<HOOK_INSTRUCTION>", "</HOOK_INSTRUCTION>")
	s = dropElements(dropChatTokens(s))
	if !strings.Contains(s, "(kiro-learn)") {
		return s
	}
	at := 0
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimLeft(line, "> "), "#") && strings.Contains(line, "(kiro-learn)") {
			return s[:at]
		}
		at += len(line)
	}
	return s
}

// dropChatTokens removes the marks by which chat templates tell who speaks, such as <|im_start|>.
func dropChatTokens(s string) string {
	if !strings.Contains(s, "<|") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "<|")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		if n := strings.Index(s[:min(len(s), 40)], "|>"); n < 0 || strings.ContainsAny(s[:n], " \n") {
			b.WriteString(s[:2])
			s = s[2:]
		} else {
			s = s[n+2:]
		}
	}
}

// dropElements removes elements whose tags stand on lines of their own: the context that an editor puts around a
// prompt, and pasted markup.
func dropElements(s string) string {
	if !strings.Contains(s, "</") {
		return s
	}
	var b strings.Builder
	unclosed := make(map[string]bool)
	for s != "" {
		end := len(s)
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			end = n + 1
		}
		name := tagName(strings.TrimSpace(s[:end]))
		if name != "" && !unclosed[name] && !strings.Contains(s[:end], "</"+name) {
			if n := strings.Index(s[end:], "</"+name+">"); n >= 0 {
				s = s[end+n+len(name)+len("</>"):]
				continue
			}
			unclosed[name] = true
			if len(unclosed) > 64 { // this is no prompt, and the search for ever new names must end
				break
			}
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	return b.String() + s
}

// tagName is the name of the element that a line opens, when the line begins with its tag.
func tagName(line string) string {
	if len(line) < 3 || line[0] != '<' {
		return ""
	}
	n := 1
	for n < min(len(line), 60) && (asciiLetter(line[n]) || n > 1 && strings.IndexByte("-_0123456789", line[n]) >= 0) {
		n++
	}
	if n == 1 || n == len(line) || line[n] != '>' && line[n] != ' ' {
		return ""
	}
	return line[1:n]
}

func asciiLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// dropBetween removes what stands between two marks, and the marks.
func dropBetween(s, begin, end string) string {
	if !strings.Contains(s, begin) {
		return s
	}
	var b strings.Builder
	for {
		before, in, ok := strings.Cut(s, begin)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if _, s, ok = strings.Cut(in, end); !ok { // one that never closes goes to the end
			return b.String()
		}
		b.WriteByte('\n')
	}
}

// oneLine joins the words of s with single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cutWords is s within max characters. It cuts between words where one ends in the last third; an ellipsis shows the cut.
func cutWords(s string, max int) string {
	if len(s) <= max || utf8.RuneCountInString(s) <= max {
		return s
	}
	n, end := 0, len(s)
	for i := range s {
		if n == max-1 {
			end = i
			break
		}
		n++
	}
	s = s[:end]
	if i := strings.LastIndexAny(s, " \n"); i > len(s)*2/3 {
		s = s[:i]
	}
	return strings.TrimRight(s, " \n,;:–-(") + "…"
}

// shortText is the first whole sentences of list that fit in max characters, joined by spaces; a first one that is
// too long is cut.
func shortText(list []string, max int) string {
	var b strings.Builder
	n := 0
	for _, s := range list {
		size := utf8.RuneCountInString(s) + 1
		if n > 0 && n+size > max {
			break
		}
		if last, _ := utf8.DecodeLastRuneInString(b.String()); n > 0 && !isWideStop(last) {
			b.WriteByte(' ')
		}
		b.WriteString(cutWords(s, max))
		n += size
	}
	return b.String()
}

// isWide tells whether r belongs to a script that is written without spaces.
func isWide(r rune) bool {
	return r >= 0x3040 && r <= 0x30ff || r >= 0x3400 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0x0e00 && r <= 0x0e7f || r >= 0x20000 && r <= 0x3ffff
}

// isWideStop tells whether r ends a sentence that needs no space behind it.
func isWideStop(r rune) bool { return r == '。' || r == '！' || r == '？' }

func hasWide(s string) bool { return strings.IndexFunc(s, isWide) >= 0 }

// wordCount counts words; two characters of a script without spaces count as one.
func wordCount(s string) int {
	n, wide, in := 0, 0, false
	for _, r := range s {
		switch {
		case isWide(r):
			wide++
			in = false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !in {
				n++
			}
			in = true
		case r == '\'' || r == '’' || r == '_' || r == '-':
		default:
			in = false
		}
	}
	return n + (wide+1)/2
}

// statementKey is what two spellings of one statement have in common: their letters and digits.
func statementKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// hasWord tells whether the lower-case text holds the phrase between word borders, and where it begins.
func hasWord(low, phrase string) (int, bool) {
	for at := 0; ; {
		i := strings.Index(low[at:], phrase)
		if i < 0 {
			return 0, false
		}
		i += at
		if wordBorder(low, i) && wordBorder(low, i+len(phrase)) {
			return i, true
		}
		at = i + 1
	}
}

// wordBorder tells whether no word goes across byte i. Scripts without spaces have a border everywhere.
func wordBorder(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	a, _ := utf8.DecodeLastRuneInString(s[:i])
	b, _ := utf8.DecodeRuneInString(s[i:])
	word := func(r rune) bool { return (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_') && !isWide(r) }
	return !word(a) || !word(b)
}

// trimWord takes the phrase off the front of s when it stands there as whole words, and what separates it from the rest.
func trimWord(s, phrase string) (string, bool) {
	if len(s) < len(phrase) || !strings.EqualFold(s[:len(phrase)], phrase) || !wordBorder(s, len(phrase)) {
		return s, false
	}
	rest := s[len(phrase):]
	if strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, ". ") && len(rest) > 1 || strings.HasPrefix(rest, "/") {
		return s, false // part of a name, such as now.go
	}
	return strings.TrimLeft(rest, " ,.!:;–—，。！、"), true
}
