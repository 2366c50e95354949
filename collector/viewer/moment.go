package viewer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

const (
	lineChars = 160  // of a text in one line
	textChars = 4000 // of a text that is shown whole
)

// moment is an event as a page shows it.
type moment struct {
	id, parent string
	kind       string // of the event; "saved" for a note in which an agent saved a record
	namespace  string
	session    string
	project    string // path
	surface    string
	at         time.Time
	text       string
	tool       string
	input      string // in one line
	whole      string // the input, whole
	result     string
	record     string // id of the record that was saved
}

func newMoment(e *event.Event) moment {
	m := moment{id: e.EventID, parent: e.ParentEventID, kind: string(e.Kind), namespace: e.Namespace, session: e.SessionID, project: e.Source.ProjectPath, surface: e.Source.Surface}
	m.at, _ = time.Parse(time.RFC3339Nano, e.ValidTime) // the zero time says that there is none
	b, err := event.ParseBody(e.Body)
	if err != nil {
		return m
	}
	m.text = b.Text()
	switch saved := e.Saved(); {
	case saved != nil:
		m.kind, m.text, m.record = "saved", saved.Record.Title, saved.Record.RecordID
	case e.Kind == event.KindToolUse:
		t := b.Tool()
		m.tool, m.input, m.whole, m.result = t.Name, within(m.project, telling(t.Input)), readable(t.Input), result(t.Response)
	case b.Type == event.BodyJSON:
		m.text = readable(b.Data)
	}
	return m
}

// telling is what a tool was asked to do, in one line: the one thing that says most, else all of it.
func telling(input json.RawMessage) string {
	var v any
	if json.Unmarshal(input, &v) == nil {
		if s := mostTelling(v); s != "" {
			return oneLine(s)
		}
	}
	return oneLine(readable(input))
}

// mostTelling looks for what says most in a tool's input, which may be a list of things to do.
func mostTelling(v any) string {
	switch x := v.(type) {
	case map[string]any:
		for _, name := range []string{"command", "cmd", "path", "file_path", "filePath", "query", "pattern", "url", "description"} {
			s, _ := x[name].(string)
			if p, ok := x["path"].(string); ok && s != "" && p != s { // such as a command "create" for a file
				s += " " + p
			}
			if s != "" {
				return s
			}
		}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if s := mostTelling(x[name]); s != "" {
				return s
			}
		}
	case []any:
		var all []string
		for _, e := range x[:min(len(x), 4)] {
			if s := mostTelling(e); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, ", ")
	}
	return ""
}

// within is a text in which files of the project are named by their paths in it.
func within(project, s string) string {
	if len(project) < 2 {
		return s
	}
	return strings.ReplaceAll(s, strings.TrimRight(project, `/\`)+"/", "")
}

func oneLine(s string) string { return oneLineOf(s, lineChars) }

// oneLineOf is the beginning of a text in one line.
func oneLineOf(s string, chars int) string {
	return event.CutChars(strings.Join(strings.Fields(event.CutChars(s, 4*chars)), " "), chars)
}

// readable is JSON as a person reads it: a string as its text, anything else indented.
func readable(raw json.RawMessage) string {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil || v == nil {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return ""
	}
	return unescaped(string(b))
}

// unescaped takes back what JSON escapes for the sake of HTML; the page escapes by itself.
func unescaped(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

// result is what a tool gave: the text of its result where there is one.
func result(response json.RawMessage) string {
	var r struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(response, &r) == nil && len(r.Result) > 0 {
		var parts []string
		if json.Unmarshal(r.Result, &parts) == nil {
			return strings.Join(parts, "\n")
		}
		return readable(r.Result)
	}
	return readable(response)
}

// kindNames are the kinds of things in the feed, by the names that people read.
func kindNames() [][2]string {
	return [][2]string{{"prompt", "Prompt"}, {"tool_use", "Tool use"}, {"session_summary", "Turn end"}, {"note", "Note"}, {"record", "Remembered"}}
}

func kindName(kind string) string {
	for _, k := range kindNames() {
		if k[0] == kind {
			return k[1]
		}
	}
	if kind == "saved" {
		return "Saved by agent"
	}
	return kind
}

// shown draws an event as what it is.
func (m *moment) shown() html {
	switch m.kind {
	case string(event.KindToolUse):
		return el("details.tool", el("summary", el("b", m.tool), " ", el("code", m.input)),
			when(m.whole != "" && m.whole != m.input, func() html { return all(el("h4", "Asked"), el("pre", event.CutChars(m.whole, textChars))) }),
			el("h4", "Result"), when(m.result == "", func() html { return el("p.dim", "nothing") }),
			when(m.result != "", func() html { return el("pre", event.CutChars(m.result, textChars)) }))
	case "saved":
		return el("p.text", el("a", href("/memory/"+m.record), m.text))
	}
	if m.text == "" {
		return el("p.text.dim", "without words")
	}
	if len(m.text) > 900 {
		return el("details.long", el("summary", el("span.text", event.CutChars(m.text, 420))), el("p.text", event.CutChars(m.text, textChars)))
	}
	return el("p.text", m.text)
}
