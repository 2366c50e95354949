package llm

import (
	"fmt"
	"sync"
	"time"
)

// Status is what a breaker has seen, for people and for metrics. It holds no text of a prompt or an answer.
type Status struct {
	Engine    string    `json:"engine"`
	State     string    `json:"state"` // "closed": in use; "open": left in peace; "half-open": the next call is a trial
	Running   int       `json:"running"`
	Calls     int       `json:"calls"`
	Failed    int       `json:"failed"`     // of all calls
	InARow    int       `json:"in_a_row"`   // failures since the last success
	LastError string    `json:"last_error"` // of the failures in a row; empty when there are none
	RetryAt   time.Time `json:"retry_at"`   // when an open breaker lets a trial through; zero unless open
}

type outcome int

const (
	succeeded outcome = iota
	failed
	undecided // the caller gave up
)

// maxDoublings bounds the rest between trials at 32 times the first.
const maxDoublings = 5

// A breaker lets calls through until so many have failed in a row, then none for a while, then one as a trial: its
// success closes the breaker, its failure doubles the rest.
type breaker struct {
	limit int
	rest  time.Duration
	now   func() time.Time

	mu      sync.Mutex
	calls   int
	failed  int
	inARow  int
	last    string
	retryAt time.Time
	trials  int // that failed since the breaker opened
	trying  bool
}

// enter asks to make a call; its result belongs into leave. The error wraps ErrResting.
func (b *breaker) enter() (trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inARow >= b.limit {
		if wait := b.retryAt.Sub(b.now()); wait > 0 || b.trying {
			return false, fmt.Errorf("%w: %d in a row, the last one: %s", ErrResting, b.inARow, b.last)
		}
		b.trying, trial = true, true
	}
	b.calls++
	return trial, nil
}

func (b *breaker) leave(trial bool, how outcome, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
	switch how {
	case succeeded:
		b.inARow, b.trials, b.last, b.retryAt = 0, 0, "", time.Time{}
	case failed:
		b.failed++
		b.inARow++
		b.last = reason
		if trial {
			b.trials = min(b.trials+1, maxDoublings)
		}
		// Calls that were under way when the breaker opened do not prolong the rest.
		if trial || b.inARow == b.limit {
			b.retryAt = b.now().Add(b.rest << b.trials)
		}
	}
}

func (b *breaker) status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Status{State: "closed", Calls: b.calls, Failed: b.failed, InARow: b.inARow, LastError: b.last}
	if b.inARow >= b.limit {
		s.State = "half-open"
		if b.now().Before(b.retryAt) {
			s.State, s.RetryAt = "open", b.retryAt
		}
	}
	return s
}
