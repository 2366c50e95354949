package privacy

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"kiro-learn/internal/rawjson"
)

// unescaped is t with one layer of the escapes of JSON taken off; false when it has none. A secret is then the same
// secret in whatever it was wrapped: text in JSON in a log line in JSON.
func unescaped(t string) (string, bool) {
	i := 0
	for {
		k := strings.IndexByte(t[i:], '\\')
		if k < 0 {
			return t, false
		}
		i += k
		if n, _ := escapeAt(t, i); n > 1 {
			break
		}
		i++
	}
	out := make([]byte, i, len(t))
	copy(out, t)
	for i < len(t) {
		n, r := escapeAt(t, i)
		if n == 1 {
			out = append(out, t[i])
		} else {
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return string(out), true
}

// wrapped turns spans of the unescaped t, which are in order and apart, into spans of t.
func wrapped(t string, cut []span) {
	i, at := 0, 0 // in t and in what it says
	reach := func(to int) int {
		for at < to && i < len(t) {
			n, r := escapeAt(t, i)
			i += n
			at++
			if n > 1 {
				at += utf8.RuneLen(r) - 1
			}
		}
		return i
	}
	for k := range cut {
		c := &cut[k]
		c.from = reach(c.from)
		c.to = reach(c.to)
		if c.quote != "" {
			c.quote = strings.ReplaceAll(c.quote, `\`, `\\`)
			c.quote = strings.ReplaceAll(c.quote, `"`, `\"`)
		}
	}
}

// escapeAt is the character that an escape of JSON at i spells, and how long it is: one byte when there is none.
func escapeAt(t string, i int) (int, rune) {
	if t[i] != '\\' || i+1 == len(t) {
		return 1, 0
	}
	switch c := t[i+1]; c {
	case '"', '\\', '/':
		return 2, rune(c)
	case 'n':
		return 2, '\n'
	case 'r':
		return 2, '\r'
	case 't':
		return 2, '\t'
	case 'u':
		if r, n := number(t, i+2, 0, 16, 4, 4); n > 0 && r < 0xD800 {
			return 6, r
		}
	}
	return 1, 0
}

// lines is t with those of its lines scrubbed as JSON that are JSON.
func (s Scrubber) lines(t string) string {
	var out []byte
	done := 0
	for i := 0; i < len(t); {
		end := strings.IndexByte(t[i:], '\n')
		if end < 0 {
			end = len(t)
		} else {
			end += i
		}
		if line := t[i:end]; isDocument(line) {
			if got := s.JSON([]byte(line)); string(got) != line {
				out = append(append(out, t[done:i]...), got...)
				done = end
			}
		}
		i = end + 1
	}
	if done == 0 {
		return t
	}
	return string(append(out, t[done:]...))
}

// isDocument tells whether t is an object or a list of JSON with a string in it.
func isDocument(t string) bool {
	for t != "" && (t[0] == ' ' || t[0] == '\t' || t[0] == '\n' || t[0] == '\r') {
		t = t[1:]
	}
	return len(t) > 4 && (t[0] == '{' || t[0] == '[') && strings.IndexByte(t, '"') >= 0 && json.Valid([]byte(t))
}

// related is the valid JSON text raw without the values of which their neighbours say that they are secret. Every span
// that is found is cut down to the strings and numbers that it covers, so that the text stays valid.
func related(raw []byte) []byte {
	s := scan{tables: lookup(), t: string(raw)}
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			if end, ok := rawjson.StringEnd(raw, i); ok {
				i = end - 1
			}
		case ':':
			s.neighbour(i)
		case ',':
			s.pair(i)
		}
	}
	if len(s.cut) == 0 {
		return raw
	}
	var cut []span
	all := joined(s.cut)
	for i := 0; i < len(raw) && len(all) > 0; {
		c := raw[i]
		if c != '"' && c != '-' && (c < '0' || c > '9') {
			i++
			continue
		}
		end, ok := rawjson.ValueEnd(raw, i)
		if !ok {
			break
		}
		for len(all) > 0 && all[0].to <= i {
			all = all[1:]
		}
		for k := 0; k < len(all) && all[k].from < end; k++ {
			if c == '"' {
				cut = append(cut, within(raw, span{from: i + 1, to: end - 1}, all[k]))
			} else {
				cut = append(cut, span{from: i, to: end, quote: `"`})
				break
			}
		}
		i = end
	}
	return []byte(replace(string(raw), cut))
}

// within is what cut covers of the inside of a string, whole escapes.
func within(raw []byte, inside, cut span) span {
	out := span{from: inside.to, to: inside.to}
	for i := inside.from; i < inside.to; {
		n := 1
		if raw[i] == '\\' {
			n = 2
			if i+1 < inside.to && raw[i+1] == 'u' {
				n = 6
			}
		}
		if i+n > cut.from && i < out.from {
			out.from = i
		}
		if i >= cut.to {
			out.to = i
			break
		}
		i += n
	}
	return out
}
