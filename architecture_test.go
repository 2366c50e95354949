package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The guards of this file read ARCHITECTURE.md and the imports; those of style_test.go read the source. Each checker
// takes a file system and gives back its complaints, and is shown below to complain about a small wrong example.

var update = flag.Bool("update", false, "write the files that tests compare with, instead of comparing")

const module = "kiro-learn"

// toCome are the rooms of ARCHITECTURE.md that have no package yet. Take one out when it has: the test insists.
func toCome() []string { return nil }

// A fence is something that a room must not reach, not even through other packages.
type fence struct {
	from   []string // rooms, with the packages under them; "!x" leaves room x out
	to     string   // an import path; "x/..." is x and everything under it
	direct bool     // only an import statement counts, not what others import
	why    string
}

func fences() []fence {
	hookWing := []string{"hooks", "payload", "truncate", "outbox", "internal", "!internal/bench", "collector/client"}
	leaves := []string{"payload", "truncate", "outbox", "internal", "!internal/bench"}
	return []fence{
		{hookWing, "database/sql", false, "a hook lives for milliseconds and must not wait for a database"},
		{hookWing, "modernc.org/...", false, "a hook lives for milliseconds and must not wait for a database"},
		{hookWing, "github.com/modelcontextprotocol/...", false, "the hook wing speaks no MCP"},
		{hookWing, "github.com/alecthomas/kong", false, "the command line is main's; a hook is called before it is parsed"},
		{hookWing, module + "/collector", false, "the hook wing knows the collector by its client only"},
		{hookWing, module + "/collector/store", false, "the hook wing knows the collector by its client only"},
		{leaves, "net/http", false, "what is written to disk is written whether or not anything listens"},
		{[]string{"hooks"}, "net", true, "hooks know no sockets; collector/client does"},
		{[]string{"hooks"}, "net/http", true, "hooks know no sockets; collector/client does"},
		{[]string{"outbox"}, module + "/internal/event", false, "the outbox does not know what an event means"},
		{[]string{"collector/viewer"}, module + "/collector/store", false, "the pages ask the collector's API like anybody else"},
		{[]string{"."}, "html/template", false, "it keeps the linker from leaving out what nobody calls; collector/viewer escapes by itself"},
		{[]string{"mcp"}, module + "/collector/store", false, "the MCP server asks the collector like anybody else"},
		{[]string{"install"}, module + "/collector/store", false, "installing touches Kiro's files, not the memory"},
		{[]string{"collector/store"}, "net/http", false, "the store is a file; the collector is the server"},
		{[]string{"."}, "testing", false, "test code has no place in the binary"},
	}
}

func TestRooms(t *testing.T) {
	tree := os.DirFS(".")
	rooms, pkgs := readRooms(t, tree), readPackages(t, tree)
	report(t, checkRooms(rooms, pkgs, toCome()))
}

func TestFences(t *testing.T) {
	report(t, checkFences(listImports(t), fences(), len(toCome()) == 0))
}

