package outbox

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hold takes a lock as a stopped process holds it.
func hold(t *testing.T, q *Queue, name string) lock {
	t.Helper()
	l, ok, err := q.disk.lock(q.path(name))
	if err != nil || !ok {
		t.Fatalf("taking %s: %v %v", name, ok, err)
	}
	return l
}

func TestLockHeldForEver(t *testing.T) {
	tests := []struct {
		name    string
		torn    bool // the holder was stopped in the middle of its write
		wantErr error
	}{
		{"idle", false, nil},
		{"in the middle of a write", true, ErrLocked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := New(t.TempDir(), Options{})
			q.lockWait = 0
			mustAppend(t, q, "0", []byte("x"))
			l := hold(t, q, appendLock)
			torn := encode("held", []byte("payload"), time.Now())
			if tt.torn {
				appendRaw(t, newest(t, q), torn[:40])
			}
			for _, id := range []string{"1", "2"} {
				if err := q.Append(id, []byte(id), time.Millisecond); err != nil {
					t.Fatal(err)
				}
			}
			if s := mustStatus(t, q); s.Pending != 3 || s.Oldest == "" {
				t.Errorf("status %+v", s)
			}
			var got []string
			receive := func(b []Record) ([]Verdict, error) {
				got = append(got, ids(b)...)
				return slices.Repeat([]Verdict{Done()}, len(b)), nil
			}
			if n, err := q.Drain(context.Background(), 10, 1000, receive); n != 3 || !errors.Is(err, tt.wantErr) {
				t.Errorf("drain gives %d, %v", n, err)
			}
			if s := mustStatus(t, q); s.Pending != 0 || s.Quarantined != 0 {
				t.Errorf("status %+v", s)
			}
			if n, err := q.Drain(context.Background(), 10, 1000, receive); n != 0 || !errors.Is(err, tt.wantErr) {
				t.Errorf("drain again gives %d, %v", n, err)
			}
			want := []string{"0", "1", "2"}
			if tt.torn { // the holder goes on
				appendRaw(t, newest(t, q), torn[40:])
				want = append(want, "held")
			}
			l.unlock()
			mustAppend(t, q, "3", nil)
			if n, err := q.Drain(context.Background(), 10, 1000, receive); n != len(want)-2 || err != nil {
				t.Errorf("drain at last gives %d, %v", n, err)
			}
			if diff := cmp.Diff(append(want, "3"), got); diff != "" {
				t.Errorf("drained (-want +got):\n%s", diff)
			}
			wantEmpty(t, q)
		})
	}
}

func TestLockFileRemovedWhileHeld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed on Windows")
	}
	q := New(t.TempDir(), Options{})
	mustAppend(t, q, "0", nil)
	l := hold(t, q, appendLock)
	if !l.held() {
		t.Error("a lock just taken is not held")
	}
	if err := os.Remove(q.path(appendLock)); err != nil {
		t.Fatal(err)
	}
	if l.held() {
		t.Error("a lock whose file is gone counts as held")
	}
	if err := q.Append("1", nil, 0); err != nil { // a new lock file, not beside
		t.Fatal(err)
	}
	if files, _, _ := q.besideFiles(); len(files) != 0 {
		t.Errorf("written beside: %v", files)
	}
	if l.held() {
		t.Error("a lock whose file is another's counts as held")
	}
	// The first holder goes on with its write, and finds out.
	if f, err := q.writeLocked(l, encode("2", nil, time.Now())); err == nil {
		t.Errorf("a write under a lost lock is vouched for: %v", f)
	}
	l.unlock()
	if diff := cmp.Diff([]string{"0", "1", "2"}, ids(drainAll(t, q))); diff != "" {
		t.Errorf("drained (-want +got):\n%s", diff)
	}
}

