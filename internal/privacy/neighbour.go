package privacy

import "strings"

// mention is a set of words without which the rules about neighbours need not look at a text.
type mention uint8

const (
	secureString mention = 1 << iota
	sensitive
	randomPassword
	kubeSecret
	keyType
	puttyKey
)

// mentions tells whether the text holds a word. It is looked for once.
func (s *scan) mentions(m mention) bool {
	if s.asked&m == 0 {
		s.asked |= m
		for i, w := range [...]string{"SecureString", "sensitive", "random_password", "Secret", `"kty"`, "Private-Lines"} {
			if m == 1<<i && strings.Contains(s.t, w) {
				s.found |= m
			}
		}
	}
	return s.found&m != 0
}

// neighbour redacts the value behind the operator at i when not its own name but what stands beside it says that it is
// secret. It gives the end of what it redacted, zero if nothing. The sources:
//
//   - "Value" beside "Type": "SecureString": https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_Parameter.html
//   - "value" beside "sensitive": true: https://developer.hashicorp.com/terraform/internals/json-format
//   - the result of a random_password: https://registry.terraform.io/providers/hashicorp/random/latest/docs/resources/password
//   - data and stringData of kind: Secret: https://kubernetes.io/docs/concepts/configuration/secret/
//   - the private members of a key with "kty": https://www.rfc-editor.org/rfc/rfc7517
//   - the lines behind Private-Lines: https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html
//   - a number that is called a password
//   - the value in {"password": {"value": "…"}}, and the list in {"passwords": ["…"]}.
func (s *scan) neighbour(i int) int {
	from, end := s.nameBefore(i)
	switch name := s.t[from:end]; name {
	case "passwords":
		return s.several(i)
	case "Value", "value", "default":
		if to := s.wrappedValue(from, i); to > 0 {
			return to
		}
		if s.mentions(secureString) || s.mentions(sensitive) {
			return s.besides(i, func(around string) bool {
				return strings.Contains(around, "SecureString") || strings.Contains(around, `sensitive": true`) ||
					strings.Contains(around, `sensitive":true`) || isSensitive(around)
			})
		}
	case "result", "bcrypt_hash":
		if s.mentions(randomPassword) && strings.Contains(s.t[max(0, from-1500):from], "random_password") {
			return s.values(i + 1)
		}
	case "data", "stringData":
		if s.mentions(kubeSecret) && (from == 0 || s.t[from-1] != ':') {
			return s.kubernetes(from, i)
		}
	case "d", "p", "q", "dp", "dq", "qi", "k":
		if s.mentions(keyType) {
			return s.besides(i, func(around string) bool { return strings.Contains(around, `"kty"`) })
		}
	case "Private-Lines":
		if s.mentions(puttyKey) {
			return s.putty(i)
		}
	default:
		if s.t[i] == ':' {
			return s.numeral(from, end, i)
		}
	}
	return 0
}

// wrappedValue redacts the string behind the colon at i, if the object in which its name at from stands first is the value
// of a secret's name.
func (s *scan) wrappedValue(from, i int) int {
	open := s.trimBack(from, " \t\r\n\"")
	if open < 2 || s.t[open-1] != '{' {
		return 0
	}
	colon := s.trimBack(open-1, " \t")
	if colon == 0 || s.t[colon-1] != ':' {
		return 0
	}
	a, b := s.nameBefore(colon - 1)
	k := kindOf(s.t[a:b])
	v := s.blank(i + 1)
	if k != password && k != apiToken || v >= len(s.t) || s.t[v] != '"' {
		return 0
	}
	a, b = s.quotedValue(v, 0)
	return s.judge(k, quoted, a, b)
}

// several redacts the strings of the list behind the colon at i, if the first of them looks like a password.
func (s *scan) several(i int) int {
	v := s.blank(i + 1)
	if v+1 >= len(s.t) || s.t[v] != '[' || s.t[v+1] != '"' {
		return 0
	}
	if a, b := s.quotedValue(v+1, 0); !chosen(s.t[a:b]) {
		return 0
	}
	return s.inside(v)
}

// isSensitive finds sensitive = true of Terraform's own language.
func isSensitive(around string) bool {
	_, rest, ok := strings.Cut(around, "sensitive")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " ="), "true") && strings.HasPrefix(strings.TrimLeft(rest, " "), "=")
}