// TestDeps makes every new package in the binary a line in a review: it is paid for on every tool call.
func TestDeps(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr(err))
	}
	linked := foreign(string(out))
	if *update {
		if err := os.WriteFile("deps.txt", []byte(strings.Join(linked, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("deps.txt")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkDeps(strings.Fields(string(want)), linked))
}

// A room is a row of the table in ARCHITECTURE.md.
type room struct {
	dir    string // "." for the top
	mayNot string
}

func readRooms(t *testing.T, tree fs.FS) []room {
	t.Helper()
	b, err := fs.ReadFile(tree, "ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rooms := parseRooms(string(b))
	if len(rooms) < 20 {
		t.Fatalf("the table of rooms in ARCHITECTURE.md was not understood: %d rows", len(rooms))
	}
	return rooms
}

func parseRooms(text string) []room {
	_, text, _ = strings.Cut(text, "\n## The rooms\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var rooms []room
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		for i, name := range strings.Split(cells[1], "`") {
			if i%2 == 0 {
				continue // between the quoted names
			}
			name = strings.TrimSuffix(name, "/")
			if strings.HasSuffix(name, ".go") {
				name = "."
			}
			if !slices.ContainsFunc(rooms, func(r room) bool { return r.dir == name }) {
				rooms = append(rooms, room{name, strings.TrimSpace(cells[3])})
			}
		}
	}
	return rooms
}

// roomOf is the index of the room that dir belongs to, the deepest one; -1 when it has none.
func roomOf(rooms []room, dir string) int {
	best := -1
	for i, r := range rooms {
		if (dir == r.dir || strings.HasPrefix(dir, r.dir+"/")) && (best < 0 || len(r.dir) > len(rooms[best].dir)) {
			best = i
		}
	}
	return best
}

// A pkg is a directory with Go files of the program, those for other systems included.
type pkg struct {
	dir     string            // "." for the top
	imports map[string]string // of non-test files: path → the file that imports it
}

// goFiles calls f for every Go file of this module, testdata and other modules left out.
func goFiles(tree fs.FS, f func(name string, src []byte) error) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name == "." {
				return nil
			}
			_, err := fs.Stat(tree, name+"/go.mod")
			if err == nil || d.Name() == "testdata" || d.Name()[0] == '.' || d.Name()[0] == '_' {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed while we walked
		} else if err != nil {
			return err
		}
		return f(name, src)
	})
}

