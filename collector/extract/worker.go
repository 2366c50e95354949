package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	// giveUp is how often a batch may fail before its events are distilled by the fallback, or let go without a record
	// where there is none, so that the queue moves on.
	giveUp = 3
	// laterPause is how long events that the fallback has distilled wait at least before the engine tries them again;
	// twice as long after each failure, up to laterMost.
	laterPause = 10 * time.Minute
	laterMost  = 6 * time.Hour
	// laterTries is how often it tries.
	laterTries = 6
	// minRest and maxRest bound the pause between two looks for work.
	minRest = 50 * time.Millisecond
	maxRest = time.Second
	// turnTools is how many earlier tool uses of a turn are context at most.
	turnTools = 200
)

// Distil makes records of closed turns.
type Distil func(ctx context.Context, turns []Turn) ([]event.Record, error)

// About makes the records about a session as a whole of a batch of its turns and what was distilled of them. Without any,
// the batch has none; it cannot fail.
type About func(ctx context.Context, namespace, sessionID string, turns []Turn, records []event.Record) []store.SessionRecord

// Options of a worker.
type Options struct {
	Store    *store.Store
	Distil   Distil
	Fallback Distil                 // for batches that Distil keeps failing on; nil: they make no records
	Fit      func(turns []Turn) int // how many of the first turns one batch takes, at least one; nil: all
	// Reconcile tells which stored records the new ones stand for; nil: none.
	Reconcile   func(ctx context.Context, made []event.Record) ([]store.Supersession, error)
	Rests       func(err error) bool // the engine was not asked at all; nil: it always was
	Concurrency int                  // batches at once; 0: one
	About       About                // may be nil
	Idle        time.Duration        // how long a session is quiet before its closed turns are distilled
	BatchBytes  int                  // pending bytes of a session that are not made to wait for quiet
	Now         func() time.Time
	Failed      func(cause string, err error) // tells the log; err holds no text of an event
}

// Worker feeds the pending events of the store to an engine, session by session. What is pending is kept in the database,
// so a worker may die at any instruction: records and cleared marks are committed together.
type Worker struct {
	o    Options
	wake chan struct{}
	pass sync.Mutex // one pass at a time

	mu      sync.Mutex           // over what follows
	looked  map[string]time.Time // session → newest event when its open turn was last looked at
	failed  map[string]setback   // session → failures in a row
	laterAt time.Time            // when the engine may try again what the fallback has distilled
	pauses  int                  // failures in a row of that
}

type setback struct {
	times int
	until time.Time // not to be tried before
}

// NewWorker gives a worker that does nothing until Run or Flush is called.
func NewWorker(o Options) *Worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Worker{o: o, wake: make(chan struct{}, 1), looked: map[string]time.Time{}, failed: map[string]setback{}}
}

// Failures says how many sessions have batches that failed and are tried again, and when the engine may try again what the
// fallback has distilled; zero when it may at once.
func (w *Worker) Failures() (sessions int, laterAt time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.failed), w.laterAt
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
		begun := time.Now()
		next, err := w.once(ctx, false)
		rest(ctx, begun)
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

