package recall

import (
	"context"

	"kiro-learn/collector/store"
)

// Source is what the engine needs of a store. Every method but Records is bound to a namespace.
type Source interface {
	// Candidates are records of the namespace that hold any of the terms, best first by bm25.
	Candidates(ctx context.Context, namespace string, terms []string, f store.Filter, limit int) ([]store.Hit, error)
	// Newest are the newest records of the namespace that hold all of the terms, the newest first and without scores.
	Newest(ctx context.Context, namespace string, terms []string, f store.Filter, limit int) ([]store.Hit, error)
	// TermCounts tells in how many records of the namespace each term occurs, and how many records it has.
	TermCounts(ctx context.Context, namespace string, terms []string) (docs []int, total int, err error)
	// Records reads records by id.
	Records(ctx context.Context, ids []int64) ([]store.Stored, error)
	// Revisions are the present states of records; ids that are not there are left out.
	Revisions(ctx context.Context, ids []int64) ([]store.Revision, error)
	// Neighbours are the records saved next to each of ids in the namespace.
	Neighbours(ctx context.Context, namespace string, ids []int64, before, after int) (map[int64][]int64, error)
	// EachVector hands out the vectors that a model made of records of the namespace, the newest record first.
	EachVector(ctx context.Context, namespace, model string, limit int, f func(id int64, vector []byte)) error
	// Shown tells which records a session has been shown, and in which revision.
	Shown(ctx context.Context, namespace, sessionID string) (map[int64]int64, error)
	// MarkShown remembers what a session was shown.
	MarkShown(ctx context.Context, v store.Showing) error
}

var (
	_ Source        = (*store.Store)(nil)
	_ store.Indexer = Index{}
)
