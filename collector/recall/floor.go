package recall

import "math"

// The floor of relevance has two steps. Whether a prompt gets anything is decided by what the prompt is about: how much
// of what it says this project has ever spoken of, names and identifiers counting most and words of everyday least,
// and how many telling words a single record holds. A large project has spoken of nearly everything, so there the words
// that one record holds must be rare together as well. Which records a prompt then gets is decided by how far they fall
// behind the best. The numbers are calibrated in docs/recall.md.
const (
	leastEvidence = 0.84 // of the known share and the words held together
	perWord       = 0.14 // what a telling word that a record holds adds to the known share
	mostWords     = 4.0  // telling words beyond which another says nothing more
	smallProject  = 10.0 // records at which a word that the project does not know counts half
	fewRecords    = 665  // records up to which rarity is not asked for
	manyRecords   = 3000 // records from which on it is asked for in full
	leastRarity   = 0.6  // of the rarity of a word that is in one record only
	leastOfBest   = 0.4  // of the best score, for a record that holds a word of the prompt itself
	leastNearby   = 0.45 // the same for a record whose neighbours alone hold them
)

// tells is how much a word says about what a prompt is about, whatever the project.
func tells(q *queryTerm) float64 {
	switch {
	case q.chat:
		return 0.1 * q.weight
	case q.task, q.common, q.class == classExt, len(q.text) == 1:
		return 0.3 * q.weight
	case q.name:
		return 2 * q.weight
	}
	return q.weight
}

// holds is how much a word of the prompt counts when a record holds it: one for a telling word, half for one of everyday
// and for an identifier that is met as a whole, beside its pieces; less for one of any software project, unless this one
// has a few records only; nothing for courtesy.
func (f *found) holds(q *queryTerm) float64 {
	switch {
	case q.chat, q.task, q.class == classExt, len(q.text) == 1:
		return 0
	case q.class == classWhole:
		return 0.5
	case q.software && f.total > smallProject:
		return 0.4 * min(1, q.weight)
	case q.common:
		return 0.5 * min(1, q.weight)
	case q.class == classPair, q.class == classChar:
		return 0.7 * min(1, q.weight)
	}
	return min(1, q.weight)
}

// known is the share of what a prompt says that the project has spoken of, 0 to 1. A project of few records has had
// little occasion, so there a word that is missing counts for less.
func (f *found) known() float64 {
	known, unknown := 0.0, 0.0
	for i := range f.asked {
		q := &f.asked[i]
		if q.docs > 0 {
			known += tells(q)
		} else {
			unknown += tells(q)
		}
	}
	n := float64(f.total)
	unknown *= n / (n + smallProject)
	if known == 0 {
		return 0
	}
	return known / (known + unknown)
}

// held is how many telling words of the prompt a record holds.
func (f *found) held(s *scored) (n float64) {
	for k := range f.terms {
		if s.tf[k] > 0 {
			n += f.holds(&f.terms[k])
		}
	}
	return n
}

// rarity is how unlikely a record is to hold by chance the words of the prompt that it holds: the sum of their rarities
// in nats. An identifier or a path that is met as a whole counts beside its pieces, and words that say little count 0.3.
func (f *found) rarity(s *scored) (sum float64) {
	for k := range f.terms {
		q := &f.terms[k]
		if s.tf[k] == 0 {
			continue
		}
		r := rareness(q.docs, f.total)
		switch {
		case q.class == classWhole:
			sum += r
		case q.chat:
		case q.task, q.common, q.software, q.class == classExt, len(q.text) == 1:
			sum += 0.3 * q.weight * r
		default:
			sum += q.weight * r
		}
	}
	return sum
}

// rareEnough tells whether what a record holds of the prompt is rare enough for a project of that size. A prompt that is
// nothing but telling words, all of which the record holds, asks for just that record.
func (f *found) rareEnough(s *scored) bool {
	if f.total <= fewRecords {
		return true
	}
	large := min(1, math.Log(float64(f.total)/fewRecords)/math.Log(manyRecords/fewRecords))
	return f.rarity(s) >= large*leastRarity*math.Log(float64(f.total)) || f.asksFor(s)
}

func (f *found) asksFor(s *scored) bool {
	if len(f.terms) != len(f.asked) {
		return false
	}
	for k := range f.terms {
		q := &f.terms[k]
		if s.tf[k] == 0 || q.chat || q.task || q.common || q.software {
			return false
		}
	}
	return true
}

// relevant gives the records that a prompt may be shown, best first; none when the evidence is thin.
func (f *found) relevant() []scored {
	if len(f.ranked) == 0 {
		return nil
	}
	most, rare := 0.0, false
	for i := range f.ranked[:min(len(f.ranked), 10)] {
		most = max(most, f.held(&f.ranked[i]))
		rare = rare || f.rareEnough(&f.ranked[i])
	}
	if most < 1 || !rare || f.known()+perWord*min(most, mostWords) < leastEvidence {
		return nil
	}
	best := f.ranked[0].score
	var out []scored
	for i := range f.ranked {
		s := &f.ranked[i]
		if s.score < leastOfBest*best {
			break
		}
		if s.score >= leastNearby*best || f.held(s) > 0 {
			out = append(out, *s)
		}
	}
	return out
}
