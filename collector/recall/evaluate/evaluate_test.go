package evaluate

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

const smallSet = `[
 {"name": "shop", "records": [
  {"id": "a", "session": "s1", "time": "2026-03-01T09:00:00Z", "title": "Retries are capped", "summary": "The uploader retries three times, with a backoff.", "files": ["upload.go"]},
  {"id": "b", "session": "s2", "time": "2026-03-02T09:00:00Z", "title": "Orders renamed", "summary": "The table is purchase_orders.", "files": []},
  {"id": "c", "session": "s2", "time": "2026-03-03T09:00:00Z", "title": "Retries of mail", "summary": "Mail is retried hourly.", "files": []}],
  "queries": [{"q": "how often does the uploader retry with a backoff?", "gold": ["a"]}, {"q": "purchase_orders table and mail", "gold": ["b", "c"]}, {"q": "zebra", "gold": ["a"]}]},
 {"name": "zoo", "records": [{"id": "x", "session": "z", "time": "2026-03-01T09:00:00+01:00", "title": "Zebras eat hay", "summary": "At noon.", "files": []}],
  "queries": [{"q": "what do Zebras eat", "gold": ["x"]}]}]`

func TestMeasures(t *testing.T) {
	set, err := Read(strings.NewReader(smallSet))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(t.TempDir(), "memory.db"), store.Options{Index: recall.Index{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ctx := context.Background()
	if err := Load(ctx, set, s); err != nil {
		t.Fatal(err)
	}
	e := recall.New(s)
	r, err := Run(ctx, set, e, 20)
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries != 4 {
		t.Errorf("%d queries, want 4", r.Queries)
	}
	for name, want := range map[string]float64{"any@1": 0.75, "all@1": 0.5, "mean@1": 0.625, "mean@5": 0.75, "all@20": 0.75, "mrr": 0.75, "s-any@1": 0.75, "s-all@10": 0.75} {
		if got := r.Measures[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	n, err := MeasureNoise(ctx, set, e, []string{"thanks!"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Noise{Unrelated: 6, Noisy: 1, Related: 3, Answered: 3, Right: 3}); n != want {
		t.Errorf("noise %+v, want %+v", n, want)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil || !strings.Contains(out.String(), "mrr        0.7500\n") {
		t.Errorf("written %q, %v", out.String(), err)
	}
}

func TestMeasureWritesWhatItFound(t *testing.T) {
	var out bytes.Buffer
	if err := Measure(context.Background(), strings.NewReader(smallSet), t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"records    4 in 2 collections", "mrr        0.7500\n", "queries    4\n", "ms_p99"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
	if err := Measure(context.Background(), strings.NewReader("no set"), t.TempDir(), &out); err == nil {
		t.Error("a file that is no set is measured")
	}
}

func TestRecordIDsAreULIDs(t *testing.T) {
	c := Collection{Name: "shop"}
	id, err := c.ulid(Record{ID: "a", Time: "2016-07-30T23:54:10.259Z"})
	if err != nil || !event.IsULID(id) || !strings.HasPrefix(id, "01ARZ3NDEK") {
		t.Errorf("id %q, %v; want a ULID of that millisecond", id, err)
	}
	if other, _ := c.ulid(Record{ID: "b", Time: "2016-07-30T23:54:10.259Z"}); other == id {
		t.Error("two records of one time have one id")
	}
	if _, err := c.ulid(Record{Time: "yesterday"}); err == nil {
		t.Error("a time that is none is accepted")
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct{ name, in string }{{"no JSON", "x"}, {"no records", `[{"name": "a"}]`}, {"no name", `[{"records": [{"id": "a"}]}]`}} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(tt.in)); err == nil {
				t.Errorf("%s is accepted", tt.in)
			}
		})
	}
}

func TestWithoutKnowsItsLevers(t *testing.T) {
	e := recall.New(nil)
	if _, err := e.Without(recall.Levers()...); err != nil {
		t.Error(err)
	}
	if _, err := e.Without("magic"); err == nil || !strings.Contains(err.Error(), "context") {
		t.Errorf("an unknown lever gives %v, want an error that lists the levers", err)
	}
}
