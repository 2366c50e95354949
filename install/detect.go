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
	Kiro         bool     `json:"kiro"`    // some Kiro was here: a directory of it, or a program
	CLI          string   `json:"cli"`     // version of kiro-cli such as "2.21.3", "" if there is none
	IDE          string   `json:"ide"`     // version of the Kiro IDE, "" if there is none on PATH
	Silent       []string `json:"silent"`  // programs of Kiro's that are there and do not say their version
	Engines      []string `json:"engines"` // of "v1", "v2", "v3": the agent engines that this CLI may run
	Program      Program  `json:"program"`
	Agents       []Agent  `json:"agents"`        // of the user, and of the project if there is one
	DefaultAgent string   `json:"default_agent"` // the setting chat.defaultAgent, "" when unset
	DefaultFile  string   `json:"default_file"`  // where that is set
	IDE0Files    bool     `json:"ide0_files"`    // the project holds .kiro.hook files
}

// Agent is one agent file.
type Agent struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Project bool   `json:"project"`           // stands in the project, where it goes before a user's agent of the same name
	Link    string `json:"link,omitempty"`    // what it links to, "" for a regular file
	Ours    int    `json:"hooks"`             // hooks of ours in it
	Server  bool   `json:"server"`            // it names our MCP server itself, or would have to
	NoTools bool   `json:"no_tools"`          // its list of tools leaves out those of our server
	Trouble string `json:"trouble,omitempty"` // why it cannot be read or edited, "" if it can
}

const (
	ownAgentName   = programName
	modelAgents    = programName + "-" // agents that our own model runs use begin so and are never hooked
	defaultSetting = "chat.defaultAgent"
)

// Detect looks around and changes nothing.
func Detect(env Env) Found {
	f := Found{Program: findProgram(env)}
	for name, v := range map[string]*string{"kiro-cli": &f.CLI, "kiro": &f.IDE} {
		if _, err := env.LookPath(name); err != nil {
			continue
		}
		if *v = version(env, name); *v == "" {
			f.Silent = append(f.Silent, name)
		}
	}
	slices.Sort(f.Silent)
	f.Engines = engines(f.CLI)
	f.Kiro = f.CLI != "" || len(f.Silent) > 0 || f.IDE != "" || isDir(env.userDir())
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
	if env.Run == nil {
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

// startsBuiltin tells that Kiro starts an agent which has no file, unless it is told otherwise.
func (f Found) startsBuiltin(env Env) bool {
	for _, dir := range env.kiroDirs() { // engine v3 has agents in Markdown, too, which Agents leaves out
		if _, err := os.Stat(filepath.Join(dir, "agents", f.DefaultAgent+".md")); err == nil && f.DefaultAgent != "" {
			return false
		}
	}
	return !slices.ContainsFunc(f.Agents, func(a Agent) bool { return f.DefaultAgent != "" && a.is(f.DefaultAgent) })
}

// lines says to a person what was found, short being a path as it is to be shown.
func (f Found) lines(env Env, short func(string) string) (out []string) {
	var kiro []string
	if f.CLI != "" {
		kiro = append(kiro, "Kiro CLI "+f.CLI+" (engines "+strings.Join(f.Engines, ", ")+")")
	}
	if f.IDE != "" {
		kiro = append(kiro, "Kiro IDE "+f.IDE)
	}
	switch {
	case len(kiro) > 0:
		out = append(out, strings.Join(kiro, ", "))
	case f.Kiro && len(f.Silent) == 0:
		out = append(out, "a Kiro whose programs are not on PATH")
	}
	var agents []string
	for _, a := range f.Agents {
		switch {
		case a.Link != "":
			agents = append(agents, a.Name+" (a link to "+short(a.Link)+")")
		case a.Project:
			agents = append(agents, a.Name+" (this project's)")
		default:
			agents = append(agents, a.Name)
		}
	}
	if len(agents) > 0 {
		start := f.DefaultAgent
		if f.startsBuiltin(env) {
			start = "the built-in one"
		}
		out = append(out, "agents "+strings.Join(agents, ", ")+"; Kiro starts "+start)
	}
	return append(out, programName+" at "+short(f.Program.Path))
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
			a.Ours, a.Server, a.NoTools = len(agentEntries(d)), needsServer(d), !mayUseServer(d)
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
