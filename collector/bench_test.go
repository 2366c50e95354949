package collector

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// BenchmarkIngestFromEightClients sends events one by one, and in batches, over the real socket to a real collector. Each
// answer means a synced commit.
func BenchmarkIngestFromEightClients(b *testing.B) {
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			w := newWorld(b)
			w.config.Extract.Idle = 3600e9 // extraction is measured elsewhere
			w.start()
			body := event.TextBody(strings.Repeat("some words of a tool's output ", 30))
			var next atomic.Int64
			var busy sync.WaitGroup
			like := w.event(event.KindNote, "s", "", body) // making an id for each costs more than storing it
			b.ResetTimer()
			for k := range 8 {
				busy.Go(func() {
					for int(next.Add(int64(batch))) <= b.N+batch-1 {
						var lines bytes.Buffer
						for range batch {
							e := like
							e.EventID, e.SessionID = ulid.Make().String(), fmt.Sprint("s", k)
							lines.Write(e.AppendJSON(nil))
							lines.WriteByte('\n')
						}
						if err := send(w.client, lines.Bytes(), batch); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			busy.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func send(cl *client.Client, lines []byte, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if n == 1 {
		_, err := cl.PostEvent(ctx, lines, false)
		return err
	}
	_, err := cl.Do(ctx, "POST", "/v1/events/batch", "application/x-ndjson", lines)
	return err
}
