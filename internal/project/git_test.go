package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestGitFiles(t *testing.T) {
	worktree := []string{
		"main/.git/HEAD=ref: refs/heads/main\n", "main/.git/worktrees/wt/HEAD=ref: refs/heads/b\n",
		"main/.git/worktrees/wt/commondir=../..\n", "wt/src/",
	}
	bare := []string{
		"p/.bare/HEAD=ref: refs/heads/main\n", "p/.bare/objects/", "p/.bare/refs/",
		"p/.bare/worktrees/wt/commondir=../..\n", "p/wt/.git=gitdir: {}/p/.bare/worktrees/wt\n",
	}
	tests := []struct {
		name string
		have []string // {} stands for the tree
		dir  string
		want string // below the tree; "-" for unscoped
	}{
		{"linked worktree", append(worktree, "wt/.git=gitdir: {}/main/.git/worktrees/wt\n"), "wt/src", "main"},
		{"relative paths", append(worktree, "wt/.git=gitdir: ../main/.git/worktrees/wt\n"), "wt/src", "main"},
		{"CRLF and no space", append(worktree, "wt/.git=gitdir:../main/.git/worktrees/wt\r\n"), "wt/src", "main"},
		{"no line end", append(worktree, "wt/.git=gitdir: ../main/.git/worktrees/wt"), "wt", "main"},
		{"a worktree inside its repository", append(worktree, "main/.worktrees/x/.git=gitdir: {}/main/.git/worktrees/wt\n"), "main/.worktrees/x", "main"},
		{"kiro in the worktree wins", append(worktree, "wt/.git=gitdir: {}/main/.git/worktrees/wt\n", "wt/.kiro/"), "wt/src", "wt"},
		{"kiro in the main repository", append(worktree, "wt/.git=gitdir: {}/main/.git/worktrees/wt\n", "main/.kiro/"), "wt/src", "main"},
		{"kiro above the main repository", []string{
			"ws/.kiro/", "ws/main/.git/worktrees/wt/commondir=../..", "wt/.git=gitdir: {}/ws/main/.git/worktrees/wt",
		}, "wt", "ws"},
		{"pruned worktree", []string{"main/.git/HEAD", "wt/.git=gitdir: {}/main/.git/worktrees/wt\n"}, "wt", "main"},
		{"repository out of reach", []string{"wt/.git=gitdir: {}/gone/.git/worktrees/wt\n", "wt/src/"}, "wt/src", "wt"},
		{"commondir out of reach", []string{
			"main/.git/worktrees/wt/commondir=../../../gone/.git\n", "wt/.git=gitdir: {}/main/.git/worktrees/wt\n",
		}, "wt", "wt"},
		{"main repository is home", []string{
			"home/.git/worktrees/wt/commondir=../..", "wt/.git=gitdir: {}/home/.git/worktrees/wt",
		}, "wt", "wt"},
		{"rubbish in .git", []string{"p/.git/", "p/x/.git=rubbish\n"}, "p/x", "p"},
		{"rubbish in .git, a marker", []string{"x/.git=\x00\xff", "x/go.mod"}, "x", "x"},
		{"empty .git file", []string{"x/.git="}, "x", "-"},
		{"gitdir of nothing", []string{"x/.git=gitdir:  \n"}, "x", "-"},
		{"a huge .git file", []string{"x/.git=gitdir: " + strings.Repeat("a", 1<<20)}, "x", "-"},
		{"commondir is a directory", append(worktree[:2:2], "main/.git/worktrees/wt/commondir/", "wt/.git=gitdir: {}/main/.git/worktrees/wt\n"), "wt", "wt"},
		{"submodule", []string{
			"main/.git/modules/sub/HEAD", "main/sub/.git=gitdir: ../.git/modules/sub\n", "main/sub/src/",
		}, "main/sub/src", "main/sub"},
		{"worktree of a submodule", []string{
			"main/.git/modules/sub/config=[user]\n\tworktree = no\n[core]\n\tbare = false\n\tworktree = ../../../sub\n",
			"main/.git/modules/sub/worktrees/wt/commondir=../..\n", "main/sub/.git=gitdir: ../.git/modules/sub\n",
			"wt/.git=gitdir: {}/main/.git/modules/sub/worktrees/wt\n",
		}, "wt", "main/sub"},
		{"repository kept elsewhere", []string{"store/r.git/HEAD", "p/.git=gitdir: ../store/r.git\n", "p/a/"}, "p/a", "p"},
		{"bare repository and worktrees in one folder", append(bare, "p/.git=gitdir: ./.bare\n"), "p/wt", "p"},
		{"the folder itself", append(bare, "p/.git=gitdir: ./.bare\n"), "p", "p"},
		{"worktree of a bare repository", bare, "p/wt", "p/.bare"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t)
			have := make([]string, 0, len(tt.have))
			for _, n := range tt.have {
				have = append(have, strings.ReplaceAll(n, "{}", filepath.ToSlash(top)))
			}
			plant(t, top, have...)
			want := of("")
			if tt.want != "-" {
				want = of(filepath.Join(top, filepath.FromSlash(tt.want)))
			}
			r := Resolver{Home: filepath.Join(top, "home"), Memory: filepath.Join(top, "m")}
			if got := r.Resolve(filepath.Join(top, filepath.FromSlash(tt.dir))); got != want {
				t.Errorf("got %q, want %q", got.Root, want.Root)
			}
		})
	}
}

