package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"kiro-learn/collector/client"
)

// eraseTime bounds a forgetting: a big database is written anew for --now.
const eraseTime = 15 * time.Minute

type forgetCmd struct {
	IDs         []string `arg:"" optional:"" name:"id" help:"Record ids (mr_…) or event ids. The turns that a record was made from go with it."`
	Session     string   `help:"A whole session, by its id or the beginning of it; or with --query or --older-than, only in this session." placeholder:"ID"`
	Project     bool     `help:"Everything of this project."`
	Query       string   `help:"Every record and event that holds this text, small letters or capital." placeholder:"TEXT"`
	OlderThan   string   `help:"Every record and event older than such a time, as 90d, or than a day, as 2026-01-31." placeholder:"AGE"`
	AllProjects bool     `help:"With --query or --older-than: in every project, not only this one."`
	DryRun      bool     `help:"Say what would be forgotten, and leave it."`
	Now         bool     `help:"For good: skip the time in which it can be brought back, and write the database file anew."`
	Yes         bool     `short:"y" help:"Do not ask."`
	List        bool     `help:"List what can still be brought back."`
	Undo        int64    `help:"Bring back what was forgotten under this number (see --list)." placeholder:"N"`
	UndoLast    bool     `help:"Bring back what was forgotten last."`
	Purge       bool     `help:"Let go for good all that can still be brought back."`
	JSON        bool     `name:"json" help:"Print JSON."`
}

// Run forgets. Whole sessions and projects, searches, and what cannot be undone, are asked about first.
func (f forgetCmd) Run(a *app) error {
	cl, _, cancel, err := a.collector()
	if err != nil {
		return err
	}
	cancel()
	ctx, cancel := context.WithTimeout(context.Background(), eraseTime)
	defer cancel()
	switch {
	case f.List:
		return f.list(ctx, a, cl)
	case f.Undo != 0 || f.UndoLast:
		return f.undo(ctx, a, cl)
	case f.Purge:
		return f.purge(ctx, a, cl)
	}
	sel, err := f.selection(a)
	if err == nil {
		err = f.whole(ctx, a, cl, &sel)
	}
	if err != nil {
		return err
	}
	if ask := f.Now || len(f.IDs) == 0; f.DryRun || ask && !f.Yes {
		sel.DryRun, sel.Now = true, f.Now
		would, err := cl.Forget(ctx, sel)
		if err != nil {
			return err
		}
		if f.DryRun || empty(would) {
			return f.print(a, "would be forgotten", would)
		}
		if err := f.confirm(a, would); err != nil {
			return err
		}
	}
	sel.DryRun, sel.Now = false, f.Now
	got, err := cl.Forget(ctx, sel)
	if err != nil {
		return err
	}
	return f.print(a, "forgotten", got)
}

func (f forgetCmd) selection(a *app) (sel client.Selection, err error) {
	search := f.Query != "" || f.OlderThan != ""
	chosen := 0
	for _, c := range []bool{len(f.IDs) > 0, f.Project, search, f.Session != "" && !search} {
		if c {
			chosen++
		}
	}
	if chosen != 1 {
		return sel, errors.New("say what to forget, one of: kiro-learn forget ID…, --session ID, --project, --query TEXT, --older-than 90d")
	}
	for _, id := range f.IDs {
		if strings.HasPrefix(id, "mr_") {
			sel.Records = append(sel.Records, id)
		} else {
			sel.Events = append(sel.Events, id)
		}
	}
	sel.Session, sel.All, sel.Contains = f.Session, f.Project, f.Query
	if f.Project || search && !f.AllProjects {
		sel.Namespace = a.namespace()
	}
	if f.OlderThan != "" {
		t, err := parseSince(f.OlderThan, time.Now())
		if err != nil {
			return sel, fmt.Errorf("--older-than %q is neither an age nor a day; write 90d or 2026-01-31", f.OlderThan)
		}
		sel.Before = t.UTC().Format(time.RFC3339Nano)
	}
	return sel, nil
}

