package collector

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"kiro-learn/internal/project"
	"kiro-learn/internal/session"
)

const (
	houseEvery = 6 * time.Hour
	sessionAge = 60 * 24 * time.Hour // after which what hooks remember of a session goes
	projectMax = 4096                // remembered directories
)

// housekeep bounds the small files that hooks leave in the state directory, and ends the grace of what was forgotten.
func (c *Collector) housekeep(ctx context.Context) {
	timer := time.NewTimer(time.Minute) // not while hooks wait for us to come up
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		session.Store{Dir: c.o.Dirs.Sessions()}.Prune(c.o.Now().Add(-sessionAge))
		home, _ := os.UserHomeDir()
		project.Resolver{Home: home, Temp: os.TempDir(), Memory: filepath.Join(c.o.Dirs.State, "projects")}.Prune(projectMax)
		if _, err := c.purge(ctx, c.o.Now().Add(-c.grace())); err != nil && ctx.Err() == nil {
			c.o.Log.Warn("what was forgotten could not be erased", err)
		}
		timer.Reset(houseEvery)
	}
}
