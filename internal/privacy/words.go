package privacy

import "strings"

// prose redacts the secret that a sentence or a statement gives behind a word that ends at end: "my password is …",
// "login mia password …", "WITH PASSWORD '…'", "IDENTIFIED BY '…'". It gives the end of the secret, zero if none.
func (s *scan) prose(from, end int) int {
	k := password
	before := s.t[max(0, from-12):from]
	switch word := s.t[from:end]; {
	case isWord(word, "password", "passwd", "passphrase", "pwd"):
	case isWord(word, "token", "secret"):
		k = apiToken
	case isWord(word, "key") && namesKey(before):
		k = apiToken
	case isWord(word, "by") && hasSuffix(strings.ToLower(before), "identified "):
	default:
		return 0
	}
	v := end + 1
	verb := false
	for _, w := range [...]string{"is ", "was ", "to ", "is: "} {
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
		if dig == 0 || up+low == 0 || b-a < 6 {
			return 0
		}
		return s.judge(k, quoted, a, b)
	}
	if e := s.run(v, base64s); k == apiToken && e-v == 40 && mixed(s.t[v:e]) {
		return s.redact(v, e) // the secret key of AWS
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
		if strings.EqualFold(s, w) {
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

// shortFlag redacts the passwords of one-letter flags, whose meaning the program's name tells: curl -u user:password,
// mysql -ppassword, sshpass -p password, docker login -p password.
func (s *scan) shortFlag(i int) int {
	if i == 0 || s.t[i-1] != ' ' || i+3 >= len(s.t) {
		return 0
	}
	from := max(0, i-200)
	line := s.t[from:i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	v := i + 2
	switch {
	case strings.HasPrefix(s.t[i:], "-u") || strings.HasPrefix(s.t[i:], "--user ") || strings.HasPrefix(s.t[i:], "--user="):
		if !strings.Contains(line, "curl") && !strings.Contains(line, "wget") {
			return 0
		}
		if s.t[i+1] == '-' {
			v = i + len("--user ")
		}
	case strings.HasPrefix(s.t[i:], "-p"):
		mysql := strings.Contains(line, "mysql") || strings.Contains(line, "mariadb")
		if mysql == (s.t[v] == ' ') || !mysql && !strings.Contains(line, "sshpass") && !strings.Contains(line, " login") {
			return 0
		}
	default:
		return 0
	}
	for v < len(s.t) && s.t[v] == ' ' {
		v++
	}
	end := 0
	if v < len(s.t) && (s.t[v] == '"' || s.t[v] == '\'') {
		v, end = s.quotedValue(v, 0)
	} else {
		end = s.bareEnd(v, true)
	}
	if s.t[i+1] != 'p' {
		colon := strings.IndexByte(s.t[v:end], ':')
		if colon < 0 {
			return 0
		}
		v += colon + 1
	}
	end = v + len(strings.TrimRight(s.t[v:end], ",;)"))
	if pw := s.t[v:end]; variable(pw) || placeholder(pw) || pw[0] == '-' {
		return 0
	}
	return s.redact(v, end)
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
