package payload

import (
	"bytes"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// A field is one spelling of one thing that a payload says. Spellings of one thing stand together, the usual first.
type field uint8

const (
	fieldNone field = iota
	hookEventName
	hookEventNameCamel
	sessionID
	sessionIDCamel
	cwd
	prompt
	toolName
	toolNameCamel
	toolInput
	toolInputCamel
	toolArgs
	toolResponse
	toolResponseCamel
	toolResult
	toolSuccess
	toolSuccessSnake
	assistantResponse
	assistantResponseCamel
	lastAssistantMessage
	lastAssistantMessageCamel
	fieldCount
)

const longestKey = len("last_assistant_message")

func fieldOf(key []byte) field {
	switch string(key) {
	case "hook_event_name":
		return hookEventName
	case "hookEventName":
		return hookEventNameCamel
	case "session_id":
		return sessionID
	case "sessionId":
		return sessionIDCamel
	case "cwd":
		return cwd
	case "prompt":
		return prompt
	case "tool_name":
		return toolName
	case "toolName":
		return toolNameCamel
	case "tool_input":
		return toolInput
	case "toolInput":
		return toolInputCamel
	case "toolArgs":
		return toolArgs
	case "tool_response":
		return toolResponse
	case "toolResponse":
		return toolResponseCamel
	case "toolResult":
		return toolResult
	case "toolSuccess":
		return toolSuccess
	case "tool_success":
		return toolSuccessSnake
	case "assistant_response":
		return assistantResponse
	case "assistantResponse":
		return assistantResponseCamel
	case "last_assistant_message":
		return lastAssistantMessage
	case "lastAssistantMessage":
		return lastAssistantMessageCamel
	}
	return fieldNone
}

// torn tells whether the beginning of the field is of use when the rest never came. Half a session id is another
// session's.
func (f field) torn() bool {
	switch f {
	case prompt, toolResponse, toolResponseCamel, toolResult, assistantResponse, assistantResponseCamel,
		lastAssistantMessage, lastAssistantMessageCamel:
		return true
	}
	return false
}

// first is the first of the fields that is there and not null; without one, the null.
func (s *scanner) first(of ...field) []byte {
	var null []byte
	for _, f := range of {
		switch v := s.fields[f]; {
		case v == nil:
		case string(v) != "null":
			return v
		default:
			null = v
		}
	}
	return null
}

// speaksTo tells whether the fields hold what the hook is about.
func (s *scanner) speaksTo(h Hook) bool {
	switch h {
	case Prompt:
		return s.fields[prompt] != nil
	case Stop:
		return s.first(assistantResponse, assistantResponseCamel, lastAssistantMessage, lastAssistantMessageCamel) != nil
	}
	return s.found
}

// fill takes what the fields say into p.
func (s *scanner) fill(p *Payload) {
	p.CWD = str(s.first(cwd))
	p.SessionID = str(s.first(sessionID, sessionIDCamel))
	if v := s.first(sessionID, sessionIDCamel); len(v) > 0 && validWord(v) && (v[0] == '-' || v[0] <= '9') {
		p.SessionID = string(v)
	}
	p.Prompt, p.Turns, p.HasPrompt = conversation(s.first(prompt))
	p.Assistant, p.HasAssistant = text(s.first(assistantResponse, assistantResponseCamel, lastAssistantMessage, lastAssistantMessageCamel))
	p.ToolName = str(s.first(toolName, toolNameCamel))
	p.ToolInput = s.first(toolInput, toolInputCamel, toolArgs)
	p.ToolResponse = s.response()
	if p.ToolName == "" && p.Hook == ToolUse && s.found {
		p.ToolName = unknownTool
	}
}

// response is the tool's answer as an object: an object stays as it is, any other value is its "result". IDE 0 has
// the result and the success side by side.
func (s *scanner) response() []byte {
	v, success := s.first(toolResponse, toolResponseCamel, toolResult), s.first(toolSuccess, toolSuccessSnake)
	if rawjson.IsObject(v) && (s.first(toolResponse, toolResponseCamel) != nil || shapedLikeResponse(v)) {
		return v
	}
	if v == nil && success == nil {
		return nil
	}
	out := make([]byte, 0, len(v)+len(success)+len(`{"result":,"success":}`))
	out = append(out, '{')
	if v != nil {
		out = append(append(out, `"result":`...), v...)
	}
	if success != nil {
		if v != nil {
			out = append(out, ',')
		}
		out = append(append(out, `"success":`...), success...)
	}
	return append(out, '}')
}

// shapedLikeResponse tells whether the object has the members by which the CLI's tool responses are known.
func shapedLikeResponse(object []byte) bool {
	found := false
	rawjson.Members(object, func(key string, _ []byte) bool {
		found = key == "result" || key == "success" || key == "items"
		return !found
	})
	return found
}

// str is the text of a JSON string, and nothing for any other value.
func str(v []byte) string {
	if !rawjson.IsString(v) {
		return ""
	}
	return rawjson.Unquote(v)
}

// text is a value as text: a string, the texts of a list of parts, or else the JSON itself. Null is no text.
func text(v []byte) (string, bool) {
	switch {
	case v == nil || string(v) == "null":
		return "", false
	case rawjson.IsString(v):
		return rawjson.Unquote(v), true
	case v[0] == '[':
		if t, ok := parts(v); ok {
			return t, true
		}
	}
	return string(v), true
}

// parts joins the texts of a list of strings and objects with a "text"; false when the list holds anything else.
func parts(list []byte) (string, bool) {
	var b bytes.Buffer
	ok := true
	rawjson.Elements(list, func(v []byte) bool {
		if rawjson.IsObject(v) {
			v = rawjson.Get(v, "text")
		}
		if ok = rawjson.IsString(v); ok {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(rawjson.Unquote(v))
		}
		return ok
	})
	return b.String(), ok && b.Len() > 0
}

// conversation reads the value of a prompt: a text, or a list of turns, of which the last one of the user is the text.
func conversation(v []byte) (prompt string, turns []event.Turn, ok bool) {
	if len(v) == 0 || v[0] != '[' {
		prompt, ok = text(v)
		return prompt, nil, ok
	}
	if string(v) == "[]" {
		return "", nil, false
	}
	all := true
	rawjson.Elements(v, func(e []byte) bool {
		var content []byte
		if all = rawjson.IsObject(e); !all {
			return false
		}
		if content = rawjson.Get(e, "content"); content == nil {
			all = false
			return false
		}
		t := event.Turn{Role: str(rawjson.Get(e, "role"))}
		if t.Role == "" {
			t.Role = "user"
		}
		t.Content, _ = text(content)
		turns = append(turns, t)
		return true
	})
	if !all {
		prompt, ok = text(v)
		return prompt, nil, ok
	}
	prompt = turns[len(turns)-1].Content
	for _, t := range turns {
		if t.Role == "user" {
			prompt = t.Content
		}
	}
	return prompt, turns, true
}
