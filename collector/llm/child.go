package llm

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// grace is how long a child that was asked to end may take before it is killed.
const grace = 2 * time.Second

// markVar marks all processes of one call. Unlike KIRO_LEARN_CHILD, which only hooks look at, its value is unique, so
// that a process which has it is certainly ours and may be killed.
const markVar = "KIRO_LEARN_CHILD_MARK"

// A spec says how to start a child: in its private directory, with an environment in which our hooks do nothing.
type spec struct {
	argv    []string // argv[0] is an absolute path
	dir     string
	environ []string
}

// A child is a running program together with everything it starts. What it says on its standard error is read, so
// that it cannot block, and thrown away, since it may repeat the prompt.
type child struct {
	stdin  *os.File
	stdout *os.File

	stderr *os.File
	cmd    *exec.Cmd
	family *family
	exited chan struct{} // closed when the program itself has ended
	once   sync.Once
}

// childDir makes the private working directory.
func childDir(dir string) error {
	if dir == "" {
		return errors.New("no private directory for child processes")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of child processes: %w", err)
	}
	return nil
}

// markPrefix is what the marks of all children that belong to a directory begin with.
func markPrefix(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return markVar + "=" + hex.EncodeToString(sum[:8]) + "-"
}

// childEnviron takes out what would tell a child that it runs inside the user's own session.
func childEnviron(environ []string, mark string) []string {
	env := make([]string, 0, len(environ)+4)
	for _, kv := range environ {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "KIRO_SESSION_ID", "USER_PROMPT", "KIRO_LEARN_CHILD", "NO_COLOR", "TERM", markVar:
		default:
			env = append(env, kv)
		}
	}
	return append(env, "KIRO_LEARN_CHILD=1", mark, "NO_COLOR=1", "TERM=dumb")
}

// start runs a program. The caller must call stop, which is the only thing that ends what the program may have left.
func (s spec) start() (*child, error) {
	if err := childDir(s.dir); err != nil {
		return nil, err
	}
	mark := markPrefix(s.dir) + rand.Text()
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Dir, cmd.Env = s.dir, childEnviron(s.environ, mark)
	c := &child{cmd: cmd, exited: make(chan struct{})}
	// Own pipes, not those of exec.Cmd: Wait must not wait for a grandchild that keeps one open.
	var theirs [3]*os.File
	for i, ours := range []**os.File{&c.stdin, &c.stdout, &c.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(theirs[:], c.stdin, c.stdout, c.stderr)...)
			return nil, fmt.Errorf("starting a child process: %w", err)
		}
		if i == 0 {
			theirs[i], *ours = r, w
		} else {
			theirs[i], *ours = w, r
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	cmd.SysProcAttr = sysProcAttr()
	err := cmd.Start()
	closeAll(theirs[:]...)
	if err != nil {
		closeAll(c.stdin, c.stdout, c.stderr)
		return nil, fmt.Errorf("starting a child process: %w", withoutPath(err))
	}
	c.family = newFamily(cmd.Process.Pid, mark)
	go func() { _, _ = io.Copy(io.Discard, c.stderr) }()
	go c.reap()
	return c, nil
}

// reap waits for the program, and does not let what it started keep us: descendants end with it, and one that got away
// can hold the output open for no longer than grace.
func (c *child) reap() {
	_ = c.cmd.Wait()
	c.family.kill()
	_ = c.stdout.SetReadDeadline(time.Now().Add(grace)) // not on Windows, where nobody gets away
	close(c.exited)
}

// stopWith ends the child when ctx does; call what it returns when the child has been stopped otherwise.
func (c *child) stopWith(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, c.stop)
}

// stop asks the whole family to end unless the program has ended already, waits for it up to grace, kills what is
// left, and closes the pipes. It returns when that is done, also to concurrent callers.
func (c *child) stop() {
	c.once.Do(func() {
		select {
		case <-c.exited:
		default:
			_ = c.stdin.Close()
			c.family.terminate()
			select {
			case <-c.exited:
			case <-time.After(grace):
			}
		}
		c.family.kill()
		select {
		case <-c.exited:
			c.family.close()
		case <-time.After(grace): // not even killing helps while the system holds it in a call
		}
		closeAll(c.stdin, c.stdout, c.stderr)
	})
}

// wait waits for the end of the program, which it should be near, and says how it ended.
func (c *child) wait() error {
	select {
	case <-c.exited:
	case <-time.After(grace):
		return nil // it has answered; what it does afterwards is not our concern
	}
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		return exitError(code)
	}
	return nil
}

// exitError is the exit code of a program that failed, -1 when a signal ended it.
type exitError int

// Error names the code.
func (e exitError) Error() string { return fmt.Sprintf("the program ended with exit code %d", int(e)) }

// run starts a program, writes input to it and gives its output once it has ended.
func (s spec) run(ctx context.Context, input string, maxOutput int) ([]byte, error) {
	c, err := s.start()
	if err != nil {
		return nil, err
	}
	defer c.stop()
	defer c.stopWith(ctx)()
	go func() {
		_, _ = io.WriteString(c.stdin, input) // a program need not read it all
		_ = c.stdin.Close()
	}()
	b, err := io.ReadAll(io.LimitReader(c.stdout, int64(maxOutput)+1))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("reading the answer: %w", withoutPath(err))
	}
	if len(b) > maxOutput {
		return nil, fmt.Errorf("%w: over %d bytes", ErrTooLong, maxOutput)
	}
	if err := c.wait(); err != nil {
		return nil, err
	}
	return b, nil
}

// KillLeftovers kills the children, and their descendants, that a collector with this ChildDir left behind when it was
// killed itself. Call it before the first New of a collector, while no other one runs. It does something on Linux only,
// where a process can be proven to be ours; Windows ends children with their parent, and elsewhere they see their
// input end. It returns how many were killed.
func KillLeftovers(childDir string) int { return killMarked(markPrefix(childDir)) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// withoutPath takes the program's path out of an error, since a command line may hold what is nobody's business.
func withoutPath(err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
