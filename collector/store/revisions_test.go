package store

import (
	"context"
	"path/filepath"
	"testing"
)

func TestRevisionsNameTheStateOfARecord(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	r := testRecord(nsA, "retry")
	for want := int64(1); want <= 2; want++ {
		if _, err := s.SaveRecord(ctx, r); err != nil {
			t.Fatal(err)
		}
		saved, _, err := s.Record(ctx, r.RecordID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Revisions(ctx, []int64{saved.ID, saved.ID + 100})
		if err != nil || len(got) != 1 || got[0] != (Revision{saved.ID, r.RecordID, want}) {
			t.Errorf("revisions %+v, %v; want one, %d", got, err, want)
		}
		r.Title = "changed"
	}
}
