package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestBadArguments drives the real server with what a model might send. Each answer is an error that the model can act on.
func TestBadArguments(t *testing.T) {
	_, s := newBox(t).connect(nil, "")
	many := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprint("entry ", i)
		}
		return out
	}
	o, sum := observationArgs(), summaryArgs()
	for _, tt := range []struct {
		name  string
		tool  string
		args  any
		want  []string
		loose bool // the schema cannot say it
	}{
		{"no arguments", "search_memory", nil, []string{"query is missing", "required", "a string"}, false},
		{"empty query", "search_memory", args{"query": ""}, []string{"query must not be empty"}, false},
		{"blank query", "search_memory", args{"query": " \n\t"}, []string{"query must not be empty"}, true},
		{"long query", "search_memory", args{"query": strings.Repeat("漢", 1001)}, []string{"query has 1001 characters", "at most 1000"}, false},
		{"query of another type", "search_memory", args{"query": 5}, []string{"query must be a string"}, false},
		{"limit 0", "search_memory", args{"query": "x", "limit": 0}, []string{"limit must be a whole number from 1 to 100"}, false},
		{"limit 101", "search_memory", args{"query": "x", "limit": 101}, []string{"limit must be a whole number from 1 to 100"}, false},
		{"limit 1.5", "search_memory", args{"query": "x", "limit": 1.5}, []string{"limit must be a whole number"}, false},
		{"limit as text", "search_memory", args{"query": "x", "limit": "ten"}, []string{"limit must be a whole number"}, false},
		{"unknown type", "search_memory", args{"query": "x", "type": "gossip"}, []string{"type must be one of: tool_use, decision, error, discovery, pattern, session_summary"}, false},
		{"since nonsense", "search_memory", args{"query": "x", "since": "yesterday"}, []string{"since must be a span such as 12h or 30d, or a day such as 2026-01-31"}, true},
		{"unknown argument", "search_memory", args{"query": "x", "tags": []string{"a"}}, []string{`"tags" is not an argument`, "query, limit, type, since"}, false},
		{"two faults at once", "search_memory", args{"query": "", "limit": -1}, []string{"query must not be empty", "limit must be"}, false},
		{"unknown kind", "save_observation", with(o, "observation_type", "gossip"), []string{"observation_type must be one of: tool_use, decision, error, discovery, pattern"}, false},
		{"a summary is no observation", "save_observation", with(o, "observation_type", "session_summary"), []string{"observation_type must be one of: tool_use, decision, error, discovery, pattern"}, false},
		{"no title", "save_observation", with(o, "title", nil), []string{"title is missing"}, false},
		{"long title", "save_observation", with(o, "title", strings.Repeat("t", 201)), []string{"title has 201 characters", "200"}, false},
		{"long summary", "save_observation", with(o, "summary", strings.Repeat("s", 4001)), []string{"summary has 4001 characters", "4000"}, false},
		{"51 concepts", "save_observation", with(o, "concepts", many(51)), []string{"concepts has 51 entries", "50"}, false},
		{"51 facts", "save_observation", with(o, "facts", many(51)), []string{"facts has 51 entries", "50"}, false},
		{"101 files", "save_observation", with(o, "files_touched", many(101)), []string{"files_touched has 101 entries", "100"}, false},
		{"long fact", "save_observation", with(o, "facts", []string{"ok", strings.Repeat("f", 501)}), []string{"facts has 501 characters in entry 2", "500"}, false},
		{"facts are one text", "save_observation", with(o, "facts", "one, two"), []string{"facts must be a list of strings"}, false},
		{"facts are numbers", "save_observation", with(o, "facts", []int{1}), []string{"facts must be a list of strings"}, false},
		{"all but one missing", "save_session_summary", args{"request": "only"}, []string{"investigated is missing", "learned is missing", "completed is missing", "next_steps is missing", "files_read is missing", "files_modified is missing"}, false},
		{"empty request", "save_session_summary", with(sum, "request", ""), []string{"request must not be empty"}, false},
		{"files are one text", "save_session_summary", with(sum, "files_read", "a.go"), []string{"files_read must be a list of strings"}, false},
		{"no record id", "get_memory", args{}, []string{"record_id is missing"}, false},
		{"no such record", "get_memory", args{"record_id": "mr_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, []string{"no record with this record_id", "search_memory"}, true},
		{"an id that is a path", "get_memory", args{"record_id": "../../x?y=1#"}, []string{"no record with this record_id"}, true},
		{"nothing to forget", "forget_memory", args{}, []string{"record_id is missing"}, false},
		{"no such record to forget", "forget_memory", args{"record_id": "mr_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, []string{"no record with this record_id"}, true},
		{"both", "timeline", args{"record_id": "mr_x", "session_id": "s"}, []string{"record_id or session_id, not both"}, true},
		{"no such session", "timeline", args{"session_id": "nobody"}, []string{"no such session"}, true},
		{"no session at all", "session_summary", args{}, []string{"no such session"}, true},
		{"long session id", "session_summary", args{"session_id": strings.Repeat("s", 129)}, []string{"session_id has 129 characters"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := use(t, s, tt.tool, tt.args)
			if !r.bad || r.fault != nil {
				t.Fatalf("taken for good: %q %v", r.text, r.fault)
			}
			for _, w := range tt.want {
				if !strings.Contains(r.text, w) {
					t.Errorf("%q does not say %q", r.text, w)
				}
			}
			if ok := obeysSchema(t, tt.tool, tt.args); ok != tt.loose {
				t.Errorf("the schema takes it: %v, want %v", ok, tt.loose)
			}
		})
	}
	if r := use(t, s, "nosuch", args{}); r.fault == nil || !strings.Contains(r.fault.Error(), "nosuch") {
		t.Errorf("a tool that is not there: %+v", r)
	}
}

// obeysSchema tells what a client would say that checks arguments against the schema.
func obeysSchema(t *testing.T, name string, a any) bool {
	t.Helper()
	for _, tool := range tools() {
		if tool.name != name {
			continue
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(schema(tool.args), &s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if a == nil {
			a = args{}
		}
		var v any
		if err := json.Unmarshal([]byte(asJSON(t, a)), &v); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(v) == nil
	}
	t.Fatalf("no tool %s", name)
	return false
}

func TestSchemaKeepsTheOrderOfTheArguments(t *testing.T) {
	for _, tool := range tools() {
		text, at := string(schema(tool.args)), 0
		for _, a := range tool.args {
			i := strings.Index(text, `"`+a.name+`":{`)
			if i < at {
				t.Errorf("%s: %s is not in its place: %s", tool.name, a.name, text)
			}
			at = i
		}
	}
}

func TestParseTakesWhatIsGood(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		tool tool
		args string
		get  func(v values) any
		want any
	}{
		{"trimmed", searchTool(), `{"query":"  a b\n"}`, func(v values) any { return v.texts["query"] }, "a b"},
		{"exactly 1000 characters", searchTool(), `{"query":"` + strings.Repeat("漢", 1000) + `"}`, func(v values) any { return len([]rune(v.texts["query"])) }, 1000},
		{"control characters go", searchTool(), `{"query":"a\u0000\u001b[1m\u009bb"}`, func(v values) any { return v.texts["query"] }, "a[1mb"},
		{"limit by default", searchTool(), `{"query":"a"}`, func(v values) any { return v.numbers["limit"] }, 10},
		{"limit as a float", searchTool(), `{"query":"a","limit":7.0}`, func(v values) any { return v.numbers["limit"] }, 7},
		{"days", searchTool(), `{"query":"a","since":"30d"}`, func(v values) any { return v.since.Format(time.RFC3339) }, "2026-10-21T12:00:00Z"},
		{"hours", searchTool(), `{"query":"a","since":"12h"}`, func(v values) any { return v.since.Format(time.RFC3339) }, "2026-11-20T00:00:00Z"},
		{"a day", searchTool(), `{"query":"a","since":"2026-01-31"}`, func(v values) any { return v.since.Format(time.RFC3339) }, "2026-01-31T00:00:00Z"},
		{"a time", searchTool(), `{"query":"a","since":"2026-01-31T10:00:00+02:00"}`, func(v values) any { return v.since.UTC().Format(time.RFC3339) }, "2026-01-31T08:00:00Z"},
		{"lists without what is empty or repeated", observationTool(), `{"title":"t","summary":"s","observation_type":"error","facts":[" a ","","a","b"]}`, func(v values) any { return strings.Join(v.lists["facts"], "|") }, "a|b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := parse(tt.tool.args, json.RawMessage(tt.args), now)
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.get(v); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
