package recall

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// vocabulary draws words as people use them: a few of them often, most of them seldom.
func vocabulary() func() string {
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.1, 4, 20000)
	return func() string { return fmt.Sprintf("w%s", strings.Map(letter, fmt.Sprint(zipf.Uint64()))) }
}

func letter(r rune) rune { return 'a' + r - '0' }

// fill stores n records of invented words in a namespace.
func fill(b *testing.B, s *store.Store, namespace string, after, n int) {
	b.Helper()
	word := vocabulary()
	words := func(n int) string {
		var out []string
		for range n {
			out = append(out, word())
		}
		return strings.Join(out, " ")
	}
	for at := 0; at < n; at += 1000 {
		records := make([]event.Record, min(1000, n-at))
		for i := range records {
			records[i] = event.Record{
				Namespace: namespace, Title: words(7), Summary: words(40), Facts: []string{words(10), words(10)},
				FilesTouched: []string{words(1) + "/" + words(1) + ".go"},
			}
		}
		load(b, s, records, after+at)
	}
}

// BenchmarkSearch asks projects of several sizes in one database, of which a search may pay for its own only. Beside the mean
// it tells the 99th of a hundred.
func BenchmarkSearch(b *testing.B) {
	sizes := []int{1000, 10000, 100000}
	if testing.Short() {
		sizes = sizes[:2]
	}
	e, s := newEngine(b)
	after := 0
	space := func(n int) string { return fmt.Sprintf("/actor/ana/project/%d/", n) }
	for _, n := range sizes {
		fill(b, s, space(n), after, n)
		after += n
	}
	if err := s.MergeIndex(context.Background()); err != nil {
		b.Fatal(err)
	}
	word := vocabulary()
	var prompts []string
	for range 512 {
		prompts = append(prompts, strings.Join([]string{word(), word(), word(), word(), word(), word(), word(), word()}, " "))
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			var times []time.Duration
			for i := range b.N {
				begun := time.Now()
				if _, err := e.Search(context.Background(), Query{Namespace: space(n), Text: prompts[i%len(prompts)], Limit: 20}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(begun))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "ms-p99")
		})
	}
}

func BenchmarkParsePaste(b *testing.B) {
	text := strings.Repeat("2026-03-01T10:00:00Z INFO worker=7 tick=1234 msg=\"nothing to see\"\n", 7800) + "why does the uploader retry?"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		parse(text, false)
	}
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("Retries of the uploader are capped at three in upload/upload.go; see RetryPolicy and max_retries. ", 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		joinTerms(text)
	}
}

func BenchmarkBlock(b *testing.B) {
	var records []Result
	for i := range 30 {
		records = append(records, result(fmt.Sprint("title ", i), strings.Repeat("A sentence of the summary. ", 100), []string{"one fact", "another fact"}, []string{"a.go"}))
	}
	for b.Loop() {
		Block(records, 8192, 10)
	}
}
