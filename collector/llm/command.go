package llm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"kiro-learn/internal/config"
)

// A command is any program that reads the prompt on its standard input and writes the answer to its standard output.
type command struct {
	spec      spec
	maxOutput int
}

func newCommand(cfg config.LLM, o Options) (*command, error) {
	if len(cfg.Command) == 0 || cfg.Command[0] == "" {
		return nil, errors.New(`llm.engine is "command" and no program is named: set llm.command in config.json, ` +
			`for example ["ollama", "run", "qwen3"]`)
	}
	program, err := findProgram(cfg.Command[0])
	if err != nil {
		return nil, fmt.Errorf("the program in llm.command cannot be run: %w; give its absolute path in config.json", err)
	}
	argv := append([]string{program}, cfg.Command[1:]...)
	if err := childDir(o.ChildDir); err != nil {
		return nil, err
	}
	return &command{spec{argv, o.ChildDir, o.Environ}, o.MaxOutput}, nil
}

// findProgram gives an absolute path, since the child runs in another directory.
func findProgram(name string) (string, error) {
	p, err := exec.LookPath(name)
	if err != nil {
		var e *exec.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return "", err
	}
	return filepath.Abs(p)
}

// Name is "command".
func (*command) Name() string { return "command" }

// Complete runs the program once.
func (c *command) Complete(ctx context.Context, prompt string) (string, error) {
	out, err := c.spec.run(ctx, prompt, c.maxOutput)
	if err != nil {
		return "", err
	}
	return clean(out), nil
}
