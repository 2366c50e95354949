package extract

import (
	"slices"
	"strings"
	"sync"

	"kiro-learn/internal/event"
)

// statementIn tells what a sentence of a person states about the project or the team that holds beyond the work at hand:
// a convention or choice of theirs is a decision, a fact a discovery; empty where it states nothing of the kind. alone is
// false where the prompt orders something too: then "don't use regexes" is about that order.
func statementIn(sentence string, alone bool) string {
	s := wordText(sentence)
	n := wordCount(s)
	if isQuestion(sentence) || strings.HasSuffix(sentence, "…") || strings.HasSuffix(sentence, ":") || n < 3 || n > 60 || len(sentence) > 600 {
		return ""
	}
	low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
	told, introduced := introducedBy(low)
	if hasWide(low) {
		return wideStatement(low, told, introduced)
	}
	body := withoutOpening(told)
	first, rest, _ := strings.Cut(body, " ")
	reason := strings.HasPrefix(body, "the reason for ") || strings.HasPrefix(body, "the reason why ")
	fact := reason || strings.Contains(low, "turned out") || strings.Contains(low, "turns out") || strings.Contains(low, "stellte sich heraus")
	if passing(low) || !fact && anyWord(strings.ReplaceAll(beforeReason(body), "twice a ", ""), complaints()) || ordersToo(body) || anyWord(body, hedges()) {
		return ""
	}
	switch {
	case strings.Contains(low, "convention: ") || strings.Contains(low, "rule: "):
		return event.TypeDecision
	case slices.Contains([]string{"we", "wir", "we've", "we're", "everyone", "everybody"}, first) && habit(rest):
		return event.TypeDecision
	case slices.Contains([]string{"our", "unser", "unsere"}, first) && anyWord(rest, rulings()):
		return event.TypeDecision
	case slices.Contains([]string{"our", "unser", "unsere"}, first) && anyWord(rest, factVerbs()):
		return event.TypeDiscovery
	case (alone || introduced) && convention(body):
		return event.TypeDecision
	case (introduced || reason) && n >= 4 && !speaker(first) && !requestVerbs()[first] && (fact || anyWord(rest, factVerbs())):
		return event.TypeDiscovery
	}
	return ""
}

// plainFact tells whether a sentence that was all a person said, and that was only acknowledged, tells a fact.
func plainFact(sentence string, acknowledged bool) bool {
	low := strings.ReplaceAll(strings.ToLower(wordText(sentence)), "’", "'")
	if hasWide(low) || isQuestion(sentence) || strings.HasSuffix(sentence, "…") || wordCount(low) < 4 || wordCount(low) > 60 {
		return false
	}
	body := withoutOpening(low)
	first, rest, _ := strings.Cut(body, " ")
	if first == "now" || passing(low) || anyWord(strings.ReplaceAll(beforeReason(body), "twice a ", ""), complaints()) || ordersToo(body) || anyWord(body, hedges()) || anyWord(body, []string{"i", "you", "me", "my", "your", "no", "not", "now", "empty", "ticket", "wide"}) {
		return false
	}
	if first == "use" && acknowledged {
		return technical(sentence) || anyWord(body, []string{"for"})
	}
	if slices.Contains([]string{"don't", "do", "we", "never", "always", "avoid"}, first) || anyWord(body, []string{"should"}) {
		return false // had they been more than about the work at hand, statementIn would know them
	}
	return !speaker(first) && !requestVerbs()[first] && anyWord(rest, factVerbs()) && (acknowledged || technical(sentence))
}

