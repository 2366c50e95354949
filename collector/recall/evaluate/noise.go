package evaluate

import (
	"context"
	"fmt"
	"slices"

	"kiro-learn/collector/recall"
)

// Noise tells how well the floor of relevance holds.
type Noise struct {
	Unrelated int // prompts asked in a project that they have nothing to do with
	Noisy     int // of these, those that were given something
	Related   int // prompts whose record a search puts among its first ten
	Answered  int // of these, those that were given something
	Right     int // of these, those that were given a right record
}

// NoiseRate is the share of unrelated prompts that were given something, 0 to 1.
func (n Noise) NoiseRate() float64 { return float64(n.Noisy) / float64(max(1, n.Unrelated)) }

// RightRate is the share of related prompts that were given a right record, 0 to 1.
func (n Noise) RightRate() float64 { return float64(n.Right) / float64(max(1, n.Related)) }

// MeasureNoise asks the queries of every collection as prompts in their own project and in that of every other
// collection, where they should get nothing. prompts are more that should get nothing anywhere. Each is asked as if
// by a session that has seen nothing yet.
func MeasureNoise(ctx context.Context, s Set, e *recall.Engine, prompts []string) (Noise, error) {
	var n Noise
	for i := range s {
		c := &s[i]
		_, id := c.index()
		for j := range s {
			for _, q := range s[j].Queries {
				if err := n.ask(ctx, c, id, e, q, i == j); err != nil {
					return n, fmt.Errorf("ask %s: %w", c.Name, err)
				}
			}
		}
		for _, p := range prompts {
			if err := n.ask(ctx, c, id, e, Query{Text: p}, false); err != nil {
				return n, fmt.Errorf("ask %s: %w", c.Name, err)
			}
		}
	}
	return n, nil
}

func (n *Noise) ask(ctx context.Context, c *Collection, id map[string]string, e *recall.Engine, q Query, related bool) error {
	query := recall.Query{Namespace: c.Namespace(), Text: q.Text, Limit: 10}
	right := func(r recall.Result) bool { return slices.Contains(q.Gold, id[r.RecordID]) }
	if related {
		found, err := e.Search(ctx, query)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found, right) {
			return nil
		}
	}
	got, err := e.Context(ctx, query, recall.ContextOptions{})
	if err != nil {
		return err
	}
	switch {
	case related:
		n.Related++
		if len(got.Records) > 0 {
			n.Answered++
		}
		if slices.ContainsFunc(got.Records, right) {
			n.Right++
		}
	default:
		n.Unrelated++
		if len(got.Records) > 0 {
			n.Noisy++
		}
	}
	return nil
}
