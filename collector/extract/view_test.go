package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

func deedEvent(data string) *event.Event {
	return &event.Event{EventID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Kind: event.KindToolUse, Body: event.JSONBody([]byte(data)), Source: event.Source{ProjectPath: "/p"}}
}

func TestDeedOf(t *testing.T) {
	const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	run := func(command, response string) string {
		return `{"tool_name":"execute_bash","tool_input":{"command":"` + command + `"},"tool_response":` + response + `}`
	}
	const ok, bad = `{"success":true,"result":[{"exit_status":"0"}]}`, `{"success":true,"result":[{"exit_status":"1"}]}`
	for _, c := range []struct {
		name, data string
		want       Deed
		ok         bool
	}{
		{"a write", `{"tool_name":"fs_write","tool_input":{"command":"str_replace","path":"/p/a.go"},"tool_response":{"success":true}}`, Deed{EventID: id, Wrote: []string{"a.go"}, Known: true}, true},
		{"a write that failed", `{"tool_name":"fs_write","tool_input":{"command":"str_replace","path":"/p/a.go"},"tool_response":{"success":false}}`, Deed{EventID: id, Known: true, Failed: true}, true},
		{"a read", `{"tool_name":"fs_read","tool_input":{"path":"/p/a.go"},"tool_response":{"success":true}}`, Deed{}, false},
		{"our own tool", `{"tool_name":"@kiro-learn/search_memory","tool_input":{"query":"x"},"tool_response":"y"}`, Deed{}, false},
		{"a truncated payload", `{"_truncated":"{\"tool_name\":\"fs_write\" [truncated by kiro-learn]"}`, Deed{}, false},
		{"a test that passed", run("cd /p && go test ./upload", ok), Deed{EventID: id, Command: "go test ./upload", Checks: []Check{{check: check{family: "go test", targets: []string{"./upload"}}}}, Known: true}, true},
		{"a test that failed", run("npm test", bad), Deed{EventID: id, Command: "npm test", Checks: []Check{{true, check{family: "npm test"}}}, Known: true, Failed: true}, true},
		{"a build by a runner", run("npm run build", ok), Deed{EventID: id, Command: "npm run build", Checks: []Check{{check: check{family: "npm run build"}}}, Known: true}, true},
		{"a command that checks nothing", run("npm install left-pad", ok), Deed{EventID: id, Command: "npm install left-pad", Alters: true, Known: true}, true},
		{"a push", run("git push", ok), Deed{EventID: id, Command: "git push", Known: true}, true},
		{"a look around", run("ls -la", ok), Deed{EventID: id, Known: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := DeedOf(deedEvent(c.data))
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(Check{}, check{})); d != "" || ok != c.ok {
				t.Errorf("%v %s", ok, d)
			}
		})
	}
}

func TestKeyWords(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"the forms of a word", "retries are retried", "retry"},
		{"names and their parts", "fix maxRetries in upload.go", "the max retries in upload.go"},
		{"cases", "Rename the Orders table", "orders TABLE renamed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := KeyWords(c.a), KeyWords(c.b)
			both := 0
			for w := range b {
				if a[w] {
					both++
				}
			}
			if both != len(b) || both == 0 {
				t.Errorf("%v and %v share %d words", a, b, both)
			}
		})
	}
	if got := KeyWords("please can you add it and then also fix this for me, thanks"); len(got) != 0 {
		t.Errorf("words that any request has: %v", got)
	}
}

func BenchmarkDeedOf(b *testing.B) {
	e := deedEvent(`{"tool_name":"fs_write","tool_input":{"command":"str_replace","path":"/p/a.go"},"tool_response":{"success":true,"result":"` + strings.Repeat("x", 20000) + `"}}`)
	b.SetBytes(int64(len(e.Body)))
	for b.Loop() {
		if _, ok := DeedOf(e); !ok {
			b.Fatal("not read")
		}
	}
}
