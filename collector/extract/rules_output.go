package extract

import (
	"slices"
	"strings"
	"unicode"
)

const (
	maxErrorLines = 5
	maxErrorLine  = 240  // characters
	scanLines     = 1600 // of a longer output the first and the last lines are read
)

// errorLines picks the lines of a failed command's output that say why, in their order, and the best one of them. Where
// no line stands out it takes the first and the last ones. Paths inside the project are made relative.
func errorLines(output, base string) (best string, lines []string) {
	all := outputLines(output, base)
	type scored struct{ at, score int }
	var top []scored
	bestScore := 0
	for i, l := range all {
		s := errorScore(l)
		if i > 0 && strings.Contains(all[i-1], "panicked at ") {
			s = 10 // Rust tells the reason on the next line
		}
		if s > bestScore || s == bestScore && s > 0 && strings.HasPrefix(all[0], "Traceback") {
			best, bestScore = l, s
		}
		if s > 0 {
			top = append(top, scored{i, s})
		}
	}
	if bestScore >= 9 { // the reason is there; counts and reports of the runner add nothing
		top = slices.DeleteFunc(top, func(t scored) bool { return t.score < 5 })
	}
	for min := 1; len(top) > maxErrorLines; min++ { // the least telling ones go first, then the later ones
		kept := top[:0:0]
		for _, t := range top {
			if t.score > min {
				kept = append(kept, t)
			}
		}
		if len(kept) == 0 {
			top = top[:maxErrorLines]
		} else {
			top = kept
		}
		if min > 12 {
			top = top[:maxErrorLines]
		}
	}
	seen := make(map[string]bool)
	for _, t := range top {
		if l := cutWords(all[t.at], maxErrorLine); !seen[l] {
			seen[l] = true
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 && len(all) > 0 {
		best = cutWords(all[len(all)-1], maxErrorLine)
		lines = append(lines, cutWords(all[0], maxErrorLine))
		for _, l := range all[max(1, len(all)-2):] {
			lines = append(lines, cutWords(l, maxErrorLine))
		}
	}
	return cutWords(best, maxErrorLine), lines
}

// outputLines gives the lines of an output that hold any word; of a long one the first and the last.
func outputLines(output, base string) []string {
	output = cleanText(output)
	if base != "" {
		output = strings.ReplaceAll(output, base+"/", "")
	}
	raw := strings.Split(output, "\n")
	if len(raw) > scanLines {
		raw = append(raw[:scanLines/2:scanLines/2], raw[len(raw)-scanLines/2:]...)
	}
	var all []string
	for _, l := range raw {
		l = oneLine(l[:min(len(l), 4096)])
		if strings.IndexFunc(l, unicode.IsLetter) < 0 || l == "Output:" || strings.HasPrefix(l, "Exit Code:") {
			continue
		}
		all = append(all, l)
	}
	return all
}

// errorScore tells how much a line of output says about what went wrong; 0 for nothing.
func errorScore(l string) int {
	low := strings.ToLower(l)
	switch {
	case strings.HasPrefix(l, "FAILED ") && strings.Contains(l, " - "), // pytest
		strings.HasPrefix(low, "error[e"), strings.Contains(low, ": error "), strings.Contains(low, ": error:"), strings.Contains(low, "): error ts"), // rustc, javac, gcc, tsc
		strings.HasPrefix(l, "[ERROR] ") && strings.Contains(l, ":["): // maven
		return 11
	case sourceLine(l):
		return 10
	case strings.HasPrefix(l, "E +"):
		return 1
	case strings.HasPrefix(l, "E "), strings.HasPrefix(l, "● "), strings.HasPrefix(l, "panic: "), strings.HasPrefix(l, "Caused by: "),
		strings.HasPrefix(l, "Exception in thread"), strings.Contains(l, "panicked at "), namedException(l), strings.HasPrefix(low, "undefined reference"):
		return 9
	case strings.HasPrefix(low, "error:"), strings.HasPrefix(low, "fatal:"), strings.HasPrefix(low, "error "), strings.Contains(low, " error: "), eslintLine(low):
		return 8
	case strings.Contains(low, "permission denied"), strings.Contains(low, "no such file"), strings.Contains(low, "command not found"),
		strings.Contains(low, "connection refused"), strings.Contains(low, "segmentation fault"), strings.Contains(low, "not found"),
		strings.Contains(low, "cannot "), strings.Contains(low, "undefined:"), strings.Contains(low, "out of memory"), strings.Contains(low, "timed out"),
		strings.HasPrefix(low, "expected"), strings.HasPrefix(low, "received"), strings.HasPrefix(low, "actual"), strings.HasPrefix(l, "✕ "), strings.HasPrefix(l, "× "):
		return 7
	case strings.HasPrefix(l, "--- FAIL"), strings.HasPrefix(l, "[ERROR] "), strings.HasPrefix(l, "npm ERR!"), strings.HasPrefix(l, "FAILED"), strings.HasPrefix(l, "FAIL: "),
		strings.HasPrefix(low, "failures:"), strings.HasPrefix(low, "tests run:"), strings.HasPrefix(low, "tests:"):
		return 5
	case strings.HasPrefix(l, "FAIL "), strings.HasPrefix(low, "make: ***"), strings.HasPrefix(low, "build fail"):
		return 3
	}
	if _, ok := hasWord(low, "failed"); ok {
		return 4
	}
	if _, ok := hasWord(low, "error"); ok && !strings.Contains(low, "0 error") && !strings.Contains(low, "no error") {
		return 4
	}
	return 0
}

// sourceLine tells whether a line begins with file:line and goes on with a message.
func sourceLine(l string) bool {
	i := strings.IndexByte(l, ':')
	if i > 1 && i+1 < len(l) && l[i+1] >= '0' && l[i+1] <= '9' && looksLikeFile(l[:i]) && !strings.Contains(l[:i], " ") {
		return strings.Contains(l[i:], " ") && !strings.Contains(l, " +0x")
	}
	return false
}

// namedException tells whether a line begins with the name of an error class and a colon.
func namedException(l string) bool {
	name, rest, ok := strings.Cut(l, ":")
	if !ok || rest == "" || strings.Contains(name, " ") {
		return false
	}
	return strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")
}

func eslintLine(low string) bool {
	at, rest, ok := strings.Cut(low, " ")
	return ok && strings.HasPrefix(rest, "error ") && strings.Trim(at, "0123456789:") == ""
}

// withoutPlace takes what only locates an error off its line: "x_test.go:41: got 1" becomes "got 1".
func withoutPlace(l string) string {
	if sourceLine(l) {
		i := strings.IndexByte(l, ':')
		rest := strings.TrimLeft(l[i:], ":0123456789")
		if rest = strings.TrimSpace(rest); rest != "" {
			return rest
		}
	}
	if i := strings.Index(l, "): error "); i > 0 && looksLikeFile(l[:max(0, strings.IndexByte(l, '('))]) {
		return l[i+len("): "):]
	}
	if name, why, ok := strings.Cut(strings.TrimPrefix(l, "FAILED "), " - "); ok && strings.HasPrefix(l, "FAILED ") {
		return name[strings.LastIndexByte(name, ':')+1:] + " - " + why
	}
	for _, p := range []string{"E ", "● ", "[ERROR] ", "✕ ", "× "} {
		l = strings.TrimPrefix(l, p)
	}
	return strings.TrimSpace(l)
}
