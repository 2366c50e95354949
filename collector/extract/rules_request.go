package extract

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"kiro-learn/internal/event"
)

// request is what a prompt asks for.
type request struct {
	sentences []string // the prompt's prose
	decided   []bool   // which of them have a record of their own: they state a decision, a convention or a fact
	facts     []bool   // which of those state a fact
	asks      []int    // how plainly each of them asks for something
	plain     bool     // the title is a plain request or question, not just the best sentence there was
	title     string   // its essential sentence, as a title; empty when the prompt asks nothing
	main      int      // the sentence the title is made of, or the most of it
	question  bool
	creative  bool // asks for a poem or a joke: nothing of the project
}

// leads are the words around a request that are not the request, longest first where one begins another.
var leads = sync.OnceValue(func() []string {
	return []string{
		"hi there", "hi kiro", "hi", "hello there", "hello", "hey kiro", "hey there", "hey", "good morning",
		"kiro", "hmm", "hm", "ah", "oh", "um", "wait", "actually", "basically", "okay", "ok", "alright", "all right",
		"great work", "great job", "great",
		"perfect", "thank you so much", "thank you very much", "thank you", "thanks a lot", "thanks", "thx", "cool", "nice",
		"awesome", "excellent", "yes", "yep", "yeah", "sure", "so", "now", "then",
		"also", "and", "next", "finally", "but", "well", "please", "pls", "plz", "kindly", "just", "go ahead and",
		"can you please", "can you", "could you please", "could you", "would you mind",
		"would you", "will you", "can we", "could we", "i want you to", "i'd like you to", "i would like you to",
		"i need you to", "i want to", "i'd like to", "i would like to", "i need to",
		"we want to", "we need to", "we have to", "we should", "you should", "you need to", "you have to", "let's", "let us",
		"lets", "help me to", "help me", "try to", "we decided to", "we've decided to",
		"we have decided to", "i decided to", "i've decided to", "we agreed to", "we chose to", "hallo", "hola", "bonjour",
		"salut", "olá", "danke", "gracias", "merci", "bitte", "kannst du bitte", "kannst du", "könntest du bitte",
		"könntest du", "können sie", "könnten sie", "ich möchte, dass du", "por favor", "puedes", "podrías", "¿puedes",
		"¿podrías", "s'il te plaît", "s'il vous plaît", "peux-tu", "pourrais-tu", "pouvez-vous",
		"pourriez-vous", "você pode", "pode", "请你", "请", "你好", "帮我", "麻烦你", "麻烦", "能不能", "你能", "谢谢",
	}
})

var requestVerbs = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, v := range strings.Fields(`add address adjust align allow analyse analyze apply assert audit automate backport batch benchmark block bring
		build bump cache cap change check clean clear close commit compare configure connect convert copy correct cover
		create cut debug decouple deduplicate define delete deploy deprecate describe design detect disable display
		document downgrade drop enable encode ensure enforce escape evaluate expand explain export expose extend extract
		fetch figure find finish fix flatten format generate get give guard handle hide hook implement import improve
		include increase inline insert inspect install integrate introduce investigate keep lay limit link lint list
		load lock log look lower make map mark measure merge migrate mock move normalise normalize open optimise
		optimize order pack parse patch pin plan polish port prevent print profile propagate publish pull push put raise
		read rebase record reduce refactor refresh register release reload remember remove rename reorder reorganise
		reorganize repair replace report require reset resolve restore restrict retry return reuse revert review revise
		rewrite rotate route run sanitise sanitize save scaffold scan search secure separate serve set setup show
		simplify skip sort speed split start stop store stream strip summarise summarize support swap switch sync tag
		test throttle tidy trace track translate trim try tune turn unify update upgrade upload use validate verify wait
		wire wrap write füge entferne ändere erstelle schreibe behebe benenne ersetze prüfe teste aktualisiere
		implementiere verschiebe lösche mach baue añade agrega elimina cambia crea escribe corrige arregla renombra
		reemplaza revisa prueba actualiza implementa mueve borra haz ajoute supprime change crée écris corrige renomme
		remplace vérifie teste implémente déplace efface fais ajoutez supprimez créez corrigez adicione adiciona remova
		crie escreva corrija renomeie substitua verifique teste atualize implemente mova apague faça`) {
		m[v] = true
	}
	return m
})

