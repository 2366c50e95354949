package collector

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kiro-learn/collector/store"
)

const (
	staleFiles = 8                     // files of a record that are looked at
	staleTime  = 20 * time.Millisecond // for all records; a disk that takes longer is not asked
	staleSlack = 2 * time.Second       // within which a change still belongs to what the record tells
)

// staleIn tells which records speak only of files of the project that are gone or were changed after what the record
// tells. Where a disk does not answer in time, none is said to.
func staleIn(root string, records []store.Stored) []bool {
	if root == "" || !filepath.IsAbs(root) {
		return nil
	}
	done := make(chan []bool, 1)
	go func() {
		out := make([]bool, len(records))
		for i := range records {
			out[i] = stale(root, &records[i])
		}
		done <- out
	}()
	select {
	case out := <-done:
		return out
	case <-time.After(staleTime):
		return nil
	}
}

// stale looks at files inside the project only, whatever a record names. A file whose directory is not there either says
// nothing: it may be of another machine, or of another branch.
func stale(root string, r *store.Stored) bool {
	known := false
	for _, name := range r.FilesTouched[:min(len(r.FilesTouched), staleFiles)] {
		path, ok := inside(root, name)
		if !ok {
			continue
		}
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if dir, err := os.Lstat(filepath.Dir(path)); err != nil || !dir.IsDir() {
				continue
			}
		case err != nil || info.IsDir():
			continue
		case !info.ModTime().After(r.Created.Add(staleSlack)):
			return false
		}
		known = true
	}
	return known
}

// inside is the place of a file in the project; ok is false for one that lies elsewhere.
func inside(root, name string) (path string, ok bool) {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return "", false
		}
		name = rel
	}
	if strings.ContainsRune(name, 0) || !filepath.IsLocal(name) {
		return "", false
	}
	return filepath.Join(root, name), true
}

// staleRecord tells whether a record speaks only of files that are gone or changed since.
func (c *Collector) staleRecord(r store.Stored) bool {
	got := staleIn(c.store.ProjectPath(r.Namespace), []store.Stored{r})
	return len(got) == 1 && got[0]
}
