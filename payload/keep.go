package payload

import "unicode/utf8"

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