// rest keeps looking for work from being work itself: events wake the worker far oftener than there is anything to distil,
// and each look reads the marks of all that is pending.
func rest(ctx context.Context, begun time.Time) {
	pause := time.NewTimer(min(max(20*time.Since(begun), minRest), maxRest))
	defer pause.Stop()
	select {
	case <-ctx.Done():
	case <-pause.C:
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
	var mu sync.Mutex
	sooner := func(at time.Time, failed error) {
		mu.Lock()
		defer mu.Unlock()
		err = errors.Join(err, failed)
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	var busy sync.WaitGroup
	slots := make(chan struct{}, max(w.o.Concurrency, 1))
	for _, b := range back {
		slots <- struct{}{}
		busy.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() == nil {
				sooner(w.session(ctx, b, force))
			}
		})
	}
	busy.Wait()
	if err != nil {
		return next, err
	}
	if !force {
		sooner(w.later(ctx))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(back) == 0 {
		clear(w.looked)
		clear(w.failed)
	}
	return next, err
}

// session distils what is ready of one session and says when there will be more; zero when only a new event makes more.
func (w *Worker) session(ctx context.Context, b store.Backlog, force bool) (again time.Time, err error) {
	key := b.Namespace + "\x00" + b.SessionID
	now := w.o.Now()
	if !force {
		if at := w.notBefore(key, b, now); now.Before(at) {
			return at, nil
		}
	}
	events, err := w.o.Store.Pending(ctx, b.Namespace, b.SessionID, batchEvents)
	if err != nil {
		return again, err
	}
	turns := closed(Turns(events), force || len(events) == batchEvents || !now.Before(b.Newest.Add(openTurn)))
	if len(turns) == 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.looked[key] = b.Newest
		return b.Newest.Add(openTurn), nil
	}
	turns = w.fit(turns)
	batch := store.Batch{Events: idsOf(turns)}
	if err := w.recall(ctx, turns); err != nil {
		return again, err
	}
	if again, err = w.fill(ctx, key, turns, &batch, force); err != nil || !again.IsZero() {
		return again, err
	}
	batch.About = w.about(ctx, b, turns, batch.Records)
	if _, err := w.o.Store.DistilledBatch(ctx, batch); err != nil {
		return again, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.failed, key)
	delete(w.looked, key)
	if len(batch.Events) < b.Events {
		return now, nil // the rest is looked at in the next pass
	}
	return again, nil
}

// notBefore is when a session may be distilled: when it is quiet or has much to say, and not at once after a failure.
func (w *Worker) notBefore(key string, b store.Backlog, now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.failed[key]; now.Before(f.until) {
		return f.until
	}
	if quiet := b.Newest.Add(w.o.Idle); now.Before(quiet) && b.Bytes < int64(w.o.BatchBytes) {
		return quiet
	}
	if w.looked[key].Equal(b.Newest) {
		return b.Newest.Add(openTurn)
	}
	return now
}

func (w *Worker) fit(turns []Turn) []Turn {
	if w.o.Fit == nil {
		return turns
	}
	return turns[:min(max(w.o.Fit(turns), 1), len(turns))]
}

// fill makes the records of a batch. Where the engine fails it says when to try again, or has the fallback make them when
// that has happened too often.
func (w *Worker) fill(ctx context.Context, key string, turns []Turn, b *store.Batch, force bool) (again time.Time, err error) {
	for {
		if b.Records, err = w.distil(ctx, w.o.Distil, turns); err == nil {
			w.engineWorks()
			break
		}
		if ctx.Err() != nil {
			return again, ctx.Err()
		}
		w.o.Failed("a batch could not be distilled", err)
		f := w.failedOnce(key)
		if f.times < giveUp && !force {
			return f.until, nil
		}
		if f.times < giveUp {
			continue
		}
		b.Records = nil
		if w.o.Fallback != nil {
			if b.Records, err = w.distil(ctx, w.o.Fallback, turns); err != nil {
				w.o.Failed("a batch could not be distilled by the rules", err)
			}
			b.Later = true
		}
		break
	}
	b.Supersedes, err = w.reconcile(ctx, append(savedIn(turns), b.Records...))
	return again, err
}

// savedIn are the records that an agent has saved itself in the turns; they were stored with their notes.
func savedIn(turns []Turn) (out []event.Record) {
	for i := range turns {
		for k := range turns[i].Notes {
			if s := turns[i].Notes[k].Saved(); s != nil {
				out = append(out, *s.Record)
			}
		}
	}
	return out
}

func (w *Worker) reconcile(ctx context.Context, made []event.Record) ([]store.Supersession, error) {
	if w.o.Reconcile == nil || len(made) == 0 {
		return nil, nil
	}
	return w.o.Reconcile(ctx, made)
}

func (w *Worker) failedOnce(key string) setback {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.failed[key]
	f.times++
	f.until = w.o.Now().Add(w.o.Idle << f.times)
	w.failed[key] = f
	return f
}

