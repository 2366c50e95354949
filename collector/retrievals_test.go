package collector

import (
	"fmt"
	"testing"
)

func TestRetrievalsAreBoundedAndNewestFirst(t *testing.T) {
	var r retrievals
	for i := range keptRetrievals + 7 {
		r.add(retrieval{event: fmt.Sprint(i)})
	}
	got := r.newest()
	if len(got) != keptRetrievals || got[0].event != fmt.Sprint(keptRetrievals+6) || got[keptRetrievals-1].event != "7" {
		t.Errorf("%d retrievals from %s to %s, want the last %d, newest first", len(got), got[0].event, got[len(got)-1].event, keptRetrievals)
	}
	got[0].event = "changed"
	if r.newest()[0].event == "changed" {
		t.Error("what is remembered can be changed from outside")
	}
}
