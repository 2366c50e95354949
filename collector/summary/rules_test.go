package summary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/collector/llm"
	"kiro-learn/internal/config"
)

// longSession is a recorded working day: three goals that interleave, one of them merged and not verified, one that is
// taken back, a question, a resend, a notice of a program, an offer that nobody took up, a rule, and a turn that was
// broken off.
func longSession(b *bench) {
	b.turn("Hi Kiro!", "Hello! What shall we do?")                                                                                                                                          // 1
	b.turn("Uploads time out. Please cap the retries in upload.go at three.", "I capped the retries at three, but TestRetry still fails.", wrote1("upload.go"), ran("go test ./upload", 1)) // 2
	b.turn("Rename the orders table to purchases in the schema.", "I renamed the table in schema.sql. I could also migrate the old rows if you want.", wrote1("schema.sql"))                // 3
	b.turn("The retry test still fails. Fix the retry cap in upload.go.", "The cap now counts the first attempt, and the tests pass.", wrote1("upload.go"), ran("go test ./upload", 0))     // 4
	b.turn("Which port does the collector listen on?", "It listens on port 8080, which config.go sets.")                                                                                    // 5
	b.turn("[workflow] nightly build 381 has finished: green", "Noted.")                                                                                                                    // automation
	b.turn("Never mind the orders table rename. From now on we never touch the schema by hand.", "I put schema.sql back as it was.", wrote1("schema.sql"))                                  // 6
	b.turn("Add a health endpoint to server.go and merge it.", "I added /health to server.go and merged it.\n\n**Next steps**\n- Roll it out to staging\n- [x] Write the handler\n\nWould you like me to add metrics as well?",
		wrote1("server.go"), ran("git commit -am health", 0), ran("git push", 0)) // 7
	b.turn("Add a health endpoint to server.go and merge it.", "It is in already.")     // 8, a resend
	b.turn("Describe the release process in RELEASING.md", "-", wrote1("RELEASING.md")) // 9, broken off
}

func (b *bench) maker(engine func() (llm.Engine, error), change func(*config.SessionSummary)) *Maker {
	cfg := config.Default().SessionSummary
	cfg.Enabled = true
	if change != nil {
		change(&cfg)
	}
	return NewMaker(Options{
		Store: b.store, Config: cfg, Engine: engine, Scrub: func(j []byte) []byte { return j }, Remembers: func(string) bool { return true },
		Busy: func(int) {}, Declines: func(string) {}, Failed: func(string, error) {},
	})
}

func TestOutlineOfALongSession(t *testing.T) {
	b := newBench(t, nil)
	longSession(b)
	v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	n := func(i int) *int { return &i }
	want := Doc{
		Intents: []Intent{
			{
				Title: "Describe the release process in RELEASING.md", Ranges: [][2]int{{9, 9}}, Status: "active", State: "in-progress", LastTouchedTurn: 9, OriginTurn: n(9),
				InitialIntent: "Describe the release process in RELEASING.md",
				Progress:      []string{"changed RELEASING.md", "not checked by a test or build since the last change"}, NextSteps: []Step{},
			},
			{
				Title: "Add a health endpoint to server.go and merge it", Ranges: [][2]int{{7, 8}}, Status: "active", State: "in-progress", LastTouchedTurn: 8, OriginTurn: n(7),
				InitialIntent: "Add a health endpoint to server.go and merge it.",
				Progress:      []string{"changed server.go", "not checked by a test or build since the last change", "ran `git push`", "the agent said: It is in already."},
				NextSteps:     []Step{{What: "Roll it out to staging"}},
			},
			{
				Title: "Rename the orders table to purchases in the schema", Ranges: [][2]int{{3, 3}, {6, 6}}, Status: "abandoned", State: "dropped", LastTouchedTurn: 6, OriginTurn: n(3),
				InitialIntent: "Rename the orders table to purchases in the schema.",
				Progress:      []string{"changed schema.sql", "not checked by a test or build since the last change", "the agent said: I put schema.sql back as it was."}, NextSteps: []Step{},
			},
			{
				Title: "Which port does the collector listen on?", Ranges: [][2]int{{5, 5}}, Status: "completed", State: "done", LastTouchedTurn: 5, OriginTurn: n(5),
				InitialIntent: "Which port does the collector listen on?",
				Progress:      []string{"answered: It listens on port 8080, which config.go sets."}, NextSteps: []Step{},
			},
			{
				Title: "Cap the retries in upload.go at three", Ranges: [][2]int{{2, 2}, {4, 4}}, Status: "completed", Verified: &yes, State: "done", LastTouchedTurn: 4, OriginTurn: n(2),
				InitialIntent: "Uploads time out. Please cap the retries in upload.go at three.",
				Progress:      []string{"changed upload.go", "`go test ./upload` passed after the last change", "the agent said: The cap now counts the first attempt, and the tests pass."}, NextSteps: []Step{},
			},
		},
		Constraints: []string{"From now on we never touch the schema by hand."},
	}
	if d := cmp.Diff(want, v.Doc); d != "" {
		t.Error(d)
	}
	if v.UserTurns != 9 {
		t.Errorf("%d turns are counted as the person's, want 9", v.UserTurns)
	}
}