// engineWorks lets what the fallback has distilled be tried again at once.
func (w *Worker) engineWorks() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.laterAt, w.pauses = time.Time{}, 0
}

// later has the engine try again, a batch at a time, what the fallback has distilled, and says when the next try is due.
func (w *Worker) later(ctx context.Context) (again time.Time, err error) {
	if w.o.Fallback == nil {
		return again, nil
	}
	events, err := w.o.Store.Later(ctx, batchEvents)
	if err != nil || len(events) == 0 {
		return again, err
	}
	w.mu.Lock()
	at, now := w.laterAt, w.o.Now()
	if at.IsZero() { // a first try after the last failure, or a start
		at = now
	}
	w.mu.Unlock()
	if now.Before(at) {
		return at, nil
	}
	turns := w.fit(Turns(events))
	b := store.Batch{Events: idsOf(turns)}
	if err := w.recall(ctx, turns); err != nil {
		return again, err
	}
	b.Records, err = w.distil(ctx, w.o.Distil, turns)
	switch {
	case err == nil:
		w.engineWorks()
		if b.Supersedes, err = w.reconcile(ctx, b.Records); err != nil {
			return again, err
		}
		_, err = w.o.Store.Redistilled(ctx, b)
		return now, err
	case ctx.Err() != nil:
		return again, ctx.Err()
	case w.o.Rests == nil || !w.o.Rests(err):
		w.o.Failed("a batch could not be distilled again", err)
		if err := w.o.Store.PutOff(ctx, b.Events, laterTries); err != nil {
			return again, err
		}
	}
	return w.pause(now), nil
}

func (w *Worker) pause(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.laterAt = now.Add(min(laterPause<<min(w.pauses, 10), laterMost))
	w.pauses++
	return w.laterAt
}

// distil calls the engine; one that panics fails like any other.
func (w *Worker) distil(ctx context.Context, with Distil, turns []Turn) (records []event.Record, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the engine panicked")
		}
	}()
	return with(ctx, turns)
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

// closed gives the turns that have ended; the last one only if it has an answer or all is set.
func closed(turns []Turn, all bool) []Turn {
	if n := len(turns) - 1; n >= 0 && !all {
		if t := &turns[n]; t.Answer == nil && (t.Prompt != nil || len(t.Tools) > 0) {
			return turns[:n]
		}
	}
	return turns
}

// idsOf are the ids of the turns' events. It is asked before events of earlier batches join them as context.
func idsOf(turns []Turn) (ids []string) {
	seen := map[string]bool{}
	add := func(e *event.Event) {
		if e != nil && !seen[e.EventID] {
			seen[e.EventID] = true
			ids = append(ids, e.EventID)
		}
	}
	for i := range turns {
		t := &turns[i]
		add(t.Prompt)
		for k := range t.Tools {
			add(&t.Tools[k])
		}
		add(t.Answer)
		for k := range t.Notes {
			add(&t.Notes[k])
		}
	}
	return ids
}

// recall fetches what was distilled before of a turn that goes on, as context: its prompt and its tool uses, so that a
// failure then and its fix now are seen together.
func (w *Worker) recall(ctx context.Context, turns []Turn) error {
	for i := range turns {
		t := &turns[i]
		if t.Prompt != nil {
			continue
		}
		child := t.Answer
		if len(t.Tools) > 0 {
			child = &t.Tools[0]
		}
		if child == nil || child.ParentEventID == "" {
			continue
		}
		e, ok, err := w.o.Store.Event(ctx, child.ParentEventID)
		if err != nil {
			return err
		}
		if !ok || e.Namespace != child.Namespace {
			continue
		}
		t.Prompt, t.Continued = &e, true
		before, err := w.o.Store.TurnTools(ctx, child.Namespace, child.SessionID, e.EventID, turnTools)
		if err != nil {
			return err
		}
		own := map[string]bool{}
		for k := range t.Tools {
			own[t.Tools[k].EventID] = true
		}
		before = slices.DeleteFunc(before, func(e event.Event) bool { return own[e.EventID] })
		t.Tools, t.Seen = append(before, t.Tools...), len(before)
	}
	return nil
}
