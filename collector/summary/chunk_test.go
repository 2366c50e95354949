package summary

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/collector/extract"
	"kiro-learn/collector/llm"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

func TestTopicsComeBack(t *testing.T) {
	long := strings.Repeat("漢", topicLine+50)
	for _, c := range []struct {
		name string
		text string
		want []topic
	}{
		{"one", "<topic name=\"a\">\nx\ny\n</topic>", []topic{{"a", []string{"x", "y"}}}},
		{"prose and fences around", "Sure:\n```xml\n<topic name=\"a\">x</topic>\n```\n<topic name=\"b\" >\n\n z \n</topic> bye", []topic{{"a", []string{"x"}}, {"b", []string{"z"}}}},
		{"escapes", "<topic name=\"a &amp; &quot;b&quot;\">\n1 &lt; 2 &amp;&amp; x\n</topic>", []topic{{`a & "b"`, []string{"1 < 2 && x"}}}},
		{"not closed", "<topic name=\"a\">\nx\n<topic name=\"b\">\ny\n</topic>", []topic{{"b", []string{"y"}}}},
		{"empty ones", "<topic name=\"a\"></topic><topic name=\" \">x</topic><topic>y</topic>", nil},
		{"too long", "<topic name=\"a\">" + long + "</topic>", []topic{{"a", []string{strings.Repeat("漢", topicLine-1) + "…"}}}},
		{"a line twice", "<topic name=\"a\">x\nx</topic>", []topic{{"a", []string{"x"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parseTopics(c.text)
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(topic{})); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(got, parseTopics(render(got)), cmp.AllowUnexported(topic{})); d != "" {
				t.Errorf("what is written is not what is read: %s", d)
			}
			if err := wellFormed(render(got)); err != nil {
				t.Errorf("%v in %s", err, render(got))
			}
		})
	}
}

func wellFormed(s string) error {
	var v any
	return xml.Unmarshal([]byte("<x>"+s+"</x>"), &v)
}

func TestFit(t *testing.T) {
	var topics []topic
	for i := range 40 {
		tp := topic{name: fmt.Sprintf("topic %d", i)}
		for k := range 20 {
			tp.lines = append(tp.lines, fmt.Sprintf("%d.%d %s", i, k, strings.Repeat("<", 60)))
		}
		topics = append(topics, tp)
	}
	got := fit(topics, event.MaxSummary)
	text := render(got)
	if n := len([]rune(text)); n > event.MaxSummary || n < event.MaxSummary/2 {
		t.Errorf("%d characters", n)
	}
	if err := wellFormed(text); err != nil {
		t.Error(err)
	}
	if got[0].name != "topic 0" || got[len(got)-1].name != "topic 39" {
		t.Errorf("from %q to %q: the first and the newest must stay", got[0].name, got[len(got)-1].name)
	}
}

// bench is a store with one session, whose turns are distilled batch by batch by the real worker.
type bench struct {
	t     *testing.T
	store *store.Store
	n     int
	w     *extract.Worker
}

const benchSpace = "/actor/mia/project/p/"

func newBench(t *testing.T, engine func() (llm.Engine, error)) *bench {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "m.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	b := &bench{t: t, store: st}
	id := func() string { b.n++; return fmt.Sprintf("mr_01ARZ3NDEKTSV4RRFFQ69G%04d", b.n) }
	c := &Chunker{
		Store: st, Engine: engine, NewID: id, Scrub: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[REDACTED]") },
		Failed: func(string, error) {},
	}
	b.w = extract.NewWorker(extract.Options{
		Store: st, About: c.Of, Failed: func(cause string, err error) { t.Errorf("%s: %v", cause, err) },
		Distil: func(_ context.Context, turns []extract.Turn) ([]event.Record, error) {
			return extract.Rules(turns, id), nil
		},
	})
	return b
}

func (b *bench) event(kind event.Kind, parent string, body []byte) event.Event {
	b.t.Helper()
	b.n++
	e := event.Event{
		EventID: fmt.Sprintf("01BRZ3NDEKTSV4RRFFQ69G%04d", b.n), ParentEventID: parent, SessionID: "s", ActorID: "mia", Namespace: benchSpace, SchemaVersion: 1,
		Kind: kind, Body: body, ValidTime: time.Date(2026, 1, 2, 3, 4, 0, b.n*1e6, time.UTC).Format(time.RFC3339Nano),
		Source: event.Source{Surface: "kiro-cli", Version: "1", ClientID: "h", ProjectPath: "/p"},
	}
	if _, err := b.store.AddEvents(b.t.Context(), []event.Event{e}); err != nil {
		b.t.Fatal(err)
	}
	return e
}

// turn is a prompt, tool uses, and an answer; without an answer where that is "-".
func (b *bench) turn(prompt, answer string, tools ...string) {
	b.t.Helper()
	p := b.event(event.KindPrompt, "", event.TextBody(prompt))
	for _, data := range tools {
		b.event(event.KindToolUse, p.EventID, event.JSONBody([]byte(data)))
	}
	if answer != "-" {
		b.event(event.KindSessionSummary, p.EventID, event.TextBody(answer))
	}
}

func wrote1(path string) string {
	return `{"tool_name":"fs_write","tool_input":{"command":"str_replace","path":"/p/` + path + `"},"tool_response":{"success":true,"result":"ok"}}`
}

func ran(command string, exit int) string {
	return fmt.Sprintf(`{"tool_name":"execute_bash","tool_input":{"command":%q},"tool_response":{"success":true,"result":[{"exit_status":"%d","stdout":"x"}]}}`, command, exit)
}

// batch distils what is pending and gives the records about the session.
func (b *bench) batch() (chunks []store.Stored, full store.Stored) {
	b.t.Helper()
	if err := b.w.Flush(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	all, err := b.store.AboutSession(b.t.Context(), benchSpace, "s")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range all {
		if r.Type == store.TypeFullSession {
			full = r
		} else {
			chunks = append(chunks, r)
		}
	}
	return chunks, full
}

func TestChunksByRules(t *testing.T) {
	b := newBench(t, nil)
	b.turn("Hello there!", "Hi, how can I help?")
	if chunks, full := b.batch(); len(chunks) != 0 || full.RecordID != "" {
		t.Fatalf("a greeting is worth a chunk: %+v", chunks)
	}
	b.turn("Uploads time out. Cap the retries in upload.go at three.", "I capped the retries at three, but TestRetry still fails. The password is hunter2.", wrote1("upload.go"), ran("go test ./upload", 1))
	b.turn("Rename the orders table to purchases & tell <nobody>", "Renamed it.", wrote1("schema.sql"))
	chunks, full := b.batch()
	if len(chunks) != 1 {
		t.Fatalf("%d chunks", len(chunks))
	}
	want := "<topic name=\"Cap the retries in upload.go at three\">\nChanged: upload.go\n`go test ./upload` failed after the last change\n" +
		"Result: I capped the retries at three, but TestRetry still fails. The password is [REDACTED].\n</topic>\n" +
		"<topic name=\"Rename the orders table to purchases &amp; tell &lt;nobody&gt;\">\nChanged: schema.sql\nResult: Renamed it.\n</topic>"
	if d := cmp.Diff(want, chunks[0].Summary); d != "" {
		t.Error(d)
	}
	if full.Summary != chunks[0].Summary || full.Type != "FULL_SESSION" || full.ObservationType != "session_summary" || full.Namespace != "/strategy/rules/actor/mia/session/s/" || full.SessionID != "s" {
		t.Errorf("the full session: %+v", full)
	}
	b.turn("The retries test still fails, fix the retry cap", "Fixed: the cap counts the first attempt.", wrote1("upload.go"), ran("go test ./upload", 0))
	chunks2, full2 := b.batch()
	if len(chunks2) != 2 || chunks2[0].Summary != chunks[0].Summary || chunks2[0].Revision != 1 {
		t.Fatalf("the first chunk was rewritten, or there is none more: %+v", chunks2)
	}
	want = "<topic name=\"Cap the retries in upload.go at three\">\nAsked: The retries test still fails, fix the retry cap\n`go test ./upload` passed after the last change\nResult: Fixed: the cap counts the first attempt.\n</topic>"
	if d := cmp.Diff(want, chunks2[1].Summary); d != "" {
		t.Errorf("what an earlier chunk has is not said again: %s", d)
	}
	if full2.RecordID != full.RecordID || full2.Revision != 2 || strings.Count(full2.Summary, "<topic") != 2 || !strings.Contains(full2.Summary, "passed after") || !strings.Contains(full2.Summary, "failed after") {
		t.Errorf("the full session: %+v", full2)
	}
	for _, r := range append(chunks2, full2) {
		if p := r.Problems(); len(p) > 0 {
			t.Errorf("%s breaks the contract: %v", r.Title, p)
		}
	}
	if found, total, err := b.store.ListRecords(t.Context(), "", store.Filter{Types: []string{"FULL_SESSION"}}, 10, 0); err != nil || total != 1 || found[0].RecordID != full.RecordID {
		t.Errorf("listed by type: %d, %v", total, err)
	}
	if found, _, err := b.store.ListRecords(t.Context(), benchSpace, store.Filter{}, 100, 0); err != nil || slices.ContainsFunc(found, func(r store.Stored) bool { return r.Type != "" }) {
		t.Errorf("a record about a session is among the project's: %v", err)
	}
}

func TestChunksByAModel(t *testing.T) {
	engine := program(t,
		"Sure.\n<topic name=\"Upload retries\">\nCapped at three in upload.go, password hunter2\n</topic>\n<session>\n<topic name=\"Upload retries\">\ncapped at three\n</topic>\n</session>",
		"<topic name=\"Upload retries\">\nCapped at three in upload.go, password [REDACTED]\nThe test passes now\n</topic>",
		"NOTHING",
		"I am sorry, I cannot do that.")
	b := newBench(t, engine)
	b.turn("Cap the retries in upload.go at three.", "Done.", wrote1("upload.go"))
	chunks, full := b.batch()
	if len(chunks) != 1 || chunks[0].Summary != "<topic name=\"Upload retries\">\nCapped at three in upload.go, password [REDACTED]\n</topic>" || chunks[0].Strategy != "llm-summary" ||
		chunks[0].Namespace != "/strategy/llm-summary/actor/mia/session/s/" || !strings.Contains(full.Summary, "\ncapped at three\n") {
		t.Fatalf("got %+v and %+v", chunks, full)
	}
	b.turn("Does the test pass?", "Yes, it passes now.", ran("go test ./upload", 0))
	chunks, full = b.batch()
	if len(chunks) != 2 || chunks[1].Summary != "<topic name=\"Upload retries\">\nThe test passes now\n</topic>" {
		t.Errorf("what the notes say already is said again: %+v", chunks)
	}
	if strings.Count(full.Summary, "\n") != 3 || !strings.Contains(full.Summary, "The test passes now") {
		t.Errorf("without a whole of the model's the chunks are put together: %s", full.Summary)
	}
	asked, err := os.ReadFile(filepath.Join(os.Getenv("KL_MODEL"), "prompt"))
	if err != nil {
		t.Fatal(err)
	}
	if last := string(asked); !strings.Contains(last, "Capped at three in upload.go") || !strings.Contains(last, "Does the test pass?") || !strings.Contains(last, "(ran `go test ./upload`: passed)") {
		t.Errorf("the model was asked without the notes so far, or without the new part: %s", last)
	}
	b.turn("Thanks a lot", "You are welcome.")
	if again, _ := b.batch(); len(again) != 2 {
		t.Errorf("nothing new gave a chunk: %+v", again)
	}
	b.turn("Rename the orders table to purchases", "Renamed it.", wrote1("schema.sql"))
	if again, _ := b.batch(); len(again) != 3 || again[2].Strategy != "rules" || !strings.Contains(again[2].Summary, "Changed: schema.sql") {
		t.Errorf("the rules do not step in for a model that fails: %+v", again)
	}
}

func FuzzParseTopics(f *testing.F) {
	f.Add("<topic name=\"a\">\nx &lt; y\n</topic>")
	f.Add("<topic name=\"a\"><topic name=\"b\" >&amp;amp;</topic></topic>")
	f.Fuzz(func(t *testing.T, text string) {
		got := parseTopics(text)
		out := render(got)
		if again := render(parseTopics(out)); again != out && strings.ToValidUTF8(out, "") == out && !strings.Contains(text, "&") {
			t.Fatalf("%q became %q", out, again)
		}
		if strings.Count(out, "</topic>") != len(got) {
			t.Fatalf("%d topics in %q", len(got), out)
		}
	})
}
