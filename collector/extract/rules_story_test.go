package extract

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

var update = flag.Bool("update", false, "write the records the stories give into their files")

// storyLine is one event of a story in short: what the hooks make of Kiro's payload, without what all events have.
type storyLine struct {
	Prompt   any             `json:"prompt"` // a string, or a list of turns
	Tool     string          `json:"tool"`
	Input    json.RawMessage `json:"input"`
	Response json.RawMessage `json:"response"`
	Data     json.RawMessage `json:"data"` // a whole tool body, for odd ones
	Answer   *string         `json:"answer"`
	Note     *string         `json:"note"`
	Project  string          `json:"project"` // path of the project, /home/mia/shop by default
	Old      bool            `json:"old"`     // distilled in an earlier batch
	Late     bool            `json:"late"`    // belongs to the first prompt
	Repeat   int             `json:"repeat"`  // so many of this tool use, with %d in its input counted up
}

func storyID(n int) string { return fmt.Sprintf("01KAGS8M00%016d", n) }

// storyEvents expands lines to events; old tells which were distilled before.
func storyEvents(t testing.TB, lines []byte) (events []event.Event, old map[string]bool) {
	t.Helper()
	old = make(map[string]bool)
	first, parent := "", ""
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, raw := range bytes.Split(bytes.TrimSpace(lines), []byte("\n")) {
		var l storyLine
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatalf("line %s: %v", raw, err)
		}
		for n := range max(1, l.Repeat) {
			id := storyID(len(events) + 1)
			e := event.Event{
				EventID: id, ParentEventID: parent, SessionID: "s", ActorID: "mia", SchemaVersion: event.SchemaVersion,
				ValidTime: start.Add(time.Duration(len(events)) * time.Second).Format(time.RFC3339),
				Source:    event.Source{Surface: event.SurfaceCLI, Version: "1.0.0", ClientID: "host", ProjectPath: "/home/mia/shop"},
			}
			if l.Project != "" {
				e.Source.ProjectPath = l.Project
			}
			e.Namespace = event.Namespace("mia", strings.NewReplacer("/", "_", `\`, "_", ":", "").Replace(e.Source.ProjectPath))
			if l.Late {
				e.ParentEventID = first
			}
			fillStoryEvent(t, &e, l, n)
			if e.Kind == event.KindPrompt {
				parent, e.ParentEventID = id, ""
				if first == "" {
					first = id
				}
			}
			old[id] = l.Old
			events = append(events, e)
		}
	}
	return events, old
}

func fillStoryEvent(t testing.TB, e *event.Event, l storyLine, n int) {
	t.Helper()
	switch {
	case l.Answer != nil:
		e.Kind, e.Body = event.KindSessionSummary, event.TextBody(*l.Answer)
	case l.Note != nil:
		e.Kind, e.Body = event.KindNote, event.TextBody(*l.Note)
	case l.Data != nil:
		e.Kind, e.Body = event.KindToolUse, event.JSONBody(l.Data)
	case l.Tool != "":
		in, out := []byte("{}"), []byte("null")
		if l.Input != nil {
			in = bytes.ReplaceAll(l.Input, []byte("%d"), fmt.Append(nil, n))
		}
		if l.Response != nil {
			out = l.Response
		}
		e.Kind, e.Body = event.KindToolUse, event.JSONBody(fmt.Appendf(nil, `{"tool_name":%q,"tool_input":%s,"tool_response":%s}`, l.Tool, in, out))
	default:
		e.Kind = event.KindPrompt
		if s, ok := l.Prompt.(string); ok {
			e.Body = event.TextBody(s)
			return
		}
		raw, err := json.Marshal(l.Prompt)
		if err != nil {
			t.Fatal(err)
		}
		var turns []event.Turn
		if err := json.Unmarshal(raw, &turns); err != nil {
			t.Fatalf("prompt is neither a string nor turns: %v", err)
		}
		e.Body = event.MessageBody(turns)
	}
}

// markOld tells turns what of them was distilled before, as the worker does.
func markOld(turns []Turn, old map[string]bool) []Turn {
	for i := range turns {
		t := &turns[i]
		if t.Prompt != nil && old[t.Prompt.EventID] {
			t.Continued = true
		}
		for t.Seen < len(t.Tools) && old[t.Tools[t.Seen].EventID] {
			t.Seen++
		}
	}
	return turns
}

func counter() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("mr_01KAGT0000%016d", n) }
}

// readable writes records as text; sources by their place in the story.
func readable(records []event.Record, events []event.Event) string {
	at := make(map[string]string)
	for i, e := range events {
		at[e.EventID] = fmt.Sprint(i + 1)
	}
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "[%s] %s\n", r.ObservationType, r.Title)
		for _, l := range strings.Split(r.Summary, "\n") {
			fmt.Fprintf(&b, "    %s\n", l)
		}
		for _, f := range r.Facts {
			fmt.Fprintf(&b, "  - %s\n", f)
		}
		if len(r.Concepts) > 0 {
			fmt.Fprintf(&b, "  concepts: %s\n", strings.Join(r.Concepts, ", "))
		}
		if len(r.FilesTouched) > 0 {
			fmt.Fprintf(&b, "  files: %s\n", strings.Join(r.FilesTouched, ", "))
		}
		var src []string
		for _, id := range r.SourceEventIDs {
			src = append(src, at[id])
		}
		fmt.Fprintf(&b, "  from: %s at %s in %s\n\n", strings.Join(src, " "), r.CreatedAt[11:], r.Namespace)
	}
	if len(records) == 0 {
		return "nothing\n"
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func storyFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil || len(files) < 12 {
		t.Fatalf("stories: %d files, %v", len(files), err)
	}
	return files
}

// parseStory reads a story: a comment, the events, and the records they give, in txtar's form.
func parseStory(t testing.TB, file string) (head, events, records string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(raw), "-- events --\n")
	if !ok {
		t.Fatalf("%s has no events", file)
	}
	events, records, _ = strings.Cut(rest, "-- records --\n")
	return head, events, records
}

func TestStories(t *testing.T) {
	for _, file := range storyFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			head, lines, want := parseStory(t, file)
			events, old := storyEvents(t, []byte(lines))
			records := Rules(markOld(Turns(events), old), counter())
			got := readable(records, events)
			if *update {
				want = got
				if err := os.WriteFile(file, []byte(head+"-- events --\n"+lines+"-- records --\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			for _, r := range records {
				if p := r.Problems(); len(p) > 0 {
					t.Errorf("%s: %v", r.Title, p)
				}
			}
			again := Rules(markOld(Turns(events), old), counter())
			if diff := cmp.Diff(records, again); diff != "" {
				t.Errorf("a second run gave other records:\n%s", diff)
			}
		})
	}
}
