package summary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"kiro-learn/collector/llm"
	"kiro-learn/collector/store"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

// Why no summary is made. A reason that begins with ReasonStop goes on with how the last turn ended.
const (
	ReasonDisabled = "disabled"
	ReasonInFlight = "in_flight"
	ReasonRunning  = "running"       // a turn has not ended
	ReasonMode     = "memory_mode"   // memory is switched off for the project
	ReasonStop     = "stop_reason:"  // the last turn did not end by itself
	ReasonTooFew   = "too_few_turns" // of the person
	ReasonCadence  = "cadence"       // too few turns since the last summary
)

// Codes of the wire contract for a request that is declined.
const (
	CodeNotFound    = "session_not_found"
	CodeDisabled    = "summary_disabled"
	CodeInFlight    = "summary_in_flight"
	CodeRunning     = "summary_turn_running"
	CodeUnavailable = "summary_unavailable"
)

// Declined says why a request gets no summary.
type Declined struct {
	Code string
	Text string // one sentence for a person
}

// Error is the sentence.
func (d *Declined) Error() string { return d.Text }

func decline(code, format string, args ...any) error {
	return &Declined{code, fmt.Sprintf(format, args...)}
}

// Options of a Maker. All but Now and Made are required.
type Options struct {
	Store  *store.Store
	Config config.SessionSummary
	// Engine gives the language model; the error says what is missing and what to set. It is asked anew each time, so
	// that an engine which comes later is found.
	Engine func() (llm.Engine, error)
	// Scrub takes private text and secrets out of every string of a JSON text.
	Scrub func([]byte) []byte
	// Remembers tells whether memory is switched on for the project in a directory.
	Remembers func(projectPath string) bool
	// Made gives the texts of a session's prompts that Kiro made itself; nil: none are known.
	Made func(sessionID string) []string
	// Busy is called with 1 when a summary begins to be made and with -1 when that has ended.
	Busy func(int)
	// Declines and Failed tell the log; neither is given any text of a session.
	Declines func(reason string)
	Failed   func(cause string, err error)
	Now      func() time.Time
}

// key names a session. Session ids are unique within a namespace only.
type key struct{ namespace, session string }

// flight is a summary that is being made.
type flight struct {
	done  chan struct{}
	err   error
	again bool // a turn has ended meanwhile
}

// Maker makes intent summaries: by itself after turns that end, and when it is asked. At most one of a session is under
// way at a time.
type Maker struct {
	o     Options
	ctx   context.Context // of the summaries that are being made; it outlives the request that asked for one
	leave context.CancelFunc
	wake  chan struct{}

	mu      sync.Mutex
	idle    *sync.Cond
	due     map[key]time.Time // when to look at a session
	looking int               // sessions that are being looked at
	flights map[key]*flight
	running sync.WaitGroup
}

// NewMaker gives a maker that answers requests at once, and makes summaries by itself while Run runs.
func NewMaker(o Options) *Maker {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Maker{o: o, wake: make(chan struct{}, 1), due: map[key]time.Time{}, flights: map[key]*flight{}}
	m.idle = sync.NewCond(&m.mu)
	m.ctx, m.leave = context.WithCancel(context.Background())
	return m
}

// session finds a session; without a namespace, and with several that share the id, the latest.
func (m *Maker) session(ctx context.Context, namespace, id string) (store.Session, error) {
	if namespace != "" {
		s, ok, err := m.o.Store.Session(ctx, namespace, id)
		if err == nil && !ok {
			err = decline(CodeNotFound, "there is no session with this id")
		}
		return s, err
	}
	found, err := m.o.Store.FindSession(ctx, id)
	if err != nil {
		return store.Session{}, err
	}
	if len(found) == 0 {
		return store.Session{}, decline(CodeNotFound, "there is no session with this id")
	}
	return found[0], nil
}

// Get is the summary that is kept of a session and what can be said beside it. It never makes one. A *Declined says that
// there is no such session.
func (m *Maker) Get(ctx context.Context, namespace, id string) (View, error) {
	if !m.o.Config.Enabled {
		return View{}, nil
	}
	s, err := m.session(ctx, namespace, id)
	if err != nil {
		return View{}, err
	}
	events, _, err := m.o.Store.Talk(ctx, s.Namespace, s.SessionID)
	if err != nil {
		return View{}, err
	}
	t := talkOf(events, madeIn(m.o.Made, s.SessionID))
	return m.view(ctx, s, &t)
}

