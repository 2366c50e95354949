package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// world is what the outside knows: which records Append vouched for, and which the receiver has.
type world struct {
	t        testing.TB
	disk     *memDisk
	options  Options
	accepted []string
	received map[string]int
}

func newWorld(t testing.TB, o Options) *world {
	return &world{t: t, disk: newMemDisk(), options: o, received: map[string]int{}}
}

func (w *world) queue() *Queue { return memQueue(w.disk, w.options) }

func (w *world) append(id string) {
	if err := w.queue().Append(id, []byte(strings.Repeat("d", 100)), 0); err == nil {
		w.accepted = append(w.accepted, id)
	}
}

// receive acknowledges all but records whose id begins with "bad".
func (w *world) receive(batch []Record) ([]Verdict, error) {
	verdicts := make([]Verdict, len(batch))
	for i, r := range batch {
		verdicts[i] = Done()
		if strings.HasPrefix(r.ID, "bad") {
			verdicts[i] = Reject("bad")
			continue
		}
		w.received[r.ID]++
	}
	return verdicts, nil
}

func (w *world) drain() error {
	_, err := w.queue().Drain(context.Background(), 2, 1<<20, w.receive)
	return err
}

// recovered gives the world after the power has come back, without touching this one.
func (w *world) recovered(d *memDisk) *world {
	r := &world{t: w.t, disk: d, options: w.options, accepted: slices.Clone(w.accepted), received: map[string]int{}}
	for id, n := range w.received {
		r.received[id] = n
	}
	return r
}

// settle checks that the next append works, that everything accepted arrives or is in quarantine, and that the queue
// empties, with no person helping.
func (w *world) settle(what string) {
	w.t.Helper()
	if w.options.MaxBytes > 0 { // there may be no room for it
		if err := w.drain(); err != nil {
			w.t.Errorf("%s: drain: %v", what, err)
		}
	}
	before := len(w.accepted)
	w.append("after")
	if len(w.accepted) != before+1 {
		w.t.Errorf("%s: the next append failed", what)
	}
	if err := w.drain(); err != nil {
		w.t.Errorf("%s: drain: %v", what, err)
	}
	aside := map[string]bool{}
	if err := w.queue().Quarantined(func(x Quarantine) bool { aside[x.ID] = true; return true }); err != nil {
		w.t.Errorf("%s: quarantine: %v", what, err)
	}
	for _, id := range w.accepted {
		if w.received[id] == 0 && !aside[id] {
			w.t.Errorf("%s: %s is lost", what, id)
		}
	}
	if s, err := w.queue().Status(); err != nil || s.Pending != 0 || s.Bytes != 0 {
		w.t.Errorf("%s: left %+v, %v", what, s, err)
	}
	for _, name := range w.disk.leftovers() {
		if !strings.Contains(name, cursorFile) { // the next note of the cursor replaces that
			w.t.Errorf("%s: left over: %s", what, name)
		}
	}
}

// stories are what processes may be doing when something happens to them.
func stories() map[string]struct {
	prepare, act func(*world)
} {
	some := func(w *world) {
		for _, id := range []string{"0", "1", "bad2", "3", "4"} {
			w.append(id)
		}
	}
	holdLock := func(w *world) {
		if _, ok, err := w.disk.lock(w.queue().path(appendLock)); !ok || err != nil {
			w.t.Fatal("the lock is taken already")
		}
	}
	return map[string]struct{ prepare, act func(*world) }{
		"first append":      {func(*world) {}, func(w *world) { w.append("a"); w.append("b") }},
		"append":            {some, func(w *world) { w.append("a") }},
		"append, rotating":  {func(w *world) { w.options.SegmentBytes = 300; some(w) }, func(w *world) { w.append("a"); w.append("b"); w.append("c") }},
		"append beside":     {func(w *world) { some(w); holdLock(w) }, func(w *world) { w.append("a"); w.append("b") }},
		"append when full":  {func(w *world) { w.options.MaxBytes = 700; some(w) }, func(w *world) { w.append("a"); w.append("b") }},
		"drain":             {some, func(w *world) { _ = w.drain() }},
		"drain segments":    {func(w *world) { w.options.SegmentBytes = 300; some(w) }, func(w *world) { _ = w.drain() }},
		"drain beside":      {func(w *world) { some(w); holdLock(w); w.append("x"); w.append("bad y"); clear(w.disk.locks) }, func(w *world) { _ = w.drain() }},
		"drain, lock held":  {func(w *world) { some(w); holdLock(w) }, func(w *world) { _ = w.drain() }},
		"drain and append":  {some, func(w *world) { _ = w.drain(); w.append("a"); _ = w.drain(); w.append("b") }},
		"drain torn bytes":  {func(w *world) { some(w); w.tear(); w.append("5"); w.tear() }, func(w *world) { _ = w.drain() }},
		"append, then torn": {func(w *world) { some(w); w.tear() }, func(w *world) { w.append("a") }},
		"requeue": {func(w *world) { some(w); _ = w.drain() }, func(w *world) {
			if _, err := w.queue().Requeue(func(Quarantine) bool { return true }); err == nil {
				_ = w.drain()
			}
		}},
	}
}

