package install

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestDoctorCountsInWords(t *testing.T) {
	m, live := healthy(t, "2.21.3", "")
	for n, want := range map[int]string{0: "0 events wait", 1: "1 event waits", 2: "2 events wait"} {
		live.Outbox.Pending = n
		var said []string
		for _, f := range Doctor(m.env, *live) {
			said = append(said, f.Detail)
		}
		if !slices.Contains(said, want) || !slices.Contains(said, "1 agent has hooks") {
			t.Errorf("%d: %q", n, said)
		}
	}
}

func TestDoctorTellsOfDirectoriesThatCannotBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("this user may write everywhere")
	}
	m, live := healthy(t, "2.21.3", "")
	if err := os.Chmod(live.Dirs.State, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(live.Dirs.State, 0o700) })
	for _, f := range Doctor(m.env, *live) {
		if f.Check == "files" && f.Status == Fail && strings.Contains(f.Detail, "permission denied") && strings.HasPrefix(f.Fix, "chmod u+rwx ") {
			return
		}
	}
	t.Error("not told")
}
