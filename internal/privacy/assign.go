package privacy

import (
	"strings"
	"unicode/utf8"
)

// kind is what the name of a value says about it.
type kind int

const (
	plain         kind = iota // nothing
	password                  // chosen by people: short, may be a word
	apiToken                  // made by machines: long, random
	authorization             // an HTTP header with a scheme
	cookie                    // an HTTP header with pairs
	signature                 // a signature in a URL
	basicAuth                 // base64 of user:password
	entire                    // whatever it is
)

// form is how a value is written.
type form int

const (
	quoted        form = iota // between quotes or tags
	direct                    // NAME=value, --name=value: a literal up to the next space
	bare                      // anything else: a literal or code
	environ                   // NAME=value of an environment: a literal, whatever it looks like
	environQuoted             // the same between quotes
)

// assignment redacts the value behind the operator at i when the name before it is a secret's: name=value,
// "name": "value", name := "value", <name>value</name> and their kin. It gives the end of the secret, zero if none.
func (s *scan) assignment(i int) int {
	if s.t[i] == '>' {
		if i > 1 && s.t[i-1] == '-' {
			return s.arrow(i)
		}
		return s.element(i)
	}
	from, end := s.nameBefore(i)
	v := i + 1
	if s.t[i] >= utf8.RuneSelf {
		v = i + len("：")
	}
	if end-from < 2 && hasSuffix(s.t[max(0, end-15):end], "密码", "口令", "パスワード", "비밀번호", "ароль", "ontraseña") {
		return s.value(password, bare, v, false)
	}
	if from == end || s.t[i] == '=' && from > 0 && s.class[s.t[from-1]]&sym64 != 0 && mixed(s.t[from:end]) {
		return 0 // no name, or the padding of some base64
	}
	k := kindOf(s.t[from:end])
	if k == plain && s.t[i] == '=' && isType(s.t[from:end]) { // password: str = "…", var password string = "…"
		from, end = s.nameBefore(s.trimBack(from, " :"))
		k = kindOf(s.t[from:end])
	}
	if k == plain && s.t[i] == ':' && v < len(s.t) && s.t[v] == ' ' && from > 0 && (s.t[end] == ')' || s.t[from-1] == ' ') {
		if to := s.noted(from, end, v); to > 0 {
			return to
		}
	}
	if k == plain && isWord(s.t[from:end], "value") {
		k = s.valueOf(from)
	}
	if k == plain && isWord(s.t[from:end], "key") && namesKey(s.t[max(0, from-12):from]) {
		k = apiToken
	}
	if s.t[i] == ':' && (s.t[from:end] == "PASS" || from > 0 && s.t[from-1] == ':') {
		return 0 // a test that passed; a part of a resource's name
	}
	if k == plain || k == signature && (from == 0 || !strings.ContainsRune("?&;", rune(s.t[from-1]))) {
		return 0
	}
	for v < len(s.t) && v < i+4 && strings.IndexByte("=:>~", s.t[v]) >= 0 {
		v++
	}
	if s.t[i] == ':' && from > 1 && (strings.HasPrefix(s.t[v:], "**") || strings.HasPrefix(s.t[v:], "__")) && s.t[v] == s.t[from-1] {
		v += 2 // **Password:** …
	}
	if q := v + backslashes(s.t, v); end == i && from > 0 && q < len(s.t) && s.t[q] == s.t[from-1] && strings.IndexByte("\"'`", s.t[q]) >= 0 {
		return 0 // "PASSWORD="+value: the quote ends the string
	}
	f := bare
	if v == i+1 && end == i && s.t[i] == '=' && v < len(s.t) && s.t[v] != ' ' {
		f = direct
	}
	if f == bare && lastWord(s.t[from:end], "pat") {
		return 0 // more often a pattern than a personal access token
	}
	if f == direct && (environment(s.t[from:end]) || k == password && strings.HasPrefix(s.t[from:end], "--")) {
		f = environ
	}
	if s.t[i] == ':' {
		if to := s.blockScalar(k, from, v); to > 0 {
			return to
		}
		if to := s.below(k, from, v); to > 0 {
			return to
		}
		if to := s.diceware(from, end, v); to > 0 {
			return to
		}
	}
	return s.value(k, f, v, s.t[i] < utf8.RuneSelf && s.startsLine(from))
}

// element redacts the text of an XML element, whose opening tag ends at i.
func (s *scan) element(i int) int {
	from := s.back(i, alnum|under|dash|dot, 64)
	if from == 0 || from == i || s.t[from-1] != '<' {
		return 0
	}
	k := kindOf(s.t[from:i])
	if k != password && k != apiToken {
		return 0
	}
	n := strings.Index(s.t[i+1:min(len(s.t), i+1+maxValue)], "</")
	if n < 0 {
		return 0
	}
	return s.judge(k, quoted, i+1, i+1+n)
}

