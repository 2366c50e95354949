// Package atomicfile replaces a file so that every reader, and a power cut, finds either the whole old content or the
// whole new one. A symbolic link stays a link and its target is replaced; mode and, where the system allows it, owner
// are kept.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write replaces the content of name, or makes the file with mode perm where there is none. The directory must exist.
func Write(name string, data []byte, perm fs.FileMode) error {
	return write(name, data, perm, true, nil)
}

// Replace is Write of a file that others write too: still is asked when all is ready, just before the new content takes
// the place of the old, and an error of it leaves everything as it is.
func Replace(name string, data []byte, perm fs.FileMode, still func() error) error {
	return write(name, data, perm, true, still)
}

// WriteUnsynced is Write without waiting for the disk: readers never see half a file, but a power cut may lose it or
// leave it empty. It is for small state whose loss costs nothing, written where milliseconds count.
func WriteUnsynced(name string, data []byte, perm fs.FileMode) error {
	return write(name, data, perm, false, nil)
}

// RemoveLeftovers removes the half-written files that killed writers of name left. Nobody may be writing it.
func RemoveLeftovers(name string) {
	target, err := Target(name)
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(filepath.Dir(target))
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), tempPrefix(target))
		if ours && number != "" && strings.Trim(number, "0123456789") == "" && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(filepath.Dir(target), e.Name()))
		}
	}
}

// tempPrefix begins the names of files that are to become target; a number follows.
func tempPrefix(target string) string { return "." + filepath.Base(target) + ".tmp" }

func write(name string, data []byte, perm fs.FileMode, sync bool, still func() error) (err error) {
	target, err := Target(name)
	if err != nil {
		return err
	}
	old, statErr := os.Stat(target)
	if statErr == nil {
		if !old.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", target)
		}
		perm = old.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(target), tempPrefix(target)+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(perm); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if statErr == nil {
		keepOwner(f, old)
	}
	if sync {
		if err = f.Sync(); err != nil {
			return err
		}
	}
	if err = f.Close(); err != nil {
		return err
	}
	if still != nil {
		if err = still(); err != nil {
			return err
		}
	}
	if err = Rename(f.Name(), target); err != nil {
		return err
	}
	if sync {
		syncDir(filepath.Dir(target))
	}
	return nil
}

// Target follows the links of name to the file that they mean, which need not exist.
func Target(name string) (string, error) {
	for range 40 {
		info, err := os.Lstat(name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return name, nil
			}
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		next, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(name), next)
		}
		name = next
	}
	return "", fmt.Errorf("%s: too many links", name)
}