func (m *Maker) view(ctx context.Context, s store.Session, t *talk) (View, error) {
	v := View{Enabled: true, UserTurns: t.count, LastActivity: s.LastEvent, GenerateState: GenerateReady}
	if t.count < m.o.Config.MinUserTurns {
		v.GenerateState = GenerateTooFew
	} else if _, err := m.o.Engine(); err != nil {
		v.GenerateState = GenerateUnavailable
	}
	kept, ok, err := m.o.Store.SessionSummary(ctx, s.Namespace, s.SessionID)
	if err != nil || !ok {
		return v, err
	}
	if err := json.Unmarshal(kept.Data, &v.Doc); err != nil {
		return v, fmt.Errorf("read a session's summary: %w", err)
	}
	v.Generated, v.Stale = &kept.Generated, kept.Sig != s.NewestID || kept.Gen != s.Gen
	return v, nil
}

// Request makes a summary of a session if it has moved since the one that is kept, waits for it, and gives it. A
// *Declined says why there is none. The summary is finished even if ctx ends before.
func (m *Maker) Request(ctx context.Context, namespace, id string) (View, error) {
	if !m.o.Config.Enabled {
		return View{}, m.refuse(ReasonDisabled, CodeDisabled, `session summaries are switched off: set "session_summary": {"enabled": true} in config.json and run kiro-learn collector stop`)
	}
	s, err := m.session(ctx, namespace, id)
	if err != nil {
		return View{}, err
	}
	k := key{s.Namespace, s.SessionID}
	f, st, err := m.begin(ctx, k, false)
	if err != nil {
		return View{}, err
	}
	if f != nil {
		select {
		case <-f.done:
		case <-ctx.Done():
			return View{}, ctx.Err()
		}
		if f.err != nil {
			return View{}, m.explain(ctx, k, f.err)
		}
		if st, err = m.look(ctx, k); err != nil {
			return View{}, err
		}
	}
	return m.view(ctx, st.session, &st.talk)
}

// explain turns the failure of a summary into what a person who asked for it is told.
func (m *Maker) explain(ctx context.Context, k key, err error) error {
	switch {
	case errors.Is(err, store.ErrGone):
		return decline(CodeNotFound, "the session was forgotten meanwhile")
	case errors.Is(err, store.ErrMoved):
		if st, lookErr := m.look(ctx, k); lookErr == nil && st.talk.running(st.last, m.o.Now()) {
			return decline(CodeRunning, "the session went on while its summary was made: ask again when its turn has ended")
		}
		return decline(CodeInFlight, "the session went on while its summary was made: ask again")
	case errors.Is(err, context.Canceled):
		return decline(CodeUnavailable, "the collector is leaving")
	}
	return decline(CodeUnavailable, "no summary could be made: %v", err)
}

func (m *Maker) refuse(reason, code, format string, args ...any) error {
	m.o.Declines(reason)
	return decline(code, format, args...)
}

// standing is a session as it was looked at: what a summary is made of, and how its freshness is told.
type standing struct {
	session store.Session // with sig and gen; read before the events, so that what comes between makes it old
	talk    talk
	last    time.Time // when its newest event happened
	kept    store.SessionSummary
	has     bool // there is one kept
}

func (st *standing) fresh() bool {
	return st.has && st.kept.Sig == st.session.NewestID && st.kept.Gen == st.session.Gen
}

// look reads a session as it stands. One that moves meanwhile is read again, a few times: what a model makes of it would be
// refused, and it has its price.
func (m *Maker) look(ctx context.Context, k key) (st standing, err error) {
	for range 3 {
		if st, err = m.glance(ctx, k); err != nil {
			return st, err
		}
		now, ok, err := m.o.Store.Session(ctx, k.namespace, k.session)
		if err != nil || ok && now.NewestID == st.session.NewestID && now.Gen == st.session.Gen {
			return st, err
		}
	}
	return st, nil
}

func (m *Maker) glance(ctx context.Context, k key) (st standing, err error) {
	var ok bool
	if st.session, ok, err = m.o.Store.Session(ctx, k.namespace, k.session); err != nil {
		return st, err
	} else if !ok {
		return st, decline(CodeNotFound, "there is no session with this id")
	}
	var events []event.Event
	if events, st.last, err = m.o.Store.Talk(ctx, k.namespace, k.session); err != nil {
		return st, err
	}
	st.talk = talkOf(events, madeIn(m.o.Made, k.session))
	st.kept, st.has, err = m.o.Store.SessionSummary(ctx, k.namespace, k.session)
	return st, err
}

