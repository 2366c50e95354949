package privacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus is the lines of a file of testdata, without comments and what keeps scanners off.
func corpus(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for l := range strings.Lines(strings.NewReplacer("¦", "", "\r", "").Replace(string(b))) {
		if l = strings.TrimSuffix(l, "\n"); l != "" && l[0] != '#' {
			lines = append(lines, strings.ReplaceAll(l, "⏎", "\n"))
		}
	}
	return lines
}

// marked splits a text into what it is, what it should become, and what should go.
func marked(s string) (in, want string, secrets []string) {
	var a, b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "⟦")
		a.WriteString(before)
		b.WriteString(before)
		if !ok {
			return a.String(), b.String(), secrets
		}
		secret, after, _ := strings.Cut(rest, "⟧")
		a.WriteString(secret)
		b.WriteString(Redacted)
		secrets = append(secrets, secret)
		s = after
	}
}

// The levels that the corpus is held to. A rule may raise them, never lower them.
const (
	wantRecall    = 1.0
	wantPrecision = 1.0
)

func TestCorpus(t *testing.T) {
	s := Scrubber{Secrets: true}
	found, missed, wrong := 0, 0, 0
	rules := map[string]bool{}
	for _, l := range corpus(t, "secrets.txt") {
		rule, text, ok := strings.Cut(l, "\t")
		if !ok {
			t.Fatalf("a line without a rule: %q", l)
		}
		rules[rule] = true
		in, want, secrets := marked(text)
		got := s.Text(in)
		for _, x := range secrets {
			if strings.Contains(got, x) {
				missed++
				t.Errorf("%s: missed in %q", rule, in)
			} else {
				found++
			}
		}
		if got != want {
			wrong++
			t.Errorf("%s: %q\n  became %q\n  instead of %q", rule, in, got, want)
		}
	}
	for i := range tokenTable {
		if n := tokenTable[i].name; n != "bearer" && n != "basic" && n != "pem-base64" && !rules[n] {
			t.Errorf("rule %s has no line in the corpus", n)
		}
	}
	near := corpus(t, "nearmiss.txt")
	for _, l := range near {
		if got := s.Text(l); got != l {
			wrong++
			t.Errorf("near miss %q became %q", l, got)
		}
	}
	recall := float64(found) / float64(found+missed)
	precision := float64(found) / float64(found+wrong)
	t.Logf("%d secrets, %d near misses: recall %.3f, precision %.3f", found+missed, len(near), recall, precision)
	if recall < wantRecall || precision < wantPrecision {
		t.Errorf("recall %.3f, precision %.3f; want %.3f and %.3f", recall, precision, wantRecall, wantPrecision)
	}
}

// What is found in the whole must be found in any surroundings.
func TestCorpusInSurroundings(t *testing.T) {
	s := Scrubber{Secrets: true}
	for _, around := range []struct{ name, before, after string }{
		{"lines", "first line\n", "\nlast line"},
		{"crlf", "first line\r\n", "\r\nlast line"},
		{"colours", "\x1b[32m", "\x1b[0m"},
		{"diff", "diff --git a/x b/x\n+", "\n-gone\n"},
	} {
		t.Run(around.name, func(t *testing.T) {
			for _, l := range corpus(t, "secrets.txt") {
				_, text, _ := strings.Cut(l, "\t")
				if strings.Contains(text, "cut off") {
					continue // hides everything behind it
				}
				in, _, secrets := marked(text)
				got := s.Text(around.before + in + around.after)
				for _, x := range secrets {
					if strings.Contains(got, x) {
						t.Errorf("missed in %q", around.before+in+around.after)
					}
				}
			}
		})
	}
}
