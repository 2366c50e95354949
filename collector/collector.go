// Package collector is the daemon: it listens on a private socket, takes events in, keeps them and the memory records made
// of them, answers recall, drains the outbox, and leaves when it is idle. There is one per user: whoever holds the lock
// in the state directory, and only it, listens and writes.
package collector

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kiro-learn/collector/extract"
	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/collector/summary"
	"kiro-learn/collector/viewer"
	"kiro-learn/internal/atomicfile"
	"kiro-learn/internal/config"
	"kiro-learn/internal/eventid"
	"kiro-learn/internal/logfile"
	"kiro-learn/internal/privacy"
	"kiro-learn/outbox"
)

// maxRequest is the largest request body in bytes; a larger one gets 413.
const maxRequest = 2 << 20

// ErrRunning means that another collector of this user answers, so there is nothing to do.
var ErrRunning = errors.New("a collector is running already")

// ErrStopped means that a person stopped the collector while this one waited for its place.
var ErrStopped = errors.New("the collector was stopped")

// Options of a collector.
type Options struct {
	Dirs    config.Dirs
	Config  config.Config
	Version string
	Log     *logfile.Log
	Now     func() time.Time                   // nil: time.Now
	Made    func(sessionID string) []string    // gives the texts of a session's prompts that Kiro made itself; nil: none are known
	Doctor  func(context.Context) (any, error) // gives doctor's findings, a list that is JSON; nil: there is none
	Listen  *Listen                            // a TCP address too; the collector then never leaves for being idle
}

// Collector is a running collector.
type Collector struct {
	o         Options
	store     *store.Store
	recall    *recall.Engine
	recalled  retrievals
	embedding *embedding // nil: recall goes by words alone
	worker    *extract.Worker
	engine    *engine
	summaries *summary.Maker
	queue     *outbox.Queue
	ids       *eventid.Source
	scrub     privacy.Scrubber
	address   string
	database  os.FileInfo // as it was when we opened it
	pages     *viewer.Viewer
	gate      *gate // before requests over TCP; nil: there are none
	feed      feed
	meter     meter
	damage    atomic.Pointer[string] // what a check of the database found and could not be mended
	nudge     chan struct{}
	draining  sync.Mutex
	stop      chan struct{}
	stopped   sync.Once
	started   time.Time
	last      atomic.Int64 // when the last request ended, in Unix nanoseconds
	running   atomic.Int64 // requests under way
	served    atomic.Int64 // requests answered
}

// openStore opens the database, or says what to do about it.
func openStore(o Options, changed func(store.Change)) (*store.Store, error) {
	st, err := store.Open(o.Dirs.Database(), store.Options{Index: recall.Index{}, Now: o.Now, Changed: changed})
	if err == nil {
		return st, nil
	}
	if errors.Is(err, store.ErrNewer) {
		return nil, fmt.Errorf("%w; install that version again, or move %s away", err, o.Dirs.Database())
	}
	if text := err.Error(); strings.Contains(text, "malformed") || strings.Contains(text, "not a database") {
		return nil, fmt.Errorf("%w; it is damaged: move it away, or put a backup (%s.before-…) in its place; new events wait in the outbox meanwhile", err, o.Dirs.Database())
	}
	return nil, err
}

