package viewer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

func TestElementsEscapeWhatTheyAreGiven(t *testing.T) {
	for _, c := range []struct {
		name string
		got  html
		want string
	}{
		{"text", el("p", `<b a="x">'&`), "<p>&lt;b a=&#34;x&#34;&gt;&#39;&amp;</p>"},
		{"an attribute", el("a.x.y", href(`"><script>`), "z"), `<a class="x y" href="&#34;&gt;&lt;script&gt;">z</a>`},
		{"markup stays", el("p", el("b", "<")), "<p><b>&lt;</b></p>"},
		{"no end", el("input", at("value", "v"), on("checked", true), on("disabled", false)), `<input value="v" checked="">`},
		{"a number", all(3, " ", html("<i>")), "3 <i>"},
		{"control characters", all("a\x00b\x1bc\r\nd\te"), "a\ufffdb\ufffdc\nd\te"},
		{"text that turns around", all("a\u202eb\u2066c\u0085"), "a\ufffdb\ufffdc\ufffd"},
		{"no UTF-8", all("a\xffb\xc3"), "a\ufffdb\ufffd"},
		{"each", each([]string{"<", ">"}, func(s *string) html { return el("i", *s) }), "<i>&lt;</i><i>&gt;</i>"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "<script>", `"'&`, "\xff\x00", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := string(all(s)); strings.ContainsAny(got, "<>\"'\x00\x1b\u202e") {
			t.Errorf("%q became %q", s, got)
		}
	})
}

// TestOnlyOneFileMakesMarkupOfText holds every other file to html.go: a conversion of text to html would be a hole.
func TestOnlyOneFileMakesMarkupOfText(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if name == "html.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			id, ok := call.Fun.(*ast.Ident)
			if _, literal := call.Args[0].(*ast.BasicLit); ok && id.Name == "html" && !literal {
				t.Errorf("%s makes html of something that is no literal: use el and all", fset.Position(call.Pos()))
			}
			return true
		})
	}
}
