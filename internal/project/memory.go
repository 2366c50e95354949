package project

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"kiro-learn/internal/atomicfile"
)

// Bounds of the remembered identities.
const (
	rememberMax = 4096    // entries that Prune is asked to keep when the resolver itself tidies up
	rootMax     = 8 << 10 // longest remembered root, in bytes
)

// remember notes the root for each spelling of a directory, so that it is known when the directory has vanished. The
// usual case is one read that finds the note already there. Unscoped directories are forgotten, not noted.
func (r Resolver) remember(root, given, resolved string) {
	if r.Memory == "" || r.Look || root != "" && r.Secret != nil && r.Secret(root) {
		return
	}
	switch known := r.recall(given); {
	case known == root:
		return
	case root == "":
		_ = os.Remove(r.note(given))
		return
	}
	if r.Secret != nil && r.Secret(root) || os.MkdirAll(r.Memory, 0o700) != nil {
		return
	}
	spellings := []string{given, resolved, root}
	for i, s := range spellings {
		if i > 0 && (s == spellings[i-1] || r.recall(s) == root) {
			continue
		}
		_ = atomicfile.WriteUnsynced(r.note(s), []byte(root), 0o600) // losing it costs the name of a vanished directory
	}
	if strings.HasPrefix(filepath.Base(r.note(given)), "00") { // one new directory in 256 pays for tidying up
		r.Prune(rememberMax)
	}
}

// recall gives the root that was noted for a directory, "" if none was.
func (r Resolver) recall(dir string) string {
	b, err := os.ReadFile(r.note(dir))
	if err != nil || len(b) > rootMax || !filepath.IsAbs(string(b)) {
		return ""
	}
	return string(b)
}

// note is the file that holds the root of dir. Its name is a hash, never a piece of a path.
func (r Resolver) note(dir string) string { return filepath.Join(r.Memory, IDOf(dir)) }

// vanished gives the identity of a directory that is not there: what was noted for it or for an ancestor that has
// vanished with it, else the project of the nearest ancestor that is still there.
func (r Resolver) vanished(given string) Project {
	for dir, rest := given, ""; ; {
		if real, err := existing(dir); err == nil {
			if root := r.recallUnder(real, rest); root != "" {
				return of(root)
			}
			return of(r.search(real))
		}
		if r.Memory != "" {
			if root := r.recall(dir); root != "" {
				return of(root)
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return of("")
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = parent
	}
}

// recallUnder looks for what was noted under the resolved spelling of a vanished directory: rest below real.
func (r Resolver) recallUnder(real, rest string) string {
	if r.Memory == "" {
		return ""
	}
	for ; rest != "" && rest != "."; rest = filepath.Dir(rest) {
		if root := r.recall(filepath.Join(real, rest)); root != "" {
			return root
		}
	}
	return ""
}

// Prune forgets the identities that were noted longest ago until keep are left, and gives how many it forgot. A
// directory that still exists is noted again when it is next used. Call it where time does not matter.
func (r Resolver) Prune(keep int) (forgotten int) {
	if r.Memory == "" {
		return 0
	}
	entries, err := os.ReadDir(r.Memory)
	if err != nil || len(entries) <= keep {
		return 0
	}
	type note struct {
		name string
		at   time.Time
	}
	notes := make([]note, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			notes = append(notes, note{e.Name(), info.ModTime()})
		}
	}
	sort.Slice(notes, func(i, j int) bool { return notes[i].at.Before(notes[j].at) })
	for len(notes)-forgotten > keep {
		if os.Remove(filepath.Join(r.Memory, notes[forgotten].name)) != nil {
			return forgotten
		}
		forgotten++
	}
	return forgotten
}
