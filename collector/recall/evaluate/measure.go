package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"kiro-learn/collector/recall"
	"kiro-learn/collector/store"
)

// depth is how many records every query asks for: what is behind them counts as not found.
const depth = 20

// Measure loads a set into a new database in dir, asks all of its queries, and writes the measures to w.
func Measure(ctx context.Context, set io.Reader, dir string, w io.Writer) (err error) {
	s, err := Read(set)
	if err != nil {
		return err
	}
	db, err := store.Open(filepath.Join(dir, "memory.db"), store.Options{Index: recall.Index{}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	begun := time.Now()
	if err := Load(ctx, s, db); err != nil {
		return err
	}
	records := 0
	for i := range s {
		records += len(s[i].Records)
	}
	if _, err := fmt.Fprintf(w, "%-10s %d in %d collections, loaded in %s\n", "records", records, len(s), time.Since(begun).Round(time.Millisecond)); err != nil {
		return err
	}
	r, err := Run(ctx, s, recall.New(db), depth)
	if err != nil {
		return err
	}
	return r.Write(w)
}
