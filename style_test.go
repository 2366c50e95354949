package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	maxFileLines = 600
	maxFuncLines = 80 // 60 is the aim; a table or a switch may be longer
)

func TestStyle(t *testing.T) {
	bad, err := checkStyle(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	report(t, bad)
}

func TestNoMachinePaths(t *testing.T) {
	bad, err := checkMachinePaths(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	report(t, bad)
}

// checkStyle holds the rules of the source that no linter of ours knows.
func checkStyle(tree fs.FS) (bad []string, err error) {
	packageComments := map[string][]string{} // directory → files that have one
	err = goFiles(tree, func(name string, src []byte) error {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s := source{name: name, fset: fset, file: file, test: strings.HasSuffix(name, "_test.go")}
		if n := bytes.Count(src, []byte("\n")); n > maxFileLines {
			s.complain(file.Package, "a file of %d lines: split it by idea (%d at most)", n, maxFileLines)
		}
		s.checkComments()
		if s.test {
			s.checkSleep()
		} else {
			s.checkDecls()
			dir := path.Dir(name)
			packageComments[dir] = append(packageComments[dir], s.packageComment()...)
		}
		bad = append(bad, s.bad...)
		return nil
	})
	for dir, files := range packageComments {
		switch len(files) {
		case 0:
			bad = append(bad, dir+": no file has a package comment that says the package's one idea")
		case 1:
		default:
			bad = append(bad, fmt.Sprintf("%s: one package comment is enough: %s", dir, strings.Join(files, ", ")))
		}
	}
	slices.Sort(bad)
	return bad, err
}

// A source is one parsed file and what is wrong with it.
type source struct {
	name string
	test bool
	fset *token.FileSet
	file *ast.File
	bad  []string
}

func (s *source) complain(at token.Pos, format string, args ...any) {
	s.bad = append(s.bad, fmt.Sprintf("%s:%d: %s", s.name, s.fset.Position(at).Line, fmt.Sprintf(format, args...)))
}

func (s *source) packageComment() []string {
	if s.file.Doc == nil || strings.TrimSpace(s.file.Doc.Text()) == "" {
		return nil
	}
	return []string{path.Base(s.name)}
}

func (s *source) checkComments() {
	for _, group := range s.file.Comments {
		for _, word := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"} {
			if slices.Contains(strings.FieldsFunc(group.Text(), notLetter), word) {
				s.complain(group.Pos(), "%s: do it, or say what is so", word)
			}
		}
	}
}

func notLetter(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') }

// checkSleep lets tests sleep only where time is fake.
func (s *source) checkSleep() {
	for _, imp := range s.file.Imports {
		if importPath(imp) == "testing/synctest" {
			return
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isSelector(call.Fun, "time", "Sleep") {
			s.complain(call.Pos(), "a test must not sleep: wait for the thing itself, with a deadline")
		}
		return true
	})
}

func (s *source) checkDecls() {
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			s.checkFunc(d)
		case *ast.GenDecl:
			s.checkGen(d)
		}
	}
}

func (s *source) checkFunc(d *ast.FuncDecl) {
	if d.Recv == nil && d.Name.Name == "init" {
		s.complain(d.Pos(), "func init runs in every hook: use sync.OnceValue")
	}
	if n := s.fset.Position(d.End()).Line - s.fset.Position(d.Pos()).Line + 1; n > maxFuncLines {
		s.complain(d.Pos(), "%s has %d lines (%d at most, 60 is the aim)", d.Name.Name, n, maxFuncLines)
	}
	if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d)) && !wellKnown(d.Name.Name)) {
		s.complain(d.Pos(), "%s is exported and not documented", d.Name.Name)
	}
}

// wellKnown are methods that say what they do by their name in every program.
func wellKnown(method string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "Is", "String", "Len", "Less", "Swap"}, method)
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func (s *source) checkGen(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				s.complain(spec.Pos(), "%s is exported and not documented", spec.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					s.complain(spec.Pos(), "%s is exported and not documented", name.Name)
				}
			}
			for _, value := range spec.Values {
				s.checkInitializer(value)
			}
		}
	}
}

// checkInitializer looks at what runs at package initialisation: not at function bodies, which run when called.
func (s *source) checkInitializer(value ast.Expr) {
	ast.Inspect(value, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			_, function := n.(*ast.FuncLit)
			return !function
		}
		for _, f := range []string{"MustCompile", "Compile", "MustCompilePOSIX", "CompilePOSIX"} {
			if isSelector(call.Fun, "regexp", f) {
				s.complain(call.Pos(), "a pattern compiled at package initialisation is paid by every hook: use sync.OnceValue")
			}
		}
		return true
	})
}

func isSelector(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// checkMachinePaths finds directories of the machines that this was written on, in whatever text a clone would get.
func checkMachinePaths(tree fs.FS) (bad []string, err error) {
	private := []string{"/wo" + "rk/main", "/wo" + "rk/shared", "/wo" + "rk/.", "/ro" + "ot/go", "/tmp/bash" + "_jobs", "/tm" + "p/h/"}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".git" || name == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || name == ".git" { // of a linked worktree
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil || bytes.IndexByte(text, 0) >= 0 && !strings.HasPrefix(name, "testdata/") {
			return nil // gone meanwhile, or a binary that somebody built here
		}
		for _, p := range private {
			if i := indexPath(text, p); i >= 0 {
				bad = append(bad, fmt.Sprintf("%s:%d: %s is a directory of one machine", name, 1+bytes.Count(text[:i], []byte("\n")), p))
			}
		}
		return nil
	})
	return bad, err
}

