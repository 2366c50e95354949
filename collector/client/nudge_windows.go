package client

import (
	"context"
	"fmt"
	"time"
)

// nudgeTime bounds a nudge.
const nudgeTime = 50 * time.Millisecond

func sendNudge(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), nudgeTime)
	defer cancel()
	conn, err := dialLocal(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(nudgeTime))
	if _, err := conn.Write([]byte(nudge)); err != nil {
		return fmt.Errorf("nudge the collector: %w", err)
	}
	return nil
}
