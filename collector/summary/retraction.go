package summary

import (
	"slices"
	"strings"

	"kiro-learn/collector/extract"
)

// retraction finds the clause by which a prompt takes something back, and what it says beside.
func retraction(sentences []string) (back, rest string) {
	var others []string
	for _, s := range sentences {
		for _, c := range clauses(s) {
			if back == "" && takesBack(c) {
				back = c
			} else {
				others = append(others, c)
			}
		}
	}
	return back, strings.Join(others, " ")
}

// clauses are the parts of a sentence that may speak of different things.
func clauses(s string) []string {
	for _, sep := range []string{"; ", ", but ", " but ", " — ", " – "} {
		if one, other, ok := strings.Cut(s, sep); ok {
			return append([]string{one}, clauses(other)...)
		}
	}
	return []string{s}
}

// takesBack tells whether a clause takes back what was asked for. The words that say so open it, but for a few before
// them: further on they are part of what is spoken of, as in a button to cancel the order.
func takesBack(s string) bool {
	low := " " + strings.ReplaceAll(strings.ToLower(s), "’", "'")
	if strings.HasSuffix(strings.TrimRight(low, " "), "?") {
		return false
	}
	for _, cue := range []string{" no longer need", " no longer want", " not needed any more", " not needed anymore", " isn't needed any more", " isn't needed anymore", " changed my mind"} {
		if strings.Contains(low, cue) { // of whatever was named before
			return true
		}
	}
	for _, cue := range []string{
		" never mind", " nevermind", " scrap ", " abandon ", " cancel the ", " drop the idea", " drop the plan", " don't need that", " don't want that", " take that back", " i take back",
		" stop working on", " let's not ", " forget about", " call it off", " give up on",
	} {
		if before, after, ok := strings.Cut(low, cue); ok && opens(before) && !strings.HasPrefix(after, "forget") {
			return true
		}
	}
	for _, cue := range []string{" cancel that", " drop that", " drop it", " drop this", " skip that", " skip it", " forget it", " forget that", " scrap that", " scrap it"} {
		if before, after, ok := strings.Cut(low, cue); ok && opens(before) && asides(after) {
			return true
		}
	}
	return strings.Contains(low, " after all") && (strings.Contains(low, " don't ") || strings.Contains(low, " do not ") || strings.Contains(low, " leave "))
}

// opens tells whether what stands before the words of a retraction leaves them its beginning, and does not turn them
// round.
func opens(before string) bool {
	words := strings.Fields(before)
	if n := len(words); n > 0 && (strings.HasSuffix(words[n-1], "n't") || words[n-1] == "not" || words[n-1] == "never") {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		w = strings.Trim(w, ",.!:")
		return !slices.Contains([]string{
			"actually", "please", "ok", "okay", "hm", "hmm", "no", "oh", "well", "wait", "sorry", "let's", "we", "i", "you", "can", "could", "should", "just", "then", "and", "so", "now", "i'd",
			"we'll", "i'll", "let", "us", "on", "second", "thought", "i've", "we've", "have", "decided", "to", "want", "would", "like", "also", "yes", "yeah", "on", "reflection", "better",
		}, w)
	})
}

// asides tells whether what follows a retraction without a name adds nothing to it.
func asides(after string) bool {
	for _, w := range strings.FieldsFunc(after, func(r rune) bool { return r == ' ' || r == ',' || r == '.' || r == '!' }) {
		if !slices.Contains([]string{"for", "now", "then", "please", "again", "entirely", "altogether", "instead", "all", "today", "it's", "fine", "thanks", "idea", "plan", "it"}, w) {
			return false
		}
	}
	return true
}

// meant is the goal that a retraction speaks of: the one that shares most words with it, or the one being worked on when
// it names none.
func (o *outliner) meant(sentence string) *goal {
	words := extract.KeyWords(sentence)
	var best *goal
	most := 0
	for _, g := range o.goals {
		if n := shared(words, g.words); n > 0 && n >= most && !g.abandoned {
			best, most = g, n
		}
	}
	if best == nil && len(words) <= 3 {
		return o.current
	}
	return best
}
