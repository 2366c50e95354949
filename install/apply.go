package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kiro-learn/internal/atomicfile"
)

// A Result says what Apply did.
type Result struct {
	Done     []Change  `json:"done"`
	Failed   []Refusal `json:"failed"` // the plan's refusals and what went wrong since
	Leftover []string  `json:"leftover"`
}

// Err is nil when every file of the plan was dealt with.
func (r Result) Err() error {
	if len(r.Failed) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d files were left as they were; the first: %w", len(r.Failed), len(r.Failed)+len(r.Done), r.Failed[0])
}

// Apply writes the plan, alone among all who install for this user. A file that fails does not keep the others from
// being written. A file that another program has changed since the plan was made is planned again from what it holds now.
func (p *Plan) Apply(env Env) Result {
	res := Result{Failed: slices.Clone(p.Refusals)}
	if _, err := os.Stat(memoryFile(env)); err != nil && p.Empty() && p.project == "" {
		return res // there is nothing to do, and nothing to be forgotten
	}
	var parents []string
	if !p.uninstall {
		parents = makePlaces(env)
	}
	unlock, err := lock(env)
	if err != nil {
		res.Failed = append(res.Failed, refusal(env.StateDir, err, p.uninstall))
		return res
	}
	defer unlock()
	m := loadMemory(env)
	p.sweep(env)
	m.Parents = append(m.Parents, parents...)
	if p.project != "" {
		m.addProject(p.project)
	}
	for _, c := range p.Changes {
		done, err := applyChange(env, m, c)
		if err != nil {
			res.Failed = append(res.Failed, refusal(c.Path, err, p.uninstall))
			if p.uninstall {
				p.keeps = true
			}
			continue
		}
		if done {
			res.Done = append(res.Done, c)
		}
	}
	if p.uninstall {
		p.finish(env, m, &res)
	}
	if err := m.save(env); err != nil {
		res.Failed = append(res.Failed, refusal(memoryFile(env), err, p.uninstall))
	}
	return res
}

// sweep removes what earlier runs left half-written when they were killed.
func (p *Plan) sweep(env Env) {
	for _, files := range [][]string{p.Unchanged, p.clear, {memoryFile(env)}} {
		for _, path := range files {
			atomicfile.RemoveLeftovers(path)
		}
	}
	for _, c := range p.Changes {
		atomicfile.RemoveLeftovers(c.Path)
	}
}

// applyChange writes one file and tells whether there was anything to write.
func applyChange(env Env, m *memory, c Change) (bool, error) {
	if c.Action == Copy {
		return true, copyProgram(env, m, c)
	}
	if c.redo == nil {
		return true, removeProgram(m, c)
	}
	was := *m.file(c.Path) // not what a try that was overtaken remembered
	for range 5 {
		old, exists, err := current(c.Path)
		if err != nil {
			return false, err
		}
		out, err := c.redo(old, exists, was)
		if err != nil {
			return false, err
		}
		if (out.gone && !exists) || (exists && !out.gone && string(old) == string(out.after)) {
			return false, nil
		}
		if err := writable(c.Path, exists); err != nil {
			return false, err
		}
		if out.memory != nil {
			if err := remember(env, m, c.Path, old, exists, *out.memory); err != nil {
				return false, err
			}
		}
		if err := commit(env, m, c.Path, out, func() error { return unchanged(c.Path, old, exists) }); !errors.Is(err, errChanged) {
			return true, err
		}
	}
	return false, errors.New("another program keeps writing it")
}

var errChanged = errors.New("was changed meanwhile")

// unchanged is errChanged where a file is not what it was when it was read.
func unchanged(path string, old []byte, existed bool) error {
	if now, exists, err := current(path); err != nil || exists != existed || string(now) != string(old) {
		return errChanged
	}
	return nil
}

