package viewer

import (
	"strconv"
)

// notice says what a write has done, on the page that it leads to. The words are ours; the address only names them.
func (q *request) notice() html {
	n, _ := strconv.ParseInt(q.q.Get("n"), 10, 64) // 0 where there is none
	count, _ := strconv.Atoi(q.q.Get("count"))
	switch q.q.Get("done") {
	case "forgotten":
		return el("div.notice", at("role", "status"), el("span", "Forgotten: "+many(count, "record")+". Nothing will find it any more."),
			q.form("/forget/undo", "", hidden("id", strconv.FormatInt(n, 10)), el("button", "Undo")))
	case "undone":
		return el("div.notice", at("role", "status"), "It is back as it was.")
	case "restored":
		return el("div.notice", at("role", "status"), "This version is in use again.")
	case "edited":
		return el("div.notice", at("role", "status"), "Saved. The earlier version is kept in the history below.")
	case "merged":
		return el("div.notice", at("role", "status"), "Done: "+many(count, "record")+" moved.")
	}
	return ""
}
