package collector

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// routes are the patterns that this package registers, as its source has them.
func routes(t *testing.T) (out []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			lit, isLit := call.Args[0].(*ast.BasicLit)
			if !ok || !isLit || sel.Sel.Name != "HandleFunc" {
				return true
			}
			if pattern, err := strconv.Unquote(lit.Value); err == nil && pattern != "/" {
				out = append(out, pattern)
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}

// block are the lines under a line of a YAML file that is indented by spaces, by the keys right under it.
func block(lines []string, key string) map[string][]string {
	out := map[string][]string{}
	indent, in, at := 0, false, ""
	for _, l := range lines {
		depth := len(l) - len(strings.TrimLeft(l, " "))
		switch {
		case !in && strings.TrimSpace(l) == key+":":
			in, indent = true, depth
		case in && depth <= indent:
			return out
		case in && depth == indent+2 && strings.Contains(l, ":"):
			at, _, _ = strings.Cut(strings.TrimSpace(l), ":")
			out[at] = []string{}
		case in && at != "":
			out[at] = append(out[at], l)
		}
	}
	return out
}

func openAPI(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func TestOpenAPINamesTheServersRoutes(t *testing.T) {
	var described []string
	for path, lines := range block(openAPI(t), "paths") {
		for _, l := range lines {
			if strings.HasPrefix(l, "    ") && !strings.HasPrefix(l, "     ") {
				described = append(described, strings.ToUpper(strings.TrimSuffix(strings.TrimSpace(l), ":"))+" "+path)
			}
		}
	}
	slices.Sort(described)
	if diff := cmp.Diff(routes(t), described); diff != "" {
		t.Errorf("the server has -, docs/openapi.yaml has +:\n%s", diff)
	}
}

func TestOpenAPIDescribesTheAnswers(t *testing.T) {
	schemas := block(openAPI(t), "schemas")
	for name, v := range map[string]any{
		"Event": event.Event{EventID: "x", ParentEventID: "x", Body: []byte("{}"), ContentHash: "x"}, "Record": event.Record{}, "KnownRecord": client.Record{RecordType: "x", About: "x"}, "Health": client.Health{},
		"Receipt": client.Receipt{Retrieval: &client.Retrieval{}}, "Selection": client.Selection{Namespace: "x", Records: []string{""}, Events: []string{""}, Session: "x", All: true, Contains: "x", Before: "x", Now: true, DryRun: true},
		"Forgotten": client.Forgotten{ID: 1, Related: []string{""}}, "History": client.History{SupersededBy: "x"}, "Edited": client.Edited{}, "Merge": client.Merge{ProjectPath: "x"}, "Merged": client.Merged{},
		"ExportLine": client.ExportLine{Format: "x", SchemaVersion: 1, Event: &event.Event{Body: []byte("{}")}, Distilled: true, Record: &event.Record{}, End: &client.ExportEnd{}},
		"Imported":   client.Imported{Refused: []client.Refused{{}}},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var has map[string]json.RawMessage
		if err := json.Unmarshal(b, &has); err != nil {
			t.Fatal(err)
		}
		says := block(append([]string{name + ":"}, schemas[name]...), "properties")
		for field := range has {
			if _, ok := says[field]; !ok && field != "state_dir" && field != "started" {
				t.Errorf("%s: %s is not described", name, field)
			}
		}
		for field := range says {
			if _, ok := has[field]; !ok {
				t.Errorf("%s: there is no %s", name, field)
			}
		}
	}
	refs := regexp.MustCompile(`'#/components/(schemas|responses)/([A-Za-z]+)'`)
	for _, l := range openAPI(t) {
		if m := refs.FindStringSubmatch(l); m != nil && m[1] == "schemas" && schemas[m[2]] == nil {
			t.Errorf("%s is not defined", m[2])
		}
	}
}

// TestOpenAPIOperationsExist asks for every one: none is answered as a path that is not there.
func TestOpenAPIOperationsExist(t *testing.T) {
	w := newWorld(t)
	w.start()
	for _, r := range routes(t) {
		method, path, _ := strings.Cut(r, " ")
		if path == "/v1/tail" || path == "/v1/shutdown" { // the one never ends, the other ends all
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "none")
		if status, body := w.do(method, path, "", ""); status >= 500 || strings.Contains(body, `"there is no `+method) {
			t.Errorf("%s: %d %s", r, status, body)
		}
	}
}