// introducedBy takes off what tells that a statement follows: "note:", "FYI", "it turned out that".
func introducedBy(low string) (rest string, ok bool) {
	low = withoutOpening(low)
	for _, p := range []string{
		"please note that", "please note:", "note that", "note:", "side note:", "fyi", "for your information", "for the record",
		"btw", "by the way", "it turned out that", "it turned out", "it turns out that", "it turns out", "turns out that", "turns out",
		"turned out", "we found out that", "just so you know", "heads up", "team convention:", "convention:", "team rule:", "rule:", "keep in mind that", "keep in mind", "bear in mind that", "important:", "for context", "remember:",
		"hinweis", "zur info", "übrigens", "es stellte sich heraus, dass", "zur kenntnis", "wichtig:", "merke:",
		"备注", "注意", "顺便说一下", "顺便说一句", "供参考", "メモ", "注意", "ちなみに", "参考までに", "補足",
	} {
		if after, cut := strings.CutPrefix(low, p); cut && after != "" && (strings.HasSuffix(p, ":") || wordBorder(low, len(p))) {
			return strings.TrimLeft(after, " ,.!:;–—-，。：、"), true
		}
	}
	return low, false
}

// withoutOpening takes greetings and the like off a statement.
func withoutOpening(low string) string {
	for {
		before := low
		for _, p := range []string{"hi", "hello", "hey", "ok", "okay", "so", "also", "and", "well", "please", "actually", "hallo", "bitte"} {
			low, _ = trimWord(low, p)
		}
		if low == before {
			return low
		}
	}
}

// speaker tells the words by which a sentence is about who speaks, or about something said before.
func speaker(first string) bool {
	first, _, _ = strings.Cut(first, "'")
	return slices.Contains([]string{"i", "you", "it", "this", "that", "he", "she", "they", "there", "here", "what", "if", "when", "thanks", "thank", "ich", "du", "es", "das", "my", "your"}, first)
}

// habit tells whether what follows "we" is a convention or a choice.
func habit(rest string) bool {
	words := strings.Fields(rest)
	if len(words) > 1 && words[0] == "have" && !numberWord(words[1]) && !digits(words[1]) {
		words = words[1:] // we have moved to
	}
	for len(words) > 0 && slices.Contains([]string{"only", "also", "now", "currently", "deliberately", "generally", "usually", "all", "here", "just", "already", "intentionally", "exclusively", "still", "to"}, words[0]) {
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	if words[0] == "don't" || words[0] == "do" && words[1] == "not" {
		words = words[1:]
		if len(words) > 1 && words[0] == "not" {
			words = words[1:]
		}
		return len(words) > 1 && slices.Contains([]string{
			"use", "commit", "push", "throw", "catch", "return", "edit", "accept", "do", "add", "allow", "support", "mock", "store",
			"deploy", "squash", "merge", "rebase", "rely", "depend", "expose", "share", "put", "tag", "require", "keep", "write",
		}, words[0])
	}
	switch words[0] {
	case "keep", "kept":
		return !strings.HasSuffix(words[1], "ing") // that is what keeps happening
	case "are":
		return words[1] == "on" || words[1] == "using"
	case "on", "using":
		return true
	case "have":
		return numberWord(words[1]) || digits(words[1])
	}
	if slices.Contains([]string{"haben", "sind"}, words[0]) {
		last := strings.Trim(words[len(words)-1], ".!")
		return slices.Contains([]string{"gewechselt", "umgestiegen", "entschieden", "ersetzt", "entfernt", "umbenannt", "eingeführt", "abgeschafft"}, last)
	}
	if words[0] == "went" || words[0] == "go" {
		return words[1] == "with" || words[1] == "for"
	}
	return habits()[words[0]]
}

var habits = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, v := range strings.Fields(`keep use store run deploy host support target pin follow write ship name put call avoid require forbid
		allow tag release squash format generate track cache serve share expose rely depend stick prefer never always ban log
		version encode measure document validate mock configure cut rebase order group prefix sort lint wrap inject
		moved chose switched migrated dropped replaced picked adopted settled standardised standardized removed disabled
		deprecated renamed banned stopped kept chosen agreed decided retired introduced
		verwenden nutzen benutzen speichern halten setzen schreiben vermeiden deployen testen pflegen`) {
		m[v] = true
	}
	return m
})

