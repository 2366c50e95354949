package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/outbox"
)

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (a *app) queue() *outbox.Queue {
	return outbox.New(a.dirs.Outbox(), outbox.Options{MaxBytes: a.config.Outbox.MaxBytes})
}

type flushCmd struct {
	Extract bool          `help:"Also wait until everything stored has been distilled."`
	Timeout time.Duration `default:"30s" help:"How long it may take."`
	Quiet   bool          `help:"Print nothing."`
}

// Run drains the outbox; exit 1 if events remain.
func (f flushCmd) Run(a *app) error {
	cl, err := client.New(a.dirs, a.config.Collector)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.Timeout)
	defer cancel()
	before, err := a.queue().Status()
	if err != nil {
		return err
	}
	if _, err = startCollector(ctx, cl, a); err == nil {
		err = f.drain(ctx, a, cl)
	}
	if err == nil && f.Extract {
		err = cl.Call(ctx, "POST", "/v1/extract", nil, nil)
	}
	after, statusErr := a.queue().Status()
	switch {
	case statusErr != nil:
		return statusErr
	case after.Pending > 0:
		return &exitError{1, fmt.Sprintf("left in the outbox: %s: %v; try again, or see: kiro-learn doctor", many(after.Pending, "event"), orStill(err))}
	case err != nil:
		return err
	case f.Quiet:
		return nil
	}
	_, err = fmt.Fprintf(a.stdout, "delivered %s, set aside %d\n", many(before.Pending, "event"), after.Quarantined-before.Quarantined)
	return err
}

func orStill(err error) error {
	if err == nil {
		return errors.New("hooks are still adding some")
	}
	return err
}

// drain has the local collector empty the outbox, or sends what is in it to one elsewhere.
func (f flushCmd) drain(ctx context.Context, a *app, cl *client.Client) error {
	for {
		var err error
		if cl.Remote() {
			_, err = a.queue().Drain(ctx, 64, 1<<20, func(batch []outbox.Record) ([]outbox.Verdict, error) { return sendBatch(ctx, cl, batch) })
		} else {
			err = cl.Call(ctx, "POST", "/v1/drain?wait=true", nil, nil)
		}
		if err != nil && !errors.Is(err, outbox.ErrBusy) && !errors.Is(err, outbox.ErrLocked) {
			return err
		}
		st, err := a.queue().Status()
		if err != nil || st.Pending == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond): // another drainer is at it
		}
	}
}

func sendBatch(ctx context.Context, cl *client.Client, batch []outbox.Record) ([]outbox.Verdict, error) {
	var verdicts []outbox.Verdict
	for _, r := range batch {
		_, err := cl.PostEvent(ctx, r.Data, false)
		var refused *client.StatusError
		switch {
		case errors.As(err, &refused) && refused.Status == 400:
			verdicts = append(verdicts, outbox.Reject(refused.Text))
		case err != nil:
			return verdicts, err
		default:
			verdicts = append(verdicts, outbox.Done())
		}
	}
	return verdicts, nil
}

type outboxCmd struct {
	Status     outboxStatus     `cmd:"" help:"Say how many events wait."`
	Quarantine outboxQuarantine `cmd:"" help:"List what could not be delivered, and try or drop it."`
}

type outboxStatus struct {
	JSON        bool `name:"json" help:"Print JSON."`
	ForgetDrops bool `help:"Set the count of events that could not be kept back to nothing."`
}

// Run prints the outbox's state without a collector.
func (o outboxStatus) Run(a *app) error {
	if o.ForgetDrops {
		if err := a.queue().ForgetDrops(); err != nil {
			return err
		}
	}
	st, err := a.queue().Status()
	if err != nil {
		return err
	}
	if o.JSON {
		return printJSON(a.stdout, st)
	}
	_, err = fmt.Fprintf(a.stdout, "waiting: %s (%d bytes); set aside: %d; dropped: %d\n", many(st.Pending, "event"), st.Bytes, st.Quarantined, st.Dropped)
	return err
}

type outboxQuarantine struct {
	JSON    bool `name:"json" help:"Print JSON."`
	Requeue bool `help:"Put everything that can be delivered back into the outbox." xor:"do"`
	Purge   bool `help:"Drop everything set aside, for good." xor:"do"`
}

// Run lists what is set aside; the content itself is not printed, since a terminal keeps it.
func (o outboxQuarantine) Run(a *app) error {
	q := a.queue()
	all := func(outbox.Quarantine) bool { return true }
	if o.Requeue || o.Purge {
		do, word := q.Requeue, "put back"
		if o.Purge {
			do, word = q.Purge, "dropped"
		}
		n, err := do(all)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%s %d\n", word, n)
		return err
	}
	type row struct {
		ID     string    `json:"id"`
		Reason string    `json:"reason"`
		Time   time.Time `json:"time"`
		Size   int       `json:"bytes"`
	}
	rows := []row{}
	err := q.Quarantined(func(x outbox.Quarantine) bool {
		rows = append(rows, row{x.ID, x.Reason, x.Time, len(x.Data)})
		return true
	})
	if err != nil {
		return err
	}
	if o.JSON {
		return printJSON(a.stdout, rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.stdout, "nothing is set aside")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d bytes\t%s\n", r.Time.Local().Format(time.DateTime), r.ID, r.Size, strings.Join(strings.Fields(r.Reason), " "))
	}
	return w.Flush()
}
