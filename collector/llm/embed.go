package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"kiro-learn/internal/config"
)

// maxDimensions bounds a vector; the largest models in use have some thousands.
const maxDimensions = 16384

// An Embedder has an endpoint make vectors of texts, with a breaker around it. It is safe for concurrent use.
type Embedder struct {
	at      *endpoint
	model   string
	breaker *breaker
}

// NewEmbedder makes the embedder that cfg names; nothing is sent.
func NewEmbedder(cfg config.Embedding, o Options) (*Embedder, error) {
	o = o.withDefaults()
	at, err := newEndpoint(settings{"recall.embedding", "", cfg.BaseURL, cfg.Model, cfg.APIKeyEnv}, "/embeddings", o)
	if err != nil {
		return nil, err
	}
	return &Embedder{at, cfg.Model, &breaker{limit: o.Failures, rest: o.Rest, now: o.Now}}, nil
}

// Model is the name of the model.
func (e *Embedder) Model() string { return e.model }

// Embed gives a vector for each text. It fails with ErrResting at once while the breaker is open, and with ErrRefused where
// the endpoint takes exception to the texts themselves. The error holds nothing of them.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	trial, err := e.breaker.enter()
	if err != nil {
		return nil, err
	}
	vectors, err := e.embed(ctx, texts)
	switch {
	case err == nil, errors.Is(err, ErrRefused):
		e.breaker.leave(trial, succeeded, "")
	case errors.Is(ctx.Err(), context.Canceled):
		e.breaker.leave(trial, undecided, "")
	default:
		e.breaker.leave(trial, failed, err.Error())
	}
	return vectors, err
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{e.model, texts})
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	reply, err := e.at.post(ctx, body, int64(len(texts))*maxDimensions*24+64<<10)
	if err != nil {
		return nil, err
	}
	var r struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(reply, &r) != nil || len(r.Data) != len(texts) {
		return nil, errors.New("the endpoint does not answer with embeddings: check recall.embedding in config.json")
	}
	out := make([][]float32, len(texts))
	for _, d := range r.Data {
		if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil || len(d.Embedding) == 0 || len(d.Embedding) > maxDimensions {
			return nil, errors.New("the endpoint answers with embeddings that do not fit the texts: check recall.embedding.model in config.json")
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}

// Quantized is a vector in a signed byte for each dimension, in proportion to the largest. What it points at stays, its
// length does not.
func Quantized(v []float32) []byte {
	most := 0.0
	for _, x := range v {
		most = math.Max(most, math.Abs(float64(x)))
	}
	out := make([]byte, len(v))
	if most == 0 || math.IsNaN(most) || math.IsInf(most, 0) {
		return out
	}
	for i, x := range v {
		out[i] = byte(int8(math.Round(float64(x) / most * 127)))
	}
	return out
}
