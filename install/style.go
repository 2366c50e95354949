package install

import (
	"bytes"
	"strconv"
	"strings"

	"kiro-learn/internal/rawjson"

	"github.com/tailscale/hujson"
)

// A style is how a file is written, so that what is added looks as if its owner had typed it.
type style struct {
	newline string // "\n" or "\r\n"
	unit    string // one level of indentation
	colon   string // ":" or ": "
	comma   string // "," or ", " between values on one line
	pad     string // "" or " " inside the braces of an object on one line
}

// A layout places one value: on one line, or over several of which the first is already indented by indent.
type layout struct {
	inline bool
	indent string
}

// object and list are the little JSON that is written: keys in order, values string, int, bool, object or list.
type (
	object []member
	member struct {
		key   string
		value any
	}
	list []any
)

func defaultStyle() style { return style{newline: "\n", unit: "  ", colon: ": ", comma: ", "} }

// styleOf looks at the first things in the document that show a habit.
func styleOf(d *document) style {
	s := defaultStyle()
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	root, _ := d.root.Value.(*hujson.Object)
	if root == nil || len(root.Members) == 0 {
		return s
	}
	if len(root.Members[0].Value.BeforeExtra) == 0 {
		s.colon = ":"
		s.comma = ","
	}
	if gap, ok := inlineGap(&d.root); ok {
		s.comma = "," + gap
	}
	s.pad = inlinePad(d)
	if own, ok := d.lineIndent(root.Members[0].Name.StartOffset); ok {
		outer, _ := d.lineIndent(d.root.StartOffset)
		if unit, ok := strings.CutPrefix(own, outer); ok {
			s.unit = unit
		}
	}
	return s
}

// inlineGap finds two neighbours on one line and gives the blanks behind the comma between them.
func inlineGap(root *hujson.Value) (string, bool) {
	for v := range root.All() {
		c := items(v)
		for i := 1; i < len(c.items); i++ {
			comma := c.comma(i - 1)
			var extra hujson.Extra
			switch x := v.Value.(type) {
			case *hujson.Object:
				extra = x.Members[i].Name.BeforeExtra
			case *hujson.Array:
				extra = x.Elements[i].BeforeExtra
			}
			if comma >= 0 && len(extra) <= 1 && strings.Trim(string(extra), " ") == "" {
				return string(extra), true
			}
		}
	}
	return "", false
}

// inlinePad is the blank that the first object on one line has behind its brace.
func inlinePad(d *document) string {
	for v := range d.root.All() {
		if o, ok := v.Value.(*hujson.Object); ok && len(o.Members) > 0 && bytes.IndexByte(d.text[v.StartOffset:v.EndOffset], '\n') < 0 {
			if string(o.Members[0].Name.BeforeExtra) == " " {
				return " "
			}
			return ""
		}
	}
	return ""
}

// lineIndent is the white space that begins the line of offset; ok tells that nothing else stands before offset.
func (d *document) lineIndent(offset int) (indent string, ok bool) {
	start := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	end := start
	for end < offset && (d.text[end] == ' ' || d.text[end] == '\t') {
		end++
	}
	return string(d.text[start:end]), end == offset
}

// childLayout says how a new child of v is placed. name is where v's own key begins, or v itself without a key.
func (d *document) childLayout(v *hujson.Value, name int) layout {
	c := items(v)
	if n := len(c.items); n > 0 {
		indent, own := d.lineIndent(c.items[n-1].start)
		return layout{inline: !own, indent: indent}
	}
	indent, own := d.lineIndent(name)
	return layout{inline: !own, indent: indent + d.look.unit}
}

// valueLayout says how a value placed by l is written inside: as its last neighbour is, or over several lines.
func (d *document) valueLayout(v *hujson.Value, l layout) layout {
	if l.inline {
		return l
	}
	c := items(v)
	if n := len(c.items); n > 0 {
		last := c.items[n-1].value
		if k := last.Value.Kind(); k == '{' || k == '[' {
			inner := items(last)
			l.inline = len(inner.items) > 0 && bytes.IndexByte(d.text[last.StartOffset:last.EndOffset], '\n') < 0
		}
	}
	return l
}

// render writes v in the style, placed by l.
func (s style) render(v any, l layout) string {
	var b strings.Builder
	s.write(&b, v, l)
	return b.String()
}

func (s style) write(b *strings.Builder, v any, l layout) {
	switch x := v.(type) {
	case string:
		b.Write(rawjson.AppendString(nil, x))
	case int:
		b.WriteString(strconv.Itoa(x))
	case bool:
		b.WriteString(strconv.FormatBool(x))
	case list:
		// a list of plain strings is short enough for one line
		inner := layout{inline: l.inline || allStrings(x), indent: l.indent}
		s.group(b, '[', ']', len(x), inner, func(i int, l layout) { s.write(b, x[i], l) })
	case object:
		s.group(b, '{', '}', len(x), l, func(i int, l layout) {
			b.WriteString(s.render(x[i].key, l) + s.colon)
			s.write(b, x[i].value, l)
		})
	}
}

func (s style) group(b *strings.Builder, open, end byte, n int, l layout, child func(i int, l layout)) {
	b.WriteByte(open)
	pad := ""
	if open == '{' && l.inline && n > 0 {
		pad = s.pad
	}
	b.WriteString(pad)
	inner := layout{inline: l.inline, indent: l.indent + s.unit}
	for i := range n {
		switch {
		case !l.inline:
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(s.newline + inner.indent)
		case i > 0:
			b.WriteString(s.comma)
		}
		child(i, inner)
	}
	if n > 0 && !l.inline {
		b.WriteString(s.newline + l.indent)
	}
	b.WriteString(pad)
	b.WriteByte(end)
}

func allStrings(l list) bool {
	for _, v := range l {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}
