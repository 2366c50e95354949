package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

func TestMergeIndex(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	for i := range 60 {
		if _, err := s.SaveRecord(ctx, testRecord(nsA, fmt.Sprintf("retry w%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	parts := func() (n int) {
		t.Helper()
		if err := s.read.QueryRow("SELECT count(DISTINCT segid) FROM search_idx").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	find := func(word string, want int) {
		t.Helper()
		hits, err := s.Candidates(ctx, nsA, []string{word}, Filter{}, 100)
		if err != nil || len(hits) != want {
			t.Errorf("%q is in %d records, %v; want %d", word, len(hits), err, want)
		}
	}
	find("retry", 60)
	if n := parts(); n <= manyParts {
		t.Fatalf("60 commits made %d parts; the test needs more than %d", n, manyParts)
	}
	if err := s.MergeIndex(ctx); err != nil {
		t.Fatal(err)
	}
	if n := parts(); n != 1 {
		t.Errorf("%d parts after merging, want 1", n)
	}
	find("retry", 60)
	find("w59", 1)
	if err := s.MergeIndex(ctx); err != nil {
		t.Errorf("merging what is merged: %v", err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Errorf("after merging: %v, %v", problems, err)
	}
}
