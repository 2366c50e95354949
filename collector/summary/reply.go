package summary

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"

	"kiro-learn/internal/rawjson"
)

// Why a model's reply is not used. Neither holds a word of it.
var (
	errNoIntents  = errors.New("the model's reply holds no JSON object with intents")
	errAmbiguous  = errors.New("the model's reply holds two different JSON objects with intents")
	errNothingFit = errors.New("no intent of the model's reply can be used")
)

// scanFactor bounds the work on a reply: so many times its length, and a few KiB, are read at most.
const scanFactor = 8

// objectIn finds the one JSON object with a list of intents in a model's reply, whatever stands around it. The same
// object given twice counts once.
func objectIn(reply string) (json.RawMessage, error) {
	b := []byte(reply)
	budget := scanFactor*len(b) + 4096
	var found json.RawMessage
	var value any
	for i := 0; i < len(b) && budget > 0; {
		n := bytes.IndexByte(b[i:], '{')
		if n < 0 {
			break
		}
		i += n
		if at := rawjson.Space(b, i+1); at >= len(b) || b[at] != '"' {
			i++ // no object with members begins here
			continue
		}
		raw, read := objectAt(b[i:])
		budget -= read
		if raw == nil || !hasIntents(raw) {
			i++ // what is wanted may stand inside, as in {"summary": {"intents": …}}
			continue
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, errNoIntents
		}
		if found != nil && !reflect.DeepEqual(v, value) {
			return nil, errAmbiguous
		}
		found, value = raw, v
		i += len(raw)
	}
	if found == nil {
		return nil, errNoIntents
	}
	return found, nil
}

// objectAt is the JSON object that b begins with, nil when that is none, and how many bytes were looked at.
func objectAt(b []byte) (raw json.RawMessage, read int) {
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, int(syntax.Offset)
		}
		return nil, len(b)
	}
	return raw, len(raw)
}

func hasIntents(raw json.RawMessage) bool {
	var o struct {
		Intents *[]json.RawMessage `json:"intents"`
	}
	return json.Unmarshal(raw, &o) == nil && o.Intents != nil
}
