//go:build unix

package viewer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

const (
	benchProjects = 8
	benchSessions = 1000
)

// fill makes a database of n events and n records, as some years of work leave it.
func (w *world) fill(n int) {
	w.t.Helper()
	s, err := store.Open(w.dirs.Database(), store.Options{Index: recall.Index{}})
	if err != nil {
		w.t.Fatal(err)
	}
	words := []string{"retry", "gateway", "invoice", "cache", "latency", "migration", "token", "index", "upload", "cart", "order", "price", "worker", "queue", "deploy", "docker", "parser", "layout", "session", "schema"}
	types := event.ObservationTypes()
	r := rand.New(rand.NewPCG(1, 7))
	word := func() string { return words[int(float64(len(words))*r.Float64()*r.Float64())] }
	var items []store.Item
	for i := range n {
		id := w.ids.Next(time.Second)
		session := i % benchSessions // each is of one project, and two hours of one day long
		project := session % benchProjects
		at := time.Now().Add(-time.Duration(session*8*60+r.IntN(120)) * time.Minute)
		ns := event.Namespace("mia", fmt.Sprint("p", project))
		kinds := []event.Kind{event.KindPrompt, event.KindToolUse, event.KindToolUse, event.KindSessionSummary}
		kind := kinds[i/benchSessions%4]
		body := event.TextBody(fmt.Sprintf("please look into the %s of the %s and the %s number %d", word(), word(), word(), i))
		if kind == event.KindToolUse {
			body = event.JSONBody([]byte(fmt.Sprintf(`{"tool_name":"fs_write","tool_input":{"path":"src/%s/%s.go","text":%q},"tool_response":{"result":["done"]}}`, word(), word(), strings.Repeat("x", r.IntN(2000)))))
		}
		e := event.Event{
			EventID: id, SessionID: fmt.Sprint("s-", session), ActorID: "mia", Namespace: ns, SchemaVersion: 1, Kind: kind, Body: body, ValidTime: at.UTC().Format(time.RFC3339Nano),
			Source: event.Source{Surface: "kiro-cli", Version: "1", ClientID: "h", ProjectPath: fmt.Sprint("/home/mia/p", project)},
		}
		rec := event.Record{
			RecordID: "mr_" + id, Namespace: ns, Strategy: event.StrategyRules, ObservationType: types[r.IntN(len(types))], CreatedAt: at.UTC().Format(time.RFC3339),
			Title:   fmt.Sprintf("The %s of the %s needs the %s %d", word(), word(), word(), i),
			Summary: fmt.Sprintf("We decided that the %s is kept beside the %s, because the %s was slow. See number %d.", word(), word(), word(), i),
			Facts:   []string{"the " + word() + " is " + word(), "number " + fmt.Sprint(i)}, Concepts: []string{word()}, FilesTouched: []string{fmt.Sprintf("src/%s/%s_%d.go", word(), word(), r.IntN(20))}, SourceEventIDs: []string{id},
		}
		items = append(items, store.Item{Event: &e, Distilled: true}, store.Item{Record: &rec})
		if len(items) < 1000 && i < n-1 {
			continue
		}
		if _, err := s.Import(context.Background(), items); err != nil {
			w.t.Fatal(err)
		}
		items = items[:0]
	}
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// spent is the processor time of this process, which tells more than the clock on a machine that is busy.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPages tells how long the pages take over many records: p95-ms is what one request in twenty takes longer than.
func BenchmarkPages(b *testing.B) {
	n := 100_000
	if s := os.Getenv("KIRO_LEARN_BENCH_RECORDS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			b.Fatal(err)
		}
	}
	w := newWorld(b)
	w.stop()
	w.config.Extract.Idle = 0
	begun := time.Now()
	w.fill(n)
	b.Logf("%d events and records made in %v", n, time.Since(begun).Round(time.Second))
	w.start()
	w.signIn()
	ns := url.QueryEscape(event.Namespace("mia", "p1"))
	day := time.Now().AddDate(0, 0, -1).Format(time.DateOnly)
	for _, c := range []struct{ name, path string }{
		{"now", "/"},
		{"now of a project", "/?project=" + ns},
		{"sessions", "/sessions"},
		{"sessions, last page", "/sessions?page=20"},
		{"session", "/sessions/one?id=s-1&ns=" + ns},
		{"memory", "/memory"},
		{"memory, page 1000", "/memory?page=1000"},
		{"memory of a project", "/memory?project=" + ns},
		{"memory of a type", "/memory?type=error"},
		{"memory of a day", "/memory?from=" + day + "&to=" + day},
		{"search in a project", "/memory?q=gateway+retry+number+4711&part=1&project=" + ns},
		{"search everywhere", "/memory?q=gateway+retry+number+4711&part=1"},
		{"search of a file", "/memory?file=src/queue/queue_7.go&project=" + ns},
		{"projects", "/projects"},
		{"project with its map", "/projects/one?ns=" + ns},
		{"health", "/health"},
		{"forgotten", "/forgotten"},
	} {
		b.Run(c.name, func(b *testing.B) {
			w.t = b
			w.page(c.path) // once before: SQLite reads its pages
			took := make([]time.Duration, 0, b.N)
			before := spent()
			for b.Loop() {
				at := time.Now()
				w.page(c.path)
				took = append(took, time.Since(at))
			}
			b.ReportMetric(float64((spent()-before).Microseconds())/1000/float64(len(took)), "cpu-ms/op")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
