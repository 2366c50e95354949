package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A prompt is no query: it can be a log with a question at its end. parse finds what it asks for.
const (
	maxProse     = 8 << 10  // bytes of prose that are read, the beginning and the end of it
	maxPasted    = 24 << 10 // bytes of code, log and quoted lines that are read, telling ones first
	longPrompt   = 1500     // bytes from which on the ask is looked for in the first and the last lines and in questions
	maxAddresses = 20       // URLs that are read
	maxTermsIn   = 160      // terms of a prompt that are looked up
	maxLine      = 600      // bytes from which on a line is taken for several
	maxSpoken    = 400      // words of a prompt that are compared with a record in their order
)

// How much a term weighs by where it stands in the prompt.
const (
	weightAsk    = 1.0
	weightError  = 0.7
	weightProse  = 0.45
	weightPasted = 0.15

	weightAddress = 0.3  // of a URL, most of which says nothing
	weightWhole   = 0.25 // of an identifier as a whole, in proportion
)

// queryTerm is one term of a prompt.
type queryTerm struct {
	text     string
	word     string // what text was made of
	hash     uint32
	weight   float64 // by place and sort
	pos      int     // number of the word in what was read
	class    class
	chat     bool // a word of courtesy or approval
	task     bool // a word of any task
	common   bool // a word of everyday
	software bool // a word of any software project
	name     bool // written as a name
	piece    bool // of a path or an identifier
	docs     int  // records of the project that hold it
	idf      float64
}

// prompt is what is left of a prompt to search by.
type prompt struct {
	terms []queryTerm // no term twice, in the order of the prompt
	ask   string      // what of it is not pasted, at most maxMeant bytes
	words []spoken    // the words of what it asks and of errors in it, stop words as well, in order
	dates []dateRange
	when  bool // it asks when something was
	form  form
}

// spoken is a word where it stands in a prompt.
type spoken struct {
	hash  uint32
	pos   int
	empty bool // it says nothing: a stop word, courtesy or a word of any task
}

// segment is a piece of the prompt with the weight of its terms.
type segment struct {
	text   string
	weight float64
}

// parse takes a prompt apart. It never fails; a prompt without anything to search by has no terms.
func parse(text string, keepStops bool) prompt {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, " "), "\r\n", "\n")
	text = withoutBlocks(text)
	c := collect{keepStops: keepStops, at: make(map[string]int), words: wordSets()}
	text, addresses := withoutAddresses(text)
	parts := append(segments(text), segment{addresses, weightAddress})
	for _, s := range parts {
		c.weight = s.weight
		sc := scanner{pos: c.last + 4}
		sc.emit = func(term, surface []byte, k class, pos int) {
			c.capital, c.compound = sc.capital, sc.compound
			c.add(term, surface, k, pos)
		}
		sc.scan(s.text)
		c.last = sc.pos
		if len(c.terms) >= maxTermsIn*2 {
			break
		}
	}
	return prompt{
		terms: c.finish(), ask: askOf(parts), words: c.spoken,
		dates: findDates(text), when: asksWhen(text), form: formOfParts(parts),
	}
}

// askOf is what a prompt asks, or all of it when that cannot be told from what is pasted.
func askOf(parts []segment) string {
	var ask, all []string
	for _, s := range parts {
		if s.weight == weightAsk {
			ask = append(ask, s.text)
		}
		all = append(all, s.text)
	}
	if text := strings.TrimSpace(ends(ask, maxMeant)); text != "" {
		return cutBytes(text, maxMeant)
	}
	return cutBytes(strings.TrimSpace(ends(all, maxMeant)), maxMeant)
}

// formOfParts is the form of what a prompt asks; what is pasted beside it has none.
func formOfParts(parts []segment) form {
	for i, s := range parts {
		if s.weight == weightAsk && s.text != "" {
			asks := false
			for _, o := range parts[i:] {
				asks = asks || o.weight == weightAsk && isQuestion(o.text)
			}
			return formOf(wordsOf(s.text, 40), asks)
		}
	}
	return form{}
}

// collect gathers the terms of the segments, the heaviest mention of each.
type collect struct {
	words     *wordLists
	keepStops bool
	terms     []queryTerm
	spoken    []spoken
	at        map[string]int
	weight    float64
	last      int
	capital   bool
	compound  bool
}

