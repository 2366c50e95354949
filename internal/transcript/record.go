package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"kiro-learn/internal/rawjson"
)

// role is what a record of a session file means to us.
type role int

const (
	roleNone      role = iota
	roleUser           // typed by the user, begins a turn
	roleMade           // a user message that Kiro made itself, such as a workflow's notice
	roleSteer          // typed by the user into a running turn
	roleAssistant      // what the user reads of the agent
	roleStart          // a turn begins
	roleEnd            // a turn has ended
)

// message is one record that matters.
type message struct {
	role role
	text string
	mark string // another one for each record of a session

	closing bool // an assistant's message that calls no tool, where that says that the turn ends with it
}

// parse reads one line of a session file; ok is false for records that do not matter and for what is no record. What a
// record is shows without decoding it, so that tool results, by far the largest, cost little.
func parse(line []byte, offset int64) (m message, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return message{}, false
	}
	if kind := scalar(rawjson.Get(line, "kind")); kind != "" {
		if kind != "Prompt" && kind != "AssistantMessage" || !json.Valid(line) {
			return message{}, false
		}
		data := rawjson.Get(line, "data")
		m = parseCLI(kind, data)
		m.mark = mark(rawjson.Get(data, "message_id"), rawjson.Get(rawjson.Get(data, "meta"), "timestamp"), offset)
		return m, m.role != roleNone
	}
	inner := line
	if p := rawjson.Get(line, "payload"); rawjson.IsObject(p) {
		inner = p
	}
	switch scalar(rawjson.Get(inner, "type")) {
	case "user", "assistant", "turn_start", "turn_end":
	default:
		return message{}, false
	}
	if !json.Valid(line) {
		return message{}, false
	}
	m = parseStandalone(inner)
	m.mark = mark(rawjson.Get(line, "id"), rawjson.Get(line, "timestamp"), offset)
	return m, m.role != roleNone
}

// mark names a record by its id and time, so that it stays the same when the file is written anew, and by its place in
// the file when it has no id.
func mark(id, timestamp []byte, offset int64) string {
	if s := scalar(id); s != "" {
		return s + "@" + scalar(timestamp)
	}
	return fmt.Sprintf("%d@%s", offset, scalar(timestamp))
}

// parseStandalone reads a record of CLI 3 and IDE 1: {"type":"user"|"assistant"|"turn_start"|"turn_end",…}.
func parseStandalone(b []byte) (m message) {
	switch scalar(rawjson.Get(b, "type")) {
	case "user":
		m.role = roleUser
		if synthetic(b) {
			m.role = roleMade
		} else if scalar(rawjson.Get(b, "source")) == "steer" {
			m.role = roleSteer
		}
	case "assistant":
		if op := scalar(rawjson.Get(b, "operationType")); op != "" && op != "Say" {
			return message{}
		}
		m.role = roleAssistant
	case "turn_start":
		return message{role: roleStart}
	case "turn_end":
		return message{role: roleEnd}
	default:
		return message{}
	}
	m.text = content(rawjson.Get(b, "content"))
	if strings.TrimSpace(m.text) == "" {
		return message{}
	}
	return m
}

// synthetic tells whether Kiro made a user's message itself.
func synthetic(b []byte) bool {
	reason := rawjson.Get(rawjson.Get(rawjson.Get(b, "_meta"), "kiro"), "syntheticUserMessageReason")
	return len(reason) > 0 && string(reason) != "null" && string(reason) != `""` && string(reason) != "false"
}

// parseCLI reads a record of the CLI's engine 2: {"kind":"Prompt"|"AssistantMessage","data":{"message_id","content","meta"}}.
func parseCLI(kind string, data []byte) (m message) {
	switch kind {
	case "Prompt":
		m.role = roleUser
	case "AssistantMessage":
		m.role = roleAssistant
		m.closing = !bytes.Contains(data, []byte(`"toolUse"`))
	default:
		return message{}
	}
	m.text = content(rawjson.Get(data, "content"))
	if strings.TrimSpace(m.text) == "" {
		return message{}
	}
	return m
}

// content is the text of a message: a string, or a list of parts of which those with text are joined by a line. Parts of
// thinking, and parts that name another kind than text, are left out.
func content(v []byte) string {
	if rawjson.IsString(v) {
		return rawjson.Unquote(v)
	}
	var parts []string
	rawjson.Elements(v, func(part []byte) bool {
		if rawjson.IsString(part) {
			parts = append(parts, rawjson.Unquote(part))
			return true
		}
		kind := scalar(rawjson.Get(part, "kind"))
		if kind == "" {
			kind = scalar(rawjson.Get(part, "type"))
		}
		if kind != "" && kind != "text" {
			return true
		}
		for _, key := range [...]string{"data", "text", "content"} {
			if t := rawjson.Get(part, key); rawjson.IsString(t) {
				parts = append(parts, rawjson.Unquote(t))
				break
			}
		}
		return true
	})
	return strings.Join(parts, "\n")
}

// scalar is a string's text, a number or a word as it stands, nothing for anything else.
func scalar(v []byte) string {
	if rawjson.IsString(v) {
		return rawjson.Unquote(v)
	}
	if len(v) == 0 || v[0] == '{' || v[0] == '[' || string(v) == "null" {
		return ""
	}
	return string(v)
}