// flag redacts the value behind a flag that is set apart by a space: --password value, -Token value.
func (s *scan) flag(i int) int {
	if i > 0 && s.class[s.t[i-1]]&^sym64 != 0 && !s.behindColour(i) {
		return 0 // inside a word
	}
	from := s.run(i, dash)
	end := s.run(from, alnum|dash|under)
	if from-i > 2 || end >= len(s.t) || s.t[end] != ' ' && s.t[end] != '\t' || end-from < 4 {
		return 0
	}
	k := kindOf(s.t[from:end])
	if k != password && k != apiToken {
		return 0
	}
	_, _, dig := count(s.t[end:min(len(s.t), end+64)])
	if v := strings.TrimLeft(s.t[end:min(len(s.t), end+8)], " \t"); dig == 0 && (v == "" || v[0] != '"' && v[0] != '\'') {
		return 0 // prose about the flag
	}
	return s.value(k, bare, end, false)
}

// nameBefore finds the name that ends before i, past spaces, quotes and brackets.
func (s *scan) nameBefore(i int) (from, end int) {
	end = s.trimBack(i, " \t?!")
	end = s.trimBack(end, "\"'`])\\*")
	from = s.back(end, alnum|under|dash|dot, 64)
	if from < end && from > 0 && s.t[from-1] == '\\' && strings.IndexByte("nrt", s.t[from]) >= 0 {
		from++ // the n of an escaped newline
	}
	if from > 1 && s.t[from-1] == '[' && s.t[from-2] == 0x1b {
		from = min(end, s.run(from, digits)+1) // the m of a terminal colour
	}
	return from, end
}

// trimBack gives the index behind the last byte before i that is not one of a few; it looks at eight at most.
func (s *scan) trimBack(i int, few string) int {
	for k := i; k > 0 && i-k < 8; k-- {
		if strings.IndexByte(few, s.t[k-1]) < 0 {
			return k
		}
		if k == 1 {
			return 0
		}
	}
	return max(i-8, 0)
}

// startsLine tells whether only indentation, a list or diff mark or "export" is before i on its line.
func (s *scan) startsLine(i int) bool {
	i = s.trimBack(i, " \t-+>")
	return i == 0 || s.t[i-1] == '\n' || s.t[i-1] == '\r' || s.behindColour(i) ||
		strings.HasSuffix(s.t[:i], `\n`) || strings.HasSuffix(s.t[:i], "export") ||
		i > 1 && s.t[i-1] == '"' && strings.IndexByte(":[,{ ", s.t[i-2]) >= 0 // a line in a string of JSON
}

// behindColour tells whether a terminal sequence ends before i.
func (s *scan) behindColour(i int) bool {
	k := strings.LastIndexByte(s.t[max(0, i-12):i], 0x1b)
	return k >= 0 && colourEnd(s.t, max(0, i-12)+k+1, 0) == i
}

// maxValue is how many bytes of a header or an element are looked at.
const maxValue = 4096

// value judges the value that begins behind spaces at i.
func (s *scan) value(k kind, f form, i int, startsLine bool) int {
	for n := 0; i < len(s.t) && (s.t[i] == ' ' || s.t[i] == '\t') && n < 16; n++ {
		i++
	}
	q := i
	if q+1 < len(s.t) && strings.IndexByte("rbfuRBFU$@", s.t[q]) >= 0 && strings.IndexByte("\"'`", s.t[q+1]) >= 0 {
		q++
	}
	if (f == environ || f == direct) && q < len(s.t) && s.t[q] == '`' {
		return 0 // what a command prints
	}
	back := backslashes(s.t, q)
	if q+back < len(s.t) && strings.IndexByte("\"'`", s.t[q+back]) >= 0 {
		from, end := s.quotedValue(q+back, back)
		if f == environ {
			return s.judge(k, environQuoted, from, end)
		}
		return s.judge(k, quoted, from, end)
	}
	if k == authorization || k == cookie {
		end := i
		for end < len(s.t) && end < i+maxValue && strings.IndexByte("\r\n\"'`", s.t[end]) < 0 {
			end++
		}
		for end < len(s.t) && !utf8.RuneStart(s.t[end]) {
			end++
		}
		return s.judge(k, f, i, end)
	}
	if i < s.valueEnd { // inside the value that was looked at last
		return s.judge(k, f, i, s.valueEnd)
	}
	end := s.bareEnd(i, f == direct || f == environ || startsLine)
	s.valueEnd = end
	return s.judge(k, f, i, end)
}

// quotedValue is the inside of the quotes that open at q, behind some backslashes. It ends at the end of the line at
// the latest.
func (s *scan) quotedValue(q, back int) (from, end int) {
	c := s.t[q]
	from = q + 1
	if strings.HasPrefix(s.t[from:], string([]byte{c, c})) {
		from += 2 // """triple"""
	}
	for end = from; end < len(s.t) && s.t[end] != '\n'; end++ {
		if s.t[end] != c {
			continue
		}
		n := end - s.trimSlashes(end, from)
		if back == 0 && n%2 == 0 || back > 0 && n <= back {
			return from, end - min(n, back)
		}
	}
	return from, end
}

