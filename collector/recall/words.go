package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class says what a term is a piece of.
type class uint8

const (
	classWord  class = iota // a word, stemmed
	classWhole              // an identifier or file name as a whole, its separators taken out
	classPart               // a piece of an identifier, stemmed
	classExt                // a piece behind the last dot of an identifier
	classPair               // two characters of a script without spaces
	classChar               // one character of it
)

// maxTerm is the longest term in bytes; longer words are hashes, encodings and the like, and are cut.
const maxTerm = 64

// scanner cuts text into terms. Emit gets each term, which is only valid during the call, the folded lower-case word
// it was made of, and the number of the word.
type scanner struct {
	emit      func(term, surface []byte, c class, pos int)
	pos       int
	buf, stem []byte
	parts     []span
	capital   bool // the run begins with a capital and no sentence begins with it
	compound  bool // the run is a path or an identifier of several pieces
}

type span struct{ from, to int }

// scan calls emit for every term of s. Text is cut in runs of letters, digits and the marks that hold identifiers
// together; a run that is one word gives one term, any other gives its pieces and itself.
func (sc *scanner) scan(s string) {
	s = fold(s)
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case joined(r):
			j := i + n
			for j < len(s) {
				r, n := utf8.DecodeRuneInString(s[j:])
				if !joined(r) {
					break
				}
				j += n
			}
			sc.joinedRun(s[i:j])
			i = j
		case wordRune(r):
			j := runEnd(s, i)
			if name, k := signed(s, i, j); name != "" {
				sc.word(name, classWord)
				i = k
				continue
			}
			sc.capital = unicode.IsUpper(r) && !startsSentence(s[:i])
			sc.run(s[i:j])
			i = j
		default:
			i += n
		}
	}
}

// runEnd is the end of the run that begins at i: word characters, and single connectors between two of them.
func runEnd(s string, i int) int {
	for i < len(s) {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case wordRune(r) && !joined(r):
			i += n
		case connector(r) && i+n < len(s) && startsWord(s[i+n:]):
			i += n
		default:
			return i
		}
	}
	return i
}

// startsSentence tells whether what follows s begins a sentence or a line.
func startsSentence(s string) bool {
	s = strings.TrimRight(s, " \t\"'`*_([")
	return s == "" || strings.IndexByte(".!?:\n>-", s[len(s)-1]) >= 0
}

// signed is the word for a name whose signs matter, as C++ and C#, when the run from i to j is one, and its end.
func signed(s string, i, j int) (name string, end int) {
	if j-i != 1 {
		return "", 0
	}
	switch c := s[i] | 32; {
	case strings.HasPrefix(s[j:], "++") && (c == 'c' || c == 'g'):
		return string(rune(c)) + "pp", j + 2
	case strings.HasPrefix(s[j:], "#") && (c == 'c' || c == 'f' || c == 'j'):
		return string(rune(c)) + "sharp", j + 1
	}
	return "", 0
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return wordRune(r) && !joined(r)
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

func connector(r rune) bool {
	switch r {
	case '.', '-', '/', '\\', '\'', '’', ':', '‐', '‑':
		return true
	}
	return false
}

// joinedRun gives the characters and the pairs of a run of a script without spaces.
func (sc *scanner) joinedRun(s string) {
	prev := -1
	for i, r := range s {
		n := utf8.RuneLen(r)
		if unicode.IsMark(r) && r < 0x3000 { // a vowel sign belongs to the character before it
			continue
		}
		if prev >= 0 {
			sc.give([]byte(s[prev:i+n]), classPair, sc.pos)
		}
		sc.pos++
		sc.give([]byte(s[i:i+n]), classChar, sc.pos)
		prev = i
	}
	sc.pos++
}

func (sc *scanner) give(b []byte, c class, pos int) { sc.emit(b, b, c, pos) }

// run takes a run apart: at slashes in segments, these at case, digits and connectors in pieces.
func (sc *scanner) run(s string) {
	sc.compound = strings.ContainsAny(s, "/\\:._-")
	segments := 0
	from, last, before := 0, span{}, span{-1, -1}
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '/' && s[i] != '\\' && s[i] != ':' {
			continue
		}
		if i > from {
			before, last = last, span{from, i}
			segments++
			sc.segment(s[from:i])
		}
		from = i + 1
	}
	if segments > 1 { // the last two segments of a path, which name a file better than the last alone
		sc.whole(s[before.from:before.to]+s[last.from:last.to], sc.pos-1)
	}
}

