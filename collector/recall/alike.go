package recall

import "math/bits"

const (
	sameWords     = 0.9 // share of the words of two records from which on they say the same
	sameWithTitle = 0.6 // the same when they have one title
)

// alike tells whether two records say the same, so that showing both would waste the agent's attention. Names of files
// are left out: what was found twice was often found in two places.
func alike(a, b *doc) bool {
	if a.sketch.far(&b.sketch) {
		return false
	}
	shared, all, titleShared, titleAll := 0, 0, 0, 0
	for i, j := 0, 0; i < len(a.occ) || j < len(b.occ); {
		var inA, inB, titleA, titleB bool
		switch {
		case j == len(b.occ) || i < len(a.occ) && a.occ[i].term < b.occ[j].term:
			inA, titleA, i = a.termAt(i)
		case i == len(a.occ) || b.occ[j].term < a.occ[i].term:
			inB, titleB, j = b.termAt(j)
		default:
			inA, titleA, i = a.termAt(i)
			inB, titleB, j = b.termAt(j)
		}
		all += count(inA || inB)
		shared += count(inA && inB)
		titleAll += count(titleA || titleB)
		titleShared += count(titleA && titleB)
	}
	least := sameWords
	if titleAll > 0 && titleShared == titleAll {
		least = sameWithTitle
	}
	return all > 0 && float64(shared) >= least*float64(all)
}

// termAt tells of the term at occurrence i whether it stands in the text, whether in the title, and where the next term begins.
func (d *doc) termAt(i int) (text, title bool, next int) {
	next = i
	for ; next < len(d.occ) && d.occ[next].term == d.occ[i].term; next++ {
		switch d.occ[next].at >> posBits {
		case fieldTitle:
			text, title = true, true
		case fieldFiles:
		default:
			text = true
		}
	}
	return text, title, next
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sketch is a small picture of the words of a doc, names of files left out, by which most pairs are told apart.
type sketch struct {
	words int
	bits  [4]uint64 // one set for each word, which some share
}

func sketchOf(d *doc) (s sketch) {
	for i := 0; i < len(d.occ); {
		term := d.occ[i].term
		text, _, next := d.termAt(i)
		if i = next; text {
			s.words++
			s.bits[term>>6&3] |= 1 << (term & 63)
		}
	}
	return s
}

// far tells whether two docs certainly share less than sameWithTitle of their words. If they shared that much, the words
// that only one has would be at most (1-sameWithTitle)/(1+sameWithTitle) of the words of both, and no more bits could differ.
func (s *sketch) far(o *sketch) bool {
	differ := 0
	for i := range s.bits {
		differ += bits.OnesCount64(s.bits[i] ^ o.bits[i])
	}
	return float64(differ)*(1+sameWithTitle) > float64(s.words+o.words)*(1-sameWithTitle)
}
