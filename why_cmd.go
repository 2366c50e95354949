package main

import (
	"fmt"
	"io"
	"strings"

	"kiro-learn/collector/client"
)

type whyCmd struct {
	Limit       int  `default:"5" help:"At most so many prompts, up to 50."`
	AllProjects bool `help:"Prompts of every project, not only of this one."`
	JSON        bool `name:"json" help:"Print JSON."`
}

// Run prints what the last prompts were shown, and why.
func (y whyCmd) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	ns := a.namespace()
	if y.AllProjects {
		ns = ""
	}
	got, err := cl.Retrievals(ctx, ns, y.Limit)
	if err != nil {
		return err
	}
	if y.JSON {
		return printJSON(a.stdout, got)
	}
	if len(got) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no prompt was looked up in this project since the collector started; try --all-projects, or: kiro-learn search --explain WORDS")
		return err
	}
	for i := range got {
		r := &got[i]
		_, _ = fmt.Fprintf(a.stdout, "%s  %s  (%.0f ms)\n", r.At.Local().Format("2006-01-02 15:04"), safe(r.Prompt), r.LatencyMS)
		if len(r.Records) == 0 {
			_, _ = fmt.Fprintln(a.stdout, "  shown nothing: no record was relevant enough, or the session had seen it")
		}
		for k := range r.Records {
			rec := &r.Records[k]
			_, _ = fmt.Fprintf(a.stdout, "  %s · %s\n", safe(rec.Title), rec.RecordID)
			printWhy(a.stdout, &rec.Why, "    ")
		}
		_, _ = fmt.Fprintln(a.stdout)
	}
	return nil
}

// printWhy says how a record came by its score.
func printWhy(w io.Writer, y *client.Why, indent string) {
	_, _ = fmt.Fprintf(w, "%sscore %.1f", indent, y.Score)
	if rest := y.Score - y.Own; rest >= 0.1 {
		_, _ = fmt.Fprintf(w, ": %.1f by its own words, %.1f by what stands near, dates, sessions and files", y.Own, rest)
	}
	_, _ = fmt.Fprintln(w)
	for _, t := range y.Terms {
		_, _ = fmt.Fprintf(w, "%s%5.1f  %s in %s (%d of the project's records hold it)\n", indent, t.Score, safe(t.Word), strings.Join(t.Fields, ", "), t.Records)
	}
}
