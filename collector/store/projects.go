package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrSameProject means that a project is to be merged with itself.
var ErrSameProject = errors.New("the two are one project")

// ProjectPath is where a namespace's project lay when it was first seen; empty when unknown.
func (s *Store) ProjectPath(namespace string) (path string) {
	_ = s.read.QueryRowContext(context.Background(), "SELECT project_path FROM namespaces WHERE namespace = ?", namespace).Scan(&path) // none: unknown
	return path
}

// Merge moves all that a namespace holds into another one, which is made at projectPath if there is none: as after a
// project has moved. What waits to be brought back moves too. It gives how many events and records moved.
func (s *Store) Merge(ctx context.Context, from, into, projectPath string) (events, records int, err error) {
	if from == into {
		return 0, 0, ErrSameProject
	}
	old, ok := s.spaces.id(from)
	if !ok {
		return 0, 0, nil
	}
	err = s.submit(ctx, func(w *writerTx) error {
		ns, err := s.spaces.ensure(w, into, projectPath)
		if err != nil {
			return err
		}
		m := merge{w: w, old: old, ns: ns}
		places := m.sessions()
		events = m.exec("UPDATE events SET ns = ?2 WHERE ns = ?1")
		moved := m.records(s)
		records = len(moved)
		m.rest()
		s.graves[ns] = s.graves[ns] || s.graves[old]
		m.exec("DELETE FROM sessions WHERE ns = ?1")
		for _, p := range places {
			if m.err == nil {
				m.err = w.recount(place{ns, p})
			}
		}
		m.exec("UPDATE namespaces SET project_path = '' WHERE id = ?1 AND ?2 > 0")
		return m.err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("merge two projects: %w", err)
	}
	return events, records, nil
}

// merge is one run of Merge. It stops at the first error.
type merge struct {
	w       *writerTx
	old, ns int64
	err     error
}

func (m *merge) exec(query string) int {
	if m.err != nil {
		return 0
	}
	res, err := m.w.conn.ExecContext(context.Background(), query, m.old, m.ns)
	if err != nil {
		m.err = err
		return 0
	}
	n, err := res.RowsAffected()
	m.err = err
	return int(n)
}

// sessions makes the rows that other tables refer to, and gives the ids of the sessions that move.
func (m *merge) sessions() []string {
	ids, err := column[string](context.Background(), m.w.conn, "SELECT session_id FROM sessions WHERE ns = ?", m.old)
	m.err = err
	m.exec(`INSERT OR IGNORE INTO sessions(ns, session_id, surface, first_ms, last_ms, events, prompts, title, last_event, gen)
		SELECT ?2, session_id, surface, first_ms, last_ms, events, prompts, title, last_event, gen FROM sessions WHERE ns = ?1`)
	return ids
}

// records moves the records and gives their words the other namespace's key.
func (m *merge) records(s *Store) []int64 {
	if m.err != nil {
		return nil
	}
	ctx := context.Background()
	var ids []int64
	if ids, m.err = column[int64](ctx, m.w.conn, "SELECT id FROM records WHERE ns = ?", m.old); m.err != nil {
		return nil
	}
	m.exec("UPDATE records SET ns = ?2, revision = revision + 1 WHERE ns = ?1") // readers know a record by its revision
	if cols, err := columnsOf(m.w.conn, "records"); err == nil && slices.Contains(cols, "about") {
		m.exec("UPDATE records SET about = ?2 WHERE about = ?1")
	}
	for part := range slices.Chunk(ids, 200) {
		if m.err != nil {
			return ids
		}
		var found []Stored
		if found, m.err = s.recordsOn(ctx, m.w.conn, "records r WHERE r.id IN (SELECT value FROM json_each(?))", list(part)); m.err != nil {
			return ids
		}
		for _, r := range found {
			if m.err = s.indexRecord(m.w, r.ID, m.ns, r.Record); m.err != nil {
				return ids
			}
		}
	}
	return ids
}

// rest moves what else is said of sessions and the project. Where both have something of a session, the one stays that
// is there.
func (m *merge) rest() {
	if m.err != nil {
		return
	}
	var tables []string
	if tables, m.err = sessionTables(context.Background(), m.w.conn); m.err != nil {
		return
	}
	for _, t := range append(tables, "shown", "tombstones") {
		m.exec("UPDATE OR IGNORE " + t + " SET ns = ?2 WHERE ns = ?1")
		m.exec("DELETE FROM " + t + " WHERE ns = ?1 AND ?2 > 0")
	}
	for _, t := range []string{"trash", "history"} {
		m.exec("UPDATE " + t + " SET ns = ?2, row = json_set(row, '$.ns', ?2) WHERE ns = ?1")
		m.exec("UPDATE " + t + " SET row = json_set(row, '$.about', ?2) WHERE row ->> '$.about' = ?1")
	}
}
