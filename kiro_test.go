//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fakeKiro is a kiro-cli that does with hooks what Kiro is known to do: it runs them with bash, all of one event at once,
// waits for the end of their output, and gives what they print to the agent, which here is stdout. It is strict where Kiro
// is lenient: a hook that fails, complains or is late ends it with a message.
//
//	kiro-cli --version
//	kiro-cli chat --agent NAME FILE...   CLI 2: the payloads of FILEs through the hooks of one agent
//	kiro-cli --v3 chat FILE...           CLI 3 and IDE 1: through the hook files of the user and the project
//	kiro-cli ide0 TYPE [FILE]            IDE 0: FILE is the text of USER_PROMPT; stdin stays open and silent
//	kiro-cli weigh FILE PROGRAM ARG...   runs a program and writes to FILE how much memory it held, in bytes
func fakeKiro() {
	if err := kiro(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kiro-cli:", err)
		os.Exit(1)
	}
}

func kiro(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "--version":
		_, err := fmt.Println("kiro-cli 2.21.3")
		return err
	case len(args) > 2 && args[0] == "chat" && args[1] == "--agent":
		return each(args[3:], func(event string) ([]kiroHook, error) { return agentHooks(args[2], event) })
	case len(args) > 1 && args[0] == "--v3" && args[1] == "chat":
		return each(args[2:], fileHooks)
	case len(args) > 1 && args[0] == "ide0":
		return ide0(args[1], args[2:])
	case len(args) > 2 && args[0] == "weigh":
		return weigh(args[1], args[2], args[3:]...)
	}
	return fmt.Errorf("unknown command line %q", args)
}

// weigh is a small process that starts another, since a process counts as its own what its parent held when it began.
func weigh(file, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.FormatInt(maxRSS(cmd.ProcessState), 10)), 0o600)
}

// kiroHook is a command and how long it may take.
type kiroHook struct {
	command string
	timeout time.Duration
}

// each runs payload files through the hooks of their events, one after the other.
func each(files []string, find func(event string) ([]kiroHook, error)) error {
	for _, f := range files {
		payload, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		payload = []byte(os.Expand(string(payload), func(name string) string {
			if name == "PROJECT" {
				return os.Getenv(name)
			}
			return "$" + name
		}))
		var p struct {
			Event  string `json:"hook_event_name"`
			Prompt string `json:"prompt"`
		}
		if err := json.Unmarshal(payload, &p); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		hooks, err := find(p.Event)
		if err != nil {
			return err
		}
		if len(hooks) == 0 {
			return fmt.Errorf("no hook is registered for %s", p.Event)
		}
		env := os.Environ()
		if p.Prompt != "" {
			env = append(env, "USER_PROMPT="+p.Prompt[:min(len(p.Prompt), 4096)])
		}
		if err := fire(hooks, env, func() (*os.File, error) { return piped(string(payload)) }); err != nil {
			return fmt.Errorf("%s: %w", p.Event, err)
		}
	}
	return nil
}

