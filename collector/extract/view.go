package extract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// Asked is what the person wrote in a prompt event: cleaned, and without what Kiro or kiro-learn put beside the words.
// Empty where a prompt holds nothing else.
func Asked(e *event.Event) string { return dropInjected(cleanText(promptText(e))) }

// Ask is a prompt as the rules read it.
type Ask struct {
	Title      string   // what it asks for, at most 200 characters; empty when it asks for nothing
	Plain      bool     // Title is a plain request or question, not just the best sentence there was
	Question   bool     // it asks to be told something
	RefersBack bool     // it names its object only by a pronoun
	Sentences  []string // its prose
	Decided    []bool   // which of them lay down a decision or a rule
}

// AskOf reads what a person wrote.
func AskOf(text string) Ask {
	q := requestOf(text)
	a := Ask{Title: q.title, Plain: q.plain, Question: q.question, Sentences: q.sentences, Decided: q.decided}
	a.RefersBack = q.main >= 0 && refersBack(q.sentences[q.main])
	return a
}

// Sentences is the prose of a text, sentence by sentence, without code, logs, tables and quotations.
func Sentences(text string) []string { return proseOf(text) }

// Deed is what one tool use did, as far as its event tells.
type Deed struct {
	EventID string
	Wrote   []string // files changed, made or deleted, relative to the project
	Command string   // in one line, at most 120 characters; empty for another tool, or one that only looks around
	Alters  bool     // it may have changed files that it does not name
	Checks  []Check  // test runs, builds and the like of which it is known how they ended
	Known   bool     // how it ended is told, and no part of it can have failed unseen
	Failed  bool
}

// DeedOf reads a tool_use event; ok is false for one that tells nothing.
func DeedOf(e *event.Event) (Deed, bool) {
	data := rawjson.Get(e.Body, "data") // a session holds thousands of these, most of them large: nothing is decoded that is not needed
	var t event.Tool
	rawjson.Members(data, func(k string, v []byte) bool {
		switch k {
		case "tool_name":
			t.Name = rawjson.Unquote(v)
		case "tool_input":
			t.Input = v
		case "tool_response":
			t.Response = v
		}
		return true
	})
	if !rawjson.IsObject(data) || t.Name == "" || ownTool(t.Name) {
		return Deed{}, false
	}
	if delegates(t.Name) {
		return Deed{EventID: e.EventID, Alters: true}, true
	}
	a, ok := action{id: e.EventID, kind: kindOfTool(t.Name, t.Input)}, true
	switch a.kind {
	case actRead, actOther:
		return Deed{}, false
	case actCommand:
		if a, ok = actionOf(e); !ok {
			return Deed{}, false
		}
	default:
		a.out = outcomeOf(t.Response)
		a.touched = fileTouches(a.kind, t, projectBase(e.Source.ProjectPath), a.out)
	}
	d := Deed{EventID: a.id, Known: a.out.known, Failed: a.out.failed}
	for _, t := range a.touched {
		if t.kind != actRead && !a.out.failed {
			d.Wrote = append(d.Wrote, t.path)
		}
	}
	if d.Alters = a.kind == actCommand && alters(a.command); a.kind != actCommand || trivialCommand(a.command) && !d.Alters {
		return d, true
	}
	d.Command = commandLine(a.command, 120)
	if d.Known, d.Failed = false, false; inBackground(t.Input) {
		return d, true // what it tells is that it has begun
	}
	said := outcomeOf(t.Response)
	d.Known, d.Failed = whole(a.command, &said)
	d.Checks = checked(a.command, &said)
	return d, true
}