// whole gives an identifier without its separators, so that user-auth, user_auth and UserAuth meet.
func (sc *scanner) whole(s string, pos int) {
	b := sc.buf[:0]
	for _, r := range s {
		switch {
		case r == '_' || connector(r):
		case r < utf8.RuneSelf:
			b = append(b, byte(lower(r)))
		default:
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	sc.buf = b
	if len(b) > 1 && len(b) <= maxTerm {
		sc.give(b, classWhole, pos)
	}
}

func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// segment gives the terms of a run without slashes.
func (sc *scanner) segment(s string) {
	s = apostrophes(s, sc)
	if s == "" {
		return
	}
	if len(s) <= 5 && wordForms()[strings.ToLower(s)] != "" { // k8s is one word
		sc.word(s, classWord)
		return
	}
	sc.parts = pieces(sc.parts[:0], s)
	switch len(sc.parts) {
	case 0:
		return
	case 1:
		p := sc.parts[0]
		sc.word(s[p.from:p.to], classWord)
		return
	}
	sc.compound = true
	sc.whole(s, sc.pos)
	for i, p := range sc.parts {
		c := classPart
		if i == len(sc.parts)-1 && p.from > 0 && s[p.from-1] == '.' && p.to-p.from <= 5 {
			c = classExt
		}
		sc.word(s[p.from:p.to], c)
	}
}

// apostrophes takes the possessive off, joins contractions (don't is dont) and gives an elided article (l'école) as a
// word of its own; what remains is returned.
func apostrophes(s string, sc *scanner) string {
	for i, r := range s {
		if r != '\'' && r != '’' {
			continue
		}
		rest := s[i+utf8.RuneLen(r):]
		switch {
		case rest == "s" || rest == "S":
			return s[:i]
		case i <= 2 && len(rest) > 2:
			sc.word(s[:i], classWord)
			return apostrophes(rest, sc)
		}
		return s[:i] + apostrophes(rest, sc)
	}
	return s
}

// word gives one word or piece, stemmed.
func (sc *scanner) word(s string, c class) {
	b := sc.buf[:0]
	for _, r := range s {
		if r < utf8.RuneSelf {
			b = append(b, byte(lower(r)))
		} else {
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
		if len(b) >= maxTerm {
			break
		}
	}
	sc.buf = b
	sc.stem = append(sc.stem[:0], b...)
	sc.emit(stem(sc.stem), b, c, sc.pos)
	sc.pos++
}

type kind uint8

const (
	kindSep kind = iota
	kindLower
	kindUpper
	kindDigit
)

func kindOf(r rune) kind {
	switch {
	case r >= 'a' && r <= 'z':
		return kindLower
	case r >= 'A' && r <= 'Z':
		return kindUpper
	case r >= '0' && r <= '9':
		return kindDigit
	case r < utf8.RuneSelf, connector(r):
		return kindSep
	case unicode.IsUpper(r):
		return kindUpper
	case unicode.IsDigit(r):
		return kindDigit
	}
	return kindLower
}

// pieces cuts an identifier at separators, between a lower-case and an upper-case letter, before the last capital of
// several (HTTPServer) unless only a plural s follows (URLs), and between letters and digits. A hash stays whole: its digits
// are no number.
func pieces(out []span, s string) []span {
	from, prev, hex := -1, kindSep, 0
	for i, r := range s {
		k := kindOf(r)
		switch {
		case i < hex:
		case k == kindSep:
			if from >= 0 {
				out = append(out, span{from, i})
			}
			from = -1
		case from < 0:
			from = i
			hex = i + hexadecimal(s[i:])
		case k == prev:
		case prev == kindUpper && k == kindLower:
			if p := i - 1; p > from && s[p] < utf8.RuneSelf && !pluralS(s[i:]) {
				out = append(out, span{from, p})
				from = p
			}
		default:
			out = append(out, span{from, i})
			from = i
		}
		prev = k
	}
	if from >= 0 {
		out = append(out, span{from, len(s)})
	}
	return out
}

// hexadecimal is how many bytes at the beginning of s, up to what is neither letter nor digit, are a hash or a piece of
// one, as 77b1; 0 when they are not. What changes once between letters and digits may be a name with a number.
func hexadecimal(s string) int {
	n, changes := 0, 0
	for ; n < len(s) && (s[n] >= utf8.RuneSelf || kindOf(rune(s[n])) != kindSep); n++ {
		switch c := s[n]; {
		case c < '0' || c > '9' && c < 'a' || c > 'f':
			return 0
		case n > 0 && (c <= '9') != (s[n-1] <= '9'):
			changes++
		}
	}
	if n < 4 || changes < 2 {
		return 0
	}
	return n
}

func pluralS(s string) bool {
	if s[0] != 's' {
		return false
	}
	if len(s) == 1 {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s[1:])
	return kindOf(r) == kindSep || kindOf(r) == kindUpper
}
