package payload

import (
	"unicode/utf16"
	"unicode/utf8"
)

// An encoding turns what arrives into UTF-8. Kiro sends UTF-8; what stands between it and the hook on Windows may send
// UTF-16, or a byte order mark in front.
type encoding struct {
	known bool
	order uint8  // 0: UTF-8, else the place of the low byte in a UTF-16 unit, plus 1
	rest  []byte // bytes before the encoding is known, then half a unit or a high surrogate
}

// decode appends the UTF-8 of p to dst; end says that nothing follows.
func (e *encoding) decode(dst, p []byte, end bool) []byte {
	if e.known && e.order == 0 {
		return append(dst, p...)
	}
	e.rest = append(e.rest, p...)
	if !e.known {
		if !e.sniff(end) {
			return dst
		}
		if e.order == 0 {
			dst = append(dst, e.rest...)
			e.rest = nil
			return dst
		}
	}
	return e.units(dst, end)
}

// sniff finds the encoding from the first bytes, and drops a byte order mark, or several where every program on the way
// has put one in front; false when more bytes are needed.
func (e *encoding) sniff(end bool) bool {
	b := e.rest
	for len(b) >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf {
		b = b[3:]
	}
	e.rest = b
	switch {
	case len(b) < 2 && !end, len(b) == 2 && b[0] == 0xef && b[1] == 0xbb && !end:
		return false
	case len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe:
		e.order, e.rest = 1, b[2:]
	case len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff:
		e.order, e.rest = 2, b[2:]
	case len(b) >= 2 && b[0] != 0 && b[1] == 0: // no payload in UTF-8 has a NUL here
		e.order = 1
	case len(b) >= 2 && b[0] == 0 && b[1] != 0:
		e.order = 2
	}
	e.known = true
	return true
}

func (e *encoding) units(dst []byte, end bool) []byte {
	b := e.rest
	low := int(e.order - 1)
	unit := func(i int) rune { return rune(b[i+low]) | rune(b[i+1-low])<<8 }
	i := 0
	for ; i+2 <= len(b); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if r < 0xdc00 && i+4 > len(b) && !end {
				break
			}
			pair := rune(utf8.RuneError)
			if i+4 <= len(b) {
				pair = utf16.DecodeRune(r, unit(i+2))
			}
			if pair != utf8.RuneError {
				i += 2
			}
			r = pair
		}
		dst = utf8.AppendRune(dst, r)
	}
	e.rest = b[:copy(b, b[i:])]
	if end && len(e.rest) > 0 {
		dst, e.rest = utf8.AppendRune(dst, utf8.RuneError), nil
	}
	return dst
}
