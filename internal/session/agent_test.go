package session

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// roleEnv makes the test binary play a hook, an agent that runs hooks, or a hook that updates a store.
const roleEnv = "KIRO_LEARN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "hook":
		a := FindAgent()
		fmt.Println(a.PID, a.Start)
	case "agent":
		playAgent()
	case "update":
		playUpdates()
	default:
		os.Exit(m.Run())
	}
}

// playAgent prints its pid, then what each of its hooks takes for the agent.
func playAgent() {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	fmt.Println(os.Getpid())
	run := func(args ...string) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), roleEnv+"=hook")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			panic(err)
		}
		fmt.Print(string(out))
	}
	run(exe, "userPromptSubmit")
	run(exe, "stop")
	if len(os.Args) > 1 { // this one needs no shells
		return
	}
	if runtime.GOOS == "windows" {
		run("cmd", "/C", exe, "stop")
		return
	}
	for _, shell := range []string{"sh", "bash", "dash", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		run(shell, "-c", exe+" stop")
		run(shell, "-c", exe+" --payload stdin stop; true") // the shell stays to run the rest
		run(shell, "-c", "cd / && echo '{}' | '"+exe+"' postToolUse | cat")
		run(shell, "-e", "-c", "exec "+exe+" stop")
		run(shell, "-c", shell+" -c '"+exe+" stop; true'; true")
	}
}

func played(t *testing.T, role string, stdin string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func executable(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func TestHooksOfOneAgentAgreeAndAgentsDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which sees nothing of several processes")
	}
	exe := executable(t)
	var agents []string
	for _, args := range [][]string{{exe}, {exe, "without shells"}} {
		lines := played(t, "agent", "", args...)
		pid, hooks := lines[0], lines[1:]
		for i, h := range hooks {
			if got, _, _ := strings.Cut(h, " "); got != pid || h != hooks[0] {
				t.Errorf("hook %d: agent %q, want pid %s as for %q", i, h, pid, hooks[0])
			}
		}
		if len(hooks) < 2 || runtime.GOOS != "freebsd" && !strings.Contains(hooks[0], " ") {
			t.Errorf("hooks say %q", hooks)
		}
		agents = append(agents, hooks[0])
	}
	if agents[0] == agents[1] {
		t.Errorf("two agents are one: %q", agents[0])
	}
}

func TestShellsThatAreTheAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which sees nothing of several processes")
	}
	if runtime.GOOS == "windows" {
		t.Skip("a shell cannot be told from a wrapper without its command line")
	}
	exe := executable(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "agent.sh")
	if err := os.WriteFile(script, []byte("echo $$\n"+exe+" stop\ntrue\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, stdin string
		args        []string
		hooks       int
	}{
		{"several hooks in one text", "", []string{"sh", "-c", "echo $$; " + exe + " userPromptSubmit; " + exe + " stop; true"}, 2},
		{"a loop", "", []string{"sh", "-c", "echo $$; for h in userPromptSubmit stop; do " + exe + " $h; done; true"}, 2},
		{"several through a variable", "", []string{"sh", "-c", "K=" + exe + "; echo $$; $K userPromptSubmit; $K stop; true"}, 2},
		{"a script", "", []string{"sh", script}, 1},
		{"a person's shell", "echo $$\n" + exe + " stop\n" + exe + " stop\ntrue\n", []string{"sh"}, 2},
		{"a person's shell with an option", "echo $$\n" + exe + " stop\ntrue\n", []string{"sh", "-s"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := played(t, "hook", tt.stdin, tt.args...)
			if len(lines) != tt.hooks+1 {
				t.Fatalf("got %q, want %d hooks", lines, tt.hooks)
			}
			for _, h := range lines[1:] {
				if got, _, _ := strings.Cut(h, " "); got != lines[0] {
					t.Errorf("agent %q, want the shell %s", h, lines[0])
				}
			}
		})
	}
}

func TestWrappers(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want bool
	}{
		{"bash", []string{"bash", "-c", "kiro-learn stop"}, true},
		{"a path", []string{"/bin/bash", "-c", "/opt/kiro-learn/bin/kiro-learn stop"}, true},
		{"our own name", []string{"sh", "-c", "/usr/bin/kl stop"}, true},
		{"the folder has the name too", []string{"sh", "-c", "cd /home/mia/kiro-learn && ./kiro-learn stop"}, true},
		{"so has a variable", []string{"sh", "-c", "KIRO_LEARN_HOME=/x/kiro-learn kiro-learn --surface kiro-cli stop"}, true},
		{"so has a file read", []string{"sh", "-c", "cat /x/kiro-learn | kiro-learn stop"}, true},
		{"options before", []string{"zsh", "-f", "-o", "pipefail", "-c", "kiro-learn stop"}, true},
		{"clustered options", []string{"dash", "-ec", "kiro-learn stop"}, true},
		{"long options", []string{"bash", "--norc", "--rcfile", "/x", "-c", "kiro-learn stop"}, true},
		{"a path with a space", []string{"sh", "-c", `"/opt/my tools/kiro-learn" stop`}, true},
		{"under timeout", []string{"sh", "-c", "timeout 5 kiro-learn stop"}, true},
		{"timeout itself", []string{"timeout", "5", "kiro-learn", "stop"}, true},
		{"cmd", []string{`C:\Windows\System32\cmd.exe`, "/d", "/s", "/C", `C:\bin\kiro-learn.exe stop`}, true},
		{"powershell", []string{"powershell.exe", "-NoProfile", "-Command", "kiro-learn", "stop"}, true},
		{"fish", []string{"fish", "--command", "kiro-learn stop"}, true},
		{"two hooks", []string{"bash", "-c", "kiro-learn userPromptSubmit; kiro-learn stop"}, false},
		{"two hooks, piped input", []string{"bash", "-c", "cat a|kiro-learn userPromptSubmit\ncat b|kiro-learn stop"}, false},
		{"two names", []string{"bash", "-c", "kl userPromptSubmit && kiro-learn stop"}, false},
		{"a loop", []string{"bash", "-c", "ls | while read f; do kiro-learn stop <$f; done"}, false},
		{"a word of loops as data", []string{"bash", "-c", "echo for you | kiro-learn stop"}, true},
		{"none", []string{"bash", "-c", "./run-tests"}, false},
		{"another program of a longer name", []string{"bash", "-c", "kiro-learn-dev stop"}, false},
		{"a script", []string{"bash", "kiro-learn.sh", "-c", "kiro-learn stop"}, false},
		{"interactive", []string{"-zsh"}, false},
		{"interactive with options", []string{"bash", "--login", "-i"}, false},
		{"a harness", []string{"python3", "sim.py", "/x/kiro-learn", "stop"}, false},
		{"Kiro", []string{"kiro-cli", "chat"}, false},
		{"a kernel thread", []string{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := isWrapper(process{args: tt.args}, "kl"); got != tt.want {
				t.Errorf("%q: wrapper %v, want %v", tt.args, got, tt.want)
			}
		})
	}
}

