package extract

import (
	"slices"
	"strings"
	"unicode"

	"kiro-learn/internal/event"
)

// Bounds of the comparison of two records.
const (
	sameWords   = 0.9 // share of words that two records must have in common to say the same
	minWords    = 4   // fewer words say too little to be sure of anything
	maxCompared = 20  // older records that a new one is compared with
)

// Same tells whether a new record says what an older one says, so that it can stand for it: records of one type, with the
// same numbers, names and negations, and nearly the same other words. What only one of them says, such as another number,
// keeps them apart. A record that an agent or a person has saved is only ever replaced by another such one: text that
// merely passed through a session cannot push it aside.
func Same(older, newer *event.Record) bool {
	if older.Namespace != newer.Namespace || older.ObservationType != newer.ObservationType || saved(older) && !saved(newer) {
		return false
	}
	a, b := sketchOf(older), sketchOf(newer)
	if !slices.Equal(a.exact, b.exact) {
		return false
	}
	if len(a.words) < minWords || len(b.words) < minWords {
		return slices.Equal(a.words, b.words)
	}
	common := 0
	for i, j := 0, 0; i < len(a.words) && j < len(b.words); {
		switch {
		case a.words[i] < b.words[j]:
			i++
		case a.words[i] > b.words[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	return float64(common) >= sameWords*float64(len(a.words)+len(b.words)-common)
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

// Duplicates are those of the older records, the most alike first as they come, that the newer one can stand for.
func Duplicates(older []event.Record, newer *event.Record) (ids []string) {
	for i := range older[:min(len(older), maxCompared)] {
		if o := &older[i]; o.RecordID != newer.RecordID && Same(o, newer) {
			ids = append(ids, o.RecordID)
		}
	}
	return ids
}
