package viewer

import (
	"net/url"
	"strconv"
	"strings"

	"kiro-learn/internal/event"
)

// shownRelated is how many records are named that stay although their turn was forgotten.
const shownRelated = 6

// notice says what a write has done, on the page that it leads to. The words are ours; the address only names them.
func (q *request) notice() html {
	count, _ := strconv.Atoi(q.q.Get("count")) // 0 where there is none
	said := ""
	switch q.q.Get("done") {
	case "forgotten":
		return q.forgottenNotice()
	case "undone":
		said = "It is back as it was."
	case "restored":
		said = "This version is in use again."
	case "edited":
		said = "Saved. The earlier version is kept in the history below."
	case "merged":
		said = "Done: " + many(count, "memory") + " moved."
	default:
		return ""
	}
	return el("div.notice", at("role", "status"), said)
}

// forgottenNotice offers to take the forgetting back, and names what was made from the same turn and stays.
func (q *request) forgottenNotice() html {
	n, _ := strconv.ParseInt(q.q.Get("n"), 10, 64) // 0 where there is none
	var stays []any
	for _, id := range strings.Split(q.q.Get("related"), " ") {
		var r event.Record
		if len(stays) < shownRelated && id != "" && q.api.get(q.ctx, "/v1/memories/"+url.PathEscape(id), nil, &r) == nil {
			stays = append(stays, el("li", typeTag(r.ObservationType), " ", el("a", href(recordPath(r.RecordID)), r.Title)))
		}
	}
	verb := " were made from the same turn and stay:"
	if len(stays) == 1 {
		verb = " was made from the same turn and stays:"
	}
	return el("div.notice", at("role", "status"), el("span", "Forgotten. Nothing will find it any more."),
		q.form("/forget/undo", "", hidden("id", strconv.FormatInt(n, 10)), el("button", "Undo")),
		when(len(stays) > 0, func() html { return el("div.stays", many(len(stays), "memory"), verb, el("ul.plain", stays...)) }))
}
