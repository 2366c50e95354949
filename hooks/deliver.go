package hooks

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
	"kiro-learn/internal/logfile"
)

// reserve is what is left of the budget for the outbox when the collector does not answer.
const reserve = 100 * time.Millisecond

// keep makes an event durable that needs no answer: in the outbox, of which the collector is told without waiting for it,
// so that no state of the collector can slow the hook. A collector elsewhere cannot see the outbox and is asked first.
func (h *hook) keep(e *event.Event) {
	if h.client != nil && h.client.Remote() {
		h.ask(e)
		return
	}
	if h.append(e) && h.client != nil && errors.Is(h.client.Nudge(), client.ErrAbsent) {
		h.startCollector()
	}
}

// append puts an event into the outbox; when that is full or the disk is, the collector is tried.
func (h *hook) append(e *event.Event) bool {
	data := encode(e)
	err := h.queue.Append(e.EventID, data, min(max(time.Until(h.until)/2, 10*time.Millisecond), 2*reserve))
	if err == nil {
		return true
	}
	h.log.Error("the outbox did not take an event", err, logfile.Str("hint", "kiro-learn doctor"))
	if h.client == nil {
		return false
	}
	ctx, cancel := context.WithDeadline(context.Background(), h.until)
	defer cancel()
	_, err = h.client.PostEvent(ctx, data, false)
	return err == nil
}

// ask hands an event to the collector and prints what a prompt recalls. Until the collector acknowledges it the event is
// not safe, so it goes to the outbox when it does not within the budget.
func (h *hook) ask(e *event.Event) {
	if h.client == nil {
		h.append(e)
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), h.until.Add(-reserve))
	defer cancel()
	retrieve := e.Kind == event.KindPrompt
	r, err := h.client.PostEvent(ctx, encode(e), retrieve)
	if h.canStart(err) {
		h.startCollector()
		if _, ready := h.client.WaitReady(ctx); ready == nil {
			r, err = h.client.PostEvent(ctx, encode(e), retrieve)
		}
	}
	if err != nil {
		h.append(e)
		if !errors.Is(err, client.ErrAbsent) {
			h.log.Warn("the collector did not take an event; it waits in the outbox", err)
		}
		return
	}
	if r.Retrieval != nil {
		h.print(r.Retrieval.Context)
	}
	if client.Older(r.Version, h.Version) && !h.client.Remote() {
		h.startCollector() // the new one asks the old one to hand over
	}
	h.forward()
}

func (h *hook) canStart(err error) bool {
	return (errors.Is(err, client.ErrAbsent) || errors.Is(err, client.ErrForeign)) && !h.client.Remote() && h.config.Collector.Autostart
}

// digest prints where the project's last session stood, within the budget.
func (h *hook) digest() {
	if h.client == nil {
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), h.until)
	defer cancel()
	text, err := h.client.Digest(ctx, h.namespace(), h.session)
	if h.canStart(err) {
		if _, ready := h.client.WaitReady(ctx); ready == nil {
			text, err = h.client.Digest(ctx, h.namespace(), h.session)
		}
	}
	if err == nil {
		h.print(text)
	}
}

// print gives the agent its context. A reader that has gone away is not our concern.
func (h *hook) print(text string) {
	if text != "" {
		_, _ = io.WriteString(h.Stdout, text)
	}
}

func (h *hook) startCollector() {
	if !h.config.Collector.Autostart || h.Program == "" {
		return
	}
	if err := client.Start(h.dirs, h.Program); err != nil {
		h.log.Warn("the collector could not be started", err, logfile.Str("hint", "kiro-learn collector run"))
	}
}

// forward sends what waits in the outbox to a collector elsewhere, in the background, since nothing here drains it.
func (h *hook) forward() {
	if !h.client.Remote() || h.Program == "" {
		return
	}
	if st, err := h.queue.Status(); err == nil && st.Pending > 0 && h.log.Once("forward", 10*time.Second) {
		_ = client.Detach(h.dirs, h.Program, "flush", "--timeout", "60s", "--quiet") // the next hook tries again
	}
}

// Log is the log of a command that is no hook, in the place where hooks log.
func Log(stateDir, component string) *logfile.Log {
	return logfile.New(filepath.Join(stateDir, "kiro-learn.log"), filepath.Join(stateDir, "log-marks"), component, nil)
}
