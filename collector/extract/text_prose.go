package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the work on one text: of a longer one, or of a longer paragraph, the beginning and the end are read.
const (
	maxSentences = 240
	maxParagraph = 32 << 10 // bytes
)

// proseOf gives the sentences a person or agent wrote in a text, in order: without code, pasted logs, quotations,
// headings and tables, and without markup.
func proseOf(text string) []string {
	list := paragraphs(dropInjected(cleanText(text)))
	if len(list) > maxSentences {
		list = append(list[:maxSentences/2:maxSentences/2], list[len(list)-maxSentences/2:]...)
	}
	var out []string
	for _, p := range list {
		if len(p) > maxParagraph {
			cut := strings.LastIndexByte(p[:maxParagraph/2], ' ')
			next := strings.IndexByte(p[len(p)-maxParagraph/2:], ' ')
			p = p[:max(0, cut)] + " … " + p[len(p)-maxParagraph/2+max(0, next):]
		}
		out = splitSentences(out, stripMarkup(p))
	}
	if len(out) > maxSentences {
		out = append(out[:maxSentences/2:maxSentences/2], out[len(out)-maxSentences/2:]...)
	}
	return out
}

// paragraphs gives the runs of prose lines; each list item is one of its own.
func paragraphs(text string) []string {
	var out []string
	var cur strings.Builder
	flush := func() {
		if cur.Len() > 0 {
			out = append(out, cur.String())
			cur.Reset()
		}
	}
	fence, prevLen := "", 0
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		if f := fenceOf(line); f != "" && (fence == "" || strings.HasPrefix(f, fence)) {
			flush()
			if fence != "" {
				fence = ""
			} else if !strings.Contains(line[len(f):], f[:3]) { // ```one line``` opens nothing
				fence = f
			}
			continue
		}
		if fence != "" {
			continue
		}
		item, isItem := listItem(line)
		switch {
		case line == "" || !isItem && (strings.HasPrefix(raw, "    ") && cur.Len() == 0) || notProse(item):
			flush()
			continue
		case isItem || cur.Len() > 0 && (prevLen < 50 || endsSentence(cur.String())):
			flush() // a short line that ends in the middle of nothing is a line of its own, not a wrapped one
		}
		if cur.Len() > 0 {
			cur.WriteByte(' ')
		}
		cur.WriteString(item)
		prevLen = len(line)
	}
	flush()
	return out
}

func fenceOf(line string) string {
	for _, c := range []byte{'`', '~'} {
		n := 0
		for n < len(line) && line[n] == c {
			n++
		}
		if n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func endsSentence(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"')”»*`+"`"))
	return strings.ContainsRune(".!?:。！？…", r)
}

// listItem takes the mark of a list item off a line.
func listItem(line string) (string, bool) {
	for _, m := range []string{"- [ ] ", "- [x] ", "- ", "* ", "• ", "– ", "✅ ", "✓ ", "✔ "} {
		if rest, ok := strings.CutPrefix(line, m); ok {
			return strings.TrimSpace(rest), true
		}
	}
	n := 0
	for n < len(line) && n < 3 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && line[n+1] == ' ' {
		return strings.TrimSpace(line[n+2:]), true
	}
	return line, false
}

// notProse tells lines of code, logs, stack traces, diffs, tables, quotations and headings from lines of prose.
func notProse(line string) bool {
	if line == "" {
		return true
	}
	switch line[0] {
	case '>', '|', '#', '{', '}', '<', '$', '+', '=':
		return true
	case '@':
		return strings.HasPrefix(line, "@@")
	case '[':
		return logStamp(line[1:]) || strings.HasPrefix(line, "[INFO") || strings.HasPrefix(line, "[ERROR") || strings.HasPrefix(line, "[WARN") || strings.HasPrefix(line, "[DEBUG")
	}
	return logStamp(line) || logStart(line) || namedException(line) || codeEnd(line) || !wordy(line)
}

// logStamp tells whether the line begins with a date or a time of day.
func logStamp(line string) bool {
	digit := func(i int) bool { return i < len(line) && line[i] >= '0' && line[i] <= '9' }
	if len(line) >= 10 && digit(0) && digit(1) && digit(2) && digit(3) && (line[4] == '-' || line[4] == '/') && digit(5) && digit(6) && line[7] == line[4] {
		return len(line) == 10 || line[10] == 'T' || line[10] == ' ' && digit(11)
	}
	return len(line) >= 8 && digit(0) && digit(1) && line[2] == ':' && digit(3) && digit(4) && line[5] == ':' && digit(6)
}

// logStart tells whether the line begins as tools and runtimes begin theirs.
func logStart(line string) bool {
	switch line[0] {
	case 'a':
		return strings.HasPrefix(line, "at ") && strings.Contains(line, "(") && strings.Contains(line, ":")
	case 'F':
		return strings.HasPrefix(line, `File "`) || strings.HasPrefix(line, "FAIL ") || line == "FAIL" || strings.HasPrefix(line, "FATAL ")
	case 'T':
		return strings.HasPrefix(line, "Traceback (") || strings.HasPrefix(line, "TRACE ")
	case 'g':
		return strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, ":")
	case 'p':
		return strings.HasPrefix(line, "panic: ")
	case 'n':
		return strings.HasPrefix(line, "npm ERR!")
	case 'd':
		return strings.HasPrefix(line, "diff --git ")
	case '-':
		return strings.HasPrefix(line, "--")
	case 'o':
		return strings.HasPrefix(line, "ok  ")
	case 'I':
		return strings.HasPrefix(line, "INFO ") || strings.HasPrefix(line, "INFO:")
	case 'W':
		return strings.HasPrefix(line, "WARN ") || strings.HasPrefix(line, "WARN:") || strings.HasPrefix(line, "WARNING:")
	case 'D':
		return strings.HasPrefix(line, "DEBUG ") || strings.HasPrefix(line, "DEBUG:")
	case 'E':
		return strings.HasPrefix(line, "ERROR ") || strings.HasPrefix(line, "ERROR:")
	}
	return false
}

