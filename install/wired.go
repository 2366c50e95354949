package install

import (
	"os"
	"path/filepath"
	"strings"
)

// A Wiring is one command line of ours as it stands in a file of Kiro's.
type Wiring struct {
	Path string `json:"path"`
	Hook string `json:"hook"` // canonical name; "" where the payload tells
	Line string `json:"line"` // what Kiro gives to the shell
}

// Wired lists the hooks of ours in the user's files and the project's, in the order of the files' names. A self-test
// can run each as Kiro would.
func Wired(env Env) (out []Wiring) {
	add := func(path, line string) {
		if c, ours := ParseCommand(line); ours {
			out = append(out, Wiring{path, c.Hook, line})
		}
	}
	for _, dir := range env.kiroDirs() {
		eachFile(filepath.Join(dir, "agents"), ".json", func(path string) {
			if d, err := readDocument(path); err == nil {
				for _, p := range agentEntries(d) {
					if l, ok := lit(agentCommand(*p.value)); ok {
						add(path, l.String())
					}
				}
			}
		})
		eachFile(filepath.Join(dir, "hooks"), ".json", func(path string) {
			if d, err := readDocument(path); err == nil {
				for _, p := range v1Entries(d) {
					l, _ := lit(v1Command(*p.value))
					add(path, l.String())
				}
			}
		})
		eachFile(filepath.Join(dir, "hooks"), ".kiro.hook", func(path string) {
			if d, err := readDocument(path); err == nil {
				if at, _, ours := ide0Ours(d); ours {
					l, _ := lit(at)
					add(path, l.String())
				}
			}
		})
	}
	return out
}

// wrapped gives the lines of a file in which a command of its owner's runs us as part of something longer. Such a
// command is neither edited nor removed.
func wrapped(d *document) (lines []int) {
	for v := range d.root.All() {
		s, ok := stringAt(*v, "command")
		if _, ours := ParseCommand(s); ok && !ours && !mcpIsOurs(*v) && mentionsUs(s) {
			lines = append(lines, line(d.text, memberOf(*v, "command").StartOffset))
		}
	}
	return lines
}

// kiroDirs are the user's .kiro and the project's, if there is one.
func (env Env) kiroDirs() []string {
	dirs := []string{env.userDir()}
	if env.Project != "" && env.Project != env.Home {
		dirs = append(dirs, env.projectDir())
	}
	return dirs
}

// eachFile visits the files of a directory whose names end in ext, in order; a directory that cannot be read has none.
func eachFile(dir, ext string, f func(path string)) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ext) && !e.IsDir() {
			f(filepath.Join(dir, e.Name()))
		}
	}
}