// Run is a collector's whole life: it returns when ctx ends, when the collector has been idle for long enough, or when a
// newer version asked it to leave. It gives ErrRunning where another one is alive.
func Run(ctx context.Context, o Options) (err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	unlock, err := takeOver(ctx, o)
	if err != nil {
		return err
	}
	defer unlock()
	c := &Collector{
		o: o, nudge: make(chan struct{}, 1), stop: make(chan struct{}), started: o.Now(),
		queue: outbox.New(o.Dirs.Outbox(), outbox.Options{MaxBytes: o.Config.Outbox.MaxBytes}),
		ids:   eventid.New(o.Dirs.State, o.Now), scrub: privacy.Scrubber{Secrets: o.Config.Privacy.RedactSecrets},
	}
	if c.store, err = openStore(o, c.changed); err != nil {
		_ = atomicfile.WriteUnsynced(o.Dirs.FailureFile(), []byte(err.Error()), 0o600) // for status and doctor; the log says it too
		return err
	}
	_ = os.Remove(o.Dirs.FailureFile())
	defer func() { err = errors.Join(err, c.store.Close()) }()
	c.recall = recall.New(c.store)
	c.embedding = c.newEmbedding()
	c.engine = newEngine(o)
	c.summaries = c.newSummaries()
	c.worker = c.newWorker(extract.Options{
		Store: c.store, About: c.newChunker().Of, Idle: time.Duration(o.Config.Extract.Idle),
		BatchBytes: o.Config.Extract.BatchBytes, Now: o.Now, Failed: func(cause string, err error) { o.Log.Warn(cause, err) },
	})
	listener, err := listen(ctx, o.Dirs)
	if err != nil {
		return err
	}
	c.address = listener.Addr().String()
	if c.database, err = os.Stat(o.Dirs.Database()); err != nil {
		return fmt.Errorf("look at the database: %w", err)
	}
	listeners := []net.Listener{listener}
	if o.Listen != nil {
		tcp, gate, err := o.Listen.open(ctx)
		if err != nil {
			_ = listener.Close()
			return err
		}
		c.gate, listeners = gate, append(listeners, tcp)
		c.o.Log.Info("listening on TCP", nil, logfile.Str("address", tcp.Addr().String()))
	}
	return c.serve(ctx, listeners...)
}

// serve answers requests and drains the outbox until it is time to leave.
func (c *Collector) serve(ctx context.Context, listeners ...net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.last.Store(c.o.Now().UnixNano())
	handler := c.handler()
	c.pages = viewer.New(viewer.Options{
		API: handler, State: c.o.Dirs.State, Version: c.o.Version, Now: c.o.Now,
		Failed: func(err error) { c.o.Log.Warn("a page could not be shown", err) },
	})
	if err := c.pages.Resume(ctx); err != nil {
		c.o.Log.Warn("the pages stay closed until kiro-learn ui is typed", err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: nil, BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: markTCP,
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- server.Serve(l) }()
	}
	var busy sync.WaitGroup
	busy.Go(func() { c.drainLoop(ctx) })
	busy.Go(func() { c.worker.Run(ctx) })
	busy.Go(func() { c.summaries.Run(ctx) })
	busy.Go(func() { c.housekeep(ctx) })
	busy.Go(func() { c.embedRecords(ctx) })
	c.o.Log.Info("collector started", nil, logfile.Str("version", c.o.Version), logfile.Int("pid", int64(os.Getpid())))
	var err error
	select {
	case <-ctx.Done():
	case <-c.stop:
	case <-c.idle(ctx):
	case err = <-failed:
	}
	graceful, done := context.WithTimeout(context.Background(), 3*time.Second)
	defer done()
	c.feed.close()
	c.pages.Close(graceful)
	_ = server.Shutdown(graceful) // requests that do not end in time are cut off; their senders keep the events
	_ = server.Close()
	cancel()
	busy.Wait()
	c.o.Log.Info("collector stopped", err)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// Stop makes Run return soon.
func (c *Collector) Stop() { c.stopped.Do(func() { close(c.stop) }) }

// idle is closed when no request has come for the configured time and nothing is under way.
func (c *Collector) idle(ctx context.Context) <-chan struct{} {
	out := make(chan struct{})
	if c.o.Listen != nil {
		return out
	}
	limit := time.Duration(c.o.Config.Collector.IdleExit)
	go func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			quiet := c.o.Now().Sub(time.Unix(0, c.last.Load()))
			if c.running.Load() == 0 && quiet >= limit {
				close(out)
				return
			}
			timer.Reset(max(limit-quiet, time.Second))
		}
	}()
	return out
}

// changed hears of every commit.
func (c *Collector) changed(ch store.Change) {
	c.meter.stored(c.o.Now(), len(ch.Events), len(ch.Records))
	if len(ch.Events) > 0 {
		c.worker.Wake()
		c.summaries.Heard(ch.Events)
	}
	if len(ch.Records) > 0 {
		c.embedding.heard()
	}
	c.feed.publish(ch)
}

// recordID makes the id of a new record.
func (c *Collector) recordID() string { return "mr_" + c.ids.Next(50*time.Millisecond) }
