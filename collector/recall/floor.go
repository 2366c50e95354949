package recall

import "math"

// The floor of relevance. A record is shown when it holds enough of what the prompt says, rare words counting for
// more. The numbers are calibrated in docs/recall.md.
const (
	background  = 60   // records of general talk that every project is thought to have beside its own
	leastShare  = 0.42 // of the informative weight of the prompt that the record must hold
	leastWeight = 2.2  // of the words it holds, in the unit of rarity
)

// evidence is how much of a prompt a record holds.
type evidence struct {
	share   float64 // of the informative weight of the prompt, 0 to 1
	weight  float64 // sum of the rarity of the words held
	matched int     // informative words held
	asked   int     // informative words of the prompt
}

// rarity is the weight of a word as evidence: by its inverse frequency in the project together with the background,
// so that in a project of three records a word of all three is still rarer than a word of everyday.
func rarity(q *queryTerm, total int) float64 {
	n, d := float64(total+background), float64(q.docs)
	w := q.weight * math.Log(1+(n-d+0.5)/(d+0.5))
	switch {
	case q.chat:
		return w * 0.15
	case q.task:
		return w * 0.3
	case q.class == classExt, len(q.text) == 1:
		return w * 0.15
	}
	return w
}

// evidenceOf weighs what a record holds of the prompt against all that the prompt says.
func (f *found) evidenceOf(s *scored) evidence {
	var e evidence
	all := 0.0
	held := make(map[string]bool, len(f.terms))
	for k := range f.terms {
		if s.tf[k] > 0 {
			held[f.terms[k].text] = true
		}
	}
	for i := range f.asked {
		q := &f.asked[i]
		w := rarity(q, f.total)
		all += w
		informative := !q.chat && !q.task && q.class != classWhole
		if informative {
			e.asked++
		}
		if held[q.text] {
			e.weight += w
			if informative {
				e.matched++
			}
		}
	}
	if all > 0 {
		e.share = e.weight / all
	}
	return e
}

func (e evidence) enough() bool {
	return e.matched > 0 && e.share >= leastShare && e.weight >= leastWeight
}
