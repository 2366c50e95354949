package outbox

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	pieceSize     = 1 << 20 // of damaged bytes, in one quarantine file
	maxReasonText = 1000
	maxReason     = 3 + maxReasonText // with its kind and length
	damagedReason = "torn or damaged bytes in the outbox"
	personWait    = 10 * time.Second // for a drain that is going on, when a person asks for something
)

// Quarantine is one thing set aside: a record that the receiver refused, or damaged bytes, which have no ID and cannot
// be requeued.
type Quarantine struct {
	Name   string    `json:"name"` // tells it from the others
	ID     string    `json:"id"`   // of the record; empty for damaged bytes
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"` // when it was set aside
	Size   int       `json:"size"` // bytes of Data
	Data   []byte    `json:"-"`
	kind   byte
	stored int64 // bytes of its file
}

// A quarantine file is one record. Its data begin with a byte that says what it is and the reason with its length.
const (
	kindRecord  = 'r'
	kindDamaged = 'd'
)

// Requeueable says whether it is a record rather than damaged bytes.
func (x Quarantine) Requeueable() bool { return x.kind == kindRecord }

// setAside makes a rejected record durable in quarantine. The file's name is made of the content, so that doing it again
// after a kill changes nothing.
func (q *Queue) setAside(r Record, reason string) error {
	return q.putQuarantine(kindRecord, r.ID, r.Data, reason, "")
}

// setAsideDamaged does the same for bytes found at a place.
func (q *Queue) setAsideDamaged(where string, off int64, b []byte) error {
	return q.putQuarantine(kindDamaged, "", b, damagedReason, fmt.Sprintf("%s %d", where, off))
}

