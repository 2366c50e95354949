package payload

import (
	"io"
	"os"
	"sync"
	"time"
)

// MaxWait is how long a payload is waited for where the request says nothing else.
const MaxWait = 2500 * time.Millisecond

// Limits of reading from a pipe.
const (
	silent    = 1500 * time.Millisecond // that one is waited for of which nothing has come
	perMiB    = 50 * time.Millisecond   // more for each MiB that has come: a big payload is not a slow one
	firstRead = 8 << 10                 // bytes; most payloads need no more
	maxDrain  = 64 << 20                // bytes read and thrown away behind the value
)

// readPipe gives what arrives on r to s until s has a whole value, the input ends, or the time is over: wait in all, or
// first while nothing has come. It leaves a goroutine behind that throws away what else arrives, so that the writer does
// not meet a broken pipe while the hook works; a read cannot be called off.
func readPipe(r io.Reader, s *scanner, first, wait time.Duration) {
	if r == nil || terminal(r) {
		return
	}
	p := &pump{scanner: s, done: make(chan struct{})}
	begin := time.Now()
	if f, ok := r.(*os.File); ok && p.atOnce(f) {
		return
	}
	go p.run(r)
	timer := time.NewTimer(min(first, wait))
	defer timer.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-timer.C:
		}
		give, why := min(first, wait), noteNothing
		if n := p.received(); n > 0 {
			give, why = max(wait, min(wait+time.Duration(n>>20)*perMiB, MaxWait)), noteStalled
		}
		if left := time.Until(begin.Add(give)); left > 0 {
			timer.Reset(left)
			continue
		}
		if p.stop() {
			s.notes |= why
		}
		return
	}
}

// A pump reads and scans in one goroutine, so that a payload of many pieces costs no handing over.
type pump struct {
	done chan struct{} // closed when the scanner wants no more or none will come

	mu      sync.Mutex
	scanner *scanner // nil when it is no longer the pump's
	bytes   int      // that have come
}

// atOnce reads what is there already. Most payloads arrive in one piece before the hook has come up, and reading that here
// spares the process a thread. It tells whether nothing more is to be read.
func (p *pump) atOnce(f *os.File) bool {
	if !ready(f, 10*time.Millisecond) {
		return false
	}
	buf := make([]byte, firstRead)
	n, err := f.Read(buf)
	p.take(buf[:n], err != nil)
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *pump) run(r io.Reader) {
	buf := make([]byte, firstRead)
	for wasted := 0; wasted < maxDrain; {
		n, err := r.Read(buf)
		if !p.take(buf[:n], err != nil) {
			wasted += n
		}
		if err != nil {
			return
		}
		if n == len(buf) && n < piece {
			buf = make([]byte, piece)
		}
	}
}

// take gives b to the scanner; false when nobody wants it.
func (p *pump) take(b []byte, end bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scanner == nil {
		return false
	}
	p.bytes += len(b)
	if p.scanner.write(b) || end {
		p.scanner = nil
		close(p.done)
	}
	return true
}

// received is how many bytes have come.
func (p *pump) received() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// stop takes the scanner away from the pump; false when it is done with it anyway.
func (p *pump) stop() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.scanner != nil
	p.scanner = nil
	return was
}

// Drain reads and throws away at most max bytes of stdin, for at most wait, so that a parent that is still writing
// meets no broken pipe. It comes back earlier at the end of the input, and when nothing has arrived for half of
// wait: a pipe that nobody writes to and nobody closes must not cost a hook its budget.
func Drain(stdin io.Reader, max int64, wait time.Duration) {
	if stdin == nil || terminal(stdin) {
		return
	}
	moved := make(chan struct{})
	done := make(chan struct{})
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(done)
		buf := make([]byte, piece)
		for total := int64(0); total < max; {
			n, err := stdin.Read(buf[:min(piece, max-total)])
			total += int64(n)
			if err != nil {
				return
			}
			select {
			case moved <- struct{}{}:
			case <-stop:
				return
			}
		}
	}()
	total := time.NewTimer(wait)
	defer total.Stop()
	idle := time.NewTimer(wait / 2)
	defer idle.Stop()
	for {
		select {
		case <-done:
			return
		case <-total.C:
			return
		case <-idle.C:
			return
		case <-moved:
			idle.Reset(wait / 2)
		}
	}
}

// terminal tells whether r is a device at which a person would have to type the payload, or the null device.
func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	if f == nil {
		return true
	}
	info, err := f.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}
