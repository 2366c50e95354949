package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
	"kiro-learn/internal/logfile"
	"kiro-learn/outbox"
)

const (
	drainEvents = 256     // events of a batch
	drainBytes  = 8 << 20 // bytes of a batch
	// drainPause is how long at most an event can lie in the outbox when a hook's nudge was lost.
	drainPause = 5 * time.Second
)

// drainLoop drains the outbox at the start, after every nudge, and now and then.
func (c *Collector) drainLoop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.nudge:
		case <-timer.C:
		}
		if _, err := c.drain(ctx); err != nil && ctx.Err() == nil {
			c.o.Log.Warn("the outbox could not be drained", err)
		}
		c.keepAddress()
		timer.Reset(drainPause)
	}
}

// keepAddress makes sure that others find us: a recorded address that was lost is written again. Where the socket itself
// is gone, as after a clean-up of temporary files, nobody can come in any more, and we make room for a new collector.
func (c *Collector) keepAddress() {
	if _, err := os.Lstat(c.address); errors.Is(err, fs.ErrNotExist) {
		c.o.Log.Warn("the collector's socket is gone, so it leaves", nil)
		c.Stop()
		return
	}
	if now, err := os.Stat(c.o.Dirs.Database()); err != nil || !os.SameFile(now, c.database) {
		c.o.Log.Error("the database was taken away, so the collector leaves and the next one begins anew", err)
		c.Stop()
		return
	}
	if client.RecordedAddress(c.o.Dirs) != c.address {
		if err := record(c.o.Dirs, c.address); err != nil {
			c.o.Log.Warn("the collector's address could not be recorded", err)
		}
	}
}

// wakeDrain asks for a drain soon. It never blocks.
func (c *Collector) wakeDrain() {
	select {
	case c.nudge <- struct{}{}:
	default:
	}
}

// drain stores what the outbox holds. An event that can never be stored is set aside with the reason, and the rest flows.
func (c *Collector) drain(ctx context.Context) (int, error) {
	c.draining.Lock() // who asks to wait must not be told "busy" by our own loop
	defer c.draining.Unlock()
	n, err := c.queue.Drain(ctx, drainEvents, drainBytes, func(batch []outbox.Record) ([]outbox.Verdict, error) {
		return c.deliver(ctx, batch)
	})
	if errors.Is(err, outbox.ErrBusy) || errors.Is(err, outbox.ErrLocked) {
		err = nil // somebody else is at it, or a hook is at this moment appending; the next round sees
	}
	return n, err
}

func (c *Collector) deliver(ctx context.Context, batch []outbox.Record) ([]outbox.Verdict, error) {
	verdicts := make([]outbox.Verdict, len(batch))
	events := make([]event.Event, 0, len(batch))
	var at []int
	for i, r := range batch {
		e, err := c.decode(r.Data)
		if err != nil {
			verdicts[i] = outbox.Reject(err.Error())
			c.o.Log.Warn("an event of the outbox was set aside", nil, logfile.Str("hint", "kiro-learn outbox quarantine"))
			continue
		}
		events, at = append(events, e), append(at, i)
	}
	if len(events) > 0 {
		if _, err := c.store.AddEvents(ctx, events, c.savedRecords(events...)...); err != nil {
			return verdicts[:0], err // all of them stay
		}
	}
	for _, i := range at {
		verdicts[i] = outbox.Done()
	}
	return verdicts, nil
}

// decode reads an event of the wire and scrubs it. The error names fields, never their values.
func (c *Collector) decode(b []byte) (event.Event, error) {
	e, p, err := event.Decode(b)
	if err != nil {
		return e, err
	}
	if len(p) > 0 {
		return e, &invalid{p}
	}
	if e.ContentHash != "" && e.Firing == nil { // not one of our hooks', which leave no blanks in
		// A body is given out without blanks between its tokens, and its hash has to be that of what is given out.
		var compact bytes.Buffer
		if json.Compact(&compact, e.Body) == nil && compact.Len() < len(e.Body) {
			e.Body, e.ContentHash = compact.Bytes(), event.Hash(compact.Bytes())
		}
	}
	if scrubbed := c.scrub.JSON(e.Body); len(scrubbed) != len(e.Body) || &scrubbed[0] != &e.Body[0] {
		e.Body = scrubbed
		if e.ContentHash != "" {
			e.ContentHash = event.Hash(scrubbed)
		}
	}
	scrubNames(&e)
	return e, nil
}

// invalid is what an event or a record breaks of the wire contract.
type invalid struct{ problems []event.Problem }

func (e *invalid) Error() string {
	p := e.problems[0]
	if n := len(e.problems) - 1; n > 0 {
		return fmt.Sprintf("%s %s (and %d more)", p.Field, p.Problem, n)
	}
	return p.Field + " " + p.Problem
}

// scrubRecord takes private text and secrets out of a record and makes it keep its limits.
func (c *Collector) scrubRecord(r *event.Record) {
	texts := []string{r.Title, r.Summary}
	lists := []*[]string{&r.Facts, &r.Concepts, &r.FilesTouched}
	for _, l := range lists {
		texts = append(texts, *l...)
	}
	texts = c.scrub.Strings(texts) // a private part may begin in one field and end in another
	r.Namespace = cleanNamespace(r.Namespace)
	r.Title, r.Summary, texts = texts[0], texts[1], texts[2:]
	for _, l := range lists {
		n := len(*l)
		*l, texts = texts[:n:n], texts[n:]
	}
	r.Fit()
}
