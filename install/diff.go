package install

import (
	"fmt"
	"strings"
)

// Diff is the plan as a unified diff that patch takes, with paths as they stand. A file's last line without a line
// break is marked as git marks it; carriage returns are kept.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		switch {
		case c.Action == Copy:
			fmt.Fprintf(&b, "copy %s to %s\n", c.source, c.Path)
		case c.redo == nil:
			fmt.Fprintf(&b, "remove %s\n", c.Path)
		default:
			b.WriteString(unified(c))
		}
	}
	return b.String()
}

const diffContext = 3 // lines around a change

func unified(c Change) string {
	from, to := c.Path, c.Path
	if c.Action == Create {
		from = "/dev/null"
	}
	if c.Action == Remove {
		to = "/dev/null"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunks(script(splitLines(c.Before), splitLines(c.After))) {
		h.write(&b)
	}
	return b.String()
}

// splitLines keeps the line breaks.
func splitLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	lines := strings.SplitAfter(string(b), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// An op is one line of a diff: ' ' kept, '-' removed, '+' added.
type op struct {
	kind byte
	text string
}

// script is a shortest edit script by longest common subsequence, after the common ends are set aside. The middle is
// what we change, which is small.
func script(a, b []string) []op {
	var head, tail []op
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, op{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, op{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

func middle(a, b []string) (out []op) {
	if len(a)*len(b) > 4_000_000 { // far beyond any plan of ours; a whole replacement is still a true diff
		for _, l := range a {
			out = append(out, op{'-', l})
		}
		for _, l := range b {
			out = append(out, op{'+', l})
		}
		return out
	}
	common := make([][]int32, len(a)+1) // common[i][j]: longest common subsequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, op{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, op{'-', a[i]})
			i++
		default:
			out = append(out, op{'+', b[j]})
			j++
		}
	}
	return out
}

// A hunk is a run of lines with their place in the old and the new file, 0-based.
type hunk struct {
	oldAt, newAt int
	ops          []op
}

func hunks(ops []op) (out []hunk) {
	oldAt, newAt, quiet := 0, 0, 2*diffContext+1 // quiet: kept lines since the last change
	var cur *hunk
	for i, o := range ops {
		if o.kind != ' ' {
			if cur == nil || quiet > 2*diffContext {
				back := min(diffContext, i, quietBefore(ops, i))
				out = append(out, hunk{oldAt: oldAt - back, newAt: newAt - back, ops: append([]op(nil), ops[i-back:i]...)})
				cur = &out[len(out)-1]
			} else {
				cur.ops = append(cur.ops, ops[i-max(0, quiet-diffContext):i]...)
			}
			quiet = 0
			cur.ops = append(cur.ops, o)
		} else {
			quiet++
			if cur != nil && quiet <= diffContext {
				cur.ops = append(cur.ops, o)
			}
		}
		if o.kind != '+' {
			oldAt++
		}
		if o.kind != '-' {
			newAt++
		}
	}
	return out
}

func quietBefore(ops []op, i int) (n int) {
	for n < i && ops[i-1-n].kind == ' ' {
		n++
	}
	return n
}

func (h hunk) write(b *strings.Builder) {
	olds, news := 0, 0
	for _, o := range h.ops {
		if o.kind != '+' {
			olds++
		}
		if o.kind != '-' {
			news++
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(h.oldAt, olds), span(h.newAt, news))
	for _, o := range h.ops {
		b.WriteByte(o.kind)
		b.WriteString(o.text)
		if !strings.HasSuffix(o.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span writes a range as diff does: an empty one names the line before it.
func span(at, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", at)
	}
	return fmt.Sprintf("%d,%d", at+1, n)
}
