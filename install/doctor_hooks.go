package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hooks looks at hook files, which engine v3 and IDE 1 run.
func (d *doctor) hooks(check string) {
	user := filepath.Join(d.env.userDir(), "hooks", programName+".json")
	project := ""
	if d.env.Project != "" && d.env.Project != d.env.Home {
		project = filepath.Join(d.env.projectDir(), "hooks", programName+".json")
	}
	inUser, inProject := d.hookFile(check, user, viaUser), false
	if project != "" {
		if _, err := os.Lstat(project); err == nil {
			inProject = d.hookFile(check, project, viaProject)
		}
	}
	switch {
	case inUser && inProject:
		d.report(Finding{
			Check: check, Status: Warn, Path: project, Detail: "the user's and the project's hooks both fire here; each event is stored once, and costs twice",
			Fix: "kiro-learn uninstall --project, unless your team needs it",
		}, nil)
	case !inUser && !inProject:
		if _, err := os.Lstat(user); err != nil {
			d.report(Finding{Check: check, Status: Fail, Path: user, Detail: "there is no hook file, so Kiro CLI 3 and IDE 1 remember nothing", Fix: "kiro-learn install"}, d.file(user, "hooks of Kiro CLI 3 and IDE 1", d.wantedHooks(viaUser)))
		}
	}
	for _, dir := range d.env.kiroDirs() {
		eachFile(filepath.Join(dir, "hooks"), ".json", func(path string) {
			if path != user && path != project {
				d.strayHooks(check, path)
			}
		})
	}
	if d.bad == 0 {
		d.ok(check, "", "the hook file is as it should be")
	}
}

func (d *doctor) wantedHooks(via string) redo {
	program := d.env.spelling(d.found.Program, via == viaProject).shell
	return shaped(v1Shape(program, via), v1File(program, via))
}

// hookFile looks at one kiro-learn.json and tells whether hooks of ours fire from it.
func (d *doctor) hookFile(check, path, via string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if info.Mode()&os.ModeSymlink != 0 {
		d.report(Finding{Check: check, Status: Fail, Path: path, Detail: "is a link, and Kiro skips hook files that are links", Fix: "remove the link and type: kiro-learn install"}, nil)
		return false
	}
	doc, err := readDocument(path)
	if err == nil {
		err = v1Fit(doc)
	}
	if err == nil && doc.find("hooks") != nil && doc.find("hooks").Value.Kind() != '[' {
		err = &syntaxError{0, "hooks is " + kindName(*doc.find("hooks")) + " where Kiro expects a list"}
	}
	if err != nil {
		d.report(Finding{Check: check, Status: Fail, Path: path, Detail: err.Error() + ", so Kiro does not load it", Fix: "mend or remove the file and type: kiro-learn install"}, nil)
		return false
	}
	return d.hookEntries(check, path, via, doc)
}

func (d *doctor) hookEntries(check, path, via string, doc *document) bool {
	mend := d.file(path, "hooks of Kiro CLI 3 and IDE 1", d.wantedHooks(via))
	bad := func(status Status, mend func() error, fix, format string, args ...any) {
		d.report(Finding{Check: check, Status: status, Path: path, Detail: fmt.Sprintf(format, args...), Fix: fix}, mend)
	}
	d.usersOwn(check, path, doc)
	seen := map[string]int{}
	for _, p := range v1Entries(doc) {
		seen[p.id]++
		if fault := v1HookFault(*p.value, p.id); fault != "" {
			bad(Fail, mend, "", "the hook of %s %s", p.id, fault)
		}
		l, _ := lit(v1Command(*p.value))
		c, _ := ParseCommand(l.String())
		d.programFault(Finding{Check: check, Path: path}, "the hook of "+p.id, c.Program, via == viaProject, mend)
		if triggerOf(c.Hook) != p.id && c.Hook != "" {
			bad(Fail, mend, "", "the hook of %s runs kiro-learn %s", p.id, c.Hook)
		}
		if e, ok := lit(memberOf(*p.value, "enabled")); ok && e.Kind() == 'f' {
			bad(Warn, nil, `set "enabled" to true in it, or in Kiro's hook panel`, "the hook of %s is switched off", p.id)
		}
	}
	for _, t := range v1Triggers() {
		switch n := seen[t[0]]; {
		case n == 0:
			bad(Fail, mend, "", "the hook of %s is missing", t[0])
		case n > 1:
			bad(Warn, mend, "", "the hook of %s stands there %d times", t[0], n)
		}
	}
	return len(seen) > 0
}

