package collector

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/collector/client"
)

func TestMetricsAreNumbersInThePrometheusFormat(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.tell("secret-session", "zebraqux")
	status, body := w.do("GET", "/metrics", "", "")
	if status != 200 {
		t.Fatal(status, body)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) kiro_learn_[a-z_]+ .+|kiro_learn_[a-z_]+(\{[a-z]+="[^"\\]+"(,le="[0-9.+a-zA-Z-]+")?\})? -?[0-9.e+-]+)$`)
	seen := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("%q", l)
		}
		if name, ok := strings.CutPrefix(l, "# TYPE "); ok {
			if seen[name] {
				t.Errorf("%s twice", name)
			}
			seen[name] = true
		}
	}
	for _, want := range []string{
		`kiro_learn_events{kind="prompt"} 1`, `kiro_learn_records{type="decision"} 1`, "kiro_learn_pending_events 0", "kiro_learn_sessions 1", `kiro_learn_file_bytes{file="database"} `,
		"kiro_learn_events_stored_total 3\n", `kiro_learn_call_seconds_count{call="POST /v1/events"} 3`, `kiro_learn_call_seconds_bucket{call="POST /v1/events",le="+Inf"} 3`,
		`kiro_learn_call_failures_total{call="POST /v1/events"} 0`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	if strings.Contains(body, "zebraqux") || strings.Contains(body, "secret-session") {
		t.Error("names in the metrics")
	}
}

func TestMeter(t *testing.T) {
	began := time.Unix(1_000_000, 0)
	var m meter
	m.stored(began, 5, 1)
	m.stored(began.Add(30*time.Second), 2, 0)
	for range 99 {
		m.called("POST /v1/events", 3*time.Millisecond, false)
	}
	m.called("POST /v1/events", 90*time.Millisecond, true)
	m.called("POST /v1/events", time.Minute, false)
	m.called("recall", 0, false)
	want := client.Traffic{
		Seconds: 59, Events: client.Rate{Total: 7, LastMinute: 7}, Records: client.Rate{Total: 1, LastMinute: 1},
		Calls: []client.Calls{{Call: "POST /v1/events", N: 101, Failed: 1, MedianMS: 5, P99MS: 100}, {Call: "recall", N: 1, MedianMS: 0.5, P99MS: 0.5}},
	}
	if diff := cmp.Diff(want, m.traffic(began.Add(59*time.Second), began)); diff != "" {
		t.Error(diff)
	}
	if got := m.traffic(began.Add(75*time.Second), began); got.Events != (client.Rate{Total: 7, LastMinute: 2}) || got.Records.LastMinute != 0 {
		t.Errorf("%+v", got)
	}
	m.stored(began.Add(60*time.Second), 1, 0) // the same place in the ring as the first second
	if got := m.traffic(began.Add(61*time.Second), began); got.Events != (client.Rate{Total: 8, LastMinute: 3}) {
		t.Errorf("%+v", got)
	}
}