// begin starts a summary unless there is a reason not to; automatic ones have two reasons more. Without an error and
// without a flight, the summary that is kept is fresh.
func (m *Maker) begin(ctx context.Context, k key, automatic bool) (*flight, standing, error) {
	if m.inFlight(k, automatic) {
		return nil, standing{}, m.refuseInFlight()
	}
	st, err := m.look(ctx, k)
	if err == nil {
		err = m.may(&st, automatic)
	}
	if err != nil || st.fresh() {
		return nil, st, err
	}
	engine, err := m.o.Engine()
	if err != nil {
		return nil, st, decline(CodeUnavailable, "%v", err)
	}
	m.mu.Lock()
	if old := m.flights[k]; old != nil {
		old.again = old.again || automatic
		m.mu.Unlock()
		return nil, st, m.refuseInFlight()
	}
	f := &flight{done: make(chan struct{})}
	m.flights[k] = f
	m.mu.Unlock()
	m.start(k, f, st, engine)
	return f, st, nil
}

// inFlight tells whether a summary of the session is being made; one that a turn's end asked for is made anew after it.
func (m *Maker) inFlight(k key, automatic bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.flights[k]
	if f != nil {
		f.again = f.again || automatic
	}
	return f != nil
}

func (m *Maker) refuseInFlight() error {
	return m.refuse(ReasonInFlight, CodeInFlight, "a summary of this session is being made: ask again in a moment")
}

// may gives the reason not to make a summary of a session as it stands, in the order of the contract.
func (m *Maker) may(st *standing, automatic bool) error {
	c := m.o.Config
	stop := st.talk.stopReason()
	switch {
	case st.talk.running(st.last, m.o.Now()):
		return m.refuse(ReasonRunning, CodeRunning, "a turn of this session is running: ask again when it has ended")
	case !m.o.Remembers(st.session.ProjectPath):
		return m.refuse(ReasonMode, CodeUnavailable, `memory is switched off for this project ("enabled": false in its .kiro/kiro-learn.json or in config.json)`)
	case automatic && stop != "":
		return m.refuse(ReasonStop+stop, CodeUnavailable, "the last turn did not end by itself")
	case st.talk.count < c.MinUserTurns:
		return m.refuse(ReasonTooFew, CodeUnavailable, "the session has %d of the %d turns that session_summary.min_user_turns in config.json asks for", st.talk.count, c.MinUserTurns)
	case automatic && st.has && st.talk.count-st.kept.UserTurns < c.RegenerateAfterTurns:
		return m.refuse(ReasonCadence, CodeUnavailable, "too few turns since the last summary")
	}
	return nil
}

// start makes the summary in the background.
func (m *Maker) start(k key, f *flight, st standing, engine llm.Engine) {
	m.o.Busy(1)
	m.running.Go(func() {
		err := m.make(m.ctx, k, &st, engine)
		m.o.Busy(-1)
		if err != nil && m.ctx.Err() == nil {
			m.o.Failed("no session summary was made", err)
		}
		m.end(k, f, err)
	})
}

func (m *Maker) end(k key, f *flight, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.err = err
	close(f.done)
	delete(m.flights, k)
	if f.again && m.ctx.Err() == nil {
		m.schedule(k, m.o.Now())
	}
	m.idle.Broadcast()
}

// make asks the model and keeps what it says if the session is still what it was asked about.
func (m *Maker) make(ctx context.Context, k key, st *standing, engine llm.Engine) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("making a session summary panicked")
		}
	}()
	c := m.o.Config
	// One that was finished between our look and our start must not be paid for twice.
	if st.kept, st.has, err = m.o.Store.SessionSummary(ctx, k.namespace, k.session); err != nil || st.fresh() {
		return err
	}
	reply, err := engine.Complete(ctx, promptFor(&st.talk, c.AssistantExcerptChars, c.MaxIntents, c.MaxConstraints))
	if err != nil {
		return err
	}
	raw, err := objectIn(reply)
	if err != nil {
		return err
	}
	// Before anything is cut: half a key is no longer known for one.
	doc, err := normal(m.o.Scrub(raw), st.talk.count, c.MaxIntents, c.MaxConstraints)
	if err != nil {
		return err
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode a session summary: %w", err)
	}
	return m.o.Store.SaveSessionSummary(ctx, k.namespace, k.session, store.SessionSummary{
		Sig: st.session.NewestID, Gen: st.session.Gen,
		UserTurns: st.talk.count, State: doc.State(), Generated: m.o.Now(), Data: m.o.Scrub(data),
	})
}
