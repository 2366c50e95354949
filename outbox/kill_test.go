package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Environment of a child of this test binary.
const (
	envScene = "OUTBOX_TEST_SCENE" // what it does, in the directory envDir
	envDir   = "OUTBOX_TEST_DIR"
	envStep  = "OUTBOX_TEST_STEP" // the system call before which it kills itself; 0 for never
)

func TestMain(m *testing.M) {
	if scene := os.Getenv(envScene); scene != "" {
		os.Exit(childMain(scene, os.Getenv(envDir), os.Getenv(envStep)))
	}
	os.Exit(m.Run())
}

// killedBy gives a Step that kills this very process before the given system call, which no defer survives.
func killedBy(step string, steps *int) func(string) {
	target, err := strconv.Atoi(step)
	if err != nil {
		panic(err)
	}
	return func(string) {
		*steps++
		if *steps == target {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {} // until it arrives
		}
	}
}

// childMain plays a scene. What Append has vouched for is noted in dir/accepted, what the receiver has in dir/received.
func childMain(scene, dir, step string) int {
	steps := 0
	o := sceneOptions(scene)
	o.Step = killedBy(step, &steps)
	q := New(filepath.Join(dir, "outbox"), o)
	q.lockWait = 0 // the number of steps must not depend on time
	var err error
	switch {
	case strings.HasPrefix(scene, "limit"):
		return limitedChild(q)
	case strings.HasPrefix(scene, "append"):
		for i := range 3 {
			if err = q.Append(fmt.Sprint("new", i), make([]byte, 100), 0); err == nil {
				note(dir, "accepted", fmt.Sprint("new", i))
			}
		}
	case scene == "requeue":
		_, err = q.Requeue(func(Quarantine) bool { return true })
	case scene == "purge":
		_, err = q.Purge(func(x Quarantine) bool { return !x.Requeueable() })
	default:
		_, err = q.Drain(context.Background(), killBatch, 1<<20, receiver(dir))
	}
	if err != nil && !errors.Is(err, ErrFull) && !errors.Is(err, ErrLocked) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(steps)
	return 0
}

const killBatch = 2

func sceneOptions(scene string) Options {
	switch scene {
	case "append rotating", "drain segments":
		return Options{SegmentBytes: 300}
	case "append full":
		return Options{MaxBytes: 1000}
	}
	return Options{}
}

func note(dir, file, line string) {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(line + "\n")
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
}

func noted(dir, file string) []string {
	b, _ := os.ReadFile(filepath.Join(dir, file)) // none when there is nothing to note
	return strings.Fields(string(b))
}

// receiver notes what it gets, and refuses what begins with "bad".
func receiver(dir string) func([]Record) ([]Verdict, error) {
	return func(batch []Record) ([]Verdict, error) {
		verdicts := make([]Verdict, len(batch))
		for i, r := range batch {
			if strings.HasPrefix(r.ID, "bad") {
				verdicts[i] = Reject("bad")
				continue
			}
			note(dir, "received", r.ID)
			verdicts[i] = Done()
		}
		return verdicts, nil
	}
}

// prepare fills the directory for a scene and gives a lock to be held meanwhile, if any.
func prepare(t *testing.T, scene, dir string) (release func()) {
	t.Helper()
	release = func() {}
	if scene == "append cold" {
		return release
	}
	q := New(filepath.Join(dir, "outbox"), sceneOptions(scene))
	for _, id := range []string{"0", "1", "bad2", "3", "4"} {
		mustAppend(t, q, id, make([]byte, 100))
		note(dir, "accepted", id)
	}
	switch scene {
	case "drain beside":
		for _, id := range []string{"b0", "bad1", "b2"} {
			if err := q.writeBeside(encode(id, nil, time.Now())); err != nil {
				t.Fatal(err)
			}
			note(dir, "accepted", id)
		}
	case "drain torn":
		appendRaw(t, newest(t, q), []byte("torn"))
		mustAppend(t, q, "5", nil)
		note(dir, "accepted", "5")
		appendRaw(t, newest(t, q), encode("x", make([]byte, 99), time.Now())[:70])
	case "requeue", "purge":
		appendRaw(t, newest(t, q), []byte("torn"))
		if _, err := q.Drain(context.Background(), 9, 9999, receiver(dir)); err != nil {
			t.Fatal(err)
		}
	case "append beside", "drain locked":
		l, err := q.acquire(appendLock, testWait)
		if err != nil {
			t.Fatal(err)
		}
		release = l.unlock
	}
	return release
}

