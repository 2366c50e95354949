package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

//go:embed testdata/demo/story.json
var story []byte

type demoCmd struct {
	Keep bool `help:"Keep the temporary home, and say where it is."`
}

// demo is one performance: a home, a project and a kiro-learn of its own.
type demo struct {
	a       *app
	base    string
	project string
	env     []string
	shown   int // bytes that prompts were given
}

type demoStory struct {
	Sessions []struct {
		Title string     `json:"title"`
		Turns []demoTurn `json:"turns"`
	} `json:"sessions"`
}

type demoTurn struct {
	Prompt string           `json:"prompt"`
	Tools  []map[string]any `json:"tools"`
	Answer string           `json:"answer"`
}

// Run plays the story through this very program's hooks, outbox and collector, and takes everything away again.
func (c demoCmd) Run(a *app) (err error) {
	var s demoStory
	if err := json.Unmarshal(story, &s); err != nil {
		return fmt.Errorf("read the story: %w", err)
	}
	d := &demo{a: a}
	if d.base, err = os.MkdirTemp("", "kiro-learn-demo-"); err != nil {
		return fmt.Errorf("make a temporary home: %w", err)
	}
	leave := onInterrupt(func() {
		_, _ = d.run("collector", nil, "stop")
		_ = os.RemoveAll(d.base)
	})
	defer leave()
	defer func() {
		_, _ = d.run("collector", nil, "stop")
		if c.Keep {
			d.say("\nThe home is kept in %s", d.base)
		} else if e := os.RemoveAll(d.base); e != nil && err == nil {
			err = fmt.Errorf("remove the temporary home: %w", e)
		}
	}()
	if err := d.set(); err != nil {
		return err
	}
	d.say("A home, a project and a collector of their own, in a temporary directory. Every line below went\nthrough the real hooks, as Kiro would run them.")
	for i, session := range s.Sessions {
		if err := d.session(fmt.Sprintf("demo-%d", i+1), session.Title, session.Turns, i == len(s.Sessions)-1); err != nil {
			return err
		}
	}
	if d.shown == 0 {
		return &exitError{1, "nothing was recalled, which is a fault; please report it"}
	}
	if c.Keep {
		return nil
	}
	d.say("\nNothing is left behind. To use it: kiro-learn install")
	return nil
}

// onInterrupt clears up when a person interrupts a command that must leave nothing behind. What it gives ends the watch.
func onInterrupt(clear func()) (leave func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			clear()
			os.Exit(130)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

func (d *demo) set() error {
	home := filepath.Join(d.base, "home")
	d.project = filepath.Join(home, "shop")
	if err := os.MkdirAll(filepath.Join(d.project, ".git"), 0o700); err != nil {
		return fmt.Errorf("make the demo's project: %w", err)
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "KIRO_"), strings.HasPrefix(name, "VSCODE_"), name == "USER_PROMPT", name == "HOME", name == "USERPROFILE":
		default:
			d.env = append(d.env, kv)
		}
	}
	d.env = append(d.env, "HOME="+home, "USERPROFILE="+home, "KIRO_LEARN_HOME="+filepath.Join(d.base, "kiro-learn"))
	return nil
}

func (d *demo) session(id, title string, turns []demoTurn, last bool) error {
	d.say("\n== %s", title)
	for _, t := range turns {
		d.say("\n  you    %s", t.Prompt)
		out, err := d.hook("userPromptSubmit", id, map[string]any{"prompt": t.Prompt})
		if err != nil {
			return err
		}
		d.recalled(out, last)
		for _, tool := range t.Tools {
			if _, err := d.hook("postToolUse", id, tool); err != nil {
				return err
			}
			d.say("  agent  uses %s %s", tool["tool_name"], d.brief(tool["tool_input"]))
		}
		if t.Answer == "" {
			continue
		}
		d.say("  agent  %s", t.Answer)
		if _, err := d.hook("stop", id, map[string]any{"assistant_response": t.Answer}); err != nil {
			return err
		}
	}
	if last {
		return nil
	}
	if _, err := d.run("flush", nil, "--extract"); err != nil {
		return err
	}
	return d.records()
}

// recalled shows what the agent was given with a prompt.
func (d *demo) recalled(out []byte, say bool) {
	d.shown += len(out)
	if len(out) == 0 {
		if say {
			d.say("         (nothing remembered matters here, so nothing is added)")
		}
		return
	}
	for line := range strings.Lines(string(out)) {
		d.say("       | %s", strings.TrimRight(line, "\n"))
	}
}

// records shows what became of a session, in the words of the collector.
func (d *demo) records() error {
	cl, ctx, cancel, err := d.app().collector()
	if err != nil {
		return err
	}
	defer cancel()
	var got struct {
		Items []event.Record `json:"items"`
	}
	if err := cl.Call(ctx, "GET", "/v1/memories", nil, &got); err != nil {
		return err
	}
	d.say("\n-- what is remembered, made by rules, without a language model:")
	for i := len(got.Items) - 1; i >= 0; i-- {
		if _, _, ofProject := event.SplitNamespace(got.Items[i].Namespace); !ofProject {
			continue // of the session as a whole, which prompts are not given
		}
		d.say("  %-16s %s", got.Items[i].ObservationType, safe(got.Items[i].Title))
	}
	return nil
}

// app is the command line as it would be within the demo's home.
func (d *demo) app() *app {
	b := *d.a
	b.dirs = config.FindDirs(func(string) string { return filepath.Join(d.base, "kiro-learn") })
	b.config.Collector.URL = ""
	return &b
}

func (d *demo) hook(name, session string, fields map[string]any) ([]byte, error) {
	p := map[string]any{"hook_event_name": name, "cwd": d.project, "session_id": session}
	for k, v := range fields {
		p[k] = v
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("make a payload: %w", err)
	}
	where, err := json.Marshal(d.project)
	if err != nil {
		return nil, fmt.Errorf("make a payload: %w", err)
	}
	return d.run(name, bytes.ReplaceAll(b, []byte("$P/"), append(where[1:len(where)-1:len(where)-1], '/')))
}

// run runs this program in the demo's home.
func (d *demo) run(verb string, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.Command(d.a.program, append([]string{verb}, args...)...)
	in, err := piped(string(stdin))
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	cmd.Dir, cmd.Env, cmd.Stdin = d.project, d.env, in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("the demo's %s failed: %w: %s", verb, err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

func (d *demo) brief(v any) string {
	var b strings.Builder
	if err := writeCompact(&b, v); err != nil {
		return ""
	}
	return event.CutChars(strings.ReplaceAll(strings.TrimSpace(b.String()), "$P/", ""), 100)
}

func writeCompact(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (d *demo) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.a.stdout, format+"\n", args...)
}
