//go:build unix

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What the packages that are linked may allocate before main begins. Every hook pays it on every tool call, so who raises a
// ceiling says in the commit what it buys; who gets well below one lowers it.
const (
	mostInitBytes  = 220_000
	mostInitAllocs = 1590
)

// The runtime says itself what each package's initialisation allocates: sizes and counts hardly differ from run to run.
func TestInitAllocations(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil).with("KIRO_LEARN_DISABLE=1", "GODEBUG=inittrace=1")
	r, err := b.run(strings.NewReader("{}"), "postToolUse")
	if err != nil || r.code != 0 {
		t.Fatalf("exit %d, %v", r.code, err)
	}
	type cost struct {
		name          string
		bytes, allocs int
	}
	var all []cost
	var sum cost
	for line := range strings.Lines(r.stderr) {
		// init net/http @3.2 ms, 0.063 ms clock, 4712 bytes, 49 allocs
		var c cost
		var at, took float64
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &c.name, &at, &took, &c.bytes, &c.allocs); err != nil {
			continue
		}
		all = append(all, c)
		sum.bytes += c.bytes
		sum.allocs += c.allocs
	}
	if len(all) < 5 {
		t.Fatalf("the runtime told of %d packages: %s", len(all), r.stderr)
	}
	slices.SortFunc(all, func(a, b cost) int { return cmp.Compare(b.bytes, a.bytes) })
	heaviest := ""
	for _, c := range all[:5] {
		heaviest += fmt.Sprintf("\n%7d bytes %4d allocations  %s", c.bytes, c.allocs, c.name)
	}
	t.Logf("%d packages: %d bytes, %d allocations; the heaviest:%s", len(all), sum.bytes, sum.allocs, heaviest)
	if sum.bytes > mostInitBytes || sum.allocs > mostInitAllocs {
		t.Errorf("initialisation allocates %d bytes in %d allocations, at most %d in %d are allowed; the heaviest:%s", sum.bytes, sum.allocs, mostInitBytes, mostInitAllocs, heaviest)
	}
}
