package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"time"

	"kiro-learn/collector/recall/evaluate"
	"kiro-learn/internal/bench"
)

type benchCmd struct {
	Hook      benchHook      `cmd:"" help:"What hooks cost, beside an empty process started the same way."`
	Collector benchCollector `cmd:"" help:"Events a second, search times, memory."`
	Recall    benchRecall    `cmd:"" help:"How well recall finds, on a set of records and questions."`
}

type benchHook struct {
	Rounds  int `default:"60" help:"Runs of each kind."`
	Records int `default:"1000" help:"Memory records of the project when prompts are measured."`
}

// Run measures hooks in a temporary home.
func (c benchHook) Run(a *app) error {
	return a.bench(func(b *bench.Bench) error { return b.Hook(bench.HookOptions{Rounds: c.Rounds, Records: c.Records}) })
}

type benchCollector struct {
	Events  int           `default:"0" help:"Events that lie in the store before it is started again and searched."`
	Records int           `default:"10000" help:"Records of the large project; the small one gets a fiftieth."`
	For     time.Duration `default:"3s" help:"How long events are taken in."`
}

// Run measures a collector in a temporary home.
func (c benchCollector) Run(a *app) error {
	return a.bench(func(b *bench.Bench) error {
		return b.Collector(bench.CollectorOptions{Events: c.Events, Records: c.Records, For: c.For})
	})
}

type benchRecall struct {
	Set string `arg:"" placeholder:"SET.json" help:"A set of records, questions and right answers; docs/recall.md says its form."`
}

// Run measures recall in a temporary database.
func (c benchRecall) Run(a *app) (err error) {
	f, err := os.Open(c.Set)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no set %s; name a file in the form that docs/recall.md describes", c.Set)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	dir, err := os.MkdirTemp("", "kiro-learn-recall-")
	if err != nil {
		return fmt.Errorf("make a temporary directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return evaluate.Measure(ctx, f, dir, a.stdout)
}

func (a *app) bench(measure func(*bench.Bench) error) error {
	b, err := bench.New(a.program, a.stdout)
	if err != nil {
		return err
	}
	leave := onInterrupt(func() { _ = b.Close() })
	defer leave()
	err = measure(b)
	return errors.Join(err, b.Close())
}
