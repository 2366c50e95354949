package install

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// addMember adds a member behind the last one of the object at path.
func (d *document) addMember(path []string, key string, v any) error {
	return d.addMemberTo(d.find(path...), d.nameStart(path), key, v)
}

// addMemberTo is addMember to an object whose own key, or itself without one, begins at name.
func (d *document) addMemberTo(o *hujson.Value, name int, key string, v any) error {
	return d.add(o, name, func(l, inner layout) string {
		return d.look.render(key, l) + d.look.colon + d.look.render(v, inner)
	})
}

// addElement adds an element behind the last one of the array at path.
func (d *document) addElement(path []string, v any) error {
	return d.add(d.find(path...), d.nameStart(path), func(_, inner layout) string { return d.look.render(v, inner) })
}

func (d *document) add(v *hujson.Value, name int, text func(l, inner layout) string) error {
	l := d.childLayout(v, name)
	inner := d.valueLayout(v, l)
	c := items(v)
	if len(c.items) == 0 {
		return d.addFirst(c, l, text(l, inner))
	}
	last := len(c.items) - 1
	at, comma := c.items[last].value.EndOffset, c.comma(last)
	if comma >= 0 {
		at = comma + 1
	}
	pos, lineComment := behindComments(d.text, at, c.close)
	if l.inline && lineComment {
		l = layout{indent: l.indent}
	}
	gap := d.look.newline + l.indent
	if l.inline {
		gap = strings.TrimPrefix(d.look.comma, ",")
	}
	if comma >= 0 {
		return d.change(splice{pos, pos, gap + text(l, inner) + ","})
	}
	return d.change(splice{at, at, ","}, splice{pos, pos, gap + text(l, inner)})
}

// addFirst fills an empty object or array.
func (d *document) addFirst(c children, l layout, text string) error {
	pos := c.open
	lineComment := false
	for at := c.open; at < c.close; { // behind the comments it may hold, on whatever line
		next, isLine := behindComments(d.text, at, c.close)
		if next > at {
			pos, lineComment = next, isLine
		}
		at = max(next, at) + 1
	}
	if l.inline && !lineComment {
		return d.change(splice{pos, pos, text})
	}
	text = d.look.newline + l.indent + text
	if blanks := d.text[c.open:c.close]; len(bytes.Trim(blanks, " \t")) == 0 {
		return d.change(splice{c.open, c.close, text + d.look.newline + strings.TrimSuffix(l.indent, d.look.unit)})
	}
	if bytes.IndexByte(d.text[pos:c.close], '\n') < 0 {
		text += d.look.newline + strings.TrimSuffix(l.indent, d.look.unit)
	}
	return d.change(splice{pos, pos, text})
}

// behindComments is the offset behind the comments that follow at on the same line; at itself when there are none. A
// line comment, which must be the last, ends before its line break.
func behindComments(text []byte, at, end int) (pos int, lineComment bool) {
	pos = at
	for i := at; i < end; {
		switch rest := text[i:end]; {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return pos, false
			}
			i += n + 4
			pos = i
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				return pos, false
			}
			return i + len(bytes.TrimRight(rest[:n], "\r")), true
		default:
			return pos, false
		}
	}
	return pos, false
}

// nameStart is where the member at path begins, the value itself for the root.
func (d *document) nameStart(path []string) int {
	if len(path) == 0 {
		return d.root.StartOffset
	}
	o, _ := d.find(path[:len(path)-1]...).Value.(*hujson.Object)
	return o.Members[memberIndex(o, path[len(path)-1])].Name.StartOffset
}

// replace puts new text in the place of a value.
func (d *document) replace(v *hujson.Value, text string) error {
	return d.change(splice{v.StartOffset, v.EndOffset, text})
}

// removeChild takes child i out of v together with the comma and the line that it brought. Comments stay.
func (d *document) removeChild(v *hujson.Value, i int) error {
	c := items(v)
	start, end := c.items[i].start, c.items[i].value.EndOffset
	lead, own := d.lead(start)
	comma := c.comma(i)
	switch {
	case comma < 0:
		cut := splice{d.keepBreak(c, i, lead, end), end, ""}
		if i == 0 {
			return d.change(cut)
		}
		before := c.comma(i - 1)
		return d.change(splice{before, before + 1, ""}, cut)
	case !blank(d.text[end:comma]):
		return d.change(splice{d.keepBreak(c, i, lead, end), end, ""}, splice{comma, comma + 1, ""})
	case !own && i == 0 && len(c.items) > 1 && blank(d.text[comma+1:c.items[1].start]):
		return d.change(splice{start, c.items[1].start, ""})
	}
	return d.change(splice{d.keepBreak(c, i, lead, comma+1), comma + 1, ""})
}

