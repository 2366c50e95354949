package recall

import (
	"slices"
	"strconv"
	"strings"
)

const (
	maxShownFiles   = 12  // names in a record's line of files
	maxMatchedFacts = 40  // facts of a record that are compared with the prompt
	leastRecord     = 240 // bytes below which a shortened record says too little
)

// Block renders records as the context that an agent is shown, in at most maxBytes bytes and with at most maxRecords
// records, best first as they come. A record that does not fit is skipped for one that does; the best of those skipped
// are then shown shortened in what room is left, and the very best one always is if it can be. Without records, or
// without room for one, the text is empty. Shown are the records that are in it, in their order.
func Block(records []Result, maxBytes, maxRecords int) (text string, shown []Result) {
	head := frameHeading + "\n" + frameNote + "\n"
	room := maxBytes - len(head)
	if room < leastRecord/2 || maxRecords <= 0 {
		return "", nil
	}
	texts := make([]string, len(records))
	count := 0
	take := func(i int, s string) {
		texts[i] = s
		room -= len(s)
		count++
	}
	budget := room
	var skipped []int
	for i := range records {
		if count == maxRecords {
			break
		}
		full := render(&records[i], len(head)+budget)
		switch {
		case full != "" && len(full) <= room && len(full) <= budget/2:
			take(i, full)
		case i == 0:
			if s := render(&records[i], budget/3); s != "" {
				take(i, s)
			}
		default:
			skipped = append(skipped, i)
		}
	}
	for _, i := range skipped {
		if count == maxRecords || room < leastRecord {
			break
		}
		if s := render(&records[i], min(room, max(budget/5, leastRecord))); s != "" {
			take(i, s)
		}
	}
	if count == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString(head)
	for i, s := range texts {
		if s != "" {
			b.WriteString(s)
			shown = append(shown, records[i])
		}
	}
	return b.String(), shown
}

// render is one record with the empty line before it, in at most max bytes: whole, or with its files, then its facts,
// then its summary shortened; the facts that match the prompt stay longest. It is empty when not even the title fits.
func render(r *Result, max int) string {
	title := oneLine(r.Title)
	if title == "" {
		title = "untitled"
	}
	about := oneLine(r.ObservationType)
	if !r.Created.IsZero() {
		about = r.Created.UTC().Format("2006-01-02") + ", " + about
	}
	if r.Stale {
		about += ", stale"
	}
	head := "\n### " + title + " (" + about + ")\n"
	room := max - len(head)
	if room < 0 {
		return ""
	}
	summary, facts, files := Neutral(r.Summary), neutralFacts(r), fileLine(r.FilesTouched)
	size := len(files)
	for _, f := range facts {
		size += len(f)
	}
	if summary != "" {
		size += len(summary) + 1
	}
	if size > room {
		summary, facts, files = shorten(r, summary, facts, files, room)
	}
	var b strings.Builder
	b.WriteString(head)
	if summary != "" {
		b.WriteString(summary)
		b.WriteByte('\n')
	}
	for _, f := range facts {
		b.WriteString(f)
	}
	b.WriteString(files)
	return b.String()
}

// shorten makes the parts of a record fit: two thirds for the summary, the rest for facts and files.
func shorten(r *Result, summary string, facts []string, files string, room int) (string, []string, string) {
	if len(facts) > 0 {
		summary = cutText(summary, room*2/3)
	} else {
		summary = cutText(summary, room-1)
	}
	if summary != "" {
		room -= len(summary) + 1
	}
	order := make([]int, len(facts))
	for i := range order {
		order[i] = i
	}
	score := matches(r.Matched, facts[:min(len(facts), maxMatchedFacts)])
	score = append(score, make([]int, len(facts)-len(score))...)
	slices.SortStableFunc(order, func(a, b int) int { return score[b] - score[a] })
	keep := make([]bool, len(facts))
	for _, i := range order {
		if len(facts[i]) <= room {
			keep[i] = true
			room -= len(facts[i])
		}
	}
	var kept []string
	for i, f := range facts {
		if keep[i] {
			kept = append(kept, f)
		}
	}
	if len(files) > room {
		files = ""
	}
	return summary, kept, files
}

// matches counts the terms of the prompt in each text.
func matches(terms, texts []string) []int {
	out := make([]int, len(texts))
	for i, text := range texts {
		seen := make(map[string]bool)
		sc := scanner{emit: func(term, _ []byte, _ class, _ int) {
			if t := string(term); !seen[t] && slices.Contains(terms, t) {
				seen[t] = true
				out[i]++
			}
		}}
		sc.scan(text)
	}
	return out
}

func neutralFacts(r *Result) []string {
	out := make([]string, 0, len(r.Facts))
	for _, f := range r.Facts {
		if f = oneLine(f); f != "" {
			out = append(out, "- "+f+"\n")
		}
	}
	return out
}

func fileLine(files []string) string {
	var names []string
	for _, f := range files {
		if f = oneLine(f); f != "" {
			names = append(names, f)
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxShownFiles; n > 0 {
		names, more = names[:maxShownFiles], " and "+strconv.Itoa(n)+" more"
	}
	return "Files: " + strings.Join(names, ", ") + more + "\n"
}

// cutText is s in at most max bytes, cut behind a word and with an ellipsis; empty when little of it would be left.
func cutText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	const ellipsis = " …"
	if max < 40 {
		return ""
	}
	s = cutBytes(s, max-len(ellipsis))
	if i := strings.LastIndexAny(s, " \n"); i > len(s)/2 {
		s = s[:i]
	}
	return s + ellipsis
}
