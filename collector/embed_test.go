package collector

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"kiro-learn/internal/event"
)

// topicServer is an endpoint of embeddings with a model of two dimensions, which knows texts about cats and about mail. It
// refuses what holds the word poison.
func topicServer(t *testing.T, heard func(text string)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&ask)
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var out struct {
			Data []item `json:"data"`
		}
		for i, text := range ask.Input {
			heard(text)
			if strings.Contains(text, "poison") {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			v := []float32{0.01, 0.01}
			if strings.Contains(text, "cat") || strings.Contains(text, "kitten") {
				v[0] = 1
			}
			if strings.Contains(text, "mail") {
				v[1] = 1
			}
			out.Data = append(out.Data, item{i, v})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestRecordsAreFoundByMeaningWhereAnEndpointIsNamed(t *testing.T) {
	const secret = "AKIA" + "QWERTYUIOPASDFGH"
	var mu sync.Mutex
	var sent []string
	w := newWorld(t)
	w.config.Hooks.BudgetMS = 10_000
	w.config.Recall.Embedding.BaseURL = topicServer(t, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, text)
	})
	w.config.Recall.Embedding.Model = "topics"
	w.start()
	ns := event.Namespace("mia", "p")
	for i, title := range []string{"The kitten", "poison", "Outgoing mail"} {
		id := w.ids.Next(time.Second)
		body, _ := json.Marshal(event.Record{
			RecordID: "mr_" + id, Namespace: ns, Strategy: event.StrategyRules, Title: title, Summary: "The key is " + secret + ".", Facts: []string{},
			Concepts: []string{}, FilesTouched: []string{}, SourceEventIDs: []string{id}, CreatedAt: "2026-03-01T09:00:00Z", ObservationType: event.TypeDiscovery,
		})
		if code, answer := w.do("POST", "/v1/memories", "application/json", string(body)); code != http.StatusOK && code != http.StatusCreated {
			t.Fatalf("record %d: %d %s", i, code, answer)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		found, err := w.client.Search(ctx, ns, "a cat "+secret, 10, nil, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 && found[0].Title == "The kitten" {
			break
		}
		select {
		case <-ctx.Done():
			t.Fatal("no record was found by its meaning")
		case <-time.After(20 * time.Millisecond):
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, text := range sent {
		if strings.Contains(text, secret) {
			t.Errorf("a secret was sent to the endpoint: %q", text)
		}
	}
}
