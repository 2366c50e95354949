package privacy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const tagName = "private"

// withoutPrivate is t with what its private tags enclose, tags included, replaced by Redacted.
//
// Tags nest. An opening tag without its closing one hides everything behind it. A closing tag too many means that the
// nesting was misread, so everything between the first opening tag and it is hidden. A closing tag in a text without an
// opening one ends an excerpt that begins inside private text, as when a tool reads a file from line 50 on: what is
// before it is hidden, unless the tag stands in quotes and is only being mentioned. An opening tag that no closing one
// follows does not count where it is plainly something else, see spokenOf.
func withoutPrivate(t string) string {
	var cut []span
	depth, from := 0, 0
	lastClosing := -1 // where the last closing tag begins, once it has been looked for
	for i := 0; ; {
		g, ok := nextTag(t, i)
		if !ok {
			break
		}
		i = g.to
		switch {
		case !g.closing:
			if depth == 0 && spokenOf(t, g) {
				if lastClosing < 0 {
					lastClosing = closingBehind(t, g.to)
				}
				if lastClosing < g.to {
					continue
				}
			}
			if depth == 0 {
				from = g.from
			}
			depth++
		case depth > 1:
			depth--
		case depth == 1:
			depth = 0
			cut = append(cut, span{from: from, to: g.to})
		case len(cut) > 0:
			cut = append(cut[:0], span{from: cut[0].from, to: g.to})
		case !mentioned(t, g):
			cut = append(cut, span{to: g.to})
		}
	}
	if depth > 0 {
		cut = append(cut, span{from: from, to: len(t)})
	}
	return replace(t, cut)
}

// spokenOf tells an opening tag that is code: `<private>` between backticks, the type argument of Local<Private>, and
// C<private> of Perl's documentation.
func spokenOf(t string, g tag) bool {
	if g.from == 0 {
		return false
	}
	before := t[g.from-1]
	if before == '`' {
		return g.to < len(t) && t[g.to] == '`'
	}
	switch t[g.from:g.to] {
	case "<Private>":
		return isNameByte(before)
	case "<private>":
		return before >= 'A' && before <= 'Z' && (g.from == 1 || !isNameByte(t[g.from-2]))
	}
	return false
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// closingBehind is where the last closing tag at or behind i begins, zero when there is none.
func closingBehind(t string, i int) int {
	last := 0
	for g, ok := nextTag(t, i); ok; g, ok = nextTag(t, g.to) {
		if g.closing {
			last = g.from
		}
	}
	return last
}

type tag struct {
	span
	closing bool
}

// mentioned tells whether a tag stands between two quotes of one kind.
func mentioned(t string, g tag) bool {
	if g.from == 0 || g.to == len(t) {
		return false
	}
	c := t[g.from-1]
	after := strings.TrimLeft(t[g.to:], `\`)
	return (c == '"' || c == '\'' || c == '`') && after != "" && after[0] == c
}

// nextTag finds the first private tag at or behind i.
func nextTag(t string, i int) (tag, bool) {
	for ; i < len(t); i++ {
		n := 0
		switch c := t[i]; c {
		default:
			continue
		case '<':
			n = 1
		case '&', '%', '=', 0xef:
			r, m := char(t, i, layers)
			if fold(r) != '<' {
				continue
			}
			n = m
		case '\\':
			r, m := char(t, i, layers)
			if fold(r) != '<' {
				i += backslashes(t, i) - 1
				continue
			}
			n = m
		}
		if g, ok := tagAt(t, i, i+n); ok {
			return g, true
		}
	}
	return tag{}, false
}

// tagAt reads the tag whose bracket opens at t[from:] and ends before t[i:].
func tagAt(t string, from, i int) (tag, bool) {
	g := tag{span: span{from: from}}
	i, spaced := blanks(t, i)
	r, n := visible(t, i)
	for ; r == '/'; r, n = visible(t, i) {
		g.closing = true
		i, _ = blanks(t, i+n)
	}
	for k := 0; k < len(tagName); k++ {
		for k > 0 && (r == '\n' || r == '\r') { // a terminal or a mail broke the line inside the word
			i += n
			r, n = visible(t, i)
		}
		if n == 0 || unicode.ToLower(r) != rune(tagName[k]) {
			return tag{}, false
		}
		i += n
		r, n = visible(t, i)
	}
	if n > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:$*([", r)) {
		return tag{}, false // <privateer>, <private-network>, static_cast<Private*>
	}
	var closed bool
	g.to, closed = tagEnd(t, i)
	if spaced && !closed {
		return tag{}, false // a < private: a comparison
	}
	return g, true
}

// tagEnd is the index behind the bracket that closes a tag, whose attributes begin at t[i:]. A tag that another one
// follows before it is closed ends there, and one that the text ends in ends with it; closed is false then.
func tagEnd(t string, i int) (end int, closed bool) {
	value := false // behind an equals sign, where a quote begins a value
	for {
		r, n := visible(t, i)
		switch {
		case n == 0:
			return len(t), false
		case r == '>':
			return i + n, true
		case r == '<':
			return i, false
		case value && (r == '"' || r == '\''):
			if e := quoteEnd(t, i+n, r); e > 0 {
				n = e - i
			}
			value = false
		case r == '=':
			value = true
		case !unicode.IsSpace(r):
			value = false
		}
		i += n
	}
}

// quoteEnd is the index behind the next quote of a kind; zero when there is none.
func quoteEnd(t string, i int, quote rune) int {
	for {
		r, n := char(t, i, layers)
		if n == 0 {
			return 0
		}
		i += n
		if fold(r) == quote {
			return i
		}
	}
}

// blanks skips white space and tells whether there was any.
func blanks(t string, i int) (end int, any bool) {
	for {
		r, n := visible(t, i)
		if n == 0 || !unicode.IsSpace(r) {
			return i, any
		}
		i, any = i+n, true
	}
}

// visible is the next character that a reader sees, folded, and the number of bytes up to its end. Terminal colours,
// zero-width characters, combining marks, control characters and bytes that are no text are passed over.
func visible(t string, i int) (rune, int) {
	for from := i; ; {
		r, n := char(t, i, layers)
		i += n
		switch {
		case n == 0:
			return 0, 0
		case r == 0x1b:
			i = colourEnd(t, i, layers)
		case r < utf8.RuneSelf:
			if r >= ' ' && r != 0x7f || unicode.IsSpace(r) {
				return r, i - from
			}
		case r == utf8.RuneError || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Cc) && !unicode.IsSpace(r):
		default:
			return fold(r), i - from
		}
	}
}

// colourEnd is the index behind a terminal sequence whose escape character ends before t[i:].
func colourEnd(t string, i, layer int) int {
	r, n := char(t, i, layer)
	if fold(r) != '[' {
		return i
	}
	for k := i + n; ; k += n {
		r, n = char(t, k, layer)
		switch r = fold(r); {
		case n > 0 && (r >= '0' && r <= '9' || r == ';'):
		case r|0x20 >= 'a' && r|0x20 <= 'z':
			return k + n
		default:
			return i
		}
	}
}

// fold is the ASCII character that a full-width or small form stands for; other characters stay.
func fold(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '﹤':
		return '<'
	case r == '﹥':
		return '>'
	case r == '\u3000':
		return ' '
	}
	return r
}
