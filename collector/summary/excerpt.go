package summary

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kiro-learn/internal/event"
)

const (
	userChars  = 4096      // of a prompt that are given whole
	userTail   = 400       // of the end of a longer one
	answerMost = 4         // answers of one turn that are shown
	totalBytes = 160 << 10 // of a transcript
	firstBytes = 24 << 10  // of those, for the first turns where not all fit
)

// excerpt is the conversation as a model is given it: the person's words whole up to a cap, of each answer the first and
// the last excerptChars characters, no tools. Where it is too long, the first turns and the newest stay, and one line
// says what was left out.
func excerpt(t *talk, excerptChars int) string {
	parts := make([]string, len(t.turns))
	total := 0
	for i := range t.turns {
		parts[i] = excerptTurn(&t.turns[i], excerptChars)
		total += len(parts[i])
	}
	if total <= totalBytes {
		return strings.Join(parts, "\n")
	}
	head, used := 0, 0
	for head < len(parts) && used+len(parts[head]) <= firstBytes {
		used += len(parts[head])
		head++
	}
	tail := len(parts)
	for tail > head && used+len(parts[tail-1]) <= totalBytes {
		tail--
		used += len(parts[tail])
	}
	return strings.Join(append(append(append([]string{}, parts[:head]...), leftOut(t.turns[head:tail])), parts[tail:]...), "\n")
}

// leftOut is the line that stands for turns that did not fit.
func leftOut(gone []turn) string {
	first, last := 0, 0
	for i := range gone {
		if n := gone[i].n; n > 0 {
			if first == 0 {
				first = n
			}
			last = n
		}
	}
	if first == 0 {
		return fmt.Sprintf("[left out here for length: %d automatic messages]\n", len(gone))
	}
	return fmt.Sprintf("[left out here for length: turns %d to %d; you do not know what happened in them]\n", first, last)
}

func excerptTurn(t *turn, excerptChars int) string {
	var b strings.Builder
	switch {
	case t.automatic:
		b.WriteString("--- automation, not the person, not counted ---\n")
	case t.repeat > 0:
		fmt.Fprintf(&b, "--- turn %d: the person (a verbatim repeat of turn %d) ---\n", t.n, t.repeat)
	default:
		fmt.Fprintf(&b, "--- turn %d: the person ---\n", t.n)
	}
	b.WriteString(quoted(ends(t.prompt, userChars, userTail)))
	answers := t.answers
	if len(answers) > answerMost {
		answers = answers[len(answers)-answerMost:]
	}
	for _, a := range answers {
		b.WriteString("--- the agent's answer, head and tail ---\n")
		b.WriteString(quoted(ends(a, excerptChars, excerptChars)))
	}
	if !t.ended {
		b.WriteString("--- this turn has no end: it was interrupted ---\n")
	}
	return b.String()
}

// quoted keeps a text from posing as a line of the transcript's own.
func quoted(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "---") || strings.HasPrefix(line, "===") {
			b.WriteString("| ")
		}
		b.WriteString(strings.TrimRight(line, " \t\r"))
		b.WriteByte('\n')
	}
	return b.String()
}

// ends is the first head and the last tail characters of s; all of it when it is not longer than both together.
func ends(s string, head, tail int) string {
	if utf8.RuneCountInString(s) <= head+tail {
		return s
	}
	first := strings.TrimSuffix(event.CutChars(s, head+1), "…")
	end := len(s)
	for range tail {
		_, n := utf8.DecodeLastRuneInString(s[:end])
		end -= n
	}
	return first + "\n[…]\n" + s[end:]
}
