package recall

import (
	"bufio"
	"context"
	_ "embed"
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

// noiseSet is an invented project: lines "R title | summary | files" are its records, lines "+ prompt | word" prompts
// that must bring a record with that word, lines "- prompt" prompts that must bring nothing.
//
//go:embed testdata/noise.txt
var noiseSet string

// At most 2 % of the prompts that have nothing to do with the project may get something, and at least 95 % of those
// whose record exists must get it.
func TestNoise(t *testing.T) {
	e, s := newEngine(t)
	var related, right, unrelated, noisy, records int
	ask := func(prompt string) string {
		t.Helper()
		c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: prompt}, ContextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	for in := bufio.NewScanner(strings.NewReader(noiseSet)); in.Scan(); {
		kind, rest, _ := strings.Cut(in.Text(), " ")
		part := strings.Split(rest, " | ")
		switch kind {
		case "R":
			save(t, s, records*90, event.Record{Title: part[0], Summary: part[1], FilesTouched: strings.Fields(part[2])})
			records++
		case "+":
			related++
			if strings.Contains(ask(part[0]), part[1]) {
				right++
			} else {
				t.Logf("%q did not bring %q", part[0], part[1])
			}
		case "-":
			unrelated++
			if got := ask(rest); got != "" {
				noisy++
				t.Logf("%q brought %q", rest, strings.SplitN(got, "\n", 5)[3])
			}
		}
	}
	t.Logf("%d records; %d of %d related prompts were answered; %d of %d unrelated ones", records, right, related, noisy, unrelated)
	if records < 40 || related < 30 || unrelated < 30 {
		t.Errorf("%d records, %d and %d prompts are too few to tell", records, related, unrelated)
	}
	if right*100 < related*95 {
		t.Errorf("%d of %d prompts whose record exists got it, want at least 95 %%", right, related)
	}
	if noisy*100 > unrelated*2 {
		t.Errorf("%d of %d prompts about something else got output, want at most 2 %%", noisy, unrelated)
	}
}
