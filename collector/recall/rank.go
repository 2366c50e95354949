package recall

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// tuning are the numbers of the ranking. They are few, and each is measured on and off in docs/recall.md.
type tuning struct {
	k1        float64             // BM25: saturation of repeated terms
	b         [fieldCount]float64 // weight of a field's length
	field     [fieldCount]float64 // weight of an occurrence by field
	context   float64             // weight of an occurrence in a neighbouring record
	after     float64
	span      int     // how many neighbours on either side
	inContext int     // candidates, best first, whose neighbours are looked at
	proximity float64 // bonus of query terms that stand near each other
	session   float64 // tie-breaker: share of the best score nearby in time
	dates     float64 // bonus of a record of a day that the prompt names, as a share of the best score
	when      float64 // bonus of a record that speaks of a time, when the prompt asks for one
	links     float64 // bonus of the record that shares most with the files of the best, as a share of the best score
	vectors   float64 // bonus of the record whose vector is nearest, as a share of the best score
	name      float64 // weight of names
	maxTerms  int     // terms that are searched for
	pool      int     // candidates of the first stage
	postings  int     // occurrences that the first stage may walk
	keepStops bool    // search for stop words too
	floor     floor
}

func defaults() tuning {
	return tuning{
		k1:        0.75,
		b:         [fieldCount]float64{0.25, 0.25, 0.25, 0.25, 0}, // a list of files is no text that could be wordy
		field:     [fieldCount]float64{2, 1, 1, 1, 0.7},
		context:   0.35,
		after:     0.6,
		span:      2,
		inContext: 30,
		proximity: 0.3,
		session:   0.15,
		maxTerms:  24,
		pool:      80,
		postings:  1000,
		dates:     0.5,
		when:      0.3,
		links:     0.25,
		vectors:   0.1,
		name:      1.4,
		floor:     defaultFloor(),
	}
}

// weigh gives the terms their rarity and keeps the best of them, in the order of the prompt.
func (t *tuning) weigh(terms []queryTerm, docs []int, total int) []queryTerm {
	if total == 0 {
		return nil
	}
	for i := range terms {
		terms[i].docs = docs[i]
		terms[i].idf = rareness(docs[i], total)
		if terms[i].name {
			terms[i].idf *= t.name
		}
	}
	var kept []queryTerm
	for _, q := range terms {
		if q.docs > 0 {
			kept = append(kept, q)
		}
	}
	if len(kept) > t.maxTerms {
		sort.SliceStable(kept, func(i, j int) bool { return kept[i].weight*kept[i].idf > kept[j].weight*kept[j].idf })
		kept = kept[:t.maxTerms]
		sort.SliceStable(kept, func(i, j int) bool { return kept[i].pos < kept[j].pos })
	}
	return kept
}

// rareness is how much it tells, in nats, that a record holds a word which docs of all total records hold.
func rareness(docs, total int) float64 {
	return math.Log(1 + (float64(total-docs)+0.5)/(float64(docs)+0.5))
}

// scored is a candidate on its way through the ranking.
type scored struct {
	doc   *doc
	tf    []float64 // by query term, weighted by field and length
	gave  []float64 // by query term, what it gave to own
	all   []float64 // tf with the neighbours' share
	own   float64
	score float64
	near  float64
}

// rank scores docs against the terms. near gives the neighbours of a record; those that are no candidates are left out.
func (t *tuning) rank(terms []queryTerm, docs []*doc, near map[int64][]neighbour, p *prompt) []scored {
	out := make([]scored, len(docs))
	at := make(map[int64]int, len(docs))
	avg := averageLengths(docs)
	for i, d := range docs {
		at[d.id] = i
		out[i] = scored{doc: d, tf: t.frequencies(terms, d, &avg)}
		out[i].near = t.nearness(terms, d)
	}
	for i := range out {
		s := &out[i]
		s.gave = make([]float64, len(terms))
		for k := range terms {
			s.gave[k] = t.part(&terms[k], s.tf[k])
			s.own += s.gave[k]
		}
		tf := s.tf
		if t.context > 0 {
			tf = append([]float64(nil), s.tf...)
			for _, n := range near[s.doc.id] {
				j, ok := at[n.id]
				if !ok || !s.doc.sameSession(out[j].doc) {
					continue
				}
				for k, f := range out[j].tf {
					tf[k] += t.contextWeight(n.offset) * f
				}
			}
		}
		s.all = tf
		s.score = t.sum(terms, tf) + t.proximity*s.near
	}
	t.addLinks(out)
	t.addDates(out, p.dates)
	if p.when {
		t.addTimes(out)
	}
	t.addSessions(out)
	sortRanked(out)
	return out
}

// sortRanked brings the best to the front, the newest of equals first.
func sortRanked(all []scored) {
	slices.SortStableFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.doc.id, a.doc.id))
	})
}

