package transcript

import (
	"bytes"
	"io"
)

// limits bound what is read of a file, in bytes.
type limits struct {
	chunk int64 // read at once
	line  int   // a line longer than this is passed over
	all   int64 // looked at, from the end
}

// fileLimits are the limits of a hook, which has milliseconds.
func fileLimits() limits { return limits{chunk: 64 << 10, line: 4 << 20, all: 8 << 20} }

// linesBackwards calls f for the lines of a file of a size, the last first, with the offset of each, until f returns
// false. Empty lines are passed over. The last line may be torn, since the file is being written; f has to cope with
// that. A line is only valid until f returns.
func linesBackwards(file io.ReaderAt, size int64, lim limits, f func(offset int64, line []byte) bool) {
	var held [][]byte // what was read of the line whose beginning is not known yet, the last piece first
	heldLen := 0
	line := func(offset int64, first []byte) bool {
		whole := first
		n := heldLen + len(first)
		if len(held) > 0 && n <= lim.line {
			whole = make([]byte, 0, n)
			whole = append(whole, first...)
			for i := len(held) - 1; i >= 0; i-- {
				whole = append(whole, held[i]...)
			}
		}
		held, heldLen = held[:0], 0
		whole = bytes.TrimSpace(whole)
		return n > lim.line || len(whole) == 0 || f(offset, whole)
	}
	floor := max(0, size-lim.all)
	for end := size; end > floor; {
		from := max(floor, end-lim.chunk)
		buf := make([]byte, end-from)
		n, _ := file.ReadAt(buf, from)
		if n < len(buf) {
			return // cut short while it is read
		}
		for rest := buf; ; {
			nl := bytes.LastIndexByte(rest, '\n')
			if nl < 0 {
				if heldLen <= lim.line {
					held = append(held, rest)
				}
				heldLen += len(rest)
				break
			}
			if !line(from+int64(nl)+1, rest[nl+1:]) {
				return
			}
			rest = rest[:nl]
		}
		end = from
	}
	if floor == 0 && heldLen > 0 {
		line(0, nil)
	}
}
