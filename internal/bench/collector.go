package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kiro-learn/internal/event"
	"kiro-learn/internal/eventid"
)

// CollectorOptions say how much to measure.
type CollectorOptions struct {
	Records int           // records in the large project; a small one gets a fiftieth
	For     time.Duration // of each ingest measurement
}

const (
	largeProject = "large"
	smallProject = "small"
)

// Collector prints what a collector does in a second and how long searches take.
func (b *Bench) Collector(o CollectorOptions) error {
	started, err := b.start()
	if err != nil {
		return err
	}
	b.say("start until the first answer             %s", ms(started))
	h, err := b.client.Health(context.Background())
	if err != nil {
		return err
	}
	b.say("memory when idle                         %d MB", residentMB(h.PID))
	n, err := b.ingest(o.For, 1)
	if err != nil {
		return err
	}
	b.say("4 KB events, 8 clients, one at a time    %.0f a second, each synced", n)
	if n, err = b.ingest(o.For, 100); err != nil {
		return err
	}
	b.say("4 KB events, 8 clients, batches of 100   %.0f a second, each synced", n)
	begun := time.Now()
	if err := b.records(largeProject, o.Records); err != nil {
		return err
	}
	if err := b.records(smallProject, max(o.Records/50, 1)); err != nil {
		return err
	}
	b.say("records stored and indexed               %.0f a second", float64(o.Records)/time.Since(begun).Seconds())
	for _, p := range []string{largeProject, smallProject} {
		took, err := b.searches(p, 400)
		if err != nil {
			return err
		}
		b.say("search, %-6s project                    %s median, %s p99", p, ms(took.at(.5)), ms(took.at(.99)))
	}
	b.say("memory after that                        %d MB", residentMB(h.PID))
	return nil
}

// ingest stores events from eight clients for a while and gives how many a second were acknowledged.
func (b *Bench) ingest(d time.Duration, batch int) (perSecond float64, err error) {
	var count atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, 8)
	begun := time.Now()
	body := event.TextBody(strings.Repeat("x", 4000))
	for i := range errs {
		wg.Go(func() {
			ids := eventid.New(b.base, nil)
			for time.Since(begun) < d {
				lines := make([]byte, 0, batch*4400)
				for range batch {
					e := b.event(ids.Next(time.Second), fmt.Sprint("client-", i), body)
					lines = append(e.AppendJSON(lines), '\n')
				}
				if batch == 1 {
					_, errs[i] = b.client.PostEvent(context.Background(), lines, false)
				} else {
					_, errs[i] = b.client.Do(context.Background(), "POST", "/v1/events/batch", "application/x-ndjson", lines)
				}
				if errs[i] != nil {
					return
				}
				count.Add(int64(batch))
			}
		})
	}
	wg.Wait()
	for _, e := range errs {
		if e != nil {
			return 0, e
		}
	}
	return float64(count.Load()) / time.Since(begun).Seconds(), nil
}

func (b *Bench) event(id, session string, body []byte) *event.Event {
	return &event.Event{
		EventID: id, SessionID: session, ActorID: "bench", Namespace: event.Namespace("bench", "ingest"), SchemaVersion: 1,
		Kind: event.KindNote, Body: body, ValidTime: "2026-01-01T00:00:00Z", Source: event.Source{Surface: event.SurfaceCLI, Version: "bench", ClientID: "bench"},
	}
}

// fill stores records for prompts of the bench's own project: the namespace is the one that its hooks use.
func (b *Bench) fill(n int) error {
	if _, err := b.run(b.payload(map[string]any{"hook_event_name": "userPromptSubmit", "prompt": "the first prompt of all"}), "userPromptSubmit"); err != nil {
		return err
	}
	if _, err := b.run(nil, "flush"); err != nil {
		return err
	}
	var got struct {
		Items []event.Event `json:"items"`
	}
	if err := b.client.Call(context.Background(), "GET", "/v1/events?limit=1&kind=prompt", nil, &got); err != nil {
		return err
	}
	if len(got.Items) == 0 {
		return fmt.Errorf("the hook's event did not arrive; see %s", b.dirs.LogFile())
	}
	return b.recordsIn(got.Items[0].Namespace, n)
}

func (b *Bench) records(project string, n int) error {
	return b.recordsIn(event.Namespace("bench", project), n)
}

// recordsIn stores made-up records, eight at a time.
func (b *Bench) recordsIn(namespace string, n int) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			ids := eventid.New(b.base, nil)
			for k := next.Add(1); k <= int64(n) && errs[i] == nil; k = next.Add(1) {
				id := ids.Next(time.Second)
				errs[i] = b.client.Call(context.Background(), "POST", "/v1/memories", record(namespace, id, int(k)), nil)
			}
		})
	}
	wg.Wait()
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}

// record is about eighty words of which few are common and many are rare, as in any text.
func record(namespace, id string, k int) event.Record {
	r := rand.New(rand.NewPCG(uint64(k), 7))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	text := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = word(int(zipf.Uint64()))
		}
		return strings.Join(words, " ")
	}
	return event.Record{
		RecordID: "mr_" + id, Namespace: namespace, Strategy: event.StrategyRules, Title: text(8), Summary: text(60),
		Facts: []string{text(10)}, Concepts: []string{}, FilesTouched: []string{word(k) + "/" + word(k*3) + ".go"}, SourceEventIDs: []string{id},
		CreatedAt: time.Date(2026, 1, 1, 0, 0, k, 0, time.UTC).Format(time.RFC3339), ObservationType: event.TypeDiscovery,
	}
}

// word is the n-th word of a made-up language.
func word(n int) string {
	const onset, nucleus = "bdfgklmnprstvz", "aeiou"
	var w strings.Builder
	for n += 40; n > 0; n /= len(onset) * len(nucleus) {
		w.WriteByte(onset[n%len(onset)])
		w.WriteByte(nucleus[n/len(onset)%len(nucleus)])
	}
	return w.String()
}

// searches asks n questions of four to ten words.
func (b *Bench) searches(project string, n int) (timings, error) {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	var took timings
	for range n {
		words := make([]string, 4+r.IntN(7))
		for i := range words {
			words[i] = word(int(zipf.Uint64()))
		}
		q := url.Values{"namespace": {event.Namespace("bench", project)}, "query": {strings.Join(words, " ")}, "limit": {"10"}}
		begun := time.Now()
		if err := b.client.Call(context.Background(), "GET", "/v1/memories/search?"+q.Encode(), nil, &json.RawMessage{}); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begun))
	}
	return took, nil
}

func (b *Bench) configure(text string) error {
	if err := os.WriteFile(b.dirs.ConfigFile(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	return nil
}
