package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Found is what stands on this machine.
type Found struct {
	Kiro         bool     // some Kiro was here: a directory of it, or a program
	CLI          string   // version of kiro-cli such as "2.21.3", "" if there is none
	IDE          string   // version of the Kiro IDE, "" if there is none on PATH
	Engines      []string // of "v1", "v2", "v3": the agent engines that this CLI may run
	Program      Program
	Agents       []Agent // of the user, and of the project if there is one
	DefaultAgent string  // the setting chat.defaultAgent, "" when unset
	DefaultFile  string  // where that is set
	IDE0Files    bool    // the project holds .kiro.hook files
}

// Agent is one agent file.
type Agent struct {
	Name    string
	Path    string
	Project bool   // stands in the project, where it goes before a user's agent of the same name
	Link    string // what it links to, "" for a regular file
	Ours    int    // entries of ours in it
	Trouble string // why it cannot be read or edited, "" if it can
}

const (
	ownAgentName   = programName
	modelAgents    = programName + "-" // agents that our own model runs use begin so and are never hooked
	defaultSetting = "chat.defaultAgent"
)

// Detect looks around and changes nothing.
func Detect(env Env) Found {
	f := Found{Program: findProgram(env)}
	f.CLI = version(env, "kiro-cli")
	f.IDE = version(env, "kiro")
	f.Engines = engines(f.CLI)
	f.Kiro = f.CLI != "" || f.IDE != "" || isDir(env.userDir())
	f.Agents = agentsIn(filepath.Join(env.userDir(), "agents"), false)
	dirs := []string{env.userDir()}
	if env.Project != "" {
		f.Agents = append(f.Agents, agentsIn(filepath.Join(env.projectDir(), "agents"), true)...)
		dirs = append(dirs, env.projectDir())
		old, _ := filepath.Glob(filepath.Join(globQuote(env.projectDir()), "hooks", "*.kiro.hook"))
		f.IDE0Files = len(old) > 0
	}
	for _, dir := range dirs { // the project's setting, read last, wins
		file := filepath.Join(dir, "settings", "cli.json")
		if d, err := readDocument(file); err == nil {
			if l, ok := lit(d.find(defaultSetting)); ok && l.Kind() == '"' {
				f.DefaultAgent, f.DefaultFile = l.String(), file
			}
		}
	}
	return f
}

func (env Env) userDir() string    { return filepath.Join(env.Home, ".kiro") }
func (env Env) projectDir() string { return filepath.Join(env.Project, ".kiro") }

// version asks a program for its version; the first word that looks like one counts.
func version(env Env, program string) string {
	if _, err := env.LookPath(program); err != nil || env.Run == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := env.Run(ctx, program, "--version")
	if err != nil {
		return ""
	}
	for w := range strings.FieldsSeq(out) {
		w = strings.TrimPrefix(w, "v")
		if major, _, ok := strings.Cut(w, "."); ok && digits(major) && looksLikeVersion(w) {
			return w
		}
	}
	return ""
}

// major is the first number of a version, -1 for none.
func major(version string) int {
	head, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(head)
	if err != nil {
		return -1
	}
	return n
}

// engines are those that a launch of that CLI may use; without a CLI, none.
func engines(cli string) []string {
	switch m := major(cli); {
	case m < 0:
		return nil
	case m < 2:
		return []string{"v1"}
	case m == 2 && minor(cli) < 8:
		return []string{"v1", "v2"}
	case m == 2:
		return []string{"v1", "v2", "v3"}
	}
	return []string{"v2", "v3"}
}

func minor(version string) int {
	_, rest, _ := strings.Cut(version, ".")
	return major(rest)
}

func agentsIn(dir string, project bool) (out []Agent) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || name == "" || strings.HasPrefix(name, ".") || e.IsDir() {
			continue
		}
		a := Agent{Name: name, Path: filepath.Join(dir, e.Name()), Project: project}
		if e.Type()&os.ModeSymlink != 0 {
			a.Link, _ = os.Readlink(a.Path)
		}
		d, err := readDocument(a.Path)
		if err != nil {
			a.Trouble = err.Error()
		} else {
			a.Ours = len(agentEntries(d))
			if n, ok := stringAt(d.root, "name"); ok && n != "" {
				a.Name = n
			}
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b Agent) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func readDocument(file string) (*document, error) {
	b, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return parse(b)
}

// readFile reads a file that is a configuration: regular, and not larger than one can be.
func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &syntaxError{0, "is not a regular file"}
	}
	if info.Size() > maxFile {
		return nil, &syntaxError{0, "is larger than 8 MiB"}
	}
	return os.ReadFile(file)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// globQuote makes a directory's name a pattern that matches only itself.
func globQuote(dir string) string {
	if os.PathSeparator == '\\' {
		return dir // Windows has no escapes in patterns, and no * or ? in names
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}
