package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
	"kiro-learn/internal/eventid"
)

// CollectorOptions say how much to measure.
type CollectorOptions struct {
	Events  int           // events that lie in the store before searches are measured
	Records int           // records in the large project; a small one gets a fiftieth
	For     time.Duration // of each ingest measurement
}

const (
	largeProject = "large"
	smallProject = "small"
)

// Collector prints what a collector does in a second, how long searches take, and how it begins with a store of that size.
func (b *Bench) Collector(o CollectorOptions) error {
	started, err := b.start()
	if err != nil {
		return err
	}
	b.say("start until the first answer, empty      %s", ms(started))
	pid, err := b.pid()
	if err != nil {
		return err
	}
	b.say("memory when idle                         %d MB", residentMB(pid))
	for _, c := range []struct {
		name  string
		batch int
	}{{"one at a time", 1}, {"batches of 100", 100}} {
		n, cpu, err := b.ingest(o.For, c.batch, pid)
		if err != nil {
			return err
		}
		b.say("4 KB events, 8 clients, %-16s %.0f a second, each synced; %.0f µs of the collector's processor time each", c.name, n, cpu)
		if err := b.client.Call(context.Background(), "POST", "/v1/extract", nil, nil); err != nil { // what comes next is measured alone
			return err
		}
	}
	if err := b.store(o); err != nil {
		return err
	}
	if _, err := b.run(nil, "collector", "stop"); err != nil {
		return err
	}
	if started, err = b.start(); err != nil {
		return err
	}
	b.say("start until the first answer, then       %s", ms(started))
	if pid, err = b.pid(); err != nil {
		return err
	}
	for _, p := range []string{largeProject, smallProject} {
		took, err := b.searches(p, 400)
		if err != nil {
			return err
		}
		b.say("search, %-6s project                    %s median, %s p99", p, ms(took.at(.5)), ms(took.at(.99)))
	}
	b.say("memory after that                        %d MB", residentMB(pid))
	return nil
}

// store fills the store to the size that is asked for.
func (b *Bench) store(o CollectorOptions) error {
	begun := time.Now()
	if err := b.importEvents(o.Events); err != nil {
		return err
	}
	if o.Events > 0 {
		b.say("%-9d events imported                %.0f a second", o.Events, float64(o.Events)/time.Since(begun).Seconds())
	}
	begun = time.Now()
	for project, n := range map[string]int{largeProject: o.Records, smallProject: max(o.Records/50, 1)} {
		if err := b.recordsIn(event.Namespace("bench", project), n); err != nil {
			return err
		}
	}
	b.say("%-9d records stored and indexed     %.0f a second", o.Records, float64(o.Records)/time.Since(begun).Seconds())
	if info, err := os.Stat(b.dirs.Database()); err == nil {
		b.say("the database                             %d MB", info.Size()>>20)
	}
	return nil
}

func (b *Bench) pid() (int, error) {
	h, err := b.client.Health(context.Background())
	return h.PID, err
}

// ingest stores events from eight clients for a while, each on a connection that it keeps, and gives how many a second were
// acknowledged, and how many microseconds of the collector's processor time each took.
func (b *Bench) ingest(d time.Duration, batch, pid int) (perSecond, cpu float64, err error) {
	var count atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, 8)
	before, begun := processorTime(pid), time.Now()
	body := event.TextBody(strings.Repeat("some words of a tool's output ", 133))
	for i := range errs {
		wg.Go(func() {
			ids, post := eventid.New(b.base, nil), b.poster()
			for errs[i] == nil && time.Since(begun) < d {
				lines := make([]byte, 0, batch*4400)
				for range batch {
					e := b.event(ids.Next(time.Second), fmt.Sprint("client-", i), body)
					lines = append(e.AppendJSON(lines), '\n')
				}
				if batch == 1 {
					errs[i] = post("/v1/events", "application/json", lines)
				} else {
					errs[i] = post("/v1/events/batch", "application/x-ndjson", lines)
				}
				count.Add(int64(batch))
			}
		})
	}
	wg.Wait()
	n := float64(count.Load())
	return n / time.Since(begun).Seconds(), float64((processorTime(pid) - before).Microseconds()) / n, errors.Join(errs...)
}

// poster sends requests over one connection that stays open.
func (b *Bench) poster() func(path, contentType string, body []byte) error {
	var d net.Dialer
	address := b.client.Address()
	c := http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 1,
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", address) },
	}}
	return func(path, contentType string, body []byte) error {
		a, err := c.Post("http://localhost"+path, contentType, bytes.NewReader(body))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, a.Body)
		if err = errors.Join(err, a.Body.Close()); err == nil && a.StatusCode != http.StatusOK {
			err = fmt.Errorf("the collector answered %s", a.Status)
		}
		return err
	}
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

// importEvents stores made-up events that are distilled, of a thousand sessions.
func (b *Bench) importEvents(n int) error {
	ids := eventid.New(b.base, nil)
	return b.importLines(n, func(k int) client.ExportLine {
		r := rand.New(rand.NewPCG(uint64(k), 9))
		e := b.event(ids.Next(time.Second), fmt.Sprint("session-", k/1000), event.TextBody(text(r, 80)))
		e.Namespace = event.Namespace("bench", largeProject)
		return client.ExportLine{Event: e, Distilled: true}
	})
}

// recordsIn stores made-up records.
func (b *Bench) recordsIn(namespace string, n int) error {
	ids := eventid.New(b.base, nil)
	return b.importLines(n, func(k int) client.ExportLine {
		r := record(namespace, ids.Next(time.Second), k)
		return client.ExportLine{Record: &r}
	})
}

// importLines hands made-up items over as an import does, a megabyte at a time.
func (b *Bench) importLines(n int, item func(k int) client.ExportLine) error {
	var lines []byte
	for k := 1; k <= n; k++ {
		js, err := json.Marshal(item(k))
		if err != nil {
			return err
		}
		if lines = append(append(lines, js...), '\n'); len(lines) < 1<<20 && k < n {
			continue
		}
		if got, err := b.client.Import(context.Background(), lines); err != nil || len(got.Refused) > 0 {
			return errors.Join(err, fmt.Errorf("%d items were refused", len(got.Refused)))
		}
		lines = lines[:0]
	}
	return nil
}

// text is words of which few are common and many are rare, as in any text.
func text(r *rand.Rand, n int) string {
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	words := make([]string, n)
	for i := range words {
		words[i] = word(int(zipf.Uint64()))
	}
	return strings.Join(words, " ")
}

// record is about eighty words.
func record(namespace, id string, k int) event.Record {
	r := rand.New(rand.NewPCG(uint64(k), 7))
	return event.Record{
		RecordID: "mr_" + id, Namespace: namespace, Strategy: event.StrategyRules, Title: text(r, 8), Summary: text(r, 60),
		Facts: []string{text(r, 10)}, Concepts: []string{}, FilesTouched: []string{word(k) + "/" + word(k*3) + ".go"}, SourceEventIDs: []string{id},
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
