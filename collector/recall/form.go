package recall

import (
	"strings"
	"unicode"
)

// form is how a prompt speaks. Somebody who asks a question, above all about what "we" do, asks for what is remembered;
// somebody who orders work, or points at what lies before him, mostly asks for none.
type form struct {
	question bool
	order    bool
	ours     bool // it speaks of us
	here     bool // it points at something before the speaker: this, it
	mine     bool // it speaks of what is the speaker's
	verb     string
}

const (
	questionWords = `which what whats who whos whose whom why where wheres when how hows is are was were do does did dont doesnt didnt may must should has have had
warum wie wieso wo wann welche welcher welches was wer wofur quel quelle quels quand comment pourquoi combien ou qui
donde cuando como cuanto dove quando perche quanto сколько где когда почему как зачем какой кто كم متي اين لماذا كيف هل`
	orderWords = `add apply build bump change check clean combine comment commit compare compose compute configure convert copy
count create debug define delete deploy describe design detect disable document draft drop enable explain export extract
find fix format generate give handle implement import improve increase insert install let list log look make merge migrate
move open optimise optimize parse plan plot polish port prepare print push put recommend reduce refactor remove rename
reorder replace reset resolve restart restructure revert review rewrite run save scrape send set show simplify solve sort
speed split start stop summarise summarize switch tell test tidy train translate try turn undo uninstall unify update
upgrade upload use wire wrap write`
	mayWords     = `can could may should shall must do did`
	preludeWords = `please can could would you now then ok okay also just and i want need to lets let me us we help pls hey
hi hello kindly go ahead`
	ourWords  = `we our us ours weve here wir unser unsere uns nous notre nos nosotros nuestro nuestra мы наш наша у нас`
	hereWords = `this these it`
	timeWords = `week month year morning afternoon evening time sprint quarter`
	mineWords = `me my`
)

// pointing is with how many words a prompt begins that can point at something before the speaker. Behind twice as many,
// this and it are what the prompt itself has spoken of.
const pointing = 6

// formOf reads the form off the words of what a prompt asks, folded and in small letters.
func formOf(words []string, asks bool) form {
	sets := wordSets()
	f := form{question: asks}
	for i, w := range words {
		f.ours = f.ours || sets.ours[w]
		f.mine = f.mine || sets.mine[w]
		f.here = f.here || (i < pointing || len(words) <= 2*pointing) && sets.here[w] && (i+1 == len(words) || !sets.time[words[i+1]])
	}
	first := words
	if len(words) > 1 && sets.may[words[0]] && (words[1] == "we" || words[1] == "i") {
		f.question = true
		return f
	}
	for len(first) > 1 && len(words)-len(first) < 6 && sets.prelude[first[0]] {
		first = first[1:]
	}
	switch {
	case len(words) == 0:
	case len(first) > 0 && sets.order[first[0]] && (!asks || len(first) < len(words)):
		f.order, f.question, f.verb = true, false, first[0]
	case sets.question[words[0]]:
		f.question = true
	}
	return f
}

// wordsOf are the first words of a text, folded and in small letters, without signs.
func wordsOf(text string, most int) (out []string) {
	text = strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(fold(cutBytes(text, 8*most+64))))
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if out = append(out, w); len(out) == most {
			break
		}
	}
	return out
}
