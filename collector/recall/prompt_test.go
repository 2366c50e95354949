package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func textsOf(p prompt) []string {
	var out []string
	for _, t := range p.terms {
		out = append(out, t.text)
	}
	return out
}

func TestPromptTerms(t *testing.T) {
	log := strings.Repeat("2026-03-01T10:00:00Z INFO worker=7 tick=1234 msg=\"nothing to see\"\n", 7000)
	for _, tt := range []struct {
		name, in  string
		has, lack []string
	}{
		{"stop words go", "what did we do?", nil, []string{"what", "did", "we", "do"}},
		{"courtesy alone asks for nothing", "ok, thanks! go ahead", nil, []string{"ok", "thank", "go"}},
		{"courtesy beside a word stays", "thanks, now the gateway", []string{"gatewai"}, nil},
		{"identifier whole and in pieces", "user-auth", []string{"userauth", "user", "authent"}, nil},
		{"contraction", "don't", nil, []string{"don", "t"}},
		{"c plus plus", "C++", []string{"cpp"}, nil},
		{"unterminated quote", `"unterminated`, []string{"untermin"}, nil},
		{"operator", "foo AND", []string{"foo"}, []string{"and"}},
		{"column", "title:x", []string{"titl", "x"}, nil},
		{"mention", "@src/upload.go what is this", []string{"uploadgo", "upload"}, nil},
		{"url", "see https://example.com/retry-policy", []string{"retrypolici", "retri", "polici"}[1:], nil},
		{"question at the end of a log", log + "\nwhy does the uploader retry?", []string{"upload", "retri"}, nil},
		{"question before a log", "why does the uploader retry?\n" + log, []string{"upload", "retri"}, nil},
		{"error in a log", log + "panic: quota exceeded at limiter.go:88\n" + log, []string{"quota", "limitergo"}, nil},
		{"stack trace", "```\ngoroutine 1 [running]:\nmain.serve(0xc000)\n\t/src/app/serve_mux.go:41 +0x1d\n```\nwhat is wrong", []string{"servemuxgo"}, nil},
		{"question behind a word without end", strings.Repeat("x", 50000) + " why does the uploader retry?", []string{"upload", "retri"}, nil},
		{"question before a word without end", "why does the uploader retry? " + strings.Repeat("x", 50000), []string{"upload", "retri"}, nil},
		{"question behind a paste in one line", strings.Repeat("shard=eu latency=12ms ", 3000) + "why does the uploader retry?", []string{"upload", "retri"}, nil},
		{"question amid a log", log + "why does the uploader retry?\n" + log, []string{"upload", "retri"}, nil},
		{"quoted text", "> the gateway refused it\n\nwhy?", []string{"gatewai", "refus"}, nil},
		{"our own block", frameHeading + "\n" + frameNote + "\n\n### Gateways (2026-03-01, decision)\nThey limit.\n\nwhy does the uploader retry?", []string{"upload", "retri"}, []string{"gatewai", "limit", "note"}},
		{"our own block with the line ends of Windows", strings.ReplaceAll(frameHeading+"\n"+frameNote+"\n\n### Gateways (2026-03-01, decision)\nThey limit.\n\nwhy does the uploader retry?", "\n", "\r\n"), []string{"upload", "retri"}, []string{"gatewai", "limit", "note"}},
		{"our own block, quoted", "> " + frameHeading + "\n> " + frameNote + "\n>\n> ### Gateways (2026-03-01, decision)\n> They limit.\n\nwhy does the uploader retry?", []string{"upload", "retri"}, []string{"gatewai", "limit", "note"}},
		{"the scheme of a url", "see https://example.com/retry", []string{"exampl", "retri"}, []string{"http"}},
		{"long word is cut", strings.Repeat("x", 100000), nil, nil},
		{"german", "warum haben wir die Wiederholungen begrenzt", []string{"wiederholungen", "begrenzt"}, []string{"warum", "haben", "wir"}},
		{"empty", "", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := textsOf(parse(tt.in, false))
			for _, w := range tt.has {
				if !slices.Contains(got, w) {
					t.Errorf("%q is missing in %q", w, got)
				}
			}
			for _, w := range tt.lack {
				if slices.Contains(got, w) {
					t.Errorf("%q should not be in %q", w, got)
				}
			}
		})
	}
}

