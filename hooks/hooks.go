// Package hooks turns what Kiro tells a hook into an event that is durable before the hook leaves, and prints for the
// agent what is recalled. A hook must never be in the way: whatever happens, Run returns in its budget, prints nothing but
// recalled context, and its caller exits 0.
package hooks

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
	"kiro-learn/internal/eventid"
	"kiro-learn/internal/logfile"
	"kiro-learn/internal/privacy"
	"kiro-learn/internal/project"
	"kiro-learn/internal/session"
	"kiro-learn/internal/transcript"
	"kiro-learn/outbox"
	"kiro-learn/payload"
)

// Process is what a hook sees of its process.
type Process struct {
	Args    []string // the command line behind the program's name; its first word is a hook's name
	Stdin   io.Reader
	Stdout  io.Writer
	Getenv  func(string) string
	Program string // path of this program, to start a collector with
	Version string
	Begun   time.Time // when the process began, as near as is known
}

// handler is what makes an event of a hook; every other hook is read and forgotten.
func handler(name payload.Hook) func(*hook) {
	switch name {
	case payload.Spawn:
		return (*hook).spawn
	case payload.Prompt:
		return (*hook).prompt
	case payload.ToolUse:
		return (*hook).toolUse
	case payload.Stop:
		return (*hook).stop
	}
	return nil
}

// IsHook tells whether a command line that begins with name is a hook's: a name in any spelling, or "hook", behind which
// the name follows or is left to the payload.
func IsHook(name string) bool {
	h, _ := payload.HookOf(name)
	return h != payload.Other || name == "hook"
}

const (
	lockWait   = 100 * time.Millisecond // for the small files that hooks share
	drainBytes = 64 << 20               // of the input of a hook that is switched off
	drainTime  = time.Second
)

// hook is one run of one hook.
type hook struct {
	Process
	dirs    config.Dirs
	config  config.Config
	log     *logfile.Log
	payload payload.Payload
	project project.Project
	session string
	actor   string
	until   time.Time // when the budget ends, which begins with the process
	client  *client.Client
	queue   *outbox.Queue
	states  session.Store
	ids     *eventid.Source
	scrub   privacy.Scrubber
	via     string
}

// Run does what a hook's command line asks for. It does not fail and does not panic.
func Run(p Process) {
	h := &hook{Process: p}
	defer func() {
		if r := recover(); r != nil {
			h.log.Error("a hook failed inside", fmt.Errorf("panic: %T", r))
		}
	}()
	h.dirs = config.FindDirs(p.Getenv)
	var warnings []string
	h.config, warnings = config.Load(h.dirs)
	budget := time.Duration(h.config.Hooks.BudgetMS) * time.Millisecond
	h.until = p.Begun.Add(budget)
	if !h.config.Enabled || config.Disabled(p.Getenv) || h.ownChild() {
		payload.Drain(p.Stdin, drainBytes, min(budget, drainTime))
		return
	}
	h.log = logfile.New(h.dirs.LogFile(), filepath.Join(h.dirs.State, "log-marks"), "hook", nil)
	for _, w := range warnings {
		h.log.Warn(w, nil)
	}
	h.read(min(max(time.Until(h.until)-budget/10, budget/10), payload.MaxWait))
	handle := handler(h.payload.Hook)
	if handle == nil || !h.identify() {
		return
	}
	guard := time.AfterFunc(time.Until(h.until)+time.Second, func() { os.Exit(0) }) // a disk that hangs holds nobody
	defer guard.Stop()
	handle(h)
}

// ownChild tells whether this hook was fired by an agent that kiro-learn itself runs.
func (h *hook) ownChild() bool {
	if h.Getenv("KIRO_LEARN_CHILD") != "" {
		return true
	}
	wd, err := os.Getwd()
	return err == nil && within(h.dirs.Child(), wd)
}

func within(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// read reads the command line and the payload, for which it waits no longer than wait. A flag that is not known is
// passed over: a hook of a newer version's installation must still work.
func (h *hook) read(wait time.Duration) {
	r := payload.Request{Getenv: h.Getenv, Stdin: h.Stdin, Wait: wait}
	args := h.Args
	r.Name, args = args[0], args[1:]
	if r.Name == "hook" {
		r.Name = ""
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			r.Name, args = args[0], args[1:]
		}
	}
	for i := 0; i < len(args); i++ {
		name, value, ok := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if !strings.HasPrefix(args[i], "--") {
			continue
		}
		if !ok && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch name {
		case "surface":
			r.Surface = value
		case "payload":
			r.Channel = value
		case "via":
			if value = event.CutChars(value, 32); !privacy.Holds(value) {
				h.via = value
			}
		}
	}
	h.payload = payload.Read(r)
	for _, note := range h.payload.Notes {
		h.log.Info("a payload was not as expected", nil, logfile.Str("note", note))
	}
}

// identify finds out whose memory and which session this is; it gives false where the hook is to do nothing.
func (h *hook) identify() bool {
	cwd := h.payload.CWD
	if cwd == "" {
		cwd, _ = os.Getwd() // one that is gone is nobody's project
	}
	if within(h.dirs.Child(), cwd) {
		return false
	}
	h.project = resolver(h.dirs).Resolve(cwd)
	if !config.ProjectEnabled(h.project.Root) {
		if config.ProjectProblem(h.project.Root) != "" {
			h.log.Warn("a project's .kiro/kiro-learn.json cannot be read, so nothing is recorded there: see kiro-learn doctor", nil)
		}
		return false
	}
	h.session = session.ID(h.payload.SessionID, h.Getenv, h.payload.Surface, h.project.ID, session.FindAgent)
	if privacy.Holds(h.session) {
		h.session = session.Hashed(h.session)
	}
	h.actor = actor()
	h.queue = outbox.New(h.dirs.Outbox(), outbox.Options{MaxBytes: h.config.Outbox.MaxBytes})
	h.states = session.Store{Dir: h.dirs.Sessions()}
	h.ids = eventid.New(h.dirs.State, nil)
	h.scrub = privacy.Scrubber{Secrets: h.config.Privacy.RedactSecrets}
	var err error
	if h.client, err = client.New(h.dirs, h.config.Collector); err != nil {
		h.log.Warn("the collector's address cannot be used", err)
	}
	return true
}

// home is the user's home directory, also where the environment does not say it.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// resolver finds whose memory it is. Nothing is noted of a project that has switched us off.
func resolver(d config.Dirs) project.Resolver {
	return project.Resolver{Home: home(), Temp: os.TempDir(), Memory: filepath.Join(d.State, "projects"), Secret: func(root string) bool {
		return privacy.Holds(root) || !config.ProjectEnabled(root)
	}}
}

// looker is a resolver for commands, which note nothing.
func looker(d config.Dirs) project.Resolver {
	r := resolver(d)
	r.Look = true
	return r
}

func (h *hook) namespace() string { return event.Namespace(h.actor, h.project.ID) }

func (h *hook) transcript() transcript.Reader { return Transcripts(h.dirs) }

// Transcripts reads Kiro's own session files, but those of the agents that kiro-learn itself runs.
func Transcripts(dirs config.Dirs) transcript.Reader {
	return transcript.Reader{Home: home(), Ignore: func(cwd string) bool { return within(dirs.Child(), cwd) }}
}
