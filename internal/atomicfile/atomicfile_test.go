package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestWriteKeepsLinkAndMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows, and modes do not exist there")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "a.json"), filepath.Join(dir, "a.json")
	if err := os.Mkdir(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("dotfiles", "a.json"), link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(real); string(b) != "new" {
		t.Errorf("the link's target holds %q", b)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
		t.Errorf("mode became %v", info.Mode().Perm())
	}
}

func TestWriteLeavesNothingBehindWhenItFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "d"), []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if err := Write(filepath.Join(dir, "none", "f"), []byte("x"), 0o600); err == nil {
		t.Error("wrote into a directory that does not exist")
	}
	if err := Write(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
	if info, _ := os.Stat(filepath.Join(dir, "f")); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode().Perm())
	}
}

func TestWriteUnsyncedReplacesTheWholeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, content := range []string{"a longer content", "short", ""} {
		if err := WriteUnsynced(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != content {
			t.Errorf("holds %q, %v; want %q", b, err, content)
		}
	}
	if info, _ := os.Stat(name); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode().Perm())
	}
}

func TestLeftoversOfKilledWriters(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"f", ".f.tmp123", ".f.tmp4", ".f.tmp", ".f.tmpx1", ".ff.tmp1", "f.tmp1"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	RemoveLeftovers(filepath.Join(dir, "f"))
	RemoveLeftovers(filepath.Join(dir, "none", "f"))
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{".f.tmp", ".f.tmpx1", ".ff.tmp1", "f", "f.tmp1"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func TestReplaceAsksAtTheLastMoment(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	no := errors.New("it has changed")
	if err := Replace(name, []byte("ours"), 0o600, func() error { return no }); !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(name); string(b) != "another's" {
		t.Errorf("holds %q", b)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	asked := func() error { // what is written at this moment is lost, and nothing before it
		b, err := os.ReadFile(name)
		if string(b) != "another's" {
			t.Errorf("asked too late: the file holds %q", b)
		}
		return err
	}
	if err := Replace(name, []byte("ours"), 0o600, asked); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(name); string(b) != "ours" {
		t.Errorf("holds %q", b)
	}
}
