package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

// ev is an event of a session in short: its number, kind, parent's number (0 for none) and project.
type ev struct {
	id, parent int
	kind       event.Kind
	project    string
}

func (v ev) event() event.Event {
	e := event.Event{EventID: storyID(v.id), Kind: v.kind, SessionID: "s", ActorID: "mia", Namespace: event.Namespace("mia", "p"+v.project), Body: event.TextBody("x")}
	if v.parent > 0 {
		e.ParentEventID = storyID(v.parent)
	}
	return e
}

// outline writes turns as "p1 t2,t3 a4 n5", one after another; a context prompt in brackets.
func outline(turns []Turn) string {
	num := func(e *event.Event) string { return strings.TrimLeft(e.EventID[10:], "0") }
	var all []string
	for _, t := range turns {
		var parts []string
		if t.Prompt != nil {
			p := "p" + num(t.Prompt)
			if t.Continued {
				p = "(" + p + ")"
			}
			parts = append(parts, p)
		}
		for i := range t.Tools {
			parts = append(parts, "t"+num(&t.Tools[i]))
		}
		if t.Answer != nil {
			parts = append(parts, "a"+num(t.Answer))
		}
		for i := range t.Notes {
			parts = append(parts, "n"+num(&t.Notes[i]))
		}
		all = append(all, strings.Join(parts, " "))
	}
	return strings.Join(all, " | ")
}

func TestTurns(t *testing.T) {
	const p, tool, a, n = event.KindPrompt, event.KindToolUse, event.KindSessionSummary, event.KindNote
	tests := []struct {
		name   string
		events []ev
		want   string
	}{
		{"nothing", nil, ""},
		{"two turns", []ev{{1, 0, p, ""}, {2, 1, tool, ""}, {3, 1, a, ""}, {4, 0, p, ""}, {5, 4, a, ""}}, "p1 t2 a3 | p4 a5"},
		{"without parents", []ev{{1, 0, p, ""}, {2, 0, tool, ""}, {3, 0, a, ""}, {4, 0, p, ""}, {5, 0, tool, ""}}, "p1 t2 a3 | p4 t5"},
		{"a late tool joins its own turn", []ev{{1, 0, p, ""}, {2, 1, a, ""}, {3, 0, p, ""}, {4, 1, tool, ""}, {5, 3, tool, ""}}, "p1 t4 a2 | p3 t5"},
		{"prompt not among the events", []ev{{5, 1, tool, ""}, {6, 1, a, ""}, {7, 0, p, ""}}, "t5 a6 | p7"},
		{"before any prompt", []ev{{1, 0, n, ""}, {2, 0, tool, ""}, {3, 0, p, ""}}, "t2 n1 | p3"},
		{"a second answer", []ev{{1, 0, p, ""}, {2, 1, a, ""}, {3, 1, a, ""}}, "p1 a2 | (p1) a3"},
		{"another project", []ev{{1, 0, p, ""}, {2, 1, tool, "2"}, {3, 1, tool, ""}, {4, 1, tool, "2"}}, "p1 t3 | t2 t4"},
		{"not sorted", []ev{{3, 1, a, ""}, {1, 0, p, ""}, {2, 1, tool, ""}}, "p1 t2 a3"},
		{"a child that sorts before its prompt", []ev{{1, 2, tool, ""}, {2, 0, p, ""}, {3, 2, a, ""}}, "p2 t1 a3"},
		{"an unknown kind is a note", []ev{{1, 0, p, ""}, {2, 1, "later", ""}}, "p1 n2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var events []event.Event
			for _, v := range tt.events {
				events = append(events, v.event())
			}
			if diff := cmp.Diff(tt.want, outline(Turns(events))); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTurnsLeavesItsInputAlone(t *testing.T) {
	events := []event.Event{ev{2, 1, event.KindToolUse, ""}.event(), ev{1, 0, event.KindPrompt, ""}.event()}
	Turns(events)
	if events[0].EventID != storyID(2) {
		t.Error("the events were sorted in place")
	}
}

func TestPromptText(t *testing.T) {
	turns := func(list ...string) event.Event {
		var ts []event.Turn
		for _, s := range list {
			role, content, _ := strings.Cut(s, ":")
			ts = append(ts, event.Turn{Role: role, Content: content})
		}
		return event.Event{Body: event.MessageBody(ts)}
	}
	tests := []struct {
		name  string
		event event.Event
		want  string
	}{
		{"text", event.Event{Body: event.TextBody("add a retry")}, "add a retry"},
		{"last user turn", turns("user:one", "assistant:two", "user:three"), "three"},
		{"the agent spoke last", turns("user:one", "assistant:two"), "one"},
		{"only the agent", turns("assistant:two"), ""},
		{"json", event.Event{Body: event.JSONBody([]byte(`{"a":1}`))}, ""},
		{"no body", event.Event{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := promptText(&tt.event); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := promptText(nil); got != "" {
		t.Errorf("no prompt: %q", got)
	}
}
