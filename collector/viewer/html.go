package viewer

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// html is markup that is safe to send. Only this file makes it of text that is not written in our source, and escapes
// that text: every string that is stored is taken to be hostile. A test holds the other files to it.
type html string

// attr is an attribute; its value is escaped when it is written.
type attr struct{ name, value string }

func at(name, value string) attr { return attr{name, value} }

// on is an attribute that stands alone if a condition holds.
func on(name string, set bool) attr {
	if !set {
		return attr{}
	}
	return attr{name, ""}
}

func href(url string) attr { return attr{"href", url} }

// el is an element: its tag with classes, as in "a.button.small", its attributes and what is in it. Strings and numbers
// are escaped, html is not.
func el(tag string, kids ...any) html {
	var b strings.Builder
	name, classes, _ := strings.Cut(tag, ".")
	b.WriteString("<" + name)
	if classes != "" {
		b.WriteString(` class="` + strings.ReplaceAll(classes, ".", " ") + `"`)
	}
	for _, k := range kids {
		switch a := k.(type) {
		case attr:
			a.write(&b)
		case []attr:
			for _, x := range a {
				x.write(&b)
			}
		}
	}
	b.WriteByte('>')
	if void(name) {
		return html(b.String())
	}
	for _, k := range kids {
		write(&b, k)
	}
	b.WriteString("</" + name + ">")
	return html(b.String())
}

func void(name string) bool {
	switch name {
	case "meta", "link", "input", "br", "hr", "img":
		return true
	}
	return false
}

func (a attr) write(b *strings.Builder) {
	if a.name == "" {
		return
	}
	b.WriteString(" " + a.name)
	b.WriteString(`="`)
	escape(b, a.value)
	b.WriteByte('"')
}

// all are pieces of markup and text, one after the other.
func all(kids ...any) html {
	var b strings.Builder
	for _, k := range kids {
		write(&b, k)
	}
	return html(b.String())
}

// each is what f makes of each of items.
func each[T any](items []T, f func(*T) html) html {
	var b strings.Builder
	for i := range items {
		b.WriteString(string(f(&items[i])))
	}
	return html(b.String())
}

// when is what f makes if a condition holds, else nothing.
func when(cond bool, f func() html) html {
	if !cond {
		return ""
	}
	return f()
}

func write(b *strings.Builder, k any) {
	switch v := k.(type) {
	case html:
		b.WriteString(string(v))
	case string:
		escape(b, v)
	case int:
		b.WriteString(strconv.Itoa(v))
	}
}

// escape writes text so that a browser reads it as text, between tags and in quoted attributes. What cannot be seen and
// could turn the text around it is shown as a replacement character.
func escape(b *strings.Builder, s string) {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '<':
				b.WriteString("&lt;")
			case c == '>':
				b.WriteString("&gt;")
			case c == '&':
				b.WriteString("&amp;")
			case c == '"':
				b.WriteString("&#34;")
			case c == '\'':
				b.WriteString("&#39;")
			case c == '\r':
			case c < 0x20 && c != '\n' && c != '\t' || c == 0x7f:
				b.WriteRune(utf8.RuneError)
			default:
				b.WriteByte(c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
}
