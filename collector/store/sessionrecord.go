package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kiro-learn/internal/event"
)

// The record types of records about a session as a whole. A record of a project has none.
const (
	TypeChunk       = "CHUNK"        // what one batch of a session was about
	TypeFullSession = "FULL_SESSION" // what all of it was about; one of each session
)

// SessionRecord is a record about a session as a whole. Its own namespace is the session's; About is the namespace that
// the session belongs to.
type SessionRecord struct {
	event.Record
	Type  string // TypeChunk or TypeFullSession
	About string
}

// IsRecordType tells whether s is the type of a record about a session.
func IsRecordType(s string) bool { return s == TypeChunk || s == TypeFullSession }

// OfSession tells whether a namespace is one in which records about a session are kept, and not a project's.
func OfSession(namespace string) bool { return strings.HasPrefix(namespace, "/strategy/") }

// typesWhere is the condition on records of any of the types, which are observation types or record types.
func typesWhere(types []string) (string, []any) {
	var of, args []any
	for _, t := range types {
		if IsRecordType(t) {
			of = append(of, t)
		} else {
			args = append(args, t)
		}
	}
	in := func(col string, n int) string { return col + " IN (?" + strings.Repeat(",?", n-1) + ")" }
	switch {
	case len(of) == 0:
		return " AND " + in("r.type", len(args)), args
	case len(args) == 0:
		return " AND " + in("r.record_type", len(of)), of
	}
	return " AND (" + in("r.type", len(args)) + " OR " + in("r.record_type", len(of)) + ")", slices.Concat(args, of)
}

// saveSessionRecord saves a record and what makes it one about a session, within the writer's transaction.
func (s *Store) saveSessionRecord(w *writerTx, r *SessionRecord) error {
	if _, err := s.saveRecord(w, &r.Record); err != nil {
		return fmt.Errorf("save a record about a session: %w", err)
	}
	about, err := s.spaces.ensure(w, r.About, "")
	if err != nil {
		return err
	}
	if _, err := w.exec("UPDATE records SET record_type = ?, about = ? WHERE record_id = ?", r.Type, about, r.RecordID); err != nil {
		return fmt.Errorf("save a record about a session: %w", err)
	}
	return nil
}

// AboutSession are the records about a session as a whole, in the order in which they were first saved.
func (s *Store) AboutSession(ctx context.Context, namespace, sessionID string) ([]Stored, error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, nil
	}
	return s.records(ctx, "records r WHERE r.about = ? AND r.session_id = ? ORDER BY r.id", ns, sessionID)
}
