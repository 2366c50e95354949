package project

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree makes files and directories (names that end in a slash) under a fresh resolved directory. A file's content is
// what follows "=".
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plant(t, root, names...)
	return root
}

func plant(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, n := range names {
		name, content, _ := strings.Cut(n, "=")
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(full, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRules(t *testing.T) {
	tests := []struct {
		name string
		have []string
		dir  string
		want string // below the tree; "-" for unscoped
	}{
		{"kiro here", []string{"p/.kiro/"}, "p", "p"},
		{"kiro above", []string{"p/.kiro/", "p/a/b/"}, "p/a/b", "p"},
		{"nearest kiro", []string{"p/.kiro/", "p/pkg/.kiro/", "p/pkg/src/"}, "p/pkg/src", "p/pkg"},
		{"beside a package's kiro", []string{"p/.kiro/", "p/pkg/.kiro/", "p/other/"}, "p/other", "p"},
		{"kiro wins over a nearer git top", []string{"p/.kiro/", "p/sub/.git/"}, "p/sub", "p"},
		{"kiro wins over a nearer marker", []string{"p/.kiro/", "p/sub/go.mod"}, "p/sub", "p"},
		{"inside .kiro", []string{"p/.kiro/specs/"}, "p/.kiro/specs", "p"},
		{"a file called .kiro is none", []string{"p/.kiro", "p/.git/"}, "p", "p"},
		{"a file called .kiro alone", []string{"p/.kiro"}, "p", "-"},
		{"git", []string{"p/.git/", "p/a/b/"}, "p/a/b", "p"},
		{"nearest git", []string{"p/.git/", "p/v/.git/", "p/v/x/"}, "p/v/x", "p/v"},
		{"git wins over a nearer marker", []string{"p/.git/", "p/web/package.json"}, "p/web", "p"},
		{"inside .git", []string{"p/.git/HEAD=ref: refs/heads/main", "p/.git/objects/", "p/.git/refs/", "p/.git/hooks/"}, "p/.git/hooks", "p"},
		{"bare repository", []string{"p.git/HEAD=ref: refs/heads/main", "p.git/objects/", "p.git/refs/", "p.git/hooks/"}, "p.git/hooks", "p.git"},
		{"bare repository in a project", []string{"p/.git/", "p/testdata/x.git/HEAD", "p/testdata/x.git/objects/", "p/testdata/x.git/refs/"}, "p/testdata/x.git", "p"},
		{"a file called HEAD is no repository", []string{"p/HEAD", "p/go.mod"}, "p", "p"},
		{"same folder name, two repositories", []string{"a/api/.git/", "b/api/.git/"}, "b/api", "b/api"},
		{"nearest marker", []string{"p/go.mod", "p/web/package.json", "p/web/src/"}, "p/web/src", "p/web"},
		{"a directory called go.mod is none", []string{"p/go.mod/x/"}, "p/go.mod/x", "-"},
		{"a file stands for its directory", []string{"p/.git/", "p/a/main.go"}, "p/a/main.go", "p"},
		{"nothing", []string{"p/readme"}, "p", "-"},
		{"home with kiro", []string{"home/.kiro/"}, "home", "-"},
		{"below home with kiro", []string{"home/.kiro/", "home/notes/"}, "home/notes", "-"},
		{"inside home's kiro", []string{"home/.kiro/agents/"}, "home/.kiro/agents", "-"},
		{"home with git", []string{"home/.git/", "home/notes/"}, "home/notes", "-"},
		{"home with a marker", []string{"home/package.json", "home/notes/"}, "home/notes", "-"},
		{"a repository in a home with kiro", []string{"home/.kiro/", "home/p/.git/", "home/p/a/"}, "home/p/a", "home/p"},
		{"a marker in a home with git", []string{"home/.git/", "home/p/go.mod"}, "home/p", "home/p"},
		{"a project around home", []string{".kiro/", "home/notes/"}, "home/notes", "-"},
		{"outside of home", []string{"home/", "srv/p/.git/", "srv/p/a/"}, "srv/p/a", "srv/p"},
		{"temp with git", []string{"temp/.git/", "temp/x/"}, "temp", "-"},
		{"below temp with git", []string{"temp/.git/", "temp/x/"}, "temp/x", "-"},
		{"a repository below temp", []string{"temp/x/.git/"}, "temp/x", "temp/x"},
	}
	for _, m := range []string{
		"package.json", "Cargo.toml", "pyproject.toml", "setup.py", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts",
		"Gemfile", "composer.json", "mix.exs", "deno.json", "deno.jsonc",
	} {
		tests = append(tests, struct {
			name string
			have []string
			dir  string
			want string
		}{"marker " + m, []string{"p/" + m, "p/src/x/"}, "p/src/x", "p"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, tt.have...)
			r := Resolver{Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp"), Memory: filepath.Join(top, "state", "projects")}
			want := of("")
			if tt.want != "-" {
				want = of(filepath.Join(top, filepath.FromSlash(tt.want)))
			}
			for _, try := range []string{"first", "remembered"} {
				if got := r.Resolve(filepath.Join(top, filepath.FromSlash(tt.dir))); got != want {
					t.Errorf("%s: got %q, want %q", try, got.Root, want.Root)
				}
			}
		})
	}
}

func TestIDs(t *testing.T) {
	for _, tt := range []struct{ name, root, want string }{
		{"a root", "/srv/app", "dae668e4084f07b6cb946fb2809f0f82649266bce36b42044235bb9026afa80d"},
		{"unscoped", "", "ce10ec59566142dc24f9e3866c41f5c76ad3a0ae1b60f4b7368f3406c63528d9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := IDOf(tt.root); got != tt.want { // worked out with sha256sum
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestOddDirectoriesAreUnscoped(t *testing.T) {
	top := tree(t, "home/.kiro/", "temp/")
	for _, tt := range []struct{ name, dir string }{
		{"empty", ""},
		{"dot", "."},
		{"relative", "internal/project"},
		{"home sign", "~/app"},
		{"root", string(filepath.Separator)},
		{"NUL", top + "\x00/x"},
		{"endless", top + strings.Repeat("/aaaaaaaa", 8000)},
		{"one endless name", filepath.Join(top, strings.Repeat("a", 70000))},
		{"never there", filepath.Join(top, "nowhere", "at", "all")},
		{"home", filepath.Join(top, "home")},
		{"home with a slash", filepath.Join(top, "home") + "/"},
		{"temp", filepath.Join(top, "temp")},
		{"invalid UTF-8", filepath.Join(top, "\xff\xfe")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []Resolver{
				{Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp"), Memory: filepath.Join(top, "m")},
				{Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp")},
			} {
				if got := r.Resolve(tt.dir); got != of("") {
					t.Errorf("got %q", got.Root)
				}
			}
		})
	}
}

func TestNothingKnownOfTheMachine(t *testing.T) {
	top := tree(t, "p/.git/")
	if got := (Resolver{}).Resolve(filepath.Join(top, "p")); got.Root != filepath.Join(top, "p") {
		t.Errorf("got %q", got.Root)
	}
	if got := (Resolver{}).Resolve(os.TempDir()); runtime.GOOS == "linux" && os.Getenv("TMPDIR") == "" && got.Scoped {
		t.Errorf("the system's temp directory became %q", got.Root)
	}
}

func TestSpellingsOfOneProject(t *testing.T) {
	top := tree(t, "real/p/.git/", "real/p/a/", "home/")
	p := filepath.Join(top, "real", "p")
	spellings := map[string]string{
		"plain": p, "slash": p + "/", "two slashes": filepath.Join(top, "real") + "//p//", "dots": p + "/a/../.",
	}
	if runtime.GOOS != "windows" {
		for link, target := range map[string]string{"link": p, "up": "real"} {
			if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
				t.Fatal(err)
			}
		}
		spellings["link"] = filepath.Join(top, "link")
		spellings["below a link"] = filepath.Join(top, "link", "a")
		spellings["link above"] = filepath.Join(top, "up", "p", "a")
		spellings["out of a link again"] = filepath.Join(top, "link") + "/../p"
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		spellings["other case"] = filepath.Join(top, "REAL", "P", "A")
	}
	for name, dir := range spellings {
		t.Run(name, func(t *testing.T) {
			if got := (Resolver{Home: filepath.Join(top, "home")}).Resolve(dir); got != of(p) {
				t.Errorf("%s: got %q, want %q", dir, got.Root, p)
			}
		})
	}
}

func TestLinkedHomeIsStillHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	top := tree(t, "disk2/mia/.kiro/", "disk2/mia/notes/")
	if err := os.Symlink(filepath.Join(top, "disk2", "mia"), filepath.Join(top, "mia")); err != nil {
		t.Fatal(err)
	}
	r := Resolver{Home: filepath.Join(top, "mia")}
	for _, dir := range []string{"mia", "disk2/mia", "mia/notes", "disk2/mia/notes"} {
		if got := r.Resolve(filepath.Join(top, dir)); got.Scoped {
			t.Errorf("%s became %q", dir, got.Root)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	top, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	p := filepath.Join(top, "p")
	deep := filepath.Join(p, "a", "b")
	for _, dir := range []string{filepath.Join(p, ".git"), deep} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	r := Resolver{Home: filepath.Join(top, "home"), Temp: os.TempDir(), Memory: filepath.Join(top, "m")}
	for b.Loop() {
		if r.Resolve(deep).Root != p {
			b.Fatal("wrong root")
		}
	}
}