// What events do not show is not claimed.
func TestOutlineClaimsNothing(t *testing.T) {
	for _, c := range []struct {
		name     string
		play     func(b *bench)
		status   string
		verified any
		steps    int
	}{
		{"a test that passed before the last change", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "Done.", wrote1("upload.go"), ran("go test ./upload", 0), wrote1("upload.go"))
		}, "active", nil, 0},
		{"a test that failed after it", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "All done, everything works!", wrote1("upload.go"), ran("go test ./upload", 1))
		}, "active", false, 0},
		{"a test that failed and then passed", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "Done.", wrote1("upload.go"), ran("go test ./upload", 1), ran("go test ./upload", 0))
		}, "completed", true, 0},
		{"a build that passed and a test that did not", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "Done.", wrote1("upload.go"), ran("go build ./...", 0), ran("go test ./upload", 1))
		}, "active", false, 0},
		{"a command that is no check", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "Done.", wrote1("upload.go"), ran("docker compose up -d", 0), ran("git push", 0))
		}, "active", nil, 0},
		{"nothing but the agent's word", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "I have capped and verified it, all tests pass.")
		}, "active", nil, 0},
		{"a change that passed and something left", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "The cap is in. You still need to rotate the token.", wrote1("upload.go"), ran("go test ./upload", 0))
		}, "active", true, 1},
		{"an offer", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "The cap is in.\n\nNext steps:\n- I can add a metric if you want", wrote1("upload.go"), ran("go test ./upload", 0))
		}, "completed", true, 0},
		{"a step that may have been done since", func(b *bench) {
			b.turn("Cap the retries in upload.go at three", "Next steps:\n- run the tests", wrote1("upload.go"))
			b.turn("Cap the retries in upload.go at three, and test it", "-", ran("go test ./upload", 0))
		}, "active", true, 0},
		{"a question without an answer", func(b *bench) { b.turn("Which port does the collector listen on?", "") }, "active", nil, 0},
		{"a question that is answered with one", func(b *bench) {
			b.turn("Which port does the collector listen on?", "Do you mean the one in config.go?")
		}, "active", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			c.play(b)
			v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
			if err != nil || len(v.Intents) != 1 {
				t.Fatalf("%d intents, %v: %+v", len(v.Intents), err, v.Intents)
			}
			in := v.Intents[0]
			verified := any(nil)
			if in.Verified != nil {
				verified = *in.Verified
			}
			if in.Status != c.status || verified != c.verified || len(in.NextSteps) != c.steps {
				t.Errorf("status %s, verified %v, steps %v; want %s, %v and %d", in.Status, verified, in.NextSteps, c.status, c.verified, c.steps)
			}
		})
	}
}