// fire starts all hooks of one event and waits for all. What they print is the agent's.
func fire(hooks []kiroHook, env []string, stdin func() (*os.File, error)) error {
	outputs, faults := make([]bytes.Buffer, len(hooks)), make([]error, len(hooks))
	var all sync.WaitGroup
	for i, h := range hooks {
		all.Go(func() {
			var stderr bytes.Buffer
			cmd := exec.Command("bash", "-c", h.command)
			in, err := stdin()
			if err != nil {
				faults[i] = err
				return
			}
			defer func() { _ = in.Close() }()
			cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, in, &outputs[i], &stderr
			begun := time.Now()
			err = cmd.Run()
			switch took := time.Since(begun); {
			case err != nil:
				faults[i] = fmt.Errorf("%s: %w: %s", h.command, err, stderr.String())
			case stderr.Len() > 0:
				faults[i] = fmt.Errorf("%s complained: %s", h.command, stderr.String())
			case took > max(h.timeout, hang):
				faults[i] = fmt.Errorf("%s took %v of %v", h.command, took, h.timeout)
			}
		})
	}
	all.Wait()
	for i := range outputs {
		if _, err := os.Stdout.Write(outputs[i].Bytes()); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// agentHooks are the hooks that an agent's file has for an event. Kiro refuses a file whose shape it does not know: a key
// or an event that agents do not have, another agent's nesting, or both names of one key.
func agentHooks(agent, event string) ([]kiroHook, error) {
	var a struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Prompt      string   `json:"prompt"`
		Tools       []string `json:"tools"`
		Include     *bool    `json:"includeMcpJson"`
		Legacy      *bool    `json:"useLegacyMcpJson"`
		Servers     map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
		Hooks map[string][]struct {
			Command   string `json:"command"`
			TimeoutMS int    `json:"timeout_ms"`
			MaxOutput int    `json:"max_output_size"`
			CacheTTL  int    `json:"cache_ttl_seconds"`
			Matcher   string `json:"matcher"`
		} `json:"hooks"`
	}
	b, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".kiro", "agents", agent+".json"))
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("agent %s: %w", agent, err)
	}
	if a.Include != nil && a.Legacy != nil {
		return nil, fmt.Errorf("agent %s: duplicate field includeMcpJson", agent)
	}
	for name := range a.Hooks {
		if !slices.Contains([]string{"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"}, name) {
			return nil, fmt.Errorf("agent %s: unknown hook %s", agent, name)
		}
	}
	var out []kiroHook
	for _, h := range a.Hooks[event] {
		out = append(out, kiroHook{h.Command, time.Duration(h.TimeoutMS) * time.Millisecond})
	}
	return out, nil
}

// fileHooks are the hooks that the user's and the project's hook files have for an event.
func fileHooks(event string) (out []kiroHook, err error) {
	for _, root := range []string{os.Getenv("HOME"), os.Getenv("PROJECT")} {
		files, err := filepath.Glob(filepath.Join(root, ".kiro", "hooks", "*.json"))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			var v struct {
				Version string `json:"version"`
				Hooks   []struct {
					Trigger string `json:"trigger"`
					Enabled bool   `json:"enabled"`
					Timeout int    `json:"timeout"` // seconds
					Action  struct {
						Type    string `json:"type"`
						Command string `json:"command"`
					} `json:"action"`
				} `json:"hooks"`
			}
			b, err := os.ReadFile(f)
			if err == nil {
				err = json.Unmarshal(b, &v)
			}
			if err == nil && v.Version != "v1" {
				err = fmt.Errorf("version %q", v.Version)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			for _, h := range v.Hooks {
				if h.Trigger == event && h.Enabled && h.Action.Type == "command" {
					out = append(out, kiroHook{h.Action.Command, time.Duration(h.Timeout) * time.Second})
				}
			}
		}
	}
	return out, nil
}

// ide0 runs the .kiro.hook files of one type with the text in USER_PROMPT and a stdin that nobody writes to or closes.
func ide0(kind string, file []string) error {
	var prompt []byte
	var err error
	if len(file) > 0 {
		if prompt, err = os.ReadFile(file[0]); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(".kiro", "hooks", "*.kiro.hook"))
	if err != nil {
		return err
	}
	var hooks []kiroHook
	for _, f := range files {
		var v struct {
			Enabled    bool
			When, Then struct{ Type, Command string }
		}
		b, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(b, &v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		if v.Enabled && v.When.Type == kind && v.Then.Type == "runCommand" {
			hooks = append(hooks, kiroHook{v.Then.Command, time.Minute})
		}
	}
	if len(hooks) == 0 {
		return fmt.Errorf("no hook is registered for %s", kind)
	}
	var held []*os.File // the writing ends, open until the hooks have left
	defer func() {
		for _, f := range held {
			_ = f.Close()
		}
	}()
	var mu sync.Mutex
	return fire(hooks, append(os.Environ(), "USER_PROMPT="+strings.TrimSuffix(string(prompt), "\n")), func() (*os.File, error) {
		r, w, err := os.Pipe()
		mu.Lock()
		defer mu.Unlock()
		held = append(held, w)
		return r, err
	})
}
