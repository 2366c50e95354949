package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kiro-learn/internal/event"
)

func TestAMigrationIsPrecededByABackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	all, err := embedded(migrations)
	if err != nil {
		t.Fatal(err)
	}
	db, err := open(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(all[0].text + "; PRAGMA user_version = 1; INSERT INTO meta VALUES ('kept', 'zebra')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, path)
	found := s.backups()
	if len(found) != 1 || !strings.HasSuffix(found[0], "memory.db.before-"+strings.TrimSuffix(all[1].name, ".sql")) {
		t.Fatalf("backups %v", found)
	}
	if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	old, err := open(found[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	var kept string
	var version int
	if err := old.QueryRow("SELECT value FROM meta WHERE key = 'kept'").Scan(&kept); err != nil || kept != "zebra" {
		t.Errorf("%q, %v", kept, err)
	}
	if version, err = schemaVersion(old); err != nil || version != 1 {
		t.Errorf("version %d, %v", version, err)
	}
	_ = old.Close()
	s.DropOldBackups()
	if len(s.backups()) != 1 {
		t.Error("a fresh backup is gone")
	}
	long := time.Now().Add(-backupAge - time.Hour)
	if err := os.Chtimes(found[0], long, long); err != nil {
		t.Fatal(err)
	}
	if s.DropOldBackups(); len(s.backups()) != 0 {
		t.Error("an old backup is kept")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s = openTest(t, path); len(s.backups()) != 0 {
		t.Error("a backup without a migration")
	}
}

func TestErasingTakesTheBackup(t *testing.T) {
	g := newGarden(t)
	if err := os.WriteFile(g.path+".before-002", []byte("zebra"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Erase(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := g.backups(); len(found) != 0 {
		t.Error(found)
	}
}

func TestCheckFindsWhatRepairMends(t *testing.T) {
	for _, c := range []struct{ name, damage string }{
		{"nothing", ""},
		{"records that are not indexed", "DELETE FROM search WHERE rowid IN (SELECT id FROM records LIMIT 2)"},
		{"index entries of no record", "INSERT INTO search(rowid, title) VALUES (9999, 'ghost')"},
		{"words that were lost", "DELETE FROM search_data WHERE id > 10"},
		{"bytes that were flipped", "UPDATE search_data SET block = CAST(substr(block, 1, length(block) - 3) || x'a5a5a5' AS BLOB) WHERE id > 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGarden(t)
			for i := range 20 {
				g.save(testRecord(nsA, fmt.Sprint("alpha ", i)))
			}
			want := fmt.Sprint(g.view()["hits "+nsA])
			if c.damage != "" {
				if err := g.submit(t.Context(), func(w *writerTx) error {
					_, err := w.conn.ExecContext(context.Background(), c.damage)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			problems, err := g.Check(t.Context())
			if err != nil || (len(problems) > 0) != (c.damage != "") {
				t.Fatalf("%v, %v", problems, err)
			}
			if err := g.Repair(t.Context()); err != nil {
				t.Fatal(err)
			}
			if problems, err := g.Check(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("after the repair: %v, %v", problems, err)
			}
			if got := fmt.Sprint(g.view()["hits "+nsA]); got != want {
				t.Errorf("%s found, want %s", got, want)
			}
		})
	}
}

// TestACheckBesideSearchesAndWritesIsRight: a connection that has searched remembers how the index was laid out.
func TestACheckBesideSearchesAndWritesIsRight(t *testing.T) {
	g := newGarden(t)
	n := 0
	write := func(count int) error {
		for range count {
			n++
			if _, err := g.AddRecord(context.Background(), testRecord(nsA, fmt.Sprintf("record %d about w%d", n, n%7))); err != nil {
				return err
			}
		}
		return nil
	}
	search := func() {
		t.Helper()
		if _, err := g.Candidates(t.Context(), nsA, []string{"w1"}, Filter{}, 10); err != nil {
			t.Fatal(err)
		}
	}
	sound := func(when string) {
		t.Helper()
		if problems, err := g.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("%s: %v, %v", when, problems, err)
		}
	}
	if err := write(10); err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 2, 4, 16} {
		search()
		if err := write(count); err != nil {
			t.Fatal(err)
		}
		sound(fmt.Sprint("a search, then ", count, " writes"))
	}
	stop, wrote := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				wrote <- nil
				return
			default:
			}
			if err := write(1); err != nil {
				wrote <- err
				return
			}
		}
	}()
	for range 5 {
		search()
		sound("beside a writer")
	}
	close(stop)
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	if due, _, err := g.CheckDue(t.Context()); due || err != nil {
		t.Errorf("checked, and due again: %v, %v", due, err)
	}
}

// TestWritesGoOnDuringACheck holds a check's view of the database open.
func TestWritesGoOnDuringACheck(t *testing.T) {
	g := newGarden(t)
	g.save(testRecord(nsA, "alpha"))
	db, err := open(g.path, 1, checking...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.Query("PRAGMA integrity_check(8)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	g.save(testRecord(nsA, "beta"))
}

func TestACheckThatIsBrokenOffFindsNothing(t *testing.T) {
	g := newGarden(t)
	g.save(testRecord(nsA, "alpha"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if problems, err := g.Check(ctx); !errors.Is(err, context.Canceled) || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	none := filepath.Join(t.TempDir(), "none.db")
	if err := os.WriteFile(none, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, unfit := open(none, 1)
	_, unread := column[string](t.Context(), g.read, "SELECT * FROM nothing")
	for name, c := range map[string]struct {
		err   error
		found bool
	}{"no database": {unfit, true}, "no such table": {unread, false}} {
		var problems []string
		if rest := damage(t.Context(), &problems, c.err); c.err == nil || (rest == nil) != c.found || (len(problems) > 0) != c.found {
			t.Errorf("%s: %v gave %v and %v", name, c.err, problems, rest)
		}
	}
}

// TestADamagedPageIsFoundAndMended flips the last bytes of a page of an index, where its first row lies.
func TestADamagedPageIsFoundAndMended(t *testing.T) {
	g := newGarden(t)
	for i := range 5 {
		g.save(testRecord(nsA, fmt.Sprint("alpha ", i)))
	}
	var root, size int64
	if err := g.read.QueryRow("SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'sqlite_autoindex_records_1'").Scan(&root, &size); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(g.path)
	if err != nil {
		t.Fatal(err)
	}
	for i := root*size - 3; i < root*size; i++ {
		b[i] ^= 0x55
	}
	if err := os.WriteFile(g.path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, g.path)
	if problems, err := s.Check(t.Context()); err != nil || len(problems) == 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	if due, _, err := s.CheckDue(t.Context()); !due || err != nil {
		t.Errorf("damaged, and noted as sound: %v", err)
	}
	if err := s.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("after the repair: %v, %v", problems, err)
	}
}

func TestACheckIsDueAfterATornStopAndNowAndThen(t *testing.T) {
	g := newGarden(t)
	g.save(testRecord(nsA, "alpha"))
	due := func(s *Store, want, wantTorn bool, when string) {
		t.Helper()
		if got, torn, err := s.CheckDue(t.Context()); err != nil || got != want || torn != wantTorn {
			t.Errorf("%s: due %v, torn %v, %v", when, got, torn, err)
		}
	}
	check := func(s *Store) {
		t.Helper()
		if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
	}
	due(g.Store, true, false, "never checked")
	check(g.Store)
	due(g.Store, false, false, "just checked")
	g.now = g.now.Add(checkEvery + time.Hour)
	due(g.Store, true, false, "long ago")
	check(g.Store)

	torn := filepath.Join(t.TempDir(), "memory.db") // as the disk is when the power goes
	for _, side := range []string{"", "-wal"} {
		b, err := os.ReadFile(g.path + side)
		if err == nil {
			err = os.WriteFile(torn+side, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func(path string) *Store {
		t.Helper()
		s, err := Open(path, Options{Index: words{1}, Now: func() time.Time { return g.now }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	due(open(torn), true, true, "torn")
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	due(open(g.path), false, false, "closed well")
}

func TestTheLogIsBoundedOnceALongReaderLeaves(t *testing.T) {
	g := newGarden(t)
	g.turn(nsA, "s", "alpha")
	tx, err := g.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM events").Scan(&n); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for range 16 {
		g.add(testEvent("s", event.KindNote, text))
	}
	size := func() int64 {
		info, err := os.Stat(g.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if got := size(); got < 12<<20 {
		t.Fatalf("the test is not set up: %d bytes", got)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	err = g.Trim(t.Context())
	for errors.Is(err, context.DeadlineExceeded) { // it gives up after a second, so as not to hold up who writes
		err = g.Trim(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := size(); got != 0 {
		t.Errorf("%d bytes", got)
	}
	for range 40 {
		g.add(testEvent("s", event.KindNote, text))
	}
	if got := size(); got > 16<<20 {
		t.Errorf("%d bytes without a reader", got)
	}
}

func TestExpireTakesTheOldAndNothingElse(t *testing.T) {
	g := newGarden(t)
	g.turn(nsA, "old", "alpha")
	waits := testEvent("old", event.KindPrompt, "waits to be distilled")
	g.add(waits)
	g.now = g.now.Add(100 * 24 * time.Hour)
	g.turn(nsA, "new", "beta")
	cut := g.now.Add(-90 * 24 * time.Hour)
	for _, want := range []int{3, 0} {
		if n, err := g.Expire(t.Context(), cut, time.Time{}); err != nil || n != want {
			t.Errorf("%d rows went, want %d, %v", n, want, err)
		}
	}
	events, total, err := g.Events(t.Context(), EventQuery{Limit: 10})
	if err != nil || total != 4 || events[len(events)-1].EventID != waits.EventID && events[0].EventID != waits.EventID {
		t.Errorf("%d events left, %v", total, err)
	}
	if _, total, err := g.ListRecords(t.Context(), "", Filter{}, 10, 0); err != nil || total != 2 {
		t.Errorf("%d records, %v", total, err)
	}
	if sessions, _, err := g.Sessions(t.Context(), "", 10, 0); err != nil || len(sessions) != 2 || sessions[0].Events+sessions[1].Events != 4 {
		t.Errorf("%+v, %v", sessions, err)
	}
	if n, err := g.Expire(t.Context(), time.Time{}, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)); err != nil || n != 2 {
		t.Errorf("%d records went, %v", n, err)
	}
	if hits, err := g.Candidates(t.Context(), nsA, []string{"alpha", "beta"}, Filter{}, 10); err != nil || len(hits) != 0 {
		t.Errorf("%v, %v", hits, err)
	}
}
