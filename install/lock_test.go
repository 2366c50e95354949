package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Installs that run at once, of several projects and the user's own, each find what the others did: every entry is there
// once, every project is remembered, and one uninstall takes all of it out.
func TestInstallsAtOnce(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	furnish(m)
	original := m.tree()
	var envs []Env
	for i := range 4 {
		env := m.env
		env.Project = filepath.Join(m.env.Home, fmt.Sprintf("p%d", i))
		m.mkdir(filepath.Join(env.Project, ".git"))
		envs = append(envs, env)
	}
	var all sync.WaitGroup
	for _, env := range envs {
		for _, o := range []Options{{Project: true}, {AllAgents: true}} {
			all.Go(func() {
				p, err := PlanInstall(env, o)
				if err != nil {
					t.Error(err)
					return
				}
				if err := p.Apply(env).Err(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for f, text := range m.tree() {
		if n := strings.Count(text, "kiro-learn stop "); strings.HasSuffix(f, ".json") && !strings.Contains(f, "settings") && n != 1 {
			t.Errorf("%s has %d hooks of stop", f, n)
		}
	}
	if got := loadMemory(m.env).Projects; len(got) != len(envs) {
		t.Errorf("remembered %v", got)
	}
	if err := m.uninstall(Options{}).Err(); err != nil {
		t.Fatal(err)
	}
	left := m.tree()
	for f, text := range original {
		if left[f] != text {
			t.Errorf("%s is %q", f, left[f])
		}
	}
	if len(left) != len(original) {
		t.Errorf("left %v", left)
	}
}

func TestInstallBesideOneThatHangs(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	unlock, err := lock(m.env)
	if err != nil {
		t.Fatal(err)
	}
	m.env.lockWait = time.Millisecond
	res := m.install(Options{})
	if len(res.Done) > 0 || len(res.Failed) != 1 || !strings.Contains(res.Failed[0].Error(), "another kiro-learn is installing") || !strings.Contains(res.Failed[0].Error(), "wait until it is done, and type: kiro-learn install") {
		t.Errorf("result %+v", res)
	}
	if got := m.tree(); len(got) > 0 {
		t.Errorf("wrote %v", got)
	}
	unlock()
	if err := m.install(Options{}).Err(); err != nil {
		t.Error(err)
	}
}

// A file that comes into being, or changes, while its change is being prepared is read again and kept.
func TestOvertakenAtTheLastMoment(t *testing.T) {
	for _, c := range []struct{ name, old, now string }{
		{"changed", `{"name": "a"}`, `{"name": "a", "model": "m"}`},
		{"made", "", `{"mcpServers": {}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, "h", "2.21.3", "")
			rel := map[string]string{"changed": "agents/a.json", "made": "settings/mcp.json"}[c.name]
			path := filepath.Join(m.env.Home, ".kiro", rel)
			if c.old != "" {
				m.kiro(rel, c.old)
			}
			plan := m.planInstall(Options{})
			for i := range plan.Changes {
				if plan.Changes[i].Path != path {
					continue
				}
				tries, again := 0, plan.Changes[i].redo
				plan.Changes[i].redo = func(old []byte, exists bool, fm fileMemory) (outcome, error) {
					out, err := again(old, exists, fm)
					if tries++; tries == 1 { // behind the reading, before the writing
						m.write(path, c.now, 0o644)
					}
					return out, err
				}
			}
			if err := plan.Apply(m.env).Err(); err != nil {
				t.Fatal(err)
			}
			if got := m.read(path); !isSubsequence(strings.Trim(c.now, "{}"), got) || !strings.Contains(got, "kiro-learn") {
				t.Errorf("holds %s", got)
			}
			m.uninstall(Options{})
			if got, err := os.ReadFile(path); err != nil || string(got) != c.now {
				t.Errorf("after uninstall %q, %v", got, err)
			}
		})
	}
}

// What a killed run left half-written goes with the next one, be it that there is nothing else to do.
func TestLeftoversOfAKilledRunGo(t *testing.T) {
	m := newMachine(t, "h", "2.21.3", "")
	m.kiro("agents/a.json", agentPlain)
	original := m.tree()
	if err := m.install(Options{}).Err(); err != nil {
		t.Fatal(err)
	}
	installed := m.tree()
	m.kiro("agents/.a.json.tmp1234", "half")
	m.kiro("settings/.mcp.json.tmp99", "")
	if err := m.install(Options{}).Err(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(installed, m.tree()); d != "" {
		t.Errorf("after the second install: %s", d)
	}
	m.kiro("agents/.a.json.tmp5", "half")
	m.uninstall(Options{})
	m.uninstall(Options{})
	if d := cmp.Diff(original, m.tree()); d != "" {
		t.Errorf("after uninstall: %s", d)
	}
}
