package recall

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

// vocabulary draws words as people use them: a few of them often, most of them seldom.
func vocabulary() func() string {
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.1, 4, 20000)
	return func() string { return fmt.Sprintf("w%s", strings.Map(letter, fmt.Sprint(zipf.Uint64()))) }
}

func letter(r rune) rune { return 'a' + r - '0' }

func fill(b *testing.B, add func(event.Record), n int) {
	b.Helper()
	word := vocabulary()
	words := func(n int) string {
		var out []string
		for range n {
			out = append(out, word())
		}
		return strings.Join(out, " ")
	}
	for range n {
		add(event.Record{Title: words(7), Summary: words(40), Facts: []string{words(10), words(10)}, FilesTouched: []string{words(1) + "/" + words(1) + ".go"}})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			e, s := newEngine(b)
			i := 0
			fill(b, func(r event.Record) { save(b, s, i, r); i++ }, n)
			word := vocabulary()
			var prompts []string
			for range 64 {
				prompts = append(prompts, strings.Join([]string{word(), word(), word(), word(), word(), word(), word(), word()}, " "))
			}
			b.ResetTimer()
			for i := range b.N {
				if _, err := e.Search(context.Background(), Query{Namespace: testSpace, Text: prompts[i%len(prompts)], Limit: 20}); err != nil {
					b.Fatal(err)
				}
			}
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
