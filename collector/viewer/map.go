package viewer

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// A map shows a project's files as cells of a box, gathered by directory. A cell is as large as the number of records
// that speak of its file, so most of the box is what matters most, however many records there are. Only names that fit
// are written; the others are told to who points at them, or hears the page.
const (
	mapWide, mapHigh = 1060.0, 460.0
	mapConcepts      = 24
	mapGroups        = 14
	mapCells         = 200  // in all, about
	letterWide       = 6.7  // units of a letter of a cell's name
	nameHigh         = 17.0 // units of a line
)

type box struct{ x, y, w, h float64 }

// cell is what a box of the map stands for.
type cell struct {
	name  string // that is written
	path  string // of the file, or the directory
	n     int
	types map[string]int
	cells []cell
	rest  int // files that this cell stands for beside the first; it is no file then
}

func weights(cells []cell) []float64 {
	out := make([]float64, len(cells))
	for i := range cells {
		out[i] = float64(cells[i].n)
	}
	return out
}

// gather puts files in groups by directory. A directory that would be most of the map is taken apart into those in it.
func gather(files []client.MapFile) []cell {
	total := 0
	for i := range files {
		total += files[i].N
	}
	depth := map[string]int{} // of directories that are taken apart
	groups := group(files, depth)
	for len(groups) < mapGroups {
		k := slices.IndexFunc(groups, func(g cell) bool { return g.n*4 > total && depth[g.path] == 0 })
		if k < 0 {
			break
		}
		depth[groups[k].path] = strings.Count(groups[k].path, "/") + 2
		groups = group(files, depth)
	}
	if len(groups) > mapGroups {
		var others cell
		for _, g := range groups[mapGroups-1:] {
			others.n += g.n
			others.cells = append(others.cells, g.cells...)
		}
		others.name = many(len(groups)-mapGroups+1, "other directory")
		groups = append(groups[:mapGroups-1:mapGroups-1], others)
		byWeight(groups)
	}
	for i := range groups {
		groups[i].fewer(max(6, mapCells*groups[i].n/max(total, 1)))
	}
	return groups
}

// group puts files in groups by the directory at the top, or deeper in those that are taken apart; the largest is first.
func group(files []client.MapFile, depth map[string]int) []cell {
	at := map[string]int{}
	var groups []cell
	for i := range files {
		f := &files[i]
		dir := directory(f.Path, 1)
		for deeper := depth[dir]; deeper > 0; deeper = depth[dir] {
			next := directory(f.Path, deeper)
			if next == dir {
				break // the file lies in it
			}
			dir = next
		}
		k, ok := at[dir]
		if !ok {
			k = len(groups)
			at[dir], groups = k, append(groups, cell{name: dir, path: dir})
		}
		g := &groups[k]
		g.n += f.N
		g.cells = append(g.cells, cell{name: path.Base(f.Path), path: f.Path, n: f.N, types: f.Types})
	}
	byWeight(groups)
	return groups
}

// fewer gathers all but the first of a group's cells in one, if it has more than most.
func (g *cell) fewer(most int) {
	byWeight(g.cells)
	if len(g.cells) <= most {
		return
	}
	more := cell{path: g.path, types: map[string]int{}, rest: len(g.cells) - most + 1}
	for _, c := range g.cells[most-1:] {
		more.n += c.n
		for t, n := range c.types {
			more.types[t] += n
		}
	}
	more.name = many(more.rest, "more file")
	g.cells = append(g.cells[:most-1:most-1], more)
	byWeight(g.cells)
}

func byWeight(cells []cell) {
	slices.SortStableFunc(cells, func(a, b cell) int { return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.path, b.path)) })
}

// directory is the first parts of a file's directory.
func directory(name string, depth int) string {
	dir := path.Dir(name)
	if dir == "." || dir == "/" {
		return "at the top"
	}
	parts := strings.Split(strings.TrimPrefix(dir, "/"), "/")
	out := strings.Join(parts[:min(depth, len(parts))], "/")
	if strings.HasPrefix(dir, "/") {
		out = "/" + out
	}
	return out
}

