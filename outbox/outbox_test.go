package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const testWait = 5 * time.Second

// drainAll acknowledges everything and gives what it got.
func drainAll(t testing.TB, q *Queue) []Record {
	t.Helper()
	var got []Record
	n, err := q.Drain(context.Background(), 7, 1<<20, func(batch []Record) ([]Verdict, error) {
		got = append(got, batch...)
		return slices.Repeat([]Verdict{Done()}, len(batch)), nil
	})
	if err != nil {
		t.Fatalf("drain: %v", err)
	}
	if n != len(got) {
		t.Fatalf("drain says %d, delivered %d", n, len(got))
	}
	return got
}

func ids(records []Record) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = r.ID
	}
	return out
}

func mustAppend(t testing.TB, q *Queue, id string, data []byte) {
	t.Helper()
	if err := q.Append(id, data, testWait); err != nil {
		t.Fatalf("append %s: %v", id, err)
	}
}

func mustStatus(t testing.TB, q *Queue) Status {
	t.Helper()
	s, err := q.Status()
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	return s
}

func wantEmpty(t testing.TB, q *Queue) {
	t.Helper()
	if s := mustStatus(t, q); s.Pending != 0 || s.Bytes != 0 || s.Oldest != "" {
		t.Errorf("the queue is not empty: %+v", s)
	}
}

// newest gives the last segment.
func newest(t testing.TB, q *Queue) string {
	t.Helper()
	all, _, err := q.segments()
	if err != nil || len(all) == 0 {
		t.Fatalf("no segment: %v", err)
	}
	return q.path(all[len(all)-1].name())
}

func appendRaw(t testing.TB, name string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsComeBackInOrder(t *testing.T) {
	big := bytes.Repeat([]byte("漢<\x00"), 1_200_000/5)
	tests := []struct {
		name    string
		options Options
		data    [][]byte
	}{
		{"nothing", Options{}, nil},
		{"one", Options{}, [][]byte{[]byte(`{"a":1}`)}},
		{"empty data", Options{}, [][]byte{{}, nil, []byte("x")}},
		{"big", Options{}, [][]byte{big, []byte("small"), big}},
		{"across segments", Options{SegmentBytes: 300}, slices.Repeat([][]byte{bytes.Repeat([]byte("x"), 90)}, 50)},
		{"each beyond a segment", Options{SegmentBytes: 10}, [][]byte{big, big}},
		{"data that look like a record", Options{}, [][]byte{encode("inner", []byte("no"), time.Now()), []byte(magic), []byte("z")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state", "outbox")
			at := time.Date(2031, 2, 3, 4, 5, 6, 7_000_000, time.UTC)
			tt.options.Now = func() time.Time { return at }
			q := New(dir, tt.options)
			var want []Record
			var total int64
			for i, data := range tt.data {
				id := fmt.Sprintf("id-%03d", i)
				mustAppend(t, q, id, data)
				want = append(want, Record{id, append([]byte{}, data...), at.Local()})
				total += int64(headerSize + len(id) + len(data))
			}
			wantStatus := Status{Pending: len(want), Bytes: total}
			if len(want) > 0 {
				wantStatus.Oldest = "2031-02-03T04:05:06Z"
			}
			if diff := cmp.Diff(wantStatus, mustStatus(t, q)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, drainAll(t, New(dir, tt.options)), cmp.Comparer(bytes.Equal)); diff != "" {
				t.Errorf("drained (-want +got):\n%s", diff)
			}
			wantEmpty(t, q)
			if again := drainAll(t, q); len(again) != 0 {
				t.Errorf("delivered again: %v", ids(again))
			}
			if len(want) == 0 {
				return
			}
			if all, sum, _ := q.segments(); len(all) != 1 || sum != 0 {
				t.Errorf("segments left: %+v", all)
			}
		})
	}
}

func TestBatchesKeepTheirBounds(t *testing.T) {
	tests := []struct {
		name           string
		sizes          []int
		maxN, maxBytes int
		want           []int // records a batch
	}{
		{"by number", []int{1, 1, 1, 1, 1}, 2, 100, []int{2, 2, 1}},
		{"by bytes", []int{40, 40, 40, 40}, 10, 100, []int{2, 2}},
		{"one beyond the bound goes alone", []int{10, 500, 10, 10}, 10, 100, []int{1, 1, 2}},
		{"exactly the bound", []int{50, 50, 1}, 10, 100, []int{2, 1}},
	}
	for _, tt := range tests {
		for _, beside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/beside=%v", tt.name, beside), func(t *testing.T) {
				q := New(t.TempDir(), Options{})
				for i, size := range tt.sizes {
					id, data := fmt.Sprint(i), make([]byte, size)
					if !beside {
						mustAppend(t, q, id, data)
					} else if err := q.writeBeside(encode(id, data, time.Now())); err != nil {
						t.Fatal(err)
					}
				}
				var got []int
				if _, err := q.Drain(context.Background(), tt.maxN, tt.maxBytes, func(b []Record) ([]Verdict, error) {
					got = append(got, len(b))
					return slices.Repeat([]Verdict{Done()}, len(b)), nil
				}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
				wantEmpty(t, q)
			})
		}
	}
}

