//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/scripts. Every script has a machine of its own: $HOME, $PROJECT (where it begins) and
// $KIRO_LEARN_HOME, a kiro-learn on its path, and a kiro-cli that fires hooks as Kiro does (see fakeKiro). In payload
// files $PROJECT stands for the project. What a verb prints can be compared with stdout, cmp and the like.
func TestScripts(t *testing.T) {
	t.Parallel()
	program, err := current()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/scripts",
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			m, err := newMachine(e.WorkDir, program)
			if err != nil {
				return err
			}
			for _, kv := range append(m.env, "PROJECT="+m.project) {
				name, value, _ := strings.Cut(kv, "=")
				if name == "PATH" { // testscript's own, with the fake kiro-cli, behind ours
					value = filepath.Dir(program) + string(filepath.ListSeparator) + e.Getenv("PATH")
				}
				e.Setenv(name, value)
			}
			e.Cd, e.Values["machine"] = m.project, m
			e.Defer(m.leave)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"settings":  scriptSettings,
			"exec-code": scriptExecCode,
			"hook":      scriptHook,
			"events":    scriptEvents,
			"records":   scriptRecords,
			"outbox":    scriptOutbox,
			"flush":     scriptFlush,
			"drained":   scriptDrained,
			"collector-running": func(ts *testscript.TestScript, neg bool, _ []string) {
				if _, err := machineOf(ts).collectorPID(); (err == nil) == neg {
					ts.Fatalf("collector: %v", err)
				}
			},
			"freeze-collector": signaller(syscall.SIGSTOP),
			"kill-collector":   signaller(syscall.SIGKILL),
			"thaw-collector": func(ts *testscript.TestScript, _ bool, _ []string) {
				for _, pid := range machineOf(ts).processes() {
					ts.Check(syscall.Kill(pid, syscall.SIGCONT))
				}
			},
		},
	})
}

// machineOf is the script's machine with the environment as the script has set it.
func machineOf(ts *testscript.TestScript) *machine {
	m := *ts.Value("machine").(*machine)
	m.cwd = ts.MkAbs(".")
	m.env = nil
	for _, name := range []string{"HOME", "KIRO_LEARN_HOME", "USER", "TMPDIR", "PATH", "USER_PROMPT", "VSCODE_PID", "KIRO_SESSION_ID", "KIRO_LEARN_DISABLE", "KIRO_LEARN_CHILD"} {
		if v := ts.Getenv(name); v != "" {
			m.env = append(m.env, name+"="+v)
		}
	}
	return &m
}

// exec-code N PROGRAM ARG...: as exec, of a program that must exit with N.
func scriptExecCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 || args[1] != "kiro-learn" {
		ts.Fatalf("usage: exec-code N kiro-learn ARG...")
	}
	r, err := machineOf(ts).run(nil, args[2:]...)
	ts.Check(err)
	_, _ = fmt.Fprint(ts.Stdout(), r.stdout)
	_, _ = fmt.Fprint(ts.Stderr(), r.stderr)
	if strconv.Itoa(r.code) != args[0] {
		ts.Fatalf("kiro-learn %s: exit %d, want %s: %s", strings.Join(args[2:], " "), r.code, args[0], r.stderr)
	}
}

// settings FILE: config.json is FILE's sections, and a budget that a busy machine can keep.
func scriptSettings(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, "settings FILE")
	var sections map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &sections))
	ts.Check(machineOf(ts).configure(sections))
}

// hook NAME FILE [FLAG...]: one hook with the payload of FILE on stdin, "-" for none. It must exit 0 and print nothing on
// stderr. What it prints is stdout.
func scriptHook(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: hook NAME FILE [FLAG...]")
	}
	m, payload := machineOf(ts), ""
	if args[1] != "-" {
		payload = strings.ReplaceAll(ts.ReadFile(args[1]), "$PROJECT", m.project)
	}
	r, err := m.run(strings.NewReader(payload), append([]string{args[0]}, args[2:]...)...)
	ts.Check(err)
	_, _ = fmt.Fprint(ts.Stdout(), r.stdout)
	if r.code != 0 || r.stderr != "" || r.took > hang {
		ts.Fatalf("%s: exit %d, stderr %q, in %v", args[0], r.code, r.stderr, r.took)
	}
}

