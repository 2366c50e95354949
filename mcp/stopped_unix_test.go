//go:build unix

package mcp

import (
	"bytes"
	"syscall"
	"testing"
	"time"
)

// stopped stops the collector so that it takes connections and answers nothing.
func (b *box) stopped() (resume func()) {
	b.t.Helper()
	b.run("collector", "start")
	h, err := b.api().Health(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := syscall.Kill(h.PID, syscall.SIGSTOP); err != nil {
		b.t.Fatal(err)
	}
	resume = func() { _ = syscall.Kill(h.PID, syscall.SIGCONT) } // it may have been resumed before
	b.t.Cleanup(resume)
	return resume
}

func TestACollectorThatHangsHoldsNoCall(t *testing.T) {
	b := newBox(t)
	resume := b.stopped()
	_, s := b.connect(nil, "")
	r := good(t, s, "save_observation", observationArgs())
	id := idIn(t, r)
	if r.data["queued"] != true {
		t.Errorf("answer %q", r.text)
	}
	if r := use(t, s, "search_memory", args{"query": "cache"}); !r.bad {
		t.Errorf("search: %q", r.text)
	}
	resume()
	b.run("flush", "--timeout", "20s")
	b.once(id) // although it was sent and queued
}

// The client leaves while its record is on the way to a collector that hangs: the server leaves too, and the record is kept.
func TestLeavingInTheMiddleOfASave(t *testing.T) {
	b := newBox(t)
	b.run("collector", "start")
	r := b.raw()
	r.send(initialize("2025-06-18"))
	r.answer("1")
	resume := b.stopped()
	r.send(callLine(2, "save_observation", observationArgs()))
	begun := time.Now()
	rest := r.end()
	if len(rest) != 1 || !bytes.Contains(rest[0].Result, []byte("Queued observation mr_")) {
		t.Errorf("answer %+v", rest)
	}
	t.Logf("left after %v", time.Since(begun))
	if n := b.waiting(); n != 1 {
		t.Errorf("%d events wait, want 1", n)
	}
	resume()
	b.run("flush", "--timeout", "20s")
	all := b.records()
	if len(all) != 1 || all[0].Title != "Cache key" {
		t.Errorf("records %s", asJSON(t, all))
	}
}

func TestLeavingInTheMiddleOfASearch(t *testing.T) {
	b := newBox(t)
	b.stopped()
	r := b.raw()
	r.send(initialize("2025-06-18") + callLine(2, "search_memory", args{"query": "cache"}) + "\n")
	begun := time.Now()
	r.end() // waits for the process; the collector still hangs
	t.Logf("left after %v", time.Since(begun))
}

func TestATerminationIsAnEnd(t *testing.T) {
	b := newBox(t)
	r := b.raw()
	r.send(initialize("2025-06-18"))
	r.answer("1")
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if m, line, ok := r.next(); ok {
		t.Errorf("said %v %s", m, line)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}
