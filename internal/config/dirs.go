// Package config says where kiro-learn keeps its files and what its user has set. Reading it never fails: a value out
// of range is clamped, a malformed section keeps its defaults, and both give a warning for the caller to log.
package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
)

// Dirs are the directories of one installation, all absolute.
type Dirs struct {
	Config string // config.json
	Data   string // memory.db
	State  string // outbox, log, collector address, small per-session state
	Run    string // the collector's socket
}

// FindDirs gives the directories for an environment: everything under KIRO_LEARN_HOME when that is set, else
// kiro-learn's own folders in the XDG directories. It creates nothing.
func FindDirs(getenv func(string) string) Dirs {
	if h := getenv("KIRO_LEARN_HOME"); h != "" {
		if abs, err := filepath.Abs(h); err == nil {
			h = abs
		}
		return Dirs{Config: h, Data: filepath.Join(h, "data"), State: filepath.Join(h, "state"), Run: filepath.Join(h, "run")}
	}
	run := xdg.RuntimeDir
	if info, err := os.Stat(run); err != nil || !info.IsDir() {
		run = xdg.StateHome // no login session: cron, ssh without one, a container
	}
	return Dirs{
		Config: filepath.Join(xdg.ConfigHome, "kiro-learn"),
		Data:   filepath.Join(xdg.DataHome, "kiro-learn"),
		State:  filepath.Join(xdg.StateHome, "kiro-learn"),
		Run:    filepath.Join(run, "kiro-learn"),
	}
}

// SettleHome makes a relative KIRO_LEARN_HOME absolute in this process's environment: the collector and other programs that
// it starts work in directories of their own, where a relative one would mean another place.
func SettleHome() {
	h := os.Getenv("KIRO_LEARN_HOME")
	if h == "" || filepath.IsAbs(h) {
		return
	}
	if abs, err := filepath.Abs(h); err == nil {
		_ = os.Setenv("KIRO_LEARN_HOME", abs) // it names a variable
	}
}

// ConfigFile is the user's settings.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.json") }

// Database is the collector's SQLite file.
func (d Dirs) Database() string { return filepath.Join(d.Data, "memory.db") }

// Outbox is the directory of the durable queue.
func (d Dirs) Outbox() string { return filepath.Join(d.State, "outbox") }

// LogFile is where hooks and collector log.
func (d Dirs) LogFile() string { return filepath.Join(d.State, "kiro-learn.log") }

// Socket is where a collector started here would listen, if the path is not too long for the system.
func (d Dirs) Socket() string { return filepath.Join(d.Run, "collector.sock") }

// AddressFile records where the running collector listens, so that programs with other environments find it.
func (d Dirs) AddressFile() string { return filepath.Join(d.State, "collector.addr") }

// FailureFile says why the last collector did not start. It is there only while none has started since.
func (d Dirs) FailureFile() string { return filepath.Join(d.State, "collector.failed") }

// StartFailure is why the last collector did not start, "" when it did.
func (d Dirs) StartFailure() string {
	b, err := os.ReadFile(d.FailureFile())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b[:min(len(b), 2000)]))
}

// Sessions is the directory of what hooks remember of each session, such as the id of its last prompt.
func (d Dirs) Sessions() string { return filepath.Join(d.State, "sessions") }

// Child is the working directory of programs that kiro-learn starts; hooks that find themselves in it do nothing.
func (d Dirs) Child() string { return filepath.Join(d.State, "child") }
