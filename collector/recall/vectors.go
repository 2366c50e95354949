package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	maxVectors = 50000 // newest vectors of a project that are compared
	nearestFew = 40    // records whose vectors are nearest; the last of them says how near any record is
	maxMeant   = 2000  // bytes of what a prompt asks that are made a vector of
)

// Vectors find records that mean the same in other words, as a tail behind those that share words with the prompt. They
// never decide whether a prompt is given anything.
type Vectors struct {
	Model string
	Wait  time.Duration // a search waits no longer for them, counted from its beginning
	// Embed gives a text's vector in the form of those in the store.
	Embed func(ctx context.Context, text string) ([]byte, error)
}

// UseVectors has the engine's searches look at vectors, too. It must be called before the first of them.
func (e *Engine) UseVectors(v *Vectors) { e.vectors = v }

// nearest is a record by the cosine of its vector and the prompt's.
type nearest struct {
	id     int64
	cosine float64
}

// lookNear begins to find the records nearest to what a prompt asks. wait gives them, the nearest first, or none when
// they do not come in time; stop must be called.
func (e *Engine) lookNear(ctx context.Context, namespace string, p *prompt) (wait func() []nearest, stop func()) {
	if e.vectors == nil || e.tuning.vectors == 0 || p.ask == "" {
		return func() []nearest { return nil }, func() {}
	}
	ctx, stop = context.WithTimeout(ctx, e.vectors.Wait)
	found := make(chan []nearest, 1)
	go func() {
		v, err := e.vectors.Embed(ctx, p.ask)
		if err != nil {
			found <- nil // whoever made the vectors has told of it
			return
		}
		near, err := e.nearestTo(ctx, namespace, v)
		if err != nil {
			near = nil
		}
		found <- near
	}()
	return func() []nearest {
		select {
		case near := <-found:
			return near
		case <-ctx.Done():
			return nil
		}
	}, stop
}

func (e *Engine) nearestTo(ctx context.Context, namespace string, v []byte) ([]nearest, error) {
	var near []nearest
	err := e.src.EachVector(ctx, namespace, e.vectors.Model, maxVectors, func(id int64, o []byte) {
		c := cosine(v, o)
		if c <= 0 || len(near) == nearestFew && c <= near[len(near)-1].cosine {
			return
		}
		at, _ := slices.BinarySearchFunc(near, c, func(n nearest, c float64) int { return cmp.Compare(c, n.cosine) })
		if len(near) == nearestFew {
			near = near[:nearestFew-1]
		}
		near = slices.Insert(near, at, nearest{id, c})
	})
	return near, err
}

// cosine is that of the angle between two vectors of signed bytes, 0 when they are not of one kind.
func cosine(a, b []byte) float64 {
	if len(a) != len(b) {
		return 0
	}
	var ab, aa, bb int64
	for i := range a {
		x, y := int64(int8(a[i])), int64(int8(b[i]))
		ab += x * y
		aa += x * x
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(ab) / math.Sqrt(float64(aa)*float64(bb))
}

// addNearest lifts the records nearest to the prompt by how much nearer they are than the last of them, and puts those
// behind the others that share no word with it.
func (e *Engine) addNearest(ctx context.Context, q Query, f *found, near []nearest) error {
	if len(near) == 0 {
		return nil
	}
	at := make(map[int64]int, len(f.ranked))
	for i := range f.ranked {
		at[f.ranked[i].doc.id] = i
	}
	var missing []int64
	for _, n := range near {
		if _, ok := at[n.id]; !ok {
			missing = append(missing, n.id)
		}
	}
	docs, err := e.docs(ctx, q.Namespace, missing)
	if err != nil {
		return fmt.Errorf("reading records near in meaning: %w", err)
	}
	for _, d := range docs {
		if q.passes(d) {
			none := make([]float64, len(f.terms))
			at[d.id] = len(f.ranked)
			f.ranked = append(f.ranked, scored{doc: d, tf: none, gave: none, all: none})
		}
	}
	best := 1.0
	if len(f.ranked) > 0 {
		best = max(best, f.ranked[0].score)
	}
	far := 0.0
	if len(near) == nearestFew {
		far = near[len(near)-1].cosine
	}
	for _, n := range near {
		if i, ok := at[n.id]; ok && near[0].cosine > far {
			f.ranked[i].score += e.tuning.vectors * best * (n.cosine - far) / (near[0].cosine - far)
		}
	}
	sortRanked(f.ranked)
	return nil
}
