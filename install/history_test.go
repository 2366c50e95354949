package install

import (
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the order of installs through different paths, of the user's edits and of uninstalls, after the last
// uninstall every file is what the user made of it. Without an edit since it is that to the byte.
func TestAnyHistoryEndsClean(t *testing.T) {
	kindOf := map[string]string{"agents/a.json": "agent", "agents/b.json": "agent", "settings/mcp.json": "mcp", "hooks/kiro-learn.json": "hooks"}
	fewer(t, "25")
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, "h", "", "")
		want, edited := map[string][]byte{}, map[string]bool{}
		for _, rel := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"agents/a.json", "agents/b.json", "settings/mcp.json", "hooks/kiro-learn.json"}), rapid.ID).Draw(rt, "files") {
			want[rel] = []byte(drawDoc(rt, kindOf[rel]))
			m.kiro(rel, string(want[rel]))
		}
		edits := 0
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"install", "install", "elsewhere", "edit", "uninstall"}).Draw(rt, "step") {
			case "install":
				m.install(Options{AllAgents: true})
			case "elsewhere":
				m.env.Executable = filepath.Join(m.dir, rapid.StringMatching(`[a-c' ]{1,3}`).Draw(rt, "dir"), "kiro-learn")
				m.install(Options{})
			case "uninstall":
				m.uninstall(Options{})
			case "edit":
				edits++
				key := string(rune('A' + edits))
				for rel := range want {
					want[rel], edited[rel] = addKey(rt, want[rel], key), true
					now := addKey(rt, []byte(m.read(filepath.Join(m.env.Home, ".kiro", rel))), key)
					m.kiro(rel, string(now))
				}
			}
		}
		m.install(Options{AllAgents: true})
		if err := m.uninstall(Options{}).Err(); err != nil {
			rt.Fatal(err)
		}
		left := m.tree()
		if len(left) != len(want) {
			rt.Fatalf("left %v", left)
		}
		for rel, text := range want {
			got := left[filepath.Join(".kiro", rel)]
			if same := got == string(text); !same && (!edited[rel] || minimal(rt, []byte(got)) != minimal(rt, text)) {
				rt.Fatalf("%s is\n%s\nwant\n%s", rel, got, text)
			}
		}
	})
}

func addKey(t *rapid.T, b []byte, key string) []byte {
	d, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.addMember(nil, key, "the user's"); err != nil {
		t.Fatal(err)
	}
	return d.bytes()
}
