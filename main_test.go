//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kiro-learn/internal/event"
	"kiro-learn/outbox"
)

// The whole-program tests run the real binary in real processes: the scripts of testdata/scripts say what a user or a
// Kiro sees, and the faults_*_test.go files break what a script cannot break. Each test has a machine of its own.

const (
	patience = 60 * time.Second // after which a test calls a process stuck
	hang     = 15 * time.Second // a hook that takes so long hangs, however busy this machine is
)

func TestMain(m *testing.M) { testscript.Main(tests{m}, map[string]func(){"kiro-cli": fakeKiro}) }

// tests are run, and what was built for them is removed.
type tests struct{ m *testing.M }

func (t tests) Run() int {
	defer func() {
		if dir, err := buildDir(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}()
	return t.m.Run()
}

// The program as its users have it, built once, and the release before it.
var (
	buildDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "kl-bin-") })
	current  = sync.OnceValues(func() (string, error) { return build("1.1.0") })
	older    = sync.OnceValues(func() (string, error) { return build("1.0.0") })
)

func build(version string) (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, version, "kiro-learn")
	cmd := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", file, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return file, nil
}

// machine is what a user has: a home, a project in it, and kiro-learn with a memory of its own.
type machine struct {
	dir, home, memory, project string
	program                    string
	cwd                        string
	env                        []string
}

// newMachine makes a machine under dir, which must be short enough for a socket in it.
func newMachine(dir, program string) (*machine, error) {
	m := &machine{dir: dir, home: filepath.Join(dir, "home"), memory: filepath.Join(dir, "kl"), program: program}
	m.project = filepath.Join(m.home, "shop")
	m.cwd = m.project
	for _, d := range []string{filepath.Join(m.project, ".git"), m.memory} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	m.env = []string{
		"HOME=" + m.home, "KIRO_LEARN_HOME=" + m.memory, "USER=" + os.Getenv("USER"), "TMPDIR=" + os.TempDir(),
		"PATH=" + filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH"),
	}
	return m, m.configure(nil)
}

// configure writes the settings of a patient user: this machine may be so busy that half a second says nothing.
func (m *machine) configure(sections map[string]any) error {
	c := map[string]any{"hooks": map[string]any{"budget_ms": 10_000}}
	for k, v := range sections {
		c[k] = v
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.memory, "config.json"), b, 0o600)
}

// result is what a process left.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.program, args...)
	cmd.Dir, cmd.Env = m.cwd, m.env
	return cmd
}

// run runs the program to its end.
func (m *machine) run(stdin io.Reader, args ...string) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := m.command(ctx, args...)
	if cmd.Stdin = stdin; stdin != nil {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return result{}, err
		}
		pipe, err := piped(string(text))
		if err != nil {
			return result{}, err
		}
		defer func() { _ = pipe.Close() }()
		cmd.Stdin = pipe
	}
	cmd.WaitDelay = hang // as busy as this machine may be, nobody else holds the pipes so long
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	begun := time.Now()
	fault := cmd.Run()
	if ctx.Err() != nil {
		return result{}, fmt.Errorf("kiro-learn %s did not end within %v", strings.Join(args, " "), patience)
	}
	if exit := (*exec.ExitError)(nil); fault != nil && !errors.As(fault, &exit) {
		return result{}, fmt.Errorf("kiro-learn %s: %w", strings.Join(args, " "), fault)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String(), time.Since(begun)}, nil
}

func maxRSS(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if kilo := int64(1024); isLinux {
		return u.Maxrss * kilo
	}
	return u.Maxrss
}

// address is where the collector listens, or would.
func (m *machine) address() string {
	if b, err := os.ReadFile(filepath.Join(m.memory, "state", "collector.addr")); err == nil {
		return strings.TrimSpace(string(b))
	}
	return filepath.Join(m.memory, "run", "collector.sock")
}

// call asks the collector's API.
func (m *machine) call(method, path string, body []byte, header ...string) (int, []byte, error) {
	c := http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", m.address())
		},
	}}
	req, err := http.NewRequest(method, "http://kiro-learn"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	return res.StatusCode, got, err
}

func (m *machine) get(path string, out any) error {
	status, b, err := m.call("GET", path, nil)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s: %d %s", path, status, b)
	}
	return json.Unmarshal(b, out)
}

// events are the stored events that a query of the API selects, oldest first.
func (m *machine) events(query string) ([]event.Event, error) {
	var all []event.Event
	for before := ""; ; before = all[len(all)-1].EventID {
		var got struct {
			Items []event.Event `json:"items"`
		}
		if err := m.get("/v1/events?limit=500&before="+url.QueryEscape(before)+"&"+query, &got); err != nil {
			return nil, err
		}
		all = append(all, got.Items...)
		if len(got.Items) < 500 {
			slices.Reverse(all)
			return all, nil
		}
	}
}

func (m *machine) records(query string) ([]event.Record, error) {
	var got struct {
		Items []event.Record `json:"items"`
	}
	err := m.get("/v1/memories?limit=500&"+query, &got)
	slices.Reverse(got.Items)
	return got.Items, err
}

func (m *machine) outbox() (st outbox.Status, err error) {
	r, err := m.run(nil, "outbox", "status", "--json")
	if err == nil && r.code != 0 {
		err = fmt.Errorf("outbox status: exit %d: %s", r.code, r.stderr)
	}
	if err != nil {
		return st, err
	}
	return st, json.Unmarshal([]byte(r.stdout), &st)
}

// collectorPID is the process id that the collector itself gives; an error when none answers.
func (m *machine) collectorPID() (int, error) {
	var h struct {
		PID int `json:"pid"`
	}
	err := m.get("/healthz", &h)
	return h.PID, err
}

// forgetStart makes the last start of a collector one of long ago.
func (m *machine) forgetStart() {
	long := time.Now().Add(-time.Hour)
	_ = os.Chtimes(filepath.Join(m.memory, "state", "collector-start"), long, long)
}

// leave ends whatever this machine still runs. Only processes that carry its environment are signalled.
func (m *machine) leave() {
	for _, pid := range m.processes() {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	_, _ = m.run(nil, "collector", "stop")
	for _, pid := range m.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// processes are the ids of this machine's kiro-learn processes, as far as the system tells (Linux), else of its
// collector alone.
func (m *machine) processes() (pids []int) {
	mark := []byte("\x00KIRO_LEARN_HOME=" + m.memory + "\x00")
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, err := os.ReadFile(f)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		exe, _ := os.Readlink(filepath.Join(filepath.Dir(f), "exe"))
		if err == nil && bytes.Contains(append([]byte{0}, b...), mark) && filepath.Base(exe) == "kiro-learn" {
			pids = append(pids, pid)
		}
	}
	if len(files) == 0 {
		if pid, err := m.collectorPID(); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// poll waits until ok gives true, and gives false if it never does.
func poll(ok func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if ok() {
			return true
		}
	}
	return false
}
