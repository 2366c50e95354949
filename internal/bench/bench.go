// Package bench measures what the program costs its user, with the program itself, in a home of its own: hooks beside an
// empty process that is started the same way in the same run, and a collector under load. Anybody can run it, so that no
// figure has to be believed.
package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/config"
)

// Bench is a home, a project and the program under test.
type Bench struct {
	Program string
	Out     io.Writer

	base    string
	project string
	dirs    config.Dirs
	env     []string
	client  *client.Client
}

// New makes a temporary home. Close removes it and stops its collector.
func New(program string, out io.Writer) (*Bench, error) {
	base, err := os.MkdirTemp("", "kiro-learn-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary home: %w", err)
	}
	home := filepath.Join(base, "home")
	b := &Bench{Program: program, Out: out, base: base, project: filepath.Join(home, "shop")}
	if err := os.MkdirAll(filepath.Join(b.project, ".git"), 0o700); err != nil {
		return nil, fmt.Errorf("make a project: %w", err)
	}
	kl := filepath.Join(base, "kl")
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); {
		case strings.HasPrefix(name, "KIRO_"), strings.HasPrefix(name, "VSCODE_"), name == "USER_PROMPT", name == "HOME", name == "USERPROFILE":
		default:
			b.env = append(b.env, kv)
		}
	}
	b.env = append(b.env, "HOME="+home, "USERPROFILE="+home, "KIRO_LEARN_HOME="+kl)
	b.dirs = config.FindDirs(func(string) string { return kl })
	b.client, err = client.New(b.dirs, config.Collector{})
	return b, err
}

// Close stops the collector and removes the home.
func (b *Bench) Close() error {
	_, err := b.run(nil, "collector", "stop")
	return errors.Join(err, os.RemoveAll(b.base))
}

func (b *Bench) say(format string, args ...any) { _, _ = fmt.Fprintf(b.Out, format+"\n", args...) }

// command is one run of a program in the home. What it reads lies in a file: a payload of 30 MB in our own memory would
// count as the child's, which begins as a copy of us.
func (b *Bench) command(program string, stdin []byte, args ...string) (cmd *exec.Cmd, done func(), err error) {
	f, err := os.CreateTemp(b.base, "stdin")
	if err != nil {
		return nil, nil, fmt.Errorf("write a payload: %w", err)
	}
	if _, err = f.Write(stdin); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	done = func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("write a payload: %w", err)
	}
	cmd = exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = b.project, b.env, f
	return cmd, done, nil
}

func (b *Bench) run(stdin []byte, args ...string) ([]byte, error) {
	cmd, done, err := b.command(b.Program, stdin, args...)
	if err != nil {
		return nil, err
	}
	defer done()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("run %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return out, nil
}

// start starts the collector and says how long that took until its first answer.
func (b *Bench) start() (time.Duration, error) {
	cmd, done, err := b.command(b.Program, nil, "collector", "run")
	if err != nil {
		return 0, err
	}
	defer done()
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start the collector: %w", err)
	}
	go func() { _ = cmd.Wait() }() // it ends when it is stopped
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		if _, err := b.client.Health(ctx); err == nil {
			return time.Since(begun), nil
		}
		if ctx.Err() != nil {
			return 0, errors.New("the collector did not come up")
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// empty is a program that does nothing, to compare with: an empty Go program where Go is installed, else the system's own.
func (b *Bench) empty() (program, name string) {
	dir := filepath.Join(b.base, "empty")
	goTool, err := exec.LookPath("go")
	if err == nil && os.MkdirAll(dir, 0o700) == nil {
		_ = os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module empty\n\ngo 1.21\n"), 0o600)
		_ = os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600)
		out := filepath.Join(dir, "empty.exe")
		cmd := exec.Command(goTool, "build", "-ldflags", "-s -w", "-o", out, ".")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if cmd.Run() == nil {
			return out, "an empty Go program"
		}
	}
	if p, err := exec.LookPath("true"); err == nil {
		return p, p
	}
	return b.Program, "this program's version command"
}

// timings are measured durations.
type timings []time.Duration

func (t timings) at(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(t))
	return s[min(int(float64(len(s))*share), len(s)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