// whole makes the beginning of a session's id the whole of it. One that no session has is left as it is: the session may
// wait in the outbox.
func (f forgetCmd) whole(ctx context.Context, a *app, cl *client.Client, sel *client.Selection) error {
	if sel.Session == "" {
		return nil
	}
	v, err := cl.Session(ctx, a.namespace(), sel.Session)
	if err == nil {
		sel.Session = v.SessionID
	} else if errors.Is(err, client.ErrNoSession) {
		err = nil
	}
	return err
}

// confirm asks whether to forget.
func (f forgetCmd) confirm(a *app, would client.Forgotten) error {
	how := "It can be brought back for a while"
	if f.Now {
		how = "It cannot be brought back"
	}
	if a.agreed(counted(would) + " will be forgotten. " + how + ".") {
		return nil
	}
	return errors.New("nothing was forgotten; to go on without being asked add --yes")
}

// agreed asks whether to go on; anything but a yes is a no.
func (a *app) agreed(what string) bool {
	_, _ = fmt.Fprint(a.stderr, what+" Go on? [y/N] ")
	line, err := bufio.NewReader(io.LimitReader(a.stdin, 100)).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return (err == nil || errors.Is(err, io.EOF)) && (answer == "y" || answer == "yes")
}

func empty(f client.Forgotten) bool { return f.Events+f.Records+f.Sessions == 0 }

// counted is what an act of forgetting took, in words.
func counted(f client.Forgotten) string {
	s := many(f.Records, "record") + " and " + many(f.Events, "event")
	if f.Sessions > 0 {
		s += " of " + many(f.Sessions, "whole session")
	}
	return s
}

func (f forgetCmd) print(a *app, how string, got client.Forgotten) error {
	if f.JSON {
		if err := printJSON(a.stdout, got); err != nil {
			return err
		}
	}
	if empty(got) {
		return errors.New("there is nothing that this selects; look with: kiro-learn search WORDS, or kiro-learn sessions; what was forgotten before is listed with: kiro-learn forget --list, and goes for good with: kiro-learn forget --purge")
	}
	if f.JSON {
		return nil
	}
	_, _ = fmt.Fprintf(a.stdout, "%s %s\n", counted(got), how)
	if len(got.Related) > 0 {
		_, _ = fmt.Fprintf(a.stdout, "records that stay although events behind them go: %s\n", strings.Join(got.Related, " "))
	}
	if got.ID != 0 {
		_, _ = fmt.Fprintf(a.stdout, "until %s bring it back with: kiro-learn forget --undo %d\n", got.Until.Local().Format("2006-01-02 15:04"), got.ID)
	}
	return nil
}

func (f forgetCmd) list(ctx context.Context, a *app, cl *client.Client) error {
	items, err := cl.Forgettings(ctx)
	if err != nil {
		return err
	}
	if f.JSON {
		return printJSON(a.stdout, items)
	}
	if len(items) == 0 {
		_, err := fmt.Fprintln(a.stdout, "nothing can be brought back")
		return err
	}
	for _, it := range items {
		_, _ = fmt.Fprintf(a.stdout, "%d  %s  by %s: %s, until %s\n", it.ID, it.At.Local().Format("2006-01-02 15:04"), it.What, counted(it), it.Until.Local().Format("2006-01-02 15:04"))
	}
	return nil
}

func (f forgetCmd) undo(ctx context.Context, a *app, cl *client.Client) error {
	got, err := cl.Unforget(ctx, f.Undo)
	var status *client.StatusError
	if errors.As(err, &status) && status.Code == "nothing_to_undo" {
		return errors.New("there is nothing to bring back; see: kiro-learn forget --list")
	}
	if err != nil {
		return err
	}
	if f.JSON {
		return printJSON(a.stdout, got)
	}
	_, err = fmt.Fprintln(a.stdout, counted(got)+" brought back")
	return err
}

func (f forgetCmd) purge(ctx context.Context, a *app, cl *client.Client) error {
	if !f.Yes {
		if !a.agreed("All that can still be brought back goes for good.") {
			return errors.New("nothing has gone; to go on without being asked add --yes")
		}
	}
	n, err := cl.Purge(ctx)
	if err != nil {
		return err
	}
	if f.JSON {
		return printJSON(a.stdout, map[string]int{"purged": n})
	}
	_, err = fmt.Fprintf(a.stdout, "gone for good: what was forgotten on %s\n", many(n, "occasion"))
	return err
}
