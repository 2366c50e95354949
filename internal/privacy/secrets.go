package privacy

import (
	"slices"
	"strings"
	"sync"
)

// The kinds of byte, as bits.
const (
	upper uint8 = 1 << iota
	lower
	digits
	under // _
	dash  // -
	dot   // .
	sym64 // + / =
	hex   // 0-9 a-f A-F
)

const (
	alnum   = upper | lower | digits
	base64u = alnum | under | dash // base64url
	base64s = alnum | sym64        // base64
)

// tables are what the scan looks bytes up in. They are made on first use, in about a microsecond.
type tables struct {
	class [256]uint8
	first [256]uint8             // by the first byte of its prefix, the number of the first token, from 1; 0 means none
	next  [len(tokenTable)]uint8 // the number of the next token with the same first byte
	pairs [32]uint32             // a bit by the hash of two bytes with which a token may begin
}

// pair is the place of two bytes in tables.pairs. Prefixes are of small letters, capitals and digits for the most part,
// whose lower five bits differ.
func pair(a, b byte) (word int, bit uint32) { return int(a & 31), 1 << (b & 31) }

var lookup = sync.OnceValue(makeTables)

func makeTables() *tables {
	t := &tables{}
	for c := range t.class {
		switch b := byte(c); {
		case b >= '0' && b <= '9':
			t.class[c] = digits | hex
		case b >= 'a' && b <= 'f':
			t.class[c] = lower | hex
		case b >= 'A' && b <= 'F':
			t.class[c] = upper | hex
		case b >= 'a' && b <= 'z':
			t.class[c] = lower
		case b >= 'A' && b <= 'Z':
			t.class[c] = upper
		}
	}
	t.class['_'], t.class['-'], t.class['.'] = under, dash, dot
	t.class['+'], t.class['/'], t.class['='] = sym64, sym64, sym64
	for i := len(tokenTable) - 1; i >= 0; i-- {
		c := tokenTable[i].prefix[0]
		t.next[i], t.first[c] = t.first[c], uint8(i+1)
		if p := tokenTable[i].prefix; len(p) == 1 {
			t.pairs[c&31] = ^uint32(0)
		} else {
			word, bit := pair(c, p[1])
			t.pairs[word] |= bit
		}
	}
	return t
}

// scan walks a text once and collects what is to be cut out of it.
type scan struct {
	*tables
	t   string
	cut []span

	asked    mention // which words of mentions have been looked for
	found    mention // and which of them the text holds
	doc      span    // the YAML document looked at last
	docIs    bool    // it is a Secret of Kubernetes
	block    [2]int  // where the key blocks end that were looked for last, by the mark of their end
	walked   int     // where the list or object ends that was walked through last
	valueEnd int     // where the unquoted value ends that was looked at last: the next key may lie inside it
}

// withoutSecrets is t with every secret in it replaced by Redacted.
func withoutSecrets(t string) string { return replace(t, secretsIn(t, layers)) }

// secretsIn finds the secrets of t, and those that show only when its escapes are taken off, up to so many layers.
func secretsIn(t string, layer int) []span {
	s := scan{tables: lookup(), t: t}
	s.text()
	if layer == 0 {
		return s.cut
	}
	u, ok := unescaped(t)
	if !ok {
		return s.cut
	}
	inner := joined(secretsIn(u, layer-1))
	wrapped(t, inner)
	return joined(append(s.cut, inner...))
}

