package recall

import (
	"cmp"
	"math"
	"slices"

	"kiro-learn/internal/event"
)

// The floor of relevance weighs two ways in which a prompt can have come about: somebody means one of the records, or he
// means something else, such as the work that any project has. Each word of the prompt speaks for the one or for the
// other by how likely either way is to bring it up; so does the form of the prompt. The sum is the evidence for a record,
// in nats. By chance the best of many records holds more than that of a few, so what is asked for grows with the number
// of records. Which records a prompt then gets is decided by how far they fall behind the best. The numbers are
// calibrated in docs/recall.md.
type floor struct {
	// How unlikely, in nats, a prompt that means no record is to bring up a given word.
	any  float64 // of courtesy and of any task
	work float64 // of everyday or of any software project
	rare float64 // another word

	held     float64 // the same of a prompt that means a record which holds the word; half of its words are of that sort
	perWords float64 // words of a record, for how common a word is in this project
	unseen   float64 // records that are taken to be without it, since a few cannot tell
	local    float64 // share of that which counts for a word that is rare elsewhere
	title    float64 // added for a word that the record's title holds
	whole    float64 // share of an identifier that is met as a whole, beside its pieces
	run      float64 // added for each word beyond two that stand in the record in the order of the prompt, without a gap
	quoted   float64 // added when these are the whole prompt
	unknown  float64 // taken off for a word that no record of the project holds
	strange  float64 // the same for a rare word
	nobody   float64 // and for a name
	occasion float64 // share by which each further one says less than the one before, in a small project

	question, ours, order, here, mine float64 // of the form of the prompt

	least     float64 // evidence that is asked for in a project of one record
	perRecord float64 // and more, for each time that the number of records grows e-fold
}

func defaultFloor() floor {
	return floor{
		any: 4.5, work: 5.9, rare: 9.2,
		held: 3.2, perWords: 10, unseen: 4, local: 0.2, title: 1.6, whole: 0.85, run: 0.6, quoted: 1.7, unknown: 1.5, strange: 2.2, nobody: 4, occasion: 0.25,
		question: 0.7, ours: 2, order: -2.5, here: -3.4, mine: -1,
		least: 0.4, perRecord: 0.9,
	}
}

const (
	leastOfBest  = 0.4  // of the best score, for a record that holds a word of the prompt itself
	leastNearby  = 0.45 // the same for a record whose neighbours alone hold them
	smallProject = 50   // records up to which that is so in full
	looked       = 10   // best records of which one must pass the floor
)

// says is how unlikely a prompt that means no record is to bring up a word.
func (f *floor) says(q *queryTerm) float64 {
	switch {
	case q.empty():
		return f.any
	case q.software, q.common, digits(q.word) > 0 && digits(q.word) < 5:
		return f.work
	case q.class == classChar:
		return (f.any + f.work) / 2
	}
	return f.rare
}

// empty tells whether a word says nothing about what a prompt means.
func (q *queryTerm) empty() bool {
	return q.chat || q.task || q.class == classExt || len(q.text) == 1 || digits(q.word) == 2
}

// digits is how many digits a number has; 0 for another word.
func digits(word string) int {
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			return 0
		}
	}
	return len(word)
}

// weighed is what a word of the prompt says for a record that holds it, in its title or elsewhere.
type weighed struct{ title, held float64 }

// weigh gives what each word says for a record, and what all of those that no record holds say against any.
func (f *found) weigh() (words []weighed, against float64) {
	words = make([]weighed, len(f.asked))
	n := float64(f.total)
	gain := func(chance, held float64) float64 { return max(0, math.Log(0.5+0.5*math.Exp(-held)/chance)) }
	var strange []float64
	for i := range f.asked {
		q := &f.asked[i]
		weight := min(1, q.weight)
		if q.docs == 0 {
			if s := f.floor.strangeness(q, &f.prompt.form); s > 0 {
				strange = append(strange, s*weight)
			}
			continue
		}
		says := f.floor.says(q)
		chance := math.Exp(-says)
		often := float64(q.docs-1) / ((n + f.floor.unseen) * f.floor.perWords) // it may be a word of this project's everyday
		switch {
		case says <= f.floor.work:
			chance = max(chance, often)
		case !q.name:
			chance = max(chance, f.floor.local*often)
		}
		if q.class == classWhole {
			weight = f.floor.whole * min(1, q.weight/weightWhole)
		}
		words[i] = weighed{title: weight * gain(chance, f.floor.held-f.floor.title), held: weight * gain(chance, f.floor.held)}
	}
	// Who tells a long story uses many words that a project of few records has had no occasion to use: there, each says
	// less than the one before.
	slices.SortFunc(strange, func(a, b float64) int { return cmp.Compare(b, a) })
	further := 1 - f.floor.occasion*min(1, math.Sqrt(smallProject/n))
	share := 1.0
	for _, s := range strange {
		against += share * s
		share *= further
	}
	return words, against
}

// strangeness is what a word that no record of the project holds says against all of them.
func (f *floor) strangeness(q *queryTerm, p *form) float64 {
	switch {
	case q.class == classWhole, q.class == classChar, digits(q.word) > 0, p.order && q.word == p.verb:
		return 0
	case q.class == classPair: // half of the pairs of a text cross the borders of its words
		return 0.3 * f.unlike(q)
	case q.empty():
		return 0.3 * f.unlike(q)
	case q.piece: // every change brings names that are new
		return 0.5 * f.unlike(q)
	}
	return f.unlike(q)
}

