package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of 256 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		t.Skipf("a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestDiskFull(t *testing.T) {
	for _, size := range []int{10, 3000, 4096, 10_000, 70_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			disk := smallDisk(t)
			q := New(filepath.Join(disk, "outbox"), Options{})
			mustAppend(t, q, "0", nil)
			ballast := filepath.Join(disk, "ballast")
			want := []string{"0"}
			var err error
			if size < 1000 { // tiny records: leave no page free
				err = os.WriteFile(ballast, make([]byte, 1<<20), 0o600)
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("the disk is not full: %v", err)
				}
			}
			for i := 1; ; i++ {
				if err = q.Append(fmt.Sprint(i), bytes.Repeat([]byte("x"), size), testWait); err != nil {
					break
				}
				want = append(want, fmt.Sprint(i))
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("append gives %v", err)
			}
			for range 3 {
				if err := q.Append("dropped", make([]byte, size), testWait); !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("append gives %v", err)
				}
			}
			s := mustStatus(t, q)
			if s.Pending != len(want) || s.Dropped != 4 || s.DropReason != syscall.ENOSPC.Error() || s.LastDrop == "" {
				t.Errorf("status %+v, want %d pending", s, len(want))
			}
			if left, _ := filepath.Glob(q.path(besideDir, "*")); len(left) != 0 {
				t.Errorf("left beside: %v", left)
			}
			if size < 1000 {
				if err := os.Remove(ballast); err != nil {
					t.Fatal(err)
				}
			}
			if got := ids(drainAll(t, q)); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("drained %v, want %v", got, want)
			}
			mustAppend(t, q, "again", make([]byte, size))
			if got := ids(drainAll(t, q)); len(got) != 1 || got[0] != "again" {
				t.Errorf("drained %v", got)
			}
			if s := mustStatus(t, q); s.Quarantined != 0 || s.Bytes != 0 || s.Dropped != 4 {
				t.Errorf("status %+v", s)
			}
			if err := q.ForgetDrops(); err != nil {
				t.Fatal(err)
			}
			if s := mustStatus(t, q); s.Dropped != 0 || s.LastDrop != "" {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestDrainMakesRoom drains a disk with nothing free at all.
func TestDrainMakesRoom(t *testing.T) {
	disk := smallDisk(t)
	q := New(filepath.Join(disk, "outbox"), Options{})
	want := []string{}
	for i := range 10 {
		mustAppend(t, q, fmt.Sprint(i), make([]byte, 3000))
		want = append(want, fmt.Sprint(i))
	}
	if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	got := ids(drainAll(t, q))
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("drained %v", got)
	}
	wantEmpty(t, q)
	mustAppend(t, q, "again", make([]byte, 3000))
}

func TestReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t)
	q := New(filepath.Join(disk, "outbox"), Options{})
	mustAppend(t, q, "0", nil)
	remount := func(flags uintptr) {
		if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT|flags, "size=256k,mode=0700"); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	if err := q.Append("1", nil, 0); !errors.Is(err, syscall.EROFS) {
		t.Errorf("append gives %v", err)
	}
	if s := mustStatus(t, q); s.Pending != 1 {
		t.Errorf("status %+v", s)
	}
	cold := New(filepath.Join(disk, "other", "outbox"), Options{})
	if err := cold.Append("1", nil, 0); !errors.Is(err, syscall.EROFS) {
		t.Errorf("append to a directory that cannot be made gives %v", err)
	}
	remount(0)
	mustAppend(t, q, "2", nil)
	if got := ids(drainAll(t, q)); strings.Join(got, " ") != "0 2" {
		t.Errorf("drained %v", got)
	}
}

// TestFileSizeLimit lets a child run into RLIMIT_FSIZE, which cuts a write short in its middle.
func TestFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	out, err := runChild(t, "limit", dir, 0)
	if err != nil {
		t.Fatalf("child: %v %s", err, out)
	}
	q := New(filepath.Join(dir, "outbox"), Options{})
	if s := mustStatus(t, q); s.Pending != 10 || s.Dropped != 1 || s.DropReason != syscall.EFBIG.Error() {
		t.Errorf("status %+v", s)
	}
	if got := ids(drainAll(t, q)); len(got) != 10 {
		t.Errorf("drained %v", got)
	}
	if s := mustStatus(t, q); s.Quarantined != 0 || s.Bytes != 0 {
		t.Errorf("torn bytes were left: %+v", s)
	}
}

// limitedChild appends ten records of 1000 bytes, of which the segment takes four, and then one that fits nowhere.
func limitedChild(q *Queue) int {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 5000, Max: 5000}); err != nil {
		fmt.Println(err)
		return 1
	}
	for i := range 10 {
		if err := q.Append(fmt.Sprint(i), make([]byte, 1000), 0); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	if err := q.Append("big", make([]byte, 6000), 0); !errors.Is(err, syscall.EFBIG) {
		fmt.Println("the big one gives", err)
		return 1
	}
	return 0
}