func codeEnd(line string) bool {
	switch line[len(line)-1] {
	case '{', '}', ';', '\\':
		return true
	case ')':
		return strings.Count(line, " ") < 2 && strings.Contains(line, "(") && !hasWide(line)
	}
	return strings.HasSuffix(line, "},") || strings.HasSuffix(line, "),") && strings.Count(line, " ") < 3
}

// wordy tells whether a line consists of words: letters for the most part, and spaces where the script has them.
func wordy(line string) bool {
	letters, wide, spaces, total := 0, 0, 0, 0
	for i, r := range line {
		if i > 4096 {
			break
		}
		total++
		switch {
		case r == ' ':
			spaces++
		case isWide(r):
			wide++
			letters++
		case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r):
			letters++
		}
	}
	if letters == 0 {
		return false
	}
	if total < 16 {
		return letters*3 >= total
	}
	if wide*4 > total {
		return true
	}
	return (letters+spaces)*100 >= total*62 && spaces*25 >= total-20
}

// stripMarkup takes emphasis and links off a paragraph and leaves code spans as they are.
func stripMarkup(p string) string {
	if !strings.ContainsAny(p, "*_[") {
		return p
	}
	p = strings.ReplaceAll(p, "**", "")
	var b strings.Builder
	for {
		mid := strings.Index(p, "](")
		if mid < 0 {
			break
		}
		open, end := strings.LastIndexByte(p[:mid], '['), strings.IndexByte(p[mid:], ')')
		if end < 0 {
			break
		}
		if open < 0 {
			b.WriteString(p[:mid+2])
			p = p[mid+2:]
			continue
		}
		b.WriteString(p[:open] + p[open+1:mid])
		p = p[mid+end+1:]
	}
	b.WriteString(p)
	return b.String()
}

// splitSentences appends the sentences of a paragraph. Code spans are not split, nor abbreviations, nor dots in names.
func splitSentences(out []string, p string) []string {
	start, code := 0, false
	add := func(end int) {
		if s := strings.Trim(p[start:end], " \t"); s != "" {
			out = append(out, oneLine(s))
		}
		start = end
	}
	for i, r := range p {
		if r == '`' {
			code = !code && strings.IndexByte(p[i+1:], '`') >= 0
		}
		if code {
			continue
		}
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			add(end)
		case '.', '!', '?', '…':
			for end < len(p) && strings.IndexByte(".!?\"')*`", p[end]) >= 0 {
				end++
			}
			if end >= start && (end == len(p) || p[end] == ' ') && !(r == '.' && end == i+1 && abbreviation(p[start:end])) {
				add(end)
			}
		}
	}
	add(len(p))
	return out
}

// abbreviation tells whether s ends in a dot that ends no sentence.
func abbreviation(s string) bool {
	w := strings.ToLower(strings.TrimLeft(s[strings.LastIndexByte(s, ' ')+1:], "("))
	switch w {
	case "e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no.", "dr.", "mr.", "mrs.", "z.b.", "d.h.", "u.a.", "bzw.", "ca.",
		"p.ej.", "ex.", "fig.", "incl.", "resp.":
		return true
	}
	return len(w) == 2 && w[0] >= '0' && w[0] <= '9' && len(s) == 2 // "1." at the start of a paragraph
}

// wordText gives the parts of a sentence outside quotations and code spans, of the same length, so that a cue in what
// someone else said is not taken for one of the speaker's.
func wordText(s string) string {
	if !strings.ContainsAny(s, "\"`“«„「『") {
		return s
	}
	b := []byte(s)
	for open, end := range map[string]string{`"`: `"`, "`": "`", "“": "”", "„": "“", "«": "»", "「": "」", "『": "』"} {
		at := 0
		for {
			i := strings.Index(s[at:], open)
			if i < 0 {
				break
			}
			i += at + len(open)
			n := strings.Index(s[i:], end)
			if n < 0 {
				break
			}
			for j := i; j < i+n; j++ {
				b[j] = ' '
			}
			at = i + n + len(end)
		}
	}
	return string(b)
}
