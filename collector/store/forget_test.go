package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

// garden is a store with two projects and three sessions, each of whose texts has words of its own.
type garden struct {
	*Store
	t    *testing.T
	path string
	now  time.Time
	n    int
}

func newGarden(t *testing.T) *garden {
	t.Helper()
	g := &garden{t: t, path: filepath.Join(t.TempDir(), "memory.db"), now: time.Now()}
	var err error
	if g.Store, err = Open(g.path, Options{Index: words{1}, Now: func() time.Time { return g.now }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// turn stores a prompt, a tool use and an answer that hold a word, and a record made of them.
func (g *garden) turn(ns, session, word string) (events []event.Event, rec event.Record) {
	g.t.Helper()
	for i, kind := range []event.Kind{event.KindPrompt, event.KindToolUse, event.KindSessionSummary} {
		g.n++
		e := testEvent(session, kind, fmt.Sprintf("%s said %d", word, i))
		e.EventID = fmt.Sprintf("01K%023d", g.n)
		e.Namespace, e.Source.ProjectPath = ns, "/home/mia/"+ns[len(ns)-2:len(ns)-1]
		if i > 0 {
			e.ParentEventID = events[0].EventID
		}
		events = append(events, e)
	}
	g.add(events...)
	rec = testRecord(ns, word)
	rec.SourceEventIDs = []string{events[0].EventID, events[2].EventID}
	ids := []string{events[0].EventID, events[1].EventID, events[2].EventID}
	if ok, err := g.Distilled(g.t.Context(), ids, []event.Record{rec}); err != nil || !ok {
		g.t.Fatalf("distilled %v, %v", ok, err)
	}
	return events, rec
}

func (g *garden) add(events ...event.Event) []bool {
	g.t.Helper()
	stored, err := g.AddEvents(g.t.Context(), events)
	if err != nil {
		g.t.Fatal(err)
	}
	return stored
}

// view is everything that readers can see.
func (g *garden) view() map[string]any {
	g.t.Helper()
	ctx := g.t.Context()
	out := map[string]any{}
	must := func(err error) {
		if err != nil {
			g.t.Helper()
			g.t.Fatal(err)
		}
	}
	events, _, err := g.Events(ctx, EventQuery{Limit: 1000})
	must(err)
	records, _, err := g.ListRecords(ctx, "", Filter{}, 1000, 0)
	must(err)
	sessions, _, err := g.Sessions(ctx, "", 1000, 0)
	must(err)
	for i := range sessions {
		sessions[i].Gen = 0 // it only ever advances
	}
	stats, err := g.Stats(ctx, "")
	must(err)
	for _, ns := range []string{nsA, nsB} {
		hits, err := g.Candidates(ctx, ns, []string{"summary"}, Filter{}, 1000)
		must(err)
		counts, total, err := g.TermCounts(ctx, ns, []string{"alpha", "beta", "gamma", "delta"})
		must(err)
		out["hits "+ns], out["counts "+ns], out["total "+ns] = len(hits), counts, total
	}
	out["events"], out["records"], out["sessions"], out["stats"] = events, records, sessions, stats
	return out
}

func (g *garden) files() []byte {
	g.t.Helper()
	var all []byte
	names, err := filepath.Glob(g.path + "*")
	if err != nil || len(names) == 0 {
		g.t.Fatalf("no files: %v", err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			g.t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func TestForgetTakesWhatIsSelectedAndRestoreBringsItBack(t *testing.T) {
	type made struct {
		events []event.Event
		record event.Record
	}
	for _, c := range []struct {
		name     string
		sel      func(m map[string]made) Selection
		gone     string // words of the turns that are gone
		sessions int
		what     string
	}{
		{"a record, with the turn it was made of", func(m map[string]made) Selection { return Selection{Records: []string{m["beta"].record.RecordID}} }, "beta", 0, "ids"},
		{"a record of another project", func(m map[string]made) Selection {
			return Selection{Namespace: nsB, Records: []string{m["beta"].record.RecordID}}
		}, "", 0, "ids"},
		{"the only record of a session", func(m map[string]made) Selection { return Selection{Records: []string{m["gamma"].record.RecordID}} }, "gamma", 1, "ids"},
		{"a session", func(map[string]made) Selection { return Selection{Namespace: nsA, Session: "one"} }, "alpha beta", 1, "session"},
		{"a session by its id elsewhere", func(map[string]made) Selection { return Selection{Namespace: nsB, Session: "two"} }, "", 0, "session"},
		{"a session that two projects share", func(map[string]made) Selection { return Selection{Namespace: nsB, Session: "one"} }, "delta", 1, "session"},
		{"a project", func(map[string]made) Selection { return Selection{Namespace: nsA, All: true} }, "alpha beta gamma", 2, "project"},
		{"what holds a text", func(map[string]made) Selection { return Selection{Contains: "GAMMA said"} }, "", 0, "search"},
		{"what holds a word", func(map[string]made) Selection { return Selection{Namespace: nsA, Contains: "Beta"} }, "beta", 0, "search"},
		{"what is old", func(map[string]made) Selection {
			return Selection{Namespace: nsA, Before: time.Date(2026, 11, 20, 9, 0, 1, 0, time.UTC)}
		}, "alpha beta gamma", 2, "search"},
		{"nothing is that old", func(map[string]made) Selection {
			return Selection{Before: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
		}, "", 0, "search"},
		{"an unknown project", func(map[string]made) Selection { return Selection{Namespace: "/actor/mia/project/x/", All: true} }, "", 0, "project"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGarden(t)
			m := map[string]made{}
			for _, p := range []struct{ ns, session, word string }{{nsA, "one", "alpha"}, {nsA, "one", "beta"}, {nsA, "two", "gamma"}, {nsB, "one", "delta"}} {
				e, r := g.turn(p.ns, p.session, p.word)
				m[p.word] = made{e, r}
			}
			sel := c.sel(m)
			if sel.Contains == "GAMMA said" { // events only: the record says nothing of "said"
				c.gone, c.sessions = "", 1
			}
			before := g.view()
			would, err := g.WouldForget(t.Context(), sel, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, g.view()); diff != "" {
				t.Fatalf("a dry run changed something: %s", diff)
			}
			got, err := g.Forget(t.Context(), sel, false)
			if err != nil {
				t.Fatal(err)
			}
			if got.What != c.what || got.Sessions != c.sessions || got.Events != would.Events || got.Records != would.Records {
				t.Errorf("forgot %+v, foretold %+v, want %d sessions", got, would, c.sessions)
			}
			if c.gone != "" && (got.Events != 3*len(strings.Fields(c.gone)) || got.Records != len(strings.Fields(c.gone))) {
				t.Errorf("forgot %+v", got)
			}
			js, err := json.Marshal(g.view())
			if err != nil {
				t.Fatal(err)
			}
			seen := string(js)
			for word := range m {
				if gone := strings.Contains(c.gone, word); strings.Contains(seen, word+" said") == gone && c.what != "search" || gone && strings.Contains(seen, word) {
					t.Errorf("gone is %q, and %s is seen or not otherwise", c.gone, word)
				}
			}
			if _, err := g.Restore(t.Context(), got.ID); got.Empty() != errors.Is(err, ErrNothing) {
				t.Fatalf("restored: %v", err)
			}
			if diff := cmp.Diff(before, g.view()); diff != "" {
				t.Errorf("restored, but: %s", diff)
			}
		})
	}
}

func TestWhatIsForgottenDoesNotComeBackLate(t *testing.T) {
	for _, c := range []struct {
		name string
		sel  func(e []event.Event, r event.Record) Selection
		now  bool
	}{
		{"session", func([]event.Event, event.Record) Selection { return Selection{Namespace: nsA, Session: "s"} }, false},
		{"session, now", func([]event.Event, event.Record) Selection { return Selection{Namespace: nsA, Session: "s"} }, true},
		{"project", func([]event.Event, event.Record) Selection { return Selection{Namespace: nsA, All: true} }, true},
		{"record", func(_ []event.Event, r event.Record) Selection { return Selection{Records: []string{r.RecordID}} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGarden(t)
			events, rec := g.turn(nsA, "s", "alpha")
			late := testEvent("s", event.KindToolUse, "late") // made before, delivered after
			late.EventID, late.ParentEventID = "01K09999999999999999999999", events[0].EventID
			f, err := g.Forget(t.Context(), c.sel(events, rec), c.now)
			if err != nil || f.Events != 3 {
				t.Fatalf("%+v, %v", f, err)
			}
			if got := g.add(events...); got[0] || got[1] || got[2] {
				t.Errorf("delivered again, stored: %v", got)
			}
			if got := g.add(late); got[0] {
				t.Error("delivered late, stored")
			}
			g.now = g.now.Add(time.Minute)
			news := testEvent("s", event.KindPrompt, "something else")
			news.EventID = g.until()[:10] + "0000000000000000"
			if got := g.add(news); !got[0] {
				t.Error("the session goes on, and is not stored")
			}
			if c.now {
				return
			}
			if _, err := g.Restore(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if got := g.add(late); !got[0] {
				t.Error("brought back, but late events are still refused")
			}
			sessions, _, err := g.Sessions(t.Context(), nsA, 10, 0)
			if err != nil || len(sessions) != 1 || sessions[0].Events != 5 || sessions[0].Title != "alpha said 0" || sessions[0].NewestID != news.EventID {
				t.Errorf("%+v, %v", sessions, err)
			}
		})
	}
}

func TestABatchUnderWayMakesNoRecordOfWhatIsForgotten(t *testing.T) {
	g := newGarden(t)
	a, b := testEvent("s", event.KindPrompt, "a"), testEvent("s", event.KindPrompt, "b")
	g.add(a, b)
	if _, err := g.Forget(t.Context(), Selection{Events: []string{a.EventID}}, false); err != nil {
		t.Fatal(err)
	}
	if ok, err := g.Distilled(t.Context(), []string{a.EventID, b.EventID}, []event.Record{testRecord(nsA, "x")}); err != nil || ok {
		t.Errorf("distilled %v, %v", ok, err)
	}
	if left, err := g.Pending(t.Context(), nsA, "s", 10); err != nil || len(left) != 1 || left[0].EventID != b.EventID {
		t.Errorf("pending %+v, %v", left, err)
	}
}

func TestARecordsNumberIsNeverGivenAgain(t *testing.T) {
	g := newGarden(t)
	_, first := g.turn(nsA, "s", "alpha")
	was, _, err := g.Record(t.Context(), first.RecordID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Forget(t.Context(), Selection{Records: []string{first.RecordID}}, true); err != nil {
		t.Fatal(err)
	}
	_, second := g.turn(nsA, "t", "beta")
	is, ok, err := g.Record(t.Context(), second.RecordID)
	if err != nil || !ok || is.ID <= was.ID {
		t.Errorf("first %d, then %d, %v", was.ID, is.ID, err)
	}
}

func TestPurgeEndsTheGrace(t *testing.T) {
	g := newGarden(t)
	g.turn(nsA, "s", "alpha")
	f, err := g.Forget(t.Context(), Selection{Namespace: nsA, All: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := g.Forgettings(t.Context()); err != nil || len(list) != 1 || list[0].ID != f.ID || list[0].Events != 3 || list[0].What != "project" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, step := range []struct {
		before time.Time
		want   int
	}{{g.now.Add(-time.Second), 0}, {g.now.Add(time.Second), 1}, {g.now.Add(time.Second), 0}} {
		if n, err := g.Purge(t.Context(), step.before); err != nil || n != step.want {
			t.Errorf("purged %d, want %d, %v", n, step.want, err)
		}
	}
	if _, err := g.Restore(t.Context(), f.ID); !errors.Is(err, ErrNothing) {
		t.Errorf("restored: %v", err)
	}
	if err := g.Erase(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b := g.files(); bytes.Contains(b, []byte("alpha")) || bytes.Contains(b, []byte("/home/mia/a")) {
		t.Error("still in the file")
	}
	g.now = g.now.Add(time.Minute)
	e := testEvent("s", event.KindPrompt, "news")
	e.EventID, e.Source.ProjectPath = g.until()[:10]+"0000000000000000", "/home/mia/a"
	g.add(e)
	if st, err := g.Stats(t.Context(), ""); err != nil || len(st) != 1 || st[0].ProjectPath != "/home/mia/a" {
		t.Errorf("the path has not come back: %+v, %v", st, err)
	}
}

// TestErasedWordsAreInNoFile writes sessions and records of all sizes in no order, so that pages split, merge and leave
// gaps, forgets half of them for good, and reads the files.
func TestErasedWordsAreInNoFile(t *testing.T) {
	g := newGarden(t)
	r := rand.New(rand.NewPCG(1, 2))
	word := func(i int) string { return fmt.Sprintf("qx%05dz", i) }
	const n = 400
	recs, events := make([]event.Record, n), make([]event.Event, n)
	for _, i := range r.Perm(n) {
		events[i] = testEvent(word(i)+strings.Repeat("s", r.IntN(90)), event.KindPrompt, strings.Repeat(word(i)+" ", 1+r.IntN(1000)))
		recs[i] = testRecord(nsA, word(i))
		recs[i].Summary = strings.TrimSpace(strings.Repeat(word(i)+" filler ", 1+r.IntN(200)))
		recs[i].SourceEventIDs[0] = events[i].EventID
		if i%20 == 0 { // by themselves: many small transactions leave other traces than one big one
			g.add(events[i])
			g.save(recs[i])
		}
	}
	if _, err := g.AddEvents(t.Context(), events, recs...); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i += 30 { // changed, so that cells move
		recs[i].Summary = word(i)
		g.save(recs[i])
	}
	gone := map[int]bool{}
	var sels [2]Selection
	for k, i := range r.Perm(n)[:n/2] {
		gone[i] = true
		sels[k%2].Records = append(sels[k%2].Records, recs[i].RecordID)
	}
	for k, sel := range sels {
		if f, err := g.Forget(t.Context(), sel, k == 0); err != nil || f.Events != n/4 || f.Records != n/4 || f.Sessions != n/4 {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	if _, err := g.Purge(t.Context(), g.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := g.Erase(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"open", "closed"} {
		b := g.files()
		for i := range n {
			if found := bytes.Contains(b, []byte(word(i))); found == gone[i] {
				t.Errorf("%s: %s is in the file: %v, forgotten: %v", when, word(i), found, gone[i])
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func (g *garden) save(r event.Record) {
	g.t.Helper()
	if _, err := g.SaveRecord(g.t.Context(), r); err != nil {
		g.t.Fatal(err)
	}
}

func TestEraseWaitsForAReader(t *testing.T) {
	g := newGarden(t)
	_, rec := g.turn(nsA, "s", "alpha")
	tx, err := g.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM records").Scan(&n); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	if _, err := g.Forget(t.Context(), Selection{Records: []string{rec.RecordID}}, true); err != nil {
		t.Fatal(err)
	}
	erased := make(chan error, 1)
	go func() { erased <- g.Erase(context.Background()) }()
	g.add(testEvent("s2", event.KindNote, "writing goes on meanwhile"))
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-erased; err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(g.files(), []byte("alpha")) {
		t.Error("still in the file")
	}
}

// TestASessionsSummariesAreForgottenWithIt: they lie in a namespace of the session.
func TestASessionsSummariesAreForgottenWithIt(t *testing.T) {
	for _, c := range []struct {
		name string
		sel  func(e []event.Event) Selection
	}{
		{"the session", func([]event.Event) Selection { return Selection{Namespace: nsA, Session: "s"} }},
		{"the project", func([]event.Event) Selection { return Selection{Namespace: nsA, All: true} }},
		{"an event of it", func(e []event.Event) Selection { return Selection{Events: []string{e[0].EventID}} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGarden(t)
			events, _ := g.turn(nsA, "s", "alpha")
			g.turn(nsA, "s", "beta")
			g.turn(nsA, "other", "gamma")
			own := testRecord("/strategy/full/actor/mia/session/s/", "about alpha")
			others := testRecord("/strategy/full/actor/mia/session/other/", "about gamma")
			g.save(own)
			g.save(others)
			if _, err := g.Forget(t.Context(), c.sel(events), false); err != nil {
				t.Fatal(err)
			}
			_, there, err := g.Record(t.Context(), own.RecordID)
			_, kept, err2 := g.Record(t.Context(), others.RecordID)
			if want := c.name != "the project"; there || kept != want || err != nil || err2 != nil {
				t.Errorf("its own is there: %v; the other's: %v; %v, %v", there, kept, err, err2)
			}
			if _, err := g.Restore(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if _, there, err := g.Record(t.Context(), own.RecordID); !there || err != nil {
				t.Errorf("restored, but gone: %v", err)
			}
		})
	}
}

// TestWhatOthersSayOfASessionIsForgottenToo: a table that is added later is known by its columns.
func TestWhatOthersSayOfASessionIsForgottenToo(t *testing.T) {
	g := newGarden(t)
	events, _ := g.turn(nsA, "s", "alpha")
	g.turn(nsA, "s", "beta")
	g.turn(nsA, "other", "gamma")
	if err := g.submit(t.Context(), func(w *writerTx) error {
		if _, err := w.exec("CREATE TABLE quotes (ns INTEGER NOT NULL, session_id TEXT NOT NULL, said TEXT, n REAL, PRIMARY KEY (ns, session_id))"); err != nil {
			return err
		}
		_, err := w.conn.ExecContext(context.Background(), "INSERT INTO quotes SELECT ns, session_id, 'alpha \"quoted\"', 1.5 FROM sessions")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	quotes := func() (out []string) {
		out, err := column[string](t.Context(), g.read, "SELECT session_id || ' ' || said || ' ' || n FROM quotes ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := quotes()
	for _, sel := range []Selection{{Namespace: nsA, Session: "s"}, {Events: []string{events[1].EventID}}} {
		if _, err := g.Forget(t.Context(), sel, false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{`other alpha "quoted" 1.5`}, quotes()); diff != "" {
			t.Errorf("%+v: %s", sel, diff)
		}
		if _, err := g.Restore(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, quotes()); diff != "" {
			t.Errorf("%+v: restored: %s", sel, diff)
		}
	}
}

// TestErasedHistoryIsInNoFile: what a record once stood for says the same as it, wherever it came from.
func TestErasedHistoryIsInNoFile(t *testing.T) {
	for _, c := range []struct {
		name string
		sel  func(first, second event.Record) Selection
		gone []string
	}{
		{"the record that stands", func(_, second event.Record) Selection { return Selection{Records: []string{second.RecordID}} }, []string{"tigerqux"}},
		{"the session of the one that stands", func(_, _ event.Record) Selection { return Selection{Namespace: nsA, Session: "t"} }, []string{"tigerqux"}},
		{"the session of the old one", func(_, _ event.Record) Selection { return Selection{Namespace: nsA, Session: "s"} }, []string{"zebraqux"}},
		{"a word of the old one", func(_, _ event.Record) Selection { return Selection{Contains: "zebraqux"} }, []string{"zebraqux"}},
		{"the project", func(_, _ event.Record) Selection { return Selection{Namespace: nsA, All: true} }, []string{"zebraqux", "tigerqux"}},
	} {
		for _, now := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, ", now ", now), func(t *testing.T) {
				g := newGarden(t)
				_, first := g.turn(nsA, "s", "zebraqux")
				_, second := g.turn(nsA, "t", "tigerqux")
				if err := g.Supersede(t.Context(), Supersession{Old: first.RecordID, New: second.RecordID, Why: "judged"}); err != nil {
					t.Fatal(err)
				}
				if _, err := g.Forget(t.Context(), c.sel(first, second), now); err != nil {
					t.Fatal(err)
				}
				if _, err := g.Purge(t.Context(), g.now.Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				if err := g.Erase(t.Context()); err != nil {
					t.Fatal(err)
				}
				b := g.files()
				for _, word := range append(c.gone, "summary of zebraqux") { // events of a session that stays may hold the word itself
					if bytes.Contains(b, []byte(word)) {
						t.Errorf("%s is still in a file", word)
					}
				}
			})
		}
	}
}
