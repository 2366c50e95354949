package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"kiro-learn/internal/event"
)

func TestVectorsAreOfOneStateOfARecord(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	one, two := testRecord(nsA, "one"), testRecord(nsA, "two")
	save := func(r event.Record) {
		t.Helper()
		if _, err := s.SaveRecord(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	save(one)
	save(two)
	without := func(model string) (ids []int64) {
		t.Helper()
		got, err := s.Unembedded(ctx, model, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		return ids
	}
	if got := without("m"); !slices.Equal(got, []int64{2, 1}) {
		t.Fatalf("without a vector are %v, want 2 and 1", got)
	}
	err := s.SaveVectors(ctx, "m", []Vector{{ID: 1, Revision: 1, Bytes: []byte{1, 255}}, {ID: 2, Revision: 9, Bytes: []byte{3}}, {ID: 7, Revision: 1, Bytes: []byte{3}}})
	if err != nil {
		t.Fatal(err)
	}
	each := func() string {
		t.Helper()
		out := ""
		if err := s.EachVector(ctx, nsA, "m", 10, func(id int64, v []byte) { out += fmt.Sprint(id, v, ";") }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := each(); got != "1 [1 255];" {
		t.Errorf("the vectors are %s, want record 1's only: record 2 has another revision", got)
	}
	if got := without("m"); !slices.Equal(got, []int64{2}) {
		t.Errorf("without a vector are %v, want 2", got)
	}
	if got := without("another"); !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("without a vector of another model are %v, want both", got)
	}
	one.Summary = "changed"
	save(one)
	if got := each(); got != "" {
		t.Errorf("the changed record keeps the vector %s", got)
	}
	if err := s.SaveVectors(ctx, "m", []Vector{{ID: 1, Revision: 2, Bytes: []byte{4}}}); err != nil || each() != "1 [4];" {
		t.Errorf("the new vector is %s, %v", each(), err)
	}
	if _, err := s.Forget(ctx, Selection{Records: []string{one.RecordID}}, true); err != nil || each() != "" {
		t.Errorf("a forgotten record's vector is still there: %s, %v", each(), err)
	}
}
