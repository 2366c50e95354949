//go:build unix

package logfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }

func TestPrivateWhateverTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		dir := t.TempDir()
		old := syscall.Umask(umask)
		l := New(filepath.Join(dir, "state", "log"), filepath.Join(dir, "state", "marks"), "hook", nil)
		l.Warn("x", nil)
		syscall.Umask(old)
		if l.Dropped() != 0 {
			t.Errorf("umask %03o: dropped", umask)
		}
		err := filepath.WalkDir(filepath.Join(dir, "state"), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if want := map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
				t.Errorf("umask %03o: %s has mode %v", umask, path, info.Mode().Perm())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	open := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(open, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	New(open, "", "hook", nil).Warn("x", nil)
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a log that others could read has mode %v, %v", info.Mode().Perm(), err)
	}
}
