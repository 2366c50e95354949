package privacy

import "strings"

// How people write a password down, in notes, tables and messages. Nothing but its look tells a value here from the words
// that documents put in the same places, so that it must look like a password: see chosen.

// chosen tells whether v, which nothing encloses, looks like a password that somebody has chosen: letters and digits, and
// no name of a thing.
func chosen(v string) bool {
	up, low, dig := count(v)
	return len(v) >= 6 && dig > 0 && up+low > 0 && !strings.ContainsAny(v, "/()[]{}<>|_;:") && !hashName(v) && !fileName(v) &&
		secretValue(v, password, bare) && !namesSecret(v)
}

// written redacts the word at v if it looks like a password, and ends at white space or the end of the sentence.
func (s *scan) written(v int) int {
	for n := 0; v < len(s.t) && n < 4 && strings.IndexByte(" \t*`'\"", s.t[v]) >= 0; n++ {
		v++
	}
	to := s.bareEnd(v, false)
	for to > v && strings.IndexByte(".?!:*", s.t[to-1]) >= 0 {
		to--
	}
	if !chosen(s.t[v:to]) {
		return 0
	}
	return s.redact(v, to)
}

// noted redacts the value at v of a name that goes on behind the word password: password (staging): …, password for the
// db: …, the admin password for staging is: …. Its last word is from from to end.
func (s *scan) noted(from, end, v int) int {
	if s.t[from:end] == "passe" && hasSuffix(s.t[:from], "ot de ") {
		return s.value(password, bare, v, false)
	}
	before := s.t[max(0, end-64):end]
	k := strings.Index(before, "assword")
	if k < 1 || before[k-1]|0x20 != 'p' || strings.IndexByte(before[k:], '\n') >= 0 {
		return 0
	}
	rest := strings.TrimPrefix(before[k+len("assword"):], " ")
	switch aside := strings.HasPrefix(rest, "("); {
	case s.t[end] == ')' && aside, s.t[end] != ')' && (strings.HasPrefix(rest, "for ") || strings.HasPrefix(rest, "on ") ||
		strings.HasPrefix(rest, "of ") || rest == "is"):
		return s.written(v)
	}
	return 0
}

// below redacts the value on the line behind "Password:", whose name begins at from and behind whose colon v is.
func (s *scan) below(k kind, from, v int) int {
	if k != password || !s.startsLine(from) && (from < 2 || s.t[from-1] != '*') {
		return 0
	}
	rest := s.t[v:min(len(s.t), v+200)]
	head, next, ok := strings.Cut(rest, "\n")
	if !ok || strings.Trim(head, " \t\r*") != "" {
		return 0
	}
	at := v + len(head) + 1
	line, _, _ := strings.Cut(next, "\n")
	word := strings.Trim(line, " \t\r`\"'\x1b")
	if k := strings.IndexByte(word, 0x1b); k >= 0 {
		word = word[:k]
	}
	if !chosen(word) || strings.ContainsAny(word, " ,=") {
		return 0
	}
	at += strings.Index(line, word)
	return s.redact(at, at+len(word))
}

// arrow redacts the value of password -> …, whose arrow ends at i.
func (s *scan) arrow(i int) int {
	from, end := s.nameBefore(i - 1)
	if from == end || s.t[i-2] != ' ' || i+1 >= len(s.t) || s.t[i+1] != ' ' || kindOf(s.t[from:end]) != password {
		return 0
	}
	return s.written(i + 1)
}

// row redacts the second cell of the row | password | … | of a table of two columns, whose first bar is at i.
func (s *scan) row(i int) int {
	from := s.blank(i + 1)
	for from < len(s.t) && (s.t[from] == '*' || s.t[from] == '`') {
		from++
	}
	end := s.run(from, alnum|under|dash|dot)
	if end == from || end == len(s.t) || kindOf(s.t[from:end]) != password || !s.startsLine(i) {
		return 0
	}
	line := s.ahead(end)
	head, rest, ok := strings.Cut(line, "|")
	cell, tail, closed := strings.Cut(rest, "|")
	if !ok || !closed || strings.Trim(head, " \t*`") != "" || strings.Trim(tail, " \t") != "" && tail[0] != 0x1b {
		return 0
	}
	word := strings.Trim(cell, " \t*`")
	if !chosen(word) || strings.Contains(word, " ") {
		return 0
	}
	at := end + len(head) + 1 + strings.Index(cell, word)
	return s.redact(at, at+len(word))
}

// diceware redacts the words behind "passphrase:" on a line of its own, if they make no sentence.
func (s *scan) diceware(from, end, v int) int {
	if !isWord(s.t[from:end], "passphrase") || !s.startsLine(from) {
		return 0
	}
	line, _, _ := strings.Cut(s.ahead(v), "\x1b")
	line = strings.Trim(line, " \t")
	words := strings.Fields(line)
	if len(words) < 4 || len(words) > 12 || message(line) {
		return 0
	}
	for _, w := range words {
		if _, low, _ := count(w); low != len(w) || len(w) < 3 || isWord(w, "the", "that", "this", "for", "and", "are", "was", "has", "with",
			"used", "not", "see", "from", "when", "will", "which", "you", "key", "can", "may", "only", "have", "then", "any", "its", "all", "but", "who", "how", "what") {
			return 0
		}
	}
	at := v + strings.Index(s.t[v:], line)
	return s.redact(at, at+len(line))
}

// setter redacts the argument of setPassword('…'), whose bracket is at i.
func (s *scan) setter(i int) int {
	if i < len("setPassword") || i+1 >= len(s.t) || strings.IndexByte("\"'`", s.t[i+1]) < 0 {
		return 0
	}
	from := s.back(i, alnum|under, 64)
	if name := s.t[from:i]; len(name) < 6 || !isWord(name[:3], "set") && !isWord(name[:4], "with") || kindOf(name) != password {
		return 0
	}
	a, b := s.quotedValue(i+1, 0)
	if !chosen(s.t[a:b]) {
		return 0
	}
	return s.redact(a, b)
}
