package outbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Verdict is what the receiver says of one record. The zero value is Keep.
type Verdict struct {
	outcome outcome
	reason  string
}

type outcome uint8

const (
	keep outcome = iota
	done
	reject
)

// Done acknowledges a record: it is durable elsewhere and leaves the queue.
func Done() Verdict { return Verdict{outcome: done} }

// Keep leaves the record and all behind it in the queue, to be delivered again.
func Keep() Verdict { return Verdict{} }

// Reject sets the record aside in quarantine for a reason, of which the first 1000 bytes are kept.
func Reject(reason string) Verdict { return Verdict{outcome: reject, reason: reason} }

const (
	orphanAge  = 10 * time.Minute // after which a file beside that was never finished is taken over
	drainChunk = 256 << 10
)

// Drain hands the queued records to deliver, batch by batch and each segment in the order of arrival, until the queue is
// empty, ctx ends, deliver gives an error or keeps a record (ErrKept). Records written beside come after the segments.
// A batch holds at most maxN records and, unless it is a single one, maxBytes bytes of data; both must be positive.
//
// deliver gives one Verdict a record, in order; those missing, and all behind a Keep, count as Keep. Verdicts given
// together with an error are honoured. A record leaves the queue only when it is Done or in quarantine; one that is Done
// is delivered again when the process ends before that could be noted, so the receiver must tell it by its id.
//
// Only one drains at a time; others get ErrBusy. ErrLocked means that only bytes at the end are left which another
// process, holding the append lock, may still be writing. A missing directory is an empty queue.
func (q *Queue) Drain(ctx context.Context, maxN, maxBytes int, deliver func([]Record) ([]Verdict, error)) (delivered int, err error) {
	l, err := q.acquire(drainLock, 0)
	switch {
	case errors.Is(err, ErrLocked):
		return 0, ErrBusy
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("draining the outbox: %w", err)
	}
	defer l.unlock()
	q.sweepQuarantine()
	d := &drain{q: q, ctx: ctx, maxN: max(maxN, 1), maxBytes: max(maxBytes, 1), deliver: deliver, cursor: q.loadCursor()}
	for {
		d.moved = false
		err := d.pass()
		if d.stopped || !d.moved {
			if err != nil {
				err = fmt.Errorf("draining the outbox: %w", err)
			}
			return d.delivered, err
		}
	}
}

// drain is one run of Drain.
type drain struct {
	q         *Queue
	ctx       context.Context
	maxN      int
	maxBytes  int
	deliver   func([]Record) ([]Verdict, error)
	cursor    cursor
	delivered int
	moved     bool // something was settled in this pass
	stopped   bool // by the receiver, the context or a full quarantine: no further file is tried
}

// pass goes once through all files. A file that cannot be read does not keep the others waiting; the first error is given.
func (d *drain) pass() error {
	segments, _, err := d.q.segments()
	if err != nil {
		d.stopped = true
		return err
	}
	d.forget(segments)
	var first error
	for _, s := range segments {
		err := d.segment(s)
		if first == nil {
			first = err
		}
		if d.stopped {
			return err
		}
	}
	if err := d.beside(); first == nil || d.stopped {
		first = err
	}
	return first
}

// forget drops what the cursor knows of segments that are gone.
func (d *drain) forget(present []segment) {
	for base := range d.cursor {
		if !slices.ContainsFunc(present, func(s segment) bool { return s.base == base }) {
			delete(d.cursor, base)
		}
	}
}

// segment drains one segment, and retires it when it has come to its end.
func (d *drain) segment(s segment) error {
	f, err := d.q.disk.open(d.q.path(s.name()), os.O_RDWR) // Windows syncs only what could be written
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	w := &window{r: f, chunk: drainChunk}
	if w.size, err = f.stat(); err != nil {
		return err
	}
	off := d.cursor[s.base]
	if off > w.size {
		off = 0 // not the bytes that the cursor was about
	}
	for {
		if off, err = d.records(s, f, w, off); err != nil {
			return err
		}
		if w.size, err = f.stat(); err != nil {
			return err
		}
		if off >= w.size {
			grown, err := d.retire(s, f, off)
			if err != nil || !grown {
				return err
			}
		}
		if off, err = d.damaged(s, f, w, off); err != nil {
			return err
		}
	}
}

// records hands over the intact records from off on and gives the place where they end.
func (d *drain) records(s segment, f file, w *window, off int64) (int64, error) {
	for {
		if err := d.ctx.Err(); err != nil {
			d.stopped = true
			return off, err
		}
		batch, ends, err := d.collect(w, off)
		if err != nil || len(batch) == 0 {
			return off, err
		}
		n, err := d.hand(batch)
		if n > 0 {
			off = ends[n-1]
			d.cursor[s.base] = off
		}
		if err != nil || off < w.size { // at the end of the file the segment goes, and the cursor with it
			if noteErr := d.note(s, f, off); err == nil {
				err = noteErr
			}
		}
		if err != nil {
			return off, err
		}
	}
}

