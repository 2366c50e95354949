package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// backupAge is how long a backup that was made before a migration is kept.
const backupAge = 30 * 24 * time.Hour

// backups are the files beside the database that were made before migrations.
func (s *Store) backups() []string {
	found, _ := filepath.Glob(s.path + ".before-*") // the pattern is well-formed
	return found
}

// backup copies a database that is about to be migrated. Where there is no room for a copy there is none: a migration is
// a transaction and either happens or does not.
func (s *Store) backup(all []migration) error {
	have, err := seen(s.write)
	if err != nil {
		return err
	}
	version, err := schemaVersion(s.write)
	if err != nil || version == 0 {
		return err // a new database
	}
	missing := ""
	for _, m := range all {
		if !have[m.name] {
			missing = strings.TrimSuffix(m.name, ".sql")
			break
		}
	}
	if missing == "" || version > all[len(all)-1].version {
		return nil
	}
	s.dropBackups()
	path := s.path + ".before-" + missing
	if err := private(path); err != nil { // SQLite would make it for everybody to read
		return err
	}
	if _, err := s.write.Exec("VACUUM INTO ?", path); err != nil {
		_ = os.Remove(path)
	}
	return nil
}

// dropBackups removes the backups: they hold what may have been forgotten since.
func (s *Store) dropBackups() {
	for _, b := range s.backups() {
		_ = os.Remove(b) // the next time will do
	}
}

// DropOldBackups removes backups that nobody will want any more.
func (s *Store) DropOldBackups() {
	for _, b := range s.backups() {
		if info, err := os.Stat(b); err == nil && s.now().Sub(info.ModTime()) > backupAge {
			_ = os.Remove(b)
		}
	}
}

// Check reads the whole database and the search index and tells what is wrong with them, at most a few lines; nothing
// when all is well. It takes a second for every few hundred megabytes; other readers and the writer go on. What it tells
// has been seen twice. A check that comes to no end gives an error, which says nothing of the database.
func (s *Store) Check(ctx context.Context) (problems []string, err error) {
	for range 2 {
		if problems, err = s.look(ctx); err != nil {
			return nil, fmt.Errorf("check the database: %w", err)
		}
		if len(problems) == 0 {
			return nil, s.noteCheck(ctx)
		}
	}
	return problems, nil
}

// checking are the parameters of a connection that checks.
var checking = []string{"mode=ro", "_pragma=query_only(1)"}

