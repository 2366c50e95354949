package recall

import (
	"strings"
	"sync"
	"time"
)

// dateRange is a stretch of days that a prompt names, from the beginning of its first to the end of its last.
type dateRange struct{ from, to time.Time }

func (r dateRange) holds(t time.Time) bool { return !t.Before(r.from) && t.Before(r.to) }

// findDates finds the days and months of a known year that a text names: 2026-03-01, 2026-03, 1 March 2026, March 1st, 2026 and March 2026.
// Words such as yesterday are left alone: whose yesterday it is, the text does not say.
func findDates(text string) []dateRange {
	if len(text) > maxProse {
		text = text[:maxProse/2] + " " + text[len(text)-maxProse/2:]
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '-')
	})
	var out []dateRange
	for i, w := range words {
		if t, err := time.Parse("2006-01-02", w); err == nil {
			out = append(out, dateRange{t, t.AddDate(0, 0, 1)})
			continue
		}
		if t, err := time.Parse("2006-01", w); err == nil {
			out = append(out, dateRange{t, t.AddDate(0, 1, 0)})
			continue
		}
		m := month(w)
		if m == 0 {
			continue
		}
		after := func(n int) string {
			if i+n >= 0 && i+n < len(words) {
				return words[i+n]
			}
			return ""
		}
		switch {
		case yearOf(after(1)) > 0 && dayOf(after(-1)) > 0:
			out = append(out, oneDay(yearOf(after(1)), m, dayOf(after(-1))))
		case yearOf(after(2)) > 0 && dayOf(after(1)) > 0:
			out = append(out, oneDay(yearOf(after(2)), m, dayOf(after(1))))
		case yearOf(after(1)) > 0:
			t := time.Date(yearOf(after(1)), m, 1, 0, 0, 0, 0, time.UTC)
			out = append(out, dateRange{t, t.AddDate(0, 1, 0)})
		}
	}
	return out
}

func oneDay(year int, m time.Month, day int) dateRange {
	t := time.Date(year, m, day, 0, 0, 0, 0, time.UTC)
	return dateRange{t, t.AddDate(0, 0, 1)}
}

// month is the month that an English name or its abbreviation of three letters or more stands for, 0 for none.
func month(w string) time.Month {
	if len(w) < 3 {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if w == name || len(w) <= 4 && strings.HasPrefix(name, w) {
			return m
		}
	}
	return 0
}

func yearOf(w string) int {
	if len(w) != 4 {
		return 0
	}
	if n := number(w); n >= 1970 && n < 2200 {
		return n
	}
	return 0
}

func dayOf(w string) int {
	for _, suffix := range [...]string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, suffix)
	}
	if n := number(w); len(w) <= 2 && n >= 1 && n <= 31 {
		return n
	}
	return 0
}

func number(w string) int {
	n := 0
	for _, c := range w {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// asksWhen tells whether a prompt asks for a time.
func asksWhen(text string) bool {
	if len(text) > longPrompt {
		text = text[len(text)-longPrompt:]
	}
	text = strings.ToLower(strings.TrimSpace(text))
	for _, w := range [...]string{"when", "since when", "wann", "quand", "cuándo", "quando", "когда", "いつ", "什么时候"} {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	for _, w := range [...]string{" when did ", " when was ", " when were ", " when is ", " when will ", "what date", "which day", "what day"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// timeTerms are the terms of words that tell a time.
var timeTerms = sync.OnceValue(func() (out []uint32) {
	for _, w := range strings.Fields(`yesterday today tonight tomorrow last ago week month year weekend recently next monday
		tuesday wednesday thursday friday saturday sunday january february march april june july august september october
		november december`) {
		out = append(out, hash(stem([]byte(w))))
	}
	return out
})