func runChild(t *testing.T, scene, dir string, step int) (out string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envScene+"="+scene, envDir+"="+dir, envStep+"="+strconv.Itoa(step))
	b, err := cmd.Output()
	return strings.TrimSpace(string(b)), err
}

// TestKilledBeforeEverySystemCall plays each scene in a child that is killed before its first system call, its second,
// and so on, and then recovers.
func TestKilledBeforeEverySystemCall(t *testing.T) {
	scenes := []struct {
		name  string
		again int // records that may be delivered twice: those of one batch
	}{
		{"append cold", 0},
		{"append warm", 0},
		{"append rotating", 0},
		{"append beside", 0},
		{"append full", 0},
		{"drain", killBatch},
		{"drain segments", killBatch},
		{"drain beside", killBatch},
		{"drain torn", killBatch},
		{"drain locked", killBatch},
		{"requeue", 1},
		{"purge", 0},
	}
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			dir := memoryDir(t)
			release := prepare(t, scene.name, dir)
			out, err := runChild(t, scene.name, dir, 0)
			release()
			if err != nil {
				t.Fatalf("child: %v", err)
			}
			steps, err := strconv.Atoi(out)
			if err != nil || steps < 10 {
				t.Fatalf("child made %q steps", out)
			}
			stride, kills := 1, 0
			if testing.Short() {
				stride = 7
			}
			for step := 1; step <= steps; step += stride {
				dir := memoryDir(t)
				release := prepare(t, scene.name, dir)
				out, err := runChild(t, scene.name, dir, step)
				release()
				if err == nil {
					t.Fatalf("step %d of %d: the child was not killed, and says %q", step, steps, out)
				}
				recoverAfterKill(t, scene.name, dir, step, scene.again)
				kills++
			}
			if kills == 0 {
				t.Error("nothing was killed")
			}
			t.Logf("%d kills at %d steps", kills, steps)
		})
	}
}

// memoryDir gives a directory in memory where there is one: a kill does not care whether a sync reaches a disk.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "outbox-test")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func recoverAfterKill(t *testing.T, scene, dir string, step, again int) {
	t.Helper()
	o := sceneOptions(scene)
	o.Now = func() time.Time { return time.Now().Add(2 * orphanAge) } // when unfinished files are taken over
	q := New(filepath.Join(dir, "outbox"), o)
	if o.MaxBytes > 0 { // make room
		if _, err := q.Drain(context.Background(), killBatch, 1<<20, receiver(dir)); err != nil {
			t.Errorf("step %d: drain: %v", step, err)
		}
	}
	mustAppend(t, q, "next", nil)
	if _, err := q.Drain(context.Background(), killBatch, 1<<20, receiver(dir)); err != nil {
		t.Errorf("step %d: drain: %v", step, err)
	}
	count, aside := map[string]int{}, map[string]int{}
	for _, id := range noted(dir, "received") {
		count[id]++
	}
	torn := 0
	if err := q.Quarantined(func(x Quarantine) bool {
		if aside[x.ID]++; x.ID == "" {
			torn++
		}
		return true
	}); err != nil {
		t.Errorf("step %d: %v", step, err)
	}
	twice := 0
	for _, id := range append(noted(dir, "accepted"), "next") {
		if count[id] == 0 && aside[id] == 0 {
			t.Errorf("step %d: %s is lost", step, id)
		}
		twice += max(count[id]-1, 0)
	}
	if twice > again {
		t.Errorf("step %d: %d records delivered twice: %v", step, twice, count)
	}
	wantTorn := map[string]int{"drain torn": 2, "requeue": 1, "purge": 1}[scene]
	if torn > wantTorn || (torn < wantTorn && scene != "purge") {
		t.Errorf("step %d: %d pieces of torn bytes in quarantine, want %d", step, torn, wantTorn)
	}
	if s := mustStatus(t, q); s.Pending != 0 || s.Bytes != 0 {
		t.Errorf("step %d: left %+v", step, s)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "outbox", "*", "*"+tmpSuffix)); len(left) > 0 {
		t.Errorf("step %d: left over: %v", step, left)
	}
}
