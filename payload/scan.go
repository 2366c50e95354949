package payload

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"kiro-learn/internal/rawjson"
)

// What a scanner keeps at most. The event body that is made of it holds 512 KiB, so none of these limits can be seen
// in an event, except that what was dropped here is no longer counted.
const (
	maxString = 4 << 20  // bytes of one string, as JSON spells it shortest
	maxTotal  = 32 << 20 // bytes of all fields together
	minField  = 64 << 10 // bytes that a field may take even when others have used up the total
	maxDepth  = 512      // nesting inside one field; other JSON programs give up at about 1000
	maxWord   = 4 << 10  // bytes of one number or bare word
	piece     = 64 << 10 // bytes scanned at once
)

const marker = " [truncated by kiro-learn]"

// The states of a scanner: what may come next.
type state uint8

const (
	wantValue      state = iota
	wantValueOrEnd       // behind '['
	wantKey              // behind ',' in an object
	wantKeyOrEnd         // behind '{'
	wantColon
	wantComma // or the end of the container
	inString
	inWord // a number, true, false, null, or something that only looks so
	isDone // one whole value has been read
	isText // the input is no JSON, all of it is text
	isTorn // JSON up to here, and no further
)

// Where the text of the value at hand goes.
type mode uint8

const (
	drop   mode = iota // nobody asks for this field
	keep               // to out, as JSON
	asText             // to out, as the inside of a JSON string that holds the JSON text
)

// A scanner takes the bytes of a payload as they arrive, in pieces of any size, finds the end of its first JSON
// value, and keeps the fields that are asked for as compact and always valid JSON: control characters inside strings
// escaped, escapes that JSON does not know taken literally, lone surrogates and invalid UTF-8 replaced by U+FFFD, every
// string in its shortest spelling. What is kept is bounded, whatever the size and shape of the input, and the result
// does not depend on how the input was cut into pieces.
type scanner struct {
	in    []byte // bytes that wait for their successors, then the piece at hand
	form  encoding
	state state

	depth   int
	objects []uint64 // one bit a level: the container is an object
	top     bool     // the value is an object
	word    []byte

	key      []byte // of the field at hand
	keyLong  bool
	inKey    bool // the string at hand is a key, of any level
	fieldKey bool // the string at hand is a key of the top object
	field    field
	mode     mode

	out      []byte // text of the field at hand
	limit    int    // bytes it may have
	strLen   int    // bytes of the string at hand
	strCut   bool
	textLen  int // bytes of text that a field kept as text has
	textCut  bool
	fields   [fieldCount][]byte
	more     bool // text follows the value
	found    bool // at least one known field is complete
	raw      []byte
	keepRaw  bool // until the first known field is complete, the bytes may turn out to be plain text
	rawCut   bool
	full     bool // the input is text, of which no more can be kept
	notes    note
	scratch  [16]byte
	fixedBuf []byte
}

// write takes the next bytes; over tells that no further ones are of use.
func (s *scanner) write(p []byte) (over bool) {
	for len(p) > 0 && !s.over() {
		n := min(len(p), piece)
		s.in = s.form.decode(s.in, p[:n], false)
		p = p[n:]
		s.step(false)
	}
	s.more = len(bytes.TrimSpace(s.in)) > 0 || len(bytes.TrimSpace(p)) > 0
	return s.over()
}

// end says that no more bytes will come, and closes what is open.
func (s *scanner) end() {
	if s.over() {
		return
	}
	s.in = s.form.decode(s.in, nil, true)
	s.step(true)
	switch {
	case s.over() || s.state == isText:
	case s.depth == 0 && s.state == inWord:
		s.endWord()
	default:
		s.tear()
	}
}

func (s *scanner) over() bool { return s.state == isDone || s.state == isTorn || s.full }

// step scans what is in s.in and leaves there what needs more bytes to be understood, never more than 11.
func (s *scanner) step(eof bool) {
	n := s.run(s.in, eof)
	if s.keepRaw {
		s.retain(s.in[:n])
		s.full = s.rawCut && (!s.top || s.state == isText)
	}
	s.in = s.in[:copy(s.in, s.in[n:])]
}