// convention tells an imperative that reaches beyond one place: "don't use mocks", "avoid reflection in the codec".
func convention(body string) bool {
	for _, p := range []string{
		"don't use", "do not use", "never use", "avoid", "prefer", "don't mock", "do not mock", "don't hardcode", "do not hardcode", "don't hard-code", "don't log",
		"do not log", "don't rely on", "don't depend on", "don't import", "don't store", "don't mix", "don't put", "don't call", "don't catch",
		"do not store", "do not put", "do not import", "do not call", "do not catch", "use only", "only use", "verwende keine", "verwende nie", "nutze keine", "benutze keine", "vermeide",
	} {
		rest, ok := trimWord(body, p)
		if !ok || rest == "" {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimRight(rest, ".!"), " ")
		return !slices.Contains([]string{"this", "that", "it", "them", "these", "those", "the", "my", "your", "me", "das", "es"}, first) &&
			!anyWord(rest, []string{"here", "anything", "breaking", "changing", "in this", "for this", "this one", "this time", "for now"})
	}
	if rest, ok := trimWord(body, "no"); ok && anyWord(rest, []string{"without", "in the", "outside"}) {
		return true
	}
	rest, ok := trimWord(body, "use")
	return ok && anyWord(rest, []string{"for all", "for every", "for any", "for new", "everywhere"})
}

var rulings = sync.OnceValue(func() []string {
	return []string{"forbids", "forbid", "requires", "require", "must", "mandates", "prohibits", "disallows", "allows", "policy", "convention", "rule", "verbietet", "verlangt", "muss", "müssen"}
})

// factVerbs are the verbs of lasting facts.
var factVerbs = sync.OnceValue(func() []string {
	return []string{
		"is", "are", "was", "were", "has", "have", "had", "isn't", "aren't", "can't", "cannot", "can only", "lives", "live", "runs", "run", "uses", "use", "needs",
		"must", "only", "requires", "supports", "expects", "expires", "depends", "speaks", "stores", "keeps", "comes", "goes", "returns", "accepts",
		"listens", "belongs", "contains", "allows", "forbids", "means", "doesn't", "don't", "does not", "takes", "writes", "reads", "sends", "starts", "stays", "follow", "follows",
		"ist", "sind", "hat", "haben", "heißt", "läuft", "liegt", "braucht", "wurde", "wurden",
	}
})

// complaints are the words of what is to be looked at now, and of how things stand at the moment.
var complaints = sync.OnceValue(func() []string {
	return append(slices.Clone(problemWords()), "errors", "bugs", "issue", "issues", "problem", "problems", "fail", "failed", "failure", "crash", "crashed",
		"breaks", "broke", "exception", "red", "green", "down", "stuck", "ready", "done", "finished", "late", "outage", "timed out",
		"great", "awesome", "amazing", "nice", "good", "bad", "awful", "fun", "fine", "weird", "strange", "outdated", "typo", "twice", "mistake", "odd", "attached", "pass",
		"warning", "warnings", "too much", "too many", "is too", "are too", "even if", "even though", "after it", "complain", "need to", "needs to", "need a", "should be", "supposed to", "in progress",
		"fehler", "kaputt", "fehl", "problem", "langsam", "hängt")
})

// beforeReason is a statement up to the reason it gives.
func beforeReason(low string) string {
	for _, p := range []string{"because", "since", "due to", "so that", "after", "weil", "damit", "as it", "as they"} {
		if i, ok := hasWord(low, p); ok {
			low = low[:i]
		}
	}
	return low
}

