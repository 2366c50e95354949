package extract

import (
	"slices"
	"strings"
	"unicode"

	"kiro-learn/internal/event"
)

// Bounds of the comparison of two records.
const (
	sameWords = 0.9 // share of words that two records must have in common to say the same
	nearWords = 0.5 // and to be worth asking whether they do
	minWords  = 4   // fewer words say too little to be sure of anything
)

// Match is a record and a newer one of one namespace and type that are alike.
type Match struct {
	Older, Newer *event.Record
	Same         bool // they say the same
	Certain      bool // nobody needs to be asked
	Judged       bool // a model has said otherwise than the texts
}

// Stands tells which of the two goes to the history of the other. The newer one stands for the older, but what an agent or
// a person has saved is only ever replaced by another such record: text that merely passed through a session cannot push it
// aside.
func (m Match) Stands() (old, by string) {
	if saved(m.Older) && !saved(m.Newer) {
		return m.Newer.RecordID, m.Older.RecordID
	}
	return m.Older.RecordID, m.Newer.RecordID
}

// Why is why one stands for the other, in a word.
func (m Match) Why() string {
	if m.Judged {
		return "judged"
	}
	return "duplicate"
}

// Matches compares a new record with older ones, the most alike first as they come. By their texts two records say the same
// when they have the same numbers, names and negations, and nearly the same other words. What only one of them says, such as
// another number, keeps them apart, unless a judge finds that it is the same thing as it is now.
func Matches(older []event.Record, newer *event.Record) (out []Match) {
	b := sketchOf(newer)
	for i := range older {
		o := &older[i]
		if o.RecordID == newer.RecordID || o.Namespace != newer.Namespace || o.ObservationType != newer.ObservationType {
			continue
		}
		a := sketchOf(o)
		m := Match{Older: o, Newer: newer, Same: a.says(b)}
		m.Certain = m.Same && slices.Equal(a.words, b.words)
		if m.Same || a.near(b) && (saved(newer) || !saved(o)) {
			out = append(out, m)
		}
	}
	return out
}

// says tells whether two records say the same as far as words can tell.
func (s sketch) says(other sketch) bool {
	if !slices.Equal(s.exact, other.exact) {
		return false
	}
	if len(s.words) < minWords || len(other.words) < minWords {
		return slices.Equal(s.words, other.words)
	}
	return shared(s.words, other.words) >= sameWords
}

// near tells whether two records are alike enough that they may be about one thing.
func (s sketch) near(other sketch) bool {
	return min(len(s.words), len(other.words)) >= minWords && shared(s.words, other.words) >= nearWords
}

// shared is the share that two sorted lists have in common of all that is in either.
func shared(a, b []string) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

func saved(r *event.Record) bool {
	return r.Strategy == event.StrategyMCPObservation || r.Strategy == event.StrategyMCPSessionSummary
}

// sketch is what a record says, without order.
type sketch struct {
	exact []string // what makes a difference by itself: numbers, names in code, files, negations
	words []string
}

// sketchOf are a record's words in lower case; code spans and names keep their inner signs.
func sketchOf(r *event.Record) (s sketch) {
	text := strings.Join(append([]string{r.Title, r.Summary}, r.Facts...), "\n")
	for _, w := range strings.FieldsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./-'’", c)
	}) {
		w = strings.ToLower(strings.Trim(w, "./-'’_"))
		if w == "" {
			continue
		}
		if telling(w) {
			s.exact = append(s.exact, w)
		} else {
			s.words = append(s.words, w)
		}
	}
	for _, f := range r.FilesTouched {
		s.exact = append(s.exact, strings.ToLower(f))
	}
	for _, l := range []*[]string{&s.exact, &s.words} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
	return s
}

// telling tells whether a word alone makes a difference.
func telling(w string) bool {
	switch w {
	case "not", "no", "never", "none", "without", "instead", "except", "only", "nor", "cannot", "always", "before", "after", "more", "less", "on", "off",
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twice", "once", "true", "false", "enable", "disable", "enabled", "disabled":
		return true
	}
	return strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t") || strings.ContainsAny(w, "0123456789_./")
}

// terms are what a new record is looked up by: the longest of its words, which are the rarest more often than not.
func (s sketch) terms(max int) []string {
	all := slices.Clone(s.words)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all[:min(len(all), max)]
}

// Query is the text by which older records that may say the same as r are found in a search.
func Query(r *event.Record) string {
	s := sketchOf(r)
	return strings.Join(append(s.terms(12), s.exact[:min(len(s.exact), 6)]...), " ")
}
