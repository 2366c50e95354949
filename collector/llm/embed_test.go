package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kiro-learn/internal/config"
)

func TestEmbed(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		status       int
		want         float32 // first dimension of the second text's vector
		err          string
	}{
		{"in order", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4]}]}`, 200, 3, ""},
		{"in another order", `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}`, 200, 3, ""},
		{"too few", `{"data":[{"index":0,"embedding":[1,2]}]}`, 200, 0, "does not answer with embeddings"},
		{"twice the same", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}`, 200, 0, "do not fit"},
		{"none", `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[2]}]}`, 200, 0, "do not fit"},
		{"HTML", `<html>`, 200, 0, "does not answer with embeddings"},
		{"refused", `{}`, 400, 0, "status 400: check recall.embedding.model"},
		{"broken", `{}`, 500, 0, "status 500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				if got, want := string(b), `{"model":"m","input":["one","two"]}`; got != want || r.URL.Path != "/v1/embeddings" {
					t.Errorf("%s was sent to %s, want %s", got, r.URL.Path, want)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answer)
			})
			e, err := NewEmbedder(config.Embedding{BaseURL: url + "/v1/", Model: "m"}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Embed(context.Background(), []string{"one", "two"})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || errors.Is(err, ErrRefused) != (tt.status == 400) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || got[1][0] != tt.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestEmbedLeavesABrokenEndpointInPeace(t *testing.T) {
	now := time.Unix(0, 0)
	var calls atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); w.WriteHeader(500) })
	e, err := NewEmbedder(config.Embedding{BaseURL: url, Model: "m"}, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, err = e.Embed(context.Background(), []string{"x"})
	}
	if !errors.Is(err, ErrResting) || calls.Load() != 3 {
		t.Errorf("%d calls, %v; want three, then rest", calls.Load(), err)
	}
}

func TestNewEmbedderSaysWhatIsMissing(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  config.Embedding
		want string
	}{
		{"no address", config.Embedding{Model: "m"}, "recall.embedding.base_url is not"},
		{"no model", config.Embedding{BaseURL: "http://127.0.0.1:1"}, "set recall.embedding.model"},
		{"a key in clear", config.Embedding{BaseURL: "http://example.com", Model: "m", APIKeyEnv: "K"}, "use https"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewEmbedder(tt.cfg, Options{Environ: []string{"K=x"}}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestQuantized(t *testing.T) {
	if got, want := Quantized([]float32{0.5, -1, 0, 0.25}), []byte{64, 129, 0, 32}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Quantized([]float32{0, 0}); !bytes.Equal(got, []byte{0, 0}) {
		t.Errorf("nothing is %v", got)
	}
}
