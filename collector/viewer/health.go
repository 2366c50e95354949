package viewer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"kiro-learn/collector/client"
)

// health says whether anything is stuck, and how fast it is.
func (q *request) health() (page, error) {
	var c client.Condition
	if err := q.api.get(q.ctx, "/v1/condition", nil, &c); err != nil {
		return page{}, err
	}
	var s stats
	if err := q.api.get(q.ctx, "/v1/stats", nil, &s); err != nil {
		return page{}, err
	}
	pending := 0
	for i := range s.Projects {
		pending += s.Projects[i].Pending
	}
	body := all(el("div.head", el("h1", "Health"), el("p.dim", "collector "+c.Version+", since ", q.since(c.Started), ", "+many(int(c.Requests), "request"))),
		el("section", at("aria-labelledby", "stuck-h"), el("h2", at("id", "stuck-h"), "Is anything stuck?"), el("ul.rows.checks", q.outboxChecks(&c.Outbox), q.engineChecks(pending, &s.Engine))),
		setAside(c.Outbox.SetAside, q),
		el("section", at("aria-labelledby", "doctor-h"), el("h2", at("id", "doctor-h"), "Is it wired up?"),
			el("div", at("data-load", "/health/checks?part=1"), at("aria-busy", "true"), el("p.dim", "Looking at Kiro's files … ", el("a", href("/health/checks"), "show what was found")))),
		el("section", at("aria-labelledby", "speed-h"), el("h2", at("id", "speed-h"), "How long it takes"), el("div.halves",
			latency("A hook, from its start until its event is handed over", c.Hooks, "No hook has run here yet."),
			latency("Recall, for a prompt", c.Recall, "No prompt has been looked up since this collector started."))),
		el("section", at("aria-labelledby", "disk-h"), el("h2", at("id", "disk-h"), "Disk"), disk(c.Files)))
	return page{title: "Health", at: "/health", body: body}, nil
}

// check is one line: ok, warn or fail, what was looked at, and what to do.
func check(status, what, detail string, todo ...any) html {
	mark := map[string]string{"ok": "fine", "warn": "look", "fail": "stuck"}[status]
	return el("li."+map[string]string{"ok": "ok", "warn": "warn", "fail": "fail"}[status], el("span.mark", mark), el("div", el("b", what), " ", el("span", detail), all(todo...)))
}

func (q *request) outboxChecks(o *client.Outbox) html {
	var out []any
	switch oldest, err := time.Parse(time.RFC3339, o.Oldest); {
	case o.Pending == 0:
		out = append(out, check("ok", "Outbox", "Nothing waits to be stored."))
	case err == nil && q.o.Now().Sub(oldest) > time.Minute:
		out = append(out, check("fail", "Outbox", many(o.Pending, "event")+" not stored; the oldest has waited since "+oldest.Local().Format("2 Jan 15:04")+".", el("pre", "kiro-learn flush")))
	default:
		out = append(out, check("ok", "Outbox", many(o.Pending, "event")+" on the way."))
	}
	if len(o.SetAside) > 0 {
		out = append(out, check("warn", "Set aside", many(len(o.SetAside), "event")+" could not be stored as they are; see below.", el("pre", "kiro-learn outbox quarantine")))
	} else {
		out = append(out, check("ok", "Set aside", "No event was refused."))
	}
	if o.Dropped > 0 {
		out = append(out, check("fail", "Dropped", many(o.Dropped, "event")+" could not even be kept: "+o.DropReason))
	}
	return all(out...)
}

func (q *request) engineChecks(pending int, e *client.Engine) html {
	var out []any
	switch {
	case pending == 0:
		out = append(out, check("ok", "Distilling", "All that was heard has been distilled."))
	case pending > 500:
		out = append(out, check("warn", "Distilling", many(pending, "event")+" wait. This is normal after an import; it goes on by itself while the collector runs."))
	default:
		out = append(out, check("ok", "Distilling", many(pending, "event")+" of a turn that has not ended, or has just now."))
	}
	how := "Memory is made by built-in rules; no language model is asked."
	status := "ok"
	if e.Extract == "llm" {
		how = "Memory is made by a language model, which has not been needed since this collector started."
		if m := e.Model; m != nil {
			how = fmt.Sprintf("Memory is made by the language model %s: %s, %d of them failed.", m.Engine, many(m.Calls, "call"), m.Failed)
			if m.State != "closed" {
				status = "warn"
				how = "The language model " + m.Engine + " is left in peace after failures, and rules make the memory meanwhile. The last failure: " + m.LastError
			}
		}
		if e.Later > 0 {
			how += " " + many(e.Later, "event") + " wait for it to distil them again."
		}
	}
	return all(append(out, check(status, "Engine", how))...)
}

func setAside(items []client.SetAside, q *request) html {
	if len(items) == 0 {
		return ""
	}
	return el("section", el("h2", "Set aside"), el("ul.rows", each(items, func(s *client.SetAside) html {
		return el("li", el("b", s.Reason), el("div.meta", q.since(s.At), el("span", size(int64(s.Bytes)))))
	})))
}

