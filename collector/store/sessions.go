package store

import (
	"context"
	"fmt"
	"time"

	"kiro-learn/internal/event"
)

// Session is what is known of one session without reading its events.
type Session struct {
	Namespace   string    `json:"namespace"`
	SessionID   string    `json:"session_id"`
	ProjectPath string    `json:"project_path"`
	Surface     string    `json:"surface"`
	Title       string    `json:"title"` // first line of its first prompt
	Started     time.Time `json:"started"`
	LastEvent   time.Time `json:"last_event"`
	Events      int       `json:"events"`
	Prompts     int       `json:"prompts"`
	Records     int       `json:"records"`
	NewestID    string    `json:"newest_event_id"`
	Gen         int64     `json:"-"` // advances with every change of the session's content
}

// Sessions lists a namespace's sessions, the latest first; an empty namespace lists all.
func (s *Store) Sessions(ctx context.Context, namespace string, limit, offset int) (items []Session, total int, err error) {
	cond, args := "1", []any{}
	if namespace != "" {
		ns, ok := s.spaces.id(namespace)
		if !ok {
			return []Session{}, 0, nil
		}
		cond, args = "s.ns = ?", []any{ns}
	}
	if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM sessions s WHERE "+cond, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count sessions: %w", err)
	}
	items, err = s.sessions(ctx, "(s.ns, s.session_id) IN (SELECT s.ns, s.session_id FROM sessions s WHERE "+cond+" ORDER BY s.last_ms DESC, s.session_id LIMIT ? OFFSET ?) ORDER BY s.last_ms DESC, s.session_id", append(args, limit, offset)...)
	return items, total, err
}

// SessionsFrom are a namespace's sessions whose ids begin with a text, the latest first, but one that has just this id
// before all others; an empty namespace gives those of all.
func (s *Store) SessionsFrom(ctx context.Context, namespace, start string, limit int) ([]Session, error) {
	return s.sessions(ctx, "substr(s.session_id, 1, length(?1)) = ?1 AND (?2 = '' OR n.namespace = ?2) ORDER BY s.session_id <> ?1, s.last_ms DESC LIMIT ?3", start, namespace, limit)
}

// FindSession gives the sessions with an id; there is more than one only if projects share it.
func (s *Store) FindSession(ctx context.Context, sessionID string) ([]Session, error) {
	return s.sessions(ctx, "s.session_id = ? ORDER BY s.last_ms DESC", sessionID)
}

// SessionSpaces are the namespaces that hold events or records of a session; where none does, those in which it waits to be
// brought back. A session whose events have gone may have records still.
func (s *Store) SessionSpaces(ctx context.Context, sessionID string) (found []string, err error) {
	for _, of := range []string{"SELECT ns FROM sessions WHERE session_id = ?1 UNION SELECT ns FROM records WHERE session_id = ?1 AND session_id <> ''", "SELECT ns FROM trash WHERE session_id = ?1"} {
		found, err = column[string](ctx, s.read, "SELECT namespace FROM namespaces WHERE namespace NOT LIKE '/strategy/%' AND id IN ("+of+")", sessionID)
		if err != nil {
			return nil, fmt.Errorf("find a session: %w", err)
		}
		if len(found) > 0 {
			break
		}
	}
	return found, nil
}

