package payload

import (
	"io"
	"os"
	"time"
)

// Limits in time of reading from a pipe, where the request says nothing else.
const (
	defaultFirstByte = 1500 * time.Millisecond
	defaultWhole     = 2500 * time.Millisecond // a value that is still arriving
	stall            = time.Second             // between two bytes of one value
	legacyFirstByte  = 500 * time.Millisecond  // where the environment already holds a payload
	firstRead        = 8 << 10                 // bytes; most payloads need no more
	maxDrain         = 64 << 20                // bytes read and thrown away behind the value
)

// readPipe gives what arrives on r to s until s has a whole value, the input ends, or a deadline passes. It leaves a
// goroutine behind that throws away what else arrives, so that the writer does not meet a broken pipe while the hook
// works; a read cannot be called off.
func readPipe(r io.Reader, s *scanner, firstByte, whole time.Duration) {
	if r == nil || terminal(r) {
		return
	}
	full := make(chan []byte)
	stop := make(chan struct{})
	defer close(stop)
	go pump(r, full, stop)
	begin := time.Now()
	timer := time.NewTimer(firstByte)
	defer timer.Stop()
	for {
		select {
		case b, more := <-full:
			if !more || s.write(b) {
				return
			}
		case <-timer.C:
			if s.started() {
				s.notes |= noteStalled
			} else {
				s.notes |= noteNothing
			}
			return
		}
		timer.Reset(min(stall, whole-time.Since(begin)))
	}
}

func (s *scanner) started() bool {
	return len(s.raw) > 0 || s.found || s.depth > 0 || s.state != wantValue
}

// pump reads r into two buffers in turn, hands them over until stop, and then throws away what it reads. Handing over
// one buffer means that the other end is done with the other one.
func pump(r io.Reader, full chan<- []byte, stop <-chan struct{}) {
	defer close(full)
	var bufs [2][]byte
	size := firstRead
	for turn, wanted, wasted := 0, true, 0; wasted < maxDrain; turn ^= 1 {
		if len(bufs[turn]) < size {
			bufs[turn] = make([]byte, size)
		}
		n, err := r.Read(bufs[turn])
		if n == size {
			size = piece
		}
		if n > 0 && wanted {
			select {
			case full <- bufs[turn][:n]:
			case <-stop:
				wanted = false
			}
		}
		if !wanted {
			wasted += n
		}
		if err != nil {
			return
		}
	}
}

// Drain reads and throws away at most max bytes of stdin, for at most wait, so that a parent that is still writing
// meets no broken pipe. It comes back earlier at the end of the input, and when nothing has arrived for a quarter of
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
	idle := time.NewTimer(wait / 4)
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
			idle.Reset(wait / 4)
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
