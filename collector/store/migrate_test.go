package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// steps makes migrations out of numbers: each adds a table of its own.
func steps(numbers ...int) (out []migration) {
	for _, n := range numbers {
		out = append(out, migration{fmt.Sprintf("%03d_t.sql", n), n, fmt.Sprintf("CREATE TABLE t%d (x)", n)})
	}
	return out
}

func TestMigrateAppliesWhatIsMissingAndNothingTwice(t *testing.T) {
	for _, c := range []struct {
		name string
		runs [][]int
		want string
		err  error
	}{
		{"from nothing", [][]int{{1, 2, 3}}, "t1 t2 t3", nil},
		{"again", [][]int{{1, 2}, {1, 2}}, "t1 t2", nil},
		{"newer", [][]int{{1, 2}, {1, 2, 3, 4}}, "t1 t2 t3 t4", nil},
		{"one that another branch added in between", [][]int{{1, 3}, {1, 2, 3}}, "t1 t2 t3", nil},
		{"an older program", [][]int{{1, 2, 3}, {1, 2}}, "t1 t2 t3", ErrNewer},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := open(filepath.Join(t.TempDir(), "m.db"), 1)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			for _, numbers := range c.runs {
				err = migrate(db, steps(numbers...))
			}
			if !errors.Is(err, c.err) {
				t.Errorf("gave %v", err)
			}
			got, err := column[string](t.Context(), db, "SELECT name FROM sqlite_schema WHERE name LIKE 't_' ORDER BY name")
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// The first version counted its migrations and kept no names.
func TestMigrateKnowsADatabaseOfTheFirstVersion(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "m.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	all, err := embedded(migrations)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(all[0].text + "; PRAGMA user_version = 1; INSERT INTO meta VALUES ('kept', 'yes')"); err != nil {
		t.Fatal(err)
	}
	if err := migrate(db, all); err != nil {
		t.Fatal(err)
	}
	var kept string
	var version int
	if err := errors.Join(db.QueryRow("SELECT value FROM meta WHERE key = 'kept'").Scan(&kept), db.QueryRow("PRAGMA user_version").Scan(&version)); err != nil {
		t.Fatal(err)
	}
	if kept != "yes" || version != all[len(all)-1].version {
		t.Errorf("kept %q, version %d", kept, version)
	}
}

func TestAFailedMigrationLeavesNothing(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "m.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	bad := append(steps(1), migration{"002_bad.sql", 2, "CREATE TABLE half (x); CREATE TABLE t1 (x)"})
	if err := migrate(db, bad); err == nil || !strings.Contains(err.Error(), "002_bad.sql") {
		t.Fatalf("gave %v", err)
	}
	var n, version int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").Scan(&n); err != nil || n != 0 {
		t.Errorf("half is there: %d, %v", n, err)
	}
	if version, err = schemaVersion(db); err != nil || version != 1 {
		t.Errorf("version %d, %v", version, err)
	}
	if err := migrate(db, steps(1, 2)); err != nil {
		t.Errorf("the next try: %v", err)
	}
}
