package recall

import (
	"context"
	"embed"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// Invented projects and prompts: a line "R title | summary | files" is a record, "+ prompt | word" a prompt that must bring
// a record with that word, "- prompt" one that must bring nothing. noise.txt is the project on which the floor was first
// calibrated; those of small were written at one go before any of them was tried.
//
//go:embed testdata
var testdata embed.FS

// noiseSet is what such a file holds.
type noiseSet struct {
	records []event.Record
	asks    [][2]string // a prompt, and a word of the record that it must bring
	idle    []string    // prompts that must bring nothing
}

func readNoise(t *testing.T, file string) (n noiseSet) {
	t.Helper()
	b, err := testdata.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		part := strings.Split(rest, " | ")
		switch kind {
		case "R":
			n.records = append(n.records, event.Record{Title: part[0], Summary: part[1], FilesTouched: strings.Fields(part[2])})
		case "+":
			n.asks = append(n.asks, [2]string{part[0], part[1]})
		case "-":
			n.idle = append(n.idle, rest)
		}
	}
	return n
}

// rates counts prompts and what they were given.
type rates struct{ related, right, unrelated, noisy int }

func (r *rates) add(o rates) {
	r.related, r.right, r.unrelated, r.noisy = r.related+o.related, r.right+o.right, r.unrelated+o.unrelated, r.noisy+o.noisy
}

// ask asks prompts, and counts those that are of one half: every other one from the first on, or from the second.
func ask(t *testing.T, e *Engine, asks [][2]string, idle []string, half int) (r rates) {
	t.Helper()
	get := func(prompt string) string {
		t.Helper()
		c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: prompt}, ContextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	for i := half; i < len(asks); i += 2 {
		r.related++
		if strings.Contains(get(asks[i][0]), asks[i][1]) {
			r.right++
		} else {
			t.Logf("%q did not bring %q", asks[i][0], asks[i][1])
		}
	}
	for i := half; i < len(idle); i += 2 {
		r.unrelated++
		if got := get(idle[i]); got != "" {
			r.noisy++
			t.Logf("%q brought %q", idle[i], strings.SplitN(got, "\n", 5)[3])
		}
	}
	return r
}

// load stores records, an hour and a half apart.
func load(t testing.TB, s *store.Store, records []event.Record, after int) {
	t.Helper()
	items := make([]store.Item, len(records))
	for i := range records {
		r := records[i]
		id := fmt.Sprintf("%023d", after+i)
		r.RecordID, r.SourceEventIDs, r.Strategy = "mr_01J"+id, []string{"01J" + id}, event.StrategyRules
		if r.Namespace == "" {
			r.Namespace = testSpace
		}
		r.CreatedAt = testTime.Add(time.Duration(after+i) * 90 * time.Minute).Format(time.RFC3339)
		r.Concepts, r.ObservationType = []string{}, event.TypeDiscovery
		if r.Facts == nil {
			r.Facts = []string{}
		}
		items[i].Record = &r
	}
	if _, err := s.Import(context.Background(), items); err != nil {
		t.Fatal(err)
	}
}

// check fails when fewer than right percent of the related prompts were answered, or more than noisy of the others.
func (r rates) check(t *testing.T, right, noisy float64) {
	t.Helper()
	t.Logf("%d of %d related prompts were answered; %d of %d unrelated ones", r.right, r.related, r.noisy, r.unrelated)
	if r.related < 30 || r.unrelated < 100 {
		t.Errorf("%d and %d prompts are too few to tell", r.related, r.unrelated)
	}
	if float64(r.right*100) < float64(r.related)*right {
		t.Errorf("%d of %d prompts whose record exists got it, want at least %v %%", r.right, r.related, right)
	}
	if float64(r.noisy*100) > float64(r.unrelated)*noisy {
		t.Errorf("%d of %d prompts about something else got output, want at most %v %%", r.noisy, r.unrelated, noisy)
	}
}

// At most 2 % of the prompts that have nothing to do with the project may get something, and at least 95 % of those
// whose record exists must get it.
func TestNoise(t *testing.T) {
	e, s := newEngine(t)
	set := readNoise(t, "noise.txt")
	load(t, s, set.records, 0)
	idle := append(set.idle, readNoise(t, "tasks.txt").idle...)
	r := ask(t, e, set.asks, idle, 0)
	r.add(ask(t, e, set.asks, idle, 1))
	r.check(t, 95, 2)
}

