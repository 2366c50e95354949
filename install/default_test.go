package install

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// editDefault and cleanDefault are setDefault and restoreDefault on a file that is there.
func editDefault(old []byte, mem before) ([]byte, before, error) {
	out, err := setDefault(old, true, fileMemory{Before: mem})
	if err != nil {
		return nil, nil, err
	}
	return out.after, out.memory.Before, nil
}

func cleanDefault(after []byte, mem before) ([]byte, error) {
	out, err := restoreDefault(after, true, fileMemory{Before: mem})
	return out.after, err
}

func TestUndoOfTheDefaultIsTheSameBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := genDoc{t: rt, comments: rapid.Bool().Draw(rt, "comments")}
		g.nl, g.unit = g.pick("newline", "\n", "\r\n"), g.pick("unit", "  ", "\t", "")
		var known []string
		if v := g.pick("was", "", `"dev"`, "null", `"kiro_\u0064efault"`, "7", "{ }"); v != "" {
			known = append(known, `"chat.defaultAgent" : `+v)
		}
		old := []byte(g.pick("bom", "", "\ufeff") + g.gap(0) + g.object(0, known) + g.gap(0))
		after, mem, err := editDefault(old, nil)
		if err != nil {
			rt.Fatalf("refused: %v: %q", err, old)
		}
		d, err := parse(after)
		if err != nil {
			rt.Fatal(err)
		}
		if l, ok := lit(d.find(defaultSetting)); !ok || l.String() != ownAgentName {
			rt.Fatalf("not set: %q", after)
		}
		if again, _, err := editDefault(after, mem); err != nil || !bytes.Equal(again, after) {
			rt.Fatalf("a second edit (%v) of %q gives %q", err, after, again)
		}
		if undone, err := cleanDefault(after, mem); err != nil || !bytes.Equal(undone, old) {
			rt.Fatalf("undone (%v)\n%q\nwant\n%q\nedited\n%q", err, undone, old, after)
		}
	})
}
