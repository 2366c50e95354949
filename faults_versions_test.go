//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// of is the same machine with another version of the program.
func (b *box) of(program func() (string, error)) *box {
	b.t.Helper()
	file, err := program()
	if err != nil {
		b.t.Fatal(err)
	}
	m := *b.machine
	m.program = file
	return &box{&m, b.t}
}

func (b *box) version() string {
	var h struct{ Version string }
	if err := b.get("/healthz", &h); err != nil {
		return err.Error()
	}
	return h.Version
}

// Outbox and collector: an upgraded binary asks the old collector to hand over, and nothing is lost on the way.
func TestNewerTakesOver(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	old := b.of(older)
	first := old.start()
	if v := b.version(); v != "1.0.0" {
		t.Fatalf("version %s, want 1.0.0", v)
	}
	b.number(0)
	n := 1
	if !poll(func() bool {
		b.forgetStart()
		b.quiet("userPromptSubmit", b.prompt("s", fmt.Sprint("prompt ", n)))
		b.number(n)
		n++
		return b.version() == "1.1.0" || n > 200
	}) || b.version() != "1.1.0" {
		t.Fatalf("after %d hooks of the newer program the collector is %s", n, b.version())
	}
	if b.pid() == first {
		t.Error("the process is the old one")
	}
	b.numbered(n)
	if !poll(func() bool { return !running(first) }) {
		t.Errorf("the old collector %d is still there", first)
	}
}

// Outbox and collector: an old binary that finds a newer collector leaves it alone and is served by it.
func TestOlderLeavesNewerAlone(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	pid := b.start()
	old := b.of(older)
	old.forgetStart()
	old.quiet("userPromptSubmit", b.prompt("s", "from the old one"))
	old.number(0)
	if out := old.must("collector", "start"); !strings.Contains(out, "1.1.0") {
		t.Errorf("collector start says %q", out)
	}
	old.must("collector", "run") // finds one running and is content
	if got := b.pid(); got != pid || b.version() != "1.1.0" {
		t.Errorf("collector %d of version %s, want %d of 1.1.0", got, b.version(), pid)
	}
	old.numbered(1)
	for _, e := range b.stored("") {
		if e.Source.Version != "1.0.0" {
			t.Errorf("the event says version %s", e.Source.Version)
		}
	}
}

// Outbox and collector: the database is of a newer version. This one does not write a byte of it; its events wait, the user is
// told, and the newer one has them later.
func TestNewerSchemaOnDisk(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]any{"hooks": map[string]any{"budget_ms": 1000}})
	b.number(0)
	b.stored("")
	if !poll(func() bool { b.must("collector", "stop"); return len(b.processes()) == 0 }) { // a slow start may leave a second one waiting
		t.Fatal("the collector does not leave")
	}
	file := filepath.Join(b.memory, "data", "memory.db")
	schema := func(change func(now int) int) {
		t.Helper()
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		var now int
		if err := db.QueryRow("PRAGMA user_version").Scan(&now); err != nil || now == 0 {
			t.Fatalf("version %d: %v", now, err)
		}
		if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", change(now))); err != nil {
			t.Fatal(err)
		}
	}
	schema(func(now int) int { return now + 1000 })
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.forgetStart()
	b.number(1)
	b.quiet("userPromptSubmit", b.prompt("s", "are you there?"))
	r, err := b.run(nil, "flush", "--timeout", "3s")
	if err != nil || r.code != 1 || !strings.Contains(r.stderr, "2 events") || !strings.Contains(r.stderr, "in the outbox") {
		t.Errorf("flush: exit %d, %v: %s", r.code, err, r.stderr)
	}
	if !poll(func() bool { return len(b.processes()) == 0 }) {
		t.Error("a collector runs on a database that it must not touch")
	}
	after, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the newer database was written: %v", err)
	}
	log, err := os.ReadFile(filepath.Join(b.memory, "state", "kiro-learn.log"))
	if err != nil || !strings.Contains(string(log), "newer kiro-learn") {
		t.Errorf("the log does not say why: %v\n%s", err, log)
	}
	schema(func(now int) int { return now - 1000 }) // the newer version is back
	b.forgetStart()
	b.numbered(2)
}
