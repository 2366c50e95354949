package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kiro-learn/internal/atomicfile"
)

// memory is what install remembers so that uninstall can give every byte back: install.json in the state directory.
// Losing it costs little: entries are recognised without it, and only empty containers that were there before us go.
type memory struct {
	Version  int                    `json:"version"`
	Files    map[string]*fileMemory `json:"files"`
	Dirs     []string               `json:"dirs,omitempty"`     // that we made, outermost first
	Parents  []string               `json:"parents,omitempty"`  // of our own directories, that we made, outermost first
	Projects []string               `json:"projects,omitempty"` // roots where something of ours stands
	Program  string                 `json:"program,omitempty"`  // the copy of the program that we made
}

type fileMemory struct {
	Created bool   `json:"created,omitempty"` // there was no file
	Before  before `json:"before,omitempty"`
	Backup  string `json:"backup,omitempty"` // base name in the backups directory
	unknown bool   // nothing is remembered of the file
}

func memoryFile(env Env) string { return filepath.Join(env.StateDir, "install.json") }

// Remembers tells whether a file of the state directory is one that uninstall needs.
func Remembers(name string) bool { return name == "install.json" || name == "backups" }

// RemoveParents removes what install had to make above our own directories, as far as it is empty. The memory is read at
// once; what is returned is called when our own directories are gone.
func RemoveParents(env Env) func() {
	parents := loadMemory(env).Parents
	return func() {
		for _, d := range slices.Backward(parents) {
			_ = os.Remove(d) // stays where something else is in it
		}
	}
}

// makePlaces makes our own directories, and gives those above them that were missing.
func makePlaces(env Env) (parents []string) {
	for _, dir := range []string{env.StateDir, env.DataDir} {
		if dir == "" {
			continue
		}
		m := memory{}
		if m.makeDirs(dir) == nil { // whoever needs it will say why it cannot be made
			parents = append(parents, slices.DeleteFunc(m.Dirs, func(d string) bool { return d == dir })...)
		}
	}
	return parents
}

// loadMemory never fails: what cannot be read is as good as forgotten.
func loadMemory(env Env) *memory {
	m := &memory{}
	if b, err := os.ReadFile(memoryFile(env)); err == nil && json.Unmarshal(b, m) != nil {
		*m = memory{}
	}
	m.Version = 1
	if m.Files == nil {
		m.Files = map[string]*fileMemory{}
	}
	for k, f := range m.Files {
		if f == nil {
			delete(m.Files, k)
		}
	}
	return m
}

func (m *memory) file(path string) *fileMemory {
	if f := m.Files[path]; f != nil {
		return f
	}
	return &fileMemory{unknown: true}
}

func (m *memory) addProject(root string) {
	if root != "" && !slices.Contains(m.Projects, root) {
		m.Projects = append(m.Projects, root)
	}
}

// save writes the memory, or removes it when there is nothing left to remember.
func (m *memory) save(env Env) error {
	if len(m.Files) == 0 && len(m.Projects) == 0 && m.Program == "" && len(m.Dirs) == 0 && len(m.Parents) == 0 {
		if err := os.Remove(memoryFile(env)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(env.StateDir, 0o700); err != nil {
		return fmt.Errorf("remembering what was installed: %w", err)
	}
	if old, err := os.ReadFile(memoryFile(env)); err == nil && string(old) == string(b)+"\n" {
		return nil
	}
	if err := atomicfile.Write(memoryFile(env), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("remembering what was installed: %w", err)
	}
	return nil
}