// What is done for one goal may undo or refute what was shown of another, and what tools report may say less than it seems.
func TestOutlineKnowsWhatItDoesNotKnow(t *testing.T) {
	const ask, other = "Cap the retries in upload.go at three", "Describe the billing webhook in billing.go"
	report := func(command string, exit int, out string) string {
		b, err := json.Marshal(map[string]any{"tool_name": "execute_bash", "tool_input": map[string]string{"command": command}, "tool_response": map[string]any{"success": true, "result": []any{map[string]any{"exit_status": fmt.Sprint(exit), "stdout": out}}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	passed := ran("go test ./upload", 0)
	agent := `{"tool_name":"invoke_sub_agent","tool_input":{"prompt":"tidy up"},"tool_response":"done"}`
	type wanted struct {
		status   string
		verified any
		says     string // in its progress
	}
	for _, c := range []struct {
		name string
		play func(b *bench)
		want wanted
	}{
		{"another goal changes the file again", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed)
			b.turn(other, "Done.", wrote1("billing.go"), wrote1("upload.go"))
		}, wanted{"active", nil, "not checked by a test or build since the last change"}},
		{"another goal changes another file", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed)
			b.turn(other, "Done.", wrote1("billing.go"))
		}, wanted{"completed", true, "`go test ./upload` passed"}},
		{"its test fails for another goal", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed)
			b.turn(other, "Done.", wrote1("billing.go"), ran("go test ./upload", 1))
		}, wanted{"active", false, "`go test ./upload` failed"}},
		{"more tests fail for another goal", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed)
			b.turn(other, "Done.", wrote1("billing.go"), ran("go test ./...", 1))
		}, wanted{"active", nil, "`go test ./...` failed since in other work"}},
		{"more tests fail and then pass for another goal", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed)
			b.turn(other, "Done.", wrote1("billing.go"), ran("go test ./...", 1), wrote1("billing.go"), ran("go test ./...", 0))
		}, wanted{"completed", true, "`go test ./...` passed"}},
		{"tests of another goal only", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"))
			b.turn(other, "Done.", wrote1("billing.go"), ran("go test ./...", 0))
		}, wanted{"active", nil, "not checked"}},
		{"one target fails and another passes", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), ran("go test ./upload", 1), ran("go test ./retry", 0))
		}, wanted{"active", false, "`go test ./upload` failed"}},
		{"one target fails and then all pass", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), ran("go test ./upload", 1), wrote1("upload.go"), ran("go test ./...", 0))
		}, wanted{"completed", true, "`go test ./...` passed after the last change"}},
		{"it fails and passes without a change", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), ran("go test ./upload", 1), passed)
		}, wanted{"completed", true, "having failed before without a change"}},
		{"it passes and then fails without a change", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed, ran("go test ./upload", 1))
		}, wanted{"active", false, "failed"}},
		{"or true", func(b *bench) { b.turn(ask, "Done.", wrote1("upload.go"), ran("go test ./upload || true", 0)) }, wanted{"active", nil, "not checked"}},
		{"echo passed", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), report("go test ./upload; echo passed", 0, "1 passed"))
		}, wanted{"active", nil, "not checked"}},
		{"none failed", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), report("pytest", 0, "4 passed, 0 failed"))
		}, wanted{"completed", true, "`pytest` passed"}},
		{"some failed, and the status is zero", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), report("npm test", 0, "Tests: 2 failed, 4 passed"))
		}, wanted{"active", false, "`npm test` failed"}},
		{"there is no test", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), report("go test ./upload", 0, "?   shop/upload [no test files]"))
		}, wanted{"active", nil, "not checked"}},
		{"a linter", func(b *bench) { b.turn(ask, "Done.", wrote1("upload.go"), ran("golangci-lint run", 0)) }, wanted{"active", nil, "not checked"}},
		{"it was put back after the test", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed, ran("git checkout -- upload.go", 0))
		}, wanted{"active", nil, "since"}},
		{"merged after the test", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed, ran("git merge main", 0), ran("git push", 0))
		}, wanted{"active", nil, "not checked by a test or build since `git merge main`"}},
		{"committed after the test", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed, ran("git commit -am cap", 0))
		}, wanted{"completed", true, "passed"}},
		{"a formatter after the test", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed, ran("gofmt -w .", 0))
		}, wanted{"active", nil, "since `gofmt -w .`"}},
		{"another agent after the test", func(b *bench) { b.turn(ask, "Done.", wrote1("upload.go"), passed, agent) }, wanted{"active", nil, "not checked"}},
		{"asked for more, and nothing was done", func(b *bench) {
			b.turn(ask, "Done.", wrote1("upload.go"), passed)
			b.turn("Log the retries in upload.go as well", "Sure.")
		}, wanted{"active", true, "passed"}},
		{"two wishes, and one was done", func(b *bench) {
			b.turn("Cap the retries in upload.go at three. Rename the orders table in schema.sql.", "Done.", wrote1("upload.go"), passed)
		}, wanted{"active", true, "passed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			c.play(b)
			v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
			if err != nil || len(v.Intents) == 0 {
				t.Fatal(v, err)
			}
			in := v.Intents[len(v.Intents)-1]
			got := wanted{in.Status, any(nil), c.want.says}
			if in.Verified != nil {
				got.verified = *in.Verified
			}
			if got != c.want || !strings.Contains(strings.Join(in.Progress, "; "), c.want.says) {
				t.Errorf("status %s, verified %v, progress %q; want %+v", in.Status, got.verified, in.Progress, c.want)
			}
		})
	}
}

