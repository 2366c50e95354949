package collector

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"kiro-learn/collector/client"
)

// buckets are the upper bounds of the histograms of how long calls took, in milliseconds.
var buckets = [...]float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}

// meter counts what the collector does. Numbers only: no text of a request.
type meter struct {
	mu      sync.Mutex
	calls   map[string]*calls
	events  rate
	records rate
}

// calls are those of one endpoint.
type calls struct {
	n, failed int
	seconds   float64
	took      [len(buckets) + 1]int // the last: longer than the last bound
}

// rate counts by the second, for a minute.
type rate struct {
	total   int
	seconds [60]struct {
		at int64
		n  int
	}
}

func (r *rate) add(now time.Time, n int) {
	r.total += n
	s := &r.seconds[now.Unix()%60]
	if s.at != now.Unix() {
		s.at, s.n = now.Unix(), 0
	}
	s.n += n
}

func (r *rate) given(now time.Time) client.Rate {
	out := client.Rate{Total: r.total}
	for _, s := range r.seconds {
		if s.at > now.Unix()-60 {
			out.LastMinute += s.n
		}
	}
	return out
}

// stored counts a commit.
func (m *meter) stored(now time.Time, events, records int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events.add(now, events)
	m.records.add(now, records)
}

// called counts a call.
func (m *meter) called(name string, took time.Duration, failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[string]*calls{}
	}
	c := m.calls[name]
	if c == nil {
		c = &calls{}
		m.calls[name] = c
	}
	c.n++
	if failed {
		c.failed++
	}
	c.seconds += took.Seconds()
	ms := took.Seconds() * 1000
	i, _ := slices.BinarySearch(buckets[:], ms)
	c.took[i]++
}

// traffic is what the meter has counted until now.
func (m *meter) traffic(now, began time.Time) client.Traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := client.Traffic{Seconds: now.Sub(began).Seconds(), Events: m.events.given(now), Records: m.records.given(now), Calls: []client.Calls{}}
	for _, name := range slices.Sorted(maps.Keys(m.calls)) {
		c := m.calls[name]
		out.Calls = append(out.Calls, client.Calls{Call: name, N: c.n, Failed: c.failed, MedianMS: c.at(.5), P99MS: c.at(.99)})
	}
	return out
}

// at is the bound under which a share of the calls stayed; of those that took longer than the last one, twice that.
func (c *calls) at(share float64) float64 {
	want, sum := int(share*float64(c.n)+0.999999), 0
	for i, n := range c.took {
		if sum += n; sum >= want {
			if i == len(buckets) {
				return 2 * buckets[len(buckets)-1]
			}
			return buckets[i]
		}
	}
	return 0
}

// write gives the histograms to a scraper.
func (m *meter) write(out *metrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out.add("kiro_learn_events_stored_total", "counter", "events that this collector has stored", nil, float64(m.events.total))
	out.add("kiro_learn_records_stored_total", "counter", "records that this collector has stored", nil, float64(m.records.total))
	names := slices.Sorted(maps.Keys(m.calls))
	for _, name := range names {
		out.add("kiro_learn_call_failures_total", "counter", "calls answered with 500 or more", []string{"call", name}, float64(m.calls[name].failed))
	}
	for _, name := range names {
		out.histogram("kiro_learn_call_seconds", "how long calls took", name, m.calls[name])
	}
}

// sent remembers what a handler has answered.
type sent struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (s *sent) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a http.ResponseController find the connection.
func (s *sent) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// measured tells whether an endpoint is one whose time says something: not one that streams until its client leaves.
func measured(pattern string) bool {
	return pattern != "" && pattern != "/" && !strings.HasSuffix(pattern, "/tail") && !strings.HasSuffix(pattern, "/shutdown")
}
