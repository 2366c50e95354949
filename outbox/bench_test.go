package outbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func fill(b *testing.B, q *Queue, n int, data []byte) {
	b.Helper()
	for i := range n { // with few syncs, which a benchmark may do
		l, err := q.acquire(appendLock, testWait)
		if err != nil {
			if err = q.disk.makeDir(q.dir); err == nil {
				l, err = q.acquire(appendLock, testWait)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
		f, err := q.writeLocked(l, encode(fmt.Sprint(i), data, time.Now()))
		if err != nil {
			b.Fatal(err)
		}
		l.unlock()
		if i%500 == 0 || i == n-1 {
			if err := f.sync(); err != nil {
				b.Fatal(err)
			}
		}
		_ = f.Close()
	}
}

func BenchmarkAppend4K(b *testing.B) {
	data := make([]byte, 4096)
	for _, backlog := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("backlog=%d", backlog), func(b *testing.B) {
			q := New(filepath.Join(b.TempDir(), "outbox"), Options{MaxBytes: 1 << 32})
			fill(b, q, backlog+1, data)
			for b.Loop() {
				mustAppend(b, q, "01AAAAAAAAAAAAAAAAAAAAAAAA", data)
			}
		})
	}
}

// BenchmarkSync4K is the floor: what the disk itself takes.
func BenchmarkSync4K(b *testing.B) {
	d := &osDisk{}
	f, err := d.open(filepath.Join(b.TempDir(), "f"), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		b.Skip(err)
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, 4096)
	for b.Loop() {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := f.sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend64AtOnce takes the time until 64 writers that start together are done.
func BenchmarkAppend64AtOnce(b *testing.B) {
	data := make([]byte, 4096)
	dir := filepath.Join(b.TempDir(), "outbox")
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() { mustAppend(b, New(dir, Options{MaxBytes: 1 << 32}), fmt.Sprint(i), data) })
		}
		wg.Wait()
	}
}

func BenchmarkAppendWhileDrained(b *testing.B) {
	q := New(filepath.Join(b.TempDir(), "outbox"), Options{})
	data := make([]byte, 4096)
	for b.Loop() {
		mustAppend(b, q, "01AAAAAAAAAAAAAAAAAAAAAAAA", data)
		b.StopTimer()
		drainAll(b, q)
		b.StartTimer()
	}
}

func BenchmarkDrain4K(b *testing.B) {
	data := make([]byte, 4096)
	for b.Loop() {
		b.StopTimer()
		q := New(filepath.Join(b.TempDir(), "outbox"), Options{})
		fill(b, q, 10_000, data)
		b.StartTimer()
		if n, err := q.Drain(context.Background(), 256, 1<<20, func(batch []Record) ([]Verdict, error) {
			return slices.Repeat([]Verdict{Done()}, len(batch)), nil
		}); n != 10_000 || err != nil {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkStatus10000(b *testing.B) {
	q := New(filepath.Join(b.TempDir(), "outbox"), Options{})
	fill(b, q, 10_000, make([]byte, 4096))
	for b.Loop() {
		if s := mustStatus(b, q); s.Pending != 10_000 {
			b.Fatal(s)
		}
	}
}
