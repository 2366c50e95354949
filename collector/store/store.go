// Package store keeps events and memory records in one SQLite file. All writes go through one writer, which commits what
// has queued up together and answers only after a synced commit; readers have connections of their own and never wait
// for it. The package holds no policy: what is scrubbed, distilled, found or forgotten is decided above it.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"kiro-learn/internal/event"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewer is returned for a database that a newer kiro-learn has written; this one must not touch it.
var ErrNewer = errors.New("the database was written by a newer kiro-learn")

// Fields are the words of a record, each field's separated by spaces. A word holds only letters, digits and "_".
type Fields struct{ Title, Summary, Facts, Concepts, Files string }

// Indexer makes the words by which records are found. When Version changes, every record is indexed anew at the next Open.
type Indexer interface {
	Version() int
	Index(r event.Record) Fields
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	path    string
	write   *sql.DB // one connection
	read    *reader
	index   Indexer
	now     func() time.Time
	jobs    chan *job
	stopped chan struct{}
	close   sync.Once
	spaces  spaces
	graves  map[int64]bool // namespaces that may have tombstones; the writer's alone
	counts  counts
	torn    bool // whoever had it open before did not close it
	changed func(Change)
	commits atomic.Int64 // of the writer
	sums    sums

	unsynced bool // how the writer's connection commits; the writer's alone
}

// Change tells a listener what a commit has added.
type Change struct {
	Events  []event.Event
	Records []event.Record
}

// Options of a store.
type Options struct {
	Index   Indexer
	Now     func() time.Time // nil: time.Now
	Changed func(Change)     // called after each commit that added something, from the writer; must not block
}

// Open opens the database at path, makes it where there is none, and brings an older one to this version's schema.
// Files are readable by their owner alone. A database of a newer version gives ErrNewer and is left as it is.
func Open(path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := private(path); err != nil {
		return nil, fmt.Errorf("open the memory database: %w", err)
	}
	left, err := os.Stat(path + "-wal") // which goes when the last one who has it open closes it
	torn := err == nil && left.Size() > 0
	s := &Store{path: path, torn: torn, index: o.Index, now: o.Now, changed: o.Changed, jobs: make(chan *job, 1024), stopped: make(chan struct{})}
	if s.write, err = open(path, 1, "_pragma=wal_autocheckpoint(4000)", "_pragma=journal_size_limit(16777216)"); err != nil {
		return nil, fmt.Errorf("open the memory database: %w", err)
	}
	if err := s.migrate(); err != nil {
		_ = s.write.Close()
		return nil, fmt.Errorf("open the memory database %s: %w", path, err)
	}
	read, err := open(path, 4, "_pragma=query_only(1)")
	if err != nil {
		_ = s.write.Close()
		return nil, fmt.Errorf("open the memory database: %w", err)
	}
	s.read = newReader(read)
	if err := s.spaces.load(read); err != nil {
		_ = s.closeFiles()
		return nil, fmt.Errorf("read the namespaces of %s: %w", path, err)
	}
	if err := s.loadGraves(); err != nil {
		_ = s.closeFiles()
		return nil, fmt.Errorf("read what was forgotten in %s: %w", path, err)
	}
	conn, err := s.write.Conn(context.Background())
	if err != nil {
		_ = s.closeFiles()
		return nil, fmt.Errorf("open the memory database: %w", err)
	}
	go s.writer(conn)
	if err := s.reindex(); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("index the records of %s: %w", path, err)
	}
	return s, nil
}

// Close waits for queued writes and closes the files.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		close(s.jobs)
		<-s.stopped
		err = s.closeFiles()
	})
	return err
}

func (s *Store) closeFiles() error {
	err := s.read.Close()
	_, _ = s.write.Exec("PRAGMA optimize") // advice for the planner; losing it costs nothing
	return errors.Join(err, s.write.Close())
}

// private makes the directory and the file for their owner alone; SQLite gives its side files the mode of the database.
func private(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func open(path string, conns int, params ...string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + strings.Join(append([]string{
		"_pragma=busy_timeout(10000)", // before the journal mode, which needs the lock
		"_pragma=journal_mode(WAL)",
		"_pragma=synchronous(FULL)", // an acknowledged commit survives a power cut
		"_pragma=foreign_keys(1)",
		"_pragma=secure_delete(1)", // what is deleted is overwritten, not merely unlinked
		"_pragma=cache_size(-2048)",
		"_pragma=mmap_size(0)",
	}, params...), "&")
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if err := db.Ping(); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

func (s *Store) migrate() error {
	all, err := embedded(migrations)
	if err != nil {
		return err
	}
	if err := s.backup(all); err != nil {
		return err
	}
	return migrate(s.write, all)
}

// spaces maps namespaces to their numbers. There are few and none is ever removed while the store is open, so all are
// kept. A new one counts only once its transaction has committed.
type spaces struct {
	mu    sync.RWMutex
	ids   map[string]int64
	ns    map[int64]string
	fresh map[string]int64 // of the running transaction; the writer's alone
}

func (p *spaces) load(db *sql.DB) error {
	p.ids, p.ns, p.fresh = map[string]int64{}, map[int64]string{}, map[string]int64{}
	rows, err := db.Query("SELECT id, namespace FROM namespaces")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		var ns string
		if err := rows.Scan(&id, &ns); err != nil {
			return err
		}
		p.ids[ns], p.ns[id] = id, ns
	}
	return rows.Err()
}

func (p *spaces) id(ns string) (int64, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	id, ok := p.ids[ns]
	return id, ok
}

func (p *spaces) name(id int64) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.ns[id]
}

// ensure gives the number of a namespace within the writer's transaction, making it if need be.
func (p *spaces) ensure(w *writerTx, ns, projectPath string) (int64, error) {
	if id, ok := p.id(ns); ok {
		return id, nil
	}
	if id, ok := p.fresh[ns]; ok {
		return id, nil
	}
	var id int64
	err := w.row(`INSERT INTO namespaces(namespace, project_path) VALUES (?, ?)
		ON CONFLICT(namespace) DO UPDATE SET namespace = excluded.namespace RETURNING id`, []any{ns, projectPath}, &id)
	if err != nil {
		return 0, fmt.Errorf("add a namespace: %w", err)
	}
	p.fresh[ns] = id
	return id, nil
}

func (p *spaces) keep() {
	if len(p.fresh) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for ns, id := range p.fresh {
		p.ids[ns], p.ns[id] = id, ns
	}
	p.fresh = map[string]int64{}
}

func (p *spaces) forget() { p.fresh = map[string]int64{} }

// Ping answers when the database can be read.
func (s *Store) Ping(ctx context.Context) error { return s.read.PingContext(ctx) }
