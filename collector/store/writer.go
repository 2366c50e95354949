package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// maxGroup is how many jobs one commit takes at most: enough to share the cost of the sync, few enough that the first
// one's answer is not late.
const maxGroup = 128

// errClosed is what a write to a closed store gets.
var errClosed = errors.New("the store is closed")

// job is one write. do may run twice: when a neighbour in its group fails, every job of the group runs again alone.
type job struct {
	do    func(w *writerTx) error
	done  chan error
	w     writerTx
	alone bool // runs by itself and outside a transaction
	soon  bool // need not be on the disk when its answer is given
}

// writerTx is the writer's view of a transaction on its only connection, whose statements are prepared once.
type writerTx struct {
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	change Change
}

func (w *writerTx) stmt(query string) (*sql.Stmt, error) {
	if st := w.stmts[query]; st != nil {
		return st, nil
	}
	st, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	w.stmts[query] = st
	return st, nil
}

func (w *writerTx) exec(query string, args ...any) (sql.Result, error) {
	st, err := w.stmt(query)
	if err != nil {
		return nil, err
	}
	return st.Exec(args...)
}

func (w *writerTx) row(query string, args []any, into ...any) error {
	st, err := w.stmt(query)
	if err != nil {
		return err
	}
	return st.QueryRow(args...).Scan(into...)
}

// submit queues a write and waits for its commit.
func (s *Store) submit(ctx context.Context, do func(w *writerTx) error) (err error) {
	return s.queue(ctx, &job{do: do, done: make(chan error, 1)})
}

// submitSoon queues a write and waits until it is seen by all, whatever becomes of the program. A power cut may take it back,
// with nothing else, until the next write that is synced: an answer that a person waits for is not held up by the disk.
func (s *Store) submitSoon(ctx context.Context, do func(w *writerTx) error) (err error) {
	return s.queue(ctx, &job{do: do, done: make(chan error, 1), soon: true})
}

// alone queues what SQLite does not do within a transaction.
func (s *Store) alone(ctx context.Context, do func(w *writerTx) error) (err error) {
	return s.queue(ctx, &job{do: do, done: make(chan error, 1), alone: true})
}

func (s *Store) queue(ctx context.Context, j *job) (err error) {
	defer func() {
		if recover() != nil { // the channel was closed under us
			err = errClosed
		}
	}()
	select {
	case s.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err() // it may still be committed; ids make a retry harmless
	}
}

func (s *Store) writer(conn *sql.Conn) {
	defer close(s.stopped)
	defer func() { _ = conn.Close() }()
	stmts := map[string]*sql.Stmt{}
	defer func() { // nobody else does, and a statement that is left keeps the database from being closed
		for _, st := range stmts {
			_ = st.Close()
		}
	}()
	var next *job
	expect, took := 0, time.Duration(0) // jobs of the next group, and how long the last one took
	for {
		first := next
		if next = nil; first == nil {
			var ok bool
			if first, ok = <-s.jobs; !ok {
				return
			}
		}
		if first.alone {
			err := s.sync(conn, true)
			if err == nil {
				err = first.do(&writerTx{conn: conn, stmts: stmts})
			}
			first.done <- err
			continue
		}
		var group []*job
		group, next = s.gather(first, expect, took/8)
		begun := time.Now()
		err := s.commit(conn, stmts, group)
		// Whoever is answered now comes back soon if others are at it too, and would just miss the next group.
		if expect, took = 0, time.Since(begun); len(s.jobs) > 0 {
			expect = len(group) + len(s.jobs)
		}
		for _, j := range group {
			if err != nil && len(group) > 1 {
				s.answer(j, s.commit(conn, stmts, []*job{j}))
				continue
			}
			s.answer(j, err)
		}
	}
}

// gather takes what has queued up behind first, up to a job that must run alone, which is next. Where more are expected
// it waits for them, a fraction of what a commit takes: fewer syncs serve all of them sooner.
func (s *Store) gather(first *job, expect int, patience time.Duration) (group []*job, next *job) {
	group = append(make([]*job, 0, 8), first)
	take := func(j *job, ok bool) (more bool) {
		if ok && j.alone {
			next = j
		} else if ok {
			group = append(group, j)
		}
		return ok && next == nil && len(group) < maxGroup
	}
	for more := true; more; {
		select {
		case j, ok := <-s.jobs:
			more = take(j, ok)
			continue
		default:
		}
		if len(group) >= expect {
			return group, next
		}
		late := time.NewTimer(patience)
		for more && len(group) < expect {
			select {
			case j, ok := <-s.jobs:
				more = take(j, ok)
			case <-late.C:
				return group, next
			}
		}
		late.Stop()
	}
	return group, next
}

func (s *Store) answer(j *job, err error) {
	if err == nil && s.changed != nil && (len(j.w.change.Events) > 0 || len(j.w.change.Records) > 0) {
		s.changed(j.w.change)
	}
	j.done <- err
}

// commit runs a group in one transaction. SQLite syncs its log before COMMIT returns, unless no job of the group asks it to.
func (s *Store) commit(conn *sql.Conn, stmts map[string]*sql.Stmt, group []*job) error {
	ctx := context.Background()
	if err := s.sync(conn, slices.ContainsFunc(group, func(j *job) bool { return !j.soon })); err != nil {
		return err
	}
	tx := writerTx{conn: conn, stmts: stmts}
	if _, err := tx.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	for _, j := range group {
		j.w = writerTx{conn: conn, stmts: stmts}
		if err := j.do(&j.w); err != nil {
			_, _ = conn.ExecContext(ctx, "ROLLBACK")
			s.spaces.forget()
			return err
		}
	}
	if _, err := tx.exec("COMMIT"); err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		s.spaces.forget()
		return fmt.Errorf("commit: %w", err)
	}
	s.spaces.keep()
	s.commits.Add(1)
	return nil
}

// sync makes the next commits wait for the disk or not. NORMAL leaves out just that: the log is still synced before it is
// copied into the database, so neither mode can harm the file.
func (s *Store) sync(conn *sql.Conn, full bool) error {
	if full == !s.unsynced {
		return nil
	}
	mode := "NORMAL"
	if full {
		mode = "FULL"
	}
	if _, err := conn.ExecContext(context.Background(), "PRAGMA synchronous="+mode); err != nil {
		return fmt.Errorf("set how commits are synced: %w", err)
	}
	s.unsynced = !full
	return nil
}
