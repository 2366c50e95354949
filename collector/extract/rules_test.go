package extract

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kiro-learn/internal/event"
)

func TestOutcome(t *testing.T) {
	tests := []struct {
		name, response string
		known, failed  bool
		exit, text     string
	}{
		{"nothing", `null`, false, false, "", ""},
		{"success", `{"success":true,"result":[""]}`, true, false, "", ""},
		{"error list", `{"success":false,"error":["not found"]}`, true, true, "", "not found"},
		{"error text", `{"success":false,"error":"no"}`, true, true, "", "no"},
		{"shell, exit 1 beside success", `{"success":true,"result":[{"exit_status":"1","stdout":"out","stderr":"err"}]}`, true, true, "1", "out\nerr"},
		{"shell, exit 0", `{"success":true,"result":[{"exit_status":"0","stdout":"ok","stderr":""}]}`, true, false, "0", "ok"},
		{"numeric status", `{"success":true,"result":[{"exit_status":7}]}`, true, true, "7", ""},
		{"items", `{"items":[{"Text":"a"},{"Json":{"exit_status":"exit status: 2","stderr":"b"}}]}`, true, true, "2", "a\nb"},
		{"items without status", `{"items":[{"Text":"a"}]}`, false, false, "", "a"},
		{"string, exit 1", `"Output:\nboom\n\nExit Code: 1"`, true, true, "1", "Output:\nboom\n\nExit Code: 1"},
		{"string, exit 0", `"Output:\n\nExit Code: 0"`, true, false, "0", "Output:\n\nExit Code: 0"},
		{"an exit code in the middle is output", `"Exit Code: 1\nwas printed"`, false, false, "", "Exit Code: 1\nwas printed"},
		{"IDE 0, wrapped string", `{"result":"Exit Code: 3","success":true}`, true, true, "3", "Exit Code: 3"},
		{"IDE 0, failed", `{"result":"denied","success":false}`, true, true, "", "denied"},
		{"MCP error", `{"content":[{"type":"text","text":"bad key"}],"isError":true}`, true, true, "", "bad key"},
		{"negative", `{"exit_status":"-1"}`, true, true, "-1", ""},
		{"null status", `{"exit_status":null,"success":true}`, true, false, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := outcomeOf([]byte(tt.response))
			if want := (outcome{tt.known, tt.failed, tt.exit, tt.text}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestATitleSaysWhatItIsAbout: a request that names nothing takes what it is about from what stands around it.
func TestATitleSaysWhatItIsAbout(t *testing.T) {
	for prompt, want := range map[string]string{
		"The nightly import takes six hours. Find out why.": "Find out why: The nightly import takes six hours",
		"Please. Just. Fix. The. Login. Redirect.":          "Fix The Login Redirect",
		"Here is the log:\n```\npanic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n```\nplease fix": "Fix: panic: runtime error: index out of range [3] with length 3",
		"The size is told in bytes now. Change the manifest endpoint accordingly.":                                                     "Change the manifest endpoint accordingly: The size is told in bytes now",
		"Fix the bug. The cart forgets its coupons.":                                                                                   "Fix the bug: The cart forgets its coupons",
		"The importer drops rows with empty emails. Figure out why and fix it.":                                                        "Figure out why and fix it: The importer drops rows with empty emails",
		"Rename the flag. Explain why.":                                                                                                "Rename the flag",
		"Fix the login redirect.":                                                                                                      "Fix the login redirect",
	} {
		if got := requestOf(prompt).title; got != want {
			t.Errorf("%q: title %q, want %q", prompt, got, want)
		}
	}
	long := "Fix it. " + strings.Repeat("The coupons are lost whenever somebody logs in again, ", 12) + "sadly."
	if got := requestOf(long).title; len([]rune(got)) > event.MaxTitle {
		t.Errorf("a title of %d characters", len([]rune(got)))
	}
}

// TestHowACommandEnded: that a shell tool could run says nothing of how its command ended. Its status or its output does.
func TestHowACommandEnded(t *testing.T) {
	for _, c := range []struct{ response, want string }{
		{`{"success":true,"result":[{"stdout":"1 failed, 3 passed","stderr":""}]}`, "failed"},
		{`{"success":true,"result":[{"stdout":"4 passed in 0.1s"}]}`, "passed"},
		{`{"success":true,"result":"timed out after 120s"}`, "open"},
		{`{"success":true,"result":[{"exit_status":"","stdout":"x"}]}`, "open"},
		{`{"success":true,"result":[{"exit_status":null,"stdout":""}]}`, "open"},
		{`{"success":true,"result":[{"exit_status":"0","stdout":""}]}`, "passed"},
		{`{"success":true,"result":[{"exit_status":"137","stdout":"3 passed"}]}`, "failed"},
		{`{"success":false,"error":"no such command"}`, "failed"},
		{`"--- FAIL: TestCart (0.00s)"`, "failed"},
		{`"Command was interrupted by the user"`, "open"},
		{`null`, "open"},
	} {
		e := event.Event{EventID: storyID(1), Body: event.JSONBody(fmt.Appendf(nil, `{"tool_name":"execute_bash","tool_input":{"command":"make all"},"tool_response":%s}`, c.response))}
		a, ok := actionOf(&e)
		got := map[[2]bool]string{{true, true}: "failed", {true, false}: "passed", {false, false}: "open"}[[2]bool{a.out.known, a.out.failed}]
		if !ok || got != c.want {
			t.Errorf("%s: %q, want %s", c.response, got, c.want)
		}
	}
}

func TestActionOf(t *testing.T) {
	tests := []struct {
		name, tool, input, response string
		want                        string // kind and path of each file, or the command
	}{
		{"CLI write", "fs_write", `{"command":"str_replace","path":"/p/a.go"}`, `{"success":true}`, "write a.go"},
		{"CLI create", "fs_write", `{"command":"create","path":"/p/b/a.go","file_text":""}`, `{"success":true}`, "create b/a.go"},
		{"CLI 3 write of a new file", "fs_write", `{"path":"/p/a.go","text":""}`, `"Created the /p/a.go file."`, "create a.go"},
		{"short name", "write", `{"path":"a.go","content":""}`, `null`, "write a.go"},
		{"append", "fs_append", `{"path":"./a.go","text":""}`, `null`, "write a.go"},
		{"delete", "delete_file", `{"targetFile":"/p/a.go"}`, `"Deleted the a.go file."`, "delete a.go"},
		{"file_path", "Edit", `{"file_path":"/p/a.go"}`, `null`, "write a.go"},
		{"filePath of an unknown tool with text", "editorThing", `{"filePath":"/p/a.go","newText":"x"}`, `null`, "write a.go"},
		{"path of an unknown tool without text", "editorThing", `{"filePath":"/p/a.go"}`, `null`, ""},
		{"reads, not directories", "fs_read", `{"operations":[{"mode":"Line","path":"/p/a.go"},{"mode":"Directory","path":"/p/x.d"},{"mode":"Image","image_paths":["/p/i.png"]}]}`, `null`, "read a.go read i.png"},
		{"read_files", "read_files", `{"paths":["/p/a.go","/p/b.go"]}`, `null`, "read a.go read b.go"},
		{"list of objects", "readMultipleFiles", `{"files":[{"path":"a.go"}]}`, `null`, "read a.go"},
		{"old read of a directory", "fs_read", `{"mode":"Directory","path":"/p/x.d"}`, `null`, ""},
		{"failed write", "fs_write", `{"path":"/p/a.go","text":""}`, `{"success":false,"error":"no"}`, ""},
		{"input lost", "fs_write", `{}`, `"Replaced text in /p/a.go"`, "write a.go"},
		{"input lost, path with spaces", "fsWrite", `{}`, `{"result":"Created the my docs/a b.md file.","success":true}`, "create my docs/a b.md"},
		{"appended to", "fsAppend", `{}`, `"Appended the text to the notes/a.md file."`, "write notes/a.md"},
		{"outside the project", "fs_read", `{"path":"/q/a.go"}`, `null`, "read /q/a.go"},
		{"a sibling is no part of the project", "fs_read", `{"path":"/pp/a.go"}`, `null`, "read /pp/a.go"},
		{"the project itself", "fs_read", `{"path":"/p"}`, `null`, ""},
		{"above", "fs_read", `{"path":"../x.go"}`, `null`, ""},
		{"line break in a name", "fs_read", `{"path":"/p/a\nb.go"}`, `null`, ""},
		{"patch", "apply_patch", `{"input":"*** Begin Patch\n*** Add File: n.go\n*** Delete File: o.go\n"}`, `null`, "create n.go delete o.go"},
		{"command", "execute_bash", `{"command":"go vet ./..."}`, `null`, "$ go vet ./..."},
		{"command of an unknown tool", "my_runner", `{"command":"make"}`, `null`, "$ make"},
		{"no command", "execute_bash", `{}`, `null`, "-"},
		{"git mv", "execute_bash", `{"command":"git mv a.go b.go"}`, `null`, "$ git mv a.go b.go delete a.go write b.go"},
		{"sed in place, in a directory", "execute_bash", `{"command":"cd sub && sed -i 's/a/b/' x.go y.go"}`, `null`, "$ cd sub && sed -i 's/a/b/' x.go y.go write sub/x.go write sub/y.go"},
		{"sed to stdout", "execute_bash", `{"command":"sed s/a/b/ x.go"}`, `null`, "$ sed s/a/b/ x.go"},
		{"failed shell edit", "execute_bash", `{"command":"rm a.go"}`, `"no\n\nExit Code: 1"`, "$ rm a.go"},
		{"variables and globs", "execute_bash", `{"command":"rm *.go $X.go; cp a.go ~/b.go"}`, `null`, "$ rm *.go $X.go; cp a.go ~/b.go"},
		{"here document", "execute_bash", `{"command":"cat > a.txt <<'E'\nrm b.go\nE"}`, `null`, "$ cat > a.txt <<'E'\nrm b.go\nE write a.txt"},
		{"redirections that are none", "execute_bash", `{"command":"go test 2>&1 > /dev/null"}`, `null`, "$ go test 2>&1 > /dev/null"},
		{"our own tool", "@kiro-learn/search_memory", `{"query":"x"}`, `null`, "-"},
		{"our own tool, bare", "save_observation", `{"path":"a.go","text":"x"}`, `null`, "-"},
		{"unknown", "unknown", `{"path":"a.go","text":"x"}`, `null`, "-"},
		{"another server's write", "@fs/write", `{"path":"a.go","text":"x"}`, `null`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := describeAction(tt.tool, tt.input, tt.response)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// describeAction tells what is read from a tool use in the project /p: its command, and each file with what was done.
func describeAction(tool, input, response string) string {
	e := event.Event{
		EventID: storyID(1), Source: event.Source{ProjectPath: "/p"},
		Body: event.JSONBody(fmt.Appendf(nil, `{"tool_name":%q,"tool_input":%s,"tool_response":%s}`, tool, input, response)),
	}
	a, ok := actionOf(&e)
	if !ok {
		return "-"
	}
	var parts []string
	if a.command != "" {
		parts = append(parts, "$ "+a.command)
	}
	for _, f := range a.touched {
		parts = append(parts, map[actKind]string{actRead: "read", actWrite: "write", actCreate: "create", actDelete: "delete"}[f.kind]+" "+f.path)
	}
	return strings.Join(parts, " ")
}

func TestRelativePathOnWindows(t *testing.T) {
	base := projectBase(`C:\src\app\`)
	for in, want := range map[string]string{
		`C:\src\app\cmd\main.go`: "cmd/main.go", `c:/src/app/a.go`: "a.go", `D:\x.go`: "D:/x.go", `cmd\a.go`: "cmd/a.go", `C:\src\app`: "", `C:\src\apple\a.go`: "C:/src/apple/a.go",
	} {
		if got := relativePath(in, base); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestRequestTitle(t *testing.T) {
	tests := []struct{ name, prompt, want string }{
		{"imperative", "add a retry to the uploader", "Add a retry to the uploader"},
		{"politeness", "Hi Kiro! Could you please add a retry to the uploader? Thanks a lot!", "Add a retry to the uploader"},
		{"after the problem", "The upload job times out. Please raise the timeout to 30s.", "Raise the timeout to 30s"},
		{"refers back", "We decided to cap retries at three. Please do it.", "Cap retries at three"},
		{"question", "how many times does the uploader retry?", "How many times does the uploader retry?"},
		{"list", "Please:\n1. Rename orders to purchases.\n2. Run the tests.", "Rename orders to purchases"},
		{"begins with a name", "upload.go needs a retry", "upload.go needs a retry"},
		{"code span", "fix `parse.go` please", "Fix parse.go"},
		{"german", "Kannst du bitte die Tests reparieren?", "Die Tests reparieren"},
		{"chinese", "请帮我把超时改成30秒。谢谢!", "把超时改成30秒"},
		{"greeting", "hello there!", ""},
		{"thanks", "thank you so much for your help", ""},
		{"consent", "Yes, please continue.", ""},
		{"only code", "```\nfoo\n```", ""},
		{"only log", "2026-01-01 00:00:00 INFO started\n2026-01-01 00:00:01 INFO stopped", ""},
		{"empty", "", ""},
		{"long", strings.Repeat("add many words ", 40), "Add many words"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := requestOf(tt.prompt).title
			if tt.name == "long" {
				if n := len([]rune(got)); n > event.MaxTitle || !strings.HasPrefix(got, tt.want) || !strings.HasSuffix(got, "…") {
					t.Errorf("got %q of %d characters", got, n)
				}
			} else if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDecisionIn(t *testing.T) {
	tests := []struct {
		sentence    string
		user, agent bool
	}{
		{"We decided to cap retries at three.", true, true},
		{"I've chosen zap, since we agreed on structured logs.", true, true},
		{"Use tabs instead of spaces.", true, true},
		{"From now on every PR needs two reviews.", true, true},
		{"Always run the linter before a commit.", true, false},
		{"Please never push to main.", true, false},
		{"Remember that staging uses port 8443.", true, false},
		{"The API must not log tokens.", true, false},
		{"We prefer composition over inheritance.", true, false},
		{"When the gateway rate-limits, never retry more than twice.", true, false},
		{"Wir haben beschlossen, bei SQLite zu bleiben.", true, true},
		{"Nunca borres la tabla de pedidos.", true, false},
		{"Désormais nous utilisons pgx.", true, true},
		{"从现在起所有接口都返回JSON。", true, true},
		{"テストは必ず実行してください。", true, false},
		{"Should we always squash merges?", false, false},
		{"What if we decided to drop it?", false, false},
		{"What if we decided to drop it", false, false},
		{"Maybe we decided that too early.", false, false},
		{"I wonder whether we agreed on that.", false, false},
		{"We haven't decided on a name yet.", false, false},
		{"The README says \"we decided to use tabs\".", false, false},
		{"The variable is called `from now on`.", false, false},
		{"The job never finishes.", false, false},
		{"It always fails on Mondays.", false, false},
		{"The function returns null instead of an error.", false, false},
		{"It uses the old API instead of the new one.", false, false},
		{"Add a retry to the uploader.", false, false},
		{"Keep going and never give up.", false, false},
		{"Remember that staying positive is very important.", false, false},
		{"Always use tabs.", true, false},
		{"We will use the routing API to ask, rather than binding to the default.", false, false},
		{"We'll use zerolog instead of log.", true, true},
		{"The rule is positioned before the others.", false, false},
		{"We decided", false, false},
		{"We decided to use …", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			if got := decisionIn(tt.sentence, true); got != tt.user {
				t.Errorf("from the user: %v, want %v", got, tt.user)
			}
			if got := decisionIn(tt.sentence, false); got != tt.agent {
				t.Errorf("from the agent: %v, want %v", got, tt.agent)
			}
		})
	}
}

func TestErrorLines(t *testing.T) {
	tests := []struct{ name, output, title string }{
		{"go test", "--- FAIL: TestUpload (0.02s)\n    upload_test.go:41: got 1 attempt, want 3\nFAIL\nFAIL\tshop/upload\t0.031s\n", "got 1 attempt, want 3"},
		{"go build", "# shop/cmd\ncmd/a.go:22:9: undefined: encodeJSON\n", "undefined: encodeJSON"},
		{"go panic", "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/mia/shop/main.go:9 +0x1d\nexit status 2\n", "panic: runtime error: index out of range [3] with length 3"},
		{"pytest", "E       assert 2 == 1\nFAILED tests/test_a.py::test_x - assert 2 == 1\n1 failed in 0.1s", "test_x - assert 2 == 1"},
		{"python", "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    import foo\nModuleNotFoundError: No module named 'foo'", "ModuleNotFoundError: No module named 'foo'"},
		{"jest", " FAIL src/a.test.ts\n  ● uploader › retries three times\n\n    Expected: 3\n    Received: 1\n\nTests: 1 failed, 2 passed", "uploader › retries three times"},
		{"cargo", "error[E0308]: mismatched types\n --> src/main.rs:4:5\nerror: could not compile `shop`", "error[E0308]: mismatched types"},
		{"cargo test", "running 1 test\nthread 'tests::it' panicked at src/lib.rs:10:5:\nassertion `left == right` failed\n  left: 1\n right: 3\ntest result: FAILED. 0 passed; 1 failed", "assertion `left == right` failed"},
		{"maven", "[INFO] Building shop\n[ERROR] /home/mia/shop/src/Foo.java:[10,5] cannot find symbol\n[ERROR] Failed to execute goal\n[INFO] BUILD FAILURE", "src/Foo.java:[10,5] cannot find symbol"},
		{"tsc", "src/cart.ts(14,7): error TS2322: Type 'string' is not assignable.", "error TS2322: Type 'string' is not assignable."},
		{"gcc", "a.c:3:5: error: 'x' undeclared\na.c:3:5: note: each undeclared identifier", "error: 'x' undeclared"},
		{"npm", "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nError: Cannot find module 'left-pad'", "Error: Cannot find module 'left-pad'"},
		{"shell", "bash: frob: command not found", "bash: frob: command not found"},
		{"java", "Exception in thread \"main\" java.lang.NullPointerException: address\n\tat shop.Main.main(Main.java:4)", "Exception in thread \"main\" java.lang.NullPointerException: address"},
		{"nothing stands out: the last line", "doing this\ndoing that\ngiving up", "giving up"},
		{"colours", "\x1b[31merror: bad flag\x1b[0m", "error: bad flag"},
		{"no output", "\n\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			best, lines := errorLines(tt.output, "/home/mia/shop")
			if got := withoutPlace(best); got != tt.title {
				t.Errorf("title %q, want %q", got, tt.title)
			}
			if len(lines) > maxErrorLines || tt.title != "" && len(lines) == 0 {
				t.Errorf("lines %q", lines)
			}
		})
	}
}

func TestErrorLinesAreBounded(t *testing.T) {
	best, lines := errorLines(strings.Repeat("a.go:1: bad "+strings.Repeat("x ", 500)+"\nb.go:2: worse\nFAIL x\n", 3000), "")
	if len(lines) > maxErrorLines || len([]rune(best)) > maxErrorLine {
		t.Errorf("%d lines, best of %d", len(lines), len(best))
	}
}

func TestCovers(t *testing.T) {
	tests := []struct {
		failed, passed string
		want           bool
	}{
		{"go test ./upload", "go test ./upload", true},
		{"go test ./upload", "go test ./...", true},
		{"go test ./upload", "go test -race ./upload", true},
		{"go test ./upload", "go test ./upload/...", true},
		{"go test ./upload", "go test ./db", false},
		{"go test ./upload", "go test -run TestOne ./upload", false},
		{"go test -run TestOne ./upload", "go test ./upload", true},
		{"python -m pytest tests/test_a.py -q", "pytest -q", true},
		{"pytest tests/test_a.py::test_x", "pytest tests/test_b.py", false},
		{"npm run build", "npm run lint", false},
		{"npm test", "npm test -- --watch=false", true},
		{"cd x && go vet ./...", "go vet ./...", true},
		{"go build ./... && go test ./...", "go test ./...", true},
		{"go test ./...", "go build ./...", false},
		{"make deploy", "make", false},
	}
	for _, tt := range tests {
		t.Run(tt.failed+" then "+tt.passed, func(t *testing.T) {
			f := checksOf(tt.failed)
			got := false
			for _, c := range checksOf(tt.passed) {
				got = got || c.covers(f[len(f)-1])
			}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestMaskedExit(t *testing.T) {
	tests := []struct {
		name, command, stdout string
		known, failed         bool
	}{
		{"filter hides a failure", "go test ./... 2>&1 | tail -5", "--- FAIL: TestX\nFAIL", true, true},
		{"filter, seen to pass", "go test ./... | tail -5", "ok  \tshop/upload\t0.1s", true, false},
		{"filter, nothing told", "make | tail -5", "cc -o x x.c", false, false},
		{"forced success", "pytest || true", "FAILED tests/a.py::t - no", true, true},
		{"plain", "go test ./...", "cc", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := json.Marshal(map[string]string{"command": tt.command})
			out, _ := json.Marshal(map[string]any{"success": true, "result": []any{map[string]string{"exit_status": "0", "stdout": tt.stdout}}})
			e := event.Event{EventID: storyID(1), Body: event.JSONBody(fmt.Appendf(nil, `{"tool_name":"execute_bash","tool_input":%s,"tool_response":%s}`, in, out))}
			a, ok := actionOf(&e)
			if !ok || a.out.known != tt.known || a.out.failed != tt.failed {
				t.Errorf("known %v failed %v, want %v %v", a.out.known, a.out.failed, tt.known, tt.failed)
			}
		})
	}
}

func TestConceptsLeaveOutMarksAndHashes(t *testing.T) {
	got := concepts(conceptText{"The [REDACTED] token of maxAttempts in upload/upload.go:41, retries with TLS, d0be2dc421be4fcd0172e5afceea3970e2f3d940 [truncated by kiro-learn] https://x.example/a_b", 1})
	want := []string{"maxAttempts", "upload/upload.go", "token", "retry", "TLS"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("concepts (-want +got):\n%s", diff)
	}
}

// TestLoopIsRecallable holds the loop story against what a later session asks: some record that shares a word with the
// question must hold the answer.
func TestLoopIsRecallable(t *testing.T) {
	_, lines, _ := parseStory(t, "testdata/stories/loop.txtar")
	events, _ := storyEvents(t, []byte(lines))
	records := Rules(Turns(events), counter())
	for _, q := range []struct{ word, want string }{{"uploader", "three"}, {"retries", "rate-limit"}, {"orders", "purchase_orders"}, {"backoff", "200 ms"}, {"upload.go", "upload/upload.go"}} {
		found := false
		for _, r := range records {
			raw, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(raw), strings.TrimSuffix(q.word, "er")) && strings.Contains(string(raw), q.want)
		}
		if !found {
			t.Errorf("no record has both %q and %q", q.word, q.want)
		}
	}
}

// TestAnyEventsGiveRecordsOfTheContract draws turns of every kind of text and body.
func TestAnyEventsGiveRecordsOfTheContract(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"fix", "We decided to", "because", "upload.go", "a/b/c.go", "error:", "x_y", "200 ms", "always", "instead of", "use", "?", ".", "\n", "```", "FAIL", "请", "。", "\x1b[31m", "\x00", "\u202e",
		"[REDACTED]", "[truncated by kiro-learn]", "## (kiro-learn)", "panic: no", "must not", "<|x|>", "\"", "`", "- ", "> ", "$", "|", "never", strings.Repeat("long", 200), strings.Repeat("w ", 3000), "Exit Code: 1", "\xff",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(words, 0, 30).Draw(t, "words"), rapid.SampledFrom([]string{" ", "", "\n"}).Draw(t, "sep"))
	})
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	tool := rapid.Custom(func(t *rapid.T) []byte {
		name := rapid.SampledFrom([]string{"fs_write", "execute_bash", "read_file", "@jira/get", "x", "", "apply_patch", "fs_read"}).Draw(t, "tool")
		in := rapid.SampledFrom([]string{`{"command":%s}`, `{"path":%s,"text":"x"}`, `{"operations":[{"path":%s}]}`, `{"patch":%s}`, `%s`, `[%s]`, `{"key":%s}`}).Draw(t, "in")
		out := rapid.SampledFrom([]string{`%s`, `{"success":false,"error":%s}`, `{"success":true,"result":[{"exit_status":"1","stderr":%s}]}`, `{"items":[{"Json":{"exit_status":0,"stdout":%s}}]}`, `[[[[[[[%s]]]]]]]`}).Draw(t, "out")
		return fmt.Appendf(nil, `{"tool_name":%q,"tool_input":%s,"tool_response":%s}`, name, fmt.Sprintf(in, quote(text.Draw(t, "i"))), fmt.Sprintf(out, quote(text.Draw(t, "o"))))
	})
	rapid.Check(t, func(t *rapid.T) {
		var events []event.Event
		for i := range rapid.IntRange(1, 12).Draw(t, "events") {
			e := event.Event{
				EventID: storyID(i + 1), SessionID: "s", ActorID: "mia", Namespace: event.Namespace("mia", "p"), SchemaVersion: 1, ValidTime: "2026-11-20T09:00:00.123+01:00",
				Source: event.Source{Surface: event.SurfaceCLI, Version: "1", ClientID: "h", ProjectPath: rapid.SampledFrom([]string{"", "/p", "/", `C:\p`, "a"}).Draw(t, "project")},
			}
			e.Kind = rapid.SampledFrom([]event.Kind{event.KindPrompt, event.KindToolUse, event.KindToolUse, event.KindSessionSummary, event.KindNote}).Draw(t, "kind")
			switch {
			case e.Kind == event.KindToolUse:
				e.Body = event.JSONBody(tool.Draw(t, "tool body"))
			default:
				e.Body = event.TextBody(text.Draw(t, "text"))
			}
			events = append(events, e)
		}
		turns := Turns(events)
		records := Rules(turns, counter())
		for _, r := range records {
			if p := r.Problems(); len(p) > 0 {
				t.Fatalf("%v in %+v", p, r)
			}
			checkPlain(t, r)
		}
		if diff := cmp.Diff(records, Rules(turns, counter())); diff != "" {
			t.Fatalf("not the same again:\n%s", diff)
		}
	})
}

// checkPlain holds the promises beyond the contract: one-line titles and files, no control characters, few of each.
func checkPlain(t interface{ Fatalf(string, ...any) }, r event.Record) {
	for _, s := range append(append([]string{r.Title}, r.FilesTouched...), r.Concepts...) {
		if strings.IndexFunc(s, func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 }) >= 0 {
			t.Fatalf("a control character in %q", s)
		}
	}
	if strings.ContainsAny(r.Summary, "\x00\x07\x1b\r") || strings.TrimSpace(r.Title) == "" {
		t.Fatalf("title %q, summary %q", r.Title, r.Summary)
	}
	if len(r.Concepts) > maxConcepts || len(r.Facts) > maxFacts || len(r.FilesTouched) > maxFiles || len(r.SourceEventIDs) > maxSources {
		t.Fatalf("%d concepts, %d facts, %d files, %d sources", len(r.Concepts), len(r.Facts), len(r.FilesTouched), len(r.SourceEventIDs))
	}
	for _, c := range r.Concepts {
		if strings.Contains(c, "REDACTED") {
			t.Fatalf("concept %q", c)
		}
	}
}

func TestEventsThatBreakTheContractMakeNoRecord(t *testing.T) {
	_, lines, _ := parseStory(t, "testdata/stories/loop.txtar")
	events, _ := storyEvents(t, []byte(lines))
	for i := range events {
		events[i].Namespace = ""
	}
	if got := Rules(Turns(events), counter()); len(got) != 0 {
		t.Errorf("%d records without a namespace", len(got))
	}
	if got := Rules([]Turn{{}}, counter()); len(got) != 0 {
		t.Errorf("%d records of an empty turn", len(got))
	}
}