// indexPath finds p where it begins a path, and not inside a longer one.
func indexPath(text []byte, p string) int {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(p))
		if i < 0 {
			return -1
		}
		i += from
		if i == 0 || notLetter(rune(text[i-1])) && !bytes.ContainsRune([]byte("0123456789_-."), rune(text[i-1])) {
			return i
		}
		from = i + 1
	}
}

func TestStyleCanFail(t *testing.T) {
	const doc = "// Package p is.\npackage p\n"
	for _, c := range []struct{ name, file, src, want string }{
		{"clean", "p/a.go", doc + "\n// X is.\nfunc X() {}\n\nfunc (t) Y() {}\n\n// C, D.\nconst (\n\tC = 1\n)\n\ntype T int // T is.\n", ""},
		{"no package comment", "p/a.go", "package p\n", "p: no file has a package comment that says the package's one idea"},
		{"a comment that is not the package's", "p/a.go", "// Licence.\n\npackage p\n", "p: no file has a package comment that says the package's one idea"},
		{"a test's package comment", "p/a_test.go", doc, ""},
		{"long file", "p/a.go", doc + strings.Repeat("\n", 600), "p/a.go:2: a file of 602 lines: split it by idea (600 at most)"},
		{"long file of tests", "p/a_test.go", doc + strings.Repeat("\n", 600), "p/a_test.go:2: a file of 602 lines: split it by idea (600 at most)"},
		{"long function", "p/a.go", doc + "func f() {" + strings.Repeat("\n", 80) + "}\n", "p/a.go:3: f has 81 lines (80 at most, 60 is the aim)"},
		{"longest function", "p/a.go", doc + "func f() {" + strings.Repeat("\n", 79) + "}\n", ""},
		{"init", "p/a.go", doc + "func init() {}\n", "p/a.go:3: func init runs in every hook: use sync.OnceValue"},
		{"a method named init", "p/a.go", doc + "func (t) init() {}\n", ""},
		{"undocumented function", "p/a.go", doc + "func X() {}\n", "p/a.go:3: X is exported and not documented"},
		{"undocumented method", "p/a.go", doc + "func (*T[K, V]) X() {}\n", "p/a.go:3: X is exported and not documented"},
		{"a method that everybody knows", "p/a.go", doc + "func (X) Error() string {}\n", ""},
		{"undocumented type", "p/a.go", doc + "type X int\n", "p/a.go:3: X is exported and not documented"},
		{"undocumented constant", "p/a.go", doc + "const (\n\tx = 1\n\tX = 2\n)\n", "p/a.go:5: X is exported and not documented"},
		{"pattern", "p/a.go", doc + "var x = []any{regexp.MustCompile(`a`)}\n", "p/a.go:3: a pattern compiled at package initialisation is paid by every hook: use sync.OnceValue"},
		{"pattern on first use", "p/a.go", doc + "var x = sync.OnceValue(func() any { return regexp.MustCompile(`a`) })\n", ""},
		{"sleep", "p/a_test.go", doc + "func f() { time.Sleep(1) }\n", "p/a_test.go:3: a test must not sleep: wait for the thing itself, with a deadline"},
		{"fake sleep", "p/a_test.go", doc + "import _ \"testing/synctest\"\nfunc f() { time.Sleep(1) }\n", ""},
		{"left to do", "p/a.go", doc + "\n// TO" + "DO: this\n", "p/a.go:4: TO" + "DO: do it, or say what is so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad, err := checkStyle(fstest.MapFS{c.file: {Data: []byte(c.src)}})
			if got := strings.Join(bad, "\n"); got != c.want || err != nil {
				t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
	t.Run("two package comments", func(t *testing.T) {
		bad, err := checkStyle(fstest.MapFS{"p/a.go": {Data: []byte(doc)}, "p/b_windows.go": {Data: []byte(doc)}})
		if want := []string{"p: one package comment is enough: a.go, b_windows.go"}; !slices.Equal(bad, want) || err != nil {
			t.Errorf("got %q, %v, want %q", bad, err, want)
		}
	})
	t.Run("not Go", func(t *testing.T) {
		if _, err := checkStyle(fstest.MapFS{"a.go": {Data: []byte("package")}}); err == nil {
			t.Error("a file that does not parse was passed over")
		}
	})
}

func TestMachinePathsCanFail(t *testing.T) {
	bad, err := checkMachinePaths(fstest.MapFS{
		"docs/x.md":     {Data: []byte("one\nsee /wo" + "rk/main/x\n")},
		"kiro-learn":    {Data: []byte("\x7fELF\x00/ro" + "ot/go")},
		"testdata/p.in": {Data: []byte("\x00/ro" + "ot/go")},
		".git/config":   {Data: []byte("/wo" + "rk/main")},
		"ok.md":         {Data: []byte("/home/ana/wo" + "rk/main")},
	})
	want := []string{
		"docs/x.md:2: /wo" + "rk/main is a directory of one machine",
		"testdata/p.in:1: /ro" + "ot/go is a directory of one machine",
	}
	if err != nil || !slices.Equal(bad, want) {
		t.Errorf("got %q, %v, want %q", bad, err, want)
	}
}

// The page on reliability names tests; each of them exists.
func TestReliabilityNamesTests(t *testing.T) {
	page, err := os.ReadFile("docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests bytes.Buffer
	if err := goFiles(os.DirFS("."), func(name string, src []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			tests.Write(src)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(string(page), func(r rune) bool { return r == '`' || r == ' ' || r == ',' || r == '|' })
	for _, name := range words {
		for _, prefix := range []string{"Test", "Fuzz", "Benchmark"} {
			rest, ok := strings.CutPrefix(name, prefix)
			if ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' && !bytes.Contains(tests.Bytes(), []byte("func "+name+"(")) {
				t.Errorf("docs/reliability.md names %s, which is no test", name)
			}
		}
	}
}