func (s *Store) sessions(ctx context.Context, rest string, args ...any) ([]Session, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT s.ns, s.session_id, n.project_path, s.surface, s.title, s.first_ms, s.last_ms,
		s.events, s.prompts, s.last_event, s.gen,
		(SELECT count(*) FROM records r WHERE r.session_id = s.session_id AND r.session_id <> '' AND r.ns = s.ns)
		FROM sessions s JOIN namespaces n ON n.id = s.ns WHERE `+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []Session{}
	for rows.Next() {
		var v Session
		var ns, first, last int64
		if err := rows.Scan(&ns, &v.SessionID, &v.ProjectPath, &v.Surface, &v.Title, &first, &last, &v.Events, &v.Prompts,
			&v.NewestID, &v.Gen, &v.Records); err != nil {
			return nil, fmt.Errorf("read sessions: %w", err)
		}
		v.Namespace, v.Started, v.LastEvent = s.spaces.name(ns), time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
		out = append(out, v)
	}
	return out, rows.Err()
}

// SessionEvents are all events of a session, oldest first.
func (s *Store) SessionEvents(ctx context.Context, namespace, sessionID string) ([]event.Event, error) {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil, nil
	}
	return s.events(ctx, "WHERE ns = ? AND session_id = ? ORDER BY event_id", ns, sessionID)
}

// Stats counts what a namespace holds.
type Stats struct {
	Namespace    string         `json:"namespace"`
	ProjectPath  string         `json:"project_path"`
	Events       int            `json:"events"`
	Records      int            `json:"records"`
	Pending      int            `json:"pending_extraction"`
	Sessions     int            `json:"sessions"`
	LastEvent    string         `json:"last_event,omitempty"`
	EventsByKind map[string]int `json:"events_by_kind"`
	RecordTypes  map[string]int `json:"records_by_type"`
}

// Stats counts per namespace; an empty one counts all that there are.
func (s *Store) Stats(ctx context.Context, namespace string) ([]Stats, error) {
	all := map[int64]*Stats{}
	out := []Stats{}
	rows, err := s.read.QueryContext(ctx, `SELECT id, namespace, project_path FROM namespaces
		WHERE ?1 = '' AND namespace NOT LIKE '/strategy/%' OR namespace = ?1 ORDER BY id`, namespace)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	var order []int64
	for rows.Next() {
		var id int64
		st := Stats{EventsByKind: map[string]int{}, RecordTypes: map[string]int{}}
		if err := rows.Scan(&id, &st.Namespace, &st.ProjectPath); err != nil {
			_ = rows.Close()
			return nil, fmt.Errorf("count: %w", err)
		}
		all[id], order = &st, append(order, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	sums, err := s.hourSums(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range sums {
		switch st := all[h.ns]; {
		case st == nil:
		case h.Kind != "":
			st.EventsByKind[h.Kind], st.Events = h.N, st.Events+h.N
		default:
			st.RecordTypes[h.Type], st.Records = h.N, st.Records+h.N
		}
	}
	for _, q := range []struct {
		text string
		add  func(st *Stats, key string, n int)
	}{
		{"SELECT ns, '', count(*) FROM events WHERE pending = 1 GROUP BY ns", func(st *Stats, _ string, n int) { st.Pending = n }},
		{"SELECT ns, max(last_event), count(*) FROM sessions GROUP BY ns", func(st *Stats, k string, n int) { st.Sessions, st.LastEvent = n, k }},
	} {
		if err := s.count(ctx, q.text, all, q.add); err != nil {
			return nil, err
		}
	}
	for _, id := range order {
		if st := all[id]; namespace == "" && st.Events+st.Records+st.Sessions == 0 {
			continue // forgotten
		}
		out = append(out, *all[id])
	}
	return out, nil
}

func (s *Store) count(ctx context.Context, query string, all map[int64]*Stats, add func(*Stats, string, int)) error {
	rows, err := s.read.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var ns int64
		var k string
		var n int
		if err := rows.Scan(&ns, &k, &n); err != nil {
			return fmt.Errorf("count: %w", err)
		}
		if st := all[ns]; st != nil {
			add(st, k, n)
		}
	}
	return rows.Err()
}

// LastEvents gives the time of the newest event of each surface, for doctor and status.
func (s *Store) LastEvents(ctx context.Context) (map[string]time.Time, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT surface, max(last_ms) FROM sessions GROUP BY surface")
	if err != nil {
		return nil, fmt.Errorf("find the last events: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]time.Time{}
	for rows.Next() {
		var surface string
		var ms int64
		if err := rows.Scan(&surface, &ms); err != nil {
			return nil, fmt.Errorf("find the last events: %w", err)
		}
		out[surface] = time.UnixMilli(ms).UTC()
	}
	return out, rows.Err()
}

// Namespaces lists every namespace there is.
func (s *Store) Namespaces() []string {
	s.spaces.mu.RLock()
	defer s.spaces.mu.RUnlock()
	out := make([]string, 0, len(s.spaces.ids))
	for ns := range s.spaces.ids {
		out = append(out, ns)
	}
	return out
}
