package summary

import (
	"strings"

	"kiro-learn/collector/extract"
	"kiro-learn/internal/event"
)

// stated are the steps that an answer says are left: the items under a heading such as "Next steps", and sentences that
// say so. What the agent merely offers to do is not among them.
func stated(answer string) []Step {
	out := []Step{}
	add := func(s string) {
		s = event.CutChars(strings.TrimSpace(s), lineChars)
		if s != "" && !offer(s) && len(out) < maxLines {
			out = append(out, Step{What: s})
		}
	}
	within := false
	var prose strings.Builder
	for line := range strings.SplitSeq(answer, "\n") {
		bare := strings.TrimSpace(line)
		head, rest, colon := strings.Cut(strings.Trim(bare, "#*_ "), ":")
		if leftHeading(head) && (colon || strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, "**") || bare == head) {
			within = true
			for item := range strings.SplitSeq(strings.Trim(rest, "*_ "), ";") {
				add(item)
			}
			continue
		}
		if item, ok := listItem(bare); ok && within {
			add(item)
			continue
		}
		if bare != "" {
			within = false
		}
		prose.WriteString(line + "\n")
	}
	for _, s := range extract.Sentences(prose.String()) {
		if saysLeft(s) {
			add(s)
		}
	}
	return out
}

func leftHeading(s string) bool {
	switch strings.ToLower(strings.Trim(s, "*_ ")) {
	case "next step", "next steps", "next", "remaining", "remaining steps", "remaining work", "todo", "to do", "todos", "still to do", "still open", "open",
		"left to do", "what's left", "what is left", "follow-up", "follow-ups", "follow up", "followups", "open points", "outstanding":
		return true
	}
	return false
}

// listItem takes the mark off an item of a list that is still to be done.
func listItem(s string) (string, bool) {
	for _, m := range []string{"- [ ] ", "* [ ] ", "- ", "* ", "• "} {
		if rest, ok := strings.CutPrefix(s, m); ok {
			return rest, !strings.HasPrefix(rest, "[x]")
		}
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
		return s[n+2:], true
	}
	return "", false
}

func saysLeft(s string) bool {
	low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
	for _, p := range []string{
		"next step is", "the next step is", "next, ", "what remains is", "what is left is", "what's left is", "remaining: ", "still to do: ",
		"you still need to", "you need to", "you'll need to", "you will need to", "you have to", "you'll have to", "please remember to", "remember to", "don't forget to",
		"i still need to", "i still have to", "we still need to", "we still have to", "it still needs", "that still needs",
	} {
		if strings.HasPrefix(low, p) || strings.Contains(low, ", "+p) || strings.Contains(low, "; "+p) || strings.Contains(low, " but "+p) {
			return true
		}
	}
	return false
}

// offer tells what the agent proposes from what is to be done.
func offer(s string) bool {
	low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
	for _, p := range []string{"if you want", "if you like", "if you'd like", "would you like", "want me to", "i can ", "i could ", "shall i", "should i", "let me know", "optionally", "you could ", "you may ", "you might "} {
		if strings.Contains(low, p) {
			return true
		}
	}
	return strings.HasSuffix(strings.TrimSpace(low), "?")
}

// evades tells whether an answer to a question gives none: it says so, or only what the agent is going to do.
func evades(answer []string) bool {
	first := strings.ReplaceAll(strings.ToLower(answer[0]), "’", "'")
	for _, p := range []string{
		"i'll ", "i will ", "let me ", "i'm going to ", "i am going to ", "i'm looking", "i am looking", "i'm checking", "i am checking", "looking into", "checking ",
		"ich sehe ", "ich schaue ", "ich prüfe ", "ich werde ", "voy a ", "je vais ", "vou ",
	} {
		if strings.HasPrefix(first, p) {
			return true
		}
	}
	for _, s := range answer {
		low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
		for _, p := range []string{
			"don't know", "do not know", "not sure", "no idea", "unclear", "cannot tell", "can't tell", "cannot find", "can't find", "cannot determine", "can't determine", "didn't find", "did not find",
			"internal error", "request failed", "was interrupted", "was cancelled", "ran out of",
			"weiß ich", "weiß es nicht", "ich weiß nicht", "keine ahnung", "nicht gefunden", "konnte nicht", "nicht sicher",
			"no lo sé", "no sé", "no estoy segur", "no pude", "no encontré", "ne sais pas", "n'ai pas trouvé", "não sei", "não encontrei", "non lo so", "не знаю", "не удалось", "не нашёл",
			"分かりません", "わかりません", "見つかりません", "不知道", "不清楚", "不确定", "没有找到", "找不到", "모르겠", "찾을 수 없",
		} {
			if strings.Contains(low, p) {
				return true
			}
		}
	}
	return false
}

// unfinished tells whether an answer says that something is not done.
func unfinished(answer []string) bool {
	for _, s := range answer {
		low := strings.ReplaceAll(strings.ToLower(s), "’", "'")
		for _, p := range []string{
			"not yet", "not done", "still fail", "still broken", "still missing", "doesn't work yet", "remains to be", "left to do", "to be done", "unfinished",
			"not finished", "incomplete", "could not ", "couldn't ", "unable to ", "haven't ", "have not ", "half of", "partially", "so far",
		} {
			if strings.Contains(low, p) {
				return true
			}
		}
		if strings.HasSuffix(low, "?") { // it waits for an answer
			return true
		}
	}
	return false
}
