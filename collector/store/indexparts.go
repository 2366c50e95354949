package store

import (
	"context"
	"fmt"
)

const (
	manyParts = 4   // parts of the full-text index up to which it is left alone
	mergeStep = 200 // pages that are written at once, so that no hook waits long behind it
)

// MergeIndex makes one part of the parts that the full-text index has grown by with every commit: a search looks for each
// word in each part, so it becomes faster by half. It works in small steps, between which other writes get their turn.
func (s *Store) MergeIndex(ctx context.Context) error {
	var parts int
	if err := s.read.QueryRowContext(ctx, "SELECT count(DISTINCT segid) FROM search_idx").Scan(&parts); err != nil {
		return fmt.Errorf("count the parts of the index: %w", err)
	}
	if parts <= manyParts {
		return nil
	}
	for pages := -mergeStep; ; pages = mergeStep { // a negative number begins, the others go on
		var before, after int
		err := s.submit(ctx, func(w *writerTx) error {
			const changes = "SELECT total_changes()"
			if err := w.row(changes, nil, &before); err != nil {
				return err
			}
			if _, err := w.exec("INSERT INTO search(search, rank) VALUES ('merge', ?)", pages); err != nil {
				return err
			}
			return w.row(changes, nil, &after)
		})
		if err != nil {
			return fmt.Errorf("merge the parts of the index: %w", err)
		}
		if after-before < 2 { // by SQLite's documentation: nothing was left to do
			return nil
		}
	}
}
