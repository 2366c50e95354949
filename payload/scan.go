package payload

import "bytes"

// What a scanner keeps at most. The event body that is made of it holds 512 KiB, so what these limits take away would
// not have come so far anyway.
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
