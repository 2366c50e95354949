package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// kinds are the files that hold entries of ours among others'.
func kinds() map[string]shape {
	return map[string]shape{"agent": agentShape(spelling{"/opt/kiro-learn", "/opt/kiro-learn"}, everySurface()), "hooks": v1Shape("/opt/kiro-learn", viaUser), "mcp": mcpShape("/opt/kiro-learn")}
}

// FuzzEdit: arbitrary bytes are either refused, or edited so that our entries are there once, a second edit changes
// nothing, every byte of the old file is still there in its order (but for a null or an empty container that made
// room), and taking ours out again gives the old file.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		"", "{}", "{ }", "{\n}", "null", "[]", "{\"hooks\":null}", "{\"hooks\":{ \"stop\" : null, \"agentSpawn\":[ ] } }",
		agentCompact, agentTabs, agentPlain, mcpComments, "\ufeff" + agentPlain, strings.ReplaceAll(agentPlain, "\n", "\r\n"),
		"{\"hooks\": {\"stop\": [ // mine\n]}}", "{\"a\":1 // one\n,\"b\":2 /* two */ , // three\r\n}", "// top\n{\"a\":1}\n// bottom",
		`{"version":"v1","hooks":[{"name":"x","trigger":"Stop","action":{"type":"command","command":"kiro-learn stop"}}]}`,
		`{"version":"v1","hooks":[],}`, `{"mcpServers":{"kiro-learn":{"command":"/x/kiro-learn","args":["mcp"],"disabled":true}}}`,
		`{"hooks":{"stop":[{"command":"kiro-learn stop"},{"command":"kiro-learn stop"},{"command":"kiro-learn stop","timeout":1}],"preToolUse":[{"command":"kiro-learn postToolUse"}]}}`,
		"{\"hooks\":{\"stop\":[{\"command\":\"a\"}/*x*/,/*y*/{\"command\":\"b\"}//z\n]}}", "{\"\\u0068ooks\":{}}", "{\"hooks\":{},\"hooks\":{}}",
		"{\"version\":\"v1\",\"hooks\":[/* u *//* u */{\"name\":\"x\",\"trigger\":\"Stop\",\"action\":{\"type\":\"command\",\"command\":\"kiro-learn stop\"},\"enabled\":// u\ntrue}]}",
		"{\n \"hooks\": {\n  \"stop\": [{\n   \"command\": \"x\"}]}}", "{\"a\":\n1\n,\n}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, old []byte) {
		for kind, s := range kinds() {
			checkClean(t, kind, s, old)
			after, mem, err := s.edit(old, nil)
			if err != nil {
				if strings.Contains(err.Error(), "cannot be edited safely") || strings.Contains(err.Error(), "edits overlap") || strings.Contains(err.Error(), "edited text") {
					t.Errorf("%s: %v: %q", kind, err, old)
				}
				continue
			}
			checkEdit(t, kind, s, old, after, mem)
		}
	})
}

func checkEdit(t complainer, kind string, s shape, old, after []byte, mem before) {
	t.Helper()
	d, err := parse(after)
	if err != nil {
		t.Errorf("%s: the result does not parse: %v: %q", kind, err, after)
		return
	}
	want := 0
	for _, slot := range s.slots {
		if slot.neededIn(d) {
			want += len(slot.want)
		}
	}
	if n := len(s.found(d)); n != want {
		t.Errorf("%s: %d entries, want %d: %q", kind, n, want, after)
	}
	again, _, err := s.edit(after, mem)
	if err != nil || !bytes.Equal(again, after) {
		t.Errorf("%s: a second edit (%v) of %q gives %q", kind, err, after, again)
	}
	was, err := parse(old)
	if err != nil {
		t.Errorf("%s: edited what does not parse: %q", kind, old)
		return
	}
	if len(s.found(was)) > 0 {
		return // what was ours before is not kept
	}
	undone, _, err := s.clean(after, mem)
	if err != nil || !bytes.Equal(undone, old) {
		t.Errorf("%s: undone (%v)\n%q\nwant\n%q\nedited\n%q", kind, err, undone, old, after)
	}
	forgotten, _, err := s.clean(after, nil)
	if err != nil {
		t.Errorf("%s: without memory: %v", kind, err)
	} else if d, err := parse(forgotten); err != nil || len(s.found(d)) > 0 {
		t.Errorf("%s: without memory %v: %q", kind, err, forgotten)
	}
	room := strings.NewReplacer("null", "", "[", "", "]", "", "{", "", "}", "", " ", "", "\t", "", "\n", "", "\r", "")
	if !isSubsequence(room.Replace(string(old)), room.Replace(string(after))) {
		t.Errorf("%s: bytes of\n%q\nare lost in\n%q", kind, old, after)
	}
}

type complainer interface {
	Helper()
	Errorf(string, ...any)
}

