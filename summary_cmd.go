package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

type summaryCmd struct {
	Session  string `arg:"" optional:"" help:"A session's id, or its beginning; the latest session of this project without one."`
	Generate bool   `help:"Have the language model summarise it now, if it has moved."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// Run tells where a session stands: by the summary that a language model made, else by the rules' outline of its events.
func (s summaryCmd) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	session, err := s.session(ctx, a, cl)
	if err != nil {
		return err
	}
	made, err := cl.Summary(ctx, session.Namespace, session.SessionID)
	if s.Generate && err == nil {
		made, err = generate(a, cl, &session)
	}
	how := ""
	if err == nil && len(made.Intents) == 0 {
		how = "by rules, from its events; for a language model's summary: kiro-learn summary --generate"
		if !made.Enabled {
			how = `by rules, from its events; for a language model's summaries set "session_summary": {"enabled": true} in config.json`
		}
		made, err = cl.Outline(ctx, session.Namespace, session.SessionID)
	}
	switch {
	case err != nil:
		return err
	case s.JSON:
		return printJSON(a.stdout, made)
	}
	printSummary(a.stdout, session.SessionID, &made, how, time.Now())
	return nil
}

// session is the one that is named by its id or the beginning of that, or the project's latest.
func (s summaryCmd) session(ctx context.Context, a *app, cl *client.Client) (client.Session, error) {
	ns := a.namespace()
	if s.Session != "" {
		found, err := cl.Session(ctx, ns, s.Session)
		if errors.Is(err, client.ErrNoSession) {
			err = fmt.Errorf("there is no session %q; list them with: kiro-learn sessions", s.Session)
		}
		return found, err
	}
	all, err := cl.Sessions(ctx, ns, 1)
	if err == nil && len(all) == 0 {
		err = errors.New("there is no session yet in this project; name one of another, listed by: kiro-learn sessions --all-projects")
	}
	if err != nil {
		return client.Session{}, err
	}
	return all[0], nil
}

// generate waits as long as a model may take.
func generate(a *app, cl *client.Client, s *client.Session) (client.Summary, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(a.config.LLM.Timeout)+30*time.Second)
	defer cancel()
	made, err := cl.MakeSummary(ctx, s.Namespace, s.SessionID)
	var status *client.StatusError
	if errors.As(err, &status) && status.Status == 409 {
		return made, errors.New(status.Text + "; without --generate you are shown what there is")
	}
	return made, err
}

// stateWords are an intent's states as a person reads them, in the order in which they matter.
func stateWords() [][2]string {
	return [][2]string{{"needs-you", "needs you"}, {"in-progress", "in progress"}, {"done", "done"}, {"dropped", "dropped"}}
}

func stateStyle(state string) string {
	switch state {
	case "needs-you":
		return yellow
	case "in-progress":
		return blue
	case "done":
		return green
	}
	return dim
}

// shownIntents is how many intents that are done, or dropped, are named.
const shownIntents = 6

// printSummary tells in a few lines why, what is true now, what needs the person, and what comes next. how says how it was
// made, where that is not by a model.
func printSummary(w io.Writer, session string, s *client.Summary, how string, now time.Time) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	p("session %s · %s · last active %s\n", safe(event.CutChars(session, 40)), many(s.UserTurns, "turn"), ago(now.Sub(s.LastActivity)))
	switch {
	case how != "":
		p("%s\n", how)
	case s.Stale:
		p("outdated: the session has gone on since %s; renew it with: kiro-learn summary --generate\n", stamp(*s.GeneratedAt, time.Local))
	}
	if len(s.Intents) == 0 {
		p("\nnothing was asked for in it\n")
	}
	for _, state := range stateWords() {
		brief := state[0] == "done" || state[0] == "dropped"
		count := 0
		for i := range s.Intents {
			in := &s.Intents[i]
			if in.State != state[0] {
				continue
			}
			if count++; brief && count > shownIntents {
				continue
			}
			if !brief || count == 1 {
				p("\n")
			}
			p("%s  %s\n", paint(w, stateStyle(state[0]), fmt.Sprintf("%-11s", state[1])), one(in.Title, 100))
			if brief {
				printOutcome(p, in)
			} else {
				printIntent(p, in)
			}
		}
		if brief && count > shownIntents {
			p("%-11s  and %d more\n", "", count-shownIntents)
		}
	}
	for i, c := range s.Constraints {
		if i == 0 {
			p("\n")
		}
		p("%-11s  %s\n", "rule", one(c, 160))
	}
}

// printOutcome tells in a line what is true of an intent that is done.
func printOutcome(p func(string, ...any), in *client.Intent) {
	switch {
	case in.State != "done":
	case in.Verified != nil && *in.Verified:
		p("  %-9s  %s\n", "checked", "yes, after the last change")
	case len(in.Progress) > 0:
		p("  %-9s  %s\n", "now", one(in.Progress[0], 200))
	}
}

// printIntent tells of an intent that is not done.
func printIntent(p func(string, ...any), in *client.Intent) {
	part := func(name, text string) {
		if text != "" {
			p("  %-9s  %s\n", name, one(text, 200))
		}
	}
	if !strings.EqualFold(strings.Trim(in.InitialIntent, ". "), in.Title) {
		part("why", in.InitialIntent)
	}
	for _, l := range in.Progress[:min(len(in.Progress), 4)] {
		part("now", l)
	}
	switch {
	case in.Verified == nil:
	case *in.Verified:
		part("checked", "yes, after the last change")
	case in.State == "needs-you":
		part("needs you", "nobody has seen it work since the last change")
	default:
		part("checked", "no: it failed, or was not seen to work, after the last change")
	}
	for _, s := range in.NextSteps[:min(len(in.NextSteps), 4)] {
		part("next", s.Text())
	}
}

// one is a text in one line of at most so many characters that cannot steer a terminal.
func one(s string, chars int) string {
	return event.CutChars(strings.Join(strings.Fields(safe(s)), " "), chars)
}

// ago is a span as a person says it.
func ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return many(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return many(int(d.Hours()), "hour") + " ago"
	}
	return many(int(d.Hours()/24), "day") + " ago"
}
