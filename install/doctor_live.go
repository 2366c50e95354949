package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// mcp looks at our server in mcp.json, the user's and the project's.
func (d *doctor) mcp(check string) {
	user := filepath.Join(d.env.userDir(), "settings", "mcp.json")
	servers := 0
	for i, dir := range d.env.kiroDirs() {
		servers += d.mcpFile(check, filepath.Join(dir, "settings", "mcp.json"), i > 0)
	}
	if servers == 0 && d.bad == 0 {
		program := d.found.Program.Path
		d.report(Finding{Check: check, Status: Warn, Path: user, Detail: "Kiro does not know the MCP server, so agents cannot search their memory"},
			d.file(user, "MCP server", shaped(mcpShape(program), mcpFile(program))))
	}
}

func (d *doctor) mcpFile(check, path string, project bool) (servers int) {
	if _, err := os.Lstat(path); err != nil {
		return 0
	}
	doc, err := readDocument(path)
	if err != nil {
		d.report(Finding{Check: check, Status: Fail, Path: path, Detail: err.Error() + ", so Kiro does not load it", Fix: "mend the file and type: kiro-learn install"}, nil)
		return 0
	}
	if err := mcpFit(doc); err != nil {
		d.report(Finding{Check: check, Status: Warn, Path: path, Detail: err.Error(), Fix: "rename that server and type: kiro-learn install"}, nil)
	}
	program := d.found.Program.Path
	if project {
		program = programName
	}
	d.servers(check, path, doc, project, d.file(path, "MCP server", shaped(mcpShape(program), nil)))
	return len(mcpEntries(doc))
}

// servers looks at the entries of our server in one file.
func (d *doctor) servers(check, path string, doc *document, byName bool, mend func() error) {
	places := mcpEntries(doc)
	if len(places) > 1 {
		d.report(Finding{Check: check, Status: Warn, Path: path, Detail: fmt.Sprintf("the MCP server stands there %d times", len(places))}, mend)
	}
	for _, p := range places {
		command, _ := stringAt(*p.value, "command")
		d.programFault(Finding{Check: check, Path: path}, "the MCP server", command, byName, mend)
		if l, ok := lit(memberOf(*p.value, "disabled")); ok && l.Kind() == 't' {
			d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "the MCP server is switched off", Fix: `set "disabled" to false in it`}, nil)
		}
	}
}

// kiro looks at Kiro's own settings.
func (d *doctor) kiro(check string) {
	for _, dir := range d.env.kiroDirs() {
		path := filepath.Join(dir, "settings", "cli.json")
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		doc, err := readDocument(path)
		if err != nil {
			d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "Kiro's settings: the file " + err.Error(), Fix: "mend the file"}, nil)
			continue
		}
		o, _ := doc.root.Value.(*hujson.Object)
		for i := range o.Members {
			k := keyOf(o, i)
			if strings.Contains(strings.ToLower(k), "memory") && o.Members[i].Value.Value.Kind() == 't' {
				d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "Kiro's own memory is on (" + k + "), so an agent may be told things twice", Fix: `set "` + k + `" to false in it, if kiro-learn is to do that alone`}, nil)
			}
		}
	}
	for _, name := range d.found.Silent {
		d.report(Finding{Check: check, Status: Warn, Detail: name + " does not say its version, so nobody knows what it would need", Fix: name + " --version"}, nil)
	}
	if home := d.env.Getenv("KIRO_HOME"); home != "" && home != d.env.userDir() {
		d.report(Finding{Check: check, Status: Warn, Path: home, Detail: "KIRO_HOME is set here; some builds of Kiro CLI take agents from there, and all take hook files from " + d.env.userDir(), Fix: "unset KIRO_HOME if an agent's hooks are not heard"}, nil)
	}
	if !d.found.Kiro {
		d.report(Finding{Check: check, Status: Warn, Detail: "no Kiro was found here", Fix: "install Kiro, then type: kiro-learn doctor"}, nil)
	}
}

func (d *doctor) switches(check string) {
	if d.live.Disabled != "" {
		d.report(Finding{Check: check, Status: Warn, Detail: d.live.Disabled, Fix: "undo that, or leave it if you meant it"}, nil)
	}
	if d.env.Getenv("KIRO_LEARN_CHILD") != "" {
		d.report(Finding{Check: check, Status: Fail, Detail: "KIRO_LEARN_CHILD is set here, so hooks take this for a run of their own model", Fix: "unset KIRO_LEARN_CHILD"}, nil)
	}
	for _, w := range d.live.ConfigWarnings {
		d.report(Finding{Check: check, Status: Warn, Detail: w, Fix: "edit " + d.live.Dirs.ConfigFile()}, nil)
	}
}

func (d *doctor) collectorLine() string {
	if !d.live.Collector.Running {
		return "no collector runs; the next hook starts one"
	}
	return "the collector answers, version " + d.live.Collector.Version
}

