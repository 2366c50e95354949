package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// Revision names one state of a record: what was made of that state stays true as long as the two are equal.
type Revision struct {
	ID       int64
	RecordID string // an ID may come back after a record was forgotten; a record id does not
	Revision int64
}

// Revisions are the present states of records, in no order; ids that are not there are left out.
func (s *Store) Revisions(ctx context.Context, ids []int64) ([]Revision, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, "SELECT r.id, r.record_id, r.revision FROM json_each(?) j CROSS JOIN records r ON r.id = j.value", string(list))
	if err != nil {
		return nil, fmt.Errorf("read revisions: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := make([]Revision, 0, len(ids))
	for rows.Next() {
		var r Revision
		if err := rows.Scan(&r.ID, &r.RecordID, &r.Revision); err != nil {
			return nil, fmt.Errorf("read revisions: %w", err)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
