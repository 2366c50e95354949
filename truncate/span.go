package truncate

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A span is a part of a document, such as a string with its quotes.
type span struct{ start, end int }

// within is the span of part, which is a slice of doc; the empty span when part is nil.
func within(doc, part []byte) span {
	if part == nil {
		return span{}
	}
	start := cap(doc) - cap(part) // a slice shares the end of its capacity with what it was cut from
	return span{start, start + len(part)}
}

func (s span) of(doc []byte) []byte { return doc[s.start:s.end] }
func (s span) len() int             { return s.end - s.start }
func (s span) empty() bool          { return s.end == s.start }

// room is the number of bytes that cutting the string can save, the marker counted.
func (s span) room() int { return s.len() - len(`""`) - len(Marker) }

// An edit replaces a span by text.
type edit struct {
	span
	text []byte
}

// shorten cuts the string so that it saves need bytes, or as many as it can, and gives what is still needed.
func (s span) shorten(doc []byte, need int) (edit, int) {
	if s.room() <= 0 || doc[s.start] != '"' {
		return edit{s, s.of(doc)}, need
	}
	inside := doc[s.start+1 : s.end-1]
	k := boundary(inside, max(s.room()-need, 0))
	out := make([]byte, 0, k+len(Marker)+2)
	out = append(append(append(append(out, '"'), inside[:k]...), Marker...), '"')
	return edit{s, out}, need - (s.len() - len(out))
}

// boundary is the last place at or before k where the inside of a string may be cut: between two characters, and not
// inside an escape.
func boundary(inside []byte, k int) int {
	for i := 0; i < k; {
		b := bytes.IndexByte(inside[i:k], '\\')
		if b < 0 {
			break
		}
		i += b
		n := escapeLen(inside[i:])
		if i+n > k {
			return i
		}
		i += n
	}
	for k > 0 && k < len(inside) && !utf8.RuneStart(inside[k]) {
		k--
	}
	return k
}

// escapeLen is the length of the escape that b begins with.
func escapeLen(b []byte) int {
	if len(b) > 1 && b[1] == 'u' {
		return min(6, len(b))
	}
	return min(2, len(b))
}

// splice is doc with the edits made, in whatever order they come; they do not overlap.
func splice(doc []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	out := make([]byte, 0, len(doc))
	done := 0
	for _, e := range edits {
		out = append(append(out, doc[done:e.start]...), e.text...)
		done = e.end
	}
	return append(out, doc[done:]...)
}
