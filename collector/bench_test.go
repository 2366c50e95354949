package collector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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
					send := poster(w.client, batch)
					for int(next.Add(int64(batch))) <= b.N+batch-1 {
						var lines bytes.Buffer
						for range batch {
							e := like
							e.EventID, e.SessionID = ulid.Make().String(), fmt.Sprint("s", k)
							lines.Write(e.AppendJSON(nil))
							lines.WriteByte('\n')
						}
						if err := send(lines.Bytes()); err != nil {
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

// poster sends over one connection that stays open.
func poster(cl *client.Client, n int) func(lines []byte) error {
	path, contentType := "/v1/events", "application/json"
	if n > 1 {
		path, contentType = "/v1/events/batch", "application/x-ndjson"
	}
	address := cl.Address()
	c := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", address)
	}}}
	return func(lines []byte) error {
		a, err := c.Post("http://localhost"+path, contentType, bytes.NewReader(lines))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, a.Body)
		if err = errors.Join(err, a.Body.Close()); err == nil && a.StatusCode != http.StatusOK {
			err = errors.New(a.Status)
		}
		return err
	}
}