// sameSession tells whether two records saved one after the other are of one session: by id where it is known, else
// because no pause lies between them.
func (d *doc) sameSession(o *doc) bool {
	if d.session != "" && o.session != "" {
		return d.session == o.session
	}
	return d.created.Sub(o.created).Abs() <= sessionPause
}

func (t *tuning) contextWeight(offset int) float64 {
	w := t.context
	if offset > 0 {
		w *= t.after
	}
	return w
}

func (t *tuning) sum(terms []queryTerm, tf []float64) (s float64) {
	for k, f := range tf {
		s += t.part(&terms[k], f)
	}
	return s
}

// part is what one term gives a record in which it has a weighted frequency of f.
func (t *tuning) part(q *queryTerm, f float64) float64 {
	if f == 0 {
		return 0
	}
	return q.weight * q.idf * f * (t.k1 + 1) / (t.k1 + f)
}

// averageLengths are the mean lengths of the fields of those docs that have them.
func averageLengths(docs []*doc) (avg [fieldCount]float64) {
	var n [fieldCount]float64
	for _, d := range docs {
		for f, l := range d.length {
			if l > 0 {
				avg[f] += float64(l)
				n[f]++
			}
		}
	}
	for f := range avg {
		avg[f] = max(1, avg[f]/max(1, n[f]))
	}
	return avg
}

// frequencies are how often each term occurs in a record, an occurrence counting by its field and the field's length.
func (t *tuning) frequencies(terms []queryTerm, d *doc, avg *[fieldCount]float64) []float64 {
	var weight [fieldCount]float64
	for f := range weight {
		weight[f] = t.field[f] / (1 - t.b[f] + t.b[f]*float64(d.length[f])/avg[f])
	}
	tf := make([]float64, len(terms))
	for k := range terms {
		for _, o := range d.of(terms[k].hash) {
			tf[k] += weight[o.at>>posBits]
		}
	}
	return tf
}

// nearness rewards terms that follow each other in the prompt and stand near each other in a field of the record.
func (t *tuning) nearness(terms []queryTerm, d *doc) (s float64) {
	if t.proximity == 0 {
		return 0
	}
	for k := 0; k+1 < len(terms); k++ {
		a, b := &terms[k], &terms[k+1]
		gap := b.pos - a.pos
		if gap > 6 {
			continue
		}
		dist := closest(d.of(a.hash), d.of(b.hash))
		if dist > 8 {
			continue
		}
		s += math.Min(a.idf*a.weight, b.idf*b.weight) / float64(max(1, dist))
	}
	return s
}

// closest is the least distance of two terms within a field, a large number when no field holds both.
func closest(a, b []occurrence) int {
	best := 1 << 20
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i].at, b[j].at
		if x>>posBits == y>>posBits {
			best = min(best, int(max(x, y)-min(x, y)))
		}
		if x < y {
			i++
		} else {
			j++
		}
	}
	return best
}

// addSessions adds the tie-breaker: records of a session in which others match well come before ones that stand alone.
func (t *tuning) addSessions(all []scored) {
	if t.session == 0 || len(all) == 0 {
		return
	}
	group := sessionsOf(all)
	best := make(map[int]float64)
	for i := range all {
		best[group[i]] = max(best[group[i]], all[i].own)
	}
	for i := range all {
		all[i].score += t.session * best[group[i]]
	}
}

// sessionsOf numbers the sessions of the records: by id where it is known, else by pauses of half an hour.
func sessionsOf(all []scored) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return all[order[i]].doc.created.Before(all[order[j]].doc.created) })
	out := make([]int, len(all))
	ids := make(map[string]int)
	n, last := 0, -1
	for _, i := range order {
		if s := all[i].doc.session; s != "" {
			if ids[s] == 0 {
				n++
				ids[s] = n
			}
			out[i] = ids[s]
			continue
		}
		if last < 0 || all[i].doc.created.Sub(all[last].doc.created) > sessionPause {
			n++
		}
		out[i], last = n, i
	}
	return out
}

// addDates adds to the records that were made on the days that the prompt names, or in the week that follows: what
// happened is told afterwards.
func (t *tuning) addDates(all []scored, dates []dateRange) {
	if t.dates == 0 {
		return
	}
	for _, d := range dates {
		d.to = d.to.AddDate(0, 0, 7)
		best := 0.0
		for i := range all {
			best = max(best, all[i].score)
		}
		for i := range all {
			if all[i].score > 0 && d.holds(all[i].doc.created) {
				all[i].score += t.dates * best
			}
		}
	}
}

// addTimes lifts, for a prompt that asks when something was, the records that speak of a time.
func (t *tuning) addTimes(all []scored) {
	for i := range all {
		for _, h := range timeTerms() {
			if len(all[i].doc.of(h)) > 0 {
				all[i].score *= 1 + t.when
				break
			}
		}
	}
}