func (c *collect) add(term, surface []byte, k class, pos int) {
	stop := c.words.stop[string(surface)]
	if c.weight >= weightError && len(c.spoken) < maxSpoken && (k == classWord || k == classPart) {
		c.spoken = append(c.spoken, spoken{hash(term), pos, stop || c.words.chat[string(surface)] || c.words.task[string(surface)]})
	}
	if !c.keepStops && stop {
		return
	}
	t := queryTerm{text: string(term), word: string(surface), name: c.capital && k == classWord, piece: c.compound, weight: c.weight, pos: pos, class: k, hash: hash(term)}
	switch {
	case k == classWhole: // its pieces are there as well
		t.weight *= weightWhole
	case k == classChar:
		t.weight *= 0.3
	case k == classPair:
		t.software = c.words.software[string(surface)]
		if allKana(surface) { // grammar more often than meaning
			t.weight *= 0.4
		}
	case k == classWord || k == classPart:
		t.chat, t.task = c.words.chat[string(surface)], c.words.task[string(surface)]
		t.common, t.software = c.words.common[string(term)], c.words.software[string(term)]
	}
	if i, ok := c.at[t.text]; ok {
		if t.weight > c.terms[i].weight {
			t.pos = c.terms[i].pos
			c.terms[i] = t
		}
		return
	}
	if len(c.terms) >= maxTermsIn*2 {
		return
	}
	c.at[t.text] = len(c.terms)
	c.terms = append(c.terms, t)
}

// finish drops everything when only courtesy is left.
func (c *collect) finish() []queryTerm {
	for _, t := range c.terms {
		if c.keepStops || !t.chat && (t.class != classChar || len(c.terms) < 3) {
			return c.terms
		}
	}
	return nil
}

func allKana(b []byte) bool {
	for _, r := range string(b) {
		if !kana(r) {
			return false
		}
	}
	return true
}

// segments cuts a prompt in asks, prose, errors and pasted text, in the order of their weight.
func segments(text string) []segment {
	lines := splitLines(text)
	if len(text) < longPrompt {
		return shortPrompt(lines)
	}
	var ask, tell, prose, pasted []string
	for i, l := range lines {
		switch {
		case l.fenced || l.quoted || !l.prose:
			if telling(l.text) {
				tell = append(tell, l.text)
			} else {
				pasted = append(pasted, l.text)
			}
		case l.question || edge(lines, i):
			ask = append(ask, l.text)
		default:
			prose = append(prose, l.text)
		}
	}
	return []segment{
		{ends(ask, maxProse), weightAsk},
		{ends(tell, maxPasted/2), weightError},
		{ends(prose, maxProse), weightProse},
		{ends(pasted, maxPasted/2), weightPasted},
	}
}

func shortPrompt(lines []line) []segment {
	var out []segment
	for _, l := range lines {
		w := weightAsk
		switch {
		case (l.fenced || l.quoted) && telling(l.text):
			w = weightError
		case l.fenced || l.quoted:
			w = weightProse
		}
		out = append(out, segment{l.text, w})
	}
	return out
}

// ends joins lines, at most max bytes: the first third of what fits from the beginning, the others from the end.
func ends(lines []string, max int) string {
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	if size <= max {
		return strings.Join(lines, "\n")
	}
	head, n := 0, 0
	for head < len(lines) && n+len(lines[head]) < max/3 {
		n += len(lines[head]) + 1
		head++
	}
	tail := len(lines)
	for tail > head && n+len(lines[tail-1]) < max {
		n += len(lines[tail-1]) + 1
		tail--
	}
	return strings.Join(lines[:head], "\n") + "\n" + strings.Join(lines[tail:], "\n")
}

type line struct {
	text                            string
	fenced, quoted, prose, question bool
}

// splitLines classifies the lines of a prompt that are not empty.
func splitLines(text string) []line {
	var out []line
	fence := ""
	for len(text) > 0 {
		raw := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			raw, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		s := strings.TrimSpace(raw)
		if s == "" {
			continue
		}
		if f := fenceOf(s); f != "" && (fence == "" || f == fence) {
			if fence == "" {
				fence = f
			} else {
				fence = ""
			}
			continue
		}
		quoted := s[0] == '>'
		for s != "" {
			l := line{fenced: fence != "", quoted: quoted}
			l.text, s = cutLine(s)
			l.prose = looksProse(l.text)
			l.question = l.prose && isQuestion(l.text)
			out = append(out, l)
		}
	}
	if fence != "" { // never closed: what looks like prose behind it is prose
		for i := range out {
			out[i].fenced = out[i].fenced && !out[i].prose
		}
	}
	return out
}

// cutLine takes as much off a long line as ends with a sentence, or at least with a word: a question may stand behind a
// paste that has no line breaks. A word that is longer is a line of its own.
func cutLine(s string) (first, rest string) {
	if len(s) <= maxLine {
		return s, ""
	}
	head := cutBytes(s, maxLine)
	at := -1
	for _, end := range [...]string{". ", "? ", "! ", "。", "？"} {
		if i := strings.LastIndex(head, end); i >= 0 {
			at = max(at, i+len(end))
		}
	}
	if at < maxLine/4 {
		at = strings.LastIndexByte(head, ' ')
	}
	if at <= 0 {
		if at = strings.IndexByte(s, ' '); at < 0 {
			return head, ""
		}
		return head, strings.TrimSpace(s[at:])
	}
	return strings.TrimSpace(s[:at]), strings.TrimSpace(s[at:])
}

