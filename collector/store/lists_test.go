package store

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sameCounts complains where what the database counts by itself is not what there is.
func (g *garden) sameCounts(after string) {
	g.t.Helper()
	walked := map[string]int{}
	for _, q := range []string{
		`SELECT n.namespace || ' e' || e.kind || ' ' || (strftime('%s', e.valid_time) / 3600), count(*) FROM events e JOIN namespaces n ON n.id = e.ns GROUP BY 1`,
		`SELECT n.namespace || ' r' || r.type || ' ' || (r.created_ms / 3600000), count(*) FROM records r JOIN namespaces n ON n.id = r.ns WHERE n.namespace NOT LIKE '/strategy/%' GROUP BY 1`,
	} {
		maps.Copy(walked, g.pairs(q))
	}
	kept := g.pairs(`SELECT n.namespace || ' ' || h.what || ' ' || h.hour, h.n FROM hours h JOIN namespaces n ON n.id = h.ns`)
	if diff := cmp.Diff(walked, kept); diff != "" {
		g.t.Errorf("after %s, the rows have -, the hours +:\n%s", after, diff)
	}
	stats, err := g.Stats(g.t.Context(), "")
	if err != nil {
		g.t.Fatal(err)
	}
	events, records := g.pairs("SELECT n.namespace, count(*) FROM events e JOIN namespaces n ON n.id = e.ns GROUP BY 1"), g.pairs("SELECT n.namespace, count(*) FROM records r JOIN namespaces n ON n.id = r.ns WHERE r.record_type = '' GROUP BY 1")
	for _, st := range stats {
		if st.Events != events[st.Namespace] || st.Records != records[st.Namespace] {
			g.t.Errorf("after %s, the stats of %s are %d events and %d records, want %d and %d", after, st.Namespace, st.Events, st.Records, events[st.Namespace], records[st.Namespace])
		}
	}
}

func (g *garden) pairs(query string) map[string]int {
	g.t.Helper()
	rows, err := g.read.DB.QueryContext(g.t.Context(), query)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]int{}
	for rows.Next() {
		var k string
		var n int
		if err := rows.Scan(&k, &n); err != nil {
			g.t.Fatal(err)
		}
		out[k] = n
	}
	return out
}

func TestStatsAreWhatThereIs(t *testing.T) {
	g := newGarden(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, first := g.turn(nsA, "s1", "alpha")
	g.turn(nsA, "s1", "beta")
	events, _ := g.turn(nsB, "s2", "gamma")
	g.add(events...) // known already
	g.sameCounts("storing")

	full := testRecord("/strategy/rules/actor/mia/session/s1/", "alpha")
	full.SourceEventIDs = first.SourceEventIDs
	if _, err := g.Distilled(ctx, nil, nil, SessionRecord{Record: full, Type: TypeFullSession, About: nsA}); err != nil {
		t.Fatal(err)
	}
	g.sameCounts("a record about a session")

	older := first
	older.CreatedAt = "2020-02-02T02:02:02Z"
	older.ObservationType = "pattern"
	_, err := g.SaveRecord(ctx, older)
	must(err)
	g.sameCounts("a record that changes its time and type")

	edited := older
	edited.RecordID, edited.Title = "mr_01KEDITED0000000000000000A", "Edited"
	if ok, err := g.Edit(ctx, older.RecordID, edited); err != nil || !ok {
		t.Fatal(ok, err)
	}
	g.sameCounts("an edit")
	if ok, err := g.Reinstate(ctx, older.RecordID); err != nil || !ok {
		t.Fatal(ok, err)
	}
	g.sameCounts("taking the edit back")
	if _, ok, _ := g.Record(ctx, edited.RecordID); ok {
		t.Error("both editions are in use")
	}

	gone, err := g.Forget(ctx, Selection{Namespace: nsA, Session: "s1"}, false)
	must(err)
	g.sameCounts("forgetting")
	_, err = g.Restore(ctx, gone.ID)
	must(err)
	g.sameCounts("undoing it")

	_, _, err = g.Merge(ctx, nsB, nsA, "")
	must(err)
	g.sameCounts("merging")
	stats, err := g.Stats(ctx, "")
	must(err)
	if len(stats) != 1 || stats[0].Events != 9 || stats[0].Records != 3 {
		t.Errorf("the stats are %+v", stats)
	}

	_, err = g.Forget(ctx, Selection{Namespace: nsA, All: true}, true)
	must(err)
	g.sameCounts("forgetting all")
	hours, err := g.Hours(ctx, "", time.Unix(0, 0))
	must(err)
	if len(hours) != 0 {
		t.Errorf("of what is forgotten there is still %v", hours)
	}
}

func TestListsGoByTheirOrder(t *testing.T) {
	g := newGarden(t)
	for _, at := range []string{"2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"} {
		r := testRecord(nsA, "x"+at[9:10])
		r.CreatedAt = at
		if _, err := g.SaveRecord(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	day := func(s string) time.Time { at, _ := time.Parse(time.DateOnly, s); return at }
	for _, c := range []struct {
		name   string
		f      Filter
		offset int
		want   string
		total  int
	}{
		{"all", Filter{Projects: true}, 0, "321", 3},
		{"the second page", Filter{Projects: true}, 2, "1", 3},
		{"since a day", Filter{Since: day("2026-01-02")}, 0, "32", 2},
		{"until a day", Filter{Until: day("2026-01-03")}, 0, "21", 2},
		{"one day", Filter{Since: day("2026-01-02"), Until: day("2026-01-03")}, 0, "2", 1},
	} {
		for _, ns := range []string{"", nsA} {
			items, total, err := g.ListRecords(t.Context(), ns, c.f, 10, c.offset)
			got := ""
			for _, r := range items {
				got += r.CreatedAt[9:10]
			}
			if err != nil || got != c.want || total != c.total {
				t.Errorf("%s in %q: %s of %d, %v; want %s of %d", c.name, ns, got, total, err, c.want, c.total)
			}
		}
	}
}
