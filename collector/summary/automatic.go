package summary

import (
	"context"
	"errors"
	"time"

	"kiro-learn/internal/event"
)

// Heard tells the maker of events that have been stored. A turn that ended is looked at soon; a turn that does not end is
// looked at when it no longer counts as running. It never blocks.
func (m *Maker) Heard(events []event.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.o.Now()
	for i := range events {
		e := &events[i]
		k := key{e.Namespace, e.SessionID}
		switch {
		case !m.o.Config.Enabled:
			if e.Kind == event.KindSessionSummary {
				m.due[k] = now // to be declined, where it does not hold up the writer
				m.poke()
			}
		case e.Kind == event.KindSessionSummary:
			m.schedule(k, now)
		case e.Kind == event.KindPrompt || e.Kind == event.KindToolUse:
			if at, ok := m.due[k]; !ok || at.After(now) {
				m.schedule(k, now.Add(openTurn))
			}
		}
	}
}

// schedule is called with the lock held.
func (m *Maker) schedule(k key, at time.Time) {
	m.due[k] = at
	m.poke()
}

func (m *Maker) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Run makes summaries after turns until ctx ends; then it breaks off what is being made and waits for that to end.
func (m *Maker) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-m.wake:
			m.pass(ctx, timer)
		case <-timer.C:
			m.pass(ctx, timer)
		}
	}
	m.leave()
	m.running.Wait()
}

// pass looks at every session that is due, and sets the timer for the next one.
func (m *Maker) pass(ctx context.Context, timer *time.Timer) {
	m.mu.Lock()
	now := m.o.Now()
	var ready []key
	var next time.Time
	for k, at := range m.due {
		if !at.After(now) {
			ready = append(ready, k)
			delete(m.due, k)
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	m.looking += len(ready)
	m.mu.Unlock()
	for _, k := range ready {
		m.automatic(ctx, k)
		m.mu.Lock()
		m.looking--
		m.idle.Broadcast()
		m.mu.Unlock()
	}
	timer.Stop()
	if !next.IsZero() {
		timer.Reset(max(next.Sub(now), 10*time.Millisecond))
	}
}

// automatic begins the summary of a session whose turn has ended, or leaves it and says why.
func (m *Maker) automatic(ctx context.Context, k key) {
	if !m.o.Config.Enabled {
		m.o.Declines(ReasonDisabled)
		return
	}
	_, st, err := m.begin(ctx, k, true)
	var declined *Declined
	switch {
	case err == nil || ctx.Err() != nil:
	case !errors.As(err, &declined):
		m.o.Failed("a session could not be looked at for its summary", err)
	case declined.Code == CodeRunning:
		m.mu.Lock()
		if _, ok := m.due[k]; !ok {
			m.schedule(k, st.last.Add(openTurn))
		}
		m.mu.Unlock()
	case declined.Code == CodeUnavailable:
		m.unavailable()
	}
}

// unavailable tells the log of an engine that is missing, which is no decline: the user has asked for summaries.
func (m *Maker) unavailable() {
	if _, err := m.o.Engine(); err != nil {
		m.o.Failed("session summaries are on and the language model cannot be used", err)
	}
}

// Wait returns when no session that is due is waiting to be looked at and no summary is being made, or when ctx ends.
func (m *Maker) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.idle.Broadcast()
	})
	defer stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for ctx.Err() == nil && m.busy() {
		m.idle.Wait()
	}
	return ctx.Err()
}

// busy is called with the lock held.
func (m *Maker) busy() bool {
	if m.ctx.Err() != nil {
		return false
	}
	now := m.o.Now()
	for _, at := range m.due {
		if !at.After(now) {
			return true
		}
	}
	return m.looking > 0 || len(m.flights) > 0
}
