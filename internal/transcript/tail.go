package transcript

import (
	"bytes"
	"io"
)

// Limits of what is read of a file, in bytes.
const (
	chunk    = 64 << 10
	maxLine  = 4 << 20
	maxBytes = 8 << 20
)

// linesBackwards calls f for the lines of a file of a size, the last first, with the offset of each, until f returns
// false. It looks at the last maxBytes of the file; a line longer than maxLine is passed over, and so are empty ones.
// The last line may be torn, since the file is being written; f has to cope with that. A line is only valid until f
// returns.
func linesBackwards(file io.ReaderAt, size int64, f func(offset int64, line []byte) bool) {
	var held [][]byte // what was read of the line whose beginning is not known yet, the last piece first
	heldLen := 0
	line := func(offset int64, first []byte) bool {
		whole := first
		n := heldLen + len(first)
		if len(held) > 0 && n <= maxLine {
			whole = make([]byte, 0, n)
			whole = append(whole, first...)
			for i := len(held) - 1; i >= 0; i-- {
				whole = append(whole, held[i]...)
			}
		}
		held, heldLen = held[:0], 0
		whole = bytes.TrimSpace(whole)
		return n > maxLine || len(whole) == 0 || f(offset, whole)
	}
	floor := max(0, size-maxBytes)
	for end := size; end > floor; {
		from := max(floor, end-chunk)
		buf := make([]byte, end-from)
		n, _ := file.ReadAt(buf, from)
		if n < len(buf) {
			return // cut short while it is read
		}
		for rest := buf; ; {
			nl := bytes.LastIndexByte(rest, '\n')
			if nl < 0 {
				if heldLen <= maxLine {
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