// checkClean: whatever parses can be rid of ours.
func checkClean(t complainer, kind string, s shape, old []byte) {
	t.Helper()
	if _, err := parse(old); err != nil {
		return
	}
	cleaned, n, err := s.clean(old, nil)
	if err != nil {
		t.Errorf("%s: cleaning: %v: %q", kind, err, old)
		return
	}
	d, err := parse(cleaned)
	if err != nil || len(s.found(d)) > 0 {
		t.Errorf("%s: %q was cleaned to %q (%v)", kind, old, cleaned, err)
	}
	if n == 0 && !bytes.Equal(cleaned, old) {
		t.Errorf("%s: nothing of ours in %q, which became %q", kind, old, cleaned)
	}
}

// Comments that the user has put between our tokens, on the line or ending it, never make a file that cannot be cleaned,
// and those outside our entries stay.
func TestCommentsAmongOurs(t *testing.T) {
	for kind, s := range kinds() {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				after, mem, err := s.edit([]byte(drawDoc(rt, kind)), nil)
				if err != nil {
					rt.Fatal(err)
				}
				d, err := parse(after)
				if err != nil {
					rt.Fatal(err)
				}
				var cuts []splice
				for v := range d.root.All() {
					for _, at := range []int{v.StartOffset, v.EndOffset} {
						if rapid.IntRange(0, 9).Draw(rt, "here") == 0 && !slices.ContainsFunc(cuts, func(c splice) bool { return c.at == at }) {
							cuts = append(cuts, splice{at, at, rapid.SampledFrom([]string{"/* u */", "// u\n", " // u\r\n\t"}).Draw(rt, "comment")})
						}
					}
				}
				if err := d.change(cuts...); err != nil {
					rt.Fatal(err)
				}
				checkClean(rt, kind, s, d.bytes())
				if cleaned, _, err := s.clean(d.bytes(), mem); err != nil {
					rt.Fatalf("with memory: %v: %q became %q", err, d.bytes(), cleaned)
				}
				if again, _, err := s.edit(d.bytes(), mem); err != nil || !bytes.Equal(again, d.bytes()) {
					rt.Fatalf("a second edit (%v) of\n%s\ngives\n%s", err, d.bytes(), again)
				}
			})
		})
	}
}

// A genDoc draws documents as people write them: any style, comments in odd places, unknown keys, numbers that no
// float holds.
type genDoc struct {
	t        *rapid.T
	comments bool
	nl, unit string
}

func (g genDoc) pick(label string, s ...string) string { return rapid.SampledFrom(s).Draw(g.t, label) }

func (g genDoc) gap(depth int) string {
	ws := []string{"", " ", g.nl + strings.Repeat(g.unit, depth), g.nl + strings.Repeat(g.unit, depth), "\t"}
	if g.comments {
		ws = append(ws, " /* c */ ", " // note"+g.nl+strings.Repeat(g.unit, depth), g.nl+"// own line"+g.nl, "/**/")
	}
	return g.pick("gap", ws...)
}

func (g genDoc) value(depth int) string {
	switch g.pick("kind", "s", "n", "l", "o", "null") {
	case "s":
		return g.pick("string", `"a && b"`, `"\u2028é\/"`, `"// no comment"`, `"日本"`, `""`, `"kiro-learn is fine"`)
	case "n":
		return g.pick("number", "12345678901234567890", "1.0", "-0", "1e400", "7")
	case "null":
		return "null"
	case "l":
		if depth > 3 {
			return "[]"
		}
		return g.list(depth, rapid.IntRange(0, 3).Draw(g.t, "n"), func() string { return g.value(depth + 1) })
	}
	if depth > 3 {
		return "{}"
	}
	return g.object(depth, nil)
}

func (g genDoc) list(depth, n int, f func() string) string {
	return g.group("[", "]", depth, n, func(int) string { return f() })
}

func (g genDoc) group(open, end string, depth, n int, f func(i int) string) string {
	var b strings.Builder
	b.WriteString(open)
	for i := range n {
		if i > 0 {
			b.WriteString(g.gap(depth) + ",")
		}
		b.WriteString(g.gap(depth+1) + f(i))
	}
	if n > 0 && g.comments && rapid.Bool().Draw(g.t, "trailing") {
		b.WriteString(g.gap(depth) + ",")
	}
	return b.String() + g.gap(depth) + end
}

// object draws some unknown members, with the given ones among them.
func (g genDoc) object(depth int, known []string) string {
	var members []string
	for i := range rapid.IntRange(0, 3).Draw(g.t, "members") {
		members = append(members, fmt.Sprintf(`"k%d"%s:%s%s`, i, g.pick("colon", "", " "), g.pick("colon", "", " "), g.value(depth+1)))
	}
	for _, k := range known {
		at := rapid.IntRange(0, len(members)).Draw(g.t, "at")
		members = append(members[:at], append([]string{k}, members[at:]...)...)
	}
	return g.group("{", "}", depth, len(members), func(i int) string { return members[i] })
}

func (g genDoc) containerOr(full func() string) string {
	switch g.pick("container", "null", "empty", "full", "full") {
	case "null":
		return "null"
	case "empty":
		return g.pick("empty", "{}", "{ }", "{"+g.nl+"}")
	}
	return full()
}

