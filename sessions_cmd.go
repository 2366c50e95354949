package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

type sessionsCmd struct {
	JSON        bool `name:"json" help:"Print JSON."`
	Limit       int  `default:"20" help:"At most so many sessions, up to 500."`
	AllProjects bool `help:"List every project's, not only this one's."`
}

// Run lists sessions.
func (s sessionsCmd) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	ns := a.namespace()
	if s.AllProjects {
		ns = ""
	}
	all, err := cl.Sessions(ctx, ns, s.Limit)
	if err != nil {
		return err
	}
	addStates(ctx, cl, all)
	if s.JSON {
		return printJSON(a.stdout, all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no sessions yet in this project; try --all-projects, or: kiro-learn doctor")
		return err
	}
	return printSessions(a.stdout, all, s.AllProjects, time.Local)
}

// statesTime is how long reading sessions for where they stand may take in all; the rest of a list goes without.
const statesTime = 2 * time.Second

// addStates says by rules where sessions stand that no model has summarised.
func addStates(ctx context.Context, cl *client.Client, all []client.Session) {
	ctx, cancel := context.WithTimeout(ctx, statesTime)
	defer cancel()
	for i := range all {
		v := &all[i]
		if v.State != "" || v.Prompts == 0 {
			continue
		}
		made, err := cl.Outline(ctx, v.Namespace, v.SessionID)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			v.State = made.State()
		}
	}
}

// sessionChars are shown of a session's id; whatever begins only one id stands for it.
const sessionChars = 24

// printSessions prints a line for each session: when, where it stood, how much there is of it, its id and what it began
// with; and of which project, where they are of several.
func printSessions(to io.Writer, all []client.Session, projects bool, zone *time.Location) error {
	w := tabwriter.NewWriter(to, 0, 4, 2, ' ', 0)
	for _, v := range all {
		project := ""
		if projects {
			project = safe(v.ProjectPath) + "\t"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s, %s\t%s\t%s%s\n", stamp(v.LastEvent, zone), strings.ReplaceAll(v.State, "-", " "),
			many(v.Prompts, "prompt"), many(v.Records, "record"), safe(event.CutChars(v.SessionID, sessionChars)), project, paint(to, bold, one(v.Title, 70)))
	}
	return w.Flush()
}

// many is a number of things in words.
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// stamp is a time as a clock in a zone shows it, to the minute; in the hour that a clock shows twice, with the name of
// the zone's time.
func stamp(t time.Time, zone *time.Location) string {
	const minute = "2006-01-02 15:04"
	t = t.In(zone)
	_, now := t.Zone()
	for _, other := range []time.Time{t.Add(-3 * time.Hour), t.Add(3 * time.Hour)} {
		_, then := other.Zone()
		if twin := t.Add(time.Duration(now-then) * time.Second); now != then && twin.Format(minute) == t.Format(minute) {
			return t.Format(minute + " MST")
		}
	}
	return t.Format(minute)
}
