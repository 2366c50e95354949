package privacy

import "strings"

// keyBlock redacts the private key block (PEM, OpenSSH, PGP, SSH2) that begins at i. A block without an end hides
// everything behind its beginning. Names of blocks without a body, as in source code, stay.
func (s *scan) keyBlock(i int) int {
	rest := s.t[i:]
	if !strings.HasPrefix(rest, "-----BEGIN ") && !strings.HasPrefix(rest, "---- BEGIN ") {
		return 0
	}
	label := rest[:min(len(rest), 80)]
	key := strings.Index(label, "PRIVATE KEY")
	if key < 0 || strings.ContainsAny(label[:key], "\r\n") {
		return 0
	}
	head := key + len("PRIVATE KEY")
	body := head + len(rest[head:]) - len(strings.TrimLeft(strings.TrimPrefix(rest[head:], " BLOCK"), " -"))
	stop := s.blockEnd(i + body)
	if !s.keyMaterial(i+body, stop, stop == len(s.t)) {
		return 0
	}
	if stop == len(s.t) {
		return s.redact(i, stop)
	}
	stop -= i
	end := stop + len("--END ")
	for end < len(rest) && (rest[end] >= 'A' && rest[end] <= 'Z' || rest[end] == ' ' || rest[end] >= '0' && rest[end] <= '9') {
		end++
	}
	return s.redact(i, s.run(i+end, dash))
}

// blockEnd is where the next line that ends a block begins, the end of the text when there is none. It is remembered,
// so that many beginnings do not search for the same end.
func (s *scan) blockEnd(i int) int {
	for m, mark := range [...]string{"--END ", "-- END "} {
		if s.block[m] >= i {
			continue
		}
		s.block[m] = len(s.t)
		if k := strings.Index(s.t[i:], mark); k >= 0 {
			s.block[m] = i + k
		}
	}
	return min(s.block[0], s.block[1])
}

// keyMaterial tells whether a line of base64, such as a key is written in, begins near i, behind the headers of an
// encrypted key. In a block without an end a shorter one counts where the text ends with it.
func (s *scan) keyMaterial(i, end int, open bool) bool {
	for k := i; k < min(end, i+1024); {
		if s.t[k] == '\\' {
			k = max(k+1, s.behindEscape(k))
			continue
		}
		e := min(s.run(k, base64s), end)
		if e-k >= 16 || open && e == end && e-k >= 4 {
			return true
		}
		k = max(k+1, e)
	}
	return false
}

// url redacts the password of scheme://user:password@host, whose colon is at i.
func (s *scan) url(i int) int {
	rest := s.t[i+1:]
	n := 2
	switch {
	case strings.HasPrefix(rest, "//"):
	case strings.HasPrefix(rest, `\/\/`):
		n = 4
	default:
		return 0
	}
	from := i + 1 + n
	if i == 0 || s.class[s.t[i-1]]&alnum == 0 {
		return from
	}
	stop := from
	for stop < len(s.t) && stop < from+1024 && !strings.ContainsRune(" \t\r\n\"'<>`\\|", rune(s.t[stop])) {
		stop++
	}
	host := from
	for host < stop && s.t[host] != '/' && s.t[host] != '?' && s.t[host] != '#' {
		host++
	}
	info := s.t[from:host]
	at := strings.LastIndexByte(info, '@')
	if at >= 0 && host < stop && s.t[host] == '/' { // root:p@ss/word@host: nobody escaped the password
		path := s.t[host:stop]
		if q := strings.IndexAny(path, "?#"); q >= 0 {
			path = path[:q]
		}
		if more := strings.LastIndexByte(path, '@'); more > 0 && path[more-1] != '/' {
			info, at = s.t[from:stop], host+more-from
		}
	}
	if at < 0 { // root:pass/word@host
		info = s.t[from:stop]
		at = strings.LastIndexByte(info, '@')
		colon := strings.IndexByte(info, ':')
		if at < 0 || colon < 0 || colon > at || from+colon > host || isPort(s.t[from+colon+1:host]) {
			return from
		}
	}
	colon := strings.IndexByte(info[:at], ':')
	if colon < 0 && userToken(info[:at]) {
		return s.redact(from, from+at)
	}
	if colon < 0 || variable(info[colon+1:at]) || colon+1 == at {
		return from
	}
	return s.redact(from+colon+1, from+at)
}

// userToken tells a token in the place of a user's name, as in https://<token>@github.com.
// Source: https://git-scm.com/docs/gitcredentials
func userToken(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; !isNameByte(c) && c != '-' {
			return false
		}
	}
	up, low, dig := count(v)
	return len(v) >= 16 && mixed(v) && !wordy(v) && !numbered(v) || len(v) >= 32 && dig >= 6 && up+low > 0 && varied(v) && !wordy(v)
}

func isPort(v string) bool {
	_, _, dig := count(v)
	return dig == len(v)
}

// telegram redacts a bot token, <bot number>:<35 characters>, whose colon is at i.
// Source: https://core.telegram.org/bots/api#authorizing-your-bot
func (s *scan) telegram(i int) int {
	from := s.back(i, digits, 11)
	if n := i - from; n < 8 || n > 10 {
		return 0
	}
	end := s.run(i+1, base64u)
	if end-i-1 != 35 || !mixed(s.t[i+1:end]) {
		return 0
	}
	return s.redact(i+1, end)
}

// dashed redacts the secrets that end in a dash and a suffix: a Mailchimp key, <32 hex digits>-us<number>.
// Source: https://mailchimp.com/developer/marketing/docs/fundamentals/
func (s *scan) dashed(i int) int {
	if !strings.HasPrefix(s.t[i:], "-us") {
		return 0
	}
	end := s.run(i+3, digits)
	from := s.back(i, hex, 33)
	if n := end - i - 3; n < 1 || n > 2 || i-from != 32 || !varied(s.t[from:i]) {
		return 0
	}
	return s.redact(from, end)
}

// azureSecret redacts the client secret of an Entra application, three characters, a digit, Q~ and 31 to 34 more.
// Source: https://learn.microsoft.com/purview/sit-defn-azure-ad-client-secret
func (s *scan) azureSecret(i int) int {
	const alphabet = alnum | under | dot | dash
	if i < 5 || s.t[i-1] != 'Q' || s.class[s.t[i-2]]&digits == 0 {
		return 0
	}
	from := i - 5
	for _, c := range []byte(s.t[from : i-2]) {
		if s.class[c]&alphabet == 0 && c != '~' {
			return 0
		}
	}
	end := i + 1
	for end < len(s.t) && (s.class[s.t[end]]&alphabet != 0 || s.t[end] == '~') {
		end++
	}
	if n := end - i - 1; n < 31 || n > 34 {
		return 0
	}
	return s.redact(from, end)
}
