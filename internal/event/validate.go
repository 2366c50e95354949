package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kiro-learn/internal/rawjson"
)

// Problem is one way in which an event or a record breaks the wire contract.
type Problem struct {
	Field   string `json:"field"`
	Problem string `json:"problem"`
}

type problems []Problem

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, Problem{field, fmt.Sprintf(format, args...)})
}

func (p *problems) text(field, s string, max int) {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		p.add(field, "is missing")
	case max > 0 && n > max:
		p.add(field, "has %d characters, at most %d are allowed", n, max)
	case !utf8.ValidString(s):
		p.add(field, "is not valid UTF-8")
	}
}

// Problems lists what breaks the wire contract in an event; nothing for a good one. No text of the event is quoted,
// since the list may end in a log.
func (e *Event) Problems() []Problem {
	if len(e.Body) > MaxBody || json.Valid(e.Body) {
		return e.problems()
	}
	without := *e
	without.Body = nil
	return without.problems()
}

// problems is Problems of an event whose body is valid JSON, or nothing, or too long.
func (e *Event) problems() []Problem {
	var p problems
	if !IsULID(e.EventID) {
		p.add("event_id", "must be a ULID: 26 characters of 0-9 and A-Z without I, L, O and U")
	}
	if e.ParentEventID != "" && !IsULID(e.ParentEventID) {
		p.add("parent_event_id", "must be a ULID or absent")
	}
	p.text("session_id", e.SessionID, MaxSessionID)
	p.text("actor_id", e.ActorID, MaxActorID)
	if strings.Contains(e.ActorID, "/") {
		p.add("actor_id", "must not contain a slash")
	}
	if actor, _, ok := SplitNamespace(e.Namespace); !ok {
		p.add("namespace", "must be /actor/<actor_id>/project/<project_id>/")
	} else if actor != e.ActorID && e.ActorID != "" {
		p.add("namespace", "must name the actor of actor_id")
	}
	if e.SchemaVersion != SchemaVersion {
		p.add("schema_version", "must be %d", SchemaVersion)
	}
	switch e.Kind {
	case KindPrompt, KindToolUse, KindSessionSummary, KindNote:
	default:
		p.add("kind", "must be one of: prompt, tool_use, session_summary, note")
	}
	if !IsTime(e.ValidTime) {
		p.add("valid_time", "must be ISO 8601 with an offset, such as 2026-01-31T12:00:00Z")
	}
	p.source(e.Source)
	p.body(e.Body)
	p.hash(e.ContentHash, e.Body)
	return p
}

// hash checks a body's hash. Who lays a serialised body into an event may space it out, so the hash of its shortest form
// counts too.
func (p *problems) hash(hash string, body []byte) {
	h, ok := strings.CutPrefix(hash, "sha256:")
	switch {
	case hash == "":
	case !ok || len(h) != 64 || !isHex(h):
		p.add("content_hash", "must be sha256: and 64 hex digits, or absent")
	case len(*p) == 0 && hash != Hash(body):
		var short bytes.Buffer
		if json.Compact(&short, body) != nil || hash != Hash(short.Bytes()) {
			p.add("content_hash", "is not the hash of the body")
		}
	}
}

func (p *problems) source(s Source) {
	if s.Surface != SurfaceCLI && s.Surface != SurfaceIDE {
		p.add("source.surface", "must be one of: kiro-cli, kiro-ide")
	}
	p.text("source.version", s.Version, 0)
	p.text("source.client_id", s.ClientID, 0)
	if n := utf8.RuneCountInString(s.ProjectPath); n > MaxProjectPath {
		p.add("source.project_path", "has %d characters, at most %d are allowed", n, MaxProjectPath)
	}
}

func (p *problems) body(raw json.RawMessage) {
	if len(raw) > MaxBody {
		p.add("body", "has %d bytes, at most %d are allowed", len(raw), MaxBody)
		return
	}
	var kind string
	var content, turns, data []byte
	if !rawjson.Members(raw, func(key string, v []byte) bool {
		switch key {
		case "type":
			if rawjson.IsString(v) {
				kind = rawjson.Unquote(v)
			}
		case "content":
			content = v
		case "turns":
			turns = v
		case "data":
			data = v
		}
		return true
	}) {
		p.add("body", "must be an object with type text, message or json")
		return
	}
	switch kind {
	case BodyText:
		p.string("body.content", content)
	case BodyMessage:
		p.turns(turns)
	case BodyJSON:
		if data == nil {
			p.add("body.data", "is missing")
		}
	default:
		p.add("body.type", "must be one of: text, message, json")
	}
}

