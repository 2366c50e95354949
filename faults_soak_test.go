//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// soakFor names the environment variable that says how long TestSoak lasts, as "1m". Without it, it is a slice of seconds.
const soakFor = "KIRO_LEARN_SOAK"

// Outbox and collector: 64 agents at once fire hooks while the collector is killed, ended and stopped under them, each time
// when some more hooks have run. Every event is stored, and stored once.
func TestSoak(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("some hundred processes")
	}
	const agents, rounds, endings = 64, 2, 2 // at least so many hooks of each agent, and so many collectors ended
	var until time.Time
	if s := os.Getenv(soakFor); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("%s: %v", soakFor, err)
		}
		until = time.Now().Add(d)
	}
	b := newBox(t, nil)
	var fired atomic.Int64 // hooks that have left; also numbers them
	var next, ended atomic.Int64
	var running sync.WaitGroup
	for agent := range agents {
		running.Go(func() {
			session := fmt.Sprint("s", agent)
			for round := 0; (round < rounds || ended.Load() < endings || time.Now().Before(until)) && !t.Failed(); round++ {
				n := int(next.Add(1)) - 1
				switch n % 8 {
				case 0:
					b.quiet("userPromptSubmit", b.prompt(session, fmt.Sprintf("number %d of the soak", n)))
				case 1:
					b.quiet("stop", b.stop(session, fmt.Sprintf("number %d of the soak", n)))
				default:
					b.quiet("postToolUse", b.tool(session, fields{"n": fmt.Sprintf("number %d of the soak", n)}, strings.Repeat("y", n%7*3000)))
				}
				fired.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() { running.Wait(); close(finished) }()
	b.endAgainAndAgain(finished, &fired, &ended)
	b.forgetStart()
	seen := map[string]int{}
	for _, e := range b.stored("") {
		_, rest, _ := strings.Cut(text(e), "number ")
		number, _, _ := strings.Cut(rest, " ")
		seen[number]++
	}
	total := int(fired.Load())
	for n := range total {
		if seen[fmt.Sprint(n)] != 1 {
			t.Errorf("event %d is stored %d times", n, seen[fmt.Sprint(n)])
		}
	}
	if len(seen) != total {
		t.Errorf("%d events stored of %d hooks", len(seen), total)
	}
	if st, err := b.outbox(); err != nil || st.Pending+st.Quarantined+st.Dropped != 0 {
		t.Errorf("outbox %+v, %v; want it empty", st, err)
	}
	b.complain()
	t.Logf("%d hooks of %d agents, %d collectors ended under them", total, agents, ended.Load())
}

// endAgainAndAgain ends the running collector in turns by SIGKILL, by SIGTERM and by command, each time when ten more hooks
// have left, until finished.
func (b *box) endAgainAndAgain(finished <-chan struct{}, fired, ended *atomic.Int64) {
	b.t.Helper()
	due := int64(10)
	for going := true; going; {
		poll(func() bool {
			select {
			case <-finished:
				going = false
				return true
			default:
			}
			if fired.Load() < due {
				return false
			}
			pid, err := b.collectorPID()
			if err != nil || pid <= 1 {
				return false
			}
			switch ended.Load() % 3 {
			case 0:
				err = kill(pid)
			case 1:
				err = syscall.Kill(pid, syscall.SIGTERM)
			default:
				_, err = b.run(nil, "collector", "stop")
			}
			if err == nil {
				ended.Add(1)
			}
			due = fired.Load() + 10
			b.forgetStart()
			return true
		})
	}
}

// complain prints the log of hooks and collector when the test has failed.
func (b *box) complain() {
	if b.t.Failed() {
		log, _ := os.ReadFile(b.memory + "/state/kiro-learn.log")
		b.t.Logf("the log:\n%s", log)
	}
}
