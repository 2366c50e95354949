package main

import (
	"errors"
	"fmt"

	"kiro-learn/collector/client"
)

type historyCmd struct {
	ID   string `arg:"" help:"A record id (mr_…)."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints the older records that a record stands for.
func (h historyCmd) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	got, err := cl.History(ctx, h.ID)
	if isNotFound(err) {
		return fmt.Errorf("there is no record %q; find one with: kiro-learn search WORDS", h.ID)
	}
	if err != nil {
		return err
	}
	if h.JSON {
		return printJSON(a.stdout, got)
	}
	if got.SupersededBy != "" {
		_, _ = fmt.Fprintf(a.stdout, "%s stands for this record; bring it back with: kiro-learn restore %s\n\n", got.SupersededBy, h.ID)
	}
	if len(got.Supersedes) == 0 {
		_, err := fmt.Fprintln(a.stdout, "it stands for no older record")
		return err
	}
	for i := range got.Supersedes {
		o := &got.Supersedes[i]
		_, _ = fmt.Fprintf(a.stdout, "%s stands for this one since %s (%s):\n", o.By, o.At.Local().Format("2006-01-02 15:04"), o.Why)
		printRecord(a.stdout, &client.Record{Record: o.Record}, false)
	}
	return nil
}

type restoreCmd struct {
	ID string `arg:"" help:"The id of a record that another one stands for (see kiro-learn history)."`
}

// Run brings a superseded record back.
func (r restoreCmd) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	rec, err := cl.RestoreRecord(ctx, r.ID)
	if isNotFound(err) {
		return fmt.Errorf("no record stands for %q; see: kiro-learn history ID, or, for what was forgotten: kiro-learn forget --list", r.ID)
	}
	if err != nil {
		return err
	}
	printRecord(a.stdout, &client.Record{Record: rec}, false)
	return nil
}

func isNotFound(err error) bool {
	var status *client.StatusError
	return errors.As(err, &status) && status.Status == 404
}
