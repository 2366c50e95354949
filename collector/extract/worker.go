package extract

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

const (
	// openTurn is how long after its last event a turn without an end still counts as running.
	openTurn = 10 * time.Minute
	// batchEvents is how many events of one session are taken at once at most.
	batchEvents = 4000
	// giveUp is how often a batch may fail before its events are let go without a record, so that the queue moves on.
	giveUp = 3
)

// Distil makes records of closed turns.
type Distil func(ctx context.Context, turns []Turn) ([]event.Record, error)

// About makes the records about a session as a whole of a batch of its turns and what was distilled of them. Without any,
// the batch has none; it cannot fail.
type About func(ctx context.Context, namespace, sessionID string, turns []Turn, records []event.Record) []store.SessionRecord

// Options of a worker.
type Options struct {
	Store      *store.Store
	Distil     Distil
	About      About         // may be nil
	Idle       time.Duration // how long a session is quiet before its closed turns are distilled
	BatchBytes int           // pending bytes of a session that are not made to wait for quiet
	Now        func() time.Time
	Failed     func(cause string, err error) // tells the log; err holds no text of an event
}

// Worker feeds the pending events of the store to an engine, session by session. What is pending is kept in the database,
// so a worker may die at any instruction: records and cleared marks are committed together.
type Worker struct {
	o      Options
	wake   chan struct{}
	pass   sync.Mutex           // one pass at a time
	looked map[string]time.Time // session → newest event when its open turn was last looked at
	failed map[string]int       // session → failures in a row
}

// NewWorker gives a worker that does nothing until Run or Flush is called.
func NewWorker(o Options) *Worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Worker{o: o, wake: make(chan struct{}, 1), looked: map[string]time.Time{}, failed: map[string]int{}}
}

// Wake tells the worker that events have come. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run distils what becomes ready until ctx ends. It sleeps while nothing is pending.
func (w *Worker) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
		next, err := w.once(ctx, false)
		if err != nil && ctx.Err() == nil {
			w.o.Failed("extraction failed", err)
			next = w.o.Now().Add(openTurn / 10)
		}
		timer.Stop()
		if !next.IsZero() {
			timer.Reset(max(next.Sub(w.o.Now()), 10*time.Millisecond))
		}
	}
}

// Flush distils everything that is pending, running turns too, and returns when nothing is.
func (w *Worker) Flush(ctx context.Context) error {
	for last := -1; ; {
		n, err := w.o.Store.PendingCount(ctx)
		if err != nil || n == 0 {
			return err
		}
		if n == last {
			return fmt.Errorf("%d events could not be distilled", n)
		}
		last = n
		if _, err := w.once(ctx, true); err != nil {
			return err
		}
	}
}

// once distils every session that is ready, or all when forced, and says when the next one will be.
func (w *Worker) once(ctx context.Context, force bool) (next time.Time, err error) {
	w.pass.Lock()
	defer w.pass.Unlock()
	back, err := w.o.Store.Backlogs(ctx)
	if err != nil {
		return next, err
	}
	for _, b := range back {
		at, err := w.session(ctx, b, force)
		if err != nil {
			return next, err
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if len(back) == 0 {
		clear(w.looked)
	}
	return next, nil
}

// session distils what is ready of one session and says when there will be more; zero when only a new event makes more.
func (w *Worker) session(ctx context.Context, b store.Backlog, force bool) (again time.Time, err error) {
	key := b.Namespace + "\x00" + b.SessionID
	now := w.o.Now()
	if !force {
		if quiet := b.Newest.Add(w.o.Idle); now.Before(quiet) && b.Bytes < int64(w.o.BatchBytes) {
			return quiet, nil
		}
		if w.looked[key].Equal(b.Newest) && now.Before(b.Newest.Add(openTurn)) {
			return b.Newest.Add(openTurn), nil
		}
	}
	events, err := w.o.Store.Pending(ctx, b.Namespace, b.SessionID, batchEvents)
	if err != nil {
		return again, err
	}
	turns, ids := closed(Turns(events), force || len(events) == batchEvents || !now.Before(b.Newest.Add(openTurn)))
	if len(turns) == 0 {
		w.looked[key] = b.Newest
		return b.Newest.Add(openTurn), nil
	}
	if err := w.recall(ctx, turns); err != nil {
		return again, err
	}
	records, err := w.distil(ctx, turns)
	if err != nil {
		if ctx.Err() != nil {
			return again, ctx.Err()
		}
		w.failed[key]++
		w.o.Failed("a batch could not be distilled", err)
		if w.failed[key] < giveUp {
			return now.Add(w.o.Idle << w.failed[key]), nil
		}
		records = nil
	}
	delete(w.failed, key)
	if _, err := w.o.Store.Distilled(ctx, ids, records, w.about(ctx, b, turns, records)...); err != nil {
		return again, err
	}
	delete(w.looked, key)
	if len(ids) < b.Events {
		return now, nil // the rest is looked at in the next pass
	}
	return again, nil
}

// distil calls the engine; one that panics fails like any other.
func (w *Worker) distil(ctx context.Context, turns []Turn) (records []event.Record, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the engine panicked")
		}
	}()
	return w.o.Distil(ctx, turns)
}

// about makes the records about the session; one that panics makes none.
func (w *Worker) about(ctx context.Context, b store.Backlog, turns []Turn, records []event.Record) (out []store.SessionRecord) {
	if w.o.About == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			w.o.Failed("a batch has no summary", errors.New("making one panicked"))
			out = nil
		}
	}()
	return w.o.About(ctx, b.Namespace, b.SessionID, turns, records)
}

// closed gives the turns that have ended, with the ids of their events; the last one only if it has an answer or all is
// set.
func closed(turns []Turn, all bool) (out []Turn, ids []string) {
	for i, t := range turns {
		if i == len(turns)-1 && !all && t.Answer == nil && (t.Prompt != nil || len(t.Tools) > 0) {
			break
		}
		out = append(out, t)
	}
	seen := map[string]bool{}
	add := func(e *event.Event) {
		if e != nil && !seen[e.EventID] {
			seen[e.EventID] = true
			ids = append(ids, e.EventID)
		}
	}
	for i := range out {
		t := &out[i]
		add(t.Prompt)
		for k := range t.Tools {
			add(&t.Tools[k])
		}
		add(t.Answer)
		for k := range t.Notes {
			add(&t.Notes[k])
		}
	}
	return out, ids
}

// recall fetches the prompt of a turn whose beginning was distilled before, as context.
func (w *Worker) recall(ctx context.Context, turns []Turn) error {
	for i := range turns {
		t := &turns[i]
		if t.Prompt != nil {
			continue
		}
		parent := ""
		if len(t.Tools) > 0 {
			parent = t.Tools[0].ParentEventID
		} else if t.Answer != nil {
			parent = t.Answer.ParentEventID
		}
		if parent == "" {
			continue
		}
		e, ok, err := w.o.Store.Event(ctx, parent)
		if err != nil {
			return err
		}
		if ok {
			t.Prompt, t.Continued = &e, true
		}
	}
	return nil
}
