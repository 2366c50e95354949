package summary

import (
	"html"
	"slices"
	"strings"

	"kiro-learn/internal/event"
)

// topic is one thing that a session was about, in a chunk or in the session as a whole.
type topic struct {
	name  string
	lines []string
}

const (
	topicName = 120 // characters
	topicLine = 400
)

// render writes topics as XML: <topic name="…">, a line each, </topic>. Markup in them is escaped.
func render(topics []topic) string {
	var b strings.Builder
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for _, t := range topics {
		b.WriteString(`<topic name="` + strings.ReplaceAll(escape.Replace(t.name), `"`, "&quot;") + "\">\n")
		for _, l := range t.lines {
			b.WriteString(escape.Replace(l) + "\n")
		}
		b.WriteString("</topic>\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseTopics reads the topics in a text, whatever stands around them. Names and lines are made plain and cut to what
// fits; a topic that does not end, or has no name or no line, is none.
func parseTopics(text string) []topic {
	var out []topic
	const open, end = `<topic name="`, "</topic>"
	for {
		i := strings.Index(text, open)
		if i < 0 {
			return out
		}
		text = text[i+len(open):]
		name, rest, ok := strings.Cut(text, `"`)
		if !ok {
			return out
		}
		rest = strings.TrimLeft(rest, " ")
		if rest == "" || rest[0] != '>' {
			continue
		}
		body, after, ok := strings.Cut(rest[1:], end)
		if !ok || strings.Contains(body, open) {
			continue
		}
		text = after
		t := topic{name: plain(name, topicName)}
		for l := range strings.SplitSeq(body, "\n") {
			if l = plain(l, topicLine); l != "" && !slices.Contains(t.lines, l) {
				t.lines = append(t.lines, l)
			}
		}
		if t.name != "" && len(t.lines) > 0 {
			out = append(out, t)
		}
	}
}

func plain(s string, chars int) string {
	return event.CutChars(strings.Join(strings.Fields(html.UnescapeString(s)), " "), chars)
}

// fit leaves out what makes the XML longer than a summary may be: lines from the middle of the topics, then topics from
// the middle of the list, so that the first and the newest stay.
func fit(topics []topic, chars int) []topic {
	long := func() bool { return len([]rune(render(topics))) > chars }
	for most := 16; most >= 2 && long(); most-- {
		for i := range topics {
			if n := len(topics[i].lines); n > most {
				keep := topics[i].lines
				head := most / 2
				topics[i].lines = slices.Concat(keep[:head], keep[n-(most-head):])
			}
		}
	}
	for len(topics) > 1 && long() {
		at := 1
		if len(topics) == 2 {
			at = 0
		}
		topics = slices.Delete(topics, at, at+1)
	}
	return topics
}

// merged are the topics of all chunks, those of one name together.
func merged(chunks [][]topic) []topic {
	var out []topic
	at := map[string]int{}
	for _, chunk := range chunks {
		for _, t := range chunk {
			i, ok := at[t.name]
			if !ok {
				i = len(out)
				at[t.name] = i
				out = append(out, topic{name: t.name})
			}
			for _, l := range t.lines {
				if !slices.Contains(out[i].lines, l) {
					out[i].lines = append(out[i].lines, l)
				}
			}
		}
	}
	return out
}
