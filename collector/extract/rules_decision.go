package extract

import (
	"strings"
	"sync"
)

// Where a cue has to stand in its sentence.
const (
	anywhere = iota
	atStart  // of a clause
)

// cue is a wording by which people state a decision or a rule.
type cue struct {
	phrase string
	where  int
	user   bool     // counts only from the person: an agent's "always" describes
	needs  []string // one of these stands shortly before it, in the same clause
	trade  bool     // the sentence has to be about software: people say "never give up" too
}

var decisionCues = sync.OnceValue(func() []cue {
	var out []cue
	add := func(where int, user bool, needs []string, phrases ...string) {
		for _, p := range phrases {
			out = append(out, cue{phrase: p, where: where, user: user, needs: needs, trade: everyday(p)})
		}
	}
	add(anywhere, false, nil, "we decided", "we've decided", "we have decided", "i decided", "i've decided", "it was decided",
		"decided to", "decided on", "decided against",
		"decision:", "the decision is", "we agreed", "we've agreed", "agreed to", "agreed that", "agreed on", "we chose",
		"i chose", "we've chosen", "we have chosen",
		"settled on", "we're going with", "we are going with", "we'll go with", "opted for", "we no longer",
		"from now on", "our convention is", "the convention is", "our policy is", "the policy is", "the rule is that",
		"the rule is:", "by convention", "by design")
	add(atStart, false, nil, "chose", "going with")
	add(anywhere, true, nil, "must not", "mustn't", "must never", "must always", "should never", "should always", "never ever",
		"going forward", "we prefer", "i prefer", "i'd prefer", "i would prefer", "we'd prefer",
		"we always", "we never", "keep in mind", "let's go with", "let's stick with", "let's stick to", "we don't use",
		"we do not use", "we won't", "we will not", "we're not going to", "we are not going to", "we're staying",
		"we are staying", "we're sticking", "we are sticking", "the reason we", "the reason is")
	add(atStart, true, nil, "always", "never", "remember that", "remember to", "remember:", "prefer", "stick with", "stick to",
		"don't ever", "do not ever", "in the future", "in future")
	use := []string{"use", "using", "used", "prefer", "pick", "choose", "chose", "switch to", "switched to", "go with", "take"}
	add(anywhere, false, use, "instead of", "rather than")

	add(anywhere, false, nil, "wir haben entschieden", "haben uns entschieden", "haben beschlossen", "haben uns für",
		"haben uns auf", "ab jetzt", "ab sofort", "von nun an",
		"decidimos", "hemos decidido", "acordamos", "hemos acordado", "a partir de ahora", "de ahora en adelante",
		"nous avons décidé", "on a décidé", "nous avons choisi", "désormais", "à partir de maintenant", "dorénavant",
		"a partir de agora", "de agora em diante", "combinamos que")
	add(anywhere, true, nil, "darf nicht", "dürfen nicht", "darf nie", "darf niemals", "no debe", "no deben", "ne doit pas",
		"ne doivent pas", "ne doit jamais", "não deve", "não devem", "não pode")
	add(atStart, true, nil, "immer", "niemals", "nie", "merk dir", "merke dir", "denk daran", "denke daran", "siempre",
		"nunca", "recuerda que", "recuerda", "toujours", "jamais", "ne jamais",
		"souviens-toi", "rappelle-toi", "sempre", "lembre-se", "lembra que")
	add(anywhere, false, []string{
		"verwende", "verwenden", "nutze", "nutzen", "benutze", "benutzen", "nimm",
		"nehmen",
	}, "statt", "anstatt", "anstelle")
	add(anywhere, false, []string{
		"usa", "usar", "use", "usamos", "utiliza", "utilizar", "utilise", "utiliser", "utilisez",
		"utilisons",
	},
		"en lugar de", "en vez de", "au lieu de", "plutôt que", "em vez de", "ao invés de")

	add(anywhere, false, nil, "我们决定", "已决定", "决定使用", "决定采用", "决定用", "我们约定", "从现在开始", "从现在起", "今后", "に決めました", "に決めた", "ことにしました",
		"ことにした", "ことに決", "に決定", "今後は", "これからは", "하기로 했", "하기로 결정", "앞으로는")
	add(anywhere, true, nil, "请记住", "记住", "务必", "永远不要", "不得", "禁止", "不要使用", "一律", "覚えておいて", "してはいけない", "しないでください", "必ず", "절대")
	add(anywhere, false, []string{"用", "选择", "采用", "使"}, "而不是", "の代わりに")
	return out
})

// hedges make what follows them a question or a thought, not a decision.
var hedges = sync.OnceValue(func() []string {
	return []string{
		"what if", "maybe", "perhaps", "might", "could", "would", "whether", "suppose", "imagine",
		"hypothetically", "not sure", "for example", "i wonder",
		"haven't", "have not", "hasn't", "didn't", "not yet", "until", "unless", "why", "if we", "if i", "had we", "should we",
		"did we", "have we", "says", "said", "wrote", "reads",
		"vielleicht", "falls", "könnte", "würde", "quizás", "quizá", "tal vez", "si", "peut-être", "talvez", "如果", "是否", "也许",
		"可能", "もし", "かもしれ",
	}
})

