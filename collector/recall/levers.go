package recall

import (
	"fmt"
	"slices"
	"strings"
)

// lever is one part of the ranking that can be switched off to measure what it does.
type lever struct {
	name string
	off  func(*tuning)
}

func levers() []lever {
	return []lever{
		{"stopwords", func(t *tuning) { t.keepStops = true }},
		{"fields", func(t *tuning) { t.field = [fieldCount]float64{1, 1, 1, 1, 1} }},
		{"lists", func(t *tuning) { t.b[fieldFiles] = t.b[fieldSummary] }},
		{"links", func(t *tuning) { t.links = 0 }},
		{"vectors", func(t *tuning) { t.vectors = 0 }},
		{"names", func(t *tuning) { t.name = 1 }},
		{"context", func(t *tuning) { t.context = 0 }},
		{"direction", func(t *tuning) { t.after = 1 }},
		{"proximity", func(t *tuning) { t.proximity = 0 }},
		{"session", func(t *tuning) { t.session = 0 }},
		{"dates", func(t *tuning) { t.dates = 0 }},
		{"when", func(t *tuning) { t.when = 0 }},
	}
}

// Levers names the parts of the ranking that Without can switch off.
func Levers() []string {
	var names []string
	for _, l := range levers() {
		names = append(names, l.name)
	}
	return names
}

// Without is an engine over the same records that ranks without the named levers; see Levers for their names.
func (e *Engine) Without(names ...string) (*Engine, error) {
	c := &Engine{src: e.src, cache: e.cache, tuning: e.tuning, vectors: e.vectors}
	all := levers()
	for _, name := range names {
		i := slices.IndexFunc(all, func(l lever) bool { return l.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no lever %q; there are: %s", name, strings.Join(Levers(), ", "))
		}
		all[i].off(&c.tuning)
	}
	return c, nil
}
