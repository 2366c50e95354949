package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"kiro-learn/collector"
	"kiro-learn/collector/client"
	"kiro-learn/hooks"
	"kiro-learn/internal/config"
)

type collectorCmd struct {
	Run    collectorRun    `cmd:"" help:"Be the collector, in the foreground, until told to stop or idle."`
	Start  collectorStart  `cmd:"" help:"Start one in the background and wait until it answers."`
	Stop   collectorStop   `cmd:"" help:"Ask it to finish and leave."`
	Status collectorStatus `cmd:"" help:"Say whether one answers."`
}

type collectorRun struct {
	Listen    string   `placeholder:"HOST:PORT" help:"Listen on this TCP address too. Every request over it needs the token."`
	TokenFile string   `placeholder:"FILE" help:"Holds the token for --listen; made with a new one if there is none."`
	TLSCert   string   `name:"tls-cert" placeholder:"FILE" help:"Certificate for --listen, PEM."`
	TLSKey    string   `name:"tls-key" placeholder:"FILE" help:"Its key, PEM."`
	Insecure  bool     `help:"Allow --listen on an address that others can reach without TLS."`
	Host      []string `placeholder:"NAME" help:"Another name by which requests may call this host."`
}

// Run is the collector. One that is running already is no failure: that is what the caller wanted.
func (r collectorRun) Run(a *app) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := hooks.Log(a.dirs.State, "collector")
	_, warnings := config.Load(a.dirs)
	for _, w := range warnings {
		log.Warn(w, nil)
	}
	o := collector.Options{Dirs: a.dirs, Config: a.config, Version: a.version, Log: log, Made: hooks.Transcripts(a.dirs).Made, Doctor: a.findings}
	if r.Listen != "" {
		o.Listen = &collector.Listen{Address: r.Listen, TokenFile: r.TokenFile, Cert: r.TLSCert, Key: r.TLSKey, Insecure: r.Insecure, Hosts: r.Host}
	}
	err := collector.Run(ctx, o)
	if errors.Is(err, collector.ErrRunning) && r.Listen != "" {
		return errors.New("a collector is running already and does not listen on TCP; stop it first with: kiro-learn collector stop")
	}
	if errors.Is(err, collector.ErrRunning) || errors.Is(err, collector.ErrStopped) {
		return nil
	}
	if err != nil {
		log.Error("the collector ended", err)
	}
	return err
}

type collectorStart struct {
	Timeout time.Duration `default:"10s" help:"How long to wait for its first answer."`
}

// Run starts a collector unless one answers.
func (c collectorStart) Run(a *app) error {
	cl, err := client.New(a.dirs, a.config.Collector)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	h, err := startCollector(ctx, cl, a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "collector %s is running (pid %d)\n", h.Version, h.PID)
	return err
}

// startCollector makes sure that a collector answers. Where one was started a moment ago and has left again, as after a
// stop, it is started anew as soon as that is allowed.
func startCollector(ctx context.Context, cl *client.Client, a *app) (client.Health, error) {
	for {
		try, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
		h, err := cl.StartAndWait(try, a.program)
		cancel()
		if err == nil || cl.Remote() || ctx.Err() != nil {
			return h, err
		}
	}
}

type collectorStop struct {
	Timeout time.Duration `default:"15s" help:"How long to wait until it has left."`
}

// Run stops the collector that answers. Only a process that answered as our collector is ever asked; none is signalled.
func (c collectorStop) Run(a *app) error {
	stopped, err := stopCollector(a, c.Timeout)
	if err != nil {
		return err
	}
	if !stopped {
		_, err = fmt.Fprintln(a.stdout, "no collector is running")
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "collector stopped")
	return err
}

// stopCollector asks the local collector to leave and waits until it has closed its files; false when none was there.
func stopCollector(a *app, timeout time.Duration) (bool, error) {
	cl, err := client.New(a.dirs, config.Collector{})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	h, err := cl.Health(ctx)
	if errors.Is(err, client.ErrAbsent) || errors.Is(err, client.ErrForeign) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("the collector does not answer; end its process, whose number is in the log %s: %w", a.dirs.LogFile(), err)
	}
	if err := collector.NoteStop(a.dirs); err != nil {
		return false, err
	}
	if err := cl.Call(ctx, "POST", "/v1/shutdown", nil, nil); err != nil {
		return false, err
	}
	for {
		if collector.Gone(a.dirs) { // not before: what it closes last must not come back behind a purge
			return true, nil
		}
		if now, err := cl.Health(ctx); err == nil && now.PID != h.PID {
			return true, nil // a hook has started the next one
		}
		if ctx.Err() != nil {
			return false, fmt.Errorf("the collector (pid %d) has not left within %v", h.PID, timeout)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

type collectorStatus struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run says whether a collector answers; exit 1 when none does.
func (c collectorStatus) Run(a *app) error {
	cl, err := client.New(a.dirs, a.config.Collector)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	h, err := cl.Health(ctx)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	var stats struct {
		Total   map[string]int `json:"total"`
		Traffic client.Traffic `json:"traffic"`
	}
	if err := cl.Call(ctx, "GET", "/v1/stats", nil, &raw); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(a.stdout, map[string]any{"health": h, "address": cl.Address(), "stats": json.RawMessage(raw)})
	}
	if err := json.Unmarshal(raw, &stats); err != nil {
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	_, _ = fmt.Fprintf(a.stdout, "collector %s, pid %d, at %s since %s\nit holds %s\n", h.Version, h.PID, cl.Address(), h.Started, holds(stats.Total))
	t := stats.Traffic
	_, _ = fmt.Fprintf(a.stdout, "in the last minute it stored %s and %s, since it began %d and %d\n", many(t.Events.LastMinute, "event"), many(t.Records.LastMinute, "record"), t.Events.Total, t.Records.Total)
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	for _, c := range t.Calls {
		_, _ = fmt.Fprintf(w, "%s\t%s, %d failed\thalf within %g ms, 99 %% within %g ms\n", c.Call, many(c.N, "call"), c.Failed, c.MedianMS, c.P99MS)
	}
	return w.Flush()
}