func (f *floor) unlike(q *queryTerm) float64 {
	switch {
	case f.says(q) <= f.work:
		return f.unknown
	case q.name:
		return f.nobody
	}
	return f.strange
}

// evidence is how much speaks for it that the prompt means this record rather than something else, less what is asked
// for in a project of that size.
func (f *found) evidence(s *scored) float64 {
	if f.weighed == nil {
		f.weighed, f.against = f.weigh()
	}
	sum := -f.against
	pairs := map[int]bool{} // positions of characters whose pair the record holds
	for i := range f.asked {
		if q := &f.asked[i]; q.class == classPair && len(s.doc.of(q.hash)) > 0 {
			pairs[q.pos], pairs[q.pos+1] = true, true
		}
	}
	apart := f.apart(s)
	for i := range f.asked {
		q, w := &f.asked[i], &f.weighed[i]
		at := s.doc.of(q.hash)
		switch {
		case len(at) == 0, q.class == classChar && pairs[q.pos], apart && q.empty():
		case !apart && at[0].at>>posBits == fieldTitle:
			sum += w.title
		default:
			sum += w.held
		}
	}
	if apart && f.prompt.form.question {
		sum -= f.floor.question // it asks for something else
	}
	return sum + f.runs(s) + f.formSays() - f.floor.least - f.floor.perRecord*math.Log(float64(max(1, f.total)))
}

// apart tells whether a prompt and a record seem to meet by chance: in one word of everyday at most, while the project knows
// nothing of something else that the prompt speaks of.
func (f *found) apart(s *scored) bool {
	met, unknown := 0, 0
	for i := range f.asked {
		q := &f.asked[i]
		held := q.docs > 0 && len(s.doc.of(q.hash)) > 0
		switch {
		case q.empty(), digits(q.word) > 0:
		case held && (q.class == classWhole || f.floor.says(q) > f.floor.work):
			return false
		case held:
			met++
		case q.docs == 0 && (q.class == classWord || q.class == classPart):
			unknown++
		}
	}
	return met <= 1 && unknown > 0
}

func (f *found) formSays() (sum float64) {
	p := f.prompt.form
	switch {
	case p.question && p.ours:
		sum = f.floor.question + f.floor.ours
	case p.question:
		sum = f.floor.question
	case p.order:
		sum = f.floor.order
	}
	if p.here {
		sum += f.floor.here
	}
	if p.mine {
		sum += f.floor.mine
	}
	return sum
}

// runs is what words say that follow each other in the record as they do in the prompt: the text of an error, or a
// phrase that both use.
func (f *found) runs(s *scored) (sum float64) {
	words := f.prompt.words
	for i := 0; i < len(words); {
		j, full := i, 0
		for {
			if !words[j].empty {
				full++
			}
			if j+1 == len(words) || words[j+1].pos != words[j].pos+1 ||
				closest(s.doc.of(words[j].hash), s.doc.of(words[j+1].hash)) != 1 {
				break
			}
			j++
		}
		if n := j + 1 - i; n >= 3 && full > 0 && n+full >= 5 {
			sum += f.floor.run * float64(n-2)
			if n == len(words) && !f.prompt.form.order {
				sum += f.floor.quoted
			}
		}
		i = j + 1
	}
	return sum
}

// tells tells whether a record itself holds a word of the prompt that says something.
func (f *found) tells(s *scored) bool {
	for k := range f.terms {
		if s.tf[k] > 0 && !f.terms[k].empty() {
			return true
		}
	}
	return false
}

// relevant gives the records that a prompt may be shown, best first; none when the evidence is thin.
func (f *found) relevant() []scored {
	most := math.Inf(-1)
	for i := range f.ranked[:min(len(f.ranked), looked)] {
		most = max(most, f.evidence(&f.ranked[i]))
	}
	if most <= 0 {
		return nil
	}
	best := f.ranked[0].score
	var out []scored
	telling := map[int64]*scored{}
	for i := range f.ranked {
		s := &f.ranked[i]
		if s.score < leastOfBest*best {
			break
		}
		if f.tells(s) {
			telling[s.doc.id] = s
		}
	}
	for i := range f.ranked {
		s := &f.ranked[i]
		if s.score < leastOfBest*best {
			break
		}
		if telling[s.doc.id] != nil || s.score >= leastNearby*best && f.carried(s, telling) {
			out = append(out, *s)
		}
	}
	return out
}

// carried tells whether a record that holds nothing telling of a prompt stands in the same session beside one that is shown
// for good reason. What was noted in passing is often an answer only beside the question before it; what was distilled
// of a turn is about that turn, and the turn before may be about anything.
func (f *found) carried(s *scored, by map[int64]*scored) bool {
	if standsAlone(s.doc) {
		return false
	}
	return slices.ContainsFunc(f.near[s.doc.id], func(n neighbour) bool {
		o := by[n.id]
		return o != nil && s.doc.sameSession(o.doc) && f.evidence(o) > 0
	})
}

// standsAlone tells whether a record tells a whole thing: it was distilled of a turn, whose session is known then.
func standsAlone(d *doc) bool {
	switch d.kind {
	case event.TypeSessionSummary, event.TypeDecision, event.TypeError:
		return true
	}
	return d.session != ""
}
