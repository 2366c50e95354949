package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tiny mounts a file system of a few bytes as the machine's memory; it skips the test where that is not allowed.
func (b *box) tiny(bytes int) {
	b.t.Helper()
	if os.Getuid() != 0 {
		b.t.Skip("only root may mount a small file system")
	}
	if err := syscall.Mount("kiro-learn-test", b.memory, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", bytes)); err != nil {
		b.t.Skipf("mount a small file system: %v", err)
	}
	m := b.machine
	b.t.Cleanup(func() {
		m.leave()
		if !poll(func() bool { return len(m.processes()) == 0 && syscall.Unmount(m.memory, 0) == nil }) {
			_ = syscall.Unmount(m.memory, syscall.MNT_DETACH)
		}
	})
}

// fill leaves so many bytes of the memory's file system free, in whole pages as the system counts them.
func (b *box) fill(leave int) (file string) {
	b.t.Helper()
	file = filepath.Join(b.memory, "filler")
	var st syscall.Statfs_t
	if err := syscall.Statfs(b.memory, &st); err != nil {
		b.t.Fatal(err)
	}
	free := int(st.Bavail) * int(st.Bsize)
	if err := os.WriteFile(file, make([]byte, max(free-leave, 0)), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return file
}

// Outbox and collector: the disk is full. A hook exits 0, leaves no half-written line, capture resumes when space returns, and
// the user can see what was dropped.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, leave := range []int{0, 4096, 8192} {
		t.Run(fmt.Sprintf("%d bytes free", leave), func(t *testing.T) {
			t.Parallel()
			b := newBox(t, nil)
			b.tiny(2 << 20)
			b.configureOrFail(noCollector())
			b.number(0)
			filler := b.fill(leave)
			for n := 1; n <= 6; n++ {
				b.quiet("postToolUse", b.tool("s", fields{"n": n, "text": strings.Repeat("z", 6000)}, "ok"))
			}
			b.quiet("userPromptSubmit", b.prompt("s", "is there room for "+strings.Repeat("this ", 2000)))
			full, err := b.outbox()
			if err != nil {
				t.Fatal(err)
			}
			if full.Pending+full.Dropped != 8 || full.Dropped == 0 {
				t.Errorf("%d pending and %d dropped of 8, want some of the latter", full.Pending, full.Dropped)
			}
			if out := b.must("status"); !strings.Contains(out, fmt.Sprintf("%d dropped", full.Dropped)) || !strings.Contains(out, "dropped because: ") {
				t.Errorf("the user is not told of %d: %s", full.Dropped, out)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			b.number(100)
			stored := map[any]bool{}
			for _, e := range b.stored("kind=tool_use") {
				stored[data(t, e, "tool_input", "n")] = true
			}
			if !stored[0.0] || !stored[100.0] {
				t.Errorf("stored %v, want 0 and 100 among them", stored)
			}
			after, err := b.outbox()
			if err != nil || after.Pending != 0 || after.Quarantined != 0 {
				t.Errorf("outbox %+v, %v; want it empty, with nothing half-written set aside", after, err)
			}
		})
	}
}

// Outbox and collector: the disk is full under a running collector, which cannot store. The events it got before stay, what
// comes meanwhile is kept or counted, and it goes on when there is room.
func TestDiskFullUnderTheCollector(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	b.tiny(8 << 20)
	b.configureOrFail(nil)
	b.start()
	b.number(0)
	b.stored("")
	filler := b.fill(0)
	for n := 1; n <= 4; n++ {
		b.quiet("userPromptSubmit", b.prompt("s", fmt.Sprintf("prompt %d %s", n, strings.Repeat("full ", 20_000))))
		b.quiet("postToolUse", b.tool("s", fields{"n": n, "text": strings.Repeat("z", 200_000)}, "ok"))
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	b.number(100)
	got := map[any]int{}
	all := b.stored("")
	for _, e := range all {
		got[data(t, e, "tool_input", "n")]++
	}
	if got[0.0] != 1 || got[100.0] != 1 {
		t.Errorf("stored %v, want 0 and 100 once each", got)
	}
	st, err := b.outbox()
	if err != nil || st.Pending != 0 || st.Quarantined != 0 || len(all)+st.Dropped != 10 {
		t.Errorf("%d stored and %+v, %v; want 10 in all, none waiting", len(all), st, err)
	}
}

// Outbox and collector: the home is read-only. A hook is out of the way and leaves no trace.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	b.tiny(1 << 20)
	b.configureOrFail(nil)
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("kiro-learn-test", b.memory, "tmpfs", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	for _, hook := range []string{"agentSpawn", "userPromptSubmit", "postToolUse", "stop"} {
		b.quiet(hook, fields{"hook_event_name": hook, "cwd": b.project, "session_id": "s", "prompt": "p", "tool_name": "t", "assistant_response": "a"})
	}
	if r, err := b.run(nil, "flush", "--timeout", "1s"); err != nil || r.code == 0 || !strings.HasPrefix(r.stderr, "kiro-learn: ") {
		t.Errorf("flush: %+v, %v; want a failure that says why", r, err)
	}
	remount(0)
	b.number(0)
	b.numbered(1)
}