// collect gives the records of one batch and where each ends.
func (d *drain) collect(w *window, off int64) (batch []Record, ends []int64, err error) {
	for sum := 0; len(batch) < d.maxN; {
		r, end, ok, err := w.record(off)
		if err != nil && len(batch) == 0 {
			return nil, nil, err
		}
		if err != nil || !ok || (len(batch) > 0 && sum+len(r.Data) > d.maxBytes) {
			break
		}
		batch, ends = append(batch, r), append(ends, end)
		sum += len(r.Data)
		off = end
	}
	return batch, ends, nil
}

// note writes the cursor down. The bytes it vouches for are synced first: if a power cut took them, other records would
// come to lie where the cursor says that all is settled.
func (d *drain) note(s segment, f file, off int64) error {
	if off == 0 {
		return nil
	}
	if err := f.sync(); err != nil {
		return err
	}
	d.cursor[s.base] = off
	return d.q.saveCursor(d.cursor)
}

// hand delivers one batch and gives how many records from its beginning are settled; fewer than all come with an error.
func (d *drain) hand(batch []Record) (settled int, err error) {
	verdicts, err := d.deliver(batch)
	if err != nil {
		d.stopped = true
	}
	for i, r := range batch {
		if i >= len(verdicts) || verdicts[i].outcome == keep {
			break
		}
		if verdicts[i].outcome == reject {
			if qErr := d.q.setAside(r, verdicts[i].reason); qErr != nil {
				d.stopped, err = true, qErr
				break
			}
		} else {
			d.delivered++
		}
		settled++
	}
	d.moved = d.moved || settled > 0
	if err == nil && settled < len(batch) {
		d.stopped, err = true, ErrKept
	}
	return settled, err
}

// damaged judges the bytes at off, where no intact record begins, and sets aside those that nobody is still writing. It
// gives where reading goes on, with a window on the bytes as they are now.
func (d *drain) damaged(s segment, f file, w *window, off int64) (int64, error) {
	next, err := d.judge(f, w, off)
	if err != nil || next <= off {
		return off, err
	}
	for off < next {
		n := int(min(next-off, pieceSize))
		var b []byte
		if b, err = w.bytes(off, n); err != nil || len(b) == 0 {
			break
		}
		if err = d.q.setAsideDamaged(s.base, off, b); err != nil {
			d.stopped = true
			break
		}
		off += int64(len(b))
		d.moved = true
	}
	if noteErr := d.note(s, f, off); err == nil {
		err = noteErr
	}
	return off, err
}

// judge gives where the next intact record begins, or the end of the file. Bytes that may be the beginning of a record
// still being written are judged under the append lock. Bytes without a whole header, but with a record behind them, are
// not that: a record is written front to back, and nobody writes behind it meanwhile.
func (d *drain) judge(f file, w *window, off int64) (next int64, err error) {
	look := func() error {
		size, err := f.stat()
		if err != nil {
			return err
		}
		*w = window{r: f, size: size, chunk: drainChunk}
		next, err = w.next(off)
		return err
	}
	if err := look(); err != nil {
		return off, err
	}
	if _, headed, err := w.header(off); err != nil || next == off || (!headed && next < w.size) {
		return next, err
	}
	l, err := d.q.acquire(appendLock, d.q.lockWait)
	if err != nil {
		return off, err
	}
	defer l.unlock()
	err = look()
	return next, err
}

// retire removes a segment that has been drained up to off. It gives true when the segment has grown meanwhile. One that
// cannot be removed now stays, and the cursor knows it as drained.
//
// The last segment goes under the append lock, and its successor is made here, so that the next hook finds a segment
// whose name is already durable. It is renamed before the last look at its length: a writer whose lock was stolen sees
// after its write that the name is gone, or its bytes are seen here.
func (d *drain) retire(s segment, f file, off int64) (grown bool, err error) {
	q := d.q
	all, _, err := q.segments()
	if err != nil {
		return false, err
	}
	if !s.done && len(all) > 0 && all[len(all)-1].base == s.base {
		if off == 0 {
			return false, nil // empty, and where the next record goes
		}
		l, err := q.acquire(appendLock, q.lockWait)
		if err != nil {
			return false, d.note(s, f, off)
		}
		defer l.unlock()
		if size, err := f.stat(); err != nil || size != off {
			return size > off, err
		}
		if next, err := q.beginSegment(all); err == nil { // on a full disk the next writer tries again
			_ = next.Close()
		}
	}
	if closeToRename {
		if err := d.note(s, f, off); err != nil {
			return false, err
		}
		_ = f.Close()
	}
	if err := d.takeAway(s, off); err != nil && !closeToRename {
		return false, d.note(s, f, off)
	}
	return false, nil
}

