package collector

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"kiro-learn/collector/llm"
	"kiro-learn/collector/store"
	"kiro-learn/collector/summary"
	"kiro-learn/internal/config"
	"kiro-learn/internal/logfile"
)

// newSummaries gives the maker of intent summaries.
func (c *Collector) newSummaries() *summary.Maker {
	return summary.NewMaker(summary.Options{
		Store: c.store, Config: c.o.Config.SessionSummary, Engine: c.engine.get, Scrub: c.scrub.JSON, Now: c.o.Now,
		Remembers: func(root string) bool { return c.o.Config.Enabled && config.ProjectEnabled(root) },
		Busy: func(n int) {
			c.last.Store(c.o.Now().UnixNano())
			c.running.Add(int64(n))
		},
		Made: c.made,
		Declines: func(reason string) {
			c.o.Log.Info("no session summary: "+reason, nil, logfile.Str("reason", reason))
		},
		Failed: func(cause string, err error) { c.o.Log.Warn(cause, err) },
	})
}

// made are the prompts of a session that Kiro made itself, as they are stored.
func (c *Collector) made(sessionID string) []string {
	if c.o.Made == nil {
		return nil
	}
	texts := c.o.Made(sessionID)
	for i, t := range texts {
		texts[i] = c.scrub.Text(t)
	}
	return texts
}

// newChunker gives the maker of the records about sessions as a whole.
func (c *Collector) newChunker() *summary.Chunker {
	k := &summary.Chunker{Store: c.store, NewID: c.recordID, Scrub: c.scrub.Text, Made: c.made, Failed: func(cause string, err error) { c.o.Log.Warn(cause, err) }}
	if c.o.Config.Extract.Engine == "llm" {
		k.Engine = c.engine.get
	}
	return k
}

// engine makes the language model of the settings when it is first needed. One that could not be made is tried again,
// since what is missing may be installed meanwhile.
type engine struct {
	mu    sync.Mutex
	make  func() (llm.Engine, error)
	model llm.Engine
	err   error // why there is none
}

func newEngine(o Options) *engine {
	var first sync.Once
	return &engine{make: func() (llm.Engine, error) {
		first.Do(func() { llm.KillLeftovers(o.Dirs.Child()) }) // of a collector that was killed; we hold its lock now
		return llm.New(o.Config.LLM, llm.Options{ChildDir: o.Dirs.Child(), Concurrency: o.Config.Extract.Concurrency})
	}}
}

func (e *engine) get() (llm.Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.model != nil {
		return e.model, nil
	}
	m, err := e.make()
	if e.err = err; err == nil {
		e.model = m
	}
	return m, err
}

// made is the language model if it has been needed so far, or why it could not be made.
func (e *engine) made() (llm.Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.model, e.err
}

// getSummary gives the summary that is kept of a session. It never asks a model.
func (c *Collector) getSummary(w http.ResponseWriter, r *http.Request) {
	v, err := c.summaries.Get(r.Context(), r.URL.Query().Get("namespace"), r.PathValue("id"))
	c.answerSummary(w, r, v, err)
}

// postSummary makes a summary of a session that has moved, and waits for it.
func (c *Collector) postSummary(w http.ResponseWriter, r *http.Request) {
	patient(w)
	v, err := c.summaries.Request(r.Context(), r.URL.Query().Get("namespace"), r.PathValue("id"))
	c.answerSummary(w, r, v, err)
}

// givenSession is a session in a list, with what its summary says of it in one word.
type givenSession struct {
	store.Session
	State string `json:"state,omitempty"` // needs-you, in-progress, done or dropped; absent without a summary
}

// withStates gives sessions the states of their summaries, where summaries are switched on.
func (c *Collector) withStates(ctx context.Context, namespace string, items []store.Session) ([]givenSession, error) {
	states := map[string]map[string]string(nil)
	if c.o.Config.SessionSummary.Enabled {
		var err error
		if states, err = c.store.SummaryStates(ctx, namespace); err != nil {
			return nil, err
		}
	}
	out := make([]givenSession, len(items))
	for i, s := range items {
		out[i] = givenSession{s, states[s.Namespace][s.SessionID]}
	}
	return out, nil
}

const (
	digestSteps = 6
	digestTime  = 150 * time.Millisecond // for reading a session; the hook that waits has half a second in all
)

// openSteps are what is left to do in a session: by its summary if that is fresh, else by rules, as far as its events can
// be read in time.
func (c *Collector) openSteps(ctx context.Context, namespace, session string) []string {
	if session == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, digestTime)
	defer cancel()
	v, err := c.summaries.Get(ctx, namespace, session)
	if err != nil || len(v.Intents) == 0 || v.Stale {
		v, err = c.summaries.Outline(ctx, namespace, session)
	}
	if err != nil {
		return nil
	}
	open := v.Open()
	return open[:min(len(open), digestSteps)]
}

// getOutline gives what rules make of a session's events, whether or not summaries are switched on.
func (c *Collector) getOutline(w http.ResponseWriter, r *http.Request) {
	v, err := c.summaries.Outline(r.Context(), r.URL.Query().Get("namespace"), r.PathValue("id"))
	c.answerSummary(w, r, v, err)
}

// patient keeps a request alive that takes longer than reading one may.
func patient(w http.ResponseWriter) { _ = http.NewResponseController(w).SetReadDeadline(time.Time{}) }

func (c *Collector) answerSummary(w http.ResponseWriter, r *http.Request, v summary.View, err error) {
	var declined *summary.Declined
	switch {
	case errors.As(err, &declined):
		status := http.StatusConflict
		if declined.Code == summary.CodeNotFound {
			status = http.StatusNotFound
		}
		reply(w, status, map[string]string{"error": declined.Text, "code": declined.Code})
	case err != nil && errors.Is(err, context.Canceled):
		fail(w, http.StatusServiceUnavailable, "the request was given up", nil)
	case err != nil:
		c.internal(w, "read the session's summary", err)
	default:
		if forAgent(r) {
			v.Doc = v.Doc.Map(neutralLine)
		}
		reply(w, http.StatusOK, v)
	}
}
