package summary

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjectIn(t *testing.T) {
	const a, b = `{"intents":[{"title":"A"}]}`, `{"intents":[{"title":"B"}]}`
	for _, c := range []struct {
		name, reply, want string
		err               error
	}{
		{"bare", a, a, nil},
		{"prose and fences around it", "Here it is:\n```json\n" + a + "\n```\nAnything else?", a, nil},
		{"braces in the prose", "func f() { return }\n{not json} " + a + " }{", a, nil},
		{"an object without intents before it", `{"thought":"…"} ` + a, a, nil},
		{"inside another object", `{"summary": ` + a + `}`, a, nil},
		{"the same twice", a + "\n" + `{ "intents": [ {"title": "A"} ] }`, `{ "intents": [ {"title": "A"} ] }`, nil},
		{"two different ones", a + "\n" + b, "", errAmbiguous},
		{"two different ones in fences", "```\n" + a + "\n```\nor\n```\n" + b + "\n```", "", errAmbiguous},
		{"empty", "", "", errNoIntents},
		{"prose", "I could not find anything.", "", errNoIntents},
		{"cut off", `{"intents":[{"title":"A"},{"tit`, "", errNoIntents},
		{"no list", `{"intents":{"title":"A"}}`, "", errNoIntents},
		{"null", `{"intents":null}`, "", errNoIntents},
		{"a page of HTML", "<html><style>a{b:c}</style>{{intents}}</html>", "", errNoIntents},
		{"no intents at all", `{"intents":[]}`, `{"intents":[]}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := objectIn(c.reply)
			if string(got) != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %s, %v; want %s, %v", got, err, c.want, c.err)
			}
		})
	}
}

// What a model may write to make the search for its object dear must end soon all the same.
func TestObjectInIsBounded(t *testing.T) {
	for _, c := range []struct{ name, reply string }{
		{"braces", strings.Repeat("{", 1<<20)},
		{"objects that never close", strings.Repeat(`{"a":`, 1<<16)},
		{"blanks", strings.Repeat("{ ", 1<<17) + strings.Repeat(" ", 1<<17)},
		{"objects in objects", strings.Repeat(`{"a":[`, 4000) + strings.Repeat("]}", 4000) + strings.Repeat("{", 1<<18)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := objectIn(c.reply); !errors.Is(err, errNoIntents) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzObjectIn(f *testing.F) {
	f.Add(`x {"intents":[{"title":"A","ranges":[[1,2]]}],"constraints":["c"]} y`)
	f.Add(`{"intents":[{"title":1,"ranges":[["1"],2,[3,4,5]],"progress":"p","next_steps":["s",{"what":"w"}]}]}`)
	f.Fuzz(func(t *testing.T, reply string) {
		raw, err := objectIn(reply)
		if err != nil {
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("not JSON: %q", raw)
		}
		d, err := normal(raw, 3, 4, 2)
		if err != nil {
			return
		}
		if len(d.Intents) > 4 || len(d.Constraints) > 2 {
			t.Fatalf("too many: %d, %d", len(d.Intents), len(d.Constraints))
		}
		for i, in := range d.Intents {
			if in.Title == "" || len(in.Ranges) == 0 || in.State != stateOf(in.Status, in.Verified) || i > 0 && in.LastTouchedTurn > d.Intents[i-1].LastTouchedTurn {
				t.Fatalf("not normal: %+v", in)
			}
			for _, r := range in.Ranges {
				if r[0] < 1 || r[0] > r[1] || r[1] > 3 {
					t.Fatalf("a stretch of turns that are not there: %v", r)
				}
			}
		}
	})
}

func TestNormal(t *testing.T) {
	yes, no, two := true, false, 2
	for _, c := range []struct {
		name, raw string
		want      Doc
	}{
		{
			"states are derived",
			`{"intents":[
				{"title":"a","ranges":[[1,1]],"status":"abandoned","verified":true,"state":"done"},
				{"title":"b","ranges":[[1,1]],"status":"completed","verified":false,"state":"done"},
				{"title":"c","ranges":[[1,1]],"status":"completed","verified":true},
				{"title":"d","ranges":[[1,1]],"status":"completed","verified":null},
				{"title":"e","ranges":[[1,1]],"status":"active","verified":false},
				{"title":"f","ranges":[[1,1]],"status":"whatever"}]}`,
			Doc{Intents: []Intent{
				{Title: "a", Ranges: [][2]int{{1, 1}}, Status: "abandoned", Verified: &yes, State: "dropped", LastTouchedTurn: 1, Progress: []string{}, NextSteps: []Step{}},
				{Title: "b", Ranges: [][2]int{{1, 1}}, Status: "completed", Verified: &no, State: "needs-you", LastTouchedTurn: 1, Progress: []string{}, NextSteps: []Step{}},
				{Title: "c", Ranges: [][2]int{{1, 1}}, Status: "completed", Verified: &yes, State: "done", LastTouchedTurn: 1, Progress: []string{}, NextSteps: []Step{}},
				{Title: "d", Ranges: [][2]int{{1, 1}}, Status: "completed", State: "done", LastTouchedTurn: 1, Progress: []string{}, NextSteps: []Step{}},
				{Title: "e", Ranges: [][2]int{{1, 1}}, Status: "active", Verified: &no, State: "in-progress", LastTouchedTurn: 1, Progress: []string{}, NextSteps: []Step{}},
				{Title: "f", Ranges: [][2]int{{1, 1}}, Status: "active", State: "in-progress", LastTouchedTurn: 1, Progress: []string{}, NextSteps: []Step{}},
			}, Constraints: []string{}},
		},
		{
			"what cannot be placed is dropped, the last touched stands first",
			`{"intents":[
				{"title":" early ","ranges":[[1,1],[9,4],[0,1],[2,9],[1,1]],"status":"active","origin_turn":9},
				{"ranges":[[1,2]],"status":"active"},
				{"title":"  ","ranges":[[1,2]]},
				{"title":"nowhere","ranges":[[9,4]]},
				{"title":"no ranges"},
				"not an object",
				{"title":"late","ranges":[[3,3],[1,1]],"status":"active","origin_turn":2}],
				"constraints":["one","one"," ",2,"two","three"]}`,
			Doc{Intents: []Intent{
				{Title: "late", Ranges: [][2]int{{1, 1}, {3, 3}}, Status: "active", State: "in-progress", LastTouchedTurn: 3, OriginTurn: &two, Progress: []string{}, NextSteps: []Step{}},
				{Title: "early", Ranges: [][2]int{{1, 1}}, Status: "active", State: "in-progress", LastTouchedTurn: 1, Progress: []string{}, NextSteps: []Step{}},
			}, Constraints: []string{"one", "two"}},
		},
		{
			"other shapes",
			`{"intents":[{"title":"a","ranges":[2,["1"],"3"],"status":"DONE","verified":"false","initial_intent":"x\n y","progress":"p","next_steps":["s",{"what":"w","why":1,"expect":"e"},{"why":"none"}]}],"constraints":"c"}`,
			Doc{Intents: []Intent{{
				Title: "a", Ranges: [][2]int{{1, 1}, {2, 2}, {3, 3}}, Status: "completed", Verified: &no, State: "needs-you", LastTouchedTurn: 3,
				InitialIntent: "x y", Progress: []string{"p"}, NextSteps: []Step{{What: "s"}, {"w", "", "e"}},
			}}, Constraints: []string{"c"}},
		},
		{"nothing", `{"intents":[]}`, Doc{Intents: []Intent{}, Constraints: []string{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := normal(json.RawMessage(c.raw), 3, 10, 2)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNormalCaps(t *testing.T) {
	long := strings.Repeat("漢", 3000)
	raw := `{"intents":[` + strings.Repeat(`{"title":"`+long+`","ranges":[[1,1]],"initial_intent":"`+long+`","progress":["`+long+`"],"next_steps":[{"what":"`+long+`"}]},`, 9) +
		`{"title":"last","ranges":[[2,2]]}],"constraints":["` + long + `"]}`
	d, err := normal(json.RawMessage(raw), 2, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Intents) != 3 || d.Intents[0].Title != "last" {
		t.Fatalf("%d intents, the first is %q: those that were touched last must stay", len(d.Intents), d.Intents[0].Title)
	}
	in := d.Intents[1]
	for what, v := range map[string]struct {
		s    string
		most int
	}{"title": {in.Title, titleChars}, "initial": {in.InitialIntent, initialChars}, "progress": {in.Progress[0], lineChars}, "step": {in.NextSteps[0].What, lineChars}, "constraint": {d.Constraints[0], lineChars}} {
		if n := len([]rune(v.s)); n != v.most || !strings.HasSuffix(v.s, "漢…") {
			t.Errorf("%s has %d characters, want %d with the cut to be seen", what, n, v.most)
		}
	}
	if _, err := normal(json.RawMessage(`{"intents":[{"title":"x","ranges":[[5,6]]}]}`), 2, 3, 1); !errors.Is(err, errNothingFit) {
		t.Errorf("a reply of which nothing can be used gave %v", err)
	}
}

func TestState(t *testing.T) {
	with := func(states ...string) Doc {
		var d Doc
		for _, s := range states {
			d.Intents = append(d.Intents, Intent{State: s, NextSteps: []Step{{What: s + " step", Why: "w"}}})
		}
		return d
	}
	for _, c := range []struct {
		name  string
		d     Doc
		state string
		open  []string
	}{
		{"nothing", with(), "", nil},
		{"all done", with(StateDone, StateDropped), StateDone, nil},
		{"one to do", with(StateDone, StateInProgress), StateInProgress, []string{"in-progress step (w)"}},
		{"one needs the person", with(StateInProgress, StateNeedsYou, StateDone), StateNeedsYou, []string{"needs-you step (w)", "in-progress step (w)"}},
		{"all dropped", with(StateDropped), StateDropped, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.d.State(); got != c.state {
				t.Errorf("state %q, want %q", got, c.state)
			}
			if d := cmp.Diff(c.open, c.d.Open()); d != "" {
				t.Error(d)
			}
		})
	}
}