// trimSlashes is the start of the backslashes before i, not before from.
func (s *scan) trimSlashes(i, from int) int {
	for i > from && s.t[i-1] == '\\' {
		i--
	}
	return i
}

// bareEnd is the end of an unquoted value. A whole one goes up to the next white space or quote, other ones end at
// punctuation too.
func (s *scan) bareEnd(i int, whole bool) int {
	for ; i < len(s.t); i++ {
		switch c := s.t[i]; c {
		case ' ', '\t', '\r', '\n', '"', '\'', '`', 0, 0x1b:
			return i
		case ',', '|', ')', '}', '<', '>':
			if !whole || c == ',' && s.pairBehind(i+1) || c == '<' && i+1 < len(s.t) && s.t[i+1] == '/' {
				return i
			}
		case 0xef, 0xe3:
			if r, _ := utf8.DecodeRuneInString(s.t[i:]); !whole && strings.ContainsRune("，。、；）", r) {
				return i
			}
		case ';', '&':
			if !whole || s.pairBehind(i+1) {
				return i
			}
		case '\\':
			if e := s.behindEscape(i); e > i+1 || !whole || e < len(s.t) && s.t[e] == '"' {
				return i
			}
		}
	}
	return i
}

// pairBehind tells whether name= follows at i: the next pair of a query or a connection string.
func (s *scan) pairBehind(i int) bool {
	end := i
	for end < len(s.t) && end < i+40 && (s.class[s.t[end]]&(alnum|under|dash|dot) != 0 || s.t[end] == ' ') {
		end++
	}
	return end > i && end < len(s.t) && s.t[end] == '='
}

// judge redacts a value if it is a secret, and gives the end of what it redacted, else zero.
func (s *scan) judge(k kind, f form, from, to int) int {
	v := s.t[from:to]
	switch k {
	case authorization:
		return s.credentials(f, from, to)
	case cookie:
		return s.cookies(from, to)
	case entire:
		if v == "" || v == Redacted || v[0] == '$' || strings.HasPrefix(v, "{{") || f != quoted && isCode(v, f) {
			return 0
		}
	case signature:
		if f == quoted || len(v) < 32 || !varied(v) {
			return 0
		}
	case basicAuth:
		if !basic("Basic " + v) {
			return 0
		}
	default:
		if f != quoted && f != environQuoted {
			v = strings.TrimRight(v, ",;)}")
			to = from + len(v)
		}
		if !secretValue(v, k, f) {
			return 0
		}
	}
	return s.redact(from, to)
}

// credentials redacts what stands behind the scheme of an Authorization header.
func (s *scan) credentials(f form, from, to int) int {
	scheme, rest, ok := strings.Cut(s.t[from:to], " ")
	if !ok {
		if !secretValue(scheme, apiToken, f) {
			return 0
		}
		return s.redact(from, to)
	}
	switch strings.ToLower(scheme) {
	case "bearer", "basic", "token", "apikey", "api-key", "key", "bot", "jwt", "oauth", "negotiate", "ntlm", "splunk", "sso-key", "genie-key":
	default:
		return 0
	}
	from += len(scheme) + 1 + len(rest) - len(strings.TrimLeft(rest, " "))
	end := min(s.bareEnd(from, false), to)
	v := s.t[from:end]
	if len(v) < 4 || variable(v) || placeholder(v) || strings.Contains(strings.TrimRight(v, "="), "=") {
		return 0 // a variable; the parameters of OAuth 1
	}
	if _, _, dig := count(v); dig == 0 && (len(v) < 8 || wordy(v)) {
		return 0
	}
	return s.redact(from, end)
}

// cookies redacts the values of a Cookie or Set-Cookie header that open a session.
func (s *scan) cookies(from, to int) int {
	last := 0
	for from < to {
		end := from + strings.IndexByte(s.t[from:to]+";", ';')
		name, v, _ := strings.Cut(s.t[from:end], "=")
		name = strings.ToLower(strings.TrimSpace(name))
		v = strings.TrimRight(v, " ")
		at := from + strings.IndexByte(s.t[from:end]+"=", '=') + 1
		if len(v) >= 8 && !variable(v) && !placeholder(v) && (opensSession(name) && !wordy(v) || len(v) >= 20 && mixed(v) && !strings.Contains(v, " ")) {
			last = s.redact(at, at+len(v))
		}
		from = end + 1
	}
	return last
}

func opensSession(name string) bool {
	for _, w := range [...]string{"sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "secret", "key", "passw"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// member is the string v of a JSON document, redacted if its key or the flag before it in a list says that it is a secret.
func member(key, before, v string) string {
	k := kindOf(key)
	if k == plain && strings.HasPrefix(before, "-") {
		k = kindOf(strings.TrimLeft(before, "-"))
	}
	if k == plain || k == signature {
		return v
	}
	s := scan{tables: lookup(), t: v}
	s.judge(k, quoted, 0, len(v))
	return replace(v, s.cut)
}