func TestTheAskOutweighsThePaste(t *testing.T) {
	p := parse(strings.Repeat("level=info shard=eu latency=12ms handler=checkout;\n", 400)+"How do we limit retries of the uploader?", false)
	weight := map[string]float64{}
	for _, q := range p.terms {
		weight[q.text] = q.weight
	}
	if weight["retri"] != weightAsk || weight["shard"] >= weight["retri"] {
		t.Errorf("the ask weighs %v, the paste %v", weight["retri"], weight["shard"])
	}
}

func TestFormOfAPrompt(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     form
	}{
		{"a question", "which queue is slow?", form{question: true}},
		{"a question without its mark", "when is the report made", form{question: true}},
		{"a question about us", "why did we leave it out", form{question: true, ours: true, here: true}},
		{"may we", "can we delete the old cluster", form{question: true, ours: true}},
		{"an order", "fix the test", form{order: true, verb: "fix"}},
		{"a polite order", "Could you please add a retry?", form{order: true, verb: "add"}},
		{"a wish", "I want you to rename my file", form{order: true, mine: true, verb: "rename"}},
		{"neither", "seat holds", form{}},
		{"this week is no thing", "the plan of this week", form{}},
		{"spanish", "¿cuándo se hace la copia?", form{question: true}},
		{"arabic", "كم مرة يتم النسخ الاحتياطي؟", form{question: true}},
		{"japanese", "いつですか", form{question: true}},
		{"an address asks nothing", "see https://example.com/?q=1 and a?b", form{}},
		{"nothing", "", form{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := parse(tt.in, false).form; got != tt.want {
				t.Errorf("%q is %+v, want %+v", tt.in, got, tt.want)
			}
		})
	}
}

func TestDates(t *testing.T) {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name, in string
		want     []dateRange
	}{
		{"iso day", "since 2026-03-01?", []dateRange{{day(2026, 3, 1), day(2026, 3, 2)}}},
		{"iso month", "in 2026-03", []dateRange{{day(2026, 3, 1), day(2026, 4, 1)}}},
		{"day first", "on 7 July, 2023", []dateRange{{day(2023, 7, 7), day(2023, 7, 8)}}},
		{"month first", "on May 3rd, 2023", []dateRange{{day(2023, 5, 3), day(2023, 5, 4)}}},
		{"month", "in june 2022", []dateRange{{day(2022, 6, 1), day(2022, 7, 1)}}},
		{"no year", "in June", nil},
		{"the verb", "we may retry 2000 times", nil},
		{"no date", "version 1.2.3 of 2026", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := findDates(tt.in); !slices.Equal(got, tt.want) {
				t.Errorf("findDates(%q) = %v, want %v", tt.in, got, tt.want)
			}
		})
	}
}

// FuzzQuery asks whatever comes: there is no error, and nothing but the project's own records in one frame.
func FuzzQuery(f *testing.F) {
	for _, s := range append(
		hostile(), `"unterminated`, "foo AND", "title:x", "NEAR(a b, 3)", "a* OR (b", "user-auth", "C++", "数据库", "\x00", "- - -", "1 OR 1=1; --",
		"upload retry gateway", "don't", "what did we do?", "hello", "ok", "thanks!", "데이터 베이스 upload 재시도", "アップロードのretryは", "when in 2026-03 did we change it",
		strings.Repeat("2026-11-20T09:00:01Z INFO upload id=7 status=200\n", 300)+"why did the upload fail?", "```go\nfunc retry() {}\n```\nwhy?", "\xff\xfe\xed\xa0\x80 upload",
		strings.Repeat("(", 2000), strings.Repeat("a ", 3000), "> quoted\n> lines\nwhat of the upload?", `{"^upload": {$or: [1]}}`,
	) {
		f.Add(s)
	}
	e, s := newEngine(f)
	for i, r := range uploads() {
		save(f, s, i, r)
		r.Namespace, r.Title, r.RecordID = "/actor/ana/project/2222/", "foreign "+r.Title, fmt.Sprintf("mr_01K%023d", i)
		save(f, s, i, r)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := Query{Namespace: testSpace, Text: s, Limit: 5}
		found, err := e.Search(context.Background(), q)
		if err != nil {
			t.Fatalf("search for %q: %v", s, err)
		}
		for _, r := range found {
			if r.Namespace != testSpace || r.Score <= 0 {
				t.Errorf("%q found %q of %s, score %v", s, r.Title, r.Namespace, r.Score)
			}
		}
		c, err := e.Context(context.Background(), q, ContextOptions{})
		if err != nil || strings.Contains(c.Text, "foreign") || c.Text != "" && strings.Count(c.Text, frameHeading) != 1 {
			t.Errorf("context for %q: %q, %v", s, c.Text, err)
		}
	})
}
