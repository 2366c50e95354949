package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// machine is a queue in memory beside a model of it: two sets of ids.
type machine struct {
	disk      *memDisk
	options   Options
	next      int
	queued    map[string]bool // accepted, and neither acknowledged nor refused as far as the receiver knows
	settled   map[string]bool // acknowledged: may come again only after a fault
	aside     map[string]bool // refused
	uncertain map[string]bool // Append gave an error: may come or not
	faults    int
	held      lock
}

func (m *machine) queue() *Queue { return memQueue(m.disk, m.options) }

func (m *machine) append(t *rapid.T) {
	id := fmt.Sprintf("%04d", m.next)
	m.next++
	data := make([]byte, rapid.SampledFrom([]int{0, 1, 50, 400}).Draw(t, "size"))
	switch err := m.queue().Append(id, data, 0); {
	case err == nil:
		m.queued[id] = true
	case errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC):
		m.uncertain[id] = true
	default:
		t.Fatalf("append: %v", err)
	}
}

// drain lets the receiver say anything, and checks the order and that nothing comes that was not accepted.
func (m *machine) drain(t *rapid.T, say func() Verdict) error {
	_, err := m.queue().Drain(context.Background(), rapid.IntRange(1, 5).Draw(t, "maxN"), 300, func(batch []Record) ([]Verdict, error) {
		var verdicts []Verdict
		kept := false
		for _, r := range batch {
			switch {
			case m.settled[r.ID] && m.faults == 0:
				t.Fatalf("%s came again without a fault", r.ID)
			case !m.queued[r.ID] && !m.settled[r.ID] && !m.aside[r.ID] && !m.uncertain[r.ID]:
				t.Fatalf("%s was never appended", r.ID)
			}
			v := say()
			verdicts = append(verdicts, v)
			kept = kept || v.outcome == keep
			if kept {
				continue
			}
			delete(m.queued, r.ID)
			if v.outcome == reject {
				m.aside[r.ID] = true
			} else {
				m.settled[r.ID] = true
			}
		}
		return verdicts, nil
	})
	return err
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"append":  m.append,
		"append2": m.append,
		"drain": func(t *rapid.T) {
			err := m.drain(t, func() Verdict {
				return rapid.SampledFrom([]Verdict{Done(), Done(), Done(), Done(), Reject("no"), Keep()}).Draw(t, "verdict")
			})
			if err != nil && !errors.Is(err, ErrKept) && !(errors.Is(err, ErrLocked) && m.held != nil) {
				t.Fatalf("drain: %v", err)
			}
		},
		"hold the lock": func(t *rapid.T) {
			if m.held == nil {
				m.held, _, _ = m.disk.lock(m.queue().path(appendLock)) // no directory yet: not held
			}
		},
		"let the lock go": func(t *rapid.T) {
			if m.held != nil {
				m.held.unlock()
				m.held = nil
			}
		},
		"remove the lock file": func(t *rapid.T) {
			clear(m.disk.locks)
			m.held = nil
		},
		"write garbage": func(t *rapid.T) {
			all, _, err := m.queue().segments()
			if err != nil || len(all) == 0 {
				t.Skip("no segment")
			}
			node := m.disk.now[m.queue().path(rapid.SampledFrom(all).Draw(t, "segment").name())]
			torn := encode("torn", bytes.Repeat([]byte("t"), 80), m.queue().now())
			node.data = append(node.data, rapid.SampledFrom([][]byte{torn[:1], torn[:40], torn[5:], []byte(`{"event_id":"01A`), make([]byte, 100)}).Draw(t, "garbage")...)
		},
		"requeue":             m.requeue,
		"a system call fails": m.fault,
		"the power is cut": func(t *rapid.T) {
			m.faults++
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			m.disk = m.disk.cut(cutRandom, cutRandom, rnd)
			m.held = nil
		},
	}
}

// requeue gives back everything that was refused.
func (m *machine) requeue(t *rapid.T) {
	n, err := m.queue().Requeue(func(x Quarantine) bool { return true })
	if err != nil && !errors.Is(err, ErrFull) {
		t.Fatalf("requeue: %v", err)
	}
	if err == nil && n != len(m.aside) && m.faults == 0 {
		t.Fatalf("requeued %d of %d", n, len(m.aside))
	}
	if err != nil {
		m.faults++ // some have been requeued, some not
	}
	for id := range m.aside {
		m.queued[id] = true
	}
	clear(m.aside)
}

// fault lets one system call of an append or a drain fail.
func (m *machine) fault(t *rapid.T) {
	m.faults++
	target, n := rapid.IntRange(1, 12).Draw(t, "operation"), 0
	m.disk.fail = func(string, string) error {
		if n++; n == target {
			return syscall.ENOSPC
		}
		return nil
	}
	if rapid.Bool().Draw(t, "append") {
		m.append(t)
	} else {
		_ = m.drain(t, Done) // whatever it says, nothing may be lost
	}
	m.disk.fail = nil
}

// check ends a run: with the lock free, one drain must bring everything, and leave nothing.
func (m *machine) check(t *rapid.T) {
	clear(m.disk.locks)
	if err := m.drain(t, Done); err != nil {
		t.Fatalf("last drain: %v", err)
	}
	if err := m.queue().Quarantined(func(x Quarantine) bool {
		if x.ID != "" && !m.aside[x.ID] && !m.settled[x.ID] && !m.queued[x.ID] && !m.uncertain[x.ID] {
			t.Fatalf("%s is in quarantine", x.ID)
		}
		delete(m.aside, x.ID)
		delete(m.queued, x.ID)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(m.aside)) {
		if !m.settled[id] { // a fault may have brought a refused record back, and it was then acknowledged
			t.Fatalf("%s is not in quarantine", id)
		}
	}
	if len(m.queued) > 0 {
		t.Fatalf("lost: %v", slices.Sorted(maps.Keys(m.queued)))
	}
	if s, err := m.queue().Status(); err != nil || s.Pending != 0 || s.Bytes != 0 {
		t.Fatalf("left %+v, %v", s, err)
	}
}

func TestQueueAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{
			disk:   newMemDisk(),
			queued: map[string]bool{}, settled: map[string]bool{}, aside: map[string]bool{}, uncertain: map[string]bool{},
			options: Options{
				SegmentBytes: rapid.SampledFrom([]int64{100, 1000, 0}).Draw(t, "segment"),
				MaxBytes:     rapid.SampledFrom([]int64{0, 0, 20_000}).Draw(t, "max"),
			},
		}
		t.Repeat(m.actions())
		m.check(t)
	})
}
