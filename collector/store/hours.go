package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Hour is how many events of a kind, or records of a type, there are of one hour.
type Hour struct {
	Hour time.Time // its beginning
	Kind string    // of events; empty for records
	Type string    // of records; empty for events
	N    int
}

// Hours counts what a namespace has of each hour since a time, the earliest first; an empty one counts all projects'.
func (s *Store) Hours(ctx context.Context, namespace string, since time.Time) (out []Hour, err error) {
	cond, args := "", []any{since.Unix() / 3600}
	if namespace != "" {
		ns, ok := s.spaces.id(namespace)
		if !ok {
			return nil, nil
		}
		cond, args = " AND h.ns = ?", append(args, ns)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT h.hour, h.what, sum(h.n) FROM hours h JOIN namespaces n ON n.id = h.ns
		WHERE h.hour >= ? AND n.namespace NOT LIKE '/strategy/%'`+cond+` GROUP BY h.hour, h.what ORDER BY h.hour, h.what`, args...)
	if err != nil {
		return nil, fmt.Errorf("count by the hour: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var h Hour
		var hour int64
		var what string
		if err := rows.Scan(&hour, &what, &h.N); err != nil {
			return nil, fmt.Errorf("count by the hour: %w", err)
		}
		h.Hour = time.Unix(hour*3600, 0).UTC()
		if kind, ok := strings.CutPrefix(what, "e"); ok {
			h.Kind = kind
		} else {
			h.Type = strings.TrimPrefix(what, "r")
		}
		out = append(out, h)
	}
	return out, rows.Err()
}
