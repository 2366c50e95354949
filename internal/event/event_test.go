package event

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

func good() Event {
	body := TextBody("a <b> & \"c\"\n漢")
	return Event{
		EventID: id, ParentEventID: id, SessionID: "s", ActorID: "mia", Namespace: Namespace("mia", "p"), SchemaVersion: 1,
		Kind: KindPrompt, Body: body, ValidTime: "2026-11-20T09:00:00.5+01:00",
		Source: Source{Surface: SurfaceCLI, Version: "1", ClientID: "host", ProjectPath: "/p"}, ContentHash: Hash(body),
		Firing: &Firing{Via: "agent", From: 1, To: 2},
	}
}

func TestAppendJSONReadsBackAsTheSameEvent(t *testing.T) {
	for _, e := range []Event{good(), {EventID: id, Body: JSONBody([]byte(`{ "a": 1.0 }`)), Firing: &Firing{}}} {
		var back Event
		b := e.AppendJSON(nil)
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !reflect.DeepEqual(back, e) {
			t.Errorf("got  %+v\nwant %+v", back, e)
		}
	}
}

func TestDecode(t *testing.T) {
	e := good()
	js := string(e.AppendJSON(nil))
	with := func(old, text string) string { return strings.Replace(js, old, text, 1) }
	for _, c := range []struct {
		name, text string
		change     func(e *Event) // nil: it is refused
	}{
		{"as it is written", js, func(*Event) {}},
		{"white space", " \n" + strings.ReplaceAll(js, `,"`, ` , "`) + "\n", func(*Event) {}},
		{"unknown members", with(`{`, `{"future":[{"event_id":"x"}],`), func(*Event) {}},
		{"a member twice", with(`"kind":"prompt"`, `"kind":"note","kind":"prompt"`), func(*Event) {}},
		{"an escaped key", with(`"session_id"`, `"session\u005fid"`), func(*Event) {}},
		{"nothing for a text", with(`"parent_event_id":"`+id+`"`, `"parent_event_id":null`), func(e *Event) { e.ParentEventID = "" }},
		{"a lone surrogate", with(`"session_id":"s"`, `"session_id":"\ud800"`), func(e *Event) { e.SessionID = "\ufffd" }},
		{"bytes that are no text", with(`"session_id":"s"`, "\"session_id\":\"\xff\""), func(e *Event) { e.SessionID = "\ufffd" }},
		{"a number for a text", with(`"session_id":"s"`, `"session_id":5`), nil},
		{"a text for a number", with(`"schema_version":1`, `"schema_version":"1"`), nil},
		{"a fraction", with(`"schema_version":1`, `"schema_version":1.5`), nil},
		{"a list for the source", with(`"source":{`, `"source":[{`), nil},
		{"a firing that is none", with(`"from":1`, `"from":"x"`), nil},
		{"cut", js[:len(js)-1], nil},
		{"two", js + js, nil},
		{"a list", "[" + js + "]", nil},
		{"nothing", "", nil},
		{"null", "null", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := Decode([]byte(c.text))
			if c.change == nil {
				if err == nil {
					t.Errorf("taken: %+v", got)
				}
				return
			}
			want := good()
			c.change(&want)
			var viaJSON Event
			if js := json.Unmarshal([]byte(c.text), &viaJSON); err != nil || js != nil || !reflect.DeepEqual(got, want) && string(got.Body) == string(want.Body) || !reflect.DeepEqual(got, viaJSON) {
				t.Errorf("%v, %v\ngot  %+v\nwant %+v", err, js, got, want)
			}
		})
	}
}