// What the agent waits for is told, and what it merely offers is not.
func TestOutlineTellsWhatTheAgentAsked(t *testing.T) {
	b := newBench(t, nil)
	b.turn("Rename the orders table to purchases", "There are two orders tables. Which one do you mean?")
	b.turn("Describe the release process in RELEASING.md", "Written. Would you like me to add a checklist?", wrote1("RELEASING.md"))
	v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
	if err != nil || len(v.Intents) != 2 {
		t.Fatal(v, err)
	}
	want := [][]string{
		{"changed RELEASING.md", "not checked by a test or build since the last change", "the agent said: Written."},
		{"the agent said: There are two orders tables.", "the agent asked: Which one do you mean?"},
	}
	if d := cmp.Diff(want, [][]string{v.Intents[0].Progress, v.Intents[1].Progress}); d != "" {
		t.Error(d)
	}
}

// An answer that gives none does not answer a question, in whatever language.
func TestOutlineOfQuestions(t *testing.T) {
	for _, c := range []struct{ question, answer, state string }{
		{"Which port does the collector listen on?", "It listens on 8080.", StateDone},
		{"Which port does the collector listen on?", "I don't know.", StateInProgress},
		{"Which port does the collector listen on?", "I'm not sure which one it is.", StateInProgress},
		{"Which port does the collector listen on?", "Let me look at config.go first.", StateInProgress},
		{"Which port does the collector listen on?", "I'll check the configuration.", StateInProgress},
		{"Which port does the collector listen on?", "I cannot tell from the code.", StateInProgress},
		{"Which port does the collector listen on?", "Sorry, the request failed with an internal error.", StateInProgress},
		{"Which port does the collector listen on?", "...", StateInProgress},
		{"Welchen Port nutzt der Collector?", "Er nutzt Port 8080.", StateDone},
		{"Welchen Port nutzt der Collector?", "Das weiß ich leider nicht.", StateInProgress},
		{"¿Qué puerto usa el colector?", "No lo sé todavía.", StateInProgress},
		{"Quel port utilise le collecteur ?", "Je ne sais pas.", StateInProgress},
		{"コレクターはどのポートを使いますか？", "分かりません。", StateInProgress},
		{"收集器用哪个端口？", "我不知道。", StateInProgress},
	} {
		t.Run(c.answer, func(t *testing.T) {
			b := newBench(t, nil)
			b.turn(c.question, c.answer)
			v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range v.Intents {
				if in.State != c.state || in.Verified != nil {
					t.Errorf("%q: %s, verified %v, want %s", in.Title, in.State, in.Verified, c.state)
				}
			}
			if len(v.Intents) != 1 {
				t.Errorf("%d intents", len(v.Intents))
			}
		})
	}
}

