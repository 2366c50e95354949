// Package session says which session a hook belongs to, and keeps the little that the hooks of one session must
// remember of each other: the prompt of the running turn. Text of a payload never becomes a file name; it is hashed.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"kiro-learn/internal/event"
)

// Prefixes of the ids that are made here.
const (
	DerivedPrefix = "derived-" // nobody named the session: it is made of surface, project and agent process
	HashedPrefix  = "hashed-"  // the given id could not be used as it is
)

// Agent is the process of the agent that runs hooks.
type Agent struct {
	PID   int    // process id, as this process sees it
	Start string // when it started, in the system's own form; "" if unknown. It tells processes with one pid apart
}

// ID gives the session id of a hook: the payload's; else that of KIRO_SESSION_ID; else one derived from the surface,
// the project and the agent, so that two agents in one directory stay apart and all hooks of one agent agree. The id is
// valid UTF-8 without control characters, 1 to event.MaxSessionID characters, and distinct ids stay distinct. The
// agent is only looked for when it is needed.
func ID(fromPayload string, getenv func(string) string, surface, projectID string, agent func() Agent) string {
	for _, id := range [...]string{fromPayload, getenv("KIRO_SESSION_ID")} {
		if strings.TrimSpace(id) != "" {
			return usable(id)
		}
	}
	a := agent()
	return DerivedPrefix + digest(surface, projectID, strconv.Itoa(a.PID), a.Start)[:32]
}

// usable gives id itself where the wire contract allows it and it cannot be taken for one made here, else its hash.
func usable(id string) string {
	plain := utf8.ValidString(id) && utf8.RuneCountInString(id) <= event.MaxSessionID &&
		strings.IndexFunc(id, unicode.IsControl) < 0 &&
		!strings.HasPrefix(id, DerivedPrefix) && !strings.HasPrefix(id, HashedPrefix)
	if plain {
		return id
	}
	return Hashed(id)
}

// Hashed stands for an id that must not be kept as it is: distinct ids stay distinct, and one id has one hash.
func Hashed(id string) string { return HashedPrefix + digest(id) }

// digest hashes parts so that no two lists of parts without NUL bytes meet.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}
