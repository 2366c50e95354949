package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Status is what is in the queue.
type Status struct {
	Pending     int    `json:"pending"`               // records to be delivered
	Bytes       int64  `json:"bytes"`                 // of those records, with headers and damaged bytes between them
	Quarantined int    `json:"quarantined"`           // things set aside
	Oldest      string `json:"oldest"`                // RFC 3339 time of the oldest pending record; empty when none is
	Dropped     int    `json:"dropped"`               // records that could not be kept, ever
	LastDrop    string `json:"last_drop,omitempty"`   // RFC 3339 time of the last of them
	DropReason  string `json:"drop_reason,omitempty"` // and why
}

// Status counts what is in the queue. It takes no lock and reads the headers of the records, so it costs a few
// microseconds a record; while others append or drain, it may be off by what they do.
func (q *Queue) Status() (s Status, err error) {
	var oldest time.Time
	segments, _, err := q.segments()
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, fmt.Errorf("reading the outbox: %w", err)
	}
	c := q.loadCursor()
	for _, segment := range segments {
		if err := q.count(&s, &oldest, segment, c[segment.base]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Status{}, fmt.Errorf("reading the outbox: %w", err)
		}
	}
	beside, bytes, err := q.besideFiles()
	if err != nil {
		return Status{}, fmt.Errorf("reading the outbox: %w", err)
	}
	s.Pending += len(beside)
	s.Bytes += bytes
	if len(beside) > 0 {
		digits, _, _ := strings.Cut(beside[0], "-")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			oldest = earlier(oldest, time.Unix(0, n))
		}
	}
	if !oldest.IsZero() {
		s.Oldest = oldest.UTC().Format(time.RFC3339)
	}
	quarantined, _, err := q.sized(quarantineDir)
	if err != nil {
		return Status{}, fmt.Errorf("reading the outbox: %w", err)
	}
	s.Quarantined = len(quarantined)
	s.Dropped, s.LastDrop, s.DropReason = q.drops()
	return s, nil
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// count adds the records of one segment behind off. A header is believed when another, or the end, follows its record.
func (q *Queue) count(s *Status, oldest *time.Time, seg segment, off int64) error {
	f, err := q.disk.open(q.path(seg.name()), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	w := &window{r: f, size: seg.size, chunk: 64 << 10}
	if off > w.size {
		off = 0
	}
	s.Bytes += w.size - off
	for off < w.size {
		h, ok, err := w.header(off)
		if err != nil {
			return err
		}
		end := off + h.size()
		if ok && end < w.size {
			if _, ok, err = w.header(end); err == nil && !ok {
				_, _, ok, err = w.record(off)
			}
			if err != nil {
				return err
			}
		}
		if ok && end <= w.size {
			s.Pending++
			*oldest = earlier(*oldest, h.time)
			off = end
			continue
		}
		if off, err = w.next(off + 1); err != nil {
			return err
		}
	}
	return nil
}

// The file of drops is made with the first segment, at its full size, so that counting a drop needs no space.
const (
	droppedSize = 128
	droppedWait = 20 * time.Millisecond
)

func (q *Queue) prepareDropped() {
	f, err := q.disk.open(q.path(droppedFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return // it is there, or drops cannot be counted, which is no reason to drop one
	}
	_, _ = f.WriteAt(dropLine(0, time.Time{}, ""), 0)
	_ = f.Close()
}

// countDrop remembers that a record could not be kept. Without the lock in time it counts all the same: two at once may
// then count as one.
func (q *Queue) countDrop(cause error) {
	if l, err := q.acquire(droppedFile+".lock", droppedWait); err == nil {
		defer l.unlock()
	}
	n, _, _ := q.drops()
	q.prepareDropped()
	f, err := q.disk.open(q.path(droppedFile), os.O_WRONLY)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_, _ = f.WriteAt(dropLine(n+1, q.now(), reasonOf(cause)), 0)
}

func dropLine(n int, at time.Time, reason string) []byte {
	stamp := "-"
	if !at.IsZero() {
		stamp = at.UTC().Format(time.RFC3339)
	}
	line := fmt.Sprintf("%d %s %s", n, stamp, reason)
	return fmt.Appendf(nil, "%-*.*s\n", droppedSize-1, droppedSize-1, line)
}

// reasonOf leaves out paths, and keeps what the system said.
func reasonOf(err error) string {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, ErrFull):
		return ErrFull.Error()
	case errors.Is(err, ErrTooBig):
		return ErrTooBig.Error()
	}
	return "the outbox could not be written"
}

// drops reads the file of drops; one that is missing or damaged counts none.
func (q *Queue) drops() (n int, last, reason string) {
	b, err := q.readSmall(droppedFile, droppedSize)
	if err != nil {
		return 0, "", ""
	}
	count, rest, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	last, reason, _ = strings.Cut(rest, " ")
	if n, err = strconv.Atoi(count); err != nil || n <= 0 {
		return 0, "", ""
	}
	return n, last, reason
}

// ForgetDrops sets the count of dropped records back to none, once somebody has seen it.
func (q *Queue) ForgetDrops() error {
	err := q.disk.remove(q.path(droppedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting what the outbox dropped: %w", err)
	}
	q.prepareDropped()
	return nil
}
