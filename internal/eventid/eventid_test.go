package eventid

import (
	"os"
	"path/filepath"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"kiro-learn/internal/event"
)

func TestOrderSurvivesAClockThatStepsBack(t *testing.T) {
	clock := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	var ids []string
	for _, step := range []time.Duration{0, time.Second, -time.Hour, 0, 0, 24 * time.Hour * 365 * 74, -24 * time.Hour * 365 * 74, time.Millisecond} {
		clock = clock.Add(step)
		ids = append(ids, New(dir, func() time.Time { return clock }).Next(time.Second))
	}
	for i, id := range ids {
		if !event.IsULID(id) {
			t.Errorf("%q is not a ULID", id)
		}
		if i > 0 && ids[i-1] >= id {
			t.Errorf("id %d: %s does not sort behind %s", i, id, ids[i-1])
		}
	}
}

func TestConcurrentSourcesNeverMeet(t *testing.T) {
	dir := t.TempDir()
	fixed := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	var all []string
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := New(dir, func() time.Time { return fixed })
			last := ""
			for range 50 {
				id := s.Next(10 * time.Second)
				if id <= last {
					t.Errorf("%s after %s", id, last)
				}
				last = id
				mu.Lock()
				all = append(all, id)
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	sort.Strings(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.Fatalf("made twice: %s", all[i])
		}
	}
}

func TestNoStateAndNoLockStillGiveIDs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file, not a directory")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if id := New(file, nil).Next(time.Millisecond); !event.IsULID(id) {
		t.Errorf("no state directory: %q", id)
	}
	dir := t.TempDir()
	first := New(dir, nil).Next(time.Second)
	held := flock.New(filepath.Join(dir, "last-event-id.lock"))
	if err := held.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Unlock() }()
	if id := New(dir, nil).Next(time.Millisecond); !event.IsULID(id) || id <= first {
		t.Errorf("lock held elsewhere: %q after %q", id, first)
	}
	if err := os.WriteFile(filepath.Join(dir, "last-event-id"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if id := New(dir, nil).Next(time.Millisecond); !event.IsULID(id) {
		t.Errorf("rubbish in the file: %q", id)
	}
}
