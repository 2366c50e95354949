package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// A reader has the file open when it is to be replaced, and closes it when it has read.
func TestRenameWaitsForAReader(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for _, name := range []string{from, to} {
		if err := os.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err == nil {
		t.Skip("this system lets an open file be renamed")
	}
	reading := make(chan struct{})
	go func() { <-reading; _ = f.Close() }()
	close(reading)
	if err := Rename(from, to); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(to); err != nil || string(b) != from {
		t.Errorf("holds %q, %v", b, err)
	}
}