func TestRetraction(t *testing.T) {
	for _, c := range []struct {
		name, said string
		dropped    []string
		others     int // intents that are not
	}{
		{"by name", "Never mind the orders table rename.", []string{"Rename the orders table to purchases"}, 1},
		{"the one before it by name", "Forget about the retry cap.", []string{"Cap the retries in upload.go at three"}, 1},
		{"that", "Scrap that.", []string{"Rename the orders table to purchases"}, 1},
		{"after all", "Let's leave the orders table as it is after all.", []string{"Rename the orders table to purchases"}, 1},
		{"and something new", "Never mind the orders table rename. Add a health endpoint to server.go.", []string{"Rename the orders table to purchases"}, 2},
		{"not to be forgotten", "Don't forget about the orders table rename.", nil, 2},
		{"a question", "Should we scrap the orders table rename?", nil, 2},
		{"a request to drop a table", "Drop the legacy users view from the database.", nil, 3},
		{"a word against another", "Never mind the typo, but please finish the orders table rename.", nil, 2},
		{"a wish about cancelling", "Add a way to cancel the orders table import.", nil, 3},
		{"not to forget", "Let's not forget the tests of the retry cap.", nil, 2},
		{"a condition, not a retraction", "Skip it when the orders table is empty.", nil, 3},
		{"that, in a few words", "Actually, forget it for now.", []string{"Rename the orders table to purchases"}, 1},
		{"of something that nobody asked for", "Never mind the frontend login redesign proposal.", nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.turn("Cap the retries in upload.go at three", "Done.", wrote1("upload.go"))
			b.turn("Rename the orders table to purchases", "Done.", wrote1("schema.sql"))
			b.turn(c.said, "Fine.")
			v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
			if err != nil {
				t.Fatal(err)
			}
			var dropped []string
			others := 0
			for _, in := range v.Intents {
				if in.State == StateDropped {
					dropped = append(dropped, in.Title)
				} else {
					others++
				}
			}
			if !slices.Equal(dropped, c.dropped) || others != c.others {
				t.Errorf("dropped %q and %d others, want %q and %d", dropped, others, c.dropped, c.others)
			}
		})
	}
}

