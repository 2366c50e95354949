package collector

import (
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

func TestProjectsAreListedAndMerged(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.tell("s", "zebraqux")
	items, err := w.client.Projects(t.Context())
	if err != nil || len(items) != 1 || items[0].ProjectPath != "/p" || items[0].Events != 3 || items[0].Records == 0 {
		t.Fatalf("%+v, %v", items, err)
	}
	ns, moved := event.Namespace("mia", "p"), event.Namespace("mia", "moved")
	for _, c := range []struct{ name, body, says string }{
		{"no object", `[]`, "JSON object"},
		{"no fields", `{}`, `"details":[{"field":"from"`},
		{"one field", `{"from":"` + ns + `"}`, `"details":[{"field":"into"`},
		{"no namespaces", `{"from":"x","into":"y"}`, "must be namespaces"},
		{"another person's", `{"from":"` + ns + `","into":"` + event.Namespace("ana", "p") + `"}`, "of one actor"},
		{"itself", `{"from":"` + ns + `","into":"` + ns + `"}`, "one project"},
	} {
		if status, body := w.do("POST", "/v1/projects/merge", "application/json", c.body); status != 400 || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
	got, err := w.client.MergeProjects(t.Context(), client.Merge{From: ns, Into: moved, ProjectPath: "/moved"})
	if err != nil || got.Events != 3 || got.Records != items[0].Records {
		t.Errorf("%+v, %v", got, err)
	}
	if status, body := w.do("POST", "/v1/projects/merge", "application/json", `{"from":"`+ns+`","into":"`+moved+`"}`); status != 404 {
		t.Error(status, body)
	}
	found, err := w.client.Search(t.Context(), moved, "zebraqux", 5, nil, time.Time{})
	if err != nil || len(found) == 0 || found[0].Namespace != moved {
		t.Errorf("%+v, %v", found, err)
	}
}
