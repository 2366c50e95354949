package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Program says where the program stands, and which path hooks are to name: one that survives upgrades.
type Program struct {
	Path    string `json:"path"`              // absolute; what hooks name
	CopyTo  string `json:"copy_to,omitempty"` // Path, when the program has to be copied there first; else empty
	Source  string `json:"source"`            // what is copied
	OnPath  bool   `json:"on_path"`           // the bare name finds this program, so files that a team shares can use it
	Warning string `json:"warning,omitempty"` // empty, or why the path may not last
}

// A spelling is the program as files name it.
type spelling struct {
	shell string // in a line that a shell reads
	plain string // where no shell comes between
}

// spelling is how the files of a scope name the program: those of a project by its name alone, since a team shares them.
func (env Env) spelling(p Program, project bool) spelling {
	if project {
		return spelling{programName, programName}
	}
	return spelling{env.shellPath(p), p.Path}
}

// findProgram chooses the path, and says so where there is no good one. A package manager's link on PATH goes before the versioned directory behind it. A
// build in a temporary place, or under another name, is copied to the user's own bin directory.
func findProgram(env Env) Program {
	p := env.lastingProgram()
	if p.Warning == "" && env.GOOS == "windows" && strings.Contains(env.shellPath(p), `"`) {
		p.Warning = p.Path + " cannot be named in a way that cmd and PowerShell both take: put the program into a directory without blanks and signs, and install again"
	}
	return p
}

func (env Env) lastingProgram() Program {
	exe := env.Executable
	p := Program{Path: exe, Source: exe}
	onPath, err := env.LookPath(programName)
	if err == nil && filepath.IsAbs(onPath) && sameFile(onPath, exe) {
		p.Path, p.OnPath = onPath, true
		return p
	}
	if unstable(exe, env) || env.unspeakable(exe) {
		p.Path = env.binFile()
		p.CopyTo = p.Path
		p.OnPath = slices.Contains(filepath.SplitList(env.Getenv("PATH")), filepath.Dir(p.Path))
		return p
	}
	if versioned(exe) {
		for _, dir := range env.linkDirs() {
			if link := filepath.Join(dir, filepath.Base(exe)); link != exe && sameFile(link, exe) {
				p.Path = link
				return p
			}
		}
		if link := beside(exe); link != "" {
			p.Path = link
			return p
		}
		p.Warning = exe + " names a version, so hooks may break with the next upgrade: put a link to it on PATH and install again"
	}
	return p
}

// sameFile tells whether two paths are one file, links followed.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// unstable is a place from which a program soon goes: go run's build, a download, macOS's quarantine, or a file that is
// not called kiro-learn, whose entries could not be told from others'.
func unstable(exe string, env Env) bool {
	if !isOurProgram(exe) {
		return true
	}
	parts := pathParts(exe)
	for _, p := range parts[:max(len(parts)-1, 0)] {
		if strings.HasPrefix(p, "go-build") || p == "AppTranslocation" {
			return true
		}
	}
	return env.Home != "" && filepath.Dir(exe) == filepath.Join(env.Home, "Downloads")
}

// beside finds a name for exe that goes through a link next to a versioned directory, as "latest" and "current" are.
func beside(exe string) string {
	rest := filepath.Base(exe)
	for dir := filepath.Dir(exe); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		parent, name := filepath.Split(dir)
		if looksLikeVersion(name) {
			entries, _ := os.ReadDir(parent)
			for _, e := range entries {
				link := filepath.Join(parent, e.Name(), rest)
				if e.Name() != name && !looksLikeVersion(e.Name()) && sameFile(link, exe) {
					return link
				}
			}
		}
		rest = filepath.Join(name, rest)
	}
	return ""
}

// unspeakable is a path that cmd, PowerShell and bash cannot all be told, where the user's own place is one that they can.
func (env Env) unspeakable(exe string) bool {
	return env.GOOS == "windows" && strings.Contains(shortPath(exe), " ") && !strings.Contains(env.binFile(), " ")
}

// versioned tells whether a directory on the way to exe names a version, as those of package managers do.
func versioned(exe string) bool {
	parts := pathParts(exe)
	return slices.ContainsFunc(parts[:max(len(parts)-1, 0)], func(p string) bool {
		return p == "Cellar" || p == "Caskroom" || looksLikeVersion(p)
	}) || strings.HasPrefix(exe, "/nix/store/")
}

// looksLikeVersion accepts 1.2.3, v1.2, kiro-learn-1.2.3 and tool@1.2.3.
func looksLikeVersion(s string) bool {
	if i := strings.LastIndexAny(s, "-@_"); i >= 0 {
		s = s[i+1:]
	}
	s = strings.TrimPrefix(s, "v")
	major, rest, ok := strings.Cut(s, ".")
	return ok && digits(major) && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func pathParts(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
}

// binFile is the program's place for one user.
func (env Env) binFile() string {
	if env.GOOS == "windows" {
		dir := env.Getenv("LOCALAPPDATA")
		if dir == "" {
			dir = filepath.Join(env.Home, "AppData", "Local")
		}
		return filepath.Join(dir, "Programs", programName, programName+".exe")
	}
	return filepath.Join(env.Home, ".local", "bin", programName)
}

// linkDirs are where package managers put the links that stay.
func (env Env) linkDirs() []string {
	return []string{
		filepath.Join(env.Home, ".local", "bin"), filepath.Join(env.Home, "bin"), filepath.Join(env.Home, "go", "bin"),
		"/opt/homebrew/bin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin",
		filepath.Join(env.Home, ".nix-profile", "bin"), "/run/current-system/sw/bin",
	}
}

// shellPath is the program as a shell of the user's system spells it.
func (env Env) shellPath(p Program) string {
	path := p.Path
	if env.GOOS == "windows" && strings.Contains(path, " ") && p.CopyTo == "" {
		path = shortPath(path) // cmd, PowerShell and bash agree on no way to quote a blank
	}
	return quote(path, env.GOOS)
}