func (d *doctor) collector(check string) {
	c := d.live.Collector
	if c.Error != "" {
		d.report(Finding{Check: check, Status: Fail, Detail: "the collector cannot be asked: " + c.Error, Fix: "kiro-learn collector stop, then kiro-learn collector start"}, nil)
	}
	if c.Failure != "" && !c.Running {
		d.report(Finding{Check: check, Status: Fail, Path: d.live.Dirs.Database(), Detail: "the collector does not start: " + c.Failure, Fix: "do what it says, then type: kiro-learn collector start"}, nil)
	}
	if c.Damage != "" {
		d.report(Finding{Check: check, Status: Fail, Path: d.live.Dirs.Database(), Detail: "the database is damaged: " + c.Damage, Fix: "save what can be read: kiro-learn export FILE; then kiro-learn collector stop, move the database away and kiro-learn import FILE"}, nil)
	}
	if c.Running && c.Version != d.live.Version {
		d.report(Finding{Check: check, Status: Warn, Detail: "the collector is version " + c.Version + ", this is " + d.live.Version, Fix: "kiro-learn collector stop; the next hook starts the new one"}, nil)
	}
	if c.Socket == "" || d.env.GOOS == "windows" {
		return
	}
	if info, err := os.Lstat(c.Socket); err == nil && info.Mode().Perm()&0o077 != 0 {
		d.report(Finding{Check: check, Status: Fail, Path: c.Socket, Detail: "others may talk to the collector's socket"}, func() error { return os.Chmod(c.Socket, 0o600) })
	}
}

func (d *doctor) modelLine() string {
	m := d.live.Model
	switch {
	case m.Engine == "":
		return ""
	case m.Later > 0:
		return fmt.Sprintf("%s makes the records; %s for it", m.Engine, numbered(m.Later, "event that the rules have distilled waits", "events that the rules have distilled wait"))
	}
	return m.Engine + " makes the records"
}

// model looks at the language model. Without it the rules make the records, so nothing is lost meanwhile.
func (d *doctor) model(check string) {
	m := d.live.Model
	fix := "see llm in the settings and the log, or set extract.engine to \"rules\""
	if m.Engine == "kiro" {
		fix = "see that kiro-cli works and is signed in, or set extract.engine to \"rules\""
	}
	switch m.State {
	case "", "closed":
		if m.Failing > 0 {
			d.report(Finding{Check: check, Status: Warn, Detail: fmt.Sprintf("%s failed on what %s, and is asked again soon: %s", m.Engine, numbered(m.Failing, "session says", "sessions say"), m.Error), Fix: fix}, nil)
		}
	case "unavailable":
		d.report(Finding{Check: check, Status: Warn, Detail: m.Engine + " cannot be used, so the rules make the records: " + m.Error, Fix: fix}, nil)
	default:
		when := "with the next batch"
		if t, err := time.Parse(time.RFC3339, m.RetryAt); err == nil && t.After(d.live.Now) {
			when = "in " + t.Sub(d.live.Now).Round(time.Second).String()
		}
		d.report(Finding{Check: check, Status: Warn, Detail: fmt.Sprintf("%s fails, so the rules make the records and %s for it; it is asked again %s. The last failure: %s", m.Engine, numbered(m.Later, "event waits", "events wait"), when, m.Error), Fix: fix}, nil)
	}
}

func (d *doctor) outbox(check string) {
	o := d.live.Outbox
	if o.Error != "" {
		dir := d.live.Dirs.State
		d.report(Finding{Check: check, Status: Fail, Path: dir, Detail: "what waits cannot be read: " + o.Error, Fix: "see that it is yours, as with: sudo chown -R \"$USER\" " + quote(dir, d.env.GOOS)}, nil)
	}
	if age := d.live.Now.Sub(o.Oldest); o.Pending > 0 && !o.Oldest.IsZero() && age > time.Hour {
		d.report(Finding{Check: check, Status: Warn, Detail: fmt.Sprintf("%s, the oldest for %s", numbered(o.Pending, "event waits", "events wait"), age.Round(time.Hour)), Fix: "kiro-learn flush"}, nil)
	}
	if o.Quarantined > 0 {
		d.report(Finding{Check: check, Status: Warn, Detail: numbered(o.Quarantined, "event could not be delivered and is set aside", "events could not be delivered and are set aside"), Fix: "kiro-learn outbox quarantine"}, nil)
	}
	if o.Dropped > 0 {
		d.report(Finding{Check: check, Status: Warn, Detail: fmt.Sprintf("%s could not be kept, the last at %s: %s", numbered(o.Dropped, "event", "events"), o.LastDrop, o.DropReason), Fix: "make room on the disk or raise outbox.max_bytes, then type: kiro-learn outbox status --forget-drops"}, nil)
	}
	if o.MaxBytes > 0 && o.Bytes > o.MaxBytes/10*9 {
		d.report(Finding{Check: check, Status: Fail, Detail: fmt.Sprintf("the outbox is full: %d of %d bytes", o.Bytes, o.MaxBytes), Fix: "kiro-learn flush"}, nil)
	}
}

// toldOfEvents is false where there are events, and the collector does not run that knows them.
func (d *doctor) toldOfEvents() bool {
	_, err := os.Stat(d.live.Dirs.Database())
	return d.live.Collector.Running || err != nil && d.live.Outbox.Pending == 0
}

