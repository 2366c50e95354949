package viewer

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kiro-learn/collector/client"
)

func TestLayOutFillsTheBoxAndOverlapsNothing(t *testing.T) {
	for _, weights := range [][]float64{{1}, {5, 1}, {9, 8, 7, 3, 3, 1, 1, 1}, {100, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2}} {
		outer := box{3, 4, 600, 200}
		got := layOut(outer, weights)
		if len(got) != len(weights) {
			t.Fatalf("%d boxes for %d weights", len(got), len(weights))
		}
		sum, area := 0.0, 0.0
		for _, w := range weights {
			sum += w
		}
		for i, b := range got {
			area += b.w * b.h
			if want := outer.w * outer.h * weights[i] / sum; math.Abs(b.w*b.h-want) > 1 {
				t.Errorf("%v: box %d has %.1f, want %.1f", weights, i, b.w*b.h, want)
			}
			if b.x < outer.x-.01 || b.y < outer.y-.01 || b.x+b.w > outer.x+outer.w+.01 || b.y+b.h > outer.y+outer.h+.01 {
				t.Errorf("%v: box %d lies outside: %+v", weights, i, b)
			}
			for k, o := range got[:i] {
				if min(b.x+b.w, o.x+o.w)-max(b.x, o.x) > .01 && min(b.y+b.h, o.y+o.h)-max(b.y, o.y) > .01 {
					t.Errorf("%v: boxes %d and %d overlap", weights, i, k)
				}
			}
		}
	}
}

func TestGatherTakesApartWhatWouldBeMostOfTheMap(t *testing.T) {
	var files []client.MapFile
	for i := range 400 {
		files = append(files, client.MapFile{Path: fmt.Sprintf("src/d%d/f%d.go", i%9, i), N: 1 + i%3, Types: map[string]int{"decision": 1 + i%3}})
	}
	files = append(files, client.MapFile{Path: "README.md", N: 2, Types: map[string]int{"error": 2}}, client.MapFile{Path: "src/main.go", N: 1, Types: map[string]int{"error": 1}})
	groups := gather(files)
	names, sum, cells := []string{}, 0, 0
	for _, g := range groups {
		names = append(names, g.name)
		cells += len(g.cells)
		of := 0
		for _, c := range g.cells {
			of += c.n
		}
		if of != g.n {
			t.Errorf("the cells of %s are %d, want %d", g.name, of, g.n)
		}
		sum += g.n
	}
	if len(groups) != 11 || sum != 400/3*(1+2+3)+1+2+1 || cells > 300 {
		t.Errorf("%d cells, %d records in %v", cells, sum, names)
	}
	for _, want := range []string{"src/d0", "src/d8", "src", "at the top"} {
		if !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("%v lacks %s", names, want)
		}
	}
}

func TestANameIsWrittenOnlyWhereItFits(t *testing.T) {
	for _, c := range []struct {
		name string
		wide float64
		want string
	}{{"upload.go", 100, "upload.go"}, {"upload.go", 40, "uploa…"[:0] + "uplo…"}, {"upload.go", 20, ""}, {"a", 10, "a"}, {"äöüäöüäöü", 70, "äöüäöüäöü"}} {
		if got := fit(c.name, c.wide); got != c.want {
			t.Errorf("%q in %.0f: %q, want %q", c.name, c.wide, got, c.want)
		}
	}
}
