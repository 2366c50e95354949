package outbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// cursor says how many bytes of each segment have been settled. Losing it costs a second delivery, no record.
type cursor map[string]int64

const maxCursor = 1 << 20

// loadCursor reads the cursor; one that is missing or damaged is as good as empty.
func (q *Queue) loadCursor() cursor {
	c := cursor{}
	b, err := q.readSmall(cursorFile, maxCursor)
	if err != nil {
		return c
	}
	body, sum, _ := strings.Cut(string(b), "\nsum ")
	if strings.TrimSpace(sum) != cursorSum(body) {
		return c
	}
	for line := range strings.Lines(body) {
		base, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
			c[base] = n
		}
	}
	return c
}

// saveCursor replaces the cursor. It is not synced: see the package comment. The caller has synced the segments.
func (q *Queue) saveCursor(c cursor) error {
	var body strings.Builder
	for base, n := range c {
		fmt.Fprintf(&body, "%s %d\n", base, n)
	}
	text := body.String()
	tmp := q.path(cursorFile + tmpSuffix)
	_ = q.disk.remove(tmp) // left by a kill
	f, err := q.disk.open(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text + "\nsum " + cursorSum(text) + "\n"))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = q.disk.rename(tmp, q.path(cursorFile))
	}
	if err != nil {
		_ = q.disk.remove(tmp)
	}
	return err
}

func cursorSum(body string) string { return fmt.Sprintf("%08x", checksum([]byte(body))) }

// readSmall reads at most limit bytes of a file.
func (q *Queue) readSmall(name string, limit int64) ([]byte, error) {
	f, err := q.disk.open(q.path(name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	size, err := f.stat()
	if err != nil {
		return nil, err
	}
	w := window{r: f, size: min(size, limit)}
	return w.bytes(0, int(w.size))
}
