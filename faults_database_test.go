//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kiro-learn/internal/event"
)

// foreign opens the memory database as another program would: a browser of databases, a backup.
func (b *box) foreign() *sql.Conn {
	b.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.memory, "data", "memory.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return conn
}

func (b *box) exec(c *sql.Conn, query string) {
	b.t.Helper()
	if _, err := c.ExecContext(b.t.Context(), query); err != nil {
		b.t.Fatalf("%s: %v", query, err)
	}
}

// Outbox and collector: another program reads the database and does not stop. Nobody sees an error; the log, which cannot be
// written back meanwhile, is cut when the reader leaves, without a person's doing anything.
func TestLongReader(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes 40 MB")
	}
	b := newBox(t, nil)
	b.start()
	b.number(0)
	e := b.one("")
	reader := b.foreign()
	b.exec(reader, "BEGIN")
	var events int
	if err := reader.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&events); err != nil || events != 1 {
		t.Fatalf("%d events, %v", events, err)
	}
	fill := func(from, n int) {
		t.Helper()
		for i := from; i < from+n; i++ {
			e.EventID, e.ContentHash = fmt.Sprintf("01K0000000000000000000%04d", i), ""
			e.Kind, e.Body = event.KindNote, event.TextBody(strings.Repeat("x", 1<<20-200))
			if status, got, err := b.call("POST", "/v1/events", []byte(b.bytes(e)), "Content-Type: application/json"); err != nil || status != 200 {
				t.Fatalf("%d %s, %v", status, got, err)
			}
		}
	}
	wal := filepath.Join(b.memory, "data", "memory.db-wal")
	const many = 36
	fill(0, many)
	if n := size(wal); n < 32<<20 {
		t.Fatalf("the test is not set up: the log has %d bytes", n)
	}
	b.quiet("userPromptSubmit", b.prompt("s", "does anybody notice?"))
	if all, err := b.events("kind=prompt"); err != nil || len(all) != 1 {
		t.Errorf("%d prompts stored under the reader, %v; want 1", len(all), err)
	}
	if err := reader.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&events); err != nil || events != 1 {
		t.Errorf("the reader sees %d events, %v; want what it began with", events, err)
	}
	b.exec(reader, "ROLLBACK")
	n := many
	if !poll(func() bool { fill(n, 1); n++; return size(wal) <= 20<<20 }) { // each write may cut it, unless we read just then
		t.Errorf("the log still has %d bytes when nobody reads", size(wal))
	}
}

// Outbox and collector: another program holds the database's lock. Hooks keep their budget and their events, an MCP server
// answers, and all of it is there when the lock is let go.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	b := newBox(t, map[string]any{"hooks": map[string]any{"budget_ms": 500}})
	b.start()
	b.number(0)
	b.stored("")
	holder := b.foreign()
	b.exec(holder, "BEGIN IMMEDIATE")
	for n := 1; n < 4; n++ {
		b.number(n)
		b.quiet("userPromptSubmit", b.prompt("s", fmt.Sprint("prompt ", n)))
	}
	b.quiet("stop", b.stop("s", "done"))
	var servers sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		servers.Go(func() { answers[i] = b.askMCP("search_memory", fields{"query": "upload"}) })
	}
	servers.Wait()
	for _, a := range answers {
		if !strings.Contains(a, `"id":2,`) || strings.Contains(a, "locked") || strings.Contains(a, `"isError":true`) {
			t.Errorf("an MCP server answers %s", a)
		}
	}
	b.exec(holder, "ROLLBACK")
	b.numbered(4)
	if all, err := b.events(""); err != nil || len(all) != 8 {
		t.Errorf("%d events stored, %v; want 8", len(all), err)
	}
	b.complain()
	if r, err := b.run(nil, "doctor", "--no-self-test", "--json"); err != nil || strings.Contains(r.stdout, "locked") {
		t.Errorf("doctor: %s, %v", r.stdout, err)
	}
}

// askMCP starts an MCP server, calls one tool, and gives what the server wrote.
func (b *box) askMCP(tool string, args fields) string {
	params, err := json.Marshal(fields{"name": tool, "arguments": args})
	if err != nil {
		return err.Error()
	}
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + string(params) + "}\n"
	r, err := b.run(strings.NewReader(in), "mcp")
	if err != nil {
		return err.Error()
	}
	return r.stdout
}