// layOut divides a box among weights, largest first, into boxes as square as can be.
func layOut(b box, weights []float64) []box {
	out := make([]box, 0, len(weights))
	left := 0.0
	for _, w := range weights {
		left += w
	}
	for from := 0; from < len(weights); {
		short, area := min(b.w, b.h), b.w*b.h
		unit := area / max(left, 1e-9)
		to, sum := from, 0.0
		for best := -1.0; to < len(weights); to++ {
			r := worst(weights[from:to+1], sum+weights[to], unit, short)
			if best >= 0 && r > best {
				break
			}
			best, sum = r, sum+weights[to]
		}
		thick := sum * unit / max(short, 1e-9)
		pos := 0.0
		for _, w := range weights[from:to] {
			long := short * w / sum
			if b.w >= b.h {
				out = append(out, box{b.x, b.y + pos, thick, long})
			} else {
				out = append(out, box{b.x + pos, b.y, long, thick})
			}
			pos += long
		}
		if b.w >= b.h {
			b.x, b.w = b.x+thick, b.w-thick
		} else {
			b.y, b.h = b.y+thick, b.h-thick
		}
		left, from = left-sum, to
	}
	return out
}

// worst is how far from square the most oblong box of a row is.
func worst(row []float64, sum, unit, short float64) float64 {
	thick := sum * unit / max(short, 1e-9)
	most := 1.0
	for _, w := range row {
		long := w * unit / max(thick, 1e-9)
		most = max(most, long/max(thick, 1e-9), thick/max(long, 1e-9))
	}
	return most
}

func drawMap(p *place, files []client.MapFile, concept, chosen string) html {
	groups := gather(files)
	high := min(mapHigh, 90+24*float64(len(files))) // few files need no big map
	var kids []any
	for i, b := range layOut(box{0, 0, mapWide, high}, weights(groups)) {
		g := &groups[i]
		b = box{b.x + 2, b.y + 2, max(b.w-4, 1), max(b.h-4, 1)}
		kids = append(kids, rect("group", b))
		inner := box{b.x + 2, b.y + 2, max(b.w-4, 1), max(b.h-4, 1)}
		if name := fit(g.name, b.w-10); name != "" && b.h > 2.4*nameHigh {
			kids = append(kids, el("text.dir", at("x", unit(b.x+6)), at("y", unit(b.y+13)), name))
			inner.y, inner.h = inner.y+nameHigh, inner.h-nameHigh
		}
		for k, cb := range layOut(inner, weights(g.cells)) {
			kids = append(kids, drawCell(p, &g.cells[k], box{cb.x + 1, cb.y + 1, max(cb.w-2, 1), max(cb.h-2, 1)}, concept, chosen))
		}
	}
	return el("svg", append([]any{at("viewBox", "0 0 "+unit(mapWide)+" "+unit(high)), at("width", unit(mapWide)), at("height", unit(high))}, kids...)...)
}

func drawCell(p *place, c *cell, b box, concept, chosen string) html {
	told := c.path + ": " + many(c.n, "memory")
	to := link("/projects/one", "ns", p.Namespace, "file", c.path, "concept", concept) + "#found"
	if c.rest > 0 {
		told = c.name + " in " + c.path + ": " + many(c.n, "memory")
		to = link("/memory", "project", p.Namespace, "file", c.path)
	}
	class := "cell"
	if c.path == chosen && chosen != "" {
		class += ".chosen"
	}
	kids := []any{href(to), at("aria-label", told), el("title", told), rect(class, b)}
	strip := min(5, b.h/3)
	kids = append(kids, typeBar(c.types, b.w, b.x, b.y+b.h-strip, strip))
	if name := fit(c.name, b.w-8); name != "" && b.h > nameHigh+strip {
		kids = append(kids, el("text", at("x", unit(b.x+4)), at("y", unit(b.y+13)), name))
		if b.h > 2*nameHigh+strip && b.w > 30 {
			kids = append(kids, el("text.n", at("x", unit(b.x+4)), at("y", unit(b.y+28)), strconv.Itoa(c.n)))
		}
	}
	return el("a", kids...)
}

func rect(class string, b box) html {
	return el("rect."+class, at("x", unit(b.x)), at("y", unit(b.y)), at("width", unit(b.w)), at("height", unit(b.h)), at("rx", "3"))
}

// fit is a name if it fits in so many units, cut if there is room for a telling part of it; else nothing.
func fit(name string, wide float64) string {
	room := int(wide / letterWide)
	if n := len([]rune(name)); n <= room {
		return name
	}
	if room < 5 {
		return ""
	}
	return event.CutChars(name, room)
}

// typeBar is a bar of so many units, divided by type.
func typeBar(types map[string]int, wide, x, y, high float64) html {
	total := 0
	for _, n := range types {
		total += n
	}
	var kids []any
	for _, t := range partOrder(types) {
		w := wide * float64(types[t]) / float64(max(total, 1))
		kids = append(kids, el("rect."+className(t), at("x", unit(x)), at("y", unit(y)), at("width", unit(w)), at("height", unit(high))))
		x += w
	}
	return all(kids...)
}
