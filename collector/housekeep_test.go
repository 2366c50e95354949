package collector

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
	"kiro-learn/internal/logfile"
)

func TestUpkeepEndsGraceAndRetention(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	clock := func() time.Time { return now }
	s, err := store.Open(w.dirs.Database(), store.Options{Index: recall.Index{}, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	w.config.Retention.Events = config.Age(90 * 24 * time.Hour)
	c := &Collector{o: Options{Dirs: w.dirs, Config: w.config, Log: logfile.New(w.dirs.LogFile(), "", "collector", nil), Now: clock}, store: s}
	add := func(session, word string) event.Event {
		t.Helper()
		e := w.event(event.KindNote, session, "", event.TextBody(word))
		if _, err := s.AddEvents(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Distilled(t.Context(), []string{e.EventID}, nil); err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		return e
	}
	add("old", "zebraqux")
	add("gone", "lionqux")
	if _, err := s.Forget(t.Context(), store.Selection{Namespace: event.Namespace("mia", "p"), Session: "gone"}, false); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after       time.Duration
		zebra, lion bool
	}{{time.Hour, true, true}, {6 * 24 * time.Hour, true, true}, {2 * 24 * time.Hour, true, false}, {80 * 24 * time.Hour, true, false}, {3 * 24 * time.Hour, false, false}} {
		now = now.Add(step.after)
		c.upkeep(context.Background(), true)
		if err := s.Erase(t.Context()); err != nil {
			t.Fatal(err)
		}
		if z, l := len(w.inFiles("zebraqux")) > 0, len(w.inFiles("lionqux")) > 0; z != step.zebra || l != step.lion {
			t.Errorf("after %v more: zebra %v, lion %v", step.after, z, l)
		}
	}
}

func TestADamagedDatabaseIsSaidToBe(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(w.dirs.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.dirs.Database(), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), w.options("1.2.3"))
	if err == nil || !strings.Contains(err.Error(), "it is damaged: move it away") {
		t.Errorf("gave %v", err)
	}
	if b, err := os.ReadFile(w.dirs.Database()); err != nil || !strings.HasPrefix(string(b), "no database") {
		t.Errorf("the file was touched: %.20q, %v", b, err)
	}
}

func TestOnlyWhatCannotBeMendedCountsAsDamage(t *testing.T) {
	w := newWorld(t)
	s, err := store.Open(w.dirs.Database(), store.Options{Index: recall.Index{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	e := w.event(event.KindNote, "s", "", event.TextBody("zebraqux"))
	if _, err := s.AddEvents(t.Context(), []event.Event{e}); err != nil {
		t.Fatal(err)
	}
	c := &Collector{o: Options{Dirs: w.dirs, Config: w.config, Log: logfile.New(w.dirs.LogFile(), "", "collector", nil), Now: time.Now}, store: s}
	harm := func(query string) {
		t.Helper()
		db, err := sql.Open("sqlite", "file:"+w.dirs.Database()+"?_pragma=busy_timeout(10000)")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	harm("INSERT INTO search(rowid, title) VALUES (9999, 'ghost')")
	off, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.mend(off); !errors.Is(err, context.Canceled) || c.damage.Load() != nil {
		t.Errorf("broken off: %v, damage %v", err, c.damage.Load())
	}
	if err := c.mend(t.Context()); err != nil || c.damage.Load() != nil {
		t.Errorf("mended: %v, damage %v", err, c.damage.Load())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.dirs.Database())
	if err != nil {
		t.Fatal(err)
	}
	b[39] += 7 // more free pages than there are
	if err := os.WriteFile(w.dirs.Database(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if c.store, err = store.Open(w.dirs.Database(), store.Options{Index: recall.Index{}}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.store.Close() }()
	if err := c.mend(t.Context()); err == nil || c.damage.Load() == nil || !strings.Contains(err.Error(), "kiro-learn export") {
		t.Errorf("cannot be mended: %v, damage %v", err, c.damage.Load())
	}
}
