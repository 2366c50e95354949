package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/hooks"
	"kiro-learn/internal/event"
)

const commandTime = 20 * time.Second // for a command that a person waits for

// collector gives a client for a collector that answers, started if need be, and the context of one command.
func (a *app) collector() (*client.Client, context.Context, context.CancelFunc, error) {
	cl, err := client.New(a.dirs, a.config.Collector)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	if _, err := startCollector(ctx, cl, a); err != nil {
		cancel()
		return nil, nil, nil, err
	}
	return cl, ctx, cancel, nil
}

// namespace is the namespace of the project that the command is run in.
func (a *app) namespace() string {
	wd, _ := os.Getwd()
	return hooks.Namespace(a.dirs, wd)
}

type searchCmd struct {
	Query       []string `arg:"" help:"What to look for; any words."`
	JSON        bool     `name:"json" help:"Print the records as JSON."`
	Limit       int      `default:"10" help:"At most so many records, up to 100."`
	Type        []string `help:"Only records of this type: tool_use, decision, error, discovery, pattern or session_summary."`
	Since       string   `help:"Only records of the last such time, as 12h or 30d, or since a day, as 2026-01-31."`
	AllProjects bool     `help:"Search every project, not only this one."`
	Explain     bool     `help:"Say of each record which words made it score, and in which fields."`
}

// Run prints what recall finds.
func (s searchCmd) Run(a *app) error {
	since, err := parseSince(s.Since, time.Now())
	if err != nil {
		return err
	}
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	ns := a.namespace()
	if s.AllProjects {
		ns = ""
	}
	if s.Explain {
		return s.explain(a, cl, ctx, ns, since)
	}
	found, err := cl.Search(ctx, ns, strings.Join(s.Query, " "), s.Limit, s.Type, since)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(a.stdout, found)
	}
	if len(found) == 0 {
		return s.nothing(a)
	}
	for i := range found {
		printRecord(a.stdout, &found[i], false)
	}
	return nil
}

func (s searchCmd) nothing(a *app) error {
	hint := "; try other words, or --all-projects"
	if s.AllProjects {
		hint = "; try other words"
	}
	_, err := fmt.Fprintln(a.stdout, "nothing found"+hint)
	return err
}

// explain prints what recall finds, and why.
func (s searchCmd) explain(a *app, cl *client.Client, ctx context.Context, ns string, since time.Time) error {
	found, err := cl.Explain(ctx, ns, strings.Join(s.Query, " "), s.Limit, s.Type, since)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(a.stdout, found)
	}
	if len(found) == 0 {
		return s.nothing(a)
	}
	for i := range found {
		printRecord(a.stdout, &found[i].Record, false)
		printWhy(a.stdout, &found[i].Why, "  ")
		_, _ = fmt.Fprintln(a.stdout)
	}
	return nil
}

// parseSince reads a span such as 12h or 30d, or a day.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && n > 0 && fmt.Sprint(n) == days {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("--since %q is neither a span nor a day; write 12h, 30d or 2026-01-31", s)
}

// printRecord shows a record to a person. Control characters were taken out when it was made; a terminal is safe.
func printRecord(w io.Writer, r *client.Record, whole bool) {
	day := r.CreatedAt
	if t, err := time.Parse(time.RFC3339Nano, r.CreatedAt); err == nil {
		day = t.Local().Format(time.DateOnly)
	}
	_, _ = fmt.Fprintf(w, "%s\n  %s · %s · %s\n", paint(w, bold, safe(r.Title)), day, r.ObservationType, r.RecordID)
	summary := safe(r.Summary)
	if !whole {
		summary = event.CutChars(summary, 400)
	}
	for line := range strings.Lines(summary) {
		_, _ = fmt.Fprintf(w, "  %s\n", strings.TrimRight(line, "\r\n"))
	}
	for _, f := range r.Facts {
		_, _ = fmt.Fprintf(w, "  - %s\n", safe(f))
	}
	if len(r.FilesTouched) > 0 {
		_, _ = fmt.Fprintf(w, "  Files: %s\n", safe(strings.Join(r.FilesTouched, ", ")))
	}
	if whole && r.RecordType != "" {
		_, _ = fmt.Fprintf(w, "  Record type: %s\n", r.RecordType)
	}
	if whole {
		_, _ = fmt.Fprintf(w, "  Concepts: %s\n  Strategy: %s\n  From events: %s\n", safe(strings.Join(r.Concepts, ", ")), r.Strategy, strings.Join(r.SourceEventIDs, ", "))
	}
	_, _ = fmt.Fprintln(w)
}

