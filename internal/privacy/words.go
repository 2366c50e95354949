package privacy

import "strings"

// prose redacts the secret that a sentence or a statement gives behind a word that ends at end: "my password is …",
// "login mia password …", "WITH PASSWORD '…'", "IDENTIFIED BY '…'". It gives the end of the secret, zero if none.
func (s *scan) prose(from, end int) int {
	switch s.t[from] | 0x20 { // most words begin with none of these
	case 'p', 't', 's', 'k', 'b':
	default:
		return 0
	}
	k := password
	before := s.t[max(0, from-12):from]
	switch word := s.t[from:end]; {
	case isWord(word, "password", "passwd", "passphrase", "pwd", "pw", "passwort"):
	case isWord(word, "token", "secret"):
		k = apiToken
	case isWord(word, "key") && namesKey(before):
		k = apiToken
	case isWord(word, "by") && strings.Contains(strings.ToLower(s.t[max(0, from-48):from]), "identified "):
	default:
		return 0
	}
	v := end + 1
	verb := false
	for _, w := range [...]string{"is ", "was ", "to ", "is: ", "ist "} {
		if strings.HasPrefix(s.t[v:], w) {
			v += len(w)
			verb = true
			break
		}
	}
	if v >= len(s.t) {
		return 0
	}
	if c := s.t[v]; c == '"' || c == '\'' || c == '`' {
		a, b := s.quotedValue(v, 0)
		up, low, dig := count(s.t[a:b])
		if k == password && s.inSQL(from) {
			return s.given(a, b, 3)
		}
		if dig == 0 || up+low == 0 || b-a < 6 {
			return 0
		}
		return s.judge(k, quoted, a, b)
	}
	if e := s.run(v, base64s); k == apiToken && e-v == 40 && mixed(s.t[v:e]) {
		return s.redact(v, e) // the secret key of AWS
	}
	if !verb && k == password {
		if to := s.told(from, v); to > 0 {
			return to
		}
	}
	if !verb && !strings.Contains(s.t[max(0, from-80):from], "login ") {
		return 0
	}
	to := s.bareEnd(v, false)
	for to > v && strings.IndexByte(".?!:", s.t[to-1]) >= 0 {
		to-- // the end of the sentence
	}
	value := s.t[v:to]
	up, low, dig := count(value)
	if dig == 0 || up+low == 0 || len(value) < 6 || strings.ContainsAny(value, "/(") || hashName(value) || fileName(value) {
		return 0
	}
	return s.judge(k, bare, v, to)
}

// told redacts the password of "use password …" and of "the password for staging is …", whose word password begins at from
// and behind which v is.
func (s *scan) told(from, v int) int {
	if hasSuffix(strings.ToLower(s.t[max(0, from-8):from]), "use ", "using ", "use the ", "with the ") {
		return s.written(v)
	}
	rest := s.ahead(v)
	rest = rest[:min(len(rest), 48)]
	if !strings.HasPrefix(rest, "for ") && !strings.HasPrefix(rest, "on ") && !strings.HasPrefix(rest, "of ") {
		return 0
	}
	if k := strings.Index(rest, " is "); k > 0 && strings.Count(rest[:k], " ") < 4 && !strings.ContainsAny(rest[:k], ".,;:") {
		return s.written(v + k + len(" is "))
	}
	return 0
}

// inSQL tells whether the word at from, behind which a string stands, belongs to a statement about a user.
// Source: https://www.postgresql.org/docs/current/sql-alterrole.html, https://dev.mysql.com/doc/refman/8.4/en/create-user.html
func (s *scan) inSQL(from int) bool {
	before := strings.ToLower(s.t[max(0, from-100):from])
	k := max(strings.LastIndex(before, "user "), strings.LastIndex(before, "role "), strings.LastIndex(before, "login "))
	return k > 0 && !strings.Contains(before[k:], ";") && (strings.Contains(before[:k], "alter ") || strings.Contains(before[:k], "create "))
}

// namesKey tells whether the words before "key" make it the name of a secret: API key, secret access key.
func namesKey(before string) bool {
	return hasSuffix(strings.ToLower(before), "api ", "api-", "api_", "secret ", "access ", "access_", "access-", "private ")
}

// encoded redacts the value of a percent-encoded pair, password%3Dx%26… or %22password%22%3A%22x%22, whose operator
// is at i.
func (s *scan) encoded(i int) int {
	end := len(strings.TrimSuffix(s.t[:i], "%22"))
	from := s.back(end, alnum|under|dash|dot, 64)
	if from > 0 && s.t[from-1] == '%' {
		from = min(end, from+2)
	}
	k := kindOf(s.t[from:end])
	if k != password && k != apiToken {
		return 0
	}
	v := i + 3
	for strings.HasPrefix(s.t[v:], "%22") || strings.HasPrefix(s.t[v:], "%20") {
		v += 3
	}
	to := s.bareEnd(v, false)
	for _, stop := range [...]string{"%26", "%22", "%2C", "%2c"} {
		if n := strings.Index(s.t[v:to], stop); n >= 0 {
			to = v + n
		}
	}
	return s.judge(k, direct, v, to)
}

func isWord(s string, words ...string) bool {
	for _, w := range words {
		if len(s) == len(w) && strings.EqualFold(s, w) {
			return true
		}
	}
	return false
}

// hashName tells the names of algorithms that sentences about passwords mention.
func hashName(v string) bool {
	low := strings.ToLower(v)
	for _, w := range [...]string{"argon2", "bcrypt", "pbkdf2", "scrypt", "sha-", "sha1", "sha2", "sha3", "sha5", "md5", "base64", "utf-8", "oauth2", "hmac"} {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return false
}

// fileName tells a word that ends like a file's name: user2.go.
func fileName(v string) bool {
	k := strings.LastIndexByte(v, '.')
	if k < 1 || len(v)-k > 5 || k == len(v)-1 {
		return false
	}
	_, low, _ := count(v[k+1:])
	return low == len(v)-k-1
}

// valueOf is the kind of a member called value, which the name beside it tells: {"name": "DB_PASSWORD", "value": "…"}.
// The member's own name begins at i.
func (s *scan) valueOf(i int) kind {
	end := i
	for k := 0; end > 0 && k < 16 && strings.IndexByte(" \t\r\n\"',-{\\", s.t[end-1]) >= 0; k++ {
		end--
	}
	from := s.back(end, alnum|under|dash|dot, 64)
	colon := s.trimBack(from, " \"'\\")
	if from == end || colon == 0 || s.t[colon-1] != ':' && s.t[colon-1] != '=' {
		return plain
	}
	a, b := s.nameBefore(colon - 1)
	if !isWord(s.t[a:b], "name", "key") {
		return plain
	}
	return kindOf(s.t[from:end])
}
