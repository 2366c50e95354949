package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"kiro-learn/internal/event"
)

// words is a plain indexer: lower-cased words. How recall makes words is tested there.
type words struct{ version int }

func (w words) Version() int { return w.version }
func (w words) Index(r event.Record) Fields {
	low := func(s ...string) string { return strings.ToLower(strings.Join(s, " ")) }
	return Fields{Title: low(r.Title), Summary: low(r.Summary), Facts: low(r.Facts...), Concepts: low(r.Concepts...), Files: low(r.FilesTouched...)}
}

func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{Index: words{1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newID() string { return ulid.Make().String() } // in the order of calls

const nsA, nsB = "/actor/mia/project/a/", "/actor/mia/project/b/"

func testEvent(session string, kind event.Kind, text string) event.Event {
	return event.Event{
		EventID: newID(), SessionID: session, ActorID: "mia", Namespace: nsA, SchemaVersion: 1, Kind: kind,
		Body: event.TextBody(text), ValidTime: "2026-11-20T09:00:00Z", Source: event.Source{Surface: "kiro-cli", Version: "1", ClientID: "h"},
	}
}

func testRecord(ns, title string) event.Record {
	return event.Record{
		RecordID: "mr_" + newID(), Namespace: ns, Strategy: "rules", Title: title, Summary: "summary of " + title,
		Facts: []string{"a fact"}, Concepts: []string{}, FilesTouched: []string{}, SourceEventIDs: []string{newID()},
		CreatedAt: "2026-11-20T09:00:00Z", ObservationType: "discovery",
	}
}

func TestAnEventIsStoredOnceAndComesBackAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "memory.db")
	s := openTest(t, path)
	ctx := context.Background()
	e := testEvent("s", event.KindPrompt, "first line\nand \"more\" 漢")
	e.ParentEventID, e.ContentHash = newID(), "sha256:"+strings.Repeat("a", 64)
	for i, want := range []bool{true, false, false} {
		got, err := s.AddEvents(ctx, []event.Event{e})
		if err != nil || got[0] != want {
			t.Fatalf("time %d: stored %v, %v", i, got, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, path)
	items, total, err := s.Events(ctx, EventQuery{Namespace: nsA, SessionID: "s", Kind: "prompt", Limit: 10})
	if err != nil || total != 1 || len(items) != 1 {
		t.Fatalf("got %d of %d, %v", len(items), total, err)
	}
	if got, want := fmt.Sprintf("%+v", items[0]), fmt.Sprintf("%+v", e); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	sessions, _, err := s.Sessions(ctx, nsA, 10, 0)
	if err != nil || len(sessions) != 1 || sessions[0].Title != "first line" || sessions[0].Events != 1 || sessions[0].Prompts != 1 {
		t.Errorf("sessions %+v, %v", sessions, err)
	}
}

func TestEventsPageBackwards(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	var ids []string
	for i := range 7 {
		e := testEvent("s", event.KindNote, fmt.Sprint(i))
		e.EventID = fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ69G5FA%d", i)
		ids = append([]string{e.EventID}, ids...)
		if _, err := s.AddEvents(ctx, []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	before := ""
	for {
		items, total, err := s.Events(ctx, EventQuery{Before: before, Limit: 3})
		if err != nil || total != 7 {
			t.Fatalf("total %d, %v", total, err)
		}
		for _, e := range items {
			got = append(got, e.EventID)
			before = e.EventID
		}
		if len(items) < 3 {
			break
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("got %v, want %v", got, ids)
	}
}

func TestOneHappeningReportedTwiceIsStoredOnce(t *testing.T) {
	const ms = 1000
	for _, c := range []struct {
		name          string
		first, second event.Firing
		same          bool // content
		parent        string
		want          bool // second stored
	}{
		{"two registrations, one after the other", event.Firing{Via: "agent", From: 1000 * ms, To: 1005 * ms}, event.Firing{Via: "user", From: 1020 * ms, To: 1025 * ms}, true, "", false},
		{"the same registration twice at once", event.Firing{From: 1000 * ms, To: 1009 * ms}, event.Firing{From: 1002 * ms, To: 1007 * ms}, true, "", false},
		{"the same registration again", event.Firing{From: 1000 * ms, To: 1005 * ms}, event.Firing{From: 1020 * ms, To: 1025 * ms}, true, "", true},
		{"two registrations, two seconds apart", event.Firing{Via: "agent", From: 1000 * ms, To: 1005 * ms}, event.Firing{Via: "user", From: 3000 * ms, To: 3005 * ms}, true, "", true},
		{"another content", event.Firing{From: 1000 * ms, To: 1009 * ms}, event.Firing{From: 1002 * ms, To: 1007 * ms}, false, "", true},
		{"in another turn", event.Firing{From: 1000 * ms, To: 1009 * ms}, event.Firing{From: 1002 * ms, To: 1007 * ms}, true, "01ARZ3NDEKTSV4RRFFQ69G5FAV", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
			a, b := testEvent("s", event.KindToolUse, "x"), testEvent("s", event.KindToolUse, "x")
			a.Firing, b.Firing, b.ParentEventID = &c.first, &c.second, c.parent
			a.ContentHash = "sha256:" + strings.Repeat("a", 64)
			b.ContentHash = a.ContentHash
			if !c.same {
				b.ContentHash = "sha256:" + strings.Repeat("b", 64)
			}
			got, err := s.AddEvents(context.Background(), []event.Event{a, b})
			if err != nil || !got[0] || got[1] != c.want {
				t.Errorf("stored %v (%v), want the second %v", got, err, c.want)
			}
		})
	}
	t.Run("events that no hook of this machine made", func(t *testing.T) {
		s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
		a, b := testEvent("s", event.KindToolUse, "x"), testEvent("s", event.KindToolUse, "x")
		a.ContentHash = "sha256:" + strings.Repeat("a", 64)
		b.ContentHash = a.ContentHash
		if got, err := s.AddEvents(context.Background(), []event.Event{a, b}); err != nil || !got[1] {
			t.Errorf("stored %v, %v", got, err)
		}
	})
}

func TestRecordsAreFoundInTheirNamespaceOnly(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	a, b := testRecord(nsA, "retry limit"), testRecord(nsB, "retry limit")
	for _, r := range []event.Record{a, b} {
		if stored, err := s.SaveRecord(ctx, r); err != nil || !stored {
			t.Fatal(stored, err)
		}
	}
	hits, err := s.Candidates(ctx, nsA, []string{"retry", "nothing", `"`}, Filter{}, 10)
	if err != nil || len(hits) != 1 {
		t.Fatalf("hits %v, %v", hits, err)
	}
	found, err := s.Records(ctx, []int64{hits[0].ID})
	if err != nil || len(found) != 1 || found[0].RecordID != a.RecordID {
		t.Errorf("found %+v, %v", found, err)
	}
	if fmt.Sprintf("%+v", found[0].Record) != fmt.Sprintf("%+v", a) {
		t.Errorf("got  %+v\nwant %+v", found[0].Record, a)
	}
	docs, total, err := s.TermCounts(ctx, nsA, []string{"retry", "nothing", "of"})
	if err != nil || total != 1 || fmt.Sprint(docs) != "[1 0 1]" {
		t.Errorf("counts %v of %d, %v", docs, total, err)
	}
	for _, f := range []Filter{{Types: []string{"decision"}}, {Since: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}} {
		if hits, err := s.Candidates(ctx, nsA, []string{"retry"}, f, 10); err != nil || len(hits) != 0 {
			t.Errorf("filter %+v let through %v, %v", f, hits, err)
		}
	}
	if hits, err := s.Candidates(ctx, "/actor/x/project/none/", []string{"retry"}, Filter{}, 10); err != nil || len(hits) != 0 {
		t.Errorf("an unknown namespace gives %v, %v", hits, err)
	}
}

func TestASavedRecordChangesOnlyWhenItsContentDoes(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	r := testRecord(nsA, "retry")
	for _, c := range []struct {
		title    string
		stored   bool
		revision int64
	}{{"retry", true, 1}, {"retry", false, 1}, {"backoff", true, 2}} {
		r.Title = c.title
		stored, err := s.SaveRecord(ctx, r)
		got, _, _ := s.Record(ctx, r.RecordID)
		if err != nil || stored != c.stored || got.Revision != c.revision || got.Title != c.title {
			t.Errorf("%+v: stored %v revision %d title %q, %v", c, stored, got.Revision, got.Title, err)
		}
	}
	if hits, _ := s.Candidates(ctx, nsA, []string{"backoff"}, Filter{}, 10); len(hits) != 1 {
		t.Errorf("the new word finds %v", hits)
	}
}

func TestNewIndexerVersionIndexesAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := s.SaveRecord(ctx, testRecord(nsA, "retry")); err != nil {
		t.Fatal(err)
	}
	if hits, _ := s.Candidates(ctx, nsA, []string{"retry"}, Filter{}, 10); len(hits) != 0 {
		t.Fatalf("found without an index: %v", hits)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = openTest(t, path)
		if hits, err := s.Candidates(ctx, nsA, []string{"retry"}, Filter{}, 10); err != nil || len(hits) != 1 {
			t.Errorf("hits %v, %v", hits, err)
		}
		_ = s.Close()
	}
}

func TestSearchPlansBeginAtTheFullTextTable(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	for i := range 300 {
		if _, err := s.SaveRecord(ctx, testRecord(nsA, fmt.Sprintf("retry %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	analyze := func(w *writerTx) error { _, err := w.exec("ANALYZE"); return err } // statistics tempt the planner
	if err := s.submit(ctx, analyze); err != nil {
		t.Fatal(err)
	}
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, f := range []Filter{{}, {}, {Types: []string{"discovery"}}, {Since: since}, {Types: []string{"discovery", "error"}, Since: since}, {Since: since}} {
		score, order := "-search.rank", "search.rank"
		if i%2 == 1 {
			score, order = "0.0", "search.rowid DESC"
		}
		query, cond := candidatesQuery(f, score, order)
		rows, err := s.read.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, append(append([]any{match(1, []string{"retry"}, " OR ")}, cond...), 10)...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, x int
			var detail string
			if err := rows.Scan(&id, &parent, &x, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		_ = rows.Close()
		if len(plan) == 0 || !strings.Contains(plan[0], "search VIRTUAL TABLE INDEX") || strings.Contains(strings.Join(plan, ";"), "TEMP B-TREE") {
			t.Errorf("filter %+v, by %s: the plan is %q", f, order, plan)
		}
	}
}

func TestDistilledIsAllOrNothing(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	a, b := testEvent("s", event.KindPrompt, "a"), testEvent("s", event.KindSessionSummary, "b")
	if _, err := s.AddEvents(ctx, []event.Event{a, b}); err != nil {
		t.Fatal(err)
	}
	back, err := s.Backlogs(ctx)
	if err != nil || len(back) != 1 || back[0].Events != 2 || !back[0].Closed {
		t.Fatalf("backlogs %+v, %v", back, err)
	}
	ids := []string{a.EventID, b.EventID}
	bad := testRecord(nsA, "x")
	bad.CreatedAt = "yesterday"
	if _, err := s.Distilled(ctx, ids, []event.Record{testRecord(nsA, "good"), bad}); err == nil {
		t.Fatal("a record without a time was saved")
	}
	if n, _ := s.PendingCount(ctx); n != 2 {
		t.Errorf("%d pending after a failed batch, want 2", n)
	}
	if _, total, _ := s.ListRecords(ctx, "", Filter{}, 10, 0); total != 0 {
		t.Errorf("%d records after a failed batch", total)
	}
	for i, want := range []bool{true, false} {
		if ok, err := s.Distilled(ctx, ids, []event.Record{testRecord(nsA, "good")}); err != nil || ok != want {
			t.Errorf("time %d: %v, %v", i, ok, err)
		}
	}
	if _, total, _ := s.ListRecords(ctx, nsA, Filter{}, 10, 0); total != 1 {
		t.Errorf("%d records, want 1", total)
	}
	if n, _ := s.PendingCount(ctx); n != 0 {
		t.Errorf("%d pending", n)
	}
}

func TestABadNeighbourDoesNotSpoilAGroup(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	bad := testRecord(nsA, "x")
	bad.CreatedAt = "yesterday"
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i%8 == 3 {
				if _, err := s.SaveRecord(ctx, bad); err == nil {
					t.Error("a bad record was saved")
				}
				return
			}
			if _, err := s.SaveRecord(ctx, testRecord(nsA, fmt.Sprint("r", i))); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if _, total, _ := s.ListRecords(ctx, nsA, Filter{}, 1, 0); total != 56 {
		t.Errorf("%d records, want 56", total)
	}
}

func TestShownRecords(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	r := testRecord(nsA, "retry")
	if _, err := s.SaveRecord(ctx, r); err != nil {
		t.Fatal(err)
	}
	st, _, _ := s.Record(ctx, r.RecordID)
	if err := s.MarkShown(ctx, Showing{Namespace: nsA, SessionID: "s", Records: []Stored{st}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Shown(ctx, nsA, "s"); err != nil || got[st.ID] != 1 || len(got) != 1 {
		t.Errorf("shown %v, %v", got, err)
	}
	if got, err := s.Shown(ctx, nsA, "other"); err != nil || len(got) != 0 {
		t.Errorf("another session was shown %v, %v", got, err)
	}
}

func TestNewerSchemaIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	s := openTest(t, path)
	if _, err := s.AddEvents(context.Background(), []event.Event{testEvent("s", event.KindNote, "x")}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	db, err := open(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	before, _ := os.ReadFile(path)
	if _, err := Open(path, Options{}); !errors.Is(err, ErrNewer) {
		t.Fatalf("got %v, want ErrNewer", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the newer database was changed")
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access rules instead of modes")
	}
	dir := filepath.Join(t.TempDir(), "data")
	s := openTest(t, filepath.Join(dir, "memory.db"))
	if _, err := s.AddEvents(context.Background(), []event.Event{testEvent("s", event.KindNote, "x")}); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) < 2 {
		t.Fatalf("expected the log beside the database, found %v", entries)
	}
	for _, e := range entries {
		if info, _ := e.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode().Perm())
		}
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v", info.Mode().Perm())
	}
}

func TestNeighbours(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "memory.db"))
	ctx := context.Background()
	for i := range 10 {
		ns := nsA
		if i%2 == 1 {
			ns = nsB
		}
		if _, err := s.SaveRecord(ctx, testRecord(ns, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Neighbours(ctx, nsA, []int64{1, 5}, 2, 2)
	if want := "map[1:[3 5] 5:[3 1 7 9]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v (%v), want %s", got, err, want)
	}
}

func BenchmarkAddEvents4KB(b *testing.B) {
	s := openTest(b, filepath.Join(b.TempDir(), "memory.db"))
	text := strings.Repeat("x", 4000)
	b.SetParallelism(4)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.AddEvents(context.Background(), []event.Event{testEvent("s", event.KindToolUse, text)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
