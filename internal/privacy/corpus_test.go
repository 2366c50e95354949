package privacy

import (
	"encoding/json"
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
	for _, r := range contextRules {
		if !rules[r.name] || r.finds == "" || !strings.HasPrefix(r.source, "https://") {
			t.Errorf("rule %s needs a line in the corpus, a word of what it finds, and a source", r.name)
		}
		delete(rules, r.name)
	}
	for _, r := range flagTable {
		if !strings.HasPrefix(r.source, "https://") {
			t.Errorf("%s %s needs a source", r.program, r.flag)
		}
	}
	for i := range tokenTable {
		if !strings.HasPrefix(tokenTable[i].source, "https://") {
			t.Errorf("rule %s needs a source", tokenTable[i].name)
		}
		if n := tokenTable[i].name; n != "bearer" && n != "basic" && n != "pem-base64" && !rules[n] {
			t.Errorf("rule %s has no line in the corpus", n)
		}
	}
	for i := range tokenTable {
		delete(rules, tokenTable[i].name)
	}
	for n := range rules {
		t.Errorf("%s is a rule of the corpus and of no table", n)
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

// A secret is the same secret raw, escaped once or twice, and inside a tool's input; so is what is none. JSON stays JSON,
// and a second run finds nothing more.
func TestCorpusInEveryWrapping(t *testing.T) {
	s := Scrubber{Secrets: true}
	text := func(in string) string { return s.Text(in) }
	object := func(in string) string { return string(s.JSON([]byte(in))) }
	inside := func(in string) string { q := quoteJSON(in); return q[1 : len(q)-1] }
	for _, w := range []struct {
		name  string
		wrap  func(in string) string
		scrub func(in string) string
	}{
		{"escaped", inside, text},
		{"escaped twice", func(in string) string { return inside(inside(in)) }, text},
		{"text of JSON", func(in string) string { return `{"stdout":` + quoteJSON(in) + `,"exit":0}` }, text},
		{"JSON", func(in string) string { return `{"stdout":` + quoteJSON(in) + `,"exit":0}` }, object},
		{"JSON in JSON", func(in string) string { return `{"result":[` + quoteJSON(`{"stdout":`+quoteJSON(in)+`}`) + `]}` }, object},
		{"JSON in JSON in JSON", func(in string) string {
			return `{"x":` + quoteJSON(`{"y":`+quoteJSON(`{"z":`+quoteJSON(in)+`}`)+`}`) + `}`
		}, object},
	} {
		t.Run(w.name, func(t *testing.T) {
			for _, l := range corpus(t, "secrets.txt") {
				_, l, _ = strings.Cut(l, "\t")
				in, _, secrets := marked(l)
				wrapped := w.wrap(in)
				got := w.scrub(wrapped)
				for _, x := range secrets {
					for range 4 {
						if strings.Contains(got, x) {
							t.Errorf("missed in %q", got)
						}
						x = inside(x)
					}
				}
				if json.Valid([]byte(wrapped)) && !json.Valid([]byte(got)) && !strings.Contains(l, "cut off") {
					t.Errorf("%s is no JSON any more: %s", wrapped, got)
				}
				if again := w.scrub(got); again != got {
					t.Errorf("%q\nbecame %q\nagain  %q", wrapped, got, again)
				}
			}
			for _, l := range corpus(t, "nearmiss.txt") {
				if got := w.scrub(w.wrap(l)); got != w.wrap(l) {
					t.Errorf("near miss %q became %q", l, got)
				}
			}
		})
	}
	for _, l := range corpus(t, "secrets.txt") {
		_, l, _ = strings.Cut(l, "\t")
		if in, want, _ := marked(l); json.Valid([]byte(in)) {
			if got := object(in); got != want && got != strings.ReplaceAll(want, Redacted, `"`+Redacted+`"`) {
				t.Errorf("%s as JSON\nbecame %s\nwant   %s", in, got, want)
			}
		}
	}
}

func quoteJSON(s string) string {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "\ufffd"))
	return string(b)
}

// In the place of a number stands a string, in quotes as many as the text around it has.
func TestNumbersCalledPasswords(t *testing.T) {
	s := Scrubber{Secrets: true}
	for _, c := range []struct{ name, in, want string }{
		{"member", `{"password":12345678,"n":1}`, `{"password":"[REDACTED]","n":1}`},
		{"escaped", `out: {\"password\": 8472910}`, `out: {\"password\": \"[REDACTED]\"}`},
		{"escaped twice", `{\\\"password\\\": 8472910}`, `{\\\"password\\\": \\\"[REDACTED]\\\"}`},
		{"sensitive", `{"value":12345,"sensitive":true}`, `{"value":"[REDACTED]","sensitive":true}`},
		{"list", `[{"db_password": 9999 }]`, `[{"db_password": "[REDACTED]" }]`},
		{"a length", `{"password":8,"passwordLength":1234}`, `{"password":8,"passwordLength":1234}`},
		{"not sensitive", `{"value":12345,"sensitive":false}`, `{"value":12345,"sensitive":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := s.Text(c.in); got != c.want {
				t.Errorf("text: got %s, want %s", got, c.want)
			}
			if !json.Valid([]byte(c.in)) {
				return
			}
			if got := string(s.JSON([]byte(c.in))); got != c.want || !json.Valid([]byte(got)) {
				t.Errorf("JSON: got %s, want %s", got, c.want)
			}
		})
	}
}
