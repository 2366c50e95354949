package extract

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxConcepts = 12

// conceptText is a text to take key terms from; a term of a text of more weight comes first.
type conceptText struct {
	text   string
	weight int
}

// concepts gives the identifiers and key terms of texts: names first, then words of the trade, in the order of weight
// and appearance.
func concepts(texts ...conceptText) []string {
	type term struct {
		text  string
		score int
		at    int
	}
	terms := make(map[string]*term)
	var order []*term
	for _, t := range texts {
		for _, w := range wordsOf(t.text) {
			if notTerm(w) {
				continue
			}
			w, _, _ = strings.Cut(w, ":") // a place in a file, a part of a test's name
			score := 0
			switch {
			case notTerm(w):
			case identifier(w):
				score = 3
			case acronym(w):
				score = 2
			default:
				if w = techWord(w); w != "" && !generic(w) {
					score = 2
				}
			}
			if score == 0 {
				continue
			}
			key := singular(strings.ToLower(w))
			if have, ok := terms[key]; ok {
				have.score += t.weight
				continue
			}
			have := &term{w, score * t.weight, len(order)}
			terms[key] = have
			order = append(order, have)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].score > order[j].score })
	var out []string
	for _, t := range order {
		if len(out) == maxConcepts {
			break
		}
		out = append(out, t.text)
	}
	return out
}

// generic tells words of the trade that are everywhere and name nothing.
func generic(w string) bool {
	switch w {
	case "error", "type", "string", "value", "code", "file", "output", "input", "column", "function", "method", "object",
		"variable", "number", "default", "id", "host", "message", "parameter", "test", "bug", "job", "key", "list",
		"user", "version", "process", "line", "array", "null", "byte", "integer", "image", "component", "class", "exception",
		"app":
		return true
	}
	return false
}

// wordsOf splits a text at everything that cannot stand inside a name, a path or a number.
func wordsOf(s string) []string {
	var out []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			if w := strings.Trim(s[start:end], ".-/:'’"); w != "" {
				out = append(out, w)
			}
			start = -1
		}
	}
	for i, r := range s {
		if !isWide(r) && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("_-./'’:", r) {
			if start < 0 {
				start = i
			}
			continue
		}
		flush(i)
	}
	flush(len(s))
	return out
}

// notTerm leaves out what privacy and kiro-learn put into texts, hashes, and what is too long to be a name.
func notTerm(w string) bool {
	low := strings.ToLower(w)
	n := utf8.RuneCountInString(w)
	if n < 2 || n > 80 || strings.Contains(low, "redacted") || strings.Contains(low, "kiro-learn") || low == "truncated" || strings.Contains(low, "://") {
		return true
	}
	if n >= 12 && strings.Trim(low, "0123456789abcdef-") == "" {
		return true // a hash or an id
	}
	return strings.IndexFunc(w, unicode.IsLetter) < 0
}

// identifier tells whether a word is a name of code: a path or file, snake_case, camelCase, a qualified name.
func identifier(w string) bool {
	if len(w) < 3 || len(w) > 200 || strings.Contains(w, "://") || strings.IndexFunc(w, unicode.IsLetter) < 0 {
		return false
	}
	switch strings.ToLower(w) {
	case "and/or", "i/o", "n/a", "e.g", "i.e", "client/server", "he/she", "read/write", "yes/no", "z.b", "d.h", "a.m", "p.m",
		"u.s", "redacted":
		return false
	}
	if i := strings.IndexByte(w, '_'); i > 0 && i < len(w)-1 {
		return true
	}
	if strings.ContainsAny(w, "/") && (looksLikeFile(w) || strings.Count(w, "/") > 1) {
		return true
	}
	if i := strings.IndexByte(w, '.'); i > 0 && !digits(w[:i]) && (looksLikeFile(w) || unicode.IsUpper(rune(w[i+1]))) {
		return true
	}
	return camelCase(w)
}

// camelCase tells whether a capital letter stands behind a small one, as in maxAttempts, and the word is no brand of
// the common kind such as GitHub.
func camelCase(w string) bool {
	lower := false
	for _, r := range w {
		if r == '\'' || r == '’' || r == '-' || r == ':' {
			return false
		}
		if lower && unicode.IsUpper(r) {
			switch w {
			case "GitHub", "GitLab", "TikTok", "PayPal", "WhatsApp", "JavaScript", "TypeScript", "YouTube", "LinkedIn",
				"iPhone", "McDonald":
				return false
			}
			return true
		}
		lower = unicode.IsLower(r)
	}
	return false
}

func acronym(w string) bool {
	n := 0
	for _, r := range w {
		if !unicode.IsUpper(r) && !(n > 0 && unicode.IsDigit(r)) {
			return false
		}
		n++
	}
	if n < 2 || n > 6 {
		return false
	}
	switch w {
	case "OK", "NO", "YES", "AND", "OR", "NOT", "THE", "IT", "IS", "TODO", "FAIL", "PASS", "ALL", "IN", "ON", "TO", "II",
		"III", "ERROR", "INFO", "WARN", "DO", "MUST", "NEVER", "ALWAYS", "FAILED", "PLEASE", "SELECT", "WHERE", "FROM",
		"INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "TABLE":
		return false
	}
	return true
}

// singular is a word without the s of a plural, so that retry and retries meet.
func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "s") && len(w) > 3:
		return w[:len(w)-1]
	}
	return w
}