func (s *scanner) retain(b []byte) {
	if room := maxString - len(s.raw); len(b) > room {
		b, s.rawCut = b[:room], true
	}
	s.raw = appendDoubling(s.raw, b)
}

func (s *scanner) run(b []byte, eof bool) (n int) {
	for n < len(b) && !s.over() {
		switch s.state {
		case isText:
			return len(b)
		case inString:
			k := s.str(b[n:], eof)
			n += k
			if s.state == inString && n < len(b) {
				return n // an escape or a character whose rest has not come yet
			}
		case inWord:
			k := wordLen(b[n:])
			if len(s.word)+k > maxWord {
				s.tear()
				continue
			}
			s.word = append(s.word, b[n:n+k]...)
			if n += k; n < len(b) {
				s.endWord()
			}
		default:
			c := b[n]
			if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
				n++
				continue
			}
			if s.structure(c) {
				n++
			}
		}
	}
	return n
}

// structure takes one byte between strings and words; false leaves it for the state that it led to.
func (s *scanner) structure(c byte) bool {
	switch s.state {
	case wantValue, wantValueOrEnd:
		switch {
		case c == ']' && s.state == wantValueOrEnd:
			s.pop(c)
		case c == '{' || c == '[':
			s.push(c)
		case c == '"':
			s.openString(false)
		case wordByte(c):
			s.word, s.state = s.word[:0], inWord
			return false
		default:
			s.tear()
			return false
		}
	case wantKey, wantKeyOrEnd:
		switch {
		case c == '"':
			s.openString(true)
		case c == '}' && s.state == wantKeyOrEnd:
			s.pop(c)
		default:
			s.tear()
			return false
		}
	case wantColon:
		if c != ':' {
			s.tear()
			return false
		}
		if s.depth == 1 {
			s.openField()
		} else {
			s.emitByte(':')
		}
		s.state = wantValue
	case wantComma:
		return s.comma(c)
	}
	return true
}

func (s *scanner) comma(c byte) bool {
	switch {
	case c == ',':
		if s.depth > 1 {
			s.emitByte(',')
		}
		s.state = wantValue
		if s.inObject() {
			s.state = wantKey
		}
	case c == '}' && s.inObject(), c == ']' && !s.inObject():
		s.pop(c)
	default:
		s.tear()
		return false
	}
	return true
}

func (s *scanner) inObject() bool { return s.objects[(s.depth-1)/64]>>((s.depth-1)%64)&1 == 1 }

func (s *scanner) push(c byte) {
	if s.depth == 0 {
		s.top = c == '{'
	}
	if s.depth > maxDepth && s.mode == keep {
		s.toText(noteDeep)
	}
	if s.depth/64 == len(s.objects) {
		s.objects = append(s.objects, 0)
	}
	bit := uint64(1) << (s.depth % 64)
	s.objects[s.depth/64] &^= bit
	s.state = wantValueOrEnd
	if c == '{' {
		s.objects[s.depth/64] |= bit
		s.state = wantKeyOrEnd
	}
	if s.depth++; s.depth > 1 {
		s.emitByte(c)
	}
}

func (s *scanner) pop(c byte) {
	if s.depth > 1 {
		s.emitByte(c)
	}
	s.depth--
	s.endValue()
}

func (s *scanner) endValue() {
	s.state = wantComma
	switch {
	case s.depth == 0:
		s.state = isDone
	case s.depth == 1 && s.top:
		s.closeField()
	}
}

func (s *scanner) endWord() {
	if validWord(s.word) {
		s.emitBytes(s.word)
	} else if s.depth == 0 {
		s.tear()
		return
	} else {
		// Such as Python's NaN. Kept as a string, so that the fields behind it survive.
		s.notes |= noteWord
		s.emitByte('"')
		s.emitBytes(s.word)
		s.emitByte('"')
	}
	s.endValue()
}

