package viewer

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

const days = 30 // that are drawn

// day is what happened on one day, by kinds of events and types of records.
type day struct {
	at   time.Time
	what map[string]map[string]int // "events" or "records" → kind or type → how many
}

func (d day) sum(of string) (n int) {
	for _, k := range d.what[of] {
		n += k
	}
	return n
}

// activity are days, the latest last.
type activity []day

func (a activity) last() day { return a.day(0) }

// day is the day so many days from the last; back is not positive.
func (a activity) day(back int) day {
	if i := len(a) - 1 + back; i >= 0 && i < len(a) {
		return a[i]
	}
	return day{}
}

// activity reads what happened in the last n days of a namespace, or of all.
func (q *request) activity(ns string, n int) (activity, error) {
	first := q.midnight(1 - n)
	var got client.Activity
	err := q.api.get(q.ctx, "/v1/activity", url.Values{"namespace": {ns}, "since": {first.UTC().Format(time.RFC3339)}}, &got)
	if err != nil {
		return nil, err
	}
	out := make(activity, n)
	byDate := map[string]*day{}
	for i := range out {
		out[i] = day{at: q.midnight(1 - n + i), what: map[string]map[string]int{"events": {}, "records": {}}}
		byDate[out[i].at.Format(time.DateOnly)] = &out[i]
	}
	for _, h := range got.Hours {
		if d := byDate[h.Hour.Local().Format(time.DateOnly)]; d != nil && d.what[h.Of] != nil {
			d.what[h.Of][h.What] += h.N
		}
	}
	return out, nil
}

const plotHigh = 100 // units of a plot's height; its width is stretched to the page's

// plot draws a bar for each day, divided by kind or type. It is an image with a text beside it for who cannot see it; each
// bar says its numbers to who points at it.
func (a activity) plot(of string) html {
	most, total, parts := 1, 0, map[string]int{}
	for _, d := range a {
		most = max(most, d.sum(of))
		total += d.sum(of)
		for k, n := range d.what[of] {
			parts[k] += n
		}
	}
	if total == 0 {
		return el("p.dim", "Nothing in the last "+many(len(a), "day")+".")
	}
	order := partOrder(parts)
	var bars []any
	for i, d := range a {
		y := float64(plotHigh)
		var kids []any
		for _, k := range order {
			if n := d.what[of][k]; n > 0 {
				h := float64(n) / float64(most) * plotHigh
				y -= h
				kids = append(kids, el("rect."+className(k), at("x", strconv.Itoa(i*10+1)), at("width", "8"), at("y", unit(y)), at("height", unit(h))))
			}
		}
		kids = append(kids, el("rect.hit", at("x", strconv.Itoa(i*10)), at("width", "10"), at("y", "0"), at("height", strconv.Itoa(plotHigh)), el("title", d.told(of))))
		bars = append(bars, el("g", kids...))
	}
	svg := el("svg.bars", append([]any{
		at("viewBox", fmt.Sprintf("0 0 %d %d", len(a)*10, plotHigh)), at("preserveAspectRatio", "none"), at("role", "img"),
		at("aria-label", fmt.Sprintf("%d in %d days, at most %d a day", total, len(a), most)),
	}, bars...)...)
	return el("figure.plot", el("div.scale", el("span", "at most "+thousands(most)+" a day"), legend(order, parts, of)), svg,
		el("div.axis", el("span", a[0].at.Format("2 Jan")), el("span", a[len(a)/2].at.Format("2 Jan")), el("span", "today")))
}

func (d day) told(of string) string {
	parts := []string{d.at.Format("Mon 2 Jan") + ": " + many(d.sum(of), strings.TrimSuffix(of, "s"))}
	for _, k := range partOrder(d.what[of]) {
		parts = append(parts, fmt.Sprintf("%d %s", d.what[of][k], partName(k, of)))
	}
	return strings.Join(parts, ", ")
}

func partName(k, of string) string {
	if of == "events" {
		return strings.ToLower(kindName(k))
	}
	return typeName(k)
}

// partOrder are the kinds or types that occur, always in the same order.
func partOrder(parts map[string]int) []string {
	known := []string{}
	for _, k := range kindNames() {
		known = append(known, k[0])
	}
	known = append(known, event.ObservationTypes()...)
	keys := slices.Sorted(maps.Keys(parts))
	slices.SortStableFunc(keys, func(a, b string) int { return slices.Index(known, a) - slices.Index(known, b) })
	return keys
}

func legend(order []string, parts map[string]int, of string) html {
	var kids []any
	for _, k := range order {
		kids = append(kids, el("li", el("i.dot."+className(k), at("aria-hidden", "true")), partName(k, of)+" ", el("b", thousands(parts[k]))))
	}
	return el("ul.legend", kids...)
}

// unit is a length in a drawing.
func unit(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