// remember saves what uninstall needs before the file is written, so that a crash between the two loses nothing. What
// an uninstall no longer needs is forgotten only afterwards, in commit.
func remember(env Env, m *memory, path string, old []byte, exists bool, f fileMemory) (err error) {
	if f.Backup, err = keepBackup(env, m, path, old, exists); err != nil {
		return err
	}
	m.Files[path] = &f
	return m.save(env)
}

// commit writes one file, or removes it, unless still finds at the last moment that it must not.
func commit(env Env, m *memory, path string, out outcome, still func() error) error {
	if out.gone {
		if err := still(); err != nil {
			return err
		}
		target, err := atomicfile.Target(path)
		if err != nil {
			return err
		}
		if err := os.Remove(target); err != nil {
			return err
		}
		if target != path {
			_ = os.Remove(path) // the link that led to it
		}
	} else {
		if err := m.makeDirs(filepath.Dir(path)); err != nil {
			return err
		}
		if err := atomicfile.Replace(path, out.after, 0o600, still); err != nil {
			return err
		}
	}
	if out.memory == nil {
		m.forget(env, path)
	}
	return nil
}

func (m *memory) forget(env Env, path string) {
	if f := m.Files[path]; f != nil && f.Backup != "" {
		_ = os.Remove(filepath.Join(env.StateDir, "backups", f.Backup))
	}
	delete(m.Files, path)
}

// makeDirs makes a directory and remembers which of the way to it are ours.
func (m *memory) makeDirs(dir string) error {
	var missing []string
	for d := dir; !isDir(d); d = filepath.Dir(d) {
		missing = append(missing, d)
		if d == filepath.Dir(d) {
			break
		}
	}
	slices.Reverse(missing)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range missing {
		if !slices.Contains(m.Dirs, d) {
			m.Dirs = append(m.Dirs, d)
		}
	}
	return nil
}

// keepBackup puts the file as it was before we first touched it beside the memory, for a person to fall back on.
func keepBackup(env Env, m *memory, path string, old []byte, exists bool) (string, error) {
	f := m.file(path)
	if !exists || f.Backup != "" {
		return f.Backup, nil
	}
	sum := sha256.Sum256([]byte(path))
	name := hex.EncodeToString(sum[:6]) + "-" + filepath.Base(path)
	dir := filepath.Join(env.StateDir, "backups")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keeping a backup: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, name), old, 0o600); err != nil {
		return "", fmt.Errorf("keeping a backup: %w", err)
	}
	return name, nil
}

// finish ends an uninstall: directories that we made and that are empty go, and projects that are clean are forgotten.
func (p *Plan) finish(env Env, m *memory, res *Result) {
	for _, path := range p.clear {
		m.forget(env, path)
	}
	for i := len(m.Dirs) - 1; i >= 0; i-- {
		if err := os.Remove(m.Dirs[i]); err == nil || errors.Is(err, fs.ErrNotExist) || !p.keeps && !p.partial {
			m.Dirs = slices.Delete(m.Dirs, i, i+1) // one that others use by now is theirs
		}
	}
	if !p.keeps {
		m.Projects = slices.DeleteFunc(m.Projects, func(r string) bool { return slices.Contains(p.forget, r) })
	}
	_ = os.Remove(filepath.Join(env.StateDir, "backups")) // only when it is empty
	for _, r := range res.Failed {
		res.Leftover = append(res.Leftover, r.Path)
	}
}

func copyProgram(env Env, m *memory, c Change) error {
	b, err := os.ReadFile(c.source)
	if err != nil {
		return err
	}
	_, statErr := os.Lstat(c.Path)
	if err := m.makeDirs(filepath.Dir(c.Path)); err != nil {
		return err
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		m.Program = c.Path
		if err := m.save(env); err != nil {
			return err
		}
	}
	return atomicfile.Write(c.Path, b, 0o755)
}

func removeProgram(m *memory, c Change) error {
	if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		if strings.EqualFold(filepath.Ext(c.Path), ".exe") {
			return fmt.Errorf("cannot be removed while it runs: %w", err)
		}
		return err
	}
	m.Program = ""
	return nil
}