// look reads all of the database once, as it is at one moment. It opens the file for itself: a connection that has
// searched remembers how the search index was laid out then, and checks what is there now against that.
func (s *Store) look(ctx context.Context) (problems []string, err error) {
	db, err := open(s.path, 1, checking...)
	if err != nil {
		err = damage(ctx, &problems, err)
		return problems, err
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	lines, err := column[string](ctx, tx, "PRAGMA integrity_check(8)")
	for _, l := range lines {
		if strings.HasPrefix(l, "unable to validate ") { // out of memory, or interrupted, or the disk did not answer
			err = errors.Join(err, errors.New(l))
		} else if l != "ok" {
			problems = append(problems, l)
		}
	}
	if err := damage(ctx, &problems, err); err != nil {
		return nil, err
	}
	var missing, extra int
	err = tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM records r WHERE NOT EXISTS (SELECT 1 FROM search_docsize d WHERE d.id = r.id)),
		(SELECT count(*) FROM search_docsize d WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.id = d.id))`).Scan(&missing, &extra)
	if missing+extra > 0 {
		problems = append(problems, fmt.Sprintf("the search index lacks %d records and has %d too many", missing, extra))
	}
	err = damage(ctx, &problems, err)
	return problems, err
}

// damage adds an error to the problems if it says that the file is damaged, and gives back any other: a check that was
// broken off, or that got no answer.
func damage(ctx context.Context, problems *[]string, err error) error {
	var e *sqlite.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB):
		*problems = append(*problems, e.Error())
		return nil
	}
	return err
}

// checkEvery is how often a database is checked that was closed well each time.
const checkEvery = 7 * 24 * time.Hour

// CheckDue tells whether the database should be checked: once after it was not closed, as when the machine lost power, and
// now and then. A check reads all of it, so it is no part of every start.
func (s *Store) CheckDue(ctx context.Context) (due, torn bool, err error) {
	last, err := column[int64](ctx, s.read, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'checked_ms'")
	if err != nil {
		return false, false, fmt.Errorf("see when the database was checked: %w", err)
	}
	return s.torn || len(last) == 0 || s.now().Sub(time.UnixMilli(last[0])) > checkEvery, s.torn, nil
}

// noteCheck remembers that the database was checked and is sound.
func (s *Store) noteCheck(ctx context.Context) error {
	return s.submit(ctx, func(w *writerTx) error {
		_, err := w.exec("INSERT INTO meta(key, value) VALUES ('checked_ms', ?1) ON CONFLICT(key) DO UPDATE SET value = ?1", s.now().UnixMilli())
		return err
	})
}

// Repair makes all indexes anew from the rows they index. The search index is made anew altogether: a damaged one cannot
// even be emptied.
func (s *Store) Repair(ctx context.Context) error {
	err := s.submit(ctx, func(w *writerTx) error {
		made, err := column[string](context.Background(), w.conn, "SELECT sql FROM sqlite_schema WHERE name = 'search'")
		if err != nil || len(made) != 1 {
			return errors.Join(err, fmt.Errorf("%d definitions of the search index", len(made)))
		}
		for _, q := range []string{
			"REINDEX", "DROP TABLE search", made[0], "INSERT INTO search(search, rank) VALUES ('secure-delete', 1)",
			"INSERT INTO search(search, rank) VALUES ('rank', 'bm25(4.0, 1.0, 1.5, 1.5, 2.0)')", "DELETE FROM meta WHERE key = 'index_version'",
		} {
			if _, err := w.conn.ExecContext(context.Background(), q); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.reindex()
	}
	if err != nil {
		return fmt.Errorf("repair the database: %w", err)
	}
	return nil
}

// Trim writes the log into the database and cuts it, if no reader needs it just now.
func (s *Store) Trim(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := s.emptyLog(ctx); err != nil && !errors.Is(err, errReaders) {
		return fmt.Errorf("trim the log: %w", err)
	}
	return nil
}

// expireStep is how many rows one transaction of Expire takes, so that writing goes on between them.
const expireStep = 500

// Expire deletes events that have been distilled and came before a time, and records made before another; a zero time
// keeps all. It gives how many rows went.
func (s *Store) Expire(ctx context.Context, events, records time.Time) (n int, err error) {
	for {
		gone := 0
		err := s.submit(ctx, func(w *writerTx) error {
			t := &targets{}
			var err error
			if !events.IsZero() {
				t.events, err = column[int64](context.Background(), w.conn, "SELECT seq FROM events WHERE pending = 0 AND received_ms < ? LIMIT ?", events.UnixMilli(), expireStep)
			}
			if err == nil && !records.IsZero() {
				t.records, err = column[int64](context.Background(), w.conn, "SELECT id FROM records WHERE created_ms < ? LIMIT ?", records.UnixMilli(), expireStep)
			}
			if err == nil && !records.IsZero() {
				_, err = w.exec("DELETE FROM history WHERE at_ms < ?", records.UnixMilli())
			}
			if err == nil {
				err = t.places(context.Background(), w.conn)
			}
			if err != nil {
				return err
			}
			out := Forgotten{Events: len(t.events), Records: len(t.records), At: s.now()}
			gone = out.Events + out.Records
			_, err = t.take(w, s, &out, true)
			return err
		})
		n += gone
		if err != nil {
			return n, fmt.Errorf("let go what is too old: %w", err)
		}
		if gone == 0 {
			return n, nil
		}
	}
}