func TestVerdicts(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name        string
		verdicts    []Verdict // for records 0 to 3
		err         error
		wantErr     error
		delivered   int
		quarantined int
		left        []string
	}{
		{"all done", slices.Repeat([]Verdict{Done()}, 4), nil, nil, 4, 0, []string{}},
		{"reject", []Verdict{Done(), Reject("bad"), Done(), Reject("worse")}, nil, nil, 2, 2, []string{}},
		{"keep", []Verdict{Done(), Keep(), Done(), Done()}, nil, ErrKept, 1, 0, []string{"1", "2", "3"}},
		{"too few", []Verdict{Done(), Done()}, nil, ErrKept, 2, 0, []string{"2", "3"}},
		{"too many", slices.Repeat([]Verdict{Done()}, 9), nil, nil, 4, 0, []string{}},
		{"none and an error", nil, boom, boom, 0, 0, []string{"0", "1", "2", "3"}},
		{"some and an error", []Verdict{Done(), Reject("bad")}, boom, boom, 1, 1, []string{"2", "3"}},
		{"all and an error", slices.Repeat([]Verdict{Done()}, 4), boom, boom, 4, 0, []string{}},
	}
	for _, tt := range tests {
		for _, beside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/beside=%v", tt.name, beside), func(t *testing.T) {
				q := New(t.TempDir(), Options{})
				for i := range 4 {
					if !beside {
						mustAppend(t, q, fmt.Sprint(i), []byte("data"))
					} else if err := q.writeBeside(encode(fmt.Sprint(i), []byte("data"), time.Now())); err != nil {
						t.Fatal(err)
					}
				}
				n, err := q.Drain(context.Background(), 10, 1000, func(b []Record) ([]Verdict, error) { return tt.verdicts, tt.err })
				if n != tt.delivered || !errors.Is(err, tt.wantErr) {
					t.Errorf("drain gives %d, %v", n, err)
				}
				if s := mustStatus(t, q); s.Pending != len(tt.left) || s.Quarantined != tt.quarantined {
					t.Errorf("status %+v", s)
				}
				if diff := cmp.Diff(tt.left, ids(drainAll(t, q))); diff != "" {
					t.Errorf("left (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestTornAndForeignBytes(t *testing.T) {
	whole := encode("torn", bytes.Repeat([]byte("t"), 2000), time.Now())
	tests := []struct {
		name string
		raw  []byte
	}{
		{"half a line of JSON", []byte(`{"event_id":"01AAAAAAAAAAAA`)},
		{"half a magic", []byte(magic[:5])},
		{"a header and no more", whole[:headerSize]},
		{"half a record", whole[:1000]},
		{"a record but its last byte", whole[:len(whole)-1]},
		{"zeros", make([]byte, 70_000)},
		{"a line over 64 KiB", bytes.Repeat([]byte("l"), 200_000)},
		{"more than one piece", bytes.Repeat([]byte("p"), 2*pieceSize+1)},
		{"many magics", bytes.Repeat([]byte(magic), 5000)},
	}
	for _, tt := range tests {
		for _, last := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/last=%v", tt.name, last), func(t *testing.T) {
				q := New(t.TempDir(), Options{})
				mustAppend(t, q, "before", []byte("b"))
				appendRaw(t, newest(t, q), tt.raw)
				want := []string{"before"}
				if !last {
					mustAppend(t, q, "after", []byte("a"))
					want = append(want, "after")
				}
				if s := mustStatus(t, q); s.Pending != len(want) {
					t.Errorf("pending %d, want %d", s.Pending, len(want))
				}
				if diff := cmp.Diff(want, ids(drainAll(t, q))); diff != "" {
					t.Errorf("drained (-want +got):\n%s", diff)
				}
				wantEmpty(t, q)
				var back []byte
				pieces := 0
				if err := q.Quarantined(func(x Quarantine) bool {
					if x.ID != "" || x.Reason != damagedReason || x.Requeueable() || x.Size != len(x.Data) {
						t.Errorf("quarantine %+v", x)
					}
					back = append(back, x.Data...)
					pieces++
					return true
				}); err != nil {
					t.Fatal(err)
				}
				if len(back) != len(tt.raw) || pieces != (len(tt.raw)+pieceSize-1)/pieceSize {
					t.Errorf("%d bytes in %d pieces in quarantine, want %d bytes", len(back), pieces, len(tt.raw))
				}
				if s := mustStatus(t, q); s.Quarantined != pieces {
					t.Errorf("status counts %d, want %d", s.Quarantined, pieces)
				}
			})
		}
	}
}

func TestEveryTornTail(t *testing.T) {
	torn := encode("torn", []byte(`{"n":1}`), time.Now())
	for cut := 1; cut < len(torn); cut++ {
		q := New(t.TempDir(), Options{})
		mustAppend(t, q, "0", []byte("first"))
		appendRaw(t, newest(t, q), torn[:cut])
		mustAppend(t, q, "1", []byte("second"))
		if diff := cmp.Diff([]string{"0", "1"}, ids(drainAll(t, q))); diff != "" {
			t.Errorf("cut at %d (-want +got):\n%s", cut, diff)
		}
		if s := mustStatus(t, q); s.Pending != 0 || s.Bytes != 0 || s.Quarantined != 1 {
			t.Errorf("cut at %d: %+v", cut, s)
		}
	}
}

