// Package event holds the wire types of kiro-learn, version 1: the event a hook sends, the memory record that is made
// of events, their limits, and the checks that a collector applies to both. The shapes are a contract with other
// collectors and exporters, so they do not change. It imports nothing of this module but rawjson, which knows JSON and nothing else.
package event

import (
	"encoding/json"
	"strings"
)

// SchemaVersion is the wire version every event carries.
const SchemaVersion = 1

// Limits of the wire contract. Lengths of identifiers and record fields are in characters, bodies in serialised bytes.
const (
	MaxBody        = 1 << 20 // largest serialised body that a collector takes, in bytes
	MaxHookBody    = 1 << 19 // largest serialised body that leaves a hook, in bytes
	MaxSessionID   = 128     // characters
	MaxActorID     = 128     // characters
	MaxProjectPath = 2048    // characters
	MaxNamespace   = 1024    // characters
	MaxTitle       = 200     // characters
	MaxSummary     = 4000    // characters
	MaxFact        = 500     // characters
	MaxConcept     = 100     // characters
	MaxFile        = 500     // characters
)

// Kind says what happened.
type Kind string

// The four kinds of event.
const (
	KindPrompt         Kind = "prompt"
	KindToolUse        Kind = "tool_use"
	KindSessionSummary Kind = "session_summary"
	KindNote           Kind = "note"
)

// The two surfaces an event can come from.
const (
	SurfaceCLI = "kiro-cli"
	SurfaceIDE = "kiro-ide"
)

// Source says where an event was made.
type Source struct {
	Surface     string `json:"surface"`                // SurfaceCLI or SurfaceIDE
	Version     string `json:"version"`                // kiro-learn's own version
	ClientID    string `json:"client_id"`              // host name
	ProjectPath string `json:"project_path,omitempty"` // absolute path of the project root
}

// Event is one thing that happened in an agent's session. Body stays raw: it is made once, in the hook, and only
// those who need its insides decode it.
type Event struct {
	EventID       string          `json:"event_id"` // ULID; ids of one machine sort in the order of arrival
	ParentEventID string          `json:"parent_event_id,omitempty"`
	SessionID     string          `json:"session_id"`
	ActorID       string          `json:"actor_id"`
	Namespace     string          `json:"namespace"`
	SchemaVersion int             `json:"schema_version"`
	Kind          Kind            `json:"kind"`
	Body          json.RawMessage `json:"body"`
	ValidTime     string          `json:"valid_time"` // ISO 8601 with offset
	Source        Source          `json:"source"`
	ContentHash   string          `json:"content_hash,omitempty"` // "sha256:" and 64 hex digits of the body's bytes
	Firing        *Firing         `json:"firing,omitempty"`       // from a hook on this machine; never given out
}

// Namespace is the namespace of an actor's events in a project.
func Namespace(actorID, projectID string) string {
	return "/actor/" + actorID + "/project/" + projectID + "/"
}

// SplitNamespace gives the actor and the project of an event namespace; ok is false for any other shape.
func SplitNamespace(ns string) (actorID, projectID string, ok bool) {
	p := strings.Split(ns, "/")
	if len(p) != 6 || p[0] != "" || p[1] != "actor" || p[2] == "" || p[3] != "project" || p[4] == "" || p[5] != "" {
		return "", "", false
	}
	return p[2], p[4], true
}

// Firing tells one run of a hook from another, so that one happening reported by two registrations of the hook is stored
// once. It stays on the machine: a hook adds it to what it hands to its own collector, which keeps it to itself.
type Firing struct {
	Via  string `json:"via,omitempty"`  // the registration's name, as the installer wrote it
	From int64  `json:"from"`           // when the hook process began, in Unix microseconds
	To   int64  `json:"to"`             // when it handed the event over
	Tail string `json:"tail,omitempty"` // the end of a prompt that had to be cut, scrubbed; recall asks with it, nothing keeps it
}
