package recall

import (
	"strings"

	"kiro-learn/collector/store"
)

// Digest renders what a new session is told at its start, in at most maxBytes bytes: the latest summary of a session in the project,
// in the same frame as Block, its open steps first. nextSteps are steps that are known beside the summary's own
// section "Next steps". A record without title and summary, and no steps, give nothing.
func Digest(latest store.Stored, nextSteps []string, maxBytes int) string {
	if strings.TrimSpace(latest.Title+latest.Summary) == "" && len(nextSteps) == 0 {
		return ""
	}
	summary, own := splitNext(latest.Summary)
	r := Result{Stored: latest}
	r.Summary = summary
	if r.ObservationType == "" {
		r.ObservationType = "session_summary"
	}
	r.Facts = nil
	for _, s := range append(nextSteps[:len(nextSteps):len(nextSteps)], own...) {
		if s = strings.TrimSpace(s); s != "" {
			r.Facts = append(r.Facts, "Next: "+s)
		}
	}
	head := frameHeading + "\n" + frameNote + "\n"
	body := render(&r, maxBytes-len(head))
	if body == "" {
		return ""
	}
	return head + body
}

// splitNext takes the section of next steps out of a summary with Markdown sections.
func splitNext(summary string) (rest string, steps []string) {
	var kept []string
	in := false
	for line := range strings.SplitSeq(summary, "\n") {
		if title := strings.Trim(line, "#*: \t"); strings.HasPrefix(strings.TrimSpace(line), "#") || strings.EqualFold(title, "next steps") {
			if in = strings.EqualFold(title, "next steps"); in {
				continue
			}
		}
		if in {
			steps = append(steps, strings.TrimLeft(line, "-* \t"))
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n"), steps
}