func TestEveryFlippedByte(t *testing.T) {
	q := New(t.TempDir(), Options{})
	for i := range 3 {
		mustAppend(t, q, fmt.Sprint(i), []byte(`{"n":1}`))
	}
	good, err := os.ReadFile(newest(t, q))
	if err != nil {
		t.Fatal(err)
	}
	size := len(good) / 3
	for at := size; at < 2*size; at++ {
		q := New(t.TempDir(), Options{})
		mustAppend(t, q, "0", nil)
		bad := bytes.Clone(good)
		bad[at] ^= 0x40
		if err := os.WriteFile(newest(t, q), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0", "2"}, ids(drainAll(t, q))); diff != "" {
			t.Errorf("byte %d (-want +got):\n%s", at, diff)
		}
		if s := mustStatus(t, q); s.Quarantined != 1 || s.Bytes != 0 {
			t.Errorf("byte %d: %+v", at, s)
		}
	}
}

func TestTornBytesInAnyFileStopNothing(t *testing.T) {
	q := New(t.TempDir(), Options{})
	mustAppend(t, q, "poison", bytes.Repeat([]byte("x"), 2000))
	if _, err := q.Drain(context.Background(), 9, 9999, func(b []Record) ([]Verdict, error) {
		return []Verdict{Reject("no")}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := q.writeBeside(encode("beside", make([]byte, 2000), time.Now())); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, q, "0", make([]byte, 2000))
	if err := filepath.WalkDir(q.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.HasSuffix(path, ".lock") {
			appendRaw(t, path, []byte(`{"event_id":"01AAAAAAAAAAAA`))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, q, "1", []byte("x"))
	if diff := cmp.Diff([]string{"0", "1", "beside"}, ids(drainAll(t, q))); diff != "" {
		t.Errorf("drained (-want +got):\n%s", diff)
	}
	wantEmpty(t, q)
	got := map[string]int{}
	if err := q.Quarantined(func(x Quarantine) bool { got[x.ID+x.Reason]++; return true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"poisonno": 1, damagedReason: 2}, got); diff != "" {
		t.Errorf("quarantine (-want +got):\n%s", diff)
	}
}

func TestModesWhateverTheUmask(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	for _, mask := range []int{0, 0o077, 0o277, 0o777} {
		t.Run(fmt.Sprintf("%03o", mask), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			old := umask(mask)
			defer umask(old)
			q := New(dir, Options{})
			mustAppend(t, q, "0", []byte("x"))
			if err := q.writeBeside(encode("1", nil, time.Now())); err != nil {
				t.Fatal(err)
			}
			if _, err := q.Drain(context.Background(), 1, 1, func([]Record) ([]Verdict, error) { return []Verdict{Reject("r")}, nil }); err != nil {
				t.Fatal(err)
			}
			mustAppend(t, q, "2", nil)
			files := 0
			if err := filepath.Walk(filepath.Dir(dir), func(path string, info os.FileInfo, err error) error {
				want := os.FileMode(0o600)
				if err == nil && info.IsDir() {
					want = 0o700
				}
				if err == nil && info.Mode().Perm() != want && !strings.HasSuffix(path, ".lock") {
					t.Errorf("%s is %v", path, info.Mode())
				}
				if err == nil && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s is open to others: %v", path, info.Mode())
				}
				files++
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if files < 8 {
				t.Errorf("only %d files looked at", files)
			}
		})
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	const writers, each = 64, 5
	dir := filepath.Join(t.TempDir(), "outbox")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := New(dir, Options{SegmentBytes: 20_000}).Append(fmt.Sprintf("%02d-%d", w, i), make([]byte, 1000), testWait); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop, drained := make(chan struct{}), make(chan []Record)
	go func() {
		var got []Record
		for finished := false; ; {
			_, err := New(dir, Options{}).Drain(context.Background(), 10, 1<<20, func(b []Record) ([]Verdict, error) {
				got = append(got, b...)
				return slices.Repeat([]Verdict{Done()}, len(b)), nil
			})
			if err != nil {
				t.Error(err)
			}
			if finished {
				break
			}
			select {
			case <-stop:
				finished = true
			default:
			}
		}
		drained <- got
	}()
	wg.Wait()
	close(stop)
	got := <-drained
	seen, last := map[string]bool{}, map[string]string{}
	for _, r := range got {
		if seen[r.ID] {
			t.Errorf("%s delivered twice", r.ID)
		}
		seen[r.ID] = true
		writer, i, _ := strings.Cut(r.ID, "-")
		if i < last[writer] {
			t.Errorf("%s came behind %s", r.ID, last[writer])
		}
		last[writer] = i
	}
	if len(seen) != writers*each {
		t.Errorf("%d records of %d", len(seen), writers*each)
	}
	wantEmpty(t, New(dir, Options{}))
}