func TestClimb(t *testing.T) {
	wrap := []string{"bash", "-c", "kiro-learn stop"}
	kiro := []string{"kiro-cli"}
	loop := map[int]process{5: {parent: 6, start: "5", args: wrap}, 6: {parent: 5, start: "6", args: wrap}}
	tests := []struct {
		name  string
		table map[int]process
		pid   int
		want  Agent
	}{
		{"direct", map[int]process{9: {parent: 1, start: "s9", args: kiro}}, 9, Agent{9, "s9"}},
		{"through a shell", map[int]process{9: {parent: 8, start: "s9", args: wrap}, 8: {parent: 1, start: "s8", args: kiro}}, 9, Agent{8, "s8"}},
		{"stops at the first that is none", map[int]process{9: {parent: 8, start: "s9", args: kiro}, 8: {parent: 1, args: wrap}}, 9, Agent{9, "s9"}},
		{"the parent cannot be seen", nil, 9, Agent{PID: 9}},
		{"the shell's parent cannot be seen", map[int]process{9: {parent: 8, start: "s9", args: wrap}}, 9, Agent{9, "s9"}},
		{"the shell's parent is outside", map[int]process{9: {parent: 0, start: "s9", args: wrap}}, 9, Agent{9, "s9"}},
		{"the agent is pid 1", map[int]process{9: {parent: 1, args: wrap}, 1: {parent: 0, start: "s1", args: kiro}}, 9, Agent{1, "s1"}},
		{"names without arguments", map[int]process{9: {parent: 8, name: "cmd"}, 8: {parent: 1, start: "s8", name: "Kiro"}}, 9, Agent{8, "s8"}},
		{"a circle ends", loop, 5, Agent{5, "5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := climb(tt.pid, "kl", func(pid int) (process, bool) { p, ok := tt.table[pid]; return p, ok })
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestOwnProcess holds what the system says of this process against what this process knows.
func TestOwnProcess(t *testing.T) {
	p, ok := newLookup()(os.Getpid())
	if !ok {
		t.Skip("processes cannot be looked up here")
	}
	if p.parent != os.Getppid() || p.start == "" {
		t.Errorf("got %+v, want parent %d and a start", p, os.Getppid())
	}
	if p.args != nil && strings.Join(p.args, " ") != strings.Join(os.Args, " ") {
		t.Errorf("arguments %q, want %q", p.args, os.Args)
	}
	if again, _ := newLookup()(os.Getpid()); again.start != p.start {
		t.Errorf("started at %s and at %s", p.start, again.start)
	}
}

func TestNameWithParentheses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc has the name in the middle of a line")
	}
	odd := filepath.Join(t.TempDir(), "a) S 1 (b")
	if err := os.Symlink("/bin/sh", odd); err != nil {
		t.Fatal(err)
	}
	lines := played(t, "hook", "", odd, "-c", "echo $$; "+executable(t)+" stop; true")
	if pid, start, _ := strings.Cut(lines[1], " "); pid != lines[0] || start == "" {
		t.Errorf("agent %q, want pid %s", lines[1], lines[0])
	}
	if _, err := strconv.Atoi(lines[0]); err != nil {
		t.Fatal(err)
	}
}

func FuzzInvocations(f *testing.F) {
	f.Add("kiro-learn stop")
	f.Add(`"a b/kiro-learn" stop|`)
	f.Add("A=kiro-learn\nkl")
	f.Fuzz(func(t *testing.T, text string) {
		n := invocations(text, "kl")
		if max := strings.Count(text, "kiro-learn") + strings.Count(text, "kl"); n < 0 || n > max {
			t.Errorf("%q: %d invocations, %d mentions", text, n, max)
		}
		if more := invocations(text+"\nkl stop", "kl"); more != n+1 {
			t.Errorf("%q: one more invocation makes %d of %d", text, more, n)
		}
	})
}

func BenchmarkFindAgent(b *testing.B) {
	for b.Loop() {
		if FindAgent().PID == 0 {
			b.Fatal("no agent")
		}
	}
}