func (q *Queue) putQuarantine(kind byte, id string, data []byte, reason, place string) error {
	if err := q.disk.makeDir(q.path(quarantineDir)); err != nil {
		return fmt.Errorf("quarantining: %w", err)
	}
	if len(reason) > maxReasonText {
		reason = reason[:maxReasonText]
	}
	body := make([]byte, 0, 3+len(reason)+len(data))
	body = append(body, kind)
	body = binary.LittleEndian.AppendUint16(body, uint16(len(reason)))
	body = append(append(body, reason...), data...)
	content := encode(id, body, q.now())

	_, sum, err := q.sized(quarantineDir)
	if err != nil {
		return fmt.Errorf("quarantining: %w", err)
	}
	if sum+int64(len(content)) > q.maxBytes {
		return ErrQuarantineFull
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%c %q %q %d ", kind, place, id, len(data))
	_, _ = hash.Write(data) // a hash takes everything
	name := fmt.Sprintf("%x-%d%s", hash.Sum(nil)[:16], len(content), suffix)
	if err := q.writeWhole(q.path(quarantineDir, name), content); err != nil {
		return fmt.Errorf("quarantining: %w", err)
	}
	if err := q.disk.syncDir(q.path(quarantineDir)); err != nil {
		return fmt.Errorf("quarantining: %w", err)
	}
	if err := q.disk.syncDir(q.dir); err != nil { // the directory itself may be new
		return fmt.Errorf("quarantining: %w", err)
	}
	return nil
}

// sweepQuarantine removes what a kill left unfinished; its record is still queued. The drain lock is held, so that nobody
// is at it.
func (q *Queue) sweepQuarantine() {
	names, err := q.disk.names(q.path(quarantineDir))
	if err != nil {
		return // mostly because there is none; the next drain tries again
	}
	for _, name := range names {
		if strings.HasSuffix(name, tmpSuffix) {
			_ = q.disk.remove(q.path(quarantineDir, name))
		}
	}
}

// Quarantined hands out what is in quarantine, oldest first, until yield gives false.
func (q *Queue) Quarantined(yield func(Quarantine) bool) error {
	names, _, err := q.sized(quarantineDir)
	if err != nil {
		return fmt.Errorf("reading the quarantine: %w", err)
	}
	type dated struct {
		name string
		time time.Time
	}
	files := make([]dated, 0, len(names))
	for _, name := range names {
		x, err := q.readQuarantine(name, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the quarantine: %w", err)
		}
		files = append(files, dated{name, x.Time})
	}
	slices.SortStableFunc(files, func(a, b dated) int { return a.time.Compare(b.time) })
	for _, f := range files {
		x, err := q.readQuarantine(f.name, true)
		if errors.Is(err, fs.ErrNotExist) {
			continue // requeued or purged since
		}
		if err != nil {
			return fmt.Errorf("reading the quarantine: %w", err)
		}
		if !yield(x) {
			return nil
		}
	}
	return nil
}

// readQuarantine reads one file, or only its header. One that is itself damaged is shown as damaged bytes.
func (q *Queue) readQuarantine(name string, whole bool) (Quarantine, error) {
	f, err := q.disk.open(q.path(quarantineDir, name), os.O_RDONLY)
	if err != nil {
		return Quarantine{}, err
	}
	defer func() { _ = f.Close() }()
	size, err := f.stat()
	if err != nil {
		return Quarantine{}, err
	}
	w := window{r: f, size: min(size, headerSize+MaxID+maxReason+MaxData)}
	h, _, err := w.header(0)
	if err != nil || !whole {
		return Quarantine{Name: name, Time: h.time}, err
	}
	r, _, ok, err := w.record(0)
	if err != nil {
		return Quarantine{}, err
	}
	if b := r.Data; ok && len(b) >= 3 {
		if n := int(binary.LittleEndian.Uint16(b[1:])); len(b) >= 3+n {
			data := b[3+n:]
			return Quarantine{name, r.ID, string(b[3 : 3+n]), r.Time, len(data), data, b[0], size}, nil
		}
	}
	b, err := w.bytes(0, int(w.size))
	return Quarantine{Name: name, Reason: "damaged in quarantine", Time: h.time, Size: len(b), Data: b, kind: kindDamaged, stored: size}, err
}

// Requeue appends again those records in quarantine that want picks, and gives how many; damaged bytes stay. It waits up
// to ten seconds for a drain that is going on, and then gives ErrBusy. A kill in between leaves the record in both places.
func (q *Queue) Requeue(want func(Quarantine) bool) (int, error) {
	return q.takeOut("requeueing", want, func(x Quarantine) error {
		if !x.Requeueable() {
			return errSkip
		}
		// Rejected again at once, it gets its old name again; that must not be the name removed here.
		own := fmt.Sprintf("requeue-%016x-%d%s", rand.Uint64(), x.stored, suffix)
		if err := q.disk.rename(q.path(quarantineDir, x.Name), q.path(quarantineDir, own)); err != nil {
			return err
		}
		if err := q.Append(x.ID, x.Data, q.lockWait); err != nil {
			return err
		}
		return q.disk.remove(q.path(quarantineDir, own))
	})
}

// Purge deletes for good what want picks, and gives how many. It waits as Requeue does.
func (q *Queue) Purge(want func(Quarantine) bool) (int, error) {
	return q.takeOut("purging", want, func(x Quarantine) error { return q.disk.remove(q.path(quarantineDir, x.Name)) })
}

var errSkip = errors.New("not to be taken out")

// takeOut does something to what want picks, while nothing is put in.
func (q *Queue) takeOut(what string, want func(Quarantine) bool, take func(Quarantine) error) (n int, err error) {
	l, err := q.acquire(drainLock, personWait)
	switch {
	case errors.Is(err, ErrLocked):
		return 0, ErrBusy
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	defer l.unlock()
	listErr := q.Quarantined(func(x Quarantine) bool {
		if !want(x) {
			return true
		}
		switch err = take(x); {
		case err == nil:
			n++
		case errors.Is(err, errSkip):
			err = nil
		}
		return err == nil
	})
	if err == nil {
		err = listErr
	}
	if err != nil {
		return n, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}
