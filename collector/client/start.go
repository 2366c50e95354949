package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"kiro-learn/internal/config"
)

// startPause is how long after one start nobody else starts a collector: twenty hooks on a cold machine make one.
const startPause = 2 * time.Second

// Start starts a collector that outlives this process: in a session of its own, without our descriptors, working in the
// state directory. It does not wait for it. When somebody else started one a moment ago, nothing is started.
func Start(d config.Dirs, program string) error {
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		return fmt.Errorf("start the collector: %w", err)
	}
	lock := flock.New(filepath.Join(d.State, "collector-start.lock"), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil // another hook is at it this very moment
	}
	defer func() { _ = lock.Unlock() }()
	mark := filepath.Join(d.State, "collector-start")
	if info, err := os.Stat(mark); err == nil {
		if age := time.Since(info.ModTime()); age >= 0 && age < startPause {
			return nil
		}
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return fmt.Errorf("start the collector: %w", err)
	}
	now := time.Now()
	_ = os.Chtimes(mark, now, now) // writing nothing may leave the time as it was
	return spawn(d, program, "collector", "run")
}

// Detach starts another command of this program in the same way, such as a drain of the outbox in the background.
func Detach(d config.Dirs, program string, args ...string) error { return spawn(d, program, args...) }

func spawn(d config.Dirs, program string, args ...string) error {
	keepDescriptors()
	cmd := exec.Command(program, args...)
	cmd.Dir = d.State
	cmd.Env = environment(os.Environ())
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the collector: %w", err)
	}
	return cmd.Process.Release()
}

// environment is the hook's without what is only the hook's: the prompt itself, above all.
func environment(env []string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); strings.ToUpper(name) {
		case "USER_PROMPT", "KIRO_SESSION_ID", "PWD", "OLDPWD":
		default:
			out = append(out, kv)
		}
	}
	return out
}

// WaitReady waits until a collector answers or ctx ends.
func (c *Client) WaitReady(ctx context.Context) (Health, error) {
	for {
		h, err := c.Health(ctx)
		if err == nil {
			return h, nil
		}
		select {
		case <-ctx.Done():
			return Health{}, errors.Join(ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// StartAndWait makes sure that a collector answers: it starts one where none does, and waits for it within ctx.
func (c *Client) StartAndWait(ctx context.Context, program string) (Health, error) {
	if h, err := c.Health(ctx); err == nil {
		return h, nil
	}
	if c.Remote() {
		return Health{}, fmt.Errorf("%w at %s; start it there, or empty collector.url in %s", ErrAbsent, c.remote, c.dirs.ConfigFile())
	}
	if err := Start(c.dirs, program); err != nil {
		return Health{}, err
	}
	h, err := c.WaitReady(ctx)
	if err != nil {
		return h, fmt.Errorf("the collector did not come up; see %s: %w", c.dirs.LogFile(), err)
	}
	return h, nil
}
