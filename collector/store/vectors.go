package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Vector is what an embedding model made of a record in one revision: a signed byte for each dimension, none for a record
// that the model refuses.
type Vector struct {
	ID, Revision int64
	Bytes        []byte
}

// Unembedded are the newest records of projects of which the model has made no vector, at most limit.
func (s *Store) Unembedded(ctx context.Context, model string, limit int) ([]Stored, error) {
	out, err := s.records(ctx, `records r WHERE r.record_type = '' AND NOT EXISTS
		(SELECT 1 FROM vectors v WHERE v.record = r.id AND v.model = ?) ORDER BY r.id DESC LIMIT ?`, model, limit)
	if err != nil {
		return nil, fmt.Errorf("find records without a vector: %w", err)
	}
	return out, nil
}

// SaveVectors keeps vectors of the model, each in the place of its record's earlier one. Those of records that have
// changed meanwhile are left out.
func (s *Store) SaveVectors(ctx context.Context, model string, vectors []Vector) error {
	return s.submit(ctx, func(w *writerTx) error {
		for _, v := range vectors {
			_, err := w.exec("INSERT OR REPLACE INTO vectors(record, ns, model, vector) SELECT id, ns, ?, ? FROM records WHERE id = ? AND revision = ?",
				model, v.Bytes, v.ID, v.Revision)
			if err != nil {
				return fmt.Errorf("save a vector: %w", err)
			}
		}
		return nil
	})
}

// EachVector hands out the model's vectors of a namespace's records, the newest record first, at most limit. The bytes are
// valid during the call only.
func (s *Store) EachVector(ctx context.Context, namespace, model string, limit int, f func(id int64, vector []byte)) error {
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return nil
	}
	rows, err := s.read.QueryContext(ctx, "SELECT record, vector FROM vectors WHERE ns = ? AND model = ? ORDER BY record DESC LIMIT ?", ns, model, limit)
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var id int64
	var b sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&id, &b); err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
		f(id, b)
	}
	return rows.Err()
}