func (p *problems) turns(raw []byte) {
	n := 0
	whole := rawjson.Elements(raw, func(v []byte) bool {
		field := fmt.Sprintf("body.turns[%d]", n)
		n++
		if !rawjson.IsObject(v) {
			p.add(field, "must be an object with role and content")
			return true
		}
		role := rawjson.Get(v, "role")
		if p.string(field+".role", role); string(role) == `""` {
			p.add(field+".role", "is missing")
		}
		p.string(field+".content", rawjson.Get(v, "content"))
		return true
	})
	if !whole || n == 0 {
		p.add("body.turns", "must hold at least one turn")
	}
}

func (p *problems) string(field string, raw []byte) {
	switch {
	case raw == nil:
		p.add(field, "is missing")
	case !rawjson.IsString(raw):
		p.add(field, "must be a string")
	}
}

// Problems lists what breaks the wire contract in a record; nothing for a good one.
func (r *Record) Problems() []Problem {
	var p problems
	if !IsULID(strings.TrimPrefix(r.RecordID, "mr_")) || !strings.HasPrefix(r.RecordID, "mr_") {
		p.add("record_id", "must be mr_ and a ULID")
	}
	if !IsRecordNamespace(r.Namespace) {
		p.add("namespace", "must be /actor/<actor_id>/project/<project_id>/ or /strategy/<strategy>/actor/<actor_id>/session/<session_id>/, at most %d characters", MaxNamespace)
	}
	if !IsStrategy(r.Strategy) {
		p.add("strategy", "must be one of: %s", strings.Join(Strategies(), ", "))
	}
	p.text("title", r.Title, MaxTitle)
	p.text("summary", r.Summary, MaxSummary)
	p.list("facts", r.Facts, MaxFact)
	p.list("concepts", r.Concepts, MaxConcept)
	p.list("files_touched", r.FilesTouched, MaxFile)
	if len(r.SourceEventIDs) == 0 {
		p.add("source_event_ids", "must name at least one event")
	}
	for i, id := range r.SourceEventIDs {
		if !IsULID(id) {
			p.add(fmt.Sprintf("source_event_ids[%d]", i), "must be a ULID")
		}
	}
	if !IsTime(r.CreatedAt) {
		p.add("created_at", "must be ISO 8601 with an offset, such as 2026-01-31T12:00:00Z")
	}
	if !IsObservationType(r.ObservationType) {
		p.add("observation_type", "must be one of: %s", strings.Join(ObservationTypes(), ", "))
	}
	return p
}

func (p *problems) list(field string, in []string, max int) {
	if in == nil {
		p.add(field, "is missing")
	}
	for i, s := range in {
		p.text(fmt.Sprintf("%s[%d]", field, i), s, max)
	}
}

// IsObservationType tells whether s is one of the observation types.
func IsObservationType(s string) bool { return slices.Contains(ObservationTypes(), s) }

// IsStrategy tells whether s is one of the strategies by which records are made.
func IsStrategy(s string) bool { return slices.Contains(Strategies(), s) }

// IsRecordNamespace tells whether s is a namespace that records can be in: a project's, or a session's own.
func IsRecordNamespace(s string) bool {
	if n := utf8.RuneCountInString(s); n > MaxNamespace || !utf8.ValidString(s) {
		return false
	}
	if _, _, ok := SplitNamespace(s); ok {
		return true
	}
	strategy, rest, ok := strings.Cut(strings.TrimPrefix(s, "/strategy/"), "/actor/")
	actor, session, ok2 := strings.Cut(rest, "/session/")
	session, ok3 := strings.CutSuffix(session, "/")
	return ok && ok2 && ok3 && strings.HasPrefix(s, "/strategy/") && strategy != "" && actor != "" && session != "" && !strings.Contains(strategy+actor, "/")
}

// IsULID tells whether s is a ULID in Crockford's alphabet, upper case, within the 128 bits that it stands for.
func IsULID(s string) bool {
	if len(s) != 26 || s[0] > '7' {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' && c != 'I' && c != 'L' && c != 'O' && c != 'U' {
			continue
		}
		return false
	}
	return true
}

// IsTime tells whether s is ISO 8601 with seconds and an offset, and a day that exists.
func IsTime(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[13] != ':' || strings.Contains(s, ",") { // which Parse lets pass
		return false
	}
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