// tear gives up at the byte at hand: with fields that are complete, the input is a torn object, else it is text.
func (s *scanner) tear() {
	if s.depth > 0 {
		s.closeTorn()
	}
	if s.found {
		s.state, s.notes = isTorn, s.notes|noteTorn
		return
	}
	s.state = isText
}

// closeTorn keeps the part that has come of a field whose beginning is of use by itself.
func (s *scanner) closeTorn() {
	if s.mode == drop || !s.field.torn() || s.fields[s.field] != nil || len(s.out) < 2 {
		return
	}
	if s.mode == keep {
		if s.depth == 1 && s.state == inString && !s.inKey {
			if !s.strCut {
				s.out = append(s.out, marker...)
			}
			s.out = append(s.out, '"')
			s.fields[s.field], s.found = s.out, true
			return
		}
		s.toText(noteTorn)
	}
	s.cutText()
	s.out = append(s.out, '"')
	s.fields[s.field], s.found = s.out, true
}

func (s *scanner) openField() {
	s.field, s.mode = fieldOf(s.key), drop
	if s.keyLong || s.field == fieldNone || !s.top {
		return
	}
	used := 0
	for _, f := range s.fields {
		used += len(f)
	}
	// Half of what is left: whatever the earlier fields were, later ones find room.
	s.limit = max((maxTotal-used)/2, minField)
	s.mode, s.out, s.textLen, s.textCut = keep, s.out[:0], 0, false
}

func (s *scanner) closeField() {
	if s.mode == drop {
		return
	}
	if s.mode == asText {
		s.out = append(s.out, '"')
	}
	s.fields[s.field], s.out = s.out, s.fields[s.field] // a repeated key: the last wins, the first one's room is used again
	s.mode, s.found = drop, true
	s.keepRaw, s.raw = false, nil
}

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

func (s *scanner) emitByte(c byte) {
	if s.mode == drop {
		return
	}
	if s.mode == keep && len(s.out) < min(s.limit, cap(s.out)) {
		s.out = append(s.out, c)
		return
	}
	s.scratch[0] = c
	s.emitBytes(s.scratch[:1])
}

// emitBytes takes JSON text of the field at hand.
func (s *scanner) emitBytes(b []byte) {
	switch s.mode {
	case keep:
		if len(s.out)+len(b) > s.limit {
			s.toText(noteLong)
			s.appendText(b)
			return
		}
		s.out = appendDoubling(s.out, b)
	case asText:
		s.appendText(b)
	}
}

// toText turns the field at hand from JSON into a string that holds the JSON text.
func (s *scanner) toText(why note) {
	was := s.out
	s.mode, s.out, s.notes = asText, []byte{'"'}, s.notes|why
	s.appendText(was)
}

// appendText appends text to the string that the field at hand has become, until that is full.
func (s *scanner) appendText(b []byte) {
	for len(b) > 0 && !s.textCut {
		room := min(maxString, s.limit) - s.textLen
		if k := min(plainLen(b), room); k > 0 {
			for k < len(b) && k > 0 && !utf8.RuneStart(b[k]) {
				k--
			}
			if k == 0 {
				s.cutText()
				return
			}
			s.out, s.textLen, b = appendDoubling(s.out, b[:k]), s.textLen+k, b[k:]
			continue
		}
		if room < 2 { // only quotes and backslashes need an escape: b is normalised JSON without white space
			s.cutText()
			return
		}
		s.out, s.textLen, b = append(s.out, '\\', b[0]), s.textLen+2, b[1:]
	}
}

func (s *scanner) cutText() {
	if !s.textCut {
		s.textCut = true
		s.out = append(s.out, marker...)
	}
}

// appendDoubling is append with a growth that leaves less behind for the collector when text comes to megabytes.
func appendDoubling(dst, b []byte) []byte {
	if need := len(dst) + len(b); need > cap(dst) {
		grown := make([]byte, len(dst), max(2*cap(dst), need, 256))
		copy(grown, dst)
		dst = grown
	}
	return append(dst, b...)
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
