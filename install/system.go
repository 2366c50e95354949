package install

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// System is the real world for a home, the root of the project in use ("" for none) and the state directory.
func System(home, project, stateDir string) (Env, error) {
	exe, err := os.Executable()
	if err != nil {
		return Env{}, err
	}
	return Env{
		Home: home, Project: project, StateDir: stateDir, Executable: exe, GOOS: runtime.GOOS,
		Getenv: os.Getenv, LookPath: exec.LookPath, Run: run,
	}, nil
}

// run gives a program's standard output. A grandchild that keeps the pipe open does not keep us.
func run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 500 * time.Millisecond
	cmd.Env = append(os.Environ(), "KIRO_LEARN_CHILD=1") // whatever it starts is no session of the user's
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return string(out), err
}