// keepBreak moves the beginning of a cut behind the line break that lead stands at, where that has to go on ending a
// line comment.
func (d *document) keepBreak(c children, i, lead, end int) int {
	from := c.open
	if i > 0 {
		from = c.comma(i-1) + 1
	}
	follows := end < len(d.text) && (d.text[end] == '\r' || d.text[end] == '\n')
	if follows || lead < from || !endsInLineComment(d.text[from:lead]) {
		return lead
	}
	return lead + bytes.IndexByte(d.text[lead:end], '\n') + 1 // only a line break can end it
}

// lead is where the blanks before start begin, the line break included if only blanks follow it.
func (d *document) lead(start int) (at int, ownLine bool) {
	at = start
	for at > 0 && (d.text[at-1] == ' ' || d.text[at-1] == '\t') {
		at--
	}
	if at == 0 || d.text[at-1] != '\n' {
		return at, false
	}
	at--
	if at > 0 && d.text[at-1] == '\r' {
		at--
	}
	return at, true
}

// endsInLineComment tells whether a piece of text between tokens breaks off inside a line comment.
func endsInLineComment(extra []byte) bool {
	for i := 0; i < len(extra); i++ {
		switch rest := extra[i:]; {
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return false
			}
			i += n + 3
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				return true
			}
			i += n
		}
	}
	return false
}

func blank(b []byte) bool { return len(bytes.TrimLeft(b, " \t\r\n")) == 0 }

// comments is the concatenation of the comments in a piece of text between tokens.
func comments(extra []byte) string {
	var out []byte
	for i := 0; i < len(extra); {
		switch rest := extra[i:]; {
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return string(out)
			}
			out = append(out, rest[:n+4]...)
			i += n + 4
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			out = append(out, bytes.TrimRight(rest[:n], "\r")...)
			i += n
		default:
			i++
		}
	}
	return string(out)
}

// before remembers what a container was before entries of ours went in, by its path joined with "/" ("" for the whole
// document): its text, or nil where it did not exist. It holds only containers that had no children, since those alone cannot be told from the
// edited text.
type before map[string]*string

// noteEmpty notes in mem what a document without members looks like.
func (d *document) noteEmpty(mem before) {
	if len(items(&d.root).items) == 0 {
		was := string(d.text[d.root.StartOffset:d.root.EndOffset])
		mem[""] = &was
	}
}

// openContainer makes sure that path is a container of the kind ('{' or '['), and notes in mem what was there if it
// had no children.
func (d *document) openContainer(path []string, kind hujson.Kind, mem before) error {
	d.noteEmpty(mem)
	for n := 1; n <= len(path); n++ {
		k := hujson.Kind('{')
		if n == len(path) {
			k = kind
		}
		if err := d.openOne(path[:n], k, mem); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) openOne(path []string, kind hujson.Kind, mem before) error {
	name := strings.Join(path, "/")
	if k := d.twice(path...); k != "" {
		return &syntaxError{line(d.text, d.nameStart(path)), "holds the key " + k + " twice"}
	}
	var empty any = object{}
	if kind == '[' {
		empty = list{}
	}
	v := d.find(path...)
	switch {
	case v == nil:
		mem[name] = nil
		return d.addMember(path[:len(path)-1], path[len(path)-1], empty)
	case isNull(*v):
		was := "null"
		mem[name] = &was
		return d.replace(v, d.look.render(empty, layout{inline: true}))
	case v.Value.Kind() != kind:
		want := "an object"
		if kind == '[' {
			want = "a list"
		}
		return &syntaxError{line(d.text, v.StartOffset), strings.Join(path, ".") + " is " + kindName(*v) + " where Kiro expects " + want}
	case len(items(v).items) == 0:
		was := string(d.text[v.StartOffset:v.EndOffset])
		mem[name] = &was
	}
	return nil
}

// closeContainers gives every emptied container in paths, innermost first, its old text back. Without memory of it an
// empty container without comments goes, since Kiro has no use for one and an earlier version of ours may have left it.
func (d *document) closeContainers(paths [][]string, mem before) error {
	slices.SortStableFunc(paths, func(a, b []string) int { return len(b) - len(a) })
	for _, path := range paths {
		v := d.find(path...)
		if v == nil || (v.Value.Kind() != '{' && v.Value.Kind() != '[') {
			continue
		}
		c := items(v)
		if len(c.items) > 0 {
			continue
		}
		was, known := mem[strings.Join(path, "/")]
		notes := comments(c.after)
		var err error
		switch {
		case known && was != nil && comments([]byte(*was)) == notes:
			err = d.replace(v, *was)
		case notes == "" && (!known || was == nil) && len(path) > 0:
			err = d.dropMember(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropMember removes the member at path from its object.
func (d *document) dropMember(path []string) error {
	parent := d.find(path[:len(path)-1]...)
	o, _ := parent.Value.(*hujson.Object)
	return d.removeChild(parent, memberIndex(o, path[len(path)-1]))
}
