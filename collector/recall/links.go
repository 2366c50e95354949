package recall

import (
	"cmp"
	"math"
	"slices"
)

const (
	linkFrom  = 5  // best records whose files are followed
	linkTerms = 20 // pieces of their paths that are followed, the most telling ones
)

// addLinks lifts the records that touch the same files as the best few: what was done in one place belongs together even
// where its words differ. A piece of a path counts by how few of the candidates have it and by the score of the records it comes from.
func (t *tuning) addLinks(all []scored) {
	if t.links == 0 {
		return
	}
	pieces := linksOf(all)
	if len(pieces) == 0 {
		return
	}
	gain, most, best := make([]float64, len(all)), 0.0, 0.0
	for i := range all {
		for _, p := range pieces {
			if n := float64(all[i].doc.inFiles(p.term)); n > 0 {
				gain[i] += p.weight * n / (n + 1)
			}
		}
		most, best = max(most, gain[i]), max(best, all[i].score)
	}
	if most == 0 {
		return
	}
	for i := range all {
		all[i].score += t.links * best * gain[i] / most
	}
}

type link struct {
	term   uint32
	weight float64
}

// linksOf are the most telling pieces of the paths of the best records.
func linksOf(all []scored) []link {
	docs := make(map[uint32]int)
	for i := range all {
		all[i].doc.eachInFiles(func(term uint32, _ int) { docs[term]++ })
	}
	if len(docs) == 0 {
		return nil
	}
	top := make([]int, len(all))
	for i := range top {
		top[i] = i
	}
	slices.SortStableFunc(top, func(a, b int) int { return cmp.Compare(all[b].score, all[a].score) })
	top = top[:min(len(top), linkFrom)]
	at := make(map[uint32]int)
	var out []link
	for _, i := range top {
		all[i].doc.eachInFiles(func(term uint32, n int) {
			d := docs[term]
			if d < 2 || d*2 > len(all) { // of one record alone, or of most
				return
			}
			if _, ok := at[term]; !ok {
				at[term] = len(out)
				out = append(out, link{term: term})
			}
			out[at[term]].weight += all[i].score * float64(n) / float64(n+1) * math.Log(float64(len(all))/float64(d))
		})
	}
	slices.SortFunc(out, func(a, b link) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term)) })
	return out[:min(len(out), linkTerms)]
}

// eachInFiles gives the terms of a record's files, and how often each occurs there.
func (d *doc) eachInFiles(f func(term uint32, n int)) {
	if d.length[fieldFiles] == 0 {
		return
	}
	for i := 0; i < len(d.occ); {
		term, n := d.occ[i].term, 0
		for ; i < len(d.occ) && d.occ[i].term == term; i++ {
			if d.occ[i].at>>posBits == fieldFiles {
				n++
			}
		}
		if n > 0 {
			f(term, n)
		}
	}
}

// inFiles is how often a term occurs in a record's files.
func (d *doc) inFiles(term uint32) (n int) {
	if d.length[fieldFiles] == 0 {
		return 0
	}
	for _, o := range d.of(term) {
		if o.at>>posBits == fieldFiles {
			n++
		}
	}
	return n
}
