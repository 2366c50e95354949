package extract

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"kiro-learn/collector/llm"
	"kiro-learn/collector/store"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

// This test program is also the language model: with KL_PLAN set to a directory, its nth run does what the nth word of
// the file "plan" says, and the runs after the last one do as that one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("KL_PLAN"); dir != "" && os.Getenv("KIRO_LEARN_CHILD") == "1" {
		os.Exit(planned(dir))
	}
	os.Exit(m.Run())
}

func planned(dir string) int {
	prompt, err := io.ReadAll(os.Stdin)
	plan, err2 := os.ReadFile(filepath.Join(dir, "plan"))
	calls, err3 := os.OpenFile(filepath.Join(dir, "calls"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err := errors.Join(err, err2, err3); err != nil {
		return 9
	}
	_, _ = calls.WriteString("x")
	info, err := calls.Stat()
	if err != nil {
		return 9
	}
	words := strings.Fields(string(plan))
	say := func(s string) int { _, _ = io.WriteString(os.Stdout, s); return 0 }
	const record = `<memory_record type="decision" turns="1"><title>made by the model</title><summary>zebras</summary></memory_record>`
	switch words[min(int(info.Size()), len(words))-1] {
	case "good":
		if !strings.Contains(string(prompt), "<user_prompt") {
			return 8
		}
		return say(record)
	case "skip":
		return say("<skip/>")
	case "cut":
		return say(record[:len(record)-40])
	case "exit":
		_ = say(record)
		return 3
	case "empty":
		return 0
	case "prose":
		return say("I am sorry, I cannot help with that.")
	case "fenced":
		return say("```\n{\"records\": []}\n```")
	case "html":
		return say("<html><body>502 Bad Gateway</body></html>")
	case "flood":
		return say(strings.Repeat("<memory_record ", 400_000))
	case "binary":
		return say("\xff\xfe\x00\x01\x80")
	case "hang":
		never := make(chan os.Signal, 1)
		signal.Notify(never, os.Interrupt)
		<-never // killed before
	}
	return 7
}

// ledger is a real store, a real model process and a worker between them.
type ledger struct {
	t     *testing.T
	dir   string
	store *store.Store
	db    *sql.DB
	mu    sync.Mutex
	clock time.Time
	n     int
	w     *Worker
}

func (l *ledger) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock
}

type noIndex struct{}

func (noIndex) Version() int                    { return 1 }
func (noIndex) Index(event.Record) store.Fields { return store.Fields{Title: "x"} }

func newLedger(t *testing.T, plan string) *ledger {
	t.Helper()
	l := &ledger{t: t, dir: t.TempDir(), clock: time.Now()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l.plan(plan)
	path := filepath.Join(l.dir, "memory.db")
	if l.store, err = store.Open(path, store.Options{Index: noIndex{}, Now: l.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.store.Close() })
	if l.db, err = sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=query_only(1)&_pragma=busy_timeout(5000)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.db.Close() })
	model, err := llm.New(config.LLM{Engine: "command", Command: []string{self}, Timeout: config.Duration(2 * time.Second)},
		llm.Options{ChildDir: filepath.Join(l.dir, "child"), Environ: append(os.Environ(), "KL_PLAN="+l.dir), Rest: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	newID := func() string { return "mr_" + ulid.Make().String() }
	l.w = NewWorker(Options{
		Store: l.store, Idle: time.Millisecond, BatchBytes: 1 << 20, Now: l.now, Concurrency: 2, Fit: ModelFit,
		Distil: func(ctx context.Context, turns []Turn) ([]event.Record, error) {
			return Model(ctx, model, turns, func(s string) string { return s }, newID)
		},
		Fallback: func(_ context.Context, turns []Turn) ([]event.Record, error) { return Rules(turns, newID), nil },
		Failed: func(_ string, err error) {
			if err != nil && strings.Contains(err.Error(), "zebra") {
				t.Errorf("an event's text in an error: %v", err)
			}
		},
	})
	return l
}

func (l *ledger) plan(words string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, "plan"), []byte(words), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *ledger) turn(session string) {
	l.t.Helper()
	p := mev(0, event.KindPrompt, event.TextBody("We decided to use zebras instead of horses because they are striped."))
	a := mev(0, event.KindSessionSummary, event.TextBody("Zebras it is, in zoo/cage.go."))
	p.EventID, a.EventID = ulid.Make().String(), ulid.Make().String()
	p.SessionID, a.SessionID, a.ParentEventID = session, session, p.EventID
	if _, err := l.store.AddEvents(l.t.Context(), []event.Event{p, a}); err != nil {
		l.t.Fatal(err)
	}
	l.n += 2
}

// books is where every event stands, and what is made of them.
type books struct{ distilled, pending, later, model, rules, history int }

// balance reads the database itself and holds what must be true at every moment.
func (l *ledger) balance() (b books) {
	l.t.Helper()
	var stored, twice int
	err := l.db.QueryRow(`SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM events WHERE pending = 0), (SELECT count(*) FROM events WHERE pending = 1),
		(SELECT count(*) FROM events WHERE pending > 1), (SELECT count(*) FROM records WHERE strategy = 'llm-summary'), (SELECT count(*) FROM records WHERE strategy = 'rules'),
		(SELECT count(*) FROM history), (SELECT count(*) FROM (SELECT j.value FROM records r, json_each(r.sources) j GROUP BY j.value HAVING count(DISTINCT r.strategy) > 1))`).
		Scan(&stored, &b.distilled, &b.pending, &b.later, &b.model, &b.rules, &b.history, &twice)
	if err != nil {
		l.t.Fatal(err)
	}
	if stored != l.n || b.distilled+b.pending+b.later != stored {
		l.t.Fatalf("%d stored, want %d, of which %+v", stored, l.n, b)
	}
	if twice > 0 {
		l.t.Fatalf("%d events are in records of both engines", twice)
	}
	var early int
	if err := l.db.QueryRow("SELECT count(*) FROM records r, json_each(r.sources) j JOIN events e ON e.event_id = j.value WHERE e.pending = 1").Scan(&early); err != nil || early > 0 {
		l.t.Fatalf("%d records of events that are pending, %v", early, err)
	}
	return b
}

// run lets time pass and the worker work until nothing waits, or until there was no change for long.
func (l *ledger) run() (b books) {
	l.t.Helper()
	for range 24 {
		l.mu.Lock()
		l.clock = l.clock.Add(7 * time.Hour) // longer than any pause
		l.mu.Unlock()
		if _, err := l.w.once(l.t.Context(), false); err != nil {
			l.t.Fatal(err)
		}
		if b = l.balance(); b.pending == 0 && b.later == 0 {
			return b
		}
	}
	return b
}

func TestTheLedgerIsBalancedWhateverTheModelDoes(t *testing.T) {
	for _, c := range []struct {
		name, plan string
		want       books // of one turn
	}{
		{"good", "good", books{distilled: 2, model: 1}},
		{"nothing worth keeping", "skip", books{distilled: 2}},
		{"cut off", "cut good", books{distilled: 2, model: 1}},
		{"always cut off", "cut", books{distilled: 2, rules: 2}},
		{"one failure", "exit good", books{distilled: 2, model: 1}},
		{"two failures", "prose empty good", books{distilled: 2, model: 1}},
		{"it hangs once", "hang good", books{distilled: 2, model: 1}},
		{"so long that the rules step in, then it works", "exit prose empty good", books{distilled: 2, model: 1, history: 2}},
		{"the rules step in, then nothing is worth keeping", "exit exit exit skip", books{distilled: 2, rules: 2}},
		{"always exits", "exit", books{distilled: 2, rules: 2}},
		{"always empty", "empty", books{distilled: 2, rules: 2}},
		{"always prose", "prose", books{distilled: 2, rules: 2}},
		{"always fenced JSON", "fenced", books{distilled: 2, rules: 2}},
		{"always HTML", "html", books{distilled: 2, rules: 2}},
		{"always floods", "flood", books{distilled: 2, rules: 2}},
		{"always binary", "binary", books{distilled: 2, rules: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, c.plan)
			l.turn("s")
			if b := l.balance(); b.pending != 2 {
				t.Fatalf("%+v", b)
			}
			if got := l.run(); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestFlushDoesNotWaitForABrokenModel(t *testing.T) {
	l := newLedger(t, "exit")
	l.turn("s")
	l.turn("t")
	if err := l.w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b := l.balance(); b.pending != 0 || b.later != 4 || b.rules != 4 {
		t.Errorf("%+v", b)
	}
}

func TestAWorkerThatIsStoppedInABatchLosesNothing(t *testing.T) {
	l := newLedger(t, "hang good")
	l.turn("s")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := l.w.once(ctx, true); done <- err }()
	for end := time.Now().Add(10 * time.Second); ; {
		if _, err := os.Stat(filepath.Join(l.dir, "calls")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the model was not asked")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("gave %v", err)
	}
	if b := l.balance(); b.pending != 2 || b.model+b.rules != 0 {
		t.Errorf("%+v", b)
	}
	if b := l.run(); b != (books{distilled: 2, model: 1}) {
		t.Errorf("%+v", b)
	}
}

func TestEventsThatComeDuringACallWaitForTheNextBatch(t *testing.T) {
	l := newLedger(t, "good")
	l.turn("s")
	in := l.w.o.Distil
	l.w.o.Distil = func(ctx context.Context, turns []Turn) ([]event.Record, error) {
		if l.n == 2 {
			l.turn("s")
		}
		return in(ctx, turns)
	}
	if _, err := l.w.once(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if b := l.balance(); b != (books{distilled: 2, pending: 2, model: 1}) {
		t.Errorf("%+v", b)
	}
	if b := l.run(); b != (books{distilled: 4, model: 2}) {
		t.Errorf("%+v", b)
	}
}

// TestAFixIsSeenWithTheFailureBeforeIt: the failure was distilled in an earlier batch, while the turn was running.
func TestAFixIsSeenWithTheFailureBeforeIt(t *testing.T) {
	l := newLedger(t, "good")
	l.w.o.Distil, l.w.o.Fallback, l.w.o.Fit = l.w.o.Fallback, nil, nil
	bash := func(command, out string, exit int) []byte {
		return event.JSONBody(fmt.Appendf(nil, `{"tool_name":"execute_bash","tool_input":{"command":%q},"tool_response":{"result":[{"Json":{"exit_status":"exit status: %d","stdout":%q,"stderr":""}}]}}`, command, exit, out))
	}
	var prompt string
	add := func(kind event.Kind, body []byte) {
		t.Helper()
		e := mev(0, kind, body)
		e.EventID, e.ParentEventID = ulid.Make().String(), prompt
		if kind == event.KindPrompt {
			prompt = e.EventID
		}
		if _, err := l.store.AddEvents(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
		l.n++
	}
	add(event.KindPrompt, event.TextBody("Make the upload tests pass."))
	add(event.KindToolUse, bash("go test ./upload", "--- FAIL: TestUpload\n    upload_test.go:12: got 4 retries, want 3\nFAIL", 1))
	if _, err := l.w.once(t.Context(), true); err != nil { // ten minutes went by
		t.Fatal(err)
	}
	add(event.KindToolUse, event.JSONBody([]byte(`{"tool_name":"fs_write","tool_input":{"command":"str_replace","path":"/p/upload/upload.go"},"tool_response":{"success":true}}`)))
	add(event.KindToolUse, bash("go test ./upload", "ok  \tupload\t0.1s", 0))
	add(event.KindSessionSummary, event.TextBody("The retries are capped at three in upload/upload.go."))
	if _, err := l.w.once(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	l.balance()
	items, _, err := l.store.ListRecords(t.Context(), "", store.Filter{Types: []string{event.TypeError}}, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range items {
		all = append(all, r.Summary)
	}
	if s := strings.Join(all, "\n---\n"); !strings.Contains(s, "upload/upload.go") || !strings.Contains(s, "passed") {
		t.Errorf("the fix is not told:\n%s", s)
	}
}
