//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
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
	waitFor(b.t, "the collector to stand still", func() bool { // it is told, and may still be running
		state, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(h.PID)).Output()
		return err != nil || bytes.Contains(state, []byte("T")) // a machine without ps is taken at its word
	})
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
	for _, m := range rest { // on a busy machine it leaves before there is an answer
		if !bytes.Contains(m.Result, []byte("Queued observation mr_")) {
			t.Errorf("answer %s %+v", m.Result, m.Error)
		}
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

// A client that no longer listens has still given us something to save.
func TestNobodyListens(t *testing.T) {
	b := newBox(t)
	hear, speak, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := b.command("mcp")
	cmd.Stdout = speak
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = speak.Close() // ours; the server has its own
	send := func(s string) {
		if _, err := io.WriteString(stdin, s); err != nil {
			t.Fatal(err)
		}
	}
	send(initialize("2025-06-18"))
	if line, err := bufio.NewReader(hear).ReadString('\n'); err != nil || !strings.Contains(line, "serverInfo") {
		t.Fatalf("%q %v", line, err)
	}
	_ = hear.Close()
	send(callLine(2, "save_observation", observationArgs()) + "\n")
	if err := cmd.Wait(); err != nil { // by itself: the input is still open
		t.Errorf("exit: %v", err)
	}
	b.run("collector", "start")
	b.run("flush", "--timeout", "20s")
	if all := b.records(); len(all) != 1 || all[0].Title != "Cache key" {
		t.Errorf("records %s", asJSON(t, all))
	}
}

// A client that is killed leaves no server behind.
func TestTheClientIsKilled(t *testing.T) {
	b := newBox(t)
	hear, speak, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	client := exec.Command(os.Args[0])
	client.Env, client.Dir, client.Stderr = append(b.env(), clientOf+"="+program), b.project, speak
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	_ = speak.Close()
	said := bufio.NewReader(hear)
	if line, err := said.ReadString('\n'); err != nil || !strings.Contains(line, "serverInfo") {
		t.Fatalf("%q %v", line, err)
	}
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = client.Wait() // killed
	ended := make(chan error, 1)
	go func() { _, err := said.ReadString('\n'); ended <- err }()
	select {
	case err := <-ended: // the last one that held the pipe is gone
		if !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the server is still there")
	}
}
