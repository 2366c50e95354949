package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxLine = 32 << 20 // bytes of one line of input; a longer one is answered with an error
	// answerTime is how long calls may still run when the client has left, and leaveTime when all ends.
	answerTime = 500 * time.Millisecond
	leaveTime  = 900 * time.Millisecond
)

// What is answered to a line that the SDK is not shown, since it would end the session over it.
const (
	notJSON    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}` + "\n"
	notRequest = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is not a JSON-RPC 2.0 message"}}` + "\n"
	tooLong    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is too long"}}` + "\n"
)

// stdio is the SDK's transport for lines of JSON, made to survive its input: a line that is no message is answered with
// an error and the session goes on, and at the end of the input calls under way are given a moment to be answered.
type stdio struct {
	in    *bufio.Reader
	out   *lineWriter
	pipeR *io.PipeReader
	pipeW *io.PipeWriter
	left  chan struct{} // closed when the input has ended or we are told to leave
	gone  chan struct{} // closed when the last moment is over
	once  sync.Once
}

func newStdio(in io.Reader, out io.Writer) *stdio {
	t := &stdio{in: bufio.NewReaderSize(in, 64<<10), out: &lineWriter{w: out, idle: make(chan struct{}, 1)}, left: make(chan struct{}), gone: make(chan struct{})}
	t.pipeR, t.pipeW = io.Pipe()
	return t
}

// leave starts the clock of the last moment.
func (t *stdio) leave() {
	t.once.Do(func() {
		close(t.left)
		time.AfterFunc(leaveTime, func() { close(t.gone) })
	})
}

// pump hands whole lines to the SDK until the input ends. It returns when the SDK is told of that end.
func (t *stdio) pump() {
	for {
		line, err := t.line()
		t.take(line)
		if err != nil {
			break
		}
	}
	t.leave()
	wait := time.NewTimer(answerTime)
	defer wait.Stop()
	for t.out.open() > 0 {
		select {
		case <-t.out.idle:
			continue
		case <-wait.C:
		}
		break
	}
	_ = t.pipeW.Close()
}

// line reads a line without its end; of one that is too long it gives maxLine+1 bytes.
func (t *stdio) line() ([]byte, error) {
	var line []byte
	for {
		part, err := t.in.ReadSlice('\n')
		if room := maxLine + 1 - len(line); len(part) > room {
			part = part[:room]
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// take hands one line over, or answers it where the SDK would stumble.
func (t *stdio) take(line []byte) {
	switch {
	case len(line) == 0:
		return
	case len(line) > maxLine:
		t.out.say(tooLong)
		return
	case !json.Valid(line):
		t.out.say(notJSON)
		return
	}
	t.out.expect(inputOf(line))
	_, _ = t.pipeW.Write(append(line, '\n')) // fails only when the session is over
}

// input is what one line holds.
type input struct {
	messages int
	calls    int // messages that want an answer
}

func inputOf(line []byte) input {
	var all []json.RawMessage
	if line[0] != '[' {
		all = append(all, line)
	} else {
		_ = json.Unmarshal(line, &all) // it is valid
	}
	in := input{messages: len(all)}
	for _, raw := range all {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		if json.Unmarshal(raw, &m) == nil && m.Method != nil && len(m.ID) > 0 && (m.ID[0] == '"' || m.ID[0] == '-' || m.ID[0] >= '0' && m.ID[0] <= '9') {
			in.calls++
		}
	}
	return in
}

// Connect gives the connection to the SDK.
func (t *stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := (&sdk.IOTransport{Reader: t.pipeR, Writer: t.out, MaxLineLength: -1}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{Connection: c, out: t.out}, nil
}

// connection is the SDK's own, except that a message it cannot take does not end it.
type connection struct {
	sdk.Connection
	out *lineWriter
}

// Read gives the next message.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		switch {
		case err == nil:
			c.out.taken()
			return m, nil
		case ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe):
			return m, err
		}
		c.out.refused()
	}
}

// Write sends a message, and counts the answers.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.out.answered()
	}
	return err
}

// lineWriter keeps lines whole and knows how many answers are owed.
type lineWriter struct {
	mu    sync.Mutex
	w     io.Writer
	owed  int
	lines []input       // those that the SDK has not read to their end
	idle  chan struct{} // has room for one; filled when owed may have become less
}

// Write writes one line.
func (l *lineWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// Close leaves the output open: it is not ours.
func (l *lineWriter) Close() error { return nil }

func (l *lineWriter) say(line string) { _, _ = l.Write([]byte(line)) } // a client that does not listen gets nothing

// expect notes a line that the SDK is about to read.
func (l *lineWriter) expect(in input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owed += in.calls
	l.lines = append(l.lines, in)
}

// taken notes that the SDK has taken a message.
func (l *lineWriter) taken() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return
	}
	if l.lines[0].messages--; l.lines[0].messages <= 0 {
		l.lines = l.lines[1:]
	}
}

// refused answers a line that the SDK has refused whole.
func (l *lineWriter) refused() {
	l.say(notRequest)
	calls := 0
	l.mu.Lock()
	if len(l.lines) > 0 {
		calls, l.lines = l.lines[0].calls, l.lines[1:]
	}
	l.mu.Unlock()
	l.settle(calls)
}

func (l *lineWriter) answered() { l.settle(1) }

func (l *lineWriter) settle(calls int) {
	l.mu.Lock()
	l.owed -= calls
	l.mu.Unlock()
	select {
	case l.idle <- struct{}{}:
	default:
	}
}

func (l *lineWriter) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owed
}