// events QUERY FIELD...: the stored events that QUERY selects, oldest first, in a line each: the fields, by their paths.
func scriptEvents(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: events QUERY FIELD...")
	}
	all, err := machineOf(ts).events(args[0])
	ts.Check(err)
	for _, e := range all {
		printFields(ts, e, args[1:])
	}
}

// records QUERY FIELD...: the memory records, oldest first, in sorted lines.
func scriptRecords(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: records QUERY FIELD...")
	}
	all, err := machineOf(ts).records(args[0])
	ts.Check(err)
	sort.Slice(all, func(i, j int) bool { return all[i].Title < all[j].Title })
	for _, r := range all {
		printFields(ts, r, args[1:])
	}
}

func printFields(ts *testscript.TestScript, v any, paths []string) {
	b, err := json.Marshal(v)
	ts.Check(err)
	var tree any
	ts.Check(json.Unmarshal(b, &tree))
	var line []string
	for _, path := range paths {
		at := tree
		for name := range strings.SplitSeq(path, ".") {
			if list, ok := at.([]any); ok {
				i, err := strconv.Atoi(name)
				if at = nil; err == nil && i < len(list) {
					at = list[i]
				}
				continue
			}
			m, _ := at.(map[string]any)
			at = m[name]
		}
		if s, ok := at.(string); ok {
			line = append(line, strings.ReplaceAll(s, machineOf(ts).project, "$PROJECT"))
			continue
		}
		b, err := json.Marshal(at)
		ts.Check(err)
		line = append(line, string(b))
	}
	_, _ = fmt.Fprintln(ts.Stdout(), strings.Join(line, " | "))
}

// outbox pending|quarantined|dropped N: so many events are in that state.
func scriptOutbox(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "outbox pending|quarantined|dropped N")
	st, err := machineOf(ts).outbox()
	ts.Check(err)
	got := map[string]int{"pending": st.Pending, "quarantined": st.Quarantined, "dropped": st.Dropped}
	n, ok := got[args[0]]
	if !ok {
		ts.Fatalf("outbox has no %q", args[0])
	}
	if (strconv.Itoa(n) == args[1]) == neg {
		ts.Fatalf("outbox: %d %s", n, args[0])
	}
}

// flush: everything is delivered and distilled.
func scriptFlush(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 0, "flush")
	r, err := machineOf(ts).run(nil, "flush", "--extract", "--timeout", "50s")
	ts.Check(err)
	if r.code != 0 {
		ts.Fatalf("flush: exit %d: %s", r.code, r.stderr)
	}
}

// drained: the outbox empties without anybody's doing.
func scriptDrained(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 0, "drained")
	m := machineOf(ts)
	if !poll(func() bool { st, err := m.outbox(); return err == nil && st.Pending == 0 }) {
		st, err := m.outbox()
		ts.Fatalf("the outbox does not empty: %+v, %v", st, err)
	}
}

// signaller makes a verb that sends the collector a signal and waits until that has worked. A collector that is killed
// counts as one that was started long ago, since nobody starts two within two seconds.
func signaller(s syscall.Signal) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		m := machineOf(ts)
		pid, err := m.collectorPID()
		ts.Check(err)
		ts.Check(syscall.Kill(pid, s))
		if s == syscall.SIGKILL && !poll(func() bool { return syscall.Kill(pid, 0) != nil || !running(pid) }) {
			ts.Fatalf("process %d is still there", pid)
		}
		m.forgetStart()
	}
}

// running is false for a process that has ended, even if nobody has collected it yet.
func running(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !isLinux && syscall.Kill(pid, 0) == nil
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(state, "Z")
}

func need(ts *testscript.TestScript, args []string, n int, usage string) {
	if len(args) != n {
		ts.Fatalf("usage: %s", usage)
	}
}
