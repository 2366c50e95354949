// Package truncate cuts a serialised event body to a size: as late as possible, where it hurts least, and never so that
// what is left is invalid UTF-8 or JSON. Time and memory grow with the size of the body, not with what is in it.
package truncate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// Marker stands at the end of every text that was cut.
const Marker = " [truncated by kiro-learn]"

// Body is the body in at most max bytes. One that fits is given back as it is; any other is spelled in the shortest
// form first, without white space, and cut only if that does not suffice:
//
//   - text: the end of the content;
//   - json: the strings inside data.tool_response.result, longest first, then the other strings of data, longest first,
//     and if all of them cannot make enough room, data becomes {"_truncated": "<the beginning of its text>"};
//   - message: from the last turn backwards the ends of the contents, where a turn that would be left empty goes; one
//     turn stays.
//
// Numbers, keys, their order and everything else stay. Every cut text ends with Marker. The body must be one of the
// wire contract and max at least 256; anything else becomes the text of a text body.
func Body(body []byte, max int) []byte {
	if len(body) <= max {
		return body
	}
	doc := shortest(body)
	if len(doc) > max {
		doc = cut(doc, max)
	}
	if !utf8.Valid(doc) || !json.Valid(doc) { // then the body was neither
		return text(event.TextBody(string(body)), max)
	}
	return doc
}

func cut(doc []byte, max int) []byte {
	switch rawjson.Unquote(rawjson.Get(doc, "type")) {
	case event.BodyText:
		return text(doc, max)
	case event.BodyMessage:
		return message(doc, max)
	case event.BodyJSON:
		return data(doc, max)
	}
	return wrapped(event.JSONBody(doc), max)
}

// text cuts the content of a text body.
func text(doc []byte, max int) []byte {
	content := within(doc, rawjson.Get(doc, "content"))
	if !rawjson.IsString(content.of(doc)) {
		return wrapped(event.JSONBody(doc), max)
	}
	if out, ok := cutString(doc, content, max); ok {
		return out
	}
	// What stands around the content leaves no room for it: members that the contract does not know.
	doc = append(append([]byte(`{"type":"text","content":`), content.of(doc)...), '}')
	out, ok := cutString(doc, within(doc, rawjson.Get(doc, "content")), max)
	if !ok {
		return event.TextBody("")
	}
	return out
}

// cutString cuts one string of doc so that doc fits; false when that cannot be.
func cutString(doc []byte, s span, max int) ([]byte, bool) {
	if len(doc) <= max {
		return doc, true
	}
	e, left := s.shorten(doc, len(doc)-max)
	return splice(doc, []edit{e}), left <= 0
}

// data cuts the strings of a JSON body's data.
func data(doc []byte, max int) []byte {
	whole := within(doc, rawjson.Get(doc, "data"))
	if whole.empty() {
		return wrapped(doc, max)
	}
	result := within(doc, rawjson.Get(rawjson.Get(whole.of(doc), "tool_response"), "result"))
	var first, then []span
	rawjson.Strings(whole.of(doc), func(start, end int) {
		leaf := span{whole.start + start, whole.start + end}
		switch {
		case leaf.room() <= 0:
		case leaf.start >= result.start && leaf.end <= result.end:
			first = append(first, leaf)
		default:
			then = append(then, leaf)
		}
	})
	var edits []edit
	need := len(doc) - max
	for _, leaves := range [][]span{first, then} {
		slices.SortStableFunc(leaves, func(a, b span) int { return cmp.Compare(b.len(), a.len()) })
		for _, leaf := range leaves {
			if need <= 0 {
				break
			}
			var e edit
			e, need = leaf.shorten(doc, need)
			edits = append(edits, e)
		}
	}
	if need > 0 {
		return wrapped(doc, max)
	}
	return splice(doc, edits)
}

// wrapped is the JSON body doc with the beginning of its data's text in place of the data.
func wrapped(doc []byte, max int) []byte {
	whole := within(doc, rawjson.Get(doc, "data"))
	if whole.empty() {
		whole = span{0, len(doc)}
	}
	const open, end = `{"_truncated":"`, Marker + `"}`
	head, tail := doc[:whole.start], doc[whole.end:]
	room := max - len(head) - len(tail) - len(open) - len(end)
	if room < 0 || whole.start == 0 {
		head, tail = []byte(`{"type":"json","data":`), []byte("}")
		room = max - len(head) - len(tail) - len(open) - len(end)
	}
	out := make([]byte, 0, max)
	out = append(append(out, head...), open...)
	out = appendText(out, whole.of(doc), room)
	return append(append(out, end...), tail...)
}

// appendText appends the beginning of the JSON text t as the inside of a string of at most room bytes. It ends at the
// end of a character of what t says: an escape of t stays whole.
func appendText(dst, t []byte, room int) []byte {
	for i := 0; i < len(t); {
		n := 1
		switch c := t[i]; {
		case c == '\\':
			n = escapeLen(t[i:])
		case c >= utf8.RuneSelf:
			_, n = utf8.DecodeRune(t[i:])
		}
		size := n // and a backslash for each quote and backslash, of which what only looks like an escape may hold more
		for _, c := range t[i : i+n] {
			if c == '"' || c == '\\' {
				size++
			}
		}
		if size > room {
			break
		}
		for _, c := range t[i : i+n] {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
		i, room = i+n, room-size
	}
	return dst
}

// shortest is the JSON text b without white space and with every string in its shortest spelling.
func shortest(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			e, _ := rawjson.StringEnd(b, i)
			if s := b[i:e]; plain(s) {
				out = append(out, s...)
			} else {
				out = rawjson.AppendString(out, rawjson.Unquote(s))
			}
			i = e
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// plain tells whether the string s is in its shortest spelling already.
func plain(s []byte) bool {
	for i := 0; ; {
		next := bytes.IndexByte(s[i:], '\\')
		if next < 0 {
			return utf8.Valid(s)
		}
		if i += next; i+1 == len(s) || bytes.IndexByte([]byte(`"\nrtbf`), s[i+1]) < 0 {
			return false
		}
		i += 2
	}
}