// passing tells whether a sentence is about this day, or about no software at all.
func passing(low string) bool {
	return anyWord(low, []string{
		"today", "tomorrow", "tonight", "yesterday", "this morning", "this week", "next week", "right now", "at the moment", "in a minute", "for now", "last week",
		"meeting", "lunch", "coffee", "dinner", "party", "football", "holiday", "holidays", "vacation", "birthday", "weather", "weekend", "standup",
		"demo", "pizza", "to meet", "kids", "music", "movie", "joke", "haha", "lol", "thanks", "thank you", "sorry",
		"heute", "morgen", "gestern", "gerade", "mittagessen", "wetter", "danke",
	})
}

// ordersToo tells whether a statement goes on with an order: "we keep the docs in the wiki, move them here".
func ordersToo(body string) bool {
	if anyWord(body, []string{"please", "can you", "could you", "would you", "let's", "let us", "help me", "i want", "i need", "you to", "bitte", "kannst du", "you should", "you must", "you need"}) {
		return true
	}
	for i, c := range body {
		next := ""
		switch {
		case strings.ContainsRune(",;:—–", c):
			next = strings.TrimLeft(body[i:], ",;:—– ")
		case strings.HasPrefix(body[i:], " so ") || strings.HasPrefix(body[i:], " and ") || strings.HasPrefix(body[i:], " but "):
			_, next, _ = strings.Cut(body[i+1:], " ")
		default:
			continue
		}
		next, _ = trimWord(next, "so")
		next, _ = trimWord(next, "and")
		next, _ = trimWord(next, "then")
		verb, object, _ := strings.Cut(strings.TrimRight(next, ".!"), " ")
		if requestVerbs()[verb] && !slices.Contains([]string{"use", "keep", "store", "put"}, verb) && (c == ',' || c == ';' || c == ':' || c > 0x7f || determined(object)) {
			return true
		}
	}
	return false
}

// determined tells whether an object is a certain one, as that of an order is.
func determined(object string) bool {
	first, _, _ := strings.Cut(object, " ")
	return slices.Contains([]string{"it", "the", "this", "that", "them", "these", "those", "my", "me"}, first)
}

// wideStatement is statementIn for scripts without spaces.
func wideStatement(low, told string, introduced bool) string {
	for _, p := range []string{
		"请", "帮", "吗", "呢", "如果", "要是", "也许", "可能", "报错", "错误", "失败", "问题", "崩溃", "今天", "明天", "现在", "谢谢", "修复",
		"ください", "もし", "かもしれ", "エラー", "失敗", "落ち", "今日", "明日", "バグ", "ありがとう", "でしょうか", "应该", "直して",
	} {
		if strings.Contains(low, p) {
			return ""
		}
	}
	for _, p := range []string{"我们使用", "我们用", "我们采用", "我们统一", "我们改用", "我们不用", "我们选择", "我们禁止", "团队规定", "团队约定", "我们只", "我们把", "我们团队使用"} {
		if strings.HasPrefix(told, p) {
			return event.TypeDecision
		}
	}
	for _, p := range []string{"を使っています", "を使用しています", "を採用し", "に移行しました", "に統一しています", "を禁止しています", "は禁止です", "は使いません", "を使わない"} {
		if strings.Contains(told, p) {
			return event.TypeDecision
		}
	}
	if strings.HasPrefix(told, "我们的") && strings.ContainsAny(told, "是有在叫") || strings.HasPrefix(told, "うちの") || introduced && wordCount(told) >= 4 {
		return event.TypeDiscovery
	}
	return ""
}

// acknowledged tells whether an answer only says that it has heard.
func acknowledged(said []string) bool {
	for _, s := range said {
		low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
		if wordCount(s) > 16 || !smallTalk(stripLeads(s)) && !anyWord(low, []string{
			"understood", "got it", "noted", "will do", "i'll keep", "i will keep", "i'll remember", "i will remember", "in mind", "make a note", "good to know",
			"okay", "ok", "sure", "let me know", "verstanden", "alles klar", "notiert", "merke ich mir", "好的", "明白", "知道了", "记住", "了解", "わかりました", "承知", "覚え",
		}) {
			return false
		}
	}
	return len(said) > 0
}
