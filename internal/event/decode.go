package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"kiro-learn/internal/rawjson"
)

// ErrNotEvent means that some text is no event at all.
var ErrNotEvent = errors.New("the event is not a JSON object of the wire contract")

// Decode reads an event and lists what breaks the wire contract in it. The text is looked through once to see that it is
// JSON, and then only walked: most of it is a body that nobody needs decoded here. Members that are not known are passed
// over.
func Decode(b []byte) (e Event, p []Problem, err error) {
	if !json.Valid(b) {
		return e, nil, ErrNotEvent
	}
	ok := true
	text := func(v []byte, into *string) {
		switch {
		case rawjson.IsString(v):
			*into = rawjson.Unquote(v)
		case string(v) != "null":
			ok = false
		}
	}
	source := func(key string, v []byte) bool {
		switch key {
		case "surface":
			text(v, &e.Source.Surface)
		case "version":
			text(v, &e.Source.Version)
		case "client_id":
			text(v, &e.Source.ClientID)
		case "project_path":
			text(v, &e.Source.ProjectPath)
		}
		return true
	}
	whole := rawjson.Members(b, func(key string, v []byte) bool {
		switch key {
		case "event_id":
			text(v, &e.EventID)
		case "parent_event_id":
			text(v, &e.ParentEventID)
		case "session_id":
			text(v, &e.SessionID)
		case "actor_id":
			text(v, &e.ActorID)
		case "namespace":
			text(v, &e.Namespace)
		case "valid_time":
			text(v, &e.ValidTime)
		case "content_hash":
			text(v, &e.ContentHash)
		case "kind":
			text(v, (*string)(&e.Kind))
		case "schema_version":
			n, err := strconv.Atoi(string(v))
			ok = ok && err == nil
			e.SchemaVersion = n
		case "body":
			e.Body = bytes.Clone(v) // what was read may be used for something else
		case "source":
			ok = ok && rawjson.Members(v, source)
		case "firing":
			ok = ok && json.Unmarshal(v, &e.Firing) == nil
		}
		return true
	})
	if !ok || !whole {
		return Event{}, nil, ErrNotEvent
	}
	return e, e.problems(), nil
}