// safe is text that cannot steer a terminal: control characters but newline and tab become spaces.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return ' '
		}
		return r
	}, s)
}

type showCmd struct {
	ID   string `arg:"" help:"The id of a record (mr_…), of an event or of a session; of a session's, its beginning will do."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints one record whole.
func (s showCmd) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	if event.IsULID(s.ID) {
		return s.event(ctx, a, cl)
	}
	if !strings.HasPrefix(s.ID, "mr_") {
		if v, err := cl.Session(ctx, a.namespace(), s.ID); !errors.Is(err, client.ErrNoSession) {
			if err != nil {
				return err
			}
			return summaryCmd{Session: v.SessionID, JSON: s.JSON}.Run(a)
		}
	}
	r, err := cl.Record(ctx, s.ID)
	var status *client.StatusError
	if errors.As(err, &status) && status.Status == 404 {
		return fmt.Errorf("there is no record %q, and no session; find one with: kiro-learn search WORDS, or kiro-learn sessions", s.ID)
	}
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(a.stdout, r)
	}
	printRecord(a.stdout, &r, true)
	return nil
}

// event prints one event whole. Events are listed downwards from an id, so the one with an id is first below its successor.
func (s showCmd) event(ctx context.Context, a *app, cl *client.Client) error {
	var got struct {
		Items []event.Event `json:"items"`
	}
	if err := cl.Call(ctx, "GET", "/v1/events?limit=1&before="+s.ID+"0", nil, &got); err != nil {
		return err
	}
	if len(got.Items) == 0 || got.Items[0].EventID != s.ID {
		return fmt.Errorf("there is no event %s; list the latest with: kiro-learn sessions", s.ID)
	}
	e := &got.Items[0]
	if s.JSON {
		return printJSON(a.stdout, e)
	}
	b, err := event.ParseBody(e.Body)
	if err != nil {
		return err
	}
	text := b.Text()
	if b.Type == event.BodyJSON {
		text = string(b.Data)
	}
	_, err = fmt.Fprintf(a.stdout, "%s  %s  %s\n  session %s, %s\n%s\n", e.EventID, e.Kind, e.ValidTime, e.SessionID, e.Source.ProjectPath, safe(text))
	return err
}

type tailCmd struct {
	JSON bool `name:"json" help:"Print each event or record as a line of JSON."`
}

// Run prints what is stored from now on until it is interrupted.
func (t tailCmd) Run(a *app) error {
	cl, _, cancel, err := a.collector()
	if err != nil {
		return err
	}
	cancel()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err = cl.Stream(ctx, "/v1/tail", func(line []byte) error {
		if t.JSON {
			_, err := fmt.Fprintf(a.stdout, "%s\n", line)
			return err
		}
		var it struct {
			Event  *event.Event  `json:"event"`
			Record *event.Record `json:"record"`
		}
		if err := json.Unmarshal(line, &it); err != nil {
			return fmt.Errorf("read the feed: %w", err)
		}
		if it.Record != nil {
			_, err := fmt.Fprintf(a.stdout, "%s  %s  %s: %s\n", paint(a.stdout, green, "record"), it.Record.RecordID, it.Record.ObservationType, safe(it.Record.Title))
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "%s   %s  %s: %s\n", paint(a.stdout, blue, "event"), it.Event.EventID, it.Event.Kind, brief(it.Event))
		return err
	})
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// brief is an event in one line.
func brief(e *event.Event) string {
	b, err := event.ParseBody(e.Body)
	if err != nil {
		return ""
	}
	text := b.Text()
	if e.Kind == event.KindToolUse {
		tool := b.Tool()
		text = tool.Name + " " + string(tool.Input)
	}
	return event.CutChars(safe(strings.Join(strings.Fields(text), " ")), 120)
}
