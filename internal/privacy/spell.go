package privacy

import (
	"unicode/utf8"
)

// layers is how many encodings may lie on top of each other: \u0026lt; is a JSON escape around an HTML entity.
const layers = 4

// char is the character that is spelled at t[i:], and the number of bytes that spell it, after taking off at most
// layer encodings. A byte that is not UTF-8 is U+FFFD. At the end of the text it is (0, 0).
func char(t string, i, layer int) (rune, int) {
	if i >= len(t) {
		return 0, 0
	}
	switch c := t[i]; {
	case c >= utf8.RuneSelf:
		return utf8.DecodeRuneInString(t[i:])
	case layer == 0 || c != '\\' && c != '&' && c != '%' && c != '=':
		return rune(c), 1
	}
	r, n := char(t, i, layer-1)
	var v rune
	var m int
	switch r {
	case '\\':
		if n == 1 && layer > 1 && t[i] == '\\' {
			return r, n // the first layer found no escape here
		}
		if layer == 1 {
			n = backslashes(t, i) // \\\u003c is an escape that was escaped again
		}
		v, m = escape(t, i+n, layer-1)
	case '&':
		v, m = entity(t, i+n, layer-1)
	case '%':
		v, m = percent(t, i+n, layer-1)
	case '=':
		if v, m = number(t, i+n, layer-1, 16, 2, 2); v != '<' && v != '>' && v != '/' && v != '=' {
			m = 0 // quoted-printable mail encodes little else
		}
	}
	if m == 0 {
		return r, n
	}
	return v, n + m
}

// backslashes is the length of the run of backslashes at t[i:].
func backslashes(t string, i int) int {
	n := 0
	for i+n < len(t) && t[i+n] == '\\' {
		n++
	}
	return n
}

// number reads a number of min to max digits to a base and gives the bytes read, none when it is not one.
func number(t string, i, layer int, base rune, min, max int) (v rune, n int) {
	digits := 0
	for digits < max {
		r, m := char(t, i+n, layer)
		d := digit(r)
		if m == 0 || d < 0 || d >= base {
			break
		}
		if v < 1<<22 { // far beyond the last character; keeps the number from overflowing
			v = v*base + d
		}
		n += m
		digits++
	}
	if digits < min {
		return 0, 0
	}
	return v, n
}

func digit(r rune) rune {
	switch {
	case r >= '0' && r <= '9':
		return r - '0'
	case r >= 'a' && r <= 'f':
		return r - 'a' + 10
	case r >= 'A' && r <= 'F':
		return r - 'A' + 10
	}
	return -1
}

// escape reads what stands behind a backslash.
func escape(t string, i, layer int) (rune, int) {
	r, n := char(t, i, layer)
	switch r {
	case 'n', 'r', 't', 'f', 'v':
		return ' ', n
	case '"', '\'', '/', '`', '<', '>', '&':
		return r, n
	case 'x':
		v, m := number(t, i+n, layer, 16, 2, 2)
		return sum(v, n, m)
	case 'U':
		v, m := number(t, i+n, layer, 16, 8, 8)
		return sum(v, n, m)
	case 'u':
		if open, o := char(t, i+n, layer); open == '{' {
			v, m := number(t, i+n+o, layer, 16, 1, 8)
			if end, e := char(t, i+n+o+m, layer); m > 0 && end == '}' {
				return v, n + o + m + e
			}
			return 0, 0
		}
		v, m := number(t, i+n, layer, 16, 4, 4)
		return sum(v, n, m)
	}
	if r >= '0' && r <= '7' {
		return number(t, i, layer, 8, 2, 3)
	}
	return 0, 0
}

func sum(v rune, n, m int) (rune, int) {
	if m == 0 {
		return 0, 0
	}
	return v, n + m
}

// entity reads what stands behind an ampersand.
func entity(t string, i, layer int) (rune, int) {
	r, n := char(t, i, layer)
	if r == '#' {
		base := rune(10)
		if x, m := char(t, i+n, layer); x == 'x' || x == 'X' {
			base, n = 16, n+m
		}
		v, m := number(t, i+n, layer, base, 1, 12)
		if m == 0 {
			return 0, 0
		}
		if end, e := char(t, i+n+m, layer); end == ';' {
			m += e
		}
		return v, n + m
	}
	if r|0x20 < 'a' || r|0x20 > 'z' {
		return 0, 0
	}
	for _, e := range [...]struct {
		name string
		r    rune
		bare bool // may stand without its semicolon
	}{
		{"lt", '<', true},
		{"gt", '>', true},
		{"amp", '&', true},
		{"quot", '"', true},
		{"apos", '\'', false},
		{"sol", '/', false},
		{"bsol", '\\', false},
		{"num", '#', false},
		{"percnt", '%', false},
		{"semi", ';', false},
		{"nbsp", ' ', true},
		{"tab", ' ', false},
		{"newline", ' ', false},
		{"equals", '=', false},
		{"shy", '\u00ad', true},
		{"zwnj", '\u200c', false},
		{"zwj", '\u200d', false},
	} {
		n := spells(t, i, layer, e.name)
		if n == 0 {
			continue
		}
		if end, m := char(t, i+n, layer); end == ';' {
			return e.r, n + m
		}
		if e.bare {
			return e.r, n
		}
	}
	return 0, 0
}

// spells gives the number of bytes at t[i:] that spell a lower-case word in any case, none when they do not.
func spells(t string, i, layer int, word string) int {
	n := 0
	for k := 0; k < len(word); k++ {
		r, m := char(t, i+n, layer)
		if m == 0 || r != rune(word[k]) && r+('a'-'A') != rune(word[k]) {
			return 0
		}
		n += m
	}
	return n
}

// percent reads what stands behind a percent sign, and the percent-encoded bytes that make one character with it.
func percent(t string, i, layer int) (rune, int) {
	if r, n := char(t, i, layer); r == 'u' || r == 'U' {
		v, m := number(t, i+n, layer, 16, 4, 4)
		return sum(v, n, m)
	}
	v, n := number(t, i, layer, 16, 2, 2)
	if n == 0 || v < utf8.RuneSelf {
		return v, n
	}
	b := []byte{byte(v)}
	for len(b) < utf8.UTFMax && !utf8.FullRune(b) {
		r, p := char(t, i+n, layer)
		c, m := number(t, i+n+p, layer, 16, 2, 2)
		if r != '%' || m == 0 {
			return utf8.RuneError, n
		}
		b = append(b, byte(c))
		n += p + m
	}
	r, _ := utf8.DecodeRune(b)
	return r, n
}
