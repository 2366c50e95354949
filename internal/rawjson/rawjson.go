// Package rawjson walks valid JSON text without decoding it: members of an object, string leaves, quoting and
// unquoting. The hook path handles payloads of megabytes of which it needs five fields; it keeps the big ones as the
// bytes they came in. Every function takes text that is valid JSON (payload makes sure of that); on other text they
// stop early and never panic.
package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Space skips white space from i on and gives the index of the next byte, len(b) at the end.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// StringEnd is the index behind the closing quote of the string that opens at b[i]; ok is false when it never closes.
func StringEnd(b []byte, i int) (end int, ok bool) {
	for i++; i < len(b); {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return len(b), false
		}
		back := 0
		for k := i + q - 1; k >= i && b[k] == '\\'; k-- {
			back++
		}
		i += q + 1
		if back%2 == 0 {
			return i, true
		}
	}
	return len(b), false
}

// ValueEnd is the index behind the value that begins at b[i]; ok is false when the text ends inside it. It does not
// recurse, so depth costs nothing.
func ValueEnd(b []byte, i int) (end int, ok bool) {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			e, closed := StringEnd(b, i)
			if !closed {
				return e, false
			}
			i = e
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
			if depth < 0 {
				return i, false
			}
		case ' ', '\n', '\t', '\r', ',', ':':
			i++
			continue
		default:
			for i < len(b) && !delimiter(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i, true
		}
	}
	return i, false
}

func delimiter(c byte) bool {
	switch c {
	case ' ', '\n', '\t', '\r', ',', ':', '"', '{', '}', '[', ']':
		return true
	}
	return false
}

// Members calls f for every member of the object in b, in order, with the decoded key and the raw value, until f
// returns false. It gives false when b is not a whole object.
func Members(b []byte, f func(key string, value []byte) bool) bool {
	i := Space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	i = Space(b, i+1)
	for i < len(b) && b[i] != '}' {
		if b[i] == ',' {
			i = Space(b, i+1)
			continue
		}
		if b[i] != '"' {
			return false
		}
		e, ok := StringEnd(b, i)
		if !ok {
			return false
		}
		key := Unquote(b[i:e])
		i = Space(b, e)
		if i >= len(b) || b[i] != ':' {
			return false
		}
		i = Space(b, i+1)
		e, ok = ValueEnd(b, i)
		if !ok {
			return false
		}
		if !f(key, b[i:e]) {
			return true
		}
		i = Space(b, e)
	}
	return i < len(b)
}

// Elements calls f for every element of the array in b, in order, until f returns false. It gives false when b is not
// a whole array.
func Elements(b []byte, f func(value []byte) bool) bool {
	i := Space(b, 0)
	if i >= len(b) || b[i] != '[' {
		return false
	}
	i = Space(b, i+1)
	for i < len(b) && b[i] != ']' {
		if b[i] == ',' {
			i = Space(b, i+1)
			continue
		}
		e, ok := ValueEnd(b, i)
		if !ok {
			return false
		}
		if !f(b[i:e]) {
			return true
		}
		i = Space(b, e)
	}
	return i < len(b)
}

// IsString tells whether the value is a string.
func IsString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// IsObject tells whether the value is an object.
func IsObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// Get is the raw value of the member key of the object b, the last one if it is repeated; nil when there is none.
func Get(b []byte, key string) []byte {
	var found []byte
	Members(b, func(k string, v []byte) bool {
		if k == key {
			found = v
		}
		return true
	})
	return found
}

// Strings calls f for every string of b that is a value, in order, with its raw text, quotes included. Keys are left
// out.
func Strings(b []byte, f func(start, end int)) {
	for i := 0; i < len(b); {
		if b[i] != '"' {
			i++
			continue
		}
		e, ok := StringEnd(b, i)
		if !ok {
			return
		}
		if k := Space(b, e); k >= len(b) || b[k] != ':' {
			f(i, e)
		}
		i = e
	}
}

// MapStrings is b with every string, keys included, replaced by what f makes of its decoded text. A string that f
// returns unchanged keeps its spelling. Where nothing changes, b itself is returned.
func MapStrings(b []byte, f func(s string) string) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(b); {
		if b[i] != '"' {
			i++
			continue
		}
		e, ok := StringEnd(b, i)
		if !ok {
			break
		}
		s := Unquote(b[i:e])
		if t := f(s); t != s {
			out = append(out, b[done:i]...)
			out = AppendString(out, t)
			done = e
		}
		i = e
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string in its shortest form: only quotes, backslashes and control characters are
// escaped, and invalid UTF-8 becomes U+FFFD. This form is the one the size limits are counted in.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// Unquote is the text of the JSON string raw, quotes included. Lone surrogates and invalid UTF-8 become U+FFFD; an
// escape that JSON does not know is taken as it stands, so that no byte of a Windows path is lost.
func Unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return string(raw)
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\' && i+1 < len(raw):
			var n int
			out, n = unescape(out, raw[i:])
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return string(out)
}

// unescape appends what the escape at the start of b stands for and gives its length.
func unescape(out, b []byte) ([]byte, int) {
	switch b[1] {
	case '"', '\\', '/':
		return append(out, b[1]), 2
	case 'n':
		return append(out, '\n'), 2
	case 't':
		return append(out, '\t'), 2
	case 'r':
		return append(out, '\r'), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'u':
		r, ok := Hex4(b[2:])
		if !ok {
			break
		}
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(out, r), 6
		}
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := Hex4(b[8:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return utf8.AppendRune(out, pair), 12
				}
			}
		}
		return utf8.AppendRune(out, utf8.RuneError), 6
	}
	return append(out, '\\'), 1
}

// Hex4 is the number that the first four bytes of b spell in hexadecimal.
func Hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