// requestOf finds the request in a prompt: of all its sentences the one that asks most plainly.
func requestOf(text string) request {
	q := request{sentences: proseOf(text), main: -1}
	q.decided, q.facts, q.asks = make([]bool, len(q.sentences)), make([]bool, len(q.sentences)), make([]int, len(q.sentences))
	orders := 0
	for i, s := range q.sentences {
		if q.asks[i] = requestScore(s, i); q.asks[i] >= 6 {
			orders++
		}
	}
	best := 0
	for i, s := range q.sentences {
		score := q.asks[i]
		if q.decided[i] = decisionIn(s, true); !q.decided[i] {
			kind := statementIn(s, orders == 0 || orders == 1 && score >= 6)
			q.decided[i], q.facts[i] = kind != "", kind == event.TypeDiscovery
		}
		if q.decided[i] {
			score -= 3 // it has a record of its own
		}
		if q.main < 0 && score > -5 || score > best && q.main >= 0 {
			best, q.main = score, i
		}
	}
	if q.main < 0 {
		return q
	}
	body := q.essence(text)
	if smallTalk(body) {
		q.main = -1
		return q
	}
	s := q.sentences[q.main]
	q.plain = best >= 4 && !q.decided[q.main]
	q.question = isQuestion(s) && !asksToDo(s)
	q.creative = isCreative(strings.ToLower(s))
	q.title = titleOf(body, q.question)
	return q
}

// essence is the main sentence without its leads; of one that names nothing by itself, such as "Please implement it.", what
// another sentence or a pasted error tells of it, with what is asked for. Where another one tells most, it becomes the main
// one.
func (q *request) essence(text string) string {
	body := stripLeads(q.sentences[q.main])
	back, empty := refersBack(q.sentences[q.main]), saysNothing(body)
	if !back && !empty {
		return body
	}
	ask := titleOf(body, false) + ": "
	told := func(i int) bool {
		s := stripLeads(q.sentences[i])
		return wordCount(s) >= 3 && !strings.HasSuffix(s, ":") && !smallTalk(s) && (back || !saysNothing(s))
	}
	for i := q.main - 1; i >= 0; i-- {
		if told(i) {
			if q.main = i; q.decided[i] || q.asks[i] >= 5 && !empty {
				ask = ""
			}
			return ask + stripLeads(q.sentences[i])
		}
	}
	if line, _ := errorLines(text, ""); errorScore(line) >= 5 {
		return ask + withoutPlace(line)
	}
	if !empty {
		return body
	}
	for i := q.main + 1; i < len(q.sentences); i++ {
		if told(i) {
			q.main = i
			return ask + stripLeads(q.sentences[i])
		}
	}
	for _, s := range q.sentences[q.main+1:] { // "Fix. The. Login."
		if wordCount(s) < 3 && !smallTalk(s) {
			body = strings.TrimRight(body, ".! ") + " " + s
		}
	}
	return body
}

// saysNothing tells whether a request names nothing that it is about: "Find out why", "fix the bug".
func saysNothing(s string) bool {
	words := strings.Fields(strings.ToLower(strings.Trim(s, ".!?: ")))
	if len(words) > 8 {
		return false
	}
	if len(words) > 0 && (words[len(words)-1] == "accordingly" || words[len(words)-1] == "likewise") {
		return true
	}
	verb := true // whether a verb of a request can stand here: "the build" is a thing
	for _, w := range words {
		w = strings.Trim(w, ",.;:!?")
		may := verb && requestVerbs()[w]
		verb = slices.Contains([]string{"and", "to", "please", "then"}, w)
		if !may && !slices.Contains([]string{
			"a", "an", "the", "it", "this", "that", "these", "those", "them", "so", "and", "or", "to", "of", "out", "into", "at", "up", "what", "why", "how", "where", "is", "are",
			"bug", "bugs", "error", "errors", "problem", "problems", "issue", "issues", "thing", "things", "stuff", "rest", "everything", "all", "cause", "happens", "going", "on", "wrong", "again", "properly", "now", "also", "too",
			"you", "me", "us", "please", "do", "can", "we", "then", "here", "there", "possible", "above", "below",
		}, w) {
			return false
		}
	}
	return len(words) > 0
}

