package extract

import (
	"errors"
	"html"
	"strconv"
	"strings"

	"kiro-learn/internal/event"
)

// errCut means that an answer breaks off: half a sentence may say the opposite of the whole one.
var errCut = errors.New("the answer breaks off in the middle of a record")

// errNoRecords means that a model answered something else than it was asked for.
var errNoRecords = errors.New("the answer holds neither a memory record nor <skip/>")

// drafted is a record as a model wrote it.
type drafted struct {
	event.Record
	turns []int // that it says it is about, from 1
}

// parseAnswer reads the memory records of an answer, whatever stands around them: prose, code fences, another case,
// quotes of any kind. The last one may lack its end, if all that it holds is whole. A record without a title is given the beginning of its summary, one
// with neither is passed over. An answer with no record in it is one that says to skip, or an error.
func parseAnswer(answer string) ([]drafted, error) {
	var out []drafted
	found := false
	rest := answer
	for len(out) < maxModelRecords {
		attrs, inner, after, ok := nextElement(rest, "memory_record")
		if !ok {
			break
		}
		found, rest = true, after
		if after == "" && breaksOff(answer, inner) {
			return nil, errCut
		}
		if d, ok := draftOf(attrs, inner); ok {
			out = append(out, d)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if _, _, _, skip := nextElement(answer, "skip"); skip && !found {
		return nil, nil
	}
	return nil, errNoRecords
}

// breaksOff tells whether an answer ends in the middle of its last record, of which inner is all there is.
func breaksOff(answer, inner string) bool {
	low := strings.TrimRight(asciiLower(answer), " \t\r\n`")
	if strings.HasSuffix(low, "</memory_record>") || strings.HasSuffix(low, "/>") {
		return false
	}
	if !strings.Contains(asciiLower(inner), "</summary>") {
		return true
	}
	for _, whole := range [...]string{"summary", "facts", "fact", "concepts", "concept", "files", "file"} {
		if strings.HasSuffix(low, "</"+whole+">") {
			return false
		}
	}
	return true
}

// nextElement finds the next element of a name, its attributes, what is in it, and what comes after it. One that does not
// end reaches to the next of its kind, or to the end.
func nextElement(s, name string) (attrs, inner, after string, ok bool) {
	low := asciiLower(s)
	at := 0
	for {
		i := strings.Index(low[at:], "<"+name)
		if i < 0 {
			return "", "", "", false
		}
		at += i + 1 + len(name)
		if at == len(s) || strings.IndexByte(" \t\r\n/>", s[at]) >= 0 {
			break
		}
	}
	end := tagEnd(s, at)
	attrs = s[at:min(end, len(s))]
	if end >= len(s) {
		return attrs, "", "", true
	}
	s, low = s[end+1:], low[end+1:]
	if strings.HasSuffix(strings.TrimSpace(attrs), "/") {
		return attrs, "", s, true
	}
	stop, past := len(s), len(s)
	if i := strings.Index(low, "</"+name); i >= 0 {
		stop, past = i, min(tagEnd(s, i)+1, len(s))
	}
	if i := strings.Index(low, "<"+name); i >= 0 && i < stop && strings.IndexByte(" \t\r\n/>", (low + " ")[i+1+len(name)]) >= 0 {
		stop, past = i, i
	}
	return attrs, s[:stop], s[past:], true
}

// tagEnd is where the tag that began before i ends, quotes considered; the length of s when it does not.
func tagEnd(s string, i int) int {
	quote := byte(0)
	for j := i; j < len(s); j++ {
		switch c := s[j]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return j
		case c == '<' && j > i:
			return j - 1
		}
	}
	if j := strings.IndexByte(s[i:], '>'); quote != 0 && j >= 0 { // a quote that never ends, ends with its tag
		return i + j
	}
	return len(s)
}

// asciiLower keeps every byte in its place.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func draftOf(attrs, inner string) (drafted, bool) {
	var d drafted
	d.ObservationType = typeOf(attribute(attrs, "type"))
	for _, n := range strings.FieldsFunc(attribute(attrs, "turns"), func(r rune) bool { return r < '0' || r > '9' }) {
		if v, err := strconv.Atoi(n); err == nil {
			d.turns = append(d.turns, v)
		}
	}
	d.Title = oneLine(textIn(inner, "title"))
	d.Summary = plain(textIn(inner, "summary"))
	d.Facts = listIn(inner, "facts", "fact")
	d.Concepts = listIn(inner, "concepts", "concept")
	d.FilesTouched = listIn(inner, "files", "file")
	if d.Title == "" {
		d.Title = cutWords(oneLine(d.Summary), event.MaxTitle)
	}
	if d.Summary == "" {
		d.Summary = strings.Join(d.Facts, "\n")
	}
	if d.Summary == "" {
		d.Summary = d.Title
	}
	return d, d.Title != ""
}

// attribute is the value of an attribute, however it is quoted.
func attribute(attrs, name string) string {
	i := strings.Index(asciiLower(attrs), name)
	for i > 0 && attrs[i-1] > ' ' { // a part of another name
		j := strings.Index(asciiLower(attrs[i+1:]), name)
		if j < 0 {
			return ""
		}
		i += 1 + j
	}
	if i < 0 {
		return ""
	}
	v := strings.TrimSpace(attrs[i+len(name):])
	v, ok := strings.CutPrefix(v, "=")
	if v = strings.TrimSpace(v); !ok || v == "" {
		return ""
	}
	if q := v[0]; q == '"' || q == '\'' {
		v, _, _ = strings.Cut(v[1:], string(q))
		return html.UnescapeString(v)
	}
	return strings.TrimRight(strings.Fields(v)[0], "/")
}

// typeOf is the observation type that a word means.
func typeOf(s string) string {
	s = strings.Trim(strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimSpace(s))), "_.")
	switch s {
	case "bug", "bugfix", "bug_fix", "fix", "failure":
		return event.TypeError
	case "summary", "turn_summary", "session":
		return event.TypeSessionSummary
	case "rule", "convention", "preference", "guideline":
		return event.TypePattern
	case "tool", "command", "change", "feature", "refactor":
		return event.TypeToolUse
	}
	if event.IsObservationType(s) {
		return s
	}
	return event.TypeDiscovery
}

// textIn is the text of the first element of a name; without markup and with its entities resolved.
func textIn(s, name string) string {
	_, inner, _, _ := nextElement(s, name)
	return plain(inner)
}

// listIn are the texts of the item elements in a list element, or its lines where it has no items.
func listIn(s, list, item string) []string {
	_, inner, _, ok := nextElement(s, list)
	if !ok {
		inner = s // items without a list around them
	}
	var out []string
	for rest := inner; len(out) < 200; {
		_, text, after, found := nextElement(rest, item)
		if !found {
			break
		}
		if text = oneLine(plain(text)); text != "" {
			out = append(out, text)
		}
		rest = after
	}
	if len(out) > 0 || !ok {
		return out
	}
	for line := range strings.Lines(plain(inner)) {
		line = strings.TrimSpace(line)
		if rest, ok := listItem(line); ok {
			line = rest
		}
		if line = oneLine(line); line != "" && len(out) < 200 {
			out = append(out, line)
		}
	}
	return out
}

// plain is an element's text: CDATA and entities resolved, control characters and chat tokens gone.
func plain(s string) string {
	if _, data, ok := strings.Cut(s, "<![CDATA["); ok {
		data, _, _ = strings.Cut(data, "]]>")
		return strings.TrimSpace(dropChatTokens(cleanText(data)))
	}
	return strings.TrimSpace(dropChatTokens(cleanText(html.UnescapeString(s))))
}
