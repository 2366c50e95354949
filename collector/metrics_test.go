package collector

import (
	"regexp"
	"strings"
	"testing"
)

func TestMetricsAreNumbersInThePrometheusFormat(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.tell("secret-session", "zebraqux")
	status, body := w.do("GET", "/metrics", "", "")
	if status != 200 {
		t.Fatal(status, body)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) kiro_learn_[a-z_]+ .+|kiro_learn_[a-z_]+(\{[a-z]+="[a-z_]+"\})? -?[0-9.e+-]+)$`)
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
	for _, want := range []string{`kiro_learn_events{kind="prompt"} 1`, `kiro_learn_records{type="decision"} 1`, "kiro_learn_pending_events 0", "kiro_learn_sessions 1", `kiro_learn_file_bytes{file="database"} `} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	if strings.Contains(body, "zebraqux") || strings.Contains(body, "secret-session") {
		t.Error("names in the metrics")
	}
}
