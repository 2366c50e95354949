package session

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestID(t *testing.T) {
	long := strings.Repeat("é", 128)
	agent := Agent{PID: 4711, Start: "boot/99"}
	tests := []struct {
		name, payload, env string
		want               string // a prefix where it ends in "…"
	}{
		{"the payload's", "sess_0b7c7d4e", "other", "sess_0b7c7d4e"},
		{"the environment's", "", "sess_env", "sess_env"},
		{"a blank one is none", " \t\n", "sess_env", "sess_env"},
		{"derived", "", "", "derived-…"},
		{"128 characters", long, "", long},
		{"129 characters", long + "x", "", "hashed-…"},
		{"64 KiB", strings.Repeat("a", 1<<16), "", "hashed-…"},
		{"path pieces are only data", "../../etc/passwd", "", "../../etc/passwd"},
		{"control characters", "a\x00b", "", "hashed-…"},
		{"a newline", "a\nb", "", "hashed-…"},
		{"invalid UTF-8", "a\xff", "", "hashed-…"},
		{"poses as derived", "derived-0123", "", "hashed-…"},
		{"poses as hashed", "hashed-0123", "", "hashed-…"},
		{"the environment's is cleaned too", "", "a\x1bb", "hashed-…"},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ID(tt.payload, func(string) string { return tt.env }, "kiro-cli", "p1", func() Agent { return agent })
			if want, isPrefix := strings.CutSuffix(tt.want, "…"); isPrefix {
				if !strings.HasPrefix(got, want) || len(got) > 128 {
					t.Errorf("got %q, want %s", got, tt.want)
				}
				if before := seen[got]; before != "" {
					t.Errorf("the same id as for %q", before)
				}
				seen[got] = tt.name
			} else if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAgentIsNotSoughtWithoutNeed(t *testing.T) {
	got := ID("s1", func(string) string { return "" }, "kiro-cli", "p1", func() Agent {
		t.Error("the agent was sought")
		return Agent{}
	})
	if got != "s1" {
		t.Errorf("got %q", got)
	}
}

func TestDerivedIDsAgreeAndDiffer(t *testing.T) {
	none := func(string) string { return "" }
	derive := func(surface, project string, a Agent) string {
		return ID("", none, surface, project, func() Agent { return a })
	}
	base := derive("kiro-cli", "p1", Agent{PID: 7, Start: "100"})
	if again := derive("kiro-cli", "p1", Agent{PID: 7, Start: "100"}); again != base {
		t.Errorf("one agent's hooks disagree: %s, %s", base, again)
	}
	for _, tt := range []struct {
		name, surface, project string
		agent                  Agent
	}{
		{"surface", "kiro-ide", "p1", Agent{7, "100"}},
		{"project", "kiro-cli", "p2", Agent{7, "100"}},
		{"agent", "kiro-cli", "p1", Agent{8, "100"}},
		{"reused pid", "kiro-cli", "p1", Agent{7, "101"}},
		{"digits that move", "kiro-cli", "p1", Agent{71, "00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := derive(tt.surface, tt.project, tt.agent); got == base {
				t.Errorf("another %s gives the same id %s", tt.name, got)
			}
		})
	}
}

func FuzzIDs(f *testing.F) {
	f.Add("a", "a\x00")
	f.Add("hashed-", "\xff")
	f.Add(strings.Repeat("a", 129), strings.Repeat("a", 130))
	f.Fuzz(func(t *testing.T, a, b string) {
		ids := map[string]string{}
		for _, given := range []string{a, b, usable(a), usable(b), usable(usable(a))} {
			if strings.TrimSpace(given) == "" {
				continue
			}
			id := ID(given, func(string) string { return "" }, "kiro-cli", "p", nil)
			if n := utf8.RuneCountInString(id); n < 1 || n > 128 || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
				t.Errorf("%q became %q", given, id)
			}
			if before, ok := ids[id]; ok && before != given {
				t.Errorf("%q and %q are both %q", before, given, id)
			}
			ids[id] = given
		}
	})
}