// checks are doctor's findings.
func (q *request) checks() (page, error) {
	var got struct {
		Findings []struct {
			Check  string `json:"check"`
			Status string `json:"status"`
			Detail string `json:"detail"`
			Fix    string `json:"fix"`
		} `json:"findings"`
	}
	list := html("")
	err := q.api.get(q.ctx, "/v1/findings", nil, &got)
	switch {
	case hasCode(err, "no_doctor"):
		list = el("p", "This collector cannot look by itself. Type:", el("pre", "kiro-learn doctor"))
	case err != nil:
		return page{}, err
	default:
		var kids []any
		for _, f := range got.Findings {
			todo := html("")
			if f.Fix != "" && f.Status != "ok" {
				todo = el("p.todo", f.Fix)
			}
			kids = append(kids, check(f.Status, f.Check, f.Detail, todo))
		}
		list = el("ul.rows.checks", kids...)
	}
	return page{title: "Checks", at: "/health", part: list, body: all(el("p.crumb", el("a", href("/health"), "Health")), el("h1", "Is it wired up?"), list)}, nil
}

// latency draws how long something took lately: half of all took less than the first line, all but one in twenty less
// than the second.
func latency(title string, took []client.Took, none string) html {
	if len(took) == 0 {
		return el("figure.plot", el("figcaption", title), el("p.dim", none))
	}
	ms := make([]float64, len(took))
	for i := range took {
		ms[i] = took[i].MS
	}
	sorted := slices.Sorted(slices.Values(ms))
	at50, at95, at99 := percentile(sorted, 50), percentile(sorted, 95), percentile(sorted, 99)
	top := max(at99*1.1, 1)
	return el("figure.plot", el("figcaption", title),
		el("ul.legend", el("li", el("i.dot.half", at("aria-hidden", "true")), "half under ", el("b", milli(at50))), el("li", el("i.dot.most", at("aria-hidden", "true")), "95 % under ", el("b", milli(at95))), el("li", "99 % under ", el("b", milli(at99)))),
		el("svg.line", at("viewBox", "0 0 300 100"), at("preserveAspectRatio", "none"), at("role", "img"), at("aria-label", fmt.Sprintf("the last %d, half under %s, 95 in 100 under %s", len(ms), milli(at50), milli(at95))),
			dots(ms, top), line("most", ms, 95, top), line("half", ms, 50, top)),
		el("div.axis", el("span", took[0].At.Local().Format("2 Jan 15:04")), el("span", "0 to "+milli(top)), el("span", took[len(took)-1].At.Local().Format("2 Jan 15:04"))))
}

func percentile(sorted []float64, p int) float64 {
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func milli(ms float64) string {
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 1, 64) + "\u202fms"
	}
	return strconv.FormatFloat(ms, 'f', 0, 64) + "\u202fms"
}

// dots are the single times.
func dots(ms []float64, top float64) html {
	var kids []any
	for i, v := range ms {
		y := 100 - 100*min(v/top, 1)
		kids = append(kids, el("rect.one", at("x", unit(300*float64(i)/float64(len(ms)))), at("y", unit(min(y, 97))), at("width", "2"), at("height", "3")))
	}
	return all(kids...)
}

// line is a percentile of the times as they went by, in at most 24 steps of at least eight.
func line(class string, ms []float64, p int, top float64) html {
	step := max(8, (len(ms)+23)/24)
	points := ""
	for from := 0; from < len(ms); from += step {
		part := slices.Sorted(slices.Values(ms[from:min(from+step, len(ms))]))
		y := unit(100 - 100*min(percentile(part, p)/top, 1))
		points += unit(300*float64(from)/float64(len(ms))) + "," + y + " " + unit(300*float64(min(from+step, len(ms)))/float64(len(ms))) + "," + y + " "
	}
	return el("polyline."+class, at("points", points), at("fill", "none"), at("vector-effect", "non-scaling-stroke"))
}

// disk says what lies on it.
func disk(files map[string]int64) html {
	names := map[string]string{"database": "memory", "outbox": "outbox", "log": "log"}
	files = maps.Clone(files)
	files["database"] += files["journal"] // of the database: a person has one memory
	delete(files, "journal")
	most := int64(1)
	for _, n := range files {
		most = max(most, n)
	}
	var kids []any
	for _, k := range slices.SortedFunc(maps.Keys(files), func(a, b string) int { return int(files[b]/1024 - files[a]/1024) }) {
		kids = append(kids, el("li", el("span", names[k]), el("svg.size", at("viewBox", "0 0 100 4"), at("preserveAspectRatio", "none"), at("aria-hidden", "true"),
			el("rect.other", at("width", unit(100*float64(files[k])/float64(most))), at("height", "4"))), el("b", size(files[k]))))
	}
	return el("ul.rows.disk", kids...)
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return many(int(n), "byte")
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