// What Decode finds nothing wrong with reads back as the same event.
func FuzzDecode(f *testing.F) {
	e := good()
	f.Add(e.AppendJSON(nil))
	for _, s := range []string{`{"event_id":1}`, `{"source":null}`, `{`, `{"body":{"type":"message","turns":[[]]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, p, err := Decode(b)
		if err != nil || len(p) > 0 {
			return
		}
		again, p, err := Decode(e.AppendJSON(nil))
		if err != nil || len(p) > 0 || !reflect.DeepEqual(again, e) {
			t.Errorf("%v, %v\ngot  %+v\nwant %+v", p, err, again, e)
		}
	})
}

func TestEventProblems(t *testing.T) {
	e := good()
	if p := e.Problems(); len(p) != 0 {
		t.Fatalf("a good event has %v", p)
	}
	for _, c := range []struct {
		field string
		spoil func(*Event)
	}{
		{"event_id", func(e *Event) { e.EventID = strings.ToLower(id) }},
		{"event_id", func(e *Event) { e.EventID = "01ARZ3NDEKTSV4RRFFQ69G5FAU" }},
		{"event_id", func(e *Event) { e.EventID = "8" + id[1:] }},
		{"parent_event_id", func(e *Event) { e.ParentEventID = "x" }},
		{"session_id", func(e *Event) { e.SessionID = "" }},
		{"session_id", func(e *Event) { e.SessionID = strings.Repeat("é", 129) }},
		{"actor_id", func(e *Event) { e.ActorID = "" }},
		{"namespace", func(e *Event) { e.Namespace = "/actor/other/project/p/" }},
		{"namespace", func(e *Event) { e.Namespace = "/actor/mia/project/p" }},
		{"schema_version", func(e *Event) { e.SchemaVersion = 2 }},
		{"kind", func(e *Event) { e.Kind = "thought" }},
		{"body", func(e *Event) { e.Body = nil }},
		{"body", func(e *Event) { e.Body = json.RawMessage(`[]`) }},
		{"body", func(e *Event) { e.Body = json.RawMessage(`{"type":"text"`) }},
		{"body.content", func(e *Event) { e.Body = json.RawMessage(`{"type":"text","content":null}`) }},
		{"body.turns", func(e *Event) { e.Body = json.RawMessage(`{"type":"message","turns":{}}`) }},
		{"body.turns[1]", func(e *Event) { e.Body = json.RawMessage(`{"type":"message","turns":[{"role":"a","content":""},1]}`) }},
		{"body.turns[0].role", func(e *Event) { e.Body = json.RawMessage(`{"type":"message","turns":[{"role":"","content":""}]}`) }},
		{"body.data", func(e *Event) { e.Body = json.RawMessage(`{"type":"json","x":{"data":1}}`) }},
		{"body", func(e *Event) { e.Body = TextBody(strings.Repeat("x", MaxBody)) }},
		{"body.type", func(e *Event) { e.Body = json.RawMessage(`{"type":"xml"}`) }},
		{"body.content", func(e *Event) { e.Body = json.RawMessage(`{"type":"text"}`) }},
		{"body.turns", func(e *Event) { e.Body = json.RawMessage(`{"type":"message","turns":[]}`) }},
		{"body.turns[0].role", func(e *Event) { e.Body = json.RawMessage(`{"type":"message","turns":[{"content":"x"}]}`) }},
		{"body.turns[0].content", func(e *Event) { e.Body = json.RawMessage(`{"type":"message","turns":[{"role":"user"}]}`) }},
		{"body.data", func(e *Event) { e.Body = json.RawMessage(`{"type":"json"}`) }},
		{"valid_time", func(e *Event) { e.ValidTime = "2026-11-20T09:00:00" }},
		{"valid_time", func(e *Event) { e.ValidTime = "2026-02-30T09:00:00Z" }},
		{"valid_time", func(e *Event) { e.ValidTime = "2026-02-20T9:00:00.55Z" }},
		{"valid_time", func(e *Event) { e.ValidTime = "2026-02-20T09:00:00,5Z" }},
		{"source.surface", func(e *Event) { e.Source.Surface = "vim" }},
		{"source.version", func(e *Event) { e.Source.Version = "" }},
		{"source.client_id", func(e *Event) { e.Source.ClientID = "" }},
		{"source.project_path", func(e *Event) { e.Source.ProjectPath = strings.Repeat("p", 2049) }},
		{"content_hash", func(e *Event) { e.ContentHash = "md5:" + strings.Repeat("a", 64) }},
		{"content_hash", func(e *Event) { e.ContentHash = Hash([]byte("another body")) }},
	} {
		e := good()
		c.spoil(&e)
		if p := e.Problems(); len(p) != 1 || p[0].Field != c.field {
			t.Errorf("%s: got %v", c.field, p)
		}
		if b := e.AppendJSON(nil); json.Valid(b) {
			if _, p, err := Decode(b); err != nil || len(p) != 1 || p[0].Field != c.field {
				t.Errorf("%s: decoded with %v, %v", c.field, p, err)
			}
		}
	}
	e.Body = json.RawMessage(`{ "type": "text", "content": "spaced out" }`)
	e.ContentHash = Hash([]byte(`{"type":"text","content":"spaced out"}`))
	if p := e.Problems(); len(p) != 0 {
		t.Errorf("the hash of the shortest form is a hash of the body: %v", p)
	}
	e.ContentHash, e.Body = "", json.RawMessage(`{"type":"json","data":null}`)
	if p := e.Problems(); len(p) != 0 {
		t.Errorf("null is data too: %v", p)
	}
}

func TestRecordProblems(t *testing.T) {
	good := Record{
		RecordID: "mr_" + id, Namespace: Namespace("mia", "p"), Strategy: StrategyRules, Title: "t", Summary: "s", Facts: []string{"f"}, Concepts: []string{}, FilesTouched: []string{},
		SourceEventIDs: []string{id}, CreatedAt: "2026-11-20T09:00:00Z", ObservationType: TypeError,
	}
	for _, c := range []struct {
		field string // empty: a good record
		spoil func(*Record)
	}{
		{"", func(*Record) {}},
		{"", func(r *Record) { r.Namespace = "/strategy/rules/actor/mia/session/a/b c/" }},
		{"record_id", func(r *Record) { r.RecordID = id }},
		{"record_id", func(r *Record) { r.RecordID = "mr_8" + id[1:] }},
		{"namespace", func(r *Record) { r.Namespace = "" }},
		{"namespace", func(r *Record) { r.Namespace = "anything" }},
		{"namespace", func(r *Record) { r.Namespace = "/actor/mia/project/p" }},
		{"namespace", func(r *Record) { r.Namespace = "/strategy/rules/session/a/" }},
		{"namespace", func(r *Record) { r.Namespace = "/strategy/a/b/actor/mia/session/s/" }},
		{"namespace", func(r *Record) { r.Namespace = Namespace("mia", strings.Repeat("p", MaxNamespace)) }},
		{"strategy", func(r *Record) { r.Strategy = "magic" }},
		{"title", func(r *Record) { r.Title = "" }},
		{"summary", func(r *Record) { r.Summary = strings.Repeat("漢", MaxSummary+1) }},
		{"facts", func(r *Record) { r.Facts = nil }},
		{"facts[0]", func(r *Record) { r.Facts = []string{""} }},
		{"concepts", func(r *Record) { r.Concepts = nil }},
		{"files_touched", func(r *Record) { r.FilesTouched = nil }},
		{"source_event_ids", func(r *Record) { r.SourceEventIDs = nil }},
		{"source_event_ids[0]", func(r *Record) { r.SourceEventIDs = []string{"x"} }},
		{"created_at", func(r *Record) { r.CreatedAt = "yesterday" }},
		{"observation_type", func(r *Record) { r.ObservationType = "hunch" }},
	} {
		r := good
		c.spoil(&r)
		p := r.Problems()
		if c.field == "" && len(p) > 0 || c.field != "" && (len(p) != 1 || p[0].Field != c.field) {
			t.Errorf("%s: got %v", c.field, p)
		}
	}
}

func TestFitMakesAnyRecordKeepTheContract(t *testing.T) {
	r := Record{
		RecordID: "mr_" + id, Namespace: Namespace("mia", "p"), Strategy: StrategyRules, Title: " " + strings.Repeat("漢", 300), Summary: strings.Repeat("é", 5000),
		Facts: []string{"", " a ", "a", strings.Repeat("f", 600)}, SourceEventIDs: []string{id}, CreatedAt: "2026-11-20T09:00:00Z", ObservationType: TypeError,
	}
	r.Fit()
	if p := r.Problems(); len(p) != 0 {
		t.Errorf("still %v", p)
	}
	if want := strings.Repeat("漢", 199) + "…"; r.Title != want {
		t.Errorf("title is %d characters", len([]rune(r.Title)))
	}
	if len(r.Facts) != 2 || r.Facts[0] != "a" {
		t.Errorf("facts %q", r.Facts)
	}
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `"concepts":[]`) {
		t.Errorf("%s %v", b, err)
	}
}

func TestCutChars(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"漢漢", 3, "漢漢"}, {"漢漢漢漢", 3, "漢漢…"}, {"", 3, ""}} {
		if got := CutChars(c.in, c.max); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

// The limits and lists above are the schema's.
func TestConstantsAreTheSchemas(t *testing.T) {
	var s struct {
		Required   []string
		Properties struct {
			Observation struct{ Enum []string } `json:"observation_type"`
			Title       struct{ MaxLength int }
			Summary     struct{ MaxLength int }
		}
	}
	b, err := os.ReadFile("../../testdata/wire/memory-record.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(s.Properties.Observation.Enum) != fmt.Sprint(ObservationTypes()) || s.Properties.Title.MaxLength != MaxTitle || s.Properties.Summary.MaxLength != MaxSummary {
		t.Errorf("schema says %+v", s.Properties)
	}
	var fields map[string]any
	r, _ := json.Marshal(Record{})
	_ = json.Unmarshal(r, &fields)
	for _, f := range s.Required {
		if _, ok := fields[f]; !ok {
			t.Errorf("a record lacks %s", f)
		}
	}
}
