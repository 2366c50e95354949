package event

import (
	"encoding/json"
	"fmt"

	"kiro-learn/internal/rawjson"
)

// The three types of body.
const (
	BodyText    = "text"
	BodyMessage = "message"
	BodyJSON    = "json"
)

// Turn is one message of a conversation.
type Turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Body is a decoded event body. Which fields are set depends on Type.
type Body struct {
	Type    string          `json:"type"`
	Content string          `json:"content,omitempty"` // BodyText
	Turns   []Turn          `json:"turns,omitempty"`   // BodyMessage
	Data    json.RawMessage `json:"data,omitempty"`    // BodyJSON
}

// TextBody is the serialised body of a text.
func TextBody(content string) json.RawMessage {
	b := append(make([]byte, 0, len(content)+32), `{"type":"text","content":`...)
	return append(rawjson.AppendString(b, content), '}')
}

// MessageBody is the serialised body of a list of turns.
func MessageBody(turns []Turn) json.RawMessage {
	b := []byte(`{"type":"message","turns":[`)
	for i, t := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`...)
		b = rawjson.AppendString(b, t.Role)
		b = append(b, `,"content":`...)
		b = rawjson.AppendString(b, t.Content)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// JSONBody is the serialised body of a JSON value, which must be valid.
func JSONBody(data []byte) json.RawMessage {
	b := append(make([]byte, 0, len(data)+32), `{"type":"json","data":`...)
	return append(append(b, data...), '}')
}

// ParseBody decodes a body.
func ParseBody(raw []byte) (Body, error) {
	var b Body
	if err := json.Unmarshal(raw, &b); err != nil {
		return Body{}, fmt.Errorf("body is not an object of the wire contract: %w", err)
	}
	return b, nil
}

// Text is the readable text of a body: a text's content, the last turn of a message, nothing for JSON.
func (b Body) Text() string {
	switch b.Type {
	case BodyText:
		return b.Content
	case BodyMessage:
		if n := len(b.Turns); n > 0 {
			return b.Turns[n-1].Content
		}
	}
	return ""
}

// Tool is the data of a tool_use event's body.
type Tool struct {
	Name     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
}

// Tool decodes the data of a tool_use body; a body of another shape gives a Tool named "unknown".
func (b Body) Tool() Tool {
	t := Tool{Name: "unknown"}
	if b.Type == BodyJSON {
		_ = json.Unmarshal(b.Data, &t) // data that is no object, such as a truncated one, stays "unknown"
	}
	if t.Name == "" {
		t.Name = "unknown"
	}
	return t
}
