package collector

import (
	"context"
	"errors"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/collector/extract"
	"kiro-learn/collector/llm"
	"kiro-learn/internal/event"
)

// newWorker makes the worker for the engine of the settings. With a model, the rules are its fallback.
func (c *Collector) newWorker(o extract.Options) *extract.Worker {
	o.Reconcile = c.reconcile
	if c.o.Config.Extract.Engine != "llm" {
		o.Distil = c.distil
		return extract.NewWorker(o)
	}
	o.Distil, o.Fallback, o.Fit, o.Concurrency = c.distilByModel, c.distil, extract.ModelFit, c.o.Config.Extract.Concurrency
	o.Reconcile = c.reconcileByModel
	o.Rests = func(err error) bool { return errors.Is(err, llm.ErrResting) }
	return extract.NewWorker(o)
}

// distil makes records by the rules.
func (c *Collector) distil(_ context.Context, turns []extract.Turn) ([]event.Record, error) {
	return c.scrubbed(extract.Rules(turns, c.recordID)), nil
}

// distilByModel has the language model of the settings make the records.
func (c *Collector) distilByModel(ctx context.Context, turns []extract.Turn) ([]event.Record, error) {
	m, err := c.engine.get()
	if err != nil {
		return nil, err
	}
	records, err := extract.Model(ctx, m, turns, c.scrub.Text, c.recordID)
	return c.scrubbed(records), err
}

// engineState says which engine distils and how the language model is, for status, doctor and metrics.
func (c *Collector) engineState(ctx context.Context) (client.Engine, error) {
	out := client.Engine{Extract: c.o.Config.Extract.Engine}
	later, err := c.store.LaterCount(ctx)
	if err != nil {
		return out, err
	}
	out.Later = later
	var at time.Time
	out.Failing, at = c.worker.Failures()
	if later > 0 && !at.IsZero() {
		out.LaterAt = at.UTC().Format(time.RFC3339)
	}
	m, err := c.engine.made()
	if err != nil {
		out.Model = &client.Model{Engine: c.o.Config.LLM.Engine, State: "unavailable", LastError: err.Error()}
	}
	if m, ok := m.(interface{ Status() llm.Status }); ok {
		s := m.Status()
		out.Model = &client.Model{Engine: s.Engine, State: s.State, Calls: s.Calls, Failed: s.Failed, LastError: s.LastError}
		if !s.RetryAt.IsZero() {
			out.Model.RetryAt = s.RetryAt.UTC().Format(time.RFC3339)
		}
	}
	return out, nil
}

func (c *Collector) scrubbed(records []event.Record) []event.Record {
	for i := range records {
		c.scrubRecord(&records[i])
	}
	return records
}