// Projects of some fifty records, asked in words of everyday as well, and given tasks in the words of such projects. The
// numbers of the floor were chosen with the first half of the prompts before the eyes.
func TestNoiseInSmallProjects(t *testing.T) {
	names := []string{"web", "ops", "data"}
	idle := append(readNoise(t, "small/generic.txt").idle, readNoise(t, "tasks.txt").idle...)
	for _, name := range names {
		idle = append(idle, readNoise(t, "small/"+name+".txt").idle...)
	}
	var half [2]rates
	for _, name := range names {
		e, s := newEngine(t)
		set := readNoise(t, "small/"+name+".txt")
		load(t, s, set.records, 0)
		for i := range half {
			half[i].add(ask(t, e, set.asks, idle, i))
		}
	}
	half[0].check(t, 93, 2)
	half[1].check(t, 95, 2)
}

// A project that was written when the numbers of the floor stood, and is asked for what no number was chosen by.
func TestNoiseInANewProject(t *testing.T) {
	e, s := newEngine(t)
	set := readNoise(t, "small/photo.txt")
	load(t, s, set.records, 0)
	idle := append(set.idle, readNoise(t, "small/generic.txt").idle...)
	r := ask(t, e, set.asks, idle, 0)
	r.add(ask(t, e, set.asks, idle, 1))
	r.check(t, 93, 2)
}

// Who tells a long story uses many words that a small project has never heard, and says "this" and "it" of what he has told.
func TestLongPrompts(t *testing.T) {
	e, s := newEngine(t)
	load(t, s, readNoise(t, "small/web.txt").records, 0)
	for _, tt := range []struct{ name, prompt, want string }{
		{"a report", "We had an outage last night. Postgres was slow for a minute and then Kubernetes restarted all of our pods, which made everything worse. What could be the reason? Let me know before you change anything.", "/livez"},
		{"a report and an order", "Sentry is full of AbortError again since yesterday. Please look at web/src/sentry.ts and check whether the filter is still there. If it is not, add it back and write a test.", "beforeSend"},
		{"a wish of somebody's", "Support forwarded me a mail from a person who wants to know everything we store about them. Is there a job for a GDPR export and how do I start it?", "gdpr-export"},
		{"a customer's trouble", "Hi! A customer called and says the csv export of their orders never finishes. I looked at it in the browser and after some minutes I get a gateway error. Could you find out why and fix it?", "streamed"},
		{"work on what was changed", "Hi, please go through the files that I changed today, look for typos in the comments and fix them. Do not change any code. When you are done give me a short summary of what you did.", ""},
		{"a lesson", "I would like to learn more about TypeScript generics. Can you explain them to me step by step with a few examples, beginning with the simple ones? I know Java quite well.", ""},
		{"work on what is seen", "This function is hard to read. Split it into smaller ones, give them good names and add a comment to each of them. Make sure that the tests still pass afterwards.", ""},
		{"how to go about it", "Let's do it differently. First write down a plan with the steps, then wait until I say go. Do not touch any file before that.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: tt.prompt}, ContextOptions{})
			if err != nil || tt.want == "" && c.Text != "" || !strings.Contains(c.Text, tt.want) {
				t.Errorf("got %q, %v; want %q", c.Text, err, tt.want)
			}
		})
	}
}

// In a large project, which has used every word of programming and of everyday in many combinations, some questions in
// such words alone cannot be told from a task, so the promise is weaker.
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
	records := make([]event.Record, others)
	for i := range records {
		records[i] = event.Record{
			Title: fmt.Sprintf("mod%d: %s", rnd.IntN(200), some(4)), Summary: some(9),
			FilesTouched: []string{fmt.Sprintf("mod%d/%s.go", rnd.IntN(200), some(1))},
		}
	}
	load(t, s, records, 0)
	set := readNoise(t, "noise.txt")
	load(t, s, set.records, others)
	idle := append(set.idle, readNoise(t, "tasks.txt").idle...)
	r := ask(t, e, set.asks, idle, 0)
	r.add(ask(t, e, set.asks, idle, 1))
	r.check(t, 90, 2)
}
