package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

func TestNewest(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	for i, title := range []string{"often seldom", "often", "often seldom", "seldom", "often", "often seldom"} {
		r := testRecord(nsA, title)
		r.CreatedAt = fmt.Sprintf("2026-11-%02dT09:00:00Z", i+1)
		if i == 3 {
			r.Namespace = nsB
		}
		if _, err := s.SaveRecord(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, space string
		words       []string
		f           Filter
		limit       int
		want        []int64
	}{
		{"one word", nsA, []string{"often"}, Filter{}, 3, []int64{6, 5, 3}},
		{"both words", nsA, []string{"often", "seldom"}, Filter{}, 10, []int64{6, 3, 1}},
		{"since a day", nsA, []string{"often", "seldom"}, Filter{Since: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}, 10, []int64{6, 3}},
		{"another project", nsB, []string{"seldom"}, Filter{}, 10, []int64{4}},
		{"a project without records", "/actor/mia/project/c/", []string{"often"}, Filter{}, 10, nil},
		{"no words", nsA, nil, Filter{}, 10, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, err := s.Newest(ctx, tt.space, tt.words, tt.f, tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, h := range hits {
				got = append(got, h.ID)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("records %v, want %v", got, tt.want)
			}
		})
	}
}
