package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"kiro-learn/internal/event"
)

type argKind int

const (
	textArg   argKind = iota
	listArg           // of texts
	numberArg         // whole
	choiceArg
	sinceArg // a time, as a span back from now or a day
)

// arg is one argument of a tool: what its schema says and what is checked are made of the same fields.
type arg struct {
	name     string
	kind     argKind
	about    string
	required bool
	empty    bool // a text may be empty
	max      int  // characters of a text or of each entry of a list; 0: any number
	entries  int  // of a list, at most
	low      int  // of a number
	high     int
	standard int // of a number that is not given
	choices  []string
}

// schema is the JSON Schema of an argument list, its properties in the list's order: a model fills them in as they come.
func schema(args []arg) json.RawMessage {
	var b bytes.Buffer
	put := func(v any) {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // strings, numbers and lists of them cannot fail
		b.Truncate(b.Len() - 1)
	}
	required := []string{}
	b.WriteString(`{"type":"object","properties":{`)
	for i, a := range args {
		if i > 0 {
			b.WriteByte(',')
		}
		put(a.name)
		b.WriteByte(':')
		put(a.schema())
		if a.required {
			required = append(required, a.name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 { // early drafts forbid an empty list
		b.WriteString(`,"required":`)
		put(required)
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

func (a arg) schema() map[string]any {
	p := map[string]any{"description": a.about}
	text := func(m map[string]any) map[string]any {
		m["type"] = "string"
		if !a.empty {
			m["minLength"] = 1
		}
		if a.max > 0 {
			m["maxLength"] = a.max
		}
		return m
	}
	switch a.kind {
	case textArg:
		text(p)
	case listArg:
		p["type"], p["items"] = "array", text(map[string]any{})
		if a.entries > 0 {
			p["maxItems"] = a.entries
		}
	case numberArg:
		p["type"], p["minimum"], p["maximum"], p["default"] = "integer", a.low, a.high, a.standard
	case choiceArg:
		p["type"], p["enum"] = "string", a.choices
	case sinceArg:
		p["type"] = "string"
	}
	return p
}

// values are the arguments of one call, checked.
type values struct {
	texts   map[string]string
	lists   map[string][]string
	numbers map[string]int
	since   time.Time
}

// parse checks a call's arguments. The error says all that is wrong, each in a sentence that names the argument, so that
// a model can do better the next time. It quotes no text.
func parse(args []arg, raw json.RawMessage, now time.Time) (values, error) {
	v := values{texts: map[string]string{}, lists: map[string][]string{}, numbers: map[string]int{}}
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return v, errors.New("the arguments must be a JSON object")
		}
	}
	var wrong []string
	for _, a := range args {
		value, ok := given[a.name]
		delete(given, a.name)
		if !ok || string(value) == "null" {
			if a.required {
				wrong = append(wrong, a.name+" is missing: it is required and must be "+a.shape())
			}
			v.numbers[a.name] = a.standard
			continue
		}
		if err := v.take(a, value, now); err != "" {
			wrong = append(wrong, a.name+" "+err)
		}
	}
	for _, name := range sortedKeys(given) {
		names := make([]string, len(args))
		for i, a := range args {
			names[i] = a.name
		}
		wrong = append(wrong, fmt.Sprintf("%q is not an argument: there are %s", event.CutChars(plain(name), 50), strings.Join(names, ", ")))
	}
	if len(wrong) > 0 {
		return v, errors.New(strings.Join(wrong, "; "))
	}
	return v, nil
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (a arg) shape() string {
	switch a.kind {
	case listArg:
		return "a list of strings"
	case numberArg:
		return fmt.Sprintf("a whole number from %d to %d", a.low, a.high)
	case choiceArg:
		return "one of: " + strings.Join(a.choices, ", ")
	case sinceArg:
		return "a span such as 12h or 30d, or a day such as 2026-01-31"
	}
	return "a string"
}

// take checks one value and keeps it; what it gives is what is wrong.
func (v *values) take(a arg, raw json.RawMessage, now time.Time) string {
	var s string
	switch a.kind {
	case listArg:
		return v.takeList(a, raw)
	case numberArg:
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != float64(int(f)) || int(f) < a.low || int(f) > a.high {
			return "must be " + a.shape()
		}
		v.numbers[a.name] = int(f)
		return ""
	}
	if json.Unmarshal(raw, &s) != nil {
		return "must be " + a.shape()
	}
	s = strings.TrimSpace(plain(s))
	switch a.kind {
	case choiceArg:
		if !slices.Contains(a.choices, s) {
			return "must be " + a.shape()
		}
	case sinceArg:
		t, ok := since(s, now)
		if !ok {
			return "must be " + a.shape()
		}
		v.since = t
	default:
		if s == "" && !a.empty {
			return "must not be empty"
		}
		if n := utf8.RuneCountInString(s); a.max > 0 && n > a.max {
			return fmt.Sprintf("has %d characters, at most %d are allowed: say it in fewer", n, a.max)
		}
	}
	v.texts[a.name] = s
	return ""
}

func (v *values) takeList(a arg, raw json.RawMessage) string {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return "must be a list of strings"
	}
	if a.entries > 0 && len(list) > a.entries {
		return fmt.Sprintf("has %d entries, at most %d are allowed: keep those that matter", len(list), a.entries)
	}
	out := make([]string, 0, len(list))
	for i, s := range list {
		s = strings.TrimSpace(plain(s))
		if n := utf8.RuneCountInString(s); n > a.max {
			return fmt.Sprintf("has %d characters in entry %d, at most %d are allowed: say it in fewer", n, i+1, a.max)
		}
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	v.lists[a.name] = out
	return ""
}

// since reads a span back from now, as 12h or 30d, or a day or time.
func since(s string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, true
		}
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		return now.AddDate(0, 0, -n), err == nil && n > 0 && n < 100_000
	}
	d, err := time.ParseDuration(s)
	return now.Add(-d), err == nil && d > 0
}

// plain is text without control characters: lines and tabs stay.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
