package project

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// gitFileMax bounds what is read of a .git or commondir file; git's own hold one path.
const gitFileMax = 8 << 10

// isTop reports whether dir is the top of a git working tree. A .git file counts when it has git's form, even when the
// place that it names is out of reach, as in a container that holds the worktree alone.
func isTop(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil && (info.IsDir() || gitDir(dir) != "")
}

// isBare reports whether dir is laid out as a git repository without a working tree. That is only asked where no
// ancestor has a .git, so that a bare repository among a project's test data belongs to the project.
func isBare(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil && info.Mode().IsRegular() && isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs"))
}

// gitDir gives the directory that the .git file of top names, "" when there is no such file or it has another form.
func gitDir(top string) string {
	named, ok := strings.CutPrefix(readLine(filepath.Join(top, ".git")), "gitdir:")
	if named = strings.TrimSpace(named); !ok || named == "" {
		return ""
	}
	return under(top, named)
}

// mainTop gives the top of the repository that top's working tree belongs to: another one for a linked worktree, top
// itself for everything else. A submodule is its own project, since it is a repository of its own.
func mainTop(top string) string {
	dir := gitDir(top)
	if dir == "" {
		return top
	}
	common := readLine(filepath.Join(dir, "commondir"))
	if common != "" {
		common = under(dir, common)
	} else if common = prunedCommon(dir); common == "" {
		return top // a submodule, or a repository whose .git was put elsewhere
	}
	resolved, err := existing(common)
	if err != nil || !isDir(resolved) {
		return top
	}
	if filepath.Base(resolved) == ".git" {
		return filepath.Dir(resolved)
	}
	if work := coreWorktree(resolved); work != "" { // a worktree of a submodule
		if resolvedWork, err := existing(work); err == nil && isDir(resolvedWork) {
			return resolvedWork
		}
	}
	if parent := filepath.Dir(resolved); gitDir(parent) == resolved { // a bare repository kept beside its worktrees
		return parent
	}
	return resolved
}

// prunedCommon gives the repository of a linked worktree whose own entry there is gone, read from where that entry was.
func prunedCommon(dir string) string {
	worktrees := filepath.Dir(dir)
	if isDir(dir) || filepath.Base(worktrees) != "worktrees" {
		return ""
	}
	return filepath.Dir(worktrees)
}

// coreWorktree reads core.worktree from the config of the repository at dir, "" if it has none.
func coreWorktree(dir string) string {
	f, err := os.Open(filepath.Join(dir, "config"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	core := false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(strings.TrimSpace(strings.Trim(line, "[]")), "core")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if value = strings.Trim(strings.TrimSpace(value), `"`); core && ok && value != "" && strings.EqualFold(strings.TrimSpace(key), "worktree") {
			return under(dir, value)
		}
	}
	return ""
}

// under completes a path that was written in a file of base.
func under(base, name string) string {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(base, name)
	}
	return filepath.Clean(name)
}

// readLine gives the first line of a small regular file, "" for anything else.
func readLine(name string) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > gitFileMax {
		return ""
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r")
}
