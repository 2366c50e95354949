package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	Agent        []string `help:"Hook this CLI 2.x agent; may be given more than once. \"kiro-learn\" makes one of our own."`
	AllAgents    bool     `help:"Hook every CLI 2.x agent."`
	DefaultAgent *bool    `negatable:"" help:"Make our own agent the one that Kiro CLI starts where that is its built-in one, or do not, without asking."`
}

// Help says what the flags do not.
func (installCmd) Help() string {
	return "A file that cannot be edited safely is left as it is and named with its line; the others are done, and the exit code is 1."
}

func (a *app) installEnv() (install.Env, error) {
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = fmt.Errorf("%q is not an absolute path", home)
	}
	if err != nil {
		return install.Env{}, fmt.Errorf("find the home directory: %w; set HOME and try again", err)
	}
	wd, _ := os.Getwd() // one that is gone is nobody's project
	env, err := install.System(home, hooks.ProjectRoot(a.dirs, wd), a.dirs.State)
	env.DataDir = a.dirs.Data
	return env, err
}

// Run wires everything up, after showing what that means.
func (c installCmd) Run(a *app) error {
	env, err := a.installEnv()
	if err != nil {
		return err
	}
	o := install.Options{Project: c.Project, Surface: c.Surface, Agents: c.Agent, AllAgents: c.AllAgents, SetDefault: c.Yes}
	if c.DefaultAgent != nil {
		o.SetDefault = *c.DefaultAgent
	}
	plan, err := install.PlanInstall(env, o)
	if err != nil {
		return wrongWish(err)
	}
	a.show(plan, c.choices)
	if plan.AsksDefault && !o.SetDefault && c.DefaultAgent == nil && !c.DryRun && !c.JSON && a.ask("Make the agent kiro-learn the default of Kiro CLI? Uninstall gives the old one back.") {
		o.SetDefault = true
		shown := plan.Lines()
		if plan, err = install.PlanInstall(env, o); err != nil {
			return err
		}
		a.say(slices.DeleteFunc(plan.Lines(), func(l string) bool { return slices.Contains(shown, l) }))
	}
	if plan.AsksDefault && !o.SetDefault && c.DefaultAgent == nil && c.DryRun && !c.JSON {
		if err := a.offer(env, plan, o); err != nil {
			return err
		}
	}
	if _, err := a.apply(env, plan, c.choices); err != nil || c.DryRun || c.JSON || plan.Empty() {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "Done. Start a new Kiro session; kiro-learn doctor checks that it is heard.")
	return err
}

