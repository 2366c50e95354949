package extract

import (
	"encoding/json"
	"strings"
	"testing"
)

// How a test run or build ended is known only where the event shows it.
func TestChecksOfADeed(t *testing.T) {
	const none = ""
	for _, c := range []struct {
		name, command string
		exit          string // "": none is told
		output, want  string
	}{
		{"a test that passed", "go test ./a", "0", "ok  \tshop/a\t0.3s", "passed go test ./a"},
		{"a test that says nothing", "npm test", "0", "", "passed npm test"},
		{"a test that failed", "go test ./a", "1", "FAIL", "failed go test ./a"},
		{"none failed", "pytest", "0", "12 passed, 0 failed, 0 errors in 0.3s", "passed pytest"},
		{"some failed, and the status hides it", "npm test", "0", "Tests: 1 failed, 3 passed, 4 total", "failed npm test"},
		{"failures are counted behind a colon", "mvn test", "0", "Tests run: 5, Failures: 2, Errors: 0", "failed mvn test"},
		{"no failures behind a colon", "mvn test", "0", "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0", "passed mvn test"},
		{"no test files", "go test ./a", "0", "?   \tshop/a\t[no test files]", none},
		{"no tests to run", "go test -run Nope ./a", "0", "ok  \tshop/a\t0.3s [no tests to run]", none},
		{"some have none", "go test ./...", "0", "?   \tshop/a\t[no test files]\nok  \tshop/b\t0.3s", "passed go test ./..."},
		{"nothing collected", "cargo test", "0", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored", none},
		{"or true", "go test ./a || true", "0", "FAIL\tshop/a", "failed go test ./a"},
		{"or true, and nothing is shown", "go test ./a || true", "0", "", none},
		{"or true, and it passed", "go test ./a || true", "0", "ok  \tshop/a\t0.3s", "passed go test ./a"},
		{"or echo", "go test ./a || echo '3 passed'", "0", "3 passed", none},
		{"echo passed", "go test ./a; echo passed", "0", "passed", none},
		{"echo a count", "go test ./a; echo '3 passed'", "0", "3 passed", none},
		{"nothing but an echo", "echo 'ok  shop/a 0.3s'", "0", "ok  shop/a 0.3s", none},
		{"a comment", "true # go test ./a", "0", "", none},
		{"a newline hides a status", "go test ./a\ntrue", "0", "", none},
		{"a filter hides a status", "go test ./a 2>&1 | tail -3", "0", "FAIL\tshop/a\t0.1s", "failed go test ./a"},
		{"a filter, and it passed", "go test ./a 2>&1 | tail -3", "0", "ok  \tshop/a\t0.1s", "passed go test ./a"},
		{"a filter, and a log beside it", "go test ./a | tail -1; git log -1", "0", "Make 3 tests pass, 3 passed", none},
		{"two, and one report", "go test ./a; go test ./b | cat", "0", "ok  \tshop/b\t0.1s", none},
		{"the background", "npm test &", "0", "", none},
		{"a negation", "! go test ./a", "0", "", none},
		{"a condition", "if go test ./a; then echo fine; fi", "0", "fine", none},
		{"a subshell", "(go test ./a; true)", "0", "", none},
		{"a chain", "cd a && go build ./... && go test ./a", "0", "ok  \tshop/a\t0.1s", "passed go build ./..., passed go test ./a"},
		{"another directory before", "cd a; go test ./a", "0", "ok  \tshop/a\t0.1s", "passed go test ./a"},
		{"and then pushed", "go test ./a && git push", "0", "", "passed go test ./a"},
		{"the push may have failed", "go test ./a && git push", "1", "rejected", none},
		{"the test failed before the push", "go test ./a && git push", "1", "--- FAIL: TestX", "failed go test ./a"},
		{"only listed", "pytest --collect-only", "0", "3 tests collected", none},
		{"only built", "cargo test --no-run", "0", "", none},
		{"what make would do", "make -n test", "0", "go test ./...", none},
		{"a linter", "eslint .", "0", "", none},
		{"go vet", "go vet ./...", "0", "", none},
		{"no status, and a success", "npm test", "", "", none},
		{"no status, and a report", "npm test", "", "Tests: 4 passed, 4 total", "passed npm test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := map[string]string{"stdout": c.output}
			if c.exit != "" {
				result["exit_status"] = c.exit
			}
			data, err := json.Marshal(map[string]any{"tool_name": "execute_bash", "tool_input": map[string]string{"command": c.command}, "tool_response": map[string]any{"success": true, "result": []any{result}}})
			if err != nil {
				t.Fatal(err)
			}
			d, _ := DeedOf(deedEvent(string(data)))
			var got []string
			for _, k := range d.Checks {
				how := "passed "
				if k.Failed {
					how = "failed "
				}
				got = append(got, how+k.Name())
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%q shows %q, want %q", c.command, got, c.want)
			}
		})
	}
	d, _ := DeedOf(deedEvent(`{"tool_name":"execute_bash","tool_input":{"command":"npm test","run_in_background":true},"tool_response":{"success":true,"result":[{"exit_status":"0"}]}}`))
	if len(d.Checks) > 0 || d.Known {
		t.Errorf("in the background: %+v", d)
	}
}
