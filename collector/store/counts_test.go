package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// truth counts a namespace's records the slow way.
func truth(t *testing.T, s *Store, namespace string) (n int) {
	t.Helper()
	ns, _ := s.spaces.id(namespace)
	if err := s.read.QueryRow("SELECT count(*) FROM records WHERE ns = ?", ns).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The number of records is kept by triggers; whatever happens to records, it stays true.
func TestRecordCountsStayTrue(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	check := func(after string, want, wantOther int) {
		t.Helper()
		for ns, want := range map[string]int{nsA: want, nsB: wantOther} {
			_, total, err := s.TermCounts(ctx, ns, []string{"retries"})
			if err != nil {
				t.Fatal(err)
			}
			if real := truth(t, s, ns); total != want || real != want {
				t.Errorf("after %s %s has %d records, counted %d, want %d", after, ns, total, real, want)
			}
		}
	}
	check("nothing", 0, 0)
	save := func(i int, ns, title string) {
		t.Helper()
		r := testRecord(ns, title)
		r.RecordID = fmt.Sprintf("mr_01J%023d", i)
		if _, err := s.SaveRecord(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		save(i, nsA, "retries")
	}
	save(3, nsB, "retries")
	check("saving", 3, 1)
	save(0, nsA, "retries are capped")
	check("changing a record", 3, 1)
	save(0, nsB, "retries are capped")
	check("moving a record", 2, 2)
	gone, err := s.Forget(ctx, Selection{Records: []string{fmt.Sprintf("mr_01J%023d", 1)}}, false)
	if err != nil {
		t.Fatal(err)
	}
	check("forgetting", 1, 2)
	if _, err := s.Restore(ctx, gone.ID); err != nil {
		t.Fatal(err)
	}
	check("bringing back", 2, 2)
}

func TestTermCountsOfFrequentWords(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	put := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if _, err := s.SaveRecord(ctx, testRecord(nsA, fmt.Sprintf("often w%d", i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	count := func(want ...int) {
		t.Helper()
		docs, total, err := s.TermCounts(ctx, nsA, []string{"often", "w3", "w401", "never"})
		if err != nil {
			t.Fatal(err)
		}
		if got := append(docs, total); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	}
	put(0, 400)
	count(400, 1, 0, 0, 400)
	put(400, 404)
	count(400, 1, 1, 0, 404) // what is frequent may be a little old, what is rare may not
	put(404, 420)
	count(420, 1, 1, 0, 420)
}

func TestCountsAreBounded(t *testing.T) {
	var c counts
	for i := range maxCounts * 3 {
		c.remember(fmt.Sprint(i), count{frequent, 1000})
	}
	if len(c.of) > maxCounts {
		t.Errorf("%d counts are remembered, want at most %d", len(c.of), maxCounts)
	}
	c.remember("rare", count{frequent - 1, 1000})
	if _, ok := c.of["rare"]; ok {
		t.Error("the count of a rare word is remembered")
	}
	c.forget()
	if len(c.of) != 0 {
		t.Error("words are remembered after forgetting")
	}
}