// offer says, beside the diff of a plan, what install asks about.
func (a *app) offer(env install.Env, plan *install.Plan, o install.Options) error {
	o.SetDefault = true
	more, err := install.PlanInstall(env, o)
	if err != nil {
		return err
	}
	for _, l := range more.Lines() {
		if !slices.Contains(plan.Lines(), l) {
			_, _ = fmt.Fprintln(a.stderr, "offered, and done if you agree or say --default-agent: "+l)
		}
	}
	return nil
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
	a.show(plan, c.choices)
	if c.Purge && !c.JSON {
		a.say([]string{"delete  " + a.dirs.Database() + ", " + a.dirs.ConfigFile() + " and " + a.dirs.State + "  (everything that is remembered, and the settings)"})
	}
	if c.Purge && !c.Yes && !c.DryRun && (c.JSON || !a.ask("Delete the memory, too? This cannot be undone.")) {
		return &exitError{1, "nothing was changed; add --yes to go on without asking, or leave out --purge to keep the memory"}
	}
	c.Yes = c.Yes || c.Purge // asked already, and about more
	agreed, left := a.apply(env, plan, c.choices)
	if !agreed {
		return left
	}
	if whole {
		if _, err := stopCollector(a, 15*time.Second); err != nil {
			return err
		}
	}
	if c.Purge {
		return cmp.Or(a.purge(env, left != nil, c.JSON), left)
	}
	if c.JSON || left != nil {
		return left
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

// show tells a person what a plan is about to do.
func (a *app) show(plan *install.Plan, c choices) {
	if c.DryRun || c.JSON {
		return
	}
	a.say(plan.Lines())
	a.say(plan.Notes)
}

// apply does a plan that was shown, if the user agrees. What had to be left as it was is an error, behind the rest.
func (a *app) apply(env install.Env, plan *install.Plan, c choices) (agreed bool, err error) {
	switch {
	case c.DryRun:
		return false, a.dryRun(plan, c)
	case plan.Empty() && len(plan.Refusals) == 0 && !c.JSON:
		a.say([]string{"Nothing to change."})
	case !plan.Empty() && !c.Yes && (c.JSON || !a.ask("Go on?")):
		return false, &exitError{1, "nothing was changed; add --yes to go on without asking, or --dry-run to see the changes"}
	}
	res := plan.Apply(env)
	if c.JSON {
		if err := printJSON(a.stdout, res); err != nil {
			return true, err
		}
	}
	return true, a.leftAsTheyWere(res.Failed, plan.Refusals, len(res.Done), len(plan.Changes))
}

// dryRun prints what would change, as a diff that patch takes, and what a person should know of it elsewhere.
func (a *app) dryRun(plan *install.Plan, c choices) error {
	if c.JSON {
		if err := printJSON(a.stdout, plan); err != nil {
			return err
		}
		return a.leftAsTheyWere(plan.Refusals, nil, len(plan.Changes), len(plan.Changes))
	}
	if _, err := fmt.Fprint(a.stdout, plan.Diff()); err != nil {
		return err
	}
	for _, n := range plan.Notes {
		_, _ = fmt.Fprintln(a.stderr, n)
	}
	return a.leftAsTheyWere(plan.Refusals, nil, len(plan.Changes), len(plan.Changes))
}

// leftAsTheyWere names files that are not as the user wished them, but for those that were shown already, and sums it up in
// the error. Of the planned changes so many were done.
func (a *app) leftAsTheyWere(files, shown []install.Refusal, done, planned int) error {
	if len(files) == 0 {
		return nil
	}
	for _, f := range files {
		if !slices.Contains(shown, f) {
			_, _ = fmt.Fprintln(a.stderr, "kiro-learn: left as it was: "+f.Error())
		}
	}
	rest := "nothing else had to change"
	switch {
	case done > 0:
		rest = "the others, " + many(done, "file") + ", are done"
	case planned > 0:
		rest = "nothing was written"
	}
	return &exitError{1, "not all could be done; left as said above: " + many(len(files), "file") + "; " + rest}
}

func (a *app) say(lines []string) {
	for _, l := range lines {
		_, _ = fmt.Fprintln(a.stdout, l)
	}
}

// ask puts a question to a person; where there is none the answer is no.
func (a *app) ask(question string) bool {
	if !isTerminal(a.stdin) {
		return false
	}
	_, _ = fmt.Fprint(a.stdout, question+" [y/N] ")
	line, _ := bufio.NewReader(a.stdin).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

// isTerminal tells whether a person may sit at the other end.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !sameAsNull(info)
}

// sameAsNull tells whether a device is the null device, at which nobody sits.
func sameAsNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// purge deletes the memory, the state and the settings, in that order, so that a failure leaves the way to try again. What
// install remembers stays where something of ours had to be left in Kiro's files.
func (a *app) purge(env install.Env, left, quiet bool) error {
	parents := install.RemoveParents(env)
	for _, file := range []string{a.dirs.Database(), a.dirs.Database() + "-wal", a.dirs.Database() + "-shm", a.dirs.ConfigFile()} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("delete what is remembered: %w", err)
		}
	}
	state, _ := os.ReadDir(a.dirs.State)
	for _, e := range state {
		if left && install.Remembers(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(a.dirs.State, e.Name())); err != nil {
			return fmt.Errorf("delete the state: %w", err)
		}
	}
	if err := os.RemoveAll(a.dirs.Run); err != nil {
		return fmt.Errorf("delete the state: %w", err)
	}
	for _, dir := range []string{a.dirs.State, a.dirs.Data, a.dirs.Config} {
		_ = os.Remove(dir) // stays where something else is in it
	}
	parents()
	if quiet {
		return nil
	}
	_, err := fmt.Fprintln(a.stdout, "Done. Nothing is remembered any more. The program itself is yours to remove: "+a.program)
	return err
}
