// Package viewer shows a person the memory in a browser: pages made on the server from what the collector's API answers,
// with a little script for what cannot be done without. They need no network, no account and no script to be read. The
// package reaches the store through the API alone.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const resumePause = 500 * time.Millisecond // between two tries to listen where an earlier collector did

// Options of a viewer.
type Options struct {
	API     http.Handler // the collector's API, called in this process
	State   string       // directory in which the address and the key are kept
	Version string
	Now     func() time.Time
	Failed  func(err error) // hears of a page that could not be made
}

// Viewer serves the pages on a loopback address once somebody has asked for them.
type Viewer struct {
	o    Options
	api  api
	gate *gate

	mu     sync.Mutex
	server *http.Server
	quit   chan struct{} // closed when the pages are to end
	closed bool
}

// New makes a viewer that does not listen yet.
func New(o Options) *Viewer {
	return &Viewer{o: o, api: api{o.API}, gate: &gate{now: o.Now}, quit: make(chan struct{})}
}

// Resume listens again where an earlier collector did, if a page may still be open there. Where that place is taken it says
// so, and tries again until the place is free or somebody asks for a link.
func (v *Viewer) Resume(ctx context.Context) error {
	k := readKept(v.o.State)
	if k.Port == 0 || !v.o.Now().Before(k.Until) {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gate.kept = k
	err := v.listen(ctx, k.Port)
	if err != nil {
		go v.resumeLater(ctx, k.Port)
	}
	return err
}

func (v *Viewer) resumeLater(ctx context.Context, port int) {
	again := time.NewTicker(resumePause)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.quit:
			return
		case <-again.C:
		}
		v.mu.Lock()
		done := v.closed || v.server != nil || v.listen(ctx, port) == nil
		v.mu.Unlock()
		if done {
			return
		}
	}
}

// Link makes sure that the pages are served and gives an address that lets one browser in, once.
func (v *Viewer) Link(ctx context.Context) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.server == nil {
		v.gate.kept = readKept(v.o.State)
		if err := v.listen(ctx, v.gate.Port); err != nil {
			if err = v.listen(ctx, 0); err != nil {
				return "", err
			}
		}
	}
	v.gate.Until = v.o.Now().Add(cookieTime + linkTime)
	if err := v.gate.save(v.o.State); err != nil {
		return "", err
	}
	return "http://127.0.0.1:" + strconv.Itoa(v.gate.Port) + "/login?token=" + v.gate.newLink(), nil
}

// listen opens the pages on a port of the loopback address; 0 is any.
func (v *Viewer) listen(ctx context.Context, port int) error {
	if v.closed {
		return errors.New("the collector is leaving")
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listen for the pages: %w", err)
	}
	v.gate.Port = l.Addr().(*net.TCPAddr).Port
	v.server = &http.Server{Handler: v.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	server := v.server
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			v.o.Failed(fmt.Errorf("serve the pages: %w", err))
		}
	}()
	return nil
}

// Close ends the pages within ctx.
func (v *Viewer) Close(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	close(v.quit)
	if v.server != nil {
		_ = v.server.Shutdown(ctx) // what does not end in time is cut off
		_ = v.server.Close()
	}
}