// TestRealGit holds the rules against what git itself writes.
func TestRealGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here; TestGitFiles has the same layouts made by hand")
	}
	top := tree(t, "home/")
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+filepath.Join(top, "home"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
			"GIT_AUTHOR_NAME=m", "GIT_AUTHOR_EMAIL=m@example.org", "GIT_COMMITTER_NAME=m", "GIT_COMMITTER_EMAIL=m@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo := filepath.Join(top, "main")
	git(top, "init", "-q", repo)
	git(repo, "commit", "-q", "--allow-empty", "-m", "one")
	git(repo, "worktree", "add", "-q", filepath.Join(top, "wt"))
	git(repo, "worktree", "add", "-q", filepath.Join(repo, ".worktrees", "inner"))
	git(top, "clone", "-q", "--bare", repo, "bare.git")
	git(filepath.Join(top, "bare.git"), "worktree", "add", "-q", "-b", "x", filepath.Join(top, "bare-wt"))
	git(top, "init", "-q", "--separate-git-dir", filepath.Join(top, "elsewhere.git"), filepath.Join(top, "separate"))
	git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(top, "bare.git"), "sub")
	git(filepath.Join(repo, "sub"), "worktree", "add", "-q", "-b", "y", filepath.Join(top, "sub-wt"))
	for dir, want := range map[string]string{
		"main": "main", "wt": "main", "main/.worktrees/inner": "main", "bare.git": "bare.git", "bare-wt": "bare.git",
		"bare.git/refs/heads": "bare.git", "separate": "separate", "main/sub": "main/sub", "sub-wt": "main/sub",
		"main/.git/objects": "main",
	} {
		t.Run(dir, func(t *testing.T) {
			if got := (Resolver{Home: filepath.Join(top, "home")}).Resolve(filepath.Join(top, filepath.FromSlash(dir))); got != of(filepath.Join(top, filepath.FromSlash(want))) {
				t.Errorf("got %q, want %q", got.Root, want)
			}
		})
	}
}

// FuzzGitFiles: whatever is in git's small files, the root is a directory that is there and holds or shares the tree.
func FuzzGitFiles(f *testing.F) {
	f.Add("gitdir: ../main/.git/worktrees/wt", "../..", "")
	f.Add("gitdir: ../main/.git/worktrees/wt", "../modules/x", "[core]\n\tworktree = ../../..")
	f.Add("gitdir: /", "/", "[core]\nworktree=/")
	f.Add("gitdir: .", ".", "")
	f.Add("gitdir: \x00", "\x00", "[core")
	f.Fuzz(func(t *testing.T, gitFile, commondir, config string) {
		top := tree(t, "wt/src/", "main/.git/worktrees/wt/", "main/.git/modules/x/", "home/", "temp/")
		for name, content := range map[string]string{
			"wt/.git": gitFile, "main/.git/worktrees/wt/commondir": commondir, "main/.git/modules/x/config": config,
		} {
			if err := os.WriteFile(filepath.Join(top, filepath.FromSlash(name)), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := (Resolver{Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp")}).Resolve(filepath.Join(top, "wt", "src"))
		if got != of(got.Root) {
			t.Errorf("%+v does not agree with itself", got)
		}
		if got.Scoped && (!isDir(got.Root) || filepath.Dir(got.Root) == got.Root || !filepath.IsAbs(got.Root)) {
			t.Errorf("root %q", got.Root)
		}
	})
}
