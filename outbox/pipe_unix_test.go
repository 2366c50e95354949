//go:build unix

package outbox

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a lock would hold whoever opens it. The record is written beside instead, and delivered.
func TestALockThatIsAPipeHoldsNobody(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, appendLock), 0o600); err != nil {
		t.Fatal(err)
	}
	q := New(dir, Options{})
	if err := q.Append("a", []byte("data"), time.Second); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, appendLock)); err != nil {
		t.Fatal(err)
	}
	var got []string
	if _, err := q.Drain(context.Background(), 10, 1<<20, func(batch []Record) ([]Verdict, error) {
		verdicts := make([]Verdict, len(batch))
		for i, r := range batch {
			got, verdicts[i] = append(got, r.ID+" "+string(r.Data)), Done()
		}
		return verdicts, nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != "a data" {
		t.Errorf("delivered %q", got)
	}
}