func TestOneDrainsAtATime(t *testing.T) {
	q := New(t.TempDir(), Options{})
	if n, err := New(q.path("none"), Options{}).Drain(context.Background(), 1, 1, nil); n != 0 || err != nil {
		t.Errorf("a queue that is not there gives %d, %v", n, err)
	}
	mustAppend(t, q, "0", nil)
	n, err := q.Drain(context.Background(), 1, 1, func(b []Record) ([]Verdict, error) {
		if _, err := q.Drain(context.Background(), 1, 1, nil); !errors.Is(err, ErrBusy) {
			t.Errorf("a second drain gives %v", err)
		}
		mustAppend(t, q, "1", nil) // appending goes on meanwhile
		return []Verdict{Done()}, context.Canceled
	})
	if n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("drain gives %d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := q.Drain(ctx, 1, 1, nil); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("drain with an ended context gives %d, %v", n, err)
	}
	if diff := cmp.Diff([]string{"1"}, ids(drainAll(t, q))); diff != "" {
		t.Errorf("drained (-want +got):\n%s", diff)
	}
}

func TestFullAndTooBig(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	q := New(t.TempDir(), Options{MaxBytes: 10_000, Now: func() time.Time { return at }})
	n := 0
	var err error
	for ; err == nil; n++ {
		err = q.Append("id", make([]byte, 1000-headerSize-2), 0)
	}
	if n != 11 || !errors.Is(err, ErrFull) {
		t.Errorf("after %d records append gives %v", n, err)
	}
	if err := q.Append(string(make([]byte, MaxID+1)), nil, 0); !errors.Is(err, ErrTooBig) {
		t.Errorf("a long id gives %v", err)
	}
	if err := q.Append("", make([]byte, MaxData+1), 0); !errors.Is(err, ErrTooBig) {
		t.Errorf("big data give %v", err)
	}
	l := hold(t, q, appendLock)
	if err := q.Append("beside", nil, 0); !errors.Is(err, ErrFull) {
		t.Errorf("beside a full queue append gives %v", err)
	}
	l.unlock()
	want := Status{
		Pending: 10, Bytes: 10_000, Oldest: "2030-01-02T03:04:05Z", Dropped: 4,
		LastDrop: "2030-01-02T03:04:05Z", DropReason: ErrFull.Error(),
	}
	if diff := cmp.Diff(want, mustStatus(t, q)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got := drainAll(t, q); len(got) != 10 {
		t.Errorf("drained %d", len(got))
	}
	mustAppend(t, q, "again", make([]byte, 5000))

	l = hold(t, q, appendLock) // what is beside counts, too
	defer l.unlock()
	for n, err = 0, nil; err == nil; n++ {
		err = q.Append("beside", make([]byte, 1000), 0)
	}
	if s := mustStatus(t, q); !errors.Is(err, ErrFull) || s.Bytes > 10_000 || s.Bytes < 8000 {
		t.Errorf("after %d beside: %v, %+v", n, err, s)
	}
}

func TestQuarantine(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	q := New(t.TempDir(), Options{Now: func() time.Time { at = at.Add(time.Second); return at }})
	if err := q.Quarantined(func(Quarantine) bool { t.Error("something in an empty quarantine"); return true }); err != nil {
		t.Fatal(err)
	}
	long := string(make([]byte, 5000))
	reasons := map[string]string{"a": "400 bad", "b": "", "c": long}
	for _, id := range []string{"a", "b", "c"} {
		mustAppend(t, q, id, []byte("data of "+id))
	}
	reject := func(b []Record) ([]Verdict, error) {
		var v []Verdict
		for _, r := range b {
			v = append(v, Reject(reasons[r.ID]))
		}
		return v, nil
	}
	for range 2 { // the second time, everything has been requeued
		if n, err := q.Drain(context.Background(), 2, 1000, reject); n != 0 || err != nil {
			t.Fatalf("drain gives %d, %v", n, err)
		}
		var got [][3]string
		if err := q.Quarantined(func(x Quarantine) bool {
			got = append(got, [3]string{x.ID, x.Reason, string(x.Data)})
			if x.Size != len(x.Data) || x.Time.Before(at.Add(-time.Minute)) || !x.Requeueable() || x.Name == "" {
				t.Errorf("quarantine %+v", x)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		want := [][3]string{{"a", "400 bad", "data of a"}, {"b", "", "data of b"}, {"c", long[:1000], "data of c"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("quarantine (-want +got):\n%s", diff)
		}
		if n, err := q.Requeue(func(Quarantine) bool { return true }); n != 3 || err != nil {
			t.Fatalf("requeue gives %d, %v", n, err)
		}
		if s := mustStatus(t, q); s.Quarantined != 0 || s.Pending != 3 {
			t.Errorf("status %+v", s)
		}
	}
	if _, err := q.Drain(context.Background(), 2, 1000, reject); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Purge(func(x Quarantine) bool { return x.ID != "b" }); n != 2 || err != nil {
		t.Errorf("purge gives %d, %v", n, err)
	}
	if s := mustStatus(t, q); s.Quarantined != 1 || s.Pending != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestQuarantineIsBounded(t *testing.T) {
	q := New(t.TempDir(), Options{MaxBytes: 4000})
	rejected := 0
	for i := range 10 {
		mustAppend(t, q, string(rune('a'+i)), make([]byte, 900))
		_, err := q.Drain(context.Background(), 1, 1, func([]Record) ([]Verdict, error) { return []Verdict{Reject("r")}, nil })
		if err == nil {
			rejected++
			continue
		}
		if !errors.Is(err, ErrQuarantineFull) {
			t.Fatal(err)
		}
		break
	}
	if s := mustStatus(t, q); rejected != 4 || s.Quarantined != 4 || s.Pending != 1 {
		t.Errorf("%d rejected, %+v", rejected, s)
	}
	if n, err := q.Purge(func(Quarantine) bool { return true }); n != 4 || err != nil {
		t.Errorf("purge gives %d, %v", n, err)
	}
	if got := ids(drainAll(t, q)); len(got) != 1 || got[0] != "e" {
		t.Errorf("drained %v", got)
	}
}

func TestCursorSparesARestart(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, q *Queue)
		want   []string
	}{
		{"kept", func(*testing.T, *Queue) {}, []string{"2", "3"}},
		{"lost", func(t *testing.T, q *Queue) {
			if err := os.Remove(q.path(cursorFile)); err != nil {
				t.Fatal(err)
			}
		}, []string{"0", "1", "2", "3"}},
		{"damaged", func(t *testing.T, q *Queue) { appendRaw(t, q.path(cursorFile), []byte("x")) }, []string{"0", "1", "2", "3"}},
		{"of another segment", func(t *testing.T, q *Queue) {
			if err := q.saveCursor(cursor{"seg-0000000000000001-00000000.q": 40}); err != nil {
				t.Fatal(err)
			}
		}, []string{"0", "1", "2", "3"}},
		{"beyond the end", func(t *testing.T, q *Queue) {
			all, _, _ := q.segments()
			if err := q.saveCursor(cursor{all[0].base: 1 << 40}); err != nil {
				t.Fatal(err)
			}
		}, []string{"0", "1", "2", "3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := New(t.TempDir(), Options{})
			for _, id := range []string{"0", "1", "2", "3"} {
				mustAppend(t, q, id, nil)
			}
			calls := 0
			if _, err := q.Drain(context.Background(), 2, 1000, func(b []Record) ([]Verdict, error) {
				if calls++; calls > 1 {
					return nil, nil
				}
				return []Verdict{Done(), Done()}, nil
			}); !errors.Is(err, ErrKept) {
				t.Fatal(err)
			}
			tt.damage(t, q)
			if diff := cmp.Diff(tt.want, ids(drainAll(t, q))); diff != "" {
				t.Errorf("drained (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreadableFilesStopNoOthers(t *testing.T) {
	q := New(t.TempDir(), Options{})
	mustAppend(t, q, "0", nil)
	if err := os.Mkdir(q.path("seg-0000000000000000-00000000.q"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(q.path(besideDir, "0-0-0.q"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := q.writeBeside(encode("1", nil, time.Now())); err != nil {
		t.Fatal(err)
	}
	var got []string
	n, err := q.Drain(context.Background(), 9, 9, func(b []Record) ([]Verdict, error) {
		got = append(got, ids(b)...)
		return slices.Repeat([]Verdict{Done()}, len(b)), nil
	})
	if diff := cmp.Diff([]string{"0", "1"}, got); diff != "" || n != 2 {
		t.Errorf("drained (-want +got):\n%s", diff)
	}
	if err == nil {
		t.Error("the unreadable files are kept quiet about")
	}
	mustAppend(t, q, "2", nil)
}
