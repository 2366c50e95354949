package event

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"kiro-learn/internal/rawjson"
)

// AppendJSON appends the event's JSON to dst. Unlike encoding/json it takes the body's bytes as they are: no second pass
// over half a megabyte, and the content hash stays the hash of what is stored.
func (e *Event) AppendJSON(dst []byte) []byte {
	field := func(key, value string) {
		dst = append(dst, key...)
		dst = rawjson.AppendString(dst, value)
	}
	field(`{"event_id":`, e.EventID)
	if e.ParentEventID != "" {
		field(`,"parent_event_id":`, e.ParentEventID)
	}
	field(`,"session_id":`, e.SessionID)
	field(`,"actor_id":`, e.ActorID)
	field(`,"namespace":`, e.Namespace)
	dst = append(dst, `,"schema_version":`...)
	dst = strconv.AppendInt(dst, int64(e.SchemaVersion), 10)
	field(`,"kind":`, string(e.Kind))
	dst = append(dst, `,"body":`...)
	dst = append(dst, e.Body...)
	field(`,"valid_time":`, e.ValidTime)
	dst = e.Source.AppendJSON(append(dst, `,"source":`...))
	if e.ContentHash != "" {
		field(`,"content_hash":`, e.ContentHash)
	}
	if f := e.Firing; f != nil {
		dst = append(dst, `,"firing":{`...)
		if f.Via != "" {
			field(`"via":`, f.Via)
			dst = append(dst, ',')
		}
		dst = append(dst, `"from":`...)
		dst = strconv.AppendInt(dst, f.From, 10)
		dst = append(dst, `,"to":`...)
		dst = strconv.AppendInt(dst, f.To, 10)
		if f.Tail != "" {
			field(`,"tail":`, f.Tail)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// AppendJSON appends the source's JSON to dst.
func (s *Source) AppendJSON(dst []byte) []byte {
	dst = rawjson.AppendString(append(dst, `{"surface":`...), s.Surface)
	dst = rawjson.AppendString(append(dst, `,"version":`...), s.Version)
	dst = rawjson.AppendString(append(dst, `,"client_id":`...), s.ClientID)
	if s.ProjectPath != "" {
		dst = rawjson.AppendString(append(dst, `,"project_path":`...), s.ProjectPath)
	}
	return append(dst, '}')
}

// Hash is the content hash of a serialised body.
func Hash(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}
