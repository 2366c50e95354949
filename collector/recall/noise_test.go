package recall

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// noiseSet is an invented project: lines "R title | summary | files" are its records, lines "+ prompt | word" prompts
// that must bring a record with that word, lines "- prompt" prompts that must bring nothing.
//
//go:embed testdata/noise.txt
var noiseSet string

// tasks are prompts of programming in any project, one a line, which ask for no memory.
//
//go:embed testdata/tasks.txt
var tasks string

// rates counts prompts and what they were given.
type rates struct{ related, right, unrelated, noisy, records int }

// play asks the prompts of the noise set and the tasks, and stores the set's records when it is asked to.
func play(t *testing.T, e *Engine, s *store.Store, after int) (r rates) {
	t.Helper()
	ask := func(prompt string) string {
		t.Helper()
		c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: prompt}, ContextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	unrelated := func(prompt string) {
		r.unrelated++
		if got := ask(prompt); got != "" {
			r.noisy++
			t.Logf("%q brought %q", prompt, strings.SplitN(got, "\n", 5)[3])
		}
	}
	for in := bufio.NewScanner(strings.NewReader(noiseSet)); in.Scan(); {
		kind, rest, _ := strings.Cut(in.Text(), " ")
		part := strings.Split(rest, " | ")
		switch kind {
		case "R":
			save(t, s, (after+r.records)*90, event.Record{Title: part[0], Summary: part[1], FilesTouched: strings.Fields(part[2])})
			r.records++
		case "+":
			r.related++
			if strings.Contains(ask(part[0]), part[1]) {
				r.right++
			} else {
				t.Logf("%q did not bring %q", part[0], part[1])
			}
		case "-":
			unrelated(rest)
		}
	}
	for in := bufio.NewScanner(strings.NewReader(tasks)); in.Scan(); {
		unrelated(in.Text())
	}
	return r
}

// check fails when fewer than right percent of the related prompts were answered, or more than noisy of the others.
func (r rates) check(t *testing.T, right, noisy int) {
	t.Helper()
	t.Logf("%d records; %d of %d related prompts were answered; %d of %d unrelated ones", r.records, r.right, r.related, r.noisy, r.unrelated)
	if r.records < 40 || r.related < 30 || r.unrelated < 100 {
		t.Errorf("%d records, %d and %d prompts are too few to tell", r.records, r.related, r.unrelated)
	}
	if r.right*100 < r.related*right {
		t.Errorf("%d of %d prompts whose record exists got it, want at least %d %%", r.right, r.related, right)
	}
	if r.noisy*100 > r.unrelated*noisy {
		t.Errorf("%d of %d prompts about something else got output, want at most %d %%", r.noisy, r.unrelated, noisy)
	}
}

// At most 2 % of the prompts that have nothing to do with the project may get something, and at least 95 % of those
// whose record exists must get it.
func TestNoise(t *testing.T) {
	e, s := newEngine(t)
	play(t, e, s, 0).check(t, 95, 2)
}

// In a large project, which has used every word of programming and of everyday in many combinations, a question in such
// words alone cannot be told from a task, so the promise is weaker.
func TestNoiseInALargeProject(t *testing.T) {
	e, s := newEngine(t)
	const others = 3000
	words := strings.Fields(softwareWords + " " + taskWords + " " + commonWords)
	rnd := rand.New(rand.NewPCG(3, 4))
	rnd.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	often := rand.NewZipf(rnd, 1.1, 40, uint64(len(words)-1)) // some words often, most of them seldom, as people write
	some := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[often.Uint64()]
		}
		return strings.Join(out, " ")
	}
	items := make([]store.Item, others)
	for i := range items {
		created := testTime.Add(time.Duration(i) * 90 * time.Minute)
		items[i].Record = &event.Record{
			RecordID: fmt.Sprintf("mr_01K%023d", i), Namespace: testSpace, Strategy: event.StrategyRules,
			Title: fmt.Sprintf("mod%d: %s", rnd.IntN(200), some(4)), Summary: some(9), Facts: []string{}, Concepts: []string{},
			FilesTouched: []string{fmt.Sprintf("mod%d/%s.go", rnd.IntN(200), some(1))}, SourceEventIDs: []string{fmt.Sprintf("01K%023d", i)},
			CreatedAt: created.Format(time.RFC3339), ObservationType: event.TypeDiscovery,
		}
	}
	if _, err := s.Import(context.Background(), items); err != nil {
		t.Fatal(err)
	}
	play(t, e, s, others).check(t, 85, 4)
}
