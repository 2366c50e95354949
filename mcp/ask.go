package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"kiro-learn/collector/client"
)

// ask runs f with the collector, which is started where none is running. All of it is bounded by callTime, from the
// moment on at which it is its turn.
func (s *server) ask(ctx context.Context, f func(ctx context.Context) error) error {
	wait := time.NewTimer(turnTime)
	defer wait.Stop()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return context.DeadlineExceeded
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := f(ctx)
	if s.absent(err) {
		if _, ready := s.client.StartAndWait(ctx, s.o.Program); ready == nil {
			err = f(ctx)
		}
	}
	return err
}

// absent tells whether an error means that a collector is to be started.
func (s *server) absent(err error) bool {
	return (errors.Is(err, client.ErrAbsent) || errors.Is(err, client.ErrForeign)) && !s.client.Remote() && s.o.Config.Collector.Autostart
}

// explain turns a failed question to the collector into a sentence for the model. what was being done.
func (s *server) explain(what string, err error) error {
	var status *client.StatusError
	if errors.As(err, &status) && status.Status < 500 {
		return fmt.Errorf("could not %s: %s", what, status.Text)
	}
	s.o.Log.Warn("the collector did not answer a tool", err)
	return fmt.Errorf("could not %s: the memory cannot be reached at the moment. Go on without it; if it stays so, the user can run: kiro-learn doctor", what)
}

// fault is an error of ours in an answer that has no place for one, which makes it one of the protocol.
func fault(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

func isNotFound(err error) bool {
	var status *client.StatusError
	return errors.As(err, &status) && status.Status == 404
}