// strayHooks finds copies of ours in other hook files, as Kiro's "agent migrate" makes them.
func (d *doctor) strayHooks(check, path string) {
	doc, err := readDocument(path)
	if err != nil {
		if b, err := readFile(path); err == nil && strings.Contains(string(b), programName) {
			d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "does not parse, and names kiro-learn", Fix: "mend the file"}, nil)
		}
		return
	}
	d.usersOwn(check, path, doc)
	if n := len(v1Entries(doc)); n > 0 {
		d.report(Finding{Check: check, Status: Warn, Path: path, Detail: fmt.Sprintf("holds %d copies of kiro-learn's hooks, as Kiro's agent migrate makes them", n)},
			d.file(path, "copies of hooks", cleanHooks(path)))
	}
}

// ide looks at the hooks of IDE 0, which only it runs.
func (d *doctor) ide(check string) {
	old := major(d.found.IDE) == 0
	if d.env.Project == "" {
		d.ok(check, "", "no project here, so no hooks of Kiro IDE 0")
		return
	}
	have := 0
	for _, h := range ide0Hooks() {
		path := filepath.Join(d.env.projectDir(), "hooks", ide0FileName(h[0]))
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		have++
		d.ide0File(check, path, h[1])
	}
	switch {
	case old && have == 0:
		d.report(Finding{Check: check, Status: Fail, Detail: "this project has no hooks for Kiro IDE " + d.found.IDE, Fix: "kiro-learn install --surface ide0"}, nil)
	case old && have < len(ide0Hooks()):
		d.report(Finding{Check: check, Status: Fail, Detail: fmt.Sprintf("%d of %d hooks of Kiro IDE 0 are missing", len(ide0Hooks())-have, len(ide0Hooks())), Fix: "kiro-learn install --surface ide0"}, nil)
	case have > 0 && major(d.found.IDE) > 0:
		d.report(Finding{Check: check, Status: Warn, Detail: "Kiro IDE " + d.found.IDE + " may run the hooks of IDE 0 beside its own", Fix: "kiro-learn uninstall --project --surface ide0"}, nil)
	}
	if d.bad == 0 && have > 0 {
		d.ok(check, "", "Kiro IDE 0 has its hooks in this project")
	} else if d.bad == 0 {
		d.ok(check, "", "no Kiro IDE 0 here that would need hooks of its own")
	}
}

func (d *doctor) ide0File(check, path, event string) {
	doc, err := readDocument(path)
	if err != nil {
		d.report(Finding{Check: check, Status: Fail, Path: path, Detail: err.Error() + ", so Kiro does not load it", Fix: "remove the file and type: kiro-learn install --surface ide0"}, nil)
		return
	}
	_, command, ours := ide0Ours(doc)
	if !ours {
		d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "bears kiro-learn's name and runs something else", Fix: "rename the file and type: kiro-learn install --surface ide0"}, nil)
		return
	}
	program := d.env.spelling(d.found.Program, command.Program == programName).shell
	mend := d.file(path, event+" of Kiro IDE 0", func(old []byte, exists bool, m fileMemory) (outcome, error) {
		after, err := ide0Edit(old, event, program)
		return outcome{after: after, memory: &m}, err
	})
	d.programFault(Finding{Check: check, Path: path}, "the hook", command.Program, true, mend)
	if when, _ := lit(doc.find("when", "type")); when.String() != event {
		d.report(Finding{Check: check, Status: Fail, Path: path, Detail: "the hook fires at " + when.String() + " instead of " + event}, mend)
	}
	if e, ok := lit(doc.find("enabled")); ok && e.Kind() == 'f' {
		d.report(Finding{Check: check, Status: Warn, Path: path, Detail: "the hook is switched off", Fix: "switch it on in Kiro's hook panel"}, nil)
	}
}