// tear puts half a record at the end of the last segment.
func (w *world) tear() {
	all, _, err := w.queue().segments()
	if err != nil {
		w.t.Fatal(err)
	}
	node := w.disk.now[w.queue().path(all[len(all)-1].name())]
	torn := encode("torn", make([]byte, 50), w.queue().now())
	node.data = append(node.data, torn[:60]...)
}

// TestPowerCutAtEveryOperation cuts the power before every operation of every story, in every way.
func TestPowerCutAtEveryOperation(t *testing.T) {
	for name, story := range stories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Options{})
			story.prepare(w)
			rnd := rand.New(rand.NewPCG(1, 2))
			points := 0
			check := func(op, file string) {
				points++
				for names := range cutKinds {
					for content := range cutKinds {
						if names != cutLost && names != cutKept && names != cutRandom {
							continue
						}
						what := fmt.Sprintf("cut before operation %d (%s %s), names %d, content %d", points, op, file, names, content)
						w.recovered(w.disk.cut(names, content, rnd)).settle(what)
					}
				}
			}
			w.disk.before = check
			story.act(w)
			check("end", "")
			if points < 7 {
				t.Errorf("only %d points visited", points)
			}
			t.Logf("%d points, each cut in 15 ways", points)
		})
	}
}

// TestEveryOperationFails lets each operation of each story fail once, and then all from it on.
func TestEveryOperationFails(t *testing.T) {
	for name, story := range stories() {
		for _, forever := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/forever=%v", name, forever), func(t *testing.T) {
				visited := 0
				for target := 1; ; target++ {
					w := newWorld(t, Options{})
					story.prepare(w)
					n, failed := 0, ""
					w.disk.fail = func(op, file string) error {
						if n++; n == target || (forever && n > target) {
							failed = op + " " + file
							return syscall.ENOSPC
						}
						return nil
					}
					story.act(w)
					if n < target {
						break
					}
					visited++
					w.disk.fail = nil
					clear(w.disk.locks)
					w.settle(fmt.Sprintf("failing operation %d, %s", target, failed))
				}
				if visited < 6 {
					t.Errorf("only %d operations visited", visited)
				}
				t.Logf("%d operations", visited)
			})
		}
	}
}

// TestProcessesInterleave runs a whole second process before each operation of a first, with the power cut at every
// operation behind that, too; and again with the first one's lock stolen by removing its file.
func TestProcessesInterleave(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and has no two goroutines")
	}
	second := map[string]func(*world){
		"append": func(w *world) { w.append("other") },
		"drain":  func(w *world) { _ = w.drain() },
		"append and drain": func(w *world) {
			w.append("other")
			_ = w.drain()
			w.append("another")
		},
	}
	for name, story := range stories() {
		for other, act := range second {
			for _, theft := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/theft=%v", name, other, theft), func(t *testing.T) {
					t.Parallel()
					if n := interleave(t, story.prepare, story.act, act, theft); n < 6 {
						t.Errorf("only %d interleavings", n)
					} else {
						t.Logf("%d interleavings", n)
					}
				})
			}
		}
	}
}

func interleave(t *testing.T, prepare, first, second func(*world), theft bool) (visited int) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for target := 1; ; target++ {
		w := newWorld(t, Options{})
		prepare(w)
		n, inside := 0, false
		w.disk.before = func(op, file string) {
			if !inside {
				n++
			}
			if n == target && !inside {
				inside = true
				if theft {
					clear(w.disk.locks)
				}
				second(w)
				inside = false
				return
			}
			if n > target && !theft { // losing power and the lock at once is one fault too many
				after := w.disk.cut(cutRandom, cutRandom, rnd)
				w.recovered(after).settle(fmt.Sprintf("second process before operation %d, cut before %s %s", target, op, file))
			}
		}
		first(w)
		w.disk.before = nil
		clear(w.disk.locks)
		if n < target {
			return visited
		}
		visited++
		w.settle(fmt.Sprintf("second process before operation %d", target))
	}
}

// TestWithoutFaultsNothingIsDeliveredTwice holds the model itself to what must be exact.
func TestWithoutFaultsNothingIsDeliveredTwice(t *testing.T) {
	for name, story := range stories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Options{})
			story.prepare(w)
			story.act(w)
			clear(w.disk.locks)
			if err := w.drain(); err != nil && !errors.Is(err, ErrLocked) {
				t.Fatal(err)
			}
			for id, n := range w.received {
				if n != 1 {
					t.Errorf("%s received %d times", id, n)
				}
			}
		})
	}
}

// TestSegmentRemovedWhileWriting lets somebody delete the segment between its opening and the write.
func TestSegmentRemovedWhileWriting(t *testing.T) {
	w := newWorld(t, Options{})
	w.append("0")
	if err := w.drain(); err != nil {
		t.Fatal(err)
	}
	w.disk.before = func(op, file string) {
		if op == "write" && isSegment(filepath.Base(file)) {
			w.disk.change(nameChange{file: nil})
		}
	}
	w.append("1")
	w.disk.before = nil
	if len(w.accepted) != 2 {
		t.Fatalf("accepted %v", w.accepted)
	}
	w.settle("segment removed")
}
