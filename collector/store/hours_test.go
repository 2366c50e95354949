package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kiro-learn/internal/event"
)

// tally is what the table of hours says, or what the rows do.
func (g *garden) tally(query string) map[string]int {
	g.t.Helper()
	rows, err := g.read.QueryContext(g.t.Context(), query)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]int{}
	for rows.Next() {
		var key string
		var n int
		if err := rows.Scan(&key, &n); err != nil {
			g.t.Fatal(err)
		}
		out[key] = n
	}
	if err := rows.Err(); err != nil {
		g.t.Fatal(err)
	}
	return out
}

func (g *garden) balanced(after string) {
	g.t.Helper()
	kept := g.tally("SELECT ns || ' ' || hour || ' ' || what, n FROM hours WHERE n <> 0")
	counted := g.tally(`SELECT ns || ' ' || (coalesce(strftime('%s', valid_time), received_ms / 1000) / 3600) || ' e' || kind AS k, count(*) FROM events GROUP BY k
		UNION ALL SELECT ns || ' ' || (created_ms / 3600000) || ' r' || type AS k, count(*) FROM records GROUP BY k`)
	if diff := cmp.Diff(counted, kept); diff != "" {
		g.t.Errorf("after %s the hours are not those of the rows: %s", after, diff)
	}
}

func TestHoursCountWhateverHappens(t *testing.T) {
	g := newGarden(t)
	ctx := t.Context()
	var all []event.Event
	for i, at := range []string{
		"2026-11-20T09:00:00Z", "2026-11-20T09:59:59.9996Z", "2026-11-20T09:59:59.999Z", "2026-11-20T10:00:00+05:45", "1969-12-31T23:10:00Z", "2100-01-01T00:00:00Z",
		"2026-11-20T09:30:00.123456789-03:00", "0001-01-01T00:00:00Z",
	} {
		e := testEvent([]string{"s", "t"}[i%2], []event.Kind{event.KindNote, event.KindToolUse}[i%2], "x")
		e.ValidTime = at
		all = append(all, e)
	}
	g.add(all...)
	for range 2 {
		g.add(all[0], all[0], testEvent("s", event.KindNote, "y")) // what is known is counted once
	}
	for _, s := range []string{"s", "t", "u"} {
		g.turn(nsA, s, "alpha")
		g.turn(nsB, s, "beta")
	}
	g.balanced("adding")
	items := g.export("")
	if _, err := g.Forget(ctx, Selection{Namespace: nsA, Session: "s"}, false); err != nil {
		t.Fatal(err)
	}
	g.balanced("forgetting")
	if _, err := g.Import(ctx, items[:3]); err != nil { // some come back another way
		t.Fatal(err)
	}
	g.balanced("importing")
	if _, err := g.Restore(ctx, 0); err != nil {
		t.Fatal(err)
	}
	g.balanced("restoring")
	if _, _, err := g.Merge(ctx, nsB, nsA, "/p"); err != nil {
		t.Fatal(err)
	}
	g.balanced("merging")
	if _, err := g.Forget(ctx, Selection{Namespace: nsA, All: true}, true); err != nil {
		t.Fatal(err)
	}
	g.balanced("forgetting for good")
}