// joined puts spans in order and makes one of those that overlap.
func joined(cut []span) []span {
	slices.SortFunc(cut, func(a, b span) int { return a.from - b.from })
	out := cut[:0]
	for _, c := range cut {
		if n := len(out); n > 0 && c.from < out[n-1].to {
			last := &out[n-1]
			if last.to = max(last.to, c.to); c.quote == "" {
				last.quote = ""
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// text collects the secrets of the whole text.
func (s *scan) text() {
	t := s.t
	for i := 0; i < len(t); {
		if s.class[t[i]]&alnum != 0 { // a word begins here
			if end := s.token(i); end > i {
				i = end
				continue
			}
			from := i
			for i++; i < len(t) && s.class[t[i]]&alnum != 0; i++ {
			}
			if n := i - from; n < 13 && i < len(t) && (t[i] == ' ' || t[i] == '\t') {
				if end := s.command(from, i); end > 0 {
					i = end
				} else if t[i] == ' ' {
					i = max(i, s.prose(from, i))
				}
			}
			continue
		}
		i = s.mark(i)
	}
}

// mark looks at the punctuation at i, which may introduce a secret, and gives the index to go on from.
func (s *scan) mark(i int) int {
	end := 0
	switch s.t[i] {
	case ':':
		if end = s.url(i); end == 0 {
			if end = s.telegram(i); end == 0 {
				if end = s.passFile(i); end == 0 {
					if end = s.assignment(i); end == 0 {
						end = s.neighbour(i)
					}
				}
			}
		}
	case '=':
		if end = s.assignment(i); end == 0 {
			end = s.neighbour(i)
		}
	case '>':
		end = s.assignment(i)
	case ',':
		end = s.pair(i)
	case '@':
		end = s.dataSource(i)
	case '$', '{':
		end = s.hash(i)
	case '|', '<':
		if end = s.piped(i); end == 0 && s.t[i] == '|' {
			end = s.row(i)
		}
	case '(':
		if s.t[i-min(i, 1)]|0x20 == 'd' {
			end = s.setter(i)
		}
	case '-':
		if end = s.keyBlock(i); end == 0 {
			if end = s.flag(i); end == 0 {
				if end = s.shortFlag(i); end == 0 {
					end = s.dashed(i)
				}
			}
		}
	case '~':
		end = s.azureSecret(i)
	case '\\':
		return s.behindEscape(i)
	case '%':
		if i+2 < len(s.t) && s.t[i+1] == '3' && (s.t[i+2]|0x20 == 'd' || s.t[i+2]|0x20 == 'a') {
			if end = s.encoded(i); end > 0 {
				return end
			}
		}
		if i+2 < len(s.t) && s.class[s.t[i+1]]&hex != 0 && s.class[s.t[i+2]]&hex != 0 {
			return i + 3 // the word begins behind the encoded byte
		}
	case 0xef: // the full-width colon of Chinese and Japanese text
		if strings.HasPrefix(s.t[i:], "：") {
			end = s.assignment(i)
		}
	case 0x1b:
		return max(i+1, colourEnd(s.t, i+1, 0))
	}
	return max(i+1, end)
}

// behindEscape is the index behind the escape at i, where a word may begin: the n of \n is not part of it.
func (s *scan) behindEscape(i int) int {
	i += backslashes(s.t, i)
	if i >= len(s.t) {
		return i
	}
	switch s.t[i] {
	case 'n', 'r', 't', 'b', 'f', 'v':
		return i + 1
	case 'u':
		if _, n := number(s.t, i+1, 0, 16, 4, 4); n > 0 {
			return i + 1 + n
		}
	case 'x':
		if _, n := number(s.t, i+1, 0, 16, 2, 2); n > 0 {
			return i + 1 + n
		}
	}
	return i
}

// redact marks a part of the text to be cut out and gives its end. What overlaps the last part joins it.
func (s *scan) redact(from, to int) int {
	if n := len(s.cut); n > 0 && s.cut[n-1].to > from {
		last := &s.cut[n-1]
		last.from, last.to = min(last.from, from), max(last.to, to)
		return last.to
	}
	s.cut = append(s.cut, span{from: from, to: to})
	return to
}

// run is the end of the bytes of an alphabet from i on.
func (s *scan) run(i int, alphabet uint8) int {
	for i < len(s.t) && s.class[s.t[i]]&alphabet != 0 {
		i++
	}
	return i
}

// back is the start of the bytes of an alphabet that end before i, at most limit of them.
func (s *scan) back(i int, alphabet uint8, limit int) int {
	for k := i; ; k-- {
		if k == 0 || i-k == limit || s.class[s.t[k-1]]&alphabet == 0 {
			return k
		}
	}
}

// token redacts the token with a known prefix that begins at i and gives its end; zero when there is none.
func (s *scan) token(i int) int {
	if i+1 < len(s.t) {
		if word, bit := pair(s.t[i], s.t[i+1]); s.pairs[word]&bit == 0 {
			return 0
		}
	}
	for k := s.first[s.t[i]]; k > 0; k = s.next[k-1] {
		rule := &tokenTable[k-1]
		if len(rule.prefix) > 1 && (i+1 >= len(s.t) || s.t[i+1] != rule.prefix[1]) || !strings.HasPrefix(s.t[i:], rule.prefix) {
			continue
		}
		body := i + len(rule.prefix)
		end := s.run(body, rule.alphabet)
		for end > body && (s.t[end-1] == '.' || s.t[end-1] == '-') && rule.alphabet != base64s {
			end-- // the full stop of a sentence
		}
		if n := end - body; n < rule.min || rule.max > 0 && n > rule.max {
			continue
		}
		from := i
		if rule.ok != nil && !rule.ok(s.t[i:end]) || rule.name == twilioAccount && !s.namesTwilio() {
			continue
		}
		if rule.keep {
			from = body
		}
		end = s.redact(from, end)
		if rule.name == "aws-key-id" {
			end = max(end, s.awsPair(end))
		}
		return end
	}
	return 0
}

// namesTwilio tells whether the text is about Twilio, without which its account numbers look like anybody's.
func (s *scan) namesTwilio() bool {
	return strings.Contains(s.t, "twilio") || strings.Contains(s.t, "Twilio") || strings.Contains(s.t, "TWILIO")
}

// awsPair redacts the secret key that is written beside an AWS key id, within 80 bytes behind it.
func (s *scan) awsPair(i int) int {
	for k := i; k < len(s.t) && k < i+80; k++ {
		if s.class[s.t[k]]&base64s == 0 {
			continue
		}
		end := s.run(k, base64s)
		if end-k == 40 && mixed(s.t[k:end]) {
			return s.redact(k, end)
		}
		k = end
	}
	return 0
}
