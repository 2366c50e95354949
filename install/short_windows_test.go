package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The command that is written runs in cmd, the way Kiro calls it, from a directory with a blank; and it is known as ours.
func TestWrittenCommandRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Ana Lee")
	program, ran := filepath.Join(dir, "kiro-learn.cmd"), filepath.Join(dir, "ran")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("@echo %*> \""+ran+"\"\r\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := Env{GOOS: "windows"}
	line := agentCommandLine("stop", env.shellPath(Program{Path: program}))
	c, ours := ParseCommand(line)
	if !ours || c.Hook != "stop" {
		t.Errorf("%s is read as %+v", line, c)
	}
	if a, err := os.Stat(c.Program); err != nil {
		t.Errorf("%s: %v", line, err)
	} else if b, err := os.Stat(program); err != nil || !os.SameFile(a, b) {
		t.Errorf("%s names another file", line)
	}
	if strings.ContainsAny(line, `"\\`) {
		t.Skipf("this volume keeps no short names: %s", line) // then quotes are needed, which PowerShell does not take
	}
	if out, err := exec.Command("cmd", "/C", line).CombinedOutput(); err != nil {
		t.Fatalf("cmd /C %s: %v %s", line, err, out)
	}
	if b, err := os.ReadFile(ran); err != nil || strings.TrimSpace(string(b)) != "stop --surface kiro-cli --via agent" {
		t.Errorf("ran with %q, %v", b, err)
	}
}