// besides redacts the value behind the operator at i if is says so of the rest of its object.
func (s *scan) besides(i int, is func(around string) bool) int {
	const reach = 1200
	was := len(s.cut)
	end := s.values(i + 1)
	if end == 0 {
		return 0
	}
	from, to := i, end
	for depth := 0; from > 0 && i-from < reach; from-- {
		if c := s.t[from-1]; c == '}' {
			depth++
		} else if c == '{' {
			if depth--; depth < 0 {
				break
			}
		}
	}
	for depth := 0; to < len(s.t) && to-end < reach; to++ {
		if c := s.t[to]; c == '{' {
			depth++
		} else if c == '}' {
			if depth--; depth < 0 {
				break
			}
		}
	}
	before, after := s.t[from:i], s.t[end:to]
	if !is(before) && !is(after) {
		s.cut = s.cut[:was]
		return 0
	}
	return end
}

// values redacts the string at i behind white space, all strings of the list or object there, or the number. It gives
// the end of it, zero when there is nothing to redact.
func (s *scan) values(i int) int {
	for n := 0; i < len(s.t) && strings.IndexByte(" \t\r\n", s.t[i]) >= 0 && n < 64; n++ {
		i++
	}
	if i >= len(s.t) {
		return 0
	}
	switch c := s.t[i]; {
	case c == '"':
		from, end := s.quotedValue(i, 0)
		if from == end || variable(s.t[from:end]) && s.t[from] != '{' {
			return 0
		}
		return s.redact(from, end)
	case c == '{' || c == '[':
		return s.inside(i)
	case c >= '0' && c <= '9' || c == '-':
		return s.number(i, `"`)
	}
	return 0
}

// inside redacts the strings of the list or object that opens at i, but for its keys.
func (s *scan) inside(i int) int {
	if i < s.walked {
		return 0 // a part of the one that was walked through last
	}
	depth, last := 0, 0
	defer func() { s.walked = max(s.walked, i) }()
	for stop := min(len(s.t), i+1<<18); i < stop; {
		switch s.t[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return last
			}
		case '"':
			from, end := s.quotedValue(i, 0)
			i = max(end, i+1)
			next := i + 1
			for next < len(s.t) && strings.IndexByte(" \t\r\n", s.t[next]) >= 0 {
				next++
			}
			if next < len(s.t) && s.t[next] == ':' || from == end || variable(s.t[from:end]) && s.t[from] != '{' {
				break
			}
			last = s.redact(from, end)
		}
		i++
	}
	return last
}

// number redacts the number at i, in whose place a string stands then.
func (s *scan) number(i int, quote string) int {
	end := s.run(i, digits|dash|dot)
	if end < len(s.t) && strings.IndexByte(",}] \t\r\n", s.t[end]) < 0 {
		return 0
	}
	to := s.redact(i, end)
	if last := &s.cut[len(s.cut)-1]; last.from == i && last.to == end {
		last.quote = quote
	}
	return to
}

// numeral redacts the number that a name from from to end is given behind the operator at i: a member of JSON, or a line
// of YAML.
func (s *scan) numeral(from, end, i int) int {
	v := i + 1
	for v < len(s.t) && v < i+16 && (s.t[v] == ' ' || s.t[v] == '\t') {
		v++
	}
	n := s.run(v, digits) - v
	if n < 4 || kindOf(s.t[from:end]) != password {
		return 0
	}
	if end < len(s.t) && s.t[end] == '"' {
		return s.number(v, `"`)
	}
	if to := v + n; v > i+1 && s.startsLine(from) && (to == len(s.t) || strings.IndexByte("\r\n\x1b", s.t[to]) >= 0) {
		return s.redact(v, to)
	}
	return 0
}

// putty redacts the private half of a PuTTY key.
func (s *scan) putty(i int) int {
	from := i + len(s.ahead(i)) + 1
	if from >= len(s.t) || s.t[from-1] != '\n' && s.t[from-1] != '\r' {
		return 0
	}
	rest := s.t[from:min(len(s.t), from+1<<16)]
	end := strings.Index(rest, "Private-MAC")
	if end < 0 {
		end = len(rest)
	}
	end = len(strings.TrimRight(rest[:end], "\r\n"))
	if end == 0 || variable(rest[:end]) {
		return 0
	}
	return s.redact(from, from+end)
}
