package hooks

import (
	"encoding/json"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
	"kiro-learn/internal/privacy"
	"kiro-learn/payload"
	"kiro-learn/truncate"
)

// clean makes a body fit to leave the hook: private text and secrets out first, so that no cut can hide the end of a
// private tag, then within the size limit.
func (h *hook) clean(body []byte) []byte {
	return truncate.Body(h.scrub.JSON(body), event.MaxHookBody)
}

// newEvent makes the event of a body that is clean.
func (h *hook) newEvent(kind event.Kind, id, parent string, body []byte) *event.Event {
	return &event.Event{
		EventID: id, ParentEventID: parent, SessionID: h.session, ActorID: h.actor, Namespace: h.namespace(),
		SchemaVersion: event.SchemaVersion, Kind: kind, Body: json.RawMessage(body),
		ValidTime:   h.Begun.Format("2006-01-02T15:04:05.000Z07:00"),
		Source:      event.Source{Surface: h.payload.Surface, Version: h.Version, ClientID: host(), ProjectPath: projectPath(h.project.Root)},
		ContentHash: event.Hash(body),
		Firing:      &event.Firing{Via: h.via, From: h.Begun.UnixMicro()},
	}
}

// projectPath is left out where it does not fit, since half a path names another place, and where it must not be written
// down. The project's id stays the same.
func projectPath(root string) string {
	if utf8.RuneCountInString(root) > event.MaxProjectPath || privacy.Holds(root) {
		return ""
	}
	return root
}

func (h *hook) newID() string { return h.ids.Next(lockWait) }

// encode is the event as it is handed over, which is now.
func encode(e *event.Event) []byte {
	e.Firing.To = time.Now().UnixMicro()
	return e.AppendJSON(make([]byte, 0, len(e.Body)+1024))
}

// actor is the user's name as the operating system has it, without what the wire forbids.
func actor() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if _, after, ok := strings.Cut(name, `\`); ok {
		name = after // DOMAIN\user on Windows
	}
	name = strings.ReplaceAll(strings.TrimSpace(name), "/", "-")
	if name == "" {
		name = "uid-" + strconv.Itoa(os.Getuid())
	}
	return event.CutChars(strings.ToValidUTF8(name, "-"), event.MaxActorID)
}

func host() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown"
	}
	return strings.ToValidUTF8(name, "-")
}

// Namespace is the namespace of this user's memory of the project that dir belongs to.
func Namespace(d config.Dirs, dir string) string {
	return event.Namespace(actor(), looker(d).Resolve(dir).ID)
}

// Origin is what every event of this user has in common in the project that dir belongs to: actor, namespace and source.
// Whoever makes events that no hook fires begins with it. version is this program's.
func Origin(d config.Dirs, dir, version string, getenv func(string) string) event.Event {
	p, who := resolver(d).Resolve(dir), actor()
	return event.Event{
		ActorID: who, Namespace: event.Namespace(who, p.ID), SchemaVersion: event.SchemaVersion,
		Source: event.Source{Surface: payload.Surface(getenv), Version: version, ClientID: host(), ProjectPath: projectPath(p.Root)},
	}
}

// ProjectRoot is the root of the project that dir belongs to; "" when it is nobody's.
func ProjectRoot(d config.Dirs, dir string) string { return looker(d).Resolve(dir).Root }
