package project

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

func TestVanishedDirectories(t *testing.T) {
	tests := []struct {
		name   string
		have   []string
		seen   []string // resolved while everything was there
		gone   string
		ask    string
		want   string // below the tree; "-" for unscoped
		absent bool   // there is no memory
	}{
		{"a project", []string{"p/.git/", "p/a/"}, []string{"p"}, "p", "p", "p", false},
		{"a directory of it", []string{"p/.git/", "p/a/"}, []string{"p/a"}, "p", "p/a", "p", false},
		{"its root, seen only from inside", []string{"p/.git/", "p/a/"}, []string{"p/a"}, "p", "p", "p", false},
		{"another directory of it", []string{"p/.git/", "p/a/"}, []string{"p"}, "p", "p/b/c", "p", false},
		{"a worktree", []string{"m/.git/worktrees/w/commondir=../..", "w/.git=gitdir: ../m/.git/worktrees/w"}, []string{"w"}, "w", "w", "m", false},
		{"a project inside another", []string{"p/.git/", "p/v/.git/"}, []string{"p/v"}, "p/v", "p/v", "p/v", false},
		{"a folder of a project that is there", []string{"p/.git/", "p/a/b/"}, nil, "p/a", "p/a/b", "p", false},
		{"never seen", []string{"p/.git/"}, nil, "p", "p", "-", false},
		{"unscoped", []string{"p/x/"}, []string{"p/x"}, "p", "p/x", "-", false},
		{"no memory", []string{"p/.git/"}, []string{"p"}, "p", "p", "-", true},
		{"a file in it", []string{"p/.git/", "p/f"}, []string{"p"}, "p", "p/f", "p", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, tt.have...)
			r := Resolver{Memory: filepath.Join(top, "state", "projects")}
			if tt.absent {
				r.Memory = ""
			}
			for _, dir := range tt.seen {
				r.Resolve(filepath.Join(top, filepath.FromSlash(dir)))
			}
			remove(t, filepath.Join(top, filepath.FromSlash(tt.gone)))
			want := of("")
			if tt.want != "-" {
				want = of(filepath.Join(top, filepath.FromSlash(tt.want)))
			}
			if got := r.Resolve(filepath.Join(top, filepath.FromSlash(tt.ask))); got != want {
				t.Errorf("got %q, want %q", got.Root, want.Root)
			}
		})
	}
}

func TestVanishedUnderAnotherSpelling(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	top := tree(t, "real/p/.git/", "real/p/a/")
	if err := os.Symlink("real", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	r := Resolver{Memory: filepath.Join(top, "m")}
	want := r.Resolve(filepath.Join(top, "link", "p", "a"))
	remove(t, filepath.Join(top, "real", "p"))
	for _, dir := range []string{"link/p/a", "real/p/a", "real/p", "link/p", "link/p/other"} {
		if got := r.Resolve(filepath.Join(top, dir)); got != want || !got.Scoped {
			t.Errorf("%s: got %q, want %q", dir, got.Root, want.Root)
		}
	}
}

func TestIdentityFollowsTheDirectoryWhileItIsThere(t *testing.T) {
	top := tree(t, "p/.git/", "p/a/")
	r := Resolver{Memory: filepath.Join(top, "m")}
	a := filepath.Join(top, "p", "a")
	r.Resolve(a)
	plant(t, top, "p/a/.kiro/")
	if got := r.Resolve(a); got != of(a) {
		t.Errorf("after .kiro was made: %q", got.Root)
	}
	remove(t, filepath.Join(a, ".kiro"))
	remove(t, filepath.Join(top, "p", ".git"))
	if got := r.Resolve(a); got.Scoped {
		t.Errorf("after everything left: %q", got.Root)
	}
	remove(t, a)
	if got := r.Resolve(a); got.Scoped {
		t.Errorf("it was unscoped when it vanished, and became %q", got.Root)
	}
}

func TestMemoryIsPrivateAndSurvivesDamage(t *testing.T) {
	top := tree(t, "p/.git/")
	r := Resolver{Memory: filepath.Join(top, "state", "projects")}
	p := filepath.Join(top, "p")
	r.Resolve(p)
	entries, err := os.ReadDir(r.Memory)
	if err != nil || len(entries) != 1 || len(entries[0].Name()) != 64 {
		t.Fatalf("memory holds %v, %v; want one hash", entries, err)
	}
	note := filepath.Join(r.Memory, entries[0].Name())
	if runtime.GOOS != "windows" {
		if info, _ := os.Stat(note); info.Mode().Perm() != 0o600 {
			t.Errorf("note has mode %v", info.Mode().Perm())
		}
		if info, _ := os.Stat(r.Memory); info.Mode().Perm() != 0o700 {
			t.Errorf("memory has mode %v", info.Mode().Perm())
		}
	}
	for _, rubbish := range []string{"", "\x00\x00", "relative/path", "/elsewhere"} {
		if err := os.WriteFile(note, []byte(rubbish), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.Resolve(p); got != of(p) {
			t.Errorf("note %q: got %q", rubbish, got.Root)
		}
		if b, _ := os.ReadFile(note); string(b) != p {
			t.Errorf("note %q was mended to %q", rubbish, b)
		}
	}
	file := filepath.Join(top, "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := (Resolver{Memory: file}).Resolve(p); got != of(p) {
		t.Errorf("no directory for the memory: got %q", got.Root)
	}
}

func TestPrune(t *testing.T) {
	top := tree(t)
	r := Resolver{Memory: filepath.Join(top, "m")}
	for i := range 10 {
		p := filepath.Join(top, fmt.Sprint("p", i))
		plant(t, top, fmt.Sprintf("p%d/.git/", i))
		r.Resolve(p)
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(r.note(p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.Prune(10); n != 0 {
		t.Errorf("forgot %d although there was room", n)
	}
	if n := r.Prune(3); n != 7 {
		t.Errorf("forgot %d, want 7", n)
	}
	for i := range 10 {
		if got, want := r.recall(filepath.Join(top, fmt.Sprint("p", i))) != "", i >= 7; got != want {
			t.Errorf("p%d known: %v, want %v", i, got, want)
		}
	}
	if n := (Resolver{}).Prune(0); n != 0 {
		t.Errorf("forgot %d of nothing", n)
	}
}
