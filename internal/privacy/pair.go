package privacy

import "strings"

// pair redacts the second of two strings, between which the comma at i stands, when the first is the name of a secret: a
// header as ["Authorization", "Bearer …"], the arguments of a call as ("DB_PASSWORD", "…"), of a command as
// ["--password", "…"]. In a longer list of words a name is a word like the others.
func (s *scan) pair(i int) int {
	if i < 4 || strings.IndexByte("\"'`", s.t[i-1]) < 0 {
		return 0
	}
	from := s.back(i-1, alnum|under|dash|dot, 64)
	if from == 0 || from == i-1 || s.t[from-1] != s.t[i-1] {
		return 0
	}
	name := s.t[from : i-1]
	k := kindOf(name)
	isFlag := name[0] == '-'
	if !isFlag && (k == plain || k == signature) {
		return 0
	}
	if b := s.trimBack(from-1, " \t"); b > 0 && (s.t[b-1] == ':' || s.t[b-1] == '=') {
		return 0 // a value, and behind the comma the next name
	}
	v := i + 1
	for v < len(s.t) && v < i+64 && strings.IndexByte(" \t\r\n", s.t[v]) >= 0 {
		v++
	}
	if v >= len(s.t) || strings.IndexByte("\"'`", s.t[v]) < 0 {
		return 0
	}
	if isFlag && k == plain {
		return s.listedFlag(name, from-1, v)
	}
	a, b := s.quotedValue(v, 0)
	if !isFlag && !s.isPair(name, k, from-1, b) {
		return 0
	}
	value := s.t[a:b]
	if _, _, dig := count(value); k == password && (dig == 0 || namesSecret(value)) {
		return 0 // two names
	}
	if (k == password || k == apiToken) && (fileName(value) || strings.ContainsAny(value, "_/.") && wordy(strings.TrimRight(value, "0123456789"))) {
		return 0 // a file or a column beside one that is called so
	}
	return s.judge(k, quoted, a, b)
}

// isPair tells whether a name whose quotes open at open and the string that ends at end belong together: two arguments of
// a call, a list of exactly two, or a header among headers.
func (s *scan) isPair(name string, k kind, open, end int) bool {
	if k == authorization || k == cookie {
		return true
	}
	bracket, before := s.listBefore(open)
	switch {
	case bracket == '(':
		before = strings.TrimRight(before, ", \t\r\n")
		return before == "" || strings.IndexByte("\"'`", before[len(before)-1]) < 0
	case len(name) > 2 && strings.EqualFold(name[:2], "x-"):
		return strings.Count(before, s.t[open:open+1])%4 == 0
	case strings.TrimSpace(before) != "":
		return false
	}
	for end++; end < len(s.t) && strings.IndexByte(" \t\r\n,", s.t[end]) >= 0; end++ {
	}
	return bracket != 0 && end < len(s.t) && (s.t[end] == ']' || s.t[end] == '}')
}

// listBefore is the bracket in which the string lies that opens at i, and what stands between the two; no bracket when
// none is near.
func (s *scan) listBefore(i int) (bracket byte, before string) {
	before = s.t[max(0, i-400):i]
	k := strings.LastIndexAny(before, "[({])}")
	if k < 0 || strings.IndexByte("[({", before[k]) < 0 {
		return 0, before
	}
	return before[k], before[k+1:]
}

// listedFlag redacts the argument at v of a flag in a list such as ["curl", "-u", "mia:…"], whose program tells what the
// flag means. The flag's quotes open at open.
func (s *scan) listedFlag(flag string, open, v int) int {
	line := ""
	for n := range flagTable {
		r := &flagTable[n]
		if r.flag != flag || r.form == attached {
			continue
		}
		if line == "" {
			_, before := s.listBefore(open)
			line = " " + strings.Join(strings.FieldsFunc(before, func(c rune) bool { return strings.ContainsRune("\"'`, \t\r\n", c) }), " ")
		}
		if hasProgram(line, r.program) {
			return s.argument(r, v)
		}
	}
	return 0
}
