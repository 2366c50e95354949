package outbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"kiro-learn/internal/atomicfile"
)

// disk is the part of a file system that the queue stands on: small, so that a test can put one in its place that
// loses what was not synced.
type disk interface {
	open(name string, flag int) (file, error) // as os.OpenFile; a file made is 0600
	rename(from, to string) error
	remove(name string) error
	names(dir string) ([]string, error)            // sorted; a missing dir gives fs.ErrNotExist
	size(name string) (int64, error)               // in bytes
	makeDir(dir string) error                      // with parents, 0700
	syncDir(dir string) error                      // names in dir survive a power cut
	lock(name string) (l lock, ok bool, err error) // does not wait
}

// file is an open file.
type file interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	sync() error                  // the content survives a power cut
	stat() (int64, error)         // size in bytes
	inPlace() bool                // its name still means this file
	modified() (time.Time, error) // time of the last write
}

// lock is a lock that is held.
type lock interface {
	held() bool // its file is still the one in the directory, so that nobody else can hold it
	unlock()
}

// osDisk is the real one.
type osDisk struct{ step func(string) }

var _ disk = (*osDisk)(nil)

func (d *osDisk) at(call string) {
	if d.step != nil {
		d.step(call)
	}
}

func (d *osDisk) open(name string, flag int) (file, error) {
	d.at("open")
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	if flag&os.O_EXCL != 0 { // just made: a umask may have taken the owner's own bits
		d.at("chmod")
		if err := chmod(f, 0o600); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return &osFile{File: f, d: d}, nil
}

func (d *osDisk) rename(from, to string) error {
	d.at("rename")
	return atomicfile.Rename(from, to)
}

func (d *osDisk) remove(name string) error {
	d.at("remove")
	return os.Remove(name)
}

func (d *osDisk) names(dir string) ([]string, error) {
	d.at("list")
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	return names, nil
}

func (d *osDisk) size(name string) (int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d *osDisk) makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := d.makeParent(dir); err != nil {
		return err
	}
	d.at("mkdir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
			return nil // another process was first
		}
		return err
	}
	d.at("chmod")
	return os.Chmod(dir, 0o700) // a umask may have taken the owner's own bits
}

func (d *osDisk) makeParent(dir string) error {
	if parent := filepath.Dir(dir); parent != dir {
		return d.makeDir(parent)
	}
	return nil
}

func (d *osDisk) syncDir(dir string) error {
	d.at("syncdir")
	return syncDir(dir)
}

func (d *osDisk) lock(name string) (lock, bool, error) {
	d.at("lock")
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s is not a regular file", name) // opening a pipe would hold us for ever
	}
	l := &osLock{flock.New(name, flock.SetPermissions(0o600)), name}
	ok, err := l.TryLock()
	if err != nil || !ok {
		return nil, false, err
	}
	if !l.held() { // removed between its opening and its locking: the next try makes a new one
		l.unlock()
		return nil, false, nil
	}
	return l, true, nil
}

type osLock struct {
	*flock.Flock
	name string
}

func (l *osLock) held() bool {
	mine, err := l.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(l.name)
	return err == nil && os.SameFile(mine, now)
}

func (l *osLock) unlock() { _ = l.Unlock() } // closing cannot fail in a way that leaves it locked

type osFile struct {
	*os.File
	d *osDisk
}

func (f *osFile) Write(b []byte) (int, error) {
	f.d.at("write")
	return f.File.Write(b)
}

func (f *osFile) WriteAt(b []byte, off int64) (int, error) {
	f.d.at("write")
	return f.File.WriteAt(b, off)
}

func (f *osFile) Truncate(size int64) error {
	f.d.at("truncate")
	return truncate(f.File, size)
}

func (f *osFile) Close() error {
	f.d.at("close")
	return f.File.Close()
}

func (f *osFile) sync() error {
	f.d.at("sync")
	return syncData(f.File)
}

func (f *osFile) stat() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *osFile) modified() (time.Time, error) {
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (f *osFile) inPlace() bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, now)
}