func fenceOf(s string) string {
	if strings.HasPrefix(s, "```") {
		return "```"
	}
	if strings.HasPrefix(s, "~~~") {
		return "~~~"
	}
	return ""
}

func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// looksProse tells written sentences from code and log: mostly letters and spaces, beginning with a letter, few digits.
func looksProse(s string) bool {
	letters, spaces, digits, signs, total := 0, 0, 0, 0, 0
	for _, r := range s {
		if total++; total > 400 {
			break
		}
		switch {
		case r == ' ':
			spaces++
		case r >= '0' && r <= '9':
			digits++
		case r < utf8.RuneSelf && (r|32 < 'a' || r|32 > 'z'):
			signs++
		case unicode.IsLetter(r) || r >= utf8.RuneSelf:
			letters++
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	if first >= '0' && first <= '9' || first == '[' || first == '{' || first == '<' || first == '+' {
		return false
	}
	if spaces == 0 && total > 60 && len(s) == total { // no word is so long
		return false
	}
	last := s[len(s)-1]
	if last == ';' || last == '{' || last == '}' {
		return false
	}
	return letters*10 >= total*7 && digits*10 <= total && signs*100 <= total*12
}

// isQuestion tells whether a line asks. A question mark inside a word, as in an address, asks nothing.
func isQuestion(s string) bool {
	if strings.ContainsAny(s, "？؟") || strings.HasSuffix(s, "か。") || strings.HasSuffix(s, "か") {
		return true
	}
	for i := 0; ; i++ {
		j := strings.IndexByte(s[i:], '?')
		if j < 0 {
			return false
		}
		if i += j; i+1 == len(s) || !startsWord(s[i+1:]) {
			return true
		}
	}
}

// edge tells whether line i is among the first two or the last three lines of prose in the prompt: people ask before
// what they paste or behind it.
func edge(lines []line, i int) bool {
	count := func(from, step, n int) bool {
		for j := from; j >= 0 && j < len(lines); j += step {
			if j == i {
				return true
			}
			if lines[j].prose && !lines[j].fenced {
				if n--; n == 0 {
					return false
				}
			} else if step < 0 && j < len(lines)-200 || step > 0 && j > 200 {
				return false
			}
		}
		return false
	}
	return count(0, 1, 2) || count(len(lines)-1, -1, 3)
}

// telling tells whether a line of code or log says what went wrong and where: an error string, or the frame of a
// stack with a file in it.
func telling(s string) bool {
	s = strings.ToLower(s)
	for _, w := range [...]string{
		"error", "exception", "panic", "fatal", "failed", "failure", "fail:", "cannot", "undefined",
		"not found", "denied", "refused", "timeout", "timed out", "traceback", "caused by", "segmentation", "assert",
	} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return strings.HasPrefix(s, "at ") || strings.HasPrefix(s, "file \"") || strings.Contains(s, ".go:") ||
		strings.Contains(s, ".py:") || strings.Contains(s, ".ts:") || strings.Contains(s, ".rs:") || strings.Contains(s, ".java:")
}

// withoutAddresses takes the URLs out of a text and gives those apart, without their schemes.
func withoutAddresses(text string) (rest, addresses string) {
	var b, found strings.Builder
	for n := 0; ; n++ {
		i := strings.Index(text, "://")
		if i < 0 || n == maxAddresses {
			b.WriteString(text)
			return b.String(), found.String()
		}
		from := i
		for from > 0 && (text[from-1]|32 >= 'a' && text[from-1]|32 <= 'z' || text[from-1] == '+') {
			from--
		}
		end := i + 3
		for end < len(text) && text[end] > ' ' && strings.IndexByte("\"'`<>)]}", text[end]) < 0 {
			end++
		}
		b.WriteString(text[:from])
		b.WriteByte(' ')
		found.WriteString(text[i+3 : end])
		found.WriteByte('\n')
		text = text[end:]
	}
}

// withoutBlocks takes out blocks that this package has rendered: an agent's context, pasted back, asks for nothing.
func withoutBlocks(text string) string {
	i := strings.Index(text, frameHeading)
	if i < 0 {
		return text
	}
	var b strings.Builder
	for ; i >= 0; i = strings.Index(text, frameHeading) {
		b.WriteString(text[:i])
		b.WriteByte('\n')
		text = text[i+len(frameHeading):]
		text = text[blockEnd(text):]
	}
	b.WriteString(text)
	return b.String()
}

// blockEnd is where a block ends whose heading stands right before s: at the first empty line that is not followed by
// the heading of a record.
func blockEnd(s string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], "\n\n")
		if i < 0 {
			return len(s)
		}
		at += i + 2
		if !strings.HasPrefix(s[at:], "### ") {
			return at
		}
	}
}
