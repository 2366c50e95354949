package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"kiro-learn/hooks"
	"kiro-learn/install"
)

// choices are what install and uninstall are told alike.
type choices struct {
	Project bool   `help:"Only this project's files, with nothing in them that is of this machine alone."`
	Surface string `default:"auto" help:"Only this kind of Kiro: kiro-cli, kiro-ide, agents, hooks, ide0 or mcp."`
	Yes     bool   `short:"y" help:"Do not ask."`
	DryRun  bool   `help:"Only show what would change, as a diff."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

type installCmd struct {
	choices
	Agent     []string `help:"Hook this CLI 2.x agent; may be given more than once. \"kiro-learn\" makes one of our own."`
	AllAgents bool     `help:"Hook every CLI 2.x agent."`
}

func (a *app) installEnv() (install.Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return install.Env{}, fmt.Errorf("find the home directory: %w; set HOME and try again", err)
	}
	wd, _ := os.Getwd() // one that is gone is nobody's project
	return install.System(home, hooks.ProjectRoot(a.dirs, wd), a.dirs.State)
}

// Run wires everything up, after showing what that means.
func (c installCmd) Run(a *app) error {
	env, err := a.installEnv()
	if err != nil {
		return err
	}
	o := install.Options{Project: c.Project, Surface: c.Surface, Agents: c.Agent, AllAgents: c.AllAgents}
	plan, err := install.PlanInstall(env, o)
	if err != nil {
		return wrongWish(err)
	}
	if plan.AsksDefault && !c.DryRun && (c.Yes || a.ask("Make the agent kiro-learn the default of Kiro CLI 2.x, so that its hooks run without --agent?")) {
		o.SetDefault = true
		if plan, err = install.PlanInstall(env, o); err != nil {
			return err
		}
	}
	if err := a.apply(env, plan, c.choices); err != nil || c.DryRun || c.JSON || plan.Empty() {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "Done. Start a new Kiro session; kiro-learn doctor checks that it is heard.")
	return err
}

type uninstallCmd struct {
	choices
	Purge bool `help:"Also delete everything that is remembered, and the settings."`
}

// Run takes out what install put in, stops the collector, and keeps the memory unless it is to be purged.
func (c uninstallCmd) Run(a *app) error {
	whole := !c.Project && (c.Surface == "" || c.Surface == "auto")
	if c.Purge && !whole {
		return &exitError{2, "--purge deletes everything that is remembered, of every project; to do that, leave out --project and --surface, or see: kiro-learn forget --project"}
	}
	env, err := a.installEnv()
	if err != nil {
		return err
	}
	plan, err := install.PlanUninstall(env, install.Options{Project: c.Project, Surface: c.Surface})
	if err != nil {
		return wrongWish(err)
	}
	if c.Purge && !c.JSON {
		a.say([]string{"delete  " + a.dirs.Database() + ", " + a.dirs.ConfigFile() + " and " + a.dirs.State + "  (everything that is remembered, and the settings)"})
	}
	if c.Purge && !c.Yes && !c.DryRun && !a.ask("Delete the memory, too? This cannot be undone.") {
		return &exitError{1, "nothing was changed; add --yes to go on without asking, or leave out --purge to keep the memory"}
	}
	c.Yes = c.Yes || c.Purge // asked already, and about more
	if err := a.apply(env, plan, c.choices); err != nil || c.DryRun {
		return err
	}
	if whole {
		if _, err := stopCollector(a, 15*time.Second); err != nil {
			return err
		}
	}
	if c.Purge {
		return a.purge(c.JSON)
	}
	if c.JSON {
		return nil
	}
	_, err = fmt.Fprintf(a.stdout, "Done. What is remembered stays in %s; kiro-learn uninstall --purge deletes it. The program itself is yours to remove: %s\n", a.dirs.Data, a.program)
	return err
}

// wrongWish gives a wish that cannot be met the exit code of a wrong command line.
func wrongWish(err error) error {
	if wish := (*install.UsageError)(nil); errors.As(err, &wish) {
		return &exitError{2, wish.Error()}
	}
	return err
}

// apply shows a plan, asks, and does it. An error with code 1 and no text says that all was said already.
func (a *app) apply(env install.Env, plan *install.Plan, c choices) error {
	if c.DryRun {
		if c.JSON {
			return printJSON(a.stdout, plan)
		}
		_, err := fmt.Fprint(a.stdout, plan.Diff())
		a.say(plan.Notes)
		return err
	}
	if !c.JSON {
		a.say(plan.Lines())
		a.say(plan.Notes)
	}
	if plan.Empty() && len(plan.Refusals) == 0 {
		if c.JSON {
			return printJSON(a.stdout, install.Result{})
		}
		a.say([]string{"Nothing to change."})
		return nil
	}
	if !c.Yes && !a.ask("Go on?") {
		return &exitError{1, "nothing was changed; add --yes to go on without asking, or --dry-run to see the changes"}
	}
	res := plan.Apply(env)
	if c.JSON {
		if err := printJSON(a.stdout, res); err != nil {
			return err
		}
	} else {
		a.say(res.Leftover)
	}
	for _, f := range res.Failed {
		_, _ = fmt.Fprintln(a.stderr, "kiro-learn: left as it was: "+f.Error())
	}
	if len(res.Done) == 0 && len(res.Failed) > 0 {
		return &exitError{1, ""}
	}
	return nil
}

func (a *app) say(lines []string) {
	for _, l := range lines {
		_, _ = fmt.Fprintln(a.stdout, l)
	}
}

// ask puts a question to a person; where there is none the answer is no.
func (a *app) ask(question string) bool {
	f, ok := a.stdin.(*os.File)
	if !ok {
		return false
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 || sameAsNull(info) {
		return false
	}
	_, _ = fmt.Fprint(a.stdout, question+" [y/N] ")
	line, _ := bufio.NewReader(f).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

// sameAsNull tells whether a device is the null device, at which nobody sits.
func sameAsNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// purge deletes the memory, the state and the settings, in that order, so that a failure leaves the way to try again.
func (a *app) purge(quiet bool) error {
	for _, file := range []string{a.dirs.Database(), a.dirs.Database() + "-wal", a.dirs.Database() + "-shm", a.dirs.ConfigFile()} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("delete what is remembered: %w", err)
		}
	}
	for _, dir := range []string{a.dirs.State, a.dirs.Run} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("delete the state: %w", err)
		}
	}
	for _, dir := range []string{a.dirs.Data, a.dirs.Config} {
		_ = os.Remove(dir) // stays where something else is in it
	}
	if quiet {
		return nil
	}
	_, err := fmt.Fprintln(a.stdout, "Done. Nothing is remembered any more. The program itself is yours to remove: "+a.program)
	return err
}
