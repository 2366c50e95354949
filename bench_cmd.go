package main

import (
	"errors"
	"time"

	"kiro-learn/internal/bench"
)

type benchCmd struct {
	Hook      benchHook      `cmd:"" help:"What hooks cost, beside an empty process started the same way."`
	Collector benchCollector `cmd:"" help:"Events a second, search times, memory."`
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
	Records int           `default:"10000" help:"Records of the large project; the small one gets a fiftieth."`
	For     time.Duration `default:"3s" help:"How long events are taken in."`
}

// Run measures a collector in a temporary home.
func (c benchCollector) Run(a *app) error {
	return a.bench(func(b *bench.Bench) error { return b.Collector(bench.CollectorOptions{Records: c.Records, For: c.For}) })
}

func (a *app) bench(measure func(*bench.Bench) error) error {
	b, err := bench.New(a.program, a.stdout)
	if err != nil {
		return err
	}
	err = measure(b)
	return errors.Join(err, b.Close())
}
