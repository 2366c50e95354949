package recall

import (
	"context"
	"strings"
	"testing"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

func TestAlike(t *testing.T) {
	const summary = "The gateway limits uploads to three a second and answers 429 beyond, so the uploader waits and tries again until the queue is empty"
	for _, tt := range []struct {
		name string
		a, b event.Record
		want bool
	}{
		{"equal", event.Record{Title: "Gateway", Summary: summary}, event.Record{Title: "Gateway", Summary: summary}, true},
		{"equal but for files", event.Record{Title: "Gateway", Summary: summary, FilesTouched: []string{"a.go"}}, event.Record{Title: "Gateway", Summary: summary, FilesTouched: []string{"web/b.ts"}}, true},
		{"a word more", event.Record{Title: "Gateway", Summary: summary}, event.Record{Title: "Gateways", Summary: summary + " today"}, true},
		{"one title and most words", event.Record{Title: "Gateway", Summary: summary}, event.Record{Title: "gateway", Summary: summary + "; measured again on Friday with real traffic"}, true},
		{"other titles and most words", event.Record{Title: "Gateway", Summary: summary}, event.Record{Title: "Nightly job", Summary: summary + "; measured again on Friday with real traffic"}, false},
		{"one title and other words", event.Record{Title: "Ana", Summary: "I painted a lake"}, event.Record{Title: "Ana", Summary: "My brother called from Lisbon"}, false},
		{"nothing to compare", event.Record{FilesTouched: []string{"a.go"}}, event.Record{FilesTouched: []string{"a.go"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := makeDoc(&store.Stored{Record: tt.a}), makeDoc(&store.Stored{Record: tt.b})
			if got := alike(a, b); got != tt.want || alike(b, a) != got {
				t.Errorf("alike is %v and %v the other way round, want %v", got, alike(b, a), tt.want)
			}
		})
	}
}

func TestContextShowsWhatIsSaidTwiceOnce(t *testing.T) {
	e, s := newEngine(t)
	r := uploads()[0]
	save(t, s, 0, r)
	r.Facts = nil
	r.Summary += " Again."
	save(t, s, 1, r)
	save(t, s, 2, uploads()[1])
	c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: "how many times may the uploader retry?"}, ContextOptions{})
	if err != nil || strings.Count(c.Text, "Cap retries at three") != 1 {
		t.Errorf("got %q, %v; want one record about the cap", c.Text, err)
	}
}

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"nothing", "", 0},
		{"a letter", "a", 1},
		{"words", "four letters a token", 5},
		{"Japanese", "締切は二十四", 6},
		{"mixed", "予約 cancel", 4},
		{"Cyrillic", "привет!!", 4},
		{"an emoji", "🎉", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Tokens(tt.text); got != tt.want {
				t.Errorf("%q has %d tokens, want %d", tt.text, got, tt.want)
			}
		})
	}
}

func TestContextKeepsItsTokens(t *testing.T) {
	e, s := newEngine(t)
	for i := range 9 {
		save(t, s, i*90, event.Record{Title: "予約キャンセルの締切" + strings.Repeat("あ", i), Summary: strings.Repeat("公演の前まで予約をキャンセルできる。"+string(rune('一'+i*97)), 40)})
	}
	c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: "予約キャンセル"}, ContextOptions{MaxBytes: 8192})
	if err != nil || c.Text == "" {
		t.Fatalf("got %q, %v", c.Text, err)
	}
	if n := Tokens(c.Text); n > 8192/4 || n < 8192/8 {
		t.Errorf("%d tokens in %d bytes, want at most %d and use made of them", n, len(c.Text), 8192/4)
	}
}

// Whatever share of their words two records have in common, the sketch never tells those apart that are alike.
func TestTheSketchAgreesWithTheWords(t *testing.T) {
	word := vocabulary()
	told := 0
	pair := func(words []string) doc {
		return *makeDoc(&store.Stored{Record: event.Record{Title: "one title", Summary: strings.Join(words, " ")}})
	}
	for n := range 400 {
		var a, b []string
		for i := range 5 + n%60 {
			w := word()
			a = append(a, w)
			if (i*7+n)%10 < n%11 { // none to all of the words are shared
				b = append(b, w)
			} else {
				b = append(b, word())
			}
		}
		x, y := pair(a), pair(b)
		far := x.sketch.far(&y.sketch)
		x.sketch, y.sketch = sketch{}, sketch{}
		if far && alike(&x, &y) {
			t.Errorf("told apart, and alike:\n%v\n%v", a, b)
		}
		if far {
			told++
		}
	}
	if told < 100 || told > 350 {
		t.Errorf("%d of 400 pairs were told apart by the sketch", told)
	}
}
