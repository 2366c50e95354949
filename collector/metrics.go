package collector

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
)

// getMetrics answers in the Prometheus text format. Numbers only: no name of a project, a session or a person.
func (c *Collector) getMetrics(w http.ResponseWriter, r *http.Request) {
	projects, err := c.store.Stats(r.Context(), "")
	if err != nil {
		c.internal(w, "count", err)
		return
	}
	engine, err := c.engineState(r.Context())
	if err != nil {
		c.internal(w, "count", err)
		return
	}
	queue, err := c.queue.Status()
	if err != nil {
		c.internal(w, "look at the outbox", err)
		return
	}
	kinds, types, pending, sessions := map[string]int{}, map[string]int{}, 0, 0
	for _, p := range projects {
		for k, n := range p.EventsByKind {
			kinds[k] += n
		}
		for k, n := range p.RecordTypes {
			types[k] += n
		}
		pending, sessions = pending+p.Pending, sessions+p.Sessions
	}
	var m metrics
	m.add("kiro_learn_up_seconds", "gauge", "how long this collector has been running", nil, c.o.Now().Sub(c.started).Seconds())
	m.each("kiro_learn_events", "events stored, by kind", "kind", kinds)
	m.each("kiro_learn_records", "memory records in use, by type", "type", types)
	m.add("kiro_learn_sessions", "gauge", "sessions", nil, float64(sessions))
	m.add("kiro_learn_pending_events", "gauge", "events that wait to be distilled", nil, float64(pending))
	m.add("kiro_learn_failing_sessions", "gauge", "sessions whose batches failed and are tried again soon", nil, float64(engine.Failing))
	m.add("kiro_learn_later_events", "gauge", "events that the rules have distilled and the model is to distil again", nil, float64(engine.Later))
	m.add("kiro_learn_requests_total", "counter", "requests answered by this collector", nil, float64(c.served.Load()))
	c.meter.write(&m)
	m.add("kiro_learn_outbox_events", "gauge", "events in the outbox", nil, float64(queue.Pending))
	m.add("kiro_learn_outbox_quarantined", "gauge", "events set aside", nil, float64(queue.Quarantined))
	m.add("kiro_learn_outbox_dropped", "gauge", "events that the outbox could not keep", nil, float64(queue.Dropped))
	for _, f := range []struct{ name, path string }{{"database", c.o.Dirs.Database()}, {"log", c.o.Dirs.Database() + "-wal"}} {
		if info, err := os.Stat(f.path); err == nil {
			m.add("kiro_learn_file_bytes", "gauge", "size of the database's files", []string{"file", f.name}, float64(info.Size()))
		}
	}
	if e := engine.Model; e != nil {
		m.add("kiro_learn_model_calls_total", "counter", "calls of the language model", nil, float64(e.Calls))
		m.add("kiro_learn_model_failures_total", "counter", "of them failed", nil, float64(e.Failed))
		open := 0.0
		if e.State != "closed" {
			open = 1
		}
		m.add("kiro_learn_model_resting", "gauge", "1 while the model is left in peace after failures", nil, open)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(m.text.String())) // a client that has left needs no answer
}

// metrics writes samples; those of one name must follow each other.
type metrics struct {
	text strings.Builder
	last string
}

func (m *metrics) add(name, kind, help string, label []string, v float64) {
	if name != m.last {
		fmt.Fprintf(&m.text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		m.last = name
	}
	m.text.WriteString(name)
	if len(label) == 2 {
		fmt.Fprintf(&m.text, "{%s=%q}", label[0], label[1])
	}
	m.text.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// histogram writes how long the calls of one kind took.
func (m *metrics) histogram(name, help, call string, c *calls) {
	if name != m.last {
		fmt.Fprintf(&m.text, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name)
		m.last = name
	}
	sum := 0
	for i, n := range c.took {
		sum += n
		le := "+Inf"
		if i < len(buckets) {
			le = strconv.FormatFloat(buckets[i]/1000, 'g', -1, 64)
		}
		fmt.Fprintf(&m.text, "%s_bucket{call=%q,le=%q} %d\n", name, call, le, sum)
	}
	fmt.Fprintf(&m.text, "%s_sum{call=%q} %s\n%s_count{call=%q} %d\n", name, call, strconv.FormatFloat(c.seconds, 'g', -1, 64), name, call, c.n)
}

func (m *metrics) each(name, help, label string, values map[string]int) {
	for _, k := range slices.Sorted(maps.Keys(values)) {
		m.add(name, "gauge", help, []string{label, k}, float64(values[k]))
	}
}
