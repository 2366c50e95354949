package extract

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"kiro-learn/internal/event"
)

const maxFacts = 8

// factWords are wordings by which sentences state limits, reasons, names and places.
var factWords = sync.OnceValue(func() []string {
	return []string{
		"because", "due to", "so that", "since", "at most", "at least", "maximum", "minimum", "limit", "limited",
		"capped", "cap", "default", "defaults", "only", "requires", "required", "depends on",
		"renamed", "renames", "is called", "named", "moved to", "lives in", "located in", "defined in", "stored in",
		"configured in", "set to", "starts at", "starting at", "root cause", "caused by", "must", "never", "always",
		"instead of", "deprecated", "supports", "does not support",
		"weil", "höchstens", "mindestens", "standardmäßig", "porque", "máximo", "mínimo", "por defecto", "parce que",
		"par défaut", "por padrão", "因为", "最多", "默认", "至少", "ため", "最大", "既定",
	}
})

// techWords are common words of the trade: what makes an answer without any identifier one about software.
var techWords = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`api app argument array async auth backend backoff backup batch binary browser bucket buffer bug build byte cache
		callback certificate ci cli client cluster code column commit compiler component config configuration connection
		constraint container context cookie cpu credential cron daemon data database deadlock debug default dependency
		deploy deployment directory disk docker encoding endpoint environment error exception fallback file filter flag
		format framework frontend function gateway gc git goroutine handler hash header hook host http https id import
		index input integer interface interval java javascript job json key kubernetes lambda latency limit linter linux
		list loader lock log logger login loop macos map metadata method metric middleware migration mock module mutex
		node null object offset option orm output package parameter parser partition password path payload permission
		pipeline plugin pod pointer pool port postgres postgresql prop protocol proxy python query queue react redis
		refactor regex region registry release render replica repo repository request response retry rollback route
		router row runtime rust schema schema scheduler script secret server service session shard socket sql sqlite
		stack staging static storage string struct style submodule svg syntax table template terminal test thread
		throttle timeout timer timestamp tls token trace transaction tree trigger type typescript ui unicode unit upload
		uploader uri url user utf-8 uuid validation value variable version webhook websocket widget windows worker yaml`) {
		m[w] = true
	}
	return m
})

// techWord is the dictionary's form of a word of the trade; empty for another word.
func techWord(w string) string {
	low := strings.ToLower(w)
	for _, form := range []string{low, singular(low), strings.TrimSuffix(low, "es")} {
		if techWords()[form] {
			return form
		}
	}
	return ""
}

// filler tells whether a sentence says what every answer says: that it is done, what comes next, an offer of more help.
func filler(s string) bool {
	low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
	if smallTalk(stripLeads(s)) || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || isQuestion(s) {
		return true
	}
	for _, p := range []string{
		"done", "all done", "i'll ", "i will ", "let me ", "now i", "now let", "here's ", "here is ",
		"here are ", "you're welcome", "happy to", "glad ", "feel free", "is there anything", "would you like", "do you want",
		"i hope", "certainly", "of course", "absolutely", "no problem", "if you ", "sure", "great", "perfect", "sorry",
		"i apologize", "you can now", "everything ", "the task is", "task complete", "i'm going to", "i am going to",
		"looking at ", "i understand", "as requested", "the changes are complete", "good catch", "you're right",
		"i'm kiro", "i am kiro", "i don't have", "i do not have", "i can't", "i cannot",
		"gern", "claro", "bien sûr", "de nada", "当然", "好的", "不客气",
	} {
		if strings.HasPrefix(low, p) && (wordCount(s) < 8 || !technical(s)) {
			return true
		}
	}
	_, offer := hasWord(low, "let me know")
	return offer || wordCount(s) < 2
}

// informative gives the sentences of an answer that say something.
func informative(list []string) []string {
	var out []string
	for _, s := range list {
		if !filler(s) {
			out = append(out, s)
		}
	}
	return out
}

// technical tells whether a sentence speaks about software: it holds a name, path, number with a unit, or at least two
// common words of the trade.
func technical(s string) bool {
	weak := len(wideTermsIn(s))
	for _, w := range wordsOf(s) {
		switch {
		case identifier(w):
			return true
		case techWord(w) != "", digits(w), acronym(w):
			weak++
		}
	}
	if hasWide(s) && strings.IndexFunc(s, func(r rune) bool { return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }) >= 0 {
		return true // names and numbers stand out among the characters of those scripts
	}
	return weak >= 2 || strings.Contains(s, "`")
}

// technicalAnswer tells whether an answer that came without any tool use is worth keeping. To a prompt that asks nothing
// it has to name something: an assistant that introduces itself talks of software too.
func (w *work) technicalAnswer() bool {
	asked := w.req.title != ""
	if slices.ContainsFunc(w.answer, func(s string) bool {
		return asked && technical(s) || !asked && slices.ContainsFunc(wordsOf(s), identifier)
	}) {
		return true
	}
	// Scripts without spaces take few sentences and few of our words: what was asked counts too.
	said := wideTermsIn(strings.Join(w.answer, " "))
	return asked && len(said) > 0 && len(said)+len(wideTermsIn(strings.Join(w.req.sentences, " "))) > 1
}

// factScore tells how well a sentence stands for itself as something to recall; a fact has 3 or more.
func factScore(s string) int {
	n := wordCount(s)
	if n < 4 || utf8.RuneCountInString(s) > event.MaxFact || strings.HasSuffix(s, "…") || isQuestion(s) || filler(s) {
		return 0
	}
	low := strings.ToLower(s)
	if anyWord(low, []string{
		"maybe", "perhaps", "might", "not sure", "i think", "probably", "i wonder", "could be",
		"vielleicht", "也许", "可能",
	}) {
		return 0
	}
	if anyWord(low, []string{"tests pass", "test passes", "tests passed", "all pass", "all green"}) {
		return 0 // true for that hour
	}
	score := 0
	for _, w := range factWords() {
		if _, ok := hasWord(low, w); ok {
			score += 2
			break
		}
	}
	ids, nums := 0, 0
	for _, w := range wordsOf(s) {
		switch {
		case identifier(w):
			ids++
		case digits(w) || numberWord(strings.ToLower(w)):
			nums++
		}
	}
	score += 2*min(ids, 2) + 2*min(nums, 2)
	if hasWide(s) && strings.ContainsAny(s, "0123456789") {
		score += 2
	}
	if technical(s) {
		score++
	}
	return score
}

// factsOf gives the sentences worth recalling on their own, verbatim, the best ones in their order. Those whose key is
// in seen are left out, and the ones given are added to it.
func factsOf(list []string, skip func(int) bool, seen map[string]bool) []string {
	scores := make([]int, len(list))
	strong := 0
	for i, s := range list {
		if skip == nil || !skip(i) {
			scores[i] = factScore(s)
		}
		if scores[i] >= 5 {
			strong++
		}
	}
	least := 3
	if strong >= maxFacts {
		least = 5
	}
	var out []string
	for i, s := range list {
		if scores[i] < least || len(out) == maxFacts {
			continue
		}
		if key := statementKey(s); !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

func digits(w string) bool { return strings.ContainsAny(w, "0123456789") && len(w) <= 20 }

func numberWord(w string) bool {
	switch w {
	case "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty", "thirty", "hundred",
		"thousand", "once", "twice", "half", "zwei", "drei", "vier", "fünf", "dos", "tres", "cuatro", "cinco",
		"deux", "trois", "quatre", "cinq", "dois", "três", "quatro":
		return true
	}
	return false
}
