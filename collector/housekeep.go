package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kiro-learn/internal/config"
	"kiro-learn/internal/logfile"
	"kiro-learn/internal/session"
)

const (
	houseEvery = 6 * time.Hour
	sessionAge = 60 * 24 * time.Hour // after which what hooks remember of a session goes
	projectMax = 4096                // remembered directories
)

// housekeep bounds the small files that hooks leave in the state directory, and looks after the database.
func (c *Collector) housekeep(ctx context.Context) {
	due, torn, err := c.store.CheckDue(ctx)
	if err != nil {
		c.o.Log.Warn("it is not known when the database was checked", err)
	}
	first := time.Minute // not while hooks wait for us to come up
	if torn {
		first = 5 * time.Second
	}
	timer := time.NewTimer(first)
	defer timer.Stop()
	checked := !due
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		session.Store{Dir: c.o.Dirs.Sessions()}.Prune(c.o.Now().Add(-sessionAge))
		c.resolver().Prune(projectMax)
		c.upkeep(ctx, !checked)
		checked = true
		timer.Reset(houseEvery)
	}
}

// upkeep ends the grace of what was forgotten, lets go what is too old by the settings, and checks the database where that
// is due.
func (c *Collector) upkeep(ctx context.Context, check bool) {
	warn := func(cause string, err error) {
		if err != nil && ctx.Err() == nil {
			c.o.Log.Warn(cause, err)
		}
	}
	_, err := c.purge(ctx, c.o.Now().Add(-c.grace()))
	warn("what was forgotten could not be erased", err)
	ago := func(age config.Age) (t time.Time) {
		if age > 0 {
			t = c.o.Now().Add(-time.Duration(age))
		}
		return t
	}
	if r := c.o.Config.Retention; r.Events > 0 || r.Records > 0 {
		_, err := c.store.Expire(ctx, ago(r.Events), ago(r.Records))
		warn("what is too old could not be let go", err)
	}
	if check {
		warn("the database could not be checked", c.mend(ctx))
	}
	warn("the index could not be tidied", c.store.MergeIndex(ctx))
	warn("the database's log could not be trimmed", c.store.Trim(ctx))
	c.store.DropOldBackups()
}

// mend checks the database and makes its indexes anew when they are damaged. Only what a check has found after that counts
// as damage: one that could not be finished says nothing.
func (c *Collector) mend(ctx context.Context) error {
	problems, err := c.store.Check(ctx)
	if err != nil || len(problems) == 0 {
		return err
	}
	c.o.Log.Error("the database is damaged, and its indexes are made anew", errors.New(problems[0]), logfile.Int("problems", int64(len(problems))))
	failed := c.store.Repair(ctx)
	left, err := c.store.Check(ctx)
	switch {
	case err != nil:
		return errors.Join(failed, err)
	case len(left) == 0:
		c.damage.Store(nil)
		return failed
	}
	c.damage.Store(&left[0])
	return errors.Join(failed, fmt.Errorf("%s; save what can be read with: kiro-learn export FILE", left[0]))
}