func (d *doctor) eventsLine() string {
	if !d.toldOfEvents() {
		return "no collector runs that would know of the last one"
	}
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(d.live.LastEvent)) {
		parts = append(parts, fmt.Sprintf("the last event of %s came %s ago", s, d.live.Now.Sub(d.live.LastEvent[s]).Round(time.Minute)))
	}
	return strings.Join(parts, "; ")
}

func (d *doctor) events(check string) {
	if len(d.live.LastEvent) == 0 && d.toldOfEvents() {
		d.report(Finding{Check: check, Status: Warn, Detail: "no event has come yet", Fix: "start a new session in Kiro, since running ones keep the hooks they began with"}, nil)
	}
	for _, s := range slices.Sorted(maps.Keys(d.live.LastEvent)) {
		if ahead := d.live.LastEvent[s].Sub(d.live.Now); ahead > time.Hour {
			d.report(Finding{Check: check, Status: Warn, Detail: fmt.Sprintf("the last event of %s is dated %s ahead of this machine's clock", s, ahead.Round(time.Hour)), Fix: "set the clock"}, nil)
		}
	}
	if d.live.Events >= 10 && d.live.EmptyPayloads*2 > d.live.Events {
		d.report(Finding{Check: check, Status: Warn, Detail: fmt.Sprintf("%d of the last %d events were empty, as some builds of Kiro send them", d.live.EmptyPayloads, d.live.Events), Fix: "update Kiro"}, nil)
	}
}

// files looks at who may read what is kept, and at the room that is left.
func (d *doctor) files(check string) {
	places := []string{d.live.Dirs.Data, d.live.Dirs.State, d.live.Dirs.Run}
	if d.live.Dirs.Config != "" {
		places = append(places, d.live.Dirs.ConfigFile()) // it may hold a token; its directory may be the user's own
	}
	for _, p := range places {
		if p != "" && d.env.GOOS != "windows" {
			d.open(check, p)
		}
	}
	d.unwritable(check)
	if free := d.live.DiskFree; free >= 0 && free < 100<<20 {
		d.report(Finding{Check: check, Status: Fail, Path: d.live.Dirs.Data, Detail: fmt.Sprintf("%d MiB are free on the disk", free>>20), Fix: "make room on that disk"}, nil)
	}
	if log := d.live.LogBytes; log > 64<<20 { // several times what is left of it when nobody else reads
		d.report(Finding{Check: check, Status: Warn, Path: d.live.Dirs.Database() + "-wal", Detail: fmt.Sprintf("the database's log has grown to %d MiB, since another program keeps reading the database", log>>20), Fix: "close the program that has it open; the log shrinks by itself"}, nil)
	}
}

// unwritable finds the directories in which nothing can be kept; hooks that run into them stay quiet.
func (d *doctor) unwritable(check string) {
	told := ""
	for _, dir := range []string{d.live.Dirs.State, d.live.Dirs.Outbox(), d.live.Dirs.Sessions(), d.live.Dirs.Data, d.live.Dirs.Run} {
		if !filepath.IsAbs(dir) {
			continue
		}
		info, err := os.Stat(dir)
		for err != nil && filepath.Dir(dir) != dir && !errors.Is(err, fs.ErrPermission) { // it is made when it is needed
			dir = filepath.Dir(dir)
			info, err = os.Stat(dir)
		}
		switch {
		case dir == told:
			continue
		case err == nil && !info.IsDir():
			err = errors.New("it is no directory")
		case err == nil:
			err = mayWrite(dir)
		}
		if err == nil {
			continue
		}
		told = dir
		fix := "move it away: " + quote(dir, d.env.GOOS)
		if info == nil || info.IsDir() {
			fix = "sudo chown -R \"$USER\" " + quote(dir, d.env.GOOS) + ", or set KIRO_LEARN_HOME to a directory of your own"
			if info != nil && !foreign(info, os.Geteuid()) {
				fix = "chmod u+rwx " + quote(dir, d.env.GOOS)
			}
		}
		d.report(Finding{Check: check, Status: Fail, Path: dir, Detail: "nothing can be written in " + dir + ", so what Kiro does is lost: " + err.Error(), Fix: fix}, nil)
	}
}

// open finds what others can read below one of our directories; one finding a directory is enough.
func (d *doctor) open(check, dir string) {
	var wide []string
	count := 0
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		if count++; count > 100_000 {
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			wide = append(wide, path)
		}
		return nil
	})
	if len(wide) == 0 {
		return
	}
	d.report(Finding{Check: check, Status: Fail, Path: wide[0], Detail: fmt.Sprintf("others may use %s of yours in %s", numbered(len(wide), "file or directory", "files or directories"), dir)}, func() error {
		for _, path := range wide {
			info, err := os.Lstat(path)
			if err != nil {
				continue // gone since
			}
			if err := os.Chmod(path, info.Mode().Perm()&0o700); err != nil {
				return err
			}
		}
		return nil
	})
}
