package collector

import (
	"net/http"
	"strings"

	"kiro-learn/internal/event"
	"kiro-learn/internal/privacy"
	"kiro-learn/internal/session"
)

// scrubNames replaces the names in an event that must not be written down. An id becomes its hash, so that what belongs
// together stays together; what only informs is left out or redacted. Our own hooks have done so already.
func scrubNames(e *event.Event) {
	e.SessionID = cleanID(e.SessionID)
	e.Namespace = cleanNamespace(e.Namespace)
	if actor, _, ok := event.SplitNamespace(e.Namespace); ok {
		e.ActorID = actor
	}
	if privacy.Holds(e.Source.ProjectPath) {
		e.Source.ProjectPath = "" // half a path names another place
	}
	scrub := privacy.Scrubber{Secrets: true}
	e.Source.Version = scrub.Text(e.Source.Version)
	e.Source.ClientID = scrub.Text(e.Source.ClientID)
	if e.Firing != nil && privacy.Holds(e.Firing.Via) {
		e.Firing.Via = ""
	}
}

func cleanID(id string) string {
	if privacy.Holds(id) {
		return session.Hashed(id)
	}
	return id
}

// cleanNamespace hashes the names in a namespace that must not be written down, and all of them where it is the namespace
// as a whole that must not.
func cleanNamespace(ns string) string {
	if !privacy.Holds(ns) {
		return ns
	}
	parts := strings.Split(ns, "/")
	for i := 2; i < len(parts); i += 2 { // /actor/<id>/project/<id>/
		parts[i] = cleanID(parts[i])
	}
	if out := strings.Join(parts, "/"); !privacy.Holds(out) {
		return out
	}
	for i := 2; i < len(parts)-1; i += 2 {
		parts[i] = session.Hashed(parts[i])
	}
	return strings.Join(parts, "/")
}

// byName makes a query by a name find what was stored under the name's hash.
func byName(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			q := r.URL.Query()
			id, ns := q.Get("session_id"), q.Get("namespace")
			if newID, newNS := cleanID(id), cleanNamespace(ns); newID != id || newNS != ns {
				if newID != id {
					q.Set("session_id", newID)
				}
				if newNS != ns {
					q.Set("namespace", newNS)
				}
				r.URL.RawQuery = q.Encode()
			}
		}
		next.ServeHTTP(w, r)
	})
}