// requestScore tells how plainly a sentence asks for something.
func requestScore(s string, at int) int {
	body := stripLeads(s)
	low := strings.ToLower(body)
	first, _, _ := strings.Cut(low, " ")
	n := wordCount(body)
	score := 0
	if smallTalk(body) {
		return -10
	}
	if requestVerbs()[strings.TrimRight(first, ",:")] {
		score += 6
	}
	if asksToDo(s) {
		score += 3
	}
	if isQuestion(s) {
		score += 4
	}
	if _, ok := trimWord(body, "the"); !ok && body != s {
		score++
	}
	if anyWord(low, problemWords()) {
		score += 2
	}
	if hasWide(body) && strings.ContainsAny(s, "请把改加修") {
		score += 3
	}
	switch {
	case refersBack(s):
		score--
	case n < 3:
		score -= 3
	}
	if at == 0 {
		score++
	}
	return score
}

var problemWords = sync.OnceValue(func() []string {
	return []string{
		"fails", "failing", "broken", "crashes", "times out", "error", "bug", "doesn't work", "does not work",
		"wrong", "slow", "leak", "leaks", "hangs", "missing", "flaky", "panics",
	}
})

// asksToDo tells a polite request from a question: "Can you rename it?" is to be done, not answered.
func asksToDo(s string) bool {
	low := strings.ToLower(s)
	for _, p := range []string{
		"can you", "could you", "would you", "will you", "please", "pls", "i want you to",
		"i need you to", "i'd like you to", "let's", "kannst du", "könntest du", "bitte", "puedes", "podrías", "por favor",
		"peux-tu", "pourrais-tu", "pouvez-vous", "s'il te plaît", "s'il vous plaît", "você pode", "帮我", "请",
	} {
		if i, ok := hasWord(low, p); ok {
			rest := strings.TrimLeft(low[i+len(p):], " ,，")
			for _, ask := range []string{
				"tell", "explain", "remind", "say", "describe", "erklär", "explica", "expliqu", "说",
				"解释", "告诉",
			} {
				if strings.HasPrefix(rest, ask) || strings.HasPrefix(rest, "please "+ask) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// isQuestion tells whether a sentence asks to be told something.
func isQuestion(s string) bool {
	t := strings.TrimRight(s, "\"')”»* `")
	if strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || strings.HasPrefix(s, "¿") {
		return true
	}
	low := strings.ToLower(stripLeads(s))
	for _, p := range []string{"explain", "tell me", "remind me", "describe"} {
		if rest, ok := trimWord(low, p); ok && wordCount(rest) > 0 {
			return true
		}
	}
	if strings.HasSuffix(t, ".") || strings.HasSuffix(t, "!") || strings.Contains(t, ",") {
		return false // "When it fails, retry.": a question without its mark is short and ends in none
	}
	for _, p := range []string{
		"what", "why", "how", "where", "when", "who", "which", "is there", "are there", "does", "do we",
		"did we", "should we", "should i", "warum", "wie", "wo", "wann", "welche",
		"qué", "por qué", "cómo", "dónde", "pourquoi", "comment", "où", "por que", "como", "onde",
	} {
		if rest, ok := trimWord(low, p); ok && wordCount(rest) > 0 {
			return true
		}
	}
	return strings.HasSuffix(t, "吗") || strings.HasSuffix(t, "呢") || strings.HasSuffix(t, "か") || strings.HasSuffix(t, "ですか。")
}

// stripLeads takes greetings, politeness and "we need to" off the front of a sentence.
func stripLeads(s string) string {
	for {
		before := s
		for _, l := range leads() {
			if rest, ok := trimWord(s, l); ok {
				s = rest
				break
			}
		}
		if s == before || s == "" {
			return s
		}
	}
}

// refersBack tells whether a request names its object only by a pronoun, so that an earlier sentence says what it is.
func refersBack(s string) bool {
	w := strings.Fields(strings.ToLower(strings.Trim(stripLeads(s), ".!?")))
	if len(w) > 6 {
		return false
	}
	for i, x := range w {
		switch strings.Trim(x, ",.") {
		case "it", "this", "that", "them", "so", "these", "those":
			return i > 0 && (len(w) <= 4 || i == len(w)-1)
		}
	}
	return false
}

// smallTalk tells whether a text asks for nothing: a greeting, thanks, consent, "continue".
func smallTalk(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if s == "" {
		return true
	}
	if len(s) > 80 {
		return false
	}
	low := strings.ToLower(s)
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",.!'’", r) {
			return -1
		}
		return r
	}, low)
	switch bare {
	case "continue", "go on", "go ahead", "proceed", "carry on", "do it", "yes do it", "next", "more", "again", "retry",
		"try again", "keep going", "please continue", "continue please", "ok continue", "no", "nope", "stop",
		"lgtm", "looks good", "looks good to me", "sounds good", "good job", "well done", "good", "fine", "got it",
		"understood", "i see", "right", "correct", "exactly", "agreed", "done", "you too", "bye", "goodbye", "see you",
		"how are you", "whats up", "who are you", "what are you", "what can you do", "what can you help me with",
		"what model are you", "which model are you", "are you there", "what is your name", "whats your name", "good night",
		"good evening", "test", "testing", "ping", "hmm", "hm", "wow", "lol", "haha", "yo", "sup", "ty", "np",
		"no problem", "that works", "it works", "works",
		"there", "you", "a lot", "so much", "very much", "for your help", "for the help", "weiter", "mach weiter", "ja",
		"nein", "sí", "si", "continúa", "oui", "non", "continue stp", "sim", "não", "继续", "好的", "好", "是", "不", "谢谢", "你好",
		"はい", "続けて", "ありがとう", "こんにちは", "お願いします", "네", "계속":
		return true
	}
	if n := wordCount(low); n <= 4 {
		for _, p := range []string{
			"thank", "thanks", "good morning", "good evening", "nice to meet", "have a nice",
			"great job", "nice work", "good work", "how are you",
		} {
			if _, ok := hasWord(low, p); ok {
				return true
			}
		}
	}
	return false
}

func isCreative(low string) bool {
	return anyWord(low, []string{
		"haiku", "poem", "limerick", "joke", "sonnet", "song", "story about", "riddle", "rhyme",
		"gedicht", "witz", "poema", "chiste", "poème", "blague", "piada", "俳句", "诗", "笑话",
	})
}

// titleOf makes a title of a request without its leads.
func titleOf(s string, question bool) string {
	s = oneLine(strings.ReplaceAll(s, "`", ""))
	for {
		before := s
		s = strings.TrimRight(s, " ,;:.!。！、，")
		if !question {
			s = strings.TrimRight(s, "?？")
		}
		for _, p := range []string{
			", please", " please", ", thanks", " thanks", ", thank you", " thank you", " thx", ", pls",
			" bitte", " por favor", " then", " as well", " too",
		} {
			if len(s) > len(p) && strings.EqualFold(s[len(s)-len(p):], p) {
				s = s[:len(s)-len(p)]
			}
		}
		if s == before {
			break
		}
	}
	return capital(cutWords(s, event.MaxTitle))
}

// capital is s with a capital letter, unless it begins with a name that is spelled otherwise.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || !unicode.IsLower(r) || strings.ContainsAny(strings.TrimRight(first, ".,;!?"), "._/\\-0123456789():") || strings.ToLower(first) != first {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
