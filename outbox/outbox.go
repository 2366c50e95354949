// Package outbox is the durable queue on disk: many processes append records to it, one at a time drains it. It knows
// ids and bytes, not what they mean.
//
// # Layout
//
//	append.lock            held while a record is written
//	drain.lock             held while somebody drains, requeues or purges
//	seg-<number>-<random>.q  segments: records one behind the other; the highest number is the one appended to
//	seg-….q.done           a segment that has been drained and is on its way out
//	beside/<time>-….q      one record each, written by those who did not get the append lock in time
//	quarantine/<hash>-….q  what was refused, and damaged bytes, with the reason
//	cursor                 how far each segment has been drained
//	dropped                how many records could not be kept, fixed size, written in place
//
// A record is a 32 byte header (magic, lengths, time, CRC-32 of id and data, CRC-32 of the header), the id, the data.
// The magic holds bytes that JSON text cannot hold, so a reader that has lost its way finds the next record by it.
//
// # What survives what
//
// A kill at any instruction, of a writer: a record is there whole, or its torn bytes are, which the drainer sets aside
// once the lock tells it that nobody is still writing them. Of the drainer: what was acknowledged but not yet noted in
// the cursor is delivered again, at most one batch; the receiver makes that harmless by id.
//
// A power cut: what Append acknowledged had been synced, as had the directory entry of its segment, before anybody
// could append to it. The cursor is never ahead of synced bytes. It may itself be lost, and is then redone: at most
// what is left of the segments is delivered again.
//
// A full, read-only or failing disk: Append takes its bytes back, tries a file of its own, gives the error and counts
// the drop in place, without needing new space. Nothing that was accepted before is touched.
//
// Garbage, torn tails, bytes of others anywhere in a segment: every intact record around them is delivered, the bytes
// go to quarantine, at most 1 MiB in one piece.
//
// A lock held for ever: Append waits as long as it was told and writes beside. The drainer needs the append lock only
// to judge a torn tail and to retire the last segment; all else flows without it.
//
// A lock file removed while held: two writers may then write at once. Each record is one write to a file opened for
// appending, so they do not mix; and whoever finds, after the write, that its lock or its segment is no longer the one
// in the directory writes the record beside as well, for a drainer may have judged its half-written bytes. One gap is
// left: a writer that takes back a torn write could cut off a record of the second holder, if the lock file vanishes
// between the two system calls that check it and truncate.
//
// Not survived: somebody deleting segments; a disk that says it has synced and has not; damage that
// the CRC-32 does not show. Data with the magic in it, inside a record whose own header is damaged, would be taken for a record.
package outbox

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// Limits of one record, in bytes.
const (
	MaxID   = 64
	MaxData = 4 << 20
)

const (
	defaultMaxBytes     = 256 << 20
	defaultSegmentBytes = 4 << 20

	appendLock    = "append.lock"
	drainLock     = "drain.lock"
	cursorFile    = "cursor"
	droppedFile   = "dropped"
	besideDir     = "beside"
	quarantineDir = "quarantine"
	suffix        = ".q"
	doneSuffix    = ".done"
	tmpSuffix     = ".tmp"
)

// Errors that callers branch on.
var (
	// ErrFull means that the record would take the queue past Options.MaxBytes. The drop has been counted.
	ErrFull = errors.New("the outbox is full")
	// ErrTooBig means an id or data beyond MaxID or MaxData. The drop has been counted.
	ErrTooBig = errors.New("the record is too big for the outbox")
	// ErrBusy means that another process is draining, requeueing or purging.
	ErrBusy = errors.New("the outbox is being drained by another process")
	// ErrKept means that the receiver asked to keep a record for later; it and all behind it are still queued.
	ErrKept = errors.New("the receiver keeps the rest for later")
	// ErrLocked means that bytes at the end of the queue cannot be judged while another process holds the append lock.
	ErrLocked = errors.New("the outbox is locked by another process")
	// ErrQuarantineFull means that the quarantine has reached Options.MaxBytes, so nothing more can be set aside.
	ErrQuarantineFull = errors.New("the quarantine is full; look at it with `kiro-learn outbox quarantine`, then purge or requeue it")
)

// Options are the limits of a queue. The zero value is useful.
type Options struct {
	MaxBytes     int64             // bound of the bytes queued, and of those in quarantine; 0 means 256 MiB
	SegmentBytes int64             // size at which a new segment begins; 0 means 4 MiB; at most an eighth of MaxBytes is used
	Now          func() time.Time  // clock for the times that Status and Quarantined show; nil means time.Now
	Step         func(name string) // called before every system call, for tests that kill the process there; nil in production
}

// Queue is a queue in one directory. It holds no file open and no state: any number of Queues, in any number of
// processes and goroutines, may use the same directory.
type Queue struct {
	dir          string
	disk         disk
	now          func() time.Time
	maxBytes     int64
	segmentBytes int64
	lockWait     time.Duration // of the drainer and of Requeue for the append lock, which honest writers hold for microseconds
}

// Record is one thing queued.
type Record struct {
	ID   string
	Data []byte
	Time time.Time // when it was appended, by the writer's clock, to the millisecond
}

// New gives the queue in dir. It does no I/O; the directory is made by the first Append.
func New(dir string, o Options) *Queue {
	q := &Queue{
		dir: dir, disk: &osDisk{step: o.Step}, now: o.Now, maxBytes: o.MaxBytes, segmentBytes: o.SegmentBytes,
		lockWait: 250 * time.Millisecond,
	}
	if q.now == nil {
		q.now = time.Now
	}
	if q.maxBytes <= 0 {
		q.maxBytes = defaultMaxBytes
	}
	if q.segmentBytes <= 0 {
		q.segmentBytes = defaultSegmentBytes
	}
	q.segmentBytes = min(q.segmentBytes, max(q.maxBytes/8, 1))
	return q
}

func (q *Queue) path(parts ...string) string {
	return filepath.Join(append([]string{q.dir}, parts...)...)
}

// acquire waits at most wait for the lock called name. It polls, since a blocking lock cannot be given up.
func (q *Queue) acquire(name string, wait time.Duration) (lock, error) {
	deadline := time.Now().Add(wait)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		l, ok, err := q.disk.lock(q.path(name))
		if err != nil || ok {
			return l, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, ErrLocked
		}
		time.Sleep(min(pause, left))
	}
}

// segment is one segment as the directory shows it.
type segment struct {
	base string // name without doneSuffix: what the cursor knows it by
	size int64
	done bool
}

func (s segment) name() string {
	if s.done {
		return s.base + doneSuffix
	}
	return s.base
}

// segments lists the segments in the order they were begun, and their bytes together.
func (q *Queue) segments() (all []segment, sum int64, err error) {
	names, err := q.disk.names(q.dir)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		if !isSegment(name) {
			continue
		}
		size, err := q.disk.size(q.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // drained since
		}
		if err != nil {
			return nil, 0, err
		}
		base, done := strings.CutSuffix(name, doneSuffix)
		all = append(all, segment{base, size, done})
		sum += size
	}
	return all, sum, nil
}

func isSegment(name string) bool {
	return strings.HasPrefix(name, "seg-") && strings.HasSuffix(strings.TrimSuffix(name, doneSuffix), suffix)
}
