package store

import (
	"context"
	"database/sql"
	"sync"
)

// maxPrepared is how many different queries are kept prepared. Those with a changing list of conditions could be many.
const maxPrepared = 64

// reader reads on connections of its own and keeps its queries prepared: SQLite takes longer to understand most of them
// than to answer them.
type reader struct {
	*sql.DB
	preparing sync.Mutex
	mu        sync.RWMutex
	stmts     map[string]*sql.Stmt
}

func newReader(db *sql.DB) *reader { return &reader{DB: db, stmts: map[string]*sql.Stmt{}} }

// QueryContext is that of sql.DB.
func (r *reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if st := r.prepared(ctx, query); st != nil {
		return st.QueryContext(ctx, args...)
	}
	return r.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext is that of sql.DB.
func (r *reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if st := r.prepared(ctx, query); st != nil {
		return st.QueryRowContext(ctx, args...)
	}
	return r.DB.QueryRowContext(ctx, query, args...)
}

// prepared is the statement of a query. It is nil when the query can't be prepared, and is then run as it stands and says
// what is wrong; and while another one is being prepared, which may wait for a connection.
func (r *reader) prepared(ctx context.Context, query string) *sql.Stmt {
	r.mu.RLock()
	st, n := r.stmts[query], len(r.stmts)
	r.mu.RUnlock()
	if st != nil || n >= maxPrepared || !r.preparing.TryLock() {
		return st
	}
	defer r.preparing.Unlock()
	st, err := r.PrepareContext(ctx, query)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if was := r.stmts[query]; was != nil {
		_ = st.Close()
		return was
	}
	r.stmts[query] = st
	return st
}
