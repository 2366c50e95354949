package outbox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// memDisk is a file system in memory that knows what a power cut may take: every write since the last sync of its file,
// every name since the last sync of its directory. It obeys one goroutine at a time, but lets before call back into it,
// so that one process can be run in the middle of another.
type memDisk struct {
	now     map[string]*inode // names as programs see them
	durable map[string]*inode // names that survive
	pending []nameChange      // changes of names since, in order
	locks   map[string]*memLock
	before  func(op, name string)       // called before every operation
	fail    func(op, name string) error // an error for the operation, of which a write does half all the same
}

var _ disk = (*memDisk)(nil)

type inode struct {
	dir    bool
	data   []byte
	synced []byte // content that survives
}

// nameChange sets names to inodes; nil takes the name away. A rename is one change of two names.
type nameChange map[string]*inode

const top = string(filepath.Separator) // the directory above all others

func newMemDisk() *memDisk {
	root := &inode{dir: true}
	return &memDisk{now: map[string]*inode{top: root}, durable: map[string]*inode{top: root}, locks: map[string]*memLock{}}
}

func memQueue(d *memDisk, o Options) *Queue {
	q := New(filepath.FromSlash("/state/outbox"), o)
	q.disk, q.lockWait = d, 0
	return q
}

func (d *memDisk) op(op, name string) error {
	if d.before != nil {
		d.before(op, name)
	}
	if d.fail != nil {
		if err := d.fail(op, name); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return nil
}

func (d *memDisk) change(c nameChange) {
	d.pending = append(d.pending, c)
	apply(d.now, c)
}

func apply(names map[string]*inode, c nameChange) {
	for name, node := range c {
		if node == nil {
			delete(names, name)
		} else {
			names[name] = node
		}
	}
}

func (d *memDisk) open(name string, flag int) (file, error) {
	if err := d.op("open", name); err != nil {
		return nil, err
	}
	node, there := d.now[name]
	switch {
	case there && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case !there && (flag&os.O_CREATE == 0 || d.now[filepath.Dir(name)] == nil):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case !there:
		node = &inode{}
		d.change(nameChange{name: node})
	}
	return &memFile{d, name, node}, nil
}

func (d *memDisk) rename(from, to string) error {
	if err := d.op("rename", from); err != nil {
		return err
	}
	node, there := d.now[from]
	if !there {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	d.change(nameChange{from: nil, to: node})
	return nil
}

func (d *memDisk) remove(name string) error {
	if err := d.op("remove", name); err != nil {
		return err
	}
	if _, there := d.now[name]; !there {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	d.change(nameChange{name: nil})
	return nil
}

func (d *memDisk) names(dir string) ([]string, error) {
	if err := d.op("list", dir); err != nil {
		return nil, err
	}
	if d.now[dir] == nil {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	var names []string
	for name := range d.now {
		if name != dir && filepath.Dir(name) == dir {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (d *memDisk) size(name string) (int64, error) {
	node, there := d.now[name]
	if !there {
		return 0, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return int64(len(node.data)), nil
}

func (d *memDisk) makeDir(dir string) error {
	if d.now[dir] != nil {
		return nil
	}
	if err := d.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := d.op("mkdir", dir); err != nil {
		return err
	}
	if d.now[dir] == nil {
		d.change(nameChange{dir: &inode{dir: true}})
	}
	return nil
}

func (d *memDisk) syncDir(dir string) error {
	if err := d.op("syncdir", dir); err != nil {
		return err
	}
	rest := d.pending[:0:0]
	for _, c := range d.pending {
		here := false
		for name := range c {
			here = here || filepath.Dir(name) == dir
		}
		if here {
			apply(d.durable, c)
		} else {
			rest = append(rest, c)
		}
	}
	d.pending = rest
	return nil
}

func (d *memDisk) lock(name string) (lock, bool, error) {
	if err := d.op("lock", name); err != nil {
		return nil, false, err
	}
	if d.now[filepath.Dir(name)] == nil {
		return nil, false, &fs.PathError{Op: "lock", Path: name, Err: fs.ErrNotExist}
	}
	if d.locks[name] != nil {
		return nil, false, nil
	}
	l := &memLock{d, name}
	d.locks[name] = l
	return l, true, nil
}

type memLock struct {
	d    *memDisk
	name string
}

func (l *memLock) held() bool { return l.d.locks[l.name] == l }

func (l *memLock) unlock() {
	if l.held() {
		delete(l.d.locks, l.name)
	}
}

type memFile struct {
	d    *memDisk
	name string
	node *inode
}

func (f *memFile) Write(b []byte) (int, error) {
	if err := f.d.op("write", f.name); err != nil {
		f.node.data = append(f.node.data, b[:len(b)/2]...)
		return len(b) / 2, err
	}
	f.node.data = append(f.node.data, b...)
	return len(b), nil
}

func (f *memFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.d.op("write", f.name); err != nil {
		return 0, err
	}
	end := int(off) + len(b)
	if end > len(f.node.data) {
		f.node.data = append(f.node.data, make([]byte, end-len(f.node.data))...)
	}
	f.node.data = bytes.Clone(f.node.data)
	return copy(f.node.data[off:], b), nil
}

func (f *memFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.d.op("read", f.name); err != nil {
		return 0, err
	}
	if f.node.dir {
		return 0, errors.New("is a directory")
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.d.op("truncate", f.name); err != nil {
		return err
	}
	f.node.data = bytes.Clone(f.node.data[:size])
	return nil
}

func (f *memFile) Close() error { return f.d.op("close", f.name) }

func (f *memFile) sync() error {
	if err := f.d.op("sync", f.name); err != nil {
		return err
	}
	f.node.synced = bytes.Clone(f.node.data)
	return nil
}

func (f *memFile) stat() (int64, error)         { return int64(len(f.node.data)), nil }
func (f *memFile) inPlace() bool                { return f.d.now[f.name] == f.node }
func (f *memFile) modified() (time.Time, error) { return time.Time{}, nil } // long ago: orphans are taken over at once

// Kinds of power cut: what happens to the names and to the bytes that were not synced.
const (
	cutLost   = iota // all of it is lost
	cutKept          // all of it had reached the disk
	cutHalf          // the first half of each file's new bytes had
	cutZeros         // the new lengths had, the bytes had not
	cutRandom        // each file and each name for itself
	cutKinds
)

// cut gives the disk as it is found after a power cut now.
func (d *memDisk) cut(names, content int, rnd *rand.Rand) *memDisk {
	kept := maps.Clone(d.durable)
	for _, c := range d.pending {
		if names == cutKept || (names == cutRandom && rnd.IntN(2) == 0) {
			apply(kept, c)
		}
	}
	after := newMemDisk()
	for _, name := range slices.Sorted(maps.Keys(kept)) { // a directory comes before what is in it
		node := kept[name]
		if name != top && after.now[filepath.Dir(name)] == nil {
			continue // its directory is lost
		}
		n := &inode{dir: node.dir}
		if !n.dir {
			n.data = cutContent(node, content, rnd)
			n.synced = n.data
		}
		after.now[name], after.durable[name] = n, n
	}
	return after
}

func cutContent(node *inode, content int, rnd *rand.Rand) []byte {
	if content == cutRandom {
		content = rnd.IntN(cutRandom)
	}
	if content == cutKept {
		return bytes.Clone(node.data)
	}
	if content == cutLost || len(node.data) <= len(node.synced) {
		return bytes.Clone(node.synced)
	}
	fresh := node.data[len(node.synced):]
	if content == cutZeros {
		return append(bytes.Clone(node.synced), make([]byte, len(fresh))...)
	}
	return append(bytes.Clone(node.synced), fresh[:len(fresh)/2]...)
}

// leftovers gives unfinished files.
func (d *memDisk) leftovers() (names []string) {
	for name := range d.now {
		if strings.HasSuffix(name, tmpSuffix) {
			names = append(names, name)
		}
	}
	return names
}
