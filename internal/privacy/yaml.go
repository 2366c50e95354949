package privacy

import "strings"

// line is the line of the text that begins at i, without its end, and where the next one begins.
func (s *scan) line(i int) (text string, next int) {
	k := strings.IndexByte(s.t[i:], '\n')
	if k < 0 {
		return s.t[i:], len(s.t)
	}
	return strings.TrimSuffix(s.t[i:i+k], "\r"), i + k + 1
}

// ahead is the rest of the line at i, at most a few hundred bytes of it.
func (s *scan) ahead(i int) string {
	text := s.t[i:min(len(s.t), i+400)]
	if k := strings.IndexByte(text, '\n'); k >= 0 {
		text = text[:k]
	}
	return strings.TrimSuffix(text, "\r")
}

// indent is how far a line's text is set in; the dash of a list counts as space. A blank line has none: -1.
func indent(line string) int {
	n := len(line) - len(strings.TrimLeft(line, " -"))
	if n == len(line) {
		return -1
	}
	return n
}

// lineOf is the part before i of the line that i is in.
func (s *scan) lineOf(i int) string {
	from := max(0, i-200)
	return s.t[from+strings.LastIndexByte(s.t[from:i], '\n')+1 : i]
}

// blockScalar redacts the lines of "password: |" and its kin, whose name begins at from and whose value at v.
// Source: https://yaml.org/spec/1.2.2/#81-block-scalar-styles
func (s *scan) blockScalar(k kind, from, v int) int {
	if k != password && k != apiToken && k != entire || v >= len(s.t) || v+1 >= len(s.t) || s.t[v] != ' ' {
		return 0
	}
	head := strings.TrimLeft(s.ahead(v), " ")
	if head == "" || head[0] != '|' && head[0] != '>' || strings.Trim(head[1:], "+-123456789 ") != "" || !s.startsLine(from) {
		return 0
	}
	_, next := s.line(v)
	base := indent(s.lineOf(from) + "x")
	begin, end := 0, 0
	for next < len(s.t) {
		at := next
		var text string
		text, next = s.line(at)
		in := len(text) - len(strings.TrimLeft(text, " "))
		if in == len(text) {
			continue
		}
		if in <= base {
			break
		}
		if begin == 0 {
			begin = at + in
		}
		end = at + len(strings.TrimRight(text, " "))
	}
	if begin == 0 || variable(s.t[begin:end]) || placeholder(s.t[begin:end]) {
		return 0
	}
	return s.redact(begin, end)
}

// kubernetes redacts the values of data or stringData, whose name begins at from and whose colon is at i, if they belong
// to a Secret.
func (s *scan) kubernetes(from, i int) int {
	switch rest := strings.TrimLeft(s.ahead(i+1), " "); {
	case strings.HasPrefix(rest, "{") && rest != "{}":
		if strings.Contains(s.t, `"kind":"Secret"`) || strings.Contains(s.t, `"kind": "Secret"`) {
			return s.inside(i + 1 + strings.IndexByte(s.t[i+1:], '{'))
		}
		return 0
	case rest != "" || s.t[i] != ':' || !s.startsLine(from) || !s.isSecret(i):
		return 0
	}
	_, next := s.line(i + 1)
	base, entry, last := indent(s.lineOf(from)+"x"), -1, 0
	for next < len(s.t) {
		at := next
		var text string
		text, next = s.line(at)
		in := indent(text)
		if in < 0 {
			continue
		}
		if in <= base {
			break
		}
		if entry < 0 {
			entry = in
		}
		v := at + in
		if in <= entry {
			k := strings.IndexByte(text, ':')
			if k < 0 {
				continue
			}
			v = at + k + 1
		}
		to := at + len(text)
		for v < to && s.t[v] == ' ' {
			v++
		}
		if v < to && (s.t[v] == '"' || s.t[v] == '\'') {
			v, to = s.quotedValue(v, 0)
		}
		if value := s.t[v:to]; value != "" && !variable(value) && value[0] != '|' && value[0] != '>' && value[0] != '#' {
			last = s.redact(v, to)
		}
	}
	return last
}

// isSecret tells whether the YAML document around i is a Secret, or a list with one.
func (s *scan) isSecret(i int) bool {
	if s.doc.to > i && s.doc.from <= i {
		return s.docIs
	}
	s.doc = span{to: len(s.t)}
	if k := strings.LastIndex(s.t[:i], "\n---"); k >= 0 {
		s.doc.from = k
	}
	if k := strings.Index(s.t[i:], "\n---"); k >= 0 {
		s.doc.to = i + k
	}
	s.docIs = false
	for rest := s.t[s.doc.from:s.doc.to]; !s.docIs; {
		_, after, ok := strings.Cut(rest, "kind: Secret")
		if !ok {
			break
		}
		s.docIs = after == "" || strings.IndexByte("\r\n \"'", after[0]) >= 0
		rest = after
	}
	return s.docIs
}
