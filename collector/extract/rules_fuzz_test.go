package extract

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

// FuzzRules gives any texts as prompt, tool use and answer.
func FuzzRules(f *testing.F) {
	f.Add("We decided to cap retries at three because the gateway rate-limits. Please do it.", "execute_bash", `{"command":"go test ./x"}`, `{"success":true,"result":[{"exit_status":"1","stderr":"x_test.go:4: no"}]}`, "Done: see x.go.", "/p")
	f.Add("请改\x1b[31m", "fs_write", `{"path":"C:\\p\\a.go","text":""}`, `"Created the C:\\p\\a.go file."`, "```\nx", `C:\p`)
	f.Add("> a\n# b\n| c |\n1. d", "apply_patch", `{"input":"*** Add File: "}`, `[[]]`, "## Notes (kiro-learn)", "")
	f.Fuzz(func(t *testing.T, prompt, tool, input, response, answer, project string) {
		if !json.Valid([]byte(input)) {
			input = "{}"
		}
		if !json.Valid([]byte(response)) {
			response = "null"
		}
		name, _ := json.Marshal(tool)
		body := event.JSONBody(fmt.Appendf(nil, `{"tool_name":%s,"tool_input":%s,"tool_response":%s}`, name, input, response))
		var events []event.Event
		for i, b := range [][]byte{event.TextBody(prompt), body, body, event.TextBody(answer)} {
			kind := []event.Kind{event.KindPrompt, event.KindToolUse, event.KindToolUse, event.KindSessionSummary}[i]
			events = append(events, event.Event{EventID: storyID(i + 1), Namespace: event.Namespace("a", "p"), Kind: kind, Body: b, ValidTime: "2026-11-20T09:00:00Z", Source: event.Source{ProjectPath: project}})
		}
		for _, r := range Rules(Turns(events), counter()) {
			if p := r.Problems(); len(p) > 0 {
				t.Fatalf("%v in %+v", p, r)
			}
			checkPlain(t, r)
		}
	})
}

func benchmarkRules(b *testing.B, events []event.Event) {
	turns := Turns(events)
	id := counter()
	b.ReportAllocs()
	for b.Loop() {
		if len(Rules(turns, id)) == 0 {
			b.Fatal("no records")
		}
	}
}

func BenchmarkTurn(b *testing.B) {
	_, lines, _ := parseStory(b, "testdata/stories/loop.txtar")
	events, _ := storyEvents(b, []byte(lines))
	benchmarkRules(b, events[:6])
}

// BenchmarkLongPrompt is a prompt of 512 KiB, of prose and of log.
func BenchmarkLongPrompt(b *testing.B) {
	prose := strings.Repeat("The importer reads a file of orders and writes each of them to the table, unless it is there already. ", 5200)
	log := strings.Repeat("2026-11-20T09:00:00.123Z INFO worker[7]: processed batch 42 in 12 ms status=200 path=/api/v1/items\n", 5300)
	for name, text := range map[string]string{"prose": prose, "lines": strings.ReplaceAll(prose, ". ", ".\n"), "log": log, "one line": strings.Repeat("0123456789abcdef", 32768), "tags": strings.Repeat("<a>\nb\n</a>\n<|x|>", 30000), "marks": strings.Repeat("(kiro-learn) [a](b) `c` ", 22000)} {
		b.Run(name, func(b *testing.B) {
			e := event.Event{EventID: storyID(1), Namespace: event.Namespace("a", "p"), Kind: event.KindPrompt, ValidTime: "2026-11-20T09:00:00Z", Body: event.TextBody("Please make the importer idempotent.\n\n" + text[:min(len(text), 500000)])}
			a := event.Event{EventID: storyID(2), ParentEventID: e.EventID, Namespace: e.Namespace, Kind: event.KindSessionSummary, ValidTime: e.ValidTime, Body: event.TextBody("The importer now upserts by SKU in importer/upsert.py.")}
			benchmarkRules(b, []event.Event{e, a})
		})
	}
}

func BenchmarkLongOutput(b *testing.B) {
	out, err := json.Marshal(strings.Repeat("a_test.go:41: got 1 attempt, want 3 and some more text to fill the line\n", 6500) + "\n\nExit Code: 1")
	if err != nil {
		b.Fatal(err)
	}
	e := event.Event{
		EventID: storyID(1), Namespace: event.Namespace("a", "p"), Kind: event.KindToolUse, ValidTime: "2026-11-20T09:00:00Z",
		Body: event.JSONBody(fmt.Appendf(nil, `{"tool_name":"execute_bash","tool_input":{"command":"go test ./..."},"tool_response":%s}`, out)),
	}
	benchmarkRules(b, []event.Event{e})
}
