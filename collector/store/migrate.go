package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// migration is one step of the schema, known by its file's name.
type migration struct {
	name    string
	version int // the number that the name begins with
	text    string
}

// embedded are the migrations of this version in the order of their numbers.
func embedded(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	out := make([]migration, len(names))
	for i, path := range names {
		b, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(path)
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("the migration %s has no number", name)
		}
		out[i] = migration{name, version, string(b)}
	}
	return out, nil
}

// migrate applies the migrations that the database has not seen, each in a transaction. The database keeps their names;
// its user_version is the highest number among them, by which an older program knows that it must not touch it.
func migrate(db *sql.DB, all []migration) error {
	have, err := seen(db)
	if err != nil {
		return err
	}
	if version, err := schemaVersion(db); err != nil {
		return err
	} else if len(all) > 0 && version > all[len(all)-1].version {
		return ErrNewer
	}
	for _, m := range all {
		if have[m.name] {
			continue
		}
		if err := apply(db, m); err != nil {
			return fmt.Errorf("apply %s: %w", m.name, err)
		}
	}
	return nil
}

func schemaVersion(db *sql.DB) (v int, err error) {
	err = db.QueryRow("PRAGMA user_version").Scan(&v)
	return v, err
}

// seen are the names of the migrations that have been applied.
func seen(db *sql.DB) (map[string]bool, error) {
	have := map[string]bool{}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'").Scan(&n); err != nil {
		return nil, err
	}
	if n == 0 {
		version, err := schemaVersion(db) // the first version kept no names
		have["001_start.sql"] = version >= 1
		return have, err
	}
	rows, err := db.Query("SELECT name FROM migrations")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		have[name] = true
	}
	return have, rows.Err()
}

// apply runs one migration unless another process has come first.
func apply(db *sql.DB, m migration) error {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx := context.Background()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err = func() error {
		if _, err := conn.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID"); err != nil {
			return err
		}
		res, err := conn.ExecContext(ctx, "INSERT OR IGNORE INTO migrations(name) VALUES (?)", m.name)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		if m.version > 1 { // the first version kept no names
			if _, err := conn.ExecContext(ctx, "INSERT OR IGNORE INTO migrations(name) VALUES ('001_start.sql')"); err != nil {
				return err
			}
		}
		var version int
		if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, m.text+"\n;PRAGMA user_version = "+strconv.Itoa(max(version, m.version)))
		return err
	}()
	if err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}
