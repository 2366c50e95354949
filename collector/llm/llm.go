// Package llm asks a language model one thing: Complete, a prompt in and its answer out. Three engines do it: "kiro"
// (the user's own kiro-cli), "openai" (any endpoint that speaks the chat completions API, a local one included) and
// "command" (any program that reads the prompt and writes the answer). None is needed: without one the rules engine
// makes the memory records.
//
// A model is slow, costs money and fails in every way, and the programs behind two of the engines are agents that can
// fork, hang or start hooks of ours. So every call has a deadline and a cap on what it may answer, only so many run at
// once, a breaker leaves a broken engine in peace, and a child process dies with everything it started. Neither prompt,
// answer nor what a child says on its standard error is ever part of an error or a log.
package llm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"kiro-learn/internal/config"
)

// Engine is what the users of a language model need of it.
type Engine interface {
	// Complete answers the prompt with text that is valid UTF-8, at most Options.MaxOutput bytes and not blank. It may
	// be called concurrently. The error holds nothing of prompt or answer.
	Complete(ctx context.Context, prompt string) (string, error)
	// Name is "kiro", "openai" or "command".
	Name() string
}

// Why a call may fail beside the engine's own reasons and the context's.
var (
	ErrResting   = errors.New("the language model is left in peace after repeated failures")
	ErrTooLong   = errors.New("the answer is longer than allowed")
	ErrEmpty     = errors.New("the answer is empty")
	ErrTruncated = errors.New("the model stopped before its answer was complete")
	ErrRefused   = errors.New("answered that the request is wrong or too large")
)

// Options are what an engine needs beside its configuration. ChildDir is required for "kiro" and "command"; the zero
// value of every other field is its default.
type Options struct {
	ChildDir    string           // private working directory of child processes (config.Dirs.Child); made when missing, 0700
	Environ     []string         // environment of child processes, and where the API key is looked up; default os.Environ()
	Concurrency int              // calls that run at once, others wait; default 2
	MaxOutput   int              // longest answer in bytes; default 1 MiB
	Failures    int              // failures in a row that open the breaker; default 3
	Rest        time.Duration    // how long it then stays open, doubled up to 32 times while trials fail; default 30 s
	Now         func() time.Time // default time.Now
}

// Model is an engine with a deadline, a bound on concurrency and a breaker around it.
type Model struct {
	engine  Engine
	timeout time.Duration
	slots   chan struct{}
	breaker *breaker
}

// New makes the engine that cfg names. The error says what is missing and what to set; no program is started and
// nothing is sent. A program that is removed later shows as an error of Complete.
func New(cfg config.LLM, o Options) (*Model, error) {
	o = o.withDefaults()
	engine, err := newEngine(cfg, o)
	if err != nil {
		return nil, err
	}
	timeout := time.Duration(cfg.Timeout)
	if timeout <= 0 {
		timeout = time.Minute
	}
	return &Model{
		engine:  engine,
		timeout: timeout,
		slots:   make(chan struct{}, o.Concurrency),
		breaker: &breaker{limit: o.Failures, rest: o.Rest, now: o.Now},
	}, nil
}

func newEngine(cfg config.LLM, o Options) (Engine, error) {
	switch cfg.Engine {
	case "kiro":
		return newKiro(cfg, o)
	case "openai":
		return newOpenAI(cfg, o)
	case "command":
		return newCommand(cfg, o)
	}
	return nil, fmt.Errorf("no such language model engine: set llm.engine in config.json to %q, %q or %q", "kiro", "openai", "command")
}

func (o Options) withDefaults() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 2
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = 1 << 20
	}
	if o.Failures <= 0 {
		o.Failures = 3
	}
	if o.Rest <= 0 {
		o.Rest = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Name is the engine's.
func (m *Model) Name() string { return m.engine.Name() }

// Complete waits for a free slot, then gives the engine the configured time. It fails with ErrResting at once while
// the breaker is open. A call that its own caller gave up says nothing about the engine and is not counted.
func (m *Model) Complete(ctx context.Context, prompt string) (string, error) {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	trial, err := m.breaker.enter()
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	answer, err := m.engine.Complete(limited, prompt)
	if err == nil && strings.TrimSpace(answer) == "" {
		err = ErrEmpty
	}
	switch {
	case err == nil:
		m.breaker.leave(trial, succeeded, "")
		return answer, nil
	case ctx.Err() != nil:
		m.breaker.leave(trial, undecided, "")
		return "", ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("no answer within %v (llm.timeout in config.json): %w", m.timeout, limited.Err())
	}
	err = fmt.Errorf("%s: %w", m.Name(), err)
	m.breaker.leave(trial, failed, err.Error())
	return "", err
}

// Status is how the engine has been doing since the collector started.
func (m *Model) Status() Status {
	s := m.breaker.status()
	s.Engine, s.Running = m.Name(), len(m.slots)
	return s
}

// lookup is the value of a variable in an environment; the last one counts, as it does for the system.
func lookup(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(environ[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// clean makes an answer of bytes that may be anything.
func clean(b []byte) string { return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD")) }