// toolsOfAgent draws what decides whether an agent has to name our server itself.
func (g genDoc) toolsOfAgent() (members []string) {
	add := func(s ...string) {
		if s := g.pick("tools", s...); s != "" {
			members = append(members, s)
		}
	}
	add("", `"tools": ["*"]`, `"tools":["read", "@kiro-learn"]`, `"tools": ["read"]`, `"tools": null`)
	add("", "", `"includeMcpJson": false`, `"includeMcpJson":true`)
	add("", "", `"mcpServers": null`, `"mcpServers": { }`, `"mcpServers": {"git": {"command": "uvx"}}`, `"mcpServers": {"kiro-learn": {"command": "npx"}}`)
	return members
}

func (g genDoc) hooksOfAgent() string {
	return g.containerOr(func() string {
		var events []string
		for _, e := range []string{"stop", "agentSpawn", "preToolUse"} {
			if rapid.Bool().Draw(g.t, e) {
				body := g.pick("events", "null", "[]", "[ ]", "entries")
				if body == "entries" {
					body = g.list(2, rapid.IntRange(0, 3).Draw(g.t, "n"), func() string {
						return g.object(3, []string{`"command": ` + g.pick("command", `"echo hi"`, `"/x/kiro-learn-extra stop"`, `"kiro-learn stop && say done"`)})
					})
				}
				events = append(events, fmt.Sprintf("%q: %s", e, body))
			}
		}
		return g.group("{", "}", 1, len(events), func(i int) string { return events[i] })
	})
}

// draw gives a file of the kind, without entries of ours.
func (g genDoc) draw(kind string) string {
	var known []string
	if kind == "hooks" {
		known = append(known, `"version": "v1"`)
	}
	if kind != "agent" || rapid.Bool().Draw(g.t, "has") {
		switch kind {
		case "agent":
			known = append(known, `"hooks": `+g.hooksOfAgent())
			known = append(known, g.toolsOfAgent()...)
		case "mcp":
			known = append(known, `"mcpServers":`+g.containerOr(func() string { return g.object(1, []string{`"git": {"command": "uvx"}`}) }))
		case "hooks":
			body := g.list(1, rapid.IntRange(0, 2).Draw(g.t, "n"), func() string {
				return g.object(2, []string{`"action": {"type": "command", "command": "x"}`})
			})
			known = append(known, `"hooks":`+g.pick("hooks", "null", "[]", body))
		}
	}
	mark := g.pick("bom", "", "", "\ufeff")
	return mark + g.gap(0) + g.object(0, known) + g.gap(0)
}

func drawDoc(t *rapid.T, kind string) string {
	g := genDoc{t: t, comments: rapid.Bool().Draw(t, "comments")}
	g.nl = g.pick("newline", "\n", "\n", "\r\n")
	g.unit = g.pick("unit", "  ", "\t", "    ", "")
	return g.draw(kind)
}

func TestUndoOfApplyIsTheSameBytes(t *testing.T) {
	for kind, s := range kinds() {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				old := []byte(drawDoc(rt, kind))
				after, mem, err := s.edit(old, nil)
				if err != nil {
					rt.Fatalf("refused: %v: %q", err, old)
				}
				checkEdit(rt, kind, s, old, after, mem)
			})
		})
	}
}

// A user who edits the file between install and uninstall gets the edit back, and nothing of ours.
func TestUndoAfterAnEditKeepsTheEdit(t *testing.T) {
	for kind, s := range kinds() {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				old := []byte(drawDoc(rt, kind))
				after, mem, err := s.edit(old, nil)
				if err != nil {
					rt.Fatalf("refused: %v: %q", err, old)
				}
				edit := func(b []byte) []byte {
					d, err := parse(b)
					if err != nil {
						rt.Fatal(err)
					}
					if err := d.addMember(nil, "users", object{{"own", list{"thing"}}}); err != nil {
						rt.Fatal(err)
					}
					return d.bytes()
				}
				got, _, err := s.clean(edit(after), mem)
				if err != nil {
					rt.Fatal(err)
				}
				want := edit(old)
				if minimal(rt, got) != minimal(rt, want) {
					rt.Fatalf("got\n%s\nwant\n%s\ninstalled\n%s", got, want, after)
				}
				if users := []byte(`"users"`); !bytes.Contains(got, users) {
					rt.Fatalf("the edit is gone: %s", got)
				}
			})
		})
	}
}

func minimal(t *rapid.T, b []byte) string {
	v, err := hujson.Parse(bytes.TrimPrefix(b, []byte("\ufeff")))
	if err != nil {
		t.Fatalf("%v: %q", err, b)
	}
	v.Minimize()
	return string(v.Pack())
}

func TestStandardJSONStaysStandardJSON(t *testing.T) {
	for kind, s := range kinds() {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				old := []byte(strings.TrimPrefix(drawDoc(rt, kind), "\ufeff"))
				if !json.Valid(old) {
					return
				}
				if after, _, err := s.edit(old, nil); err != nil || !json.Valid(after) {
					rt.Fatalf("%v: %q became %q", err, old, after)
				}
			})
		})
	}
}
