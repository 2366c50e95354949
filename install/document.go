package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

const (
	maxFile  = 8 << 20 // bytes; a configuration file beyond this is not one
	maxDepth = 500     // nesting; the parser recurses
	bom      = "\ufeff"
)

// A syntaxError says where a file stops being what Kiro expects there.
type syntaxError struct {
	line int // 1-based; 0 where no line is to blame
	why  string
}

func (e *syntaxError) Error() string { return e.why }

// A document is the text of one JSON file, with comments and trailing commas allowed, and its syntax tree. Its methods
// change the text by splicing bytes in and out, so that whatever they do not mention stays as it was written.
type document struct {
	text []byte // without the byte order mark
	mark bool   // the file began with one
	root hujson.Value
	look style
}

// parse reads a file whose outermost value has to be an object.
func parse(b []byte) (*document, error) {
	d := &document{}
	d.text, d.mark = bytes.CutPrefix(b, []byte(bom))
	switch {
	case len(b) > maxFile:
		return nil, &syntaxError{0, "is larger than 8 MiB"}
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}), bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return nil, &syntaxError{1, "is UTF-16, not UTF-8"}
	case bytes.IndexByte(b, 0) >= 0:
		return nil, &syntaxError{1 + bytes.Count(b[:bytes.IndexByte(b, 0)], []byte("\n")), "holds NUL bytes, so it is not JSON text"}
	case len(bytes.TrimSpace(d.text)) == 0:
		return nil, &syntaxError{1, "is empty"}
	case tooDeep(d.text):
		return nil, &syntaxError{0, "is nested too deeply"}
	}
	if err := d.reparse(); err != nil {
		return nil, err
	}
	if _, ok := d.root.Value.(*hujson.Object); !ok {
		return nil, &syntaxError{line(d.text, d.root.StartOffset), "holds " + kindName(d.root) + " where an object is expected"}
	}
	d.look = styleOf(d)
	return d, nil
}

func (d *document) reparse() error {
	root, err := hujson.Parse(d.text)
	if err != nil {
		s := strings.TrimPrefix(err.Error(), "hujson: ")
		var l, c int
		if n, _ := fmt.Sscanf(s, "line %d, column %d:", &l, &c); n == 2 {
			_, s, _ = strings.Cut(s, ": ")
		}
		return &syntaxError{l, "does not parse: " + s}
	}
	d.root = root
	return nil
}

// bytes is the file as it is to be written.
func (d *document) bytes() []byte {
	if d.mark {
		return append([]byte(bom), d.text...)
	}
	return slices.Clone(d.text)
}

// A splice replaces text[at:end] by ins.
type splice struct {
	at, end int
	ins     string
}

// change applies splices, which must not overlap, and parses the result.
func (d *document) change(s ...splice) error {
	slices.SortStableFunc(s, func(a, b splice) int { return a.at - b.at })
	var out []byte
	from := 0
	for _, x := range s {
		if x.at < from || x.end < x.at || x.end > len(d.text) {
			return errors.New("edits overlap")
		}
		out = append(append(out, d.text[from:x.at]...), x.ins...)
		from = x.end
	}
	old := d.text
	d.text = append(out, d.text[from:]...)
	if err := d.reparse(); err != nil {
		d.text = old
		_ = d.reparse()
		return fmt.Errorf("the edited text %w", err)
	}
	return nil
}

// find is the value at a path of object keys, nil where there is none.
func (d *document) find(path ...string) *hujson.Value {
	v := &d.root
	for _, k := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		i := memberIndex(o, k)
		if i < 0 {
			return nil
		}
		v = &o.Members[i].Value
	}
	return v
}

// twice is the first key on the path that its object holds more than once. Which one counts is up to the reader, so
// such a file is nothing to edit.
func (d *document) twice(path ...string) string {
	v := &d.root
	for _, k := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return ""
		}
		i := memberIndex(o, k)
		if i < 0 {
			return ""
		}
		for j := range i {
			if keyOf(o, j) == k {
				return k
			}
		}
		v = &o.Members[i].Value
	}
	return ""
}

// memberIndex is the last member of that name, -1 if there is none.
func memberIndex(o *hujson.Object, key string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if keyOf(o, i) == key {
			return i
		}
	}
	return -1
}

func keyOf(o *hujson.Object, i int) string {
	l, _ := o.Members[i].Name.Value.(hujson.Literal)
	return l.String()
}

// stringAt is the member key of object v if it is a string.
func stringAt(v hujson.Value, key string) (string, bool) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return "", false
	}
	i := memberIndex(o, key)
	if i < 0 {
		return "", false
	}
	l, ok := o.Members[i].Value.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return "", false
	}
	return l.String(), true
}

func isNull(v hujson.Value) bool { return v.Value.Kind() == 'n' }

func kindName(v hujson.Value) string {
	switch v.Value.Kind() {
	case 'n':
		return "null"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	}
	return "true or false"
}

func line(text []byte, offset int) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }

// tooDeep counts brackets outside strings. Brackets in comments count too, which only ever errs to caution.
func tooDeep(b []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted && c == '\n':
			quoted = false // an apostrophe of a comment, or a torn string
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// items gives the places of a composite's children: names for an object, elements for an array.
func items(v *hujson.Value) (c children) {
	switch x := v.Value.(type) {
	case *hujson.Object:
		c.after = x.AfterExtra
		for i := range x.Members {
			m := &x.Members[i]
			c.items = append(c.items, item{m.Name.StartOffset, &m.Value})
		}
	case *hujson.Array:
		c.after = x.AfterExtra
		for i := range x.Elements {
			c.items = append(c.items, item{x.Elements[i].StartOffset, &x.Elements[i]})
		}
	}
	c.open, c.close = v.StartOffset+1, v.EndOffset-1
	return c
}

type item struct {
	start int // of the name or the element
	value *hujson.Value
}

// children describes the inside of one object or array.
type children struct {
	items       []item
	after       hujson.Extra // what stands before the closing bracket, behind a trailing comma if there is one
	open, close int          // behind the opening bracket; at the closing one
}

// comma is the offset of the comma behind child i, -1 where there is none.
func (c children) comma(i int) int {
	v := c.items[i].value
	if i == len(c.items)-1 && v.AfterExtra == nil {
		return -1
	}
	return v.EndOffset + len(v.AfterExtra)
}
