// Package project says whose memory a directory belongs to. It looks at the directory and its ancestors only: it runs
// no program, reads no setting, and does not care where the process itself stands.
//
// The nearest ancestor with a .kiro directory is the project's root; else the top of the git repository; else the
// nearest ancestor with a language's marker file. The home directory, the root of the file system and the directory
// for temporary files are nobody's project and end the search. Directories without a project share one unscoped
// bucket. A directory that has vanished keeps the identity that it had.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// unscopedName is hashed for the id of everything that belongs to no project. It is no absolute path, so no project
// can have the same id.
const unscopedName = "unscoped"

// pathMax is the longest path that is looked at, in bytes. Nobody works in a longer one, and climbing it would take long.
const pathMax = 4096

// Project is the identity of a project, or of the unscoped bucket.
type Project struct {
	ID     string // 64 hex digits: the SHA-256 of Root, or of a fixed word when unscoped
	Root   string // absolute, links resolved, spelled as on disk; "" when unscoped. It may have vanished
	Scoped bool   // false for the bucket that directories without a project share
}

// Resolver knows the places that a search depends on. Its fields may be empty.
type Resolver struct {
	Home   string                 // the user's home directory; without it, the .kiro there looks like any project's
	Temp   string                 // the directory for temporary files, usually os.TempDir()
	Memory string                 // directory of remembered identities, made when first needed
	Look   bool                   // nothing is noted in Memory, only looked up: what a reader must do
	Secret func(root string) bool // tells a root that must not be written down; nil means none
}

// IDOf is the project id of a resolved root; that of the unscoped bucket for "".
func IDOf(root string) string {
	if root == "" {
		root = unscopedName
	}
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:])
}

func of(root string) Project { return Project{ID: IDOf(root), Root: root, Scoped: root != ""} }

// Resolve gives the project of dir. A file stands for its directory. A path that is not absolute is nobody's, since
// only the process's own directory could complete it. Resolve never fails: what cannot be read counts as absent.
func (r Resolver) Resolve(dir string) Project {
	dir = strings.TrimPrefix(dir, `\\?\`)
	if !filepath.IsAbs(dir) || len(dir) > pathMax || strings.ContainsRune(dir, 0) {
		return of("")
	}
	given := filepath.Clean(dir)
	start, err := existing(dir)
	if err != nil {
		return r.vanished(given)
	}
	root := r.search(start)
	r.remember(root, given, start)
	return of(root)
}

// existing gives the resolved directory that dir means. Only a directory that is not there is an error; one that may
// not be looked at is taken as it is spelled.
func existing(dir string) (string, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return "", fs.ErrNotExist
	case err != nil:
		return filepath.Clean(dir), nil
	}
	if info, err := os.Stat(resolved); err == nil && !info.IsDir() {
		resolved = filepath.Dir(resolved)
	}
	return onDisk(resolved), nil
}

// search climbs from start, which is resolved, and gives the project's root or "".
func (r Resolver) search(start string) string {
	nobodys := r.nobodys()
	git := ""
	for dir := start; !isNobodys(dir, nobodys); dir = filepath.Dir(dir) {
		if isDir(filepath.Join(dir, ".kiro")) {
			return dir
		}
		if git == "" && isTop(dir) {
			git = dir
		}
	}
	if git != "" {
		return r.repository(git, nobodys)
	}
	for _, is := range [...]func(string) bool{isBare, hasMarker} {
		for dir := start; !isNobodys(dir, nobodys); dir = filepath.Dir(dir) {
			if is(dir) {
				return dir
			}
		}
	}
	return ""
}

// repository gives the root of the project that a git top belongs to. The top of a linked worktree's main repository
// lies elsewhere, where a .kiro directory above it counts as it would for the main repository itself.
func (r Resolver) repository(git string, nobodys []string) string {
	main := mainTop(git)
	if main == git || isNobodys(main, nobodys) {
		return git
	}
	for dir := main; !isNobodys(dir, nobodys); dir = filepath.Dir(dir) {
		if isDir(filepath.Join(dir, ".kiro")) {
			return dir
		}
	}
	return main
}

// nobodys lists the resolved directories that are no project and end a search. The root of the file system is known
// without being listed.
func (r Resolver) nobodys() []string {
	places := []string{r.Home, r.Temp}
	if runtime.GOOS != "windows" {
		places = append(places, "/tmp", "/var/tmp") // TMPDIR may name another one, but these stay what they are
	}
	list := make([]string, 0, len(places))
	for i, p := range places {
		if !filepath.IsAbs(p) || slices.Contains(places[:i], p) {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(p); err == nil {
			p = onDisk(resolved)
		}
		list = append(list, filepath.Clean(p))
	}
	return list
}

func isNobodys(dir string, nobodys []string) bool {
	if filepath.Dir(dir) == dir {
		return true
	}
	return slices.Contains(nobodys, dir)
}

// hasMarker reports whether dir holds a file that languages put at the root of a project.
func hasMarker(dir string) bool {
	for _, name := range [...]string{
		"package.json", "Cargo.toml", "pyproject.toml", "setup.py", "go.mod", "pom.xml", "build.gradle",
		"build.gradle.kts", "Gemfile", "composer.json", "mix.exs", "deno.json", "deno.jsonc",
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
