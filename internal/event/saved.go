package event

import (
	"bytes"
	"encoding/json"
)

// Saved is the data of a note in which a record travels that an agent saved itself. The collector makes the record when
// it stores the note, so that the record may wait in the outbox like any event and is made once.
type Saved struct {
	Tool      string          `json:"tool"`                // the tool that the agent called
	Arguments json.RawMessage `json:"arguments,omitempty"` // what it was given, scrubbed; absent where that is too long
	Record    *Record         `json:"mcp_record"`          // its source is the note
}

// Saved gives the record that a note carries; nil for every other event.
func (e *Event) Saved() *Saved {
	if e.Kind != KindNote || !bytes.Contains(e.Body, []byte(`"mcp_record"`)) {
		return nil
	}
	b, err := ParseBody(e.Body)
	if err != nil || b.Type != BodyJSON {
		return nil
	}
	var s Saved
	if json.Unmarshal(b.Data, &s) != nil || s.Record == nil {
		return nil
	}
	return &s
}
