package recall

const (
	sameWords     = 0.9 // share of the words of two records from which on they say the same
	sameWithTitle = 0.6 // the same when they have one title
)

// alike tells whether two records say the same, so that showing both would waste the agent's attention. Names of files
// are left out: what was found twice was often found in two places.
func alike(a, b *doc) bool {
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