// decisionIn tells whether a sentence states a decision. fromUser widens it to rules a person lays down.
func decisionIn(sentence string, fromUser bool) bool {
	if isQuestion(sentence) || strings.HasSuffix(sentence, "…") || wordCount(sentence) < 3 || len(sentence) > 1200 {
		return false
	}
	low := strings.ReplaceAll(strings.ToLower(wordText(sentence)), "’", "'")
	for _, c := range decisionCues() {
		if c.user && !fromUser {
			continue
		}
		at, ok := hasWord(low, c.phrase)
		if !ok || c.where == atStart && !clauseStart(low, at) {
			continue
		}
		if c.needs != nil && !anyWord(sameClause(low[:at]), c.needs) || c.trade && !aboutTrade(sentence, low[at+len(c.phrase):]) {
			continue
		}
		if !anyWord(low[:at], hedges()) && !bugReport(low, c) {
			return true
		}
	}
	return false
}

// everyday tells the cues that people use for anything.
func everyday(phrase string) bool {
	switch phrase {
	case "always", "never", "we always", "we never", "never ever", "remember that", "remember to", "remember:",
		"in the future", "in future", "keep in mind":
		return true
	}
	return false
}

// aboutTrade tells whether a sentence is about software: it has a word of the trade, or the rule begins with a verb of
// work.
func aboutTrade(sentence, after string) bool {
	verb, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	switch verb {
	case "give", "keep", "try", "look", "make", "get", "open", "bring", "wait", "read", "show", "find", "stop", "be", "start":
	default:
		if requestVerbs()[verb] {
			return true
		}
	}
	for _, w := range wordsOf(sentence) {
		if techWord(w) != "" || identifier(w) || acronym(w) || digits(w) {
			return true
		}
	}
	return false
}

// sameClause is the end of a text, back to its last comma or 60 bytes, where a cue's verb has to stand.
func sameClause(low string) string {
	i := strings.LastIndexAny(low, ",;")
	for n := len(low) - 60; i < n; {
		next := strings.IndexByte(low[n:], ' ')
		if next < 0 {
			break
		}
		i = n + next
	}
	return low[i+1:]
}

// bugReport tells a complaint of what some code does from a choice of what it shall do: "it uses X instead of Y".
func bugReport(low string, c cue) bool {
	if c.phrase != "instead of" && c.phrase != "rather than" {
		return false
	}
	for _, w := range []string{"it uses", "uses", "used to", "returns", "is used", "was used", "gets", "shows"} {
		if _, ok := hasWord(low, w); ok {
			return true
		}
	}
	return false
}

func anyWord(low string, words []string) bool {
	for _, w := range words {
		if _, ok := hasWord(low, w); ok {
			return true
		}
	}
	return false
}

// clauseStart tells whether byte i begins the sentence or a clause of it, polite words not counted.
func clauseStart(low string, i int) bool {
	head := strings.TrimRight(low[:i], " ")
	if head == "" {
		return true
	}
	if strings.ContainsRune(",;:–—.!¡-", rune(head[len(head)-1])) || strings.HasSuffix(head, "—") || strings.HasSuffix(head, "¡") {
		return true
	}
	switch head[strings.LastIndexByte(head, ' ')+1:] {
	case "please", "and", "but", "so", "also", "ok", "okay", "bitte", "und", "y", "e", "et", "then":
		return true
	}
	return false
}

// reasonOnly tells whether a sentence gives the reason of the one before it.
func reasonOnly(s string) bool {
	low := strings.ToLower(s)
	for _, p := range []string{
		"because", "the reason", "that's because", "this is because", "that is because", "otherwise",
		"reason:", "weil", "sonst", "porque", "parce que", "car ", "因为", "否则", "なぜなら",
	} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

// decisionTitle is the decision itself, without "remember that" and the like.
func decisionTitle(s string) string {
	s = strings.TrimRight(s, " ")
	for _, p := range []string{
		"please", "also", "and", "ok", "okay", "note:", "fyi", "for the record", "btw", "by the way", "heads up", "just so you know",
		"it turned out that", "it turns out that", "turns out that", "turns out", "remember that", "remember:", "remember to",
		"keep in mind that", "decision:", "note that", "recuerda que", "denk daran, dass", "merke dir:", "请记住",
	} {
		if rest, ok := trimWord(s, p); ok && wordCount(rest) >= 3 {
			s = rest
		} else if i := len(p); len(s) > i && strings.EqualFold(s[:i], p) && strings.HasSuffix(p, ":") {
			s = strings.TrimSpace(s[i:])
		}
	}
	return titleOf(s, false)
}

// decision is a decision sentence with the reason given for it, if one follows.
type decision struct {
	at               int // among the sentences of its text
	sentence, reason string
}

// decisionsIn gives the decisions among the sentences of one text; decided tells which ones they are.
func decisionsIn(list []string, decided func(int) bool) []decision {
	var out []decision
	for i, s := range list {
		if !decided(i) || reasonOnly(s) && len(out) > 0 && out[len(out)-1].reason == s {
			continue
		}
		d := decision{at: i, sentence: s}
		if i+1 < len(list) && reasonOnly(list[i+1]) && !isQuestion(list[i+1]) {
			d.reason = list[i+1]
		}
		out = append(out, d)
	}
	return out
}
