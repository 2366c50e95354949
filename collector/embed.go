package collector

import (
	"context"
	"errors"
	"strings"
	"time"

	"kiro-learn/collector/llm"
	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

const (
	embedBatch   = 16   // records of one request
	embedBytes   = 4000 // of a record's text that are sent
	embedTimeout = 30 * time.Second
	embedRest    = 30 * time.Second // after a failure, doubled up to 32 times while it lasts
	embedEvery   = 10 * time.Minute // in case what changed was not told
)

// embedding has vectors made of records, where the settings name an endpoint, so that recall can look for what means the
// same in other words.
type embedding struct {
	*llm.Embedder
	wake chan struct{}
}

// newEmbedding is nil when the settings name no endpoint, or one that cannot be used.
func (c *Collector) newEmbedding() *embedding {
	cfg := c.o.Config.Recall.Embedding
	if cfg.BaseURL == "" {
		return nil
	}
	e, err := llm.NewEmbedder(cfg, llm.Options{Now: c.o.Now})
	if err != nil {
		c.o.Log.Warn("recall goes by words alone", err)
		return nil
	}
	// Half of what recall may take of the hook's budget: what follows has to fit in as well.
	wait := time.Duration(c.o.Config.Hooks.BudgetMS) * time.Millisecond * 3 / 10
	c.recall.UseVectors(&recall.Vectors{Model: e.Model(), Wait: wait, Embed: func(ctx context.Context, text string) ([]byte, error) {
		v, err := e.Embed(ctx, []string{c.scrub.Text(text)})
		if err != nil {
			return nil, err
		}
		return llm.Quantized(v[0]), nil
	}})
	return &embedding{e, make(chan struct{}, 1)}
}

// heard tells that records have come or changed.
func (e *embedding) heard() {
	if e == nil {
		return
	}
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// embedRecords makes the vectors that are missing, a few at a time, until ctx ends.
func (c *Collector) embedRecords(ctx context.Context) {
	if c.embedding == nil {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	rest := embedRest
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.embedding.wake:
		case <-timer.C:
		}
		pause := embedEvery
		if err := c.embedAll(ctx); err != nil && ctx.Err() == nil {
			c.o.Log.Warn("no vectors could be made of records", err)
			pause, rest = rest, min(2*rest, 32*embedRest)
			select { // what comes meanwhile waits with the others
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			pause = 0
		} else {
			rest = embedRest
		}
		timer.Reset(pause)
	}
}

func (c *Collector) embedAll(ctx context.Context) error {
	for {
		records, err := c.store.Unembedded(ctx, c.embedding.Model(), embedBatch)
		if err != nil || len(records) == 0 {
			return err
		}
		if err := c.embed(ctx, records); err != nil {
			return err
		}
	}
}

// embed makes vectors of some records. One that the endpoint refuses even alone gets an empty vector, so that it does not
// stand in the way of the others.
func (c *Collector) embed(ctx context.Context, records []store.Stored) error {
	texts := make([]string, len(records))
	for i := range records {
		texts[i] = c.scrub.Text(embedText(&records[i].Record))
	}
	limited, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors, err := c.embedding.Embed(limited, texts)
	switch {
	case errors.Is(err, llm.ErrRefused) && len(records) > 1:
		for i := range records {
			if err := c.embed(ctx, records[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	case errors.Is(err, llm.ErrRefused):
		vectors = make([][]float32, 1)
	case err != nil:
		return err
	}
	made := make([]store.Vector, len(records))
	for i := range records {
		made[i] = store.Vector{ID: records[i].ID, Revision: records[i].Revision, Bytes: llm.Quantized(vectors[i])}
	}
	return c.store.SaveVectors(ctx, c.embedding.Model(), made)
}

// embedText is what a vector is made of.
func embedText(r *event.Record) string {
	text := strings.Join(append([]string{r.Title, r.Summary}, r.Facts...), "\n")
	if len(text) > embedBytes {
		text = strings.ToValidUTF8(text[:embedBytes], "")
	}
	if strings.TrimSpace(text) == "" {
		return "-" // endpoints refuse an empty text
	}
	return text
}