// takeAway renames and removes a drained segment, unless it turns out to be longer than off.
func (d *drain) takeAway(s segment, off int64) error {
	name := d.q.path(s.base + doneSuffix)
	if !s.done {
		if err := d.q.disk.rename(d.q.path(s.base), name); err != nil {
			return err
		}
	}
	size, err := d.q.disk.size(name)
	if err != nil {
		return err
	}
	if size > off {
		d.moved = true // so that another pass drains the rest of it
		return errors.New("the segment has grown")
	}
	if err := d.q.disk.remove(name); err != nil {
		return err
	}
	delete(d.cursor, s.base)
	return nil
}

// beside drains the files of those who did not get the lock, batches going across files.
func (d *drain) beside() error {
	if err := d.q.adoptOrphans(); err != nil {
		return err
	}
	files, _, err := d.q.besideFiles()
	if err != nil {
		return err
	}
	var first error
	for len(files) > 0 && !d.stopped {
		if err := d.ctx.Err(); err != nil {
			d.stopped = true
			return err
		}
		var batch []Record
		var taken []besideFile
		sum := 0
		for len(files) > 0 && len(batch) < d.maxN && sum < d.maxBytes {
			records, err := d.readBeside(files[0])
			for _, r := range records {
				sum += len(r.Data)
			}
			if d.stopped {
				return err
			}
			if sum > d.maxBytes && len(batch) > 0 {
				break
			}
			if err == nil {
				batch = append(batch, records...)
				taken = append(taken, besideFile{files[0], len(batch)})
			} else if first == nil {
				first = err
			}
			files = files[1:]
		}
		if err := d.handBeside(batch, taken); err != nil && (first == nil || d.stopped) {
			first = err
		}
	}
	return first
}

// besideFile is a file in a batch: its records end before the one numbered end.
type besideFile struct {
	name string
	end  int
}

// handBeside delivers a batch and removes the files all of whose records are settled.
func (d *drain) handBeside(batch []Record, taken []besideFile) (err error) {
	settled := 0
	for settled < len(batch) && err == nil {
		n, sum := settled, 0
		for n < len(batch) && n-settled < d.maxN && (n == settled || sum+len(batch[n].Data) <= d.maxBytes) {
			sum += len(batch[n].Data)
			n++
		}
		n, err = d.hand(batch[settled:n])
		settled += n
	}
	for _, t := range taken {
		if t.end > settled {
			break
		}
		if removeErr := d.q.disk.remove(d.q.path(besideDir, t.name)); removeErr != nil && err == nil {
			d.stopped, err = true, removeErr // going on would deliver it without end
		}
	}
	return err
}

// readBeside gives the records of one file; what is not a record goes to quarantine.
func (d *drain) readBeside(name string) (records []Record, err error) {
	f, err := d.q.disk.open(d.q.path(besideDir, name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	w := &window{r: f, chunk: drainChunk}
	if w.size, err = f.stat(); err != nil {
		return nil, err
	}
	for off := int64(0); off < w.size; {
		r, end, ok, err := w.record(off)
		if err != nil {
			return nil, err
		}
		if ok {
			records, off = append(records, r), end
			continue
		}
		next, err := w.next(off)
		if err != nil {
			return nil, err
		}
		b, err := w.bytes(off, int(min(next-off, pieceSize)))
		if err != nil || len(b) == 0 {
			return nil, err
		}
		if err := d.q.setAsideDamaged(name, off, b); err != nil {
			d.stopped = true
			return nil, err
		}
		off += int64(len(b))
	}
	return records, nil
}

// adoptOrphans gives their name to files that their writers were killed over, long ago.
func (q *Queue) adoptOrphans() error {
	names, err := q.disk.names(q.path(besideDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		whole, orphan := strings.CutSuffix(name, tmpSuffix)
		if !orphan {
			continue
		}
		f, err := q.disk.open(q.path(besideDir, name), os.O_RDONLY)
		if err != nil {
			continue // finished or gone
		}
		written, err := f.modified()
		_ = f.Close()
		if err == nil && q.now().Sub(written) > orphanAge {
			_ = q.disk.rename(q.path(besideDir, name), q.path(besideDir, whole)) // next time, then
		}
	}
	return nil
}
