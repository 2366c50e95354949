package viewer

import "testing"

func TestAToolUseIsToldInOneLine(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"a command", `{"command":"go test\n ./..."}`, "go test ./..."},
		{"an edit", `{"command":"create","path":"a.go","text":"x"}`, "create a.go"},
		{"a path", `{"path":"a.go"}`, "a.go"},
		{"a list of things", `{"operations":[{"mode":"Line","path":"a.go"},{"mode":"Line","path":"b.go"}]}`, "a.go, b.go"},
		{"a query", `{"query":"retries"}`, "retries"},
		{"nothing that is known", `{"x":1}`, `{ "x": 1 }`},
		{"a string", `"hello"`, "hello"},
		{"nothing", `null`, ""},
		{"no JSON", `{`, ""},
		{"markup", `{"x":"<b>&"}`, `{ "x": "<b>&" }`},
	} {
		if got := telling([]byte(c.input)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAResultIsToldAsItsText(t *testing.T) {
	for _, c := range []struct{ name, response, want string }{
		{"lines", `{"success":true,"result":["a","b"]}`, "a\nb"},
		{"a text", `{"result":"a"}`, "a"},
		{"more", `{"result":[{"exit_status":"1"}]}`, "[\n  {\n    \"exit_status\": \"1\"\n  }\n]"},
		{"another shape", `{"ok":true}`, "{\n  \"ok\": true\n}"},
		{"nothing", ``, ""},
	} {
		if got := result([]byte(c.response)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
