package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Append makes a record durable: once it returns nil, the record survives a kill and a power cut until it is
// acknowledged or quarantined. wait bounds the time spent waiting for other writers; after that the record goes to a
// file of its own. Any error means that the record may be lost, and has been counted for Status; ErrFull and ErrTooBig
// are told apart.
//
// The lock is held for the write, and the sync is done after it is given back. That is sound: a sync covers the whole
// file, so it makes durable this record and all before it, whoever wrote them; a record behind it may or may not be
// durable, but its own writer has not yet been told that it is. A sync that fails counts for this writer alone, who
// then writes beside. So the syncs of many hooks overlap, and the disk merges them.
//
// The cost does not depend on what is queued: a list of at most about MaxBytes/SegmentBytes names, no read.
func (q *Queue) Append(id string, data []byte, wait time.Duration) error {
	if len(id) > MaxID || len(data) > MaxData {
		q.countDrop(ErrTooBig)
		return fmt.Errorf("appending %d bytes to the outbox: %w", len(data), ErrTooBig)
	}
	record := encode(id, data, q.now())
	err := q.appendToSegment(record, wait)
	if err != nil && !errors.Is(err, ErrFull) {
		if besideErr := q.writeBeside(record); besideErr == nil {
			err = nil
		} else if errors.Is(err, ErrLocked) {
			err = besideErr
		}
	}
	if err != nil {
		q.countDrop(err)
		return fmt.Errorf("appending to the outbox: %w", err)
	}
	return nil
}

func (q *Queue) appendToSegment(record []byte, wait time.Duration) error {
	l, err := q.acquire(appendLock, wait)
	if errors.Is(err, fs.ErrNotExist) {
		if err = q.disk.makeDir(q.dir); err == nil {
			l, err = q.acquire(appendLock, wait)
		}
	}
	if err != nil {
		return err
	}
	f, err := q.writeLocked(l, record)
	l.unlock()
	if err != nil {
		return err
	}
	err = f.sync()
	_ = f.Close() // it is synced, or written beside
	return err
}

// writeLocked writes a record to the last segment and gives the segment to be synced.
func (q *Queue) writeLocked(l lock, record []byte) (file, error) {
	f, err := q.openLast(int64(len(record)))
	if err != nil {
		return nil, err
	}
	old, err := f.stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if _, err := f.Write(record); err != nil {
		if l.held() {
			_ = f.Truncate(old) // if this fails too, the drainer finds its way around the torn bytes
		}
		_ = f.Close()
		return nil, err
	}
	// When the lock file or the segment was taken away meanwhile, a drainer may have judged the half-written record to
	// be garbage, or retired the segment without seeing it. Both need the lock or the name to change before they do, so
	// seeing both unchanged after the write is proof that they did not.
	if !l.held() || !f.inPlace() {
		_ = f.Close()
		return nil, errors.New("the lock was lost while writing")
	}
	return f, nil
}

// openLast opens the segment that takes the next n bytes. The append lock is held.
func (q *Queue) openLast(n int64) (file, error) {
	all, sum, err := q.segments()
	if err != nil {
		return nil, err
	}
	// Those who write beside stay below half of the bound, so their directory needs reading only in the other half.
	if sum+n > q.maxBytes/2 {
		_, beside, err := q.besideFiles()
		if err != nil {
			return nil, err
		}
		if sum+beside+n > q.maxBytes {
			return nil, ErrFull
		}
	}
	if len(all) > 0 {
		last := all[len(all)-1]
		if !last.done && (last.size == 0 || last.size+n <= q.segmentBytes) {
			return q.disk.open(q.path(last.base), os.O_WRONLY|os.O_APPEND)
		}
	}
	return q.beginSegment(all)
}

// beginSegment makes the segment behind all others. The append lock is held, also while the directory is synced: else
// another writer could append, sync and leave, and a power cut could take the segment's name and with it the record.
func (q *Queue) beginSegment(all []segment) (file, error) {
	var number uint64
	if len(all) > 0 {
		number = segmentNumber(all[len(all)-1].base)
	}
	// The random part keeps a cursor of an earlier segment with this number, deleted by hand, from applying to this one.
	name := q.path(fmt.Sprintf("seg-%016d-%08x%s", number+1, rand.Uint32(), suffix))
	f, err := q.disk.open(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		q.prepareDropped()
		err = q.syncTree()
	} else {
		err = q.disk.syncDir(q.dir)
	}
	if err != nil {
		_ = f.Close()
		_ = q.disk.remove(name) // nobody may rely on it
		return nil, err
	}
	return f, nil
}

func segmentNumber(base string) uint64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(base, "seg-"), "-")
	n, _ := strconv.ParseUint(digits, 10, 64) // a name that is not ours counts as 0
	return n
}

// syncTree makes the queue's own directory, and those above it that may have been made with it, survive a power cut.
func (q *Queue) syncTree() error {
	if err := q.disk.syncDir(q.dir); err != nil {
		return err
	}
	dir := q.dir
	for range 4 {
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		switch err := q.disk.syncDir(parent); {
		case errors.Is(err, fs.ErrPermission):
			return nil // what is not ours to open was not made by us
		case err != nil:
			return err
		}
		dir = parent
	}
	return nil
}

// writeBeside puts the record in a file of its own. It needs no lock: the name is unique, and the file takes its name
// when it is whole and synced. This is the slow path, so it makes sure of every directory itself.
func (q *Queue) writeBeside(record []byte) error {
	if err := q.disk.makeDir(q.path(besideDir)); err != nil {
		return err
	}
	_, sum, err := q.segments()
	if err != nil {
		return err
	}
	_, beside, err := q.besideFiles()
	if err != nil {
		return err
	}
	if n := int64(len(record)); beside+n > q.maxBytes/2 || sum+beside+n > q.maxBytes {
		return ErrFull
	}
	name := fmt.Sprintf("%020d-%016x-%d%s", q.now().UnixNano(), rand.Uint64(), len(record), suffix)
	if err := q.writeWhole(q.path(besideDir, name), record); err != nil {
		return err
	}
	if err := q.disk.syncDir(q.path(besideDir)); err != nil {
		return err
	}
	return q.syncTree()
}

// writeWhole makes a file that is whole and synced when it gets its name. Syncing the directory is left to the caller.
func (q *Queue) writeWhole(name string, content []byte) error {
	tmp := name + tmpSuffix
	f, err := q.disk.open(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) { // left by a kill; only the holder of the drain lock writes names that can recur
		_ = q.disk.remove(tmp)
		f, err = q.disk.open(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = q.disk.rename(tmp, name)
	}
	if err != nil {
		_ = q.disk.remove(tmp)
	}
	return err
}

// besideFiles lists the records written beside, by time, and their bytes together.
func (q *Queue) besideFiles() ([]string, int64, error) { return q.sized(besideDir) }

// sized lists the finished files of a directory whose names end in their size, which spares a look at each.
func (q *Queue) sized(dir string) (files []string, sum int64, err error) {
	names, err := q.disk.names(q.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		stem, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		size, _ := strconv.ParseInt(stem[strings.LastIndexByte(stem, '-')+1:], 10, 64) // not ours: size unknown
		files = append(files, name)
		sum += max(size, 0)
	}
	return files, sum, nil
}