// verifies tells tests and builds, which show whether the project works, from commands that only do something to it. What
// reads the code for its style shows nothing of the kind.
func verifies(family string) bool {
	program, sub, _ := strings.Cut(family, " ")
	program = strings.TrimPrefix(strings.ToLower(program), "./")
	switch program {
	case "pytest", "jest", "vitest", "mocha", "tox", "nox", "rspec", "phpunit", "ctest", "tsc", "mypy", "pyright", "ava",
		"karma", "cypress", "playwright", "unittest":
		return true
	case "go":
		return slices.Contains([]string{"test", "build"}, sub)
	case "cargo", "swift", "mix", "dotnet", "bazel", "zig", "deno", "bun":
		return slices.Contains([]string{"test", "build", "check", "nextest"}, strings.TrimPrefix(sub, "run "))
	case "npm", "pnpm", "yarn", "make", "just", "task", "mvn", "mvnw", "gradle", "gradlew", "rake", "bundle", "composer", "sbt", "nx", "turbo", "rails":
		return anyWord(strings.NewReplacer(":", " ", "-", " ", "_", " ").Replace(sub), []string{
			"test", "tests", "check", "build", "verify", "typecheck",
			"compile", "package", "spec", "rspec", "e2e", "unit",
		}) || program == "make" && sub == ""
	}
	return false
}

// KeyWords are the words that carry the meaning of a text, as a set: stems of names, of their parts and of plain words,
// without the words that requests are made of.
func KeyWords(text string) map[string]bool {
	out := map[string]bool{}
	add := func(w string) {
		w = stemOf(strings.ToLower(w))
		if utf8.RuneCountInString(w) > 1 && !common(w) {
			out[w] = true
		}
	}
	for _, w := range wordsOf(text) {
		if notTerm(w) {
			continue
		}
		if identifier(w) {
			out[strings.ToLower(w)] = true
		}
		for _, part := range strings.FieldsFunc(splitCamel(w), func(r rune) bool { return strings.ContainsRune("_-./:'’ ", r) }) {
			add(part)
		}
	}
	return out
}

// splitCamel puts a space before each capital that follows a small letter.
func splitCamel(w string) string {
	var b strings.Builder
	low := false
	for _, r := range w {
		up := r >= 'A' && r <= 'Z'
		if up && low {
			b.WriteByte(' ')
		}
		low = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return b.String()
}

// stemOf takes the common endings off a word, so that retry, retries and retried meet. It need not be a word.
func stemOf(w string) string {
	w = singular(w)
	for _, end := range []string{"ing", "ed", "er"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) > 3 {
			w = s
			if n := len(w); w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' {
				w = w[:n-1]
			}
			break
		}
	}
	w = strings.TrimSuffix(w, "e")
	if s, ok := strings.CutSuffix(w, "i"); ok {
		w = s + "y"
	}
	return w
}

// common tells the stems of words that stand in any request.
func common(stem string) bool {
	switch stem {
	case "add", "fix", "mak", "us", "do", "updat", "creat", "writ", "run", "test", "check", "show", "tell", "remov", "implement", "get", "put", "set", "giv",
		"try", "see", "look", "find", "explain", "help", "keep", "ensur":
		return true
	case "the", "th", "a", "an", "and", "or", "but", "if", "then", "so", "of", "to", "in", "on", "at", "by", "for", "with", "from", "into", "as", "is",
		"ar", "was", "wer", "be", "been", "it", "its", "this", "that", "thes", "thos", "thy", "them", "they", "i", "me", "my", "we", "our", "you", "your",
		"can", "could", "would", "should", "will", "shall", "may", "might", "must", "does", "did", "don", "not", "no", "yes", "pleas", "pls",
		"now", "also", "just", "only", "still", "again", "more", "mor", "most", "all", "any", "som", "each", "every", "other", "oth", "what", "why", "how",
		"when", "wher", "which", "who", "there", "ther", "here", "her", "hav", "has", "had", "need", "want", "like", "lik", "new", "old", "one", "two",
		"code", "cod", "file", "fil", "thing", "way", "let", "sur", "sure", "ok", "okay", "thank", "doesn", "isn", "go", "than", "too", "out", "up",
		"down", "over", "ov", "after", "aft", "befor", "first", "last", "next", "instead", "same", "sam", "about", "it's", "chang", "lin", "function":
		return true
	}
	return false
}