func readPackages(t *testing.T, tree fs.FS) []*pkg {
	t.Helper()
	byDir := map[string]*pkg{}
	var pkgs []*pkg
	err := goFiles(tree, func(name string, src []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byDir[dir] == nil {
			byDir[dir] = &pkg{dir: dir, imports: map[string]string{}}
			pkgs = append(pkgs, byDir[dir])
		}
		for _, imp := range file.Imports {
			byDir[dir].imports[importPath(imp)] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

func importPath(imp *ast.ImportSpec) string {
	s, err := strconv.Unquote(imp.Path.Value)
	if err != nil {
		return imp.Path.Value
	}
	return s
}

// ownDir is the directory of an import path of this module.
func ownDir(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

func checkRooms(rooms []room, pkgs []*pkg, toCome []string) (bad []string) {
	inhabited := map[string]bool{}
	for _, p := range pkgs {
		at := roomOf(rooms, p.dir)
		if at < 0 {
			bad = append(bad, fmt.Sprintf("%s is in no row of the table in ARCHITECTURE.md: say there what its one idea is", p.dir))
			continue
		}
		inhabited[rooms[at].dir] = true
		for imp, file := range p.imports {
			dir, own := ownDir(imp)
			if !own {
				continue
			}
			if below := roomOf(rooms, dir); below >= 0 && below < at {
				bad = append(bad, fmt.Sprintf("%s imports %s, which stands above %s in ARCHITECTURE.md (it may not: %s)",
					file, imp, rooms[at].dir, rooms[at].mayNot))
			}
		}
	}
	for _, r := range rooms {
		switch coming := slices.Contains(toCome, r.dir); {
		case coming && inhabited[r.dir]:
			bad = append(bad, fmt.Sprintf("%s exists now: take it out of toCome in architecture_test.go", r.dir))
		case !coming && !inhabited[r.dir]:
			bad = append(bad, fmt.Sprintf("%s has a row in ARCHITECTURE.md and no package", r.dir))
		}
	}
	for _, dir := range toCome {
		if !slices.ContainsFunc(rooms, func(r room) bool { return r.dir == dir }) {
			bad = append(bad, fmt.Sprintf("%s is in toCome and in no row of ARCHITECTURE.md", dir))
		}
	}
	slices.Sort(bad)
	return bad
}

// listImports gives what every package that this module reaches imports, the standard library's and others' included.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	// -e: a package that does not compile is some other test's failure.
	out, err := exec.Command("go", "list", "-e", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr(err))
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 0 {
			imports[f[0]] = f[1:]
		}
	}
	return imports
}

func checkFences(imports map[string][]string, fences []fence, complete bool) (bad []string) {
	for _, f := range fences {
		stands := false
		for from := range imports {
			stands = stands || matches(f.to, from)
			dir, own := ownDir(from)
			if !own || !f.guards(dir) {
				continue
			}
			if way := reach(imports, from, f.to, f.direct); way != nil {
				bad = append(bad, fmt.Sprintf("%s: %s", strings.Join(way, " → "), f.why))
			}
		}
		if complete && !stands && f.to != "testing" && f.to != "html/template" {
			bad = append(bad, fmt.Sprintf("nothing imports %s any more: its fence in architecture_test.go guards nothing", f.to))
		}
	}
	slices.Sort(bad)
	return bad
}

func (f fence) guards(dir string) (guarded bool) {
	for _, r := range f.from {
		room, out := strings.CutPrefix(r, "!")
		if dir == room || strings.HasPrefix(dir, room+"/") {
			if out {
				return false
			}
			guarded = true
		}
	}
	return guarded
}

func matches(pattern, path string) bool {
	prefix, tree := strings.CutSuffix(pattern, "/...")
	return path == prefix || tree && strings.HasPrefix(path, prefix+"/")
}

// reach is the shortest way from a package to one that matches, both included; nil when there is none.
func reach(imports map[string][]string, from, to string, direct bool) []string {
	ways, seen := [][]string{{from}}, map[string]bool{from: true}
	for ; len(ways) > 0; ways = ways[1:] {
		way := ways[0]
		if direct && len(way) > 1 {
			return nil
		}
		for _, next := range imports[way[len(way)-1]] {
			longer := append(slices.Clone(way), next)
			if matches(to, next) {
				return longer
			}
			if !seen[next] {
				seen[next] = true
				ways = append(ways, longer)
			}
		}
	}
	return nil
}

// foreign keeps the packages that are not this module's, sorted.
func foreign(list string) []string {
	paths := strings.Fields(list)
	paths = slices.DeleteFunc(paths, func(p string) bool { _, own := ownDir(p); return own })
	slices.Sort(paths)
	return paths
}

func checkDeps(accepted, linked []string) (bad []string) {
	for _, p := range linked {
		if !slices.Contains(accepted, p) {
			bad = append(bad, fmt.Sprintf("%s is linked into the binary and not in deps.txt (accept it with: make deps)", p))
		}
	}
	for _, p := range accepted {
		if !slices.Contains(linked, p) {
			bad = append(bad, fmt.Sprintf("%s is in deps.txt and no longer linked (make deps)", p))
		}
	}
	return bad
}

func report(t *testing.T, bad []string) {
	t.Helper()
	for _, b := range bad {
		t.Error(b)
	}
}

func stderr(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return bytes.TrimSpace(exit.Stderr)
	}
	return nil
}

const exampleTable = "# A\n\n## The rooms\n\n| room | its one idea | may not |\n|---|---|---|\n" +
	"| `main.go`, `*_cmd.go` | top | hold logic |\n| `a/` | upper | know b |\n| `a/deep` | of its own | x |\n" +
	"| `b` | lower | know a |\n\n## Next\n\n| `z` | no | row |\n"

func TestRoomsCanFail(t *testing.T) {
	rooms := parseRooms(exampleTable)
	if want := []room{{".", "hold logic"}, {"a", "know b"}, {"a/deep", "x"}, {"b", "know a"}}; !slices.Equal(rooms, want) {
		t.Fatalf("parseRooms = %v, want %v", rooms, want)
	}
	file := func(imports ...string) *fstest.MapFile {
		src := "package p\n"
		for _, i := range imports {
			src += fmt.Sprintf("import _ %q\n", i)
		}
		return &fstest.MapFile{Data: []byte(src)}
	}
	const b, deep, main = "b/b.go", "a/deep/d.go", "main.go"
	for _, c := range []struct {
		name   string
		tree   fstest.MapFS
		toCome []string
		want   []string
	}{
		{"in order", fstest.MapFS{
			main: file(module+"/a/other", module+"/b"), "a/other/x.go": file(module+"/a/deep", module+"/a/more", "fmt"),
			deep: file(module + "/b"), b: file("os"), "b/b_test.go": file(module + "/a"), "a/more/m.go": file(),
		}, nil, nil},
		{
			"upwards",
			fstest.MapFS{main: file(), "a/x.go": file(), deep: file(), "b/b_windows.go": file(module + "/a/deep")},
			nil,
			[]string{"b/b_windows.go imports kiro-learn/a/deep, which stands above b in ARCHITECTURE.md (it may not: know a)"},
		},
		{
			"the room over one's own",
			fstest.MapFS{main: file(), "a/x.go": file(), deep: file(module + "/a"), b: file()},
			nil,
			[]string{"a/deep/d.go imports kiro-learn/a, which stands above a/deep in ARCHITECTURE.md (it may not: x)"},
		},
		{
			"the top",
			fstest.MapFS{main: file(), "a/x.go": file(), deep: file(), b: file(module)},
			nil,
			[]string{"b/b.go imports kiro-learn, which stands above b in ARCHITECTURE.md (it may not: know a)"},
		},
		{
			"no room",
			fstest.MapFS{main: file(), "a/x.go": file(), deep: file(), b: file(), "bb/b.go": file()},
			nil,
			[]string{"bb is in no row of the table in ARCHITECTURE.md: say there what its one idea is"},
		},
		{
			"no package",
			fstest.MapFS{main: file(), "a/x.go": file(), deep: file(), "b/b_test.go": file()},
			nil,
			[]string{"b has a row in ARCHITECTURE.md and no package"},
		},
		{
			"it has come",
			fstest.MapFS{main: file(), "a/x.go": file(), deep: file(), b: file()},
			[]string{"b"},
			[]string{"b exists now: take it out of toCome in architecture_test.go"},
		},
		{
			"never to come",
			fstest.MapFS{main: file(), "a/x.go": file(), deep: file(), b: file()},
			[]string{"c"},
			[]string{"c is in toCome and in no row of ARCHITECTURE.md"},
		},
		{"another module, test data", fstest.MapFS{
			main: file(), "a/x.go": file(), deep: file(), b: file(), "tools/go.mod": file(), "tools/t.go": file(),
			"b/testdata/y.go": file(module + "/a"), ".x/z.go": file(),
		}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := checkRooms(rooms, readPackages(t, c.tree), c.toCome); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestFencesCanFail(t *testing.T) {
	imports := map[string][]string{
		module + "/a":            {"fmt", module + "/b"},
		module + "/a/x":          {"net/http"},
		module + "/b":            {"github.com/q/db/driver"},
		module + "/ab":           {"net/http"},
		"github.com/q/db/driver": {"fmt", "net/http"},
		"net/http":               {"fmt"},
		"fmt":                    nil,
	}
	for _, c := range []struct {
		name string
		f    fence
		want []string
	}{
		{"far", fence{[]string{"b"}, "net/http", false, "why"}, []string{"kiro-learn/b → github.com/q/db/driver → net/http: why"}},
		{"far, and under the room", fence{[]string{"a"}, "net/http", false, "why"}, []string{
			"kiro-learn/a → kiro-learn/b → github.com/q/db/driver → net/http: why", "kiro-learn/a/x → net/http: why",
		}},
		{"a room left out", fence{[]string{"a", "!a/x"}, "net/http", true, "why"}, nil},
		{"direct", fence{[]string{"a"}, "net/http", true, "why"}, []string{"kiro-learn/a/x → net/http: why"}},
		{"a tree of paths", fence{[]string{"a"}, "github.com/q/...", false, "why"}, []string{
			"kiro-learn/a → kiro-learn/b → github.com/q/db/driver: why",
		}},
		{"allowed", fence{[]string{"b"}, module + "/a", false, "why"}, nil},
		{"guards nothing", fence{[]string{"b"}, "gone", false, "why"}, []string{
			"nothing imports gone any more: its fence in architecture_test.go guards nothing",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := checkFences(imports, []fence{c.f}, true); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestDepsCanFail(t *testing.T) {
	linked := foreign("x/new\nkiro-learn\nkiro-learn/hooks\nx/kept\nkiro-learning\n")
	got := checkDeps([]string{"x/gone", "x/kept", "kiro-learning"}, linked)
	want := []string{
		"x/new is linked into the binary and not in deps.txt (accept it with: make deps)",
		"x/gone is in deps.txt and no longer linked (make deps)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