// The same session with a model: the test program itself, run by the engine "command".
func TestModelOfALongSession(t *testing.T) {
	b := newBench(t, nil)
	longSession(b)
	m := b.maker(program(t, `Here is what I found:
{"intents": [
 {"title": "Cap the upload retries", "ranges": [[2, 2], [4, 4]], "status": "completed", "verified": true, "origin_turn": 2, "initial_intent": "Uploads time out", "progress": ["the cap is three and counts the first attempt"], "next_steps": []},
 {"title": "Rename the orders table", "ranges": [[3, 3], [6, 6]], "status": "abandoned", "verified": null, "origin_turn": 3, "initial_intent": "naming", "progress": ["schema.sql is as it was"], "next_steps": []},
 {"title": "Know the port", "ranges": [[5, 5]], "status": "completed", "verified": null, "origin_turn": 5, "initial_intent": "", "progress": ["8080"], "next_steps": []},
 {"title": "Health endpoint", "ranges": [[7, 8]], "status": "completed", "verified": false, "origin_turn": 7, "initial_intent": "", "progress": ["merged, not seen working"], "next_steps": [{"what": "Roll it out to staging", "why": "nobody has called it", "expect": "GET /health gives 200"}]},
 {"title": "Describe releases", "ranges": [[9, 9], [10, 10]], "status": "active", "verified": null, "origin_turn": 9, "initial_intent": "", "progress": [], "next_steps": []}],
 "constraints": ["never touch the schema by hand"]}`), nil)
	v, err := m.Request(t.Context(), benchSpace, "s")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range v.Intents {
		got = append(got, in.Title+": "+in.State)
	}
	want := []string{"Describe releases: in-progress", "Health endpoint: needs-you", "Rename the orders table: dropped", "Know the port: done", "Cap the upload retries: done"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if v.State() != StateNeedsYou || v.UserTurns != 9 || v.Stale || v.Generated == nil || len(v.Intents[0].Ranges) != 1 {
		t.Errorf("%+v", v)
	}
	if d := cmp.Diff([]string{"Roll it out to staging (nobody has called it)"}, v.Open()); d != "" {
		t.Error(d)
	}
	prompt, err := os.ReadFile(filepath.Join(os.Getenv("KL_MODEL"), "prompt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"--- turn 8: the person (a verbatim repeat of turn 7) ---", "--- automation, not the person, not counted ---\n[workflow] nightly build 381",
		"--- this turn has no end: it was interrupted ---", "The session has 9 turns of the person",
	} {
		if !strings.Contains(string(prompt), s) {
			t.Errorf("the prompt does not say %q", s)
		}
	}
	if strings.Contains(string(prompt), "go test") {
		t.Error("what tools were told is in the prompt")
	}
}

// program is the engine "command" with this test program, which answers with the replies in turn, and then fails.
func program(t *testing.T, replies ...string) func() (llm.Engine, error) {
	t.Helper()
	dir := t.TempDir()
	b, err := json.Marshal(replies)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "replies"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KL_MODEL", dir)
	engine, err := llm.New(config.LLM{Engine: "command", Command: []string{self}, Timeout: config.Duration(30 * time.Second)}, llm.Options{ChildDir: filepath.Join(dir, "child")})
	return func() (llm.Engine, error) { return engine, err }
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("KL_MODEL"); dir != "" && os.Getenv("KIRO_LEARN_CHILD") == "1" {
		os.Exit(answer(dir))
	}
	os.Exit(m.Run())
}

// answer is the model: it keeps the prompt, and gives the first reply that has not been given.
func answer(dir string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil || os.WriteFile(filepath.Join(dir, "prompt"), prompt, 0o600) != nil {
		return 1
	}
	var replies []string
	b, err := os.ReadFile(filepath.Join(dir, "replies"))
	if err != nil || json.Unmarshal(b, &replies) != nil || len(replies) == 0 {
		return 2
	}
	if b, err = json.Marshal(replies[1:]); err != nil || os.WriteFile(filepath.Join(dir, "replies"), b, 0o600) != nil {
		return 3
	}
	if _, err := os.Stdout.WriteString(replies[0]); err != nil {
		return 4
	}
	return 0
}

func TestMakerWithoutASession(t *testing.T) {
	b := newBench(t, nil)
	m := b.maker(program(t), nil)
	for what, ask := range map[string]func(context.Context, string, string) (View, error){"get": m.Get, "request": m.Request, "outline": m.Outline} {
		for _, ns := range []string{"", benchSpace, "/actor/x/project/y/"} {
			var d *Declined
			if _, err := ask(t.Context(), ns, "nosuch"); !errors.As(err, &d) || d.Code != CodeNotFound {
				t.Errorf("%s in %q gives %v", what, ns, err)
			}
		}
	}
}

// Goals that share a thing or a verb are not one goal.
func TestOutlineTellsGoalsApart(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []string
		want  []string // title: state, the last touched first
	}{
		{
			"one table, two wishes",
			[]string{"Rename the orders table to purchases", "Done.", "Add an index on customer_id to the orders table", "Done."},
			[]string{"Add an index on customer_id to the orders table: in-progress", "Rename the orders table to purchases: in-progress"},
		},
		{
			"thanks answers nothing",
			[]string{"Which port does the collector use?", "It uses 8080.", "Thanks!", "You're welcome!"},
			[]string{"Which port does the collector use?: done"},
		},
		{
			"going on",
			[]string{"Cap the retries in upload.go at three", "Half of it is done.", "ok go on", "Done.", "it still fails, try again", "Fixed."},
			[]string{"Cap the retries in upload.go at three: in-progress"},
		},
		{
			"in other words",
			[]string{"The upload retries never stop, cap them at three", "Done.", "Which port does it use?", "8080 it is.", "cap the upload retries at five instead", "Done."},
			[]string{"The upload retries never stop, cap them at three: in-progress", "Which port does it use?: done"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			for i := 0; i < len(c.turns); i += 2 {
				b.turn(c.turns[i], c.turns[i+1])
			}
			v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, in := range v.Intents {
				got = append(got, in.Title+": "+in.State)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOutlineOfWhatWasOnlyRun(t *testing.T) {
	for _, c := range []struct {
		name, prompt, command string
		exit                  int
		want                  string
	}{
		{"a commit", "Commit everything", "git commit -am x", 0, StateDone},
		{"a commit that failed", "Commit everything", "git commit -am x", 1, StateInProgress},
		{"a search for a cause", "Find out why the server crashes", "curl localhost:8080", 0, StateInProgress},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.turn(c.prompt, "Here you are.", ran(c.command, c.exit))
			v, err := b.maker(nil, nil).Outline(t.Context(), benchSpace, "s")
			if err != nil || len(v.Intents) != 1 || v.Intents[0].State != c.want || v.Intents[0].Verified != nil {
				t.Errorf("%v %+v", err, v.Intents)
			}
		})
	}
}
