package payload

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"kiro-learn/internal/rawjson"
)

func (s *scanner) openString(key bool) {
	s.inKey, s.fieldKey = key, key && s.depth == 1
	s.state, s.strLen, s.strCut = inString, 0, false
	if s.fieldKey {
		s.key, s.keyLong = s.key[:0], false
	} else {
		s.emitByte('"')
	}
}

func (s *scanner) endString() {
	if !s.fieldKey {
		s.emitByte('"')
	}
	if s.inKey {
		s.state = wantColon
		return
	}
	s.endValue()
}

// str takes bytes inside a string, up to and including its closing quote, and gives their number.
func (s *scanner) str(b []byte, eof bool) (n int) {
	for n < len(b) {
		if s.strCut || s.mode == drop && !s.fieldKey {
			return n + s.skip(b[n:], eof)
		}
		if k := settledLen(b[n:]); k > 0 {
			whole := k
			if n+k == len(b) && !eof {
				whole -= openRune(b[n : n+k])
			}
			s.text(b[n : n+whole])
			n += whole
			if whole < k {
				return n
			}
			continue
		}
		switch c := b[n]; c {
		case '"':
			s.endString()
			return n + 1
		case '\\':
			k := s.escape(b[n:], eof)
			if k == 0 {
				return n
			}
			n += k
		default:
			s.notes |= noteControl
			s.char(rune(c))
			n++
		}
	}
	return n
}

// skip is str for a string of which nothing more is kept: all that matters is where it ends.
func (s *scanner) skip(b []byte, eof bool) (n int) {
	for n < len(b) {
		n += plainLen(b[n:])
		switch {
		case n == len(b):
		case b[n] == '"':
			s.endString()
			return n + 1
		case b[n] != '\\':
			n++
		case n+1 < len(b) || eof: // what stands behind a backslash ends no string
			n = min(n+2, len(b))
		default:
			return n
		}
	}
	return n
}

// escape takes the escape at the start of b and gives its length, 0 when its rest has not come yet.
func (s *scanner) escape(b []byte, eof bool) int {
	if len(b) < 2 {
		if !eof {
			return 0
		}
		return s.badEscape()
	}
	switch b[1] {
	case '"', '\\', 'n', 't', 'r', 'b', 'f':
		s.atom(b[:2])
		return 2
	case '/':
		s.atom(b[1:2])
		return 2
	case 'u':
	default:
		return s.badEscape()
	}
	r, ok, whole := hex4(b[2:])
	switch {
	case !ok || !whole && eof:
		return s.badEscape()
	case !whole:
		return 0
	case !utf16.IsSurrogate(r):
		s.char(r)
		return 6
	}
	if low := b[6:]; r < 0xdc00 && (len(low) == 0 || low[0] == '\\' && (len(low) == 1 || low[1] == 'u')) {
		if len(low) < 2 {
			if !eof {
				return 0
			}
		} else if l, ok, whole := hex4(low[2:]); ok && !whole && !eof {
			return 0
		} else if pair := utf16.DecodeRune(r, l); ok && whole && pair != utf8.RuneError {
			s.char(pair)
			return 12
		}
	}
	s.notes |= noteInvalid
	s.char(utf8.RuneError)
	return 6
}

// badEscape takes a backslash that begins no escape as a backslash, which is what an unescaped Windows path means.
func (s *scanner) badEscape() int {
	s.notes |= noteEscape
	s.atom([]byte{'\\', '\\'})
	return 1
}

// char takes one character into the string at hand, in its shortest spelling. NUL, which ends the text for many who
// read it later, becomes U+FFFD.
func (s *scanner) char(r rune) {
	a := s.scratch[:0]
	switch {
	case r == 0:
		s.notes |= noteInvalid
		a = utf8.AppendRune(a, utf8.RuneError)
	case r < ' ' || r == '"' || r == '\\':
		a = rawjson.AppendString(a, string(r))
		a = a[1 : len(a)-1]
	default:
		a = utf8.AppendRune(a, r)
	}
	s.atom(a)
}

// text takes bytes that are in their shortest spelling into the string at hand; they end at the end of a character.
func (s *scanner) text(b []byte) {
	if !utf8.Valid(b) {
		s.notes |= noteInvalid
		b = s.fixed(b)
	}
	if room := s.stringRoom(); len(b) > room {
		s.strEmit(b[:boundary(b, room)])
		s.cutString()
		return
	}
	s.strEmit(b)
}

func (s *scanner) fixed(b []byte) []byte {
	out := s.fixedBuf[:0]
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out, b = utf8.AppendRune(out, r), b[n:]
	}
	s.fixedBuf = out
	return out
}

// atom takes the spelling of one character, which is not to be cut.
func (s *scanner) atom(a []byte) {
	if s.strCut {
		return
	}
	if len(a) > s.stringRoom() {
		s.cutString()
		return
	}
	s.strEmit(a)
}

func (s *scanner) stringRoom() int {
	if s.fieldKey || s.mode == drop {
		return maxString - s.strLen
	}
	return min(maxString, s.limit-minField/2) - s.strLen
}

func (s *scanner) cutString() {
	s.strCut, s.notes = true, s.notes|noteLong
	s.emitBytes([]byte(marker))
}

func (s *scanner) strEmit(b []byte) {
	s.strLen += len(b)
	if !s.fieldKey {
		s.emitBytes(b)
		return
	}
	if len(s.key)+len(b) > longestKey {
		s.keyLong = true
		return
	}
	s.key = append(s.key, b...)
}

// plainLen is the number of bytes at the start of b that stand for themselves inside a string: no quote, no backslash,
// no control character. It looks at eight bytes at a time.
func plainLen(b []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		if hit := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & high; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// settledLen is plainLen with the escapes that are in their shortest spelling already.
func settledLen(b []byte) int {
	n := plainLen(b)
	for n+1 < len(b) && b[n] == '\\' {
		switch b[n+1] {
		case '"', '\\', 'n', 't', 'r', 'b', 'f':
			n += 2
		default:
			return n
		}
		n += plainLen(b[n:])
	}
	return n
}

// boundary is the last place at or before k at which b, whose escapes have two bytes, can be cut.
func boundary(b []byte, k int) int {
	for i := 0; i < k; i += 2 {
		next := bytes.IndexByte(b[i:k], '\\')
		if next < 0 {
			break
		}
		if i += next; i+2 > k {
			return i
		}
	}
	for k > 0 && !utf8.RuneStart(b[k]) {
		k--
	}
	return k
}

// openRune is the number of bytes at the end of b that begin a character which may go on.
func openRune(b []byte) int {
	for k := 1; k <= min(3, len(b)); k++ {
		if c := b[len(b)-k]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-k:]) {
				return k
			}
			return 0
		}
	}
	return 0
}

// hex4 is the number that four hexadecimal digits spell; whole is false when b ends before the fourth, ok when what
// is there are digits.
func hex4(b []byte) (r rune, ok, whole bool) {
	if len(b) >= 4 {
		r, ok = rawjson.Hex4(b)
		return r, ok, true
	}
	pad := [4]byte{'0', '0', '0', '0'}
	copy(pad[:], b)
	_, ok = rawjson.Hex4(pad[:])
	return 0, ok, false
}
