package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxLine  = 16 << 20 // bytes of one line of input; a longer one is answered with an error
	lineEnds = 4 << 10  // bytes of the beginning and of the end of a longer one that are looked at for its id
	// answerTime is how long calls may still run when the client has left, and leaveTime when all ends.
	answerTime = 500 * time.Millisecond
	leaveTime  = 900 * time.Millisecond
)

// stdio is the SDK's transport for lines of JSON, made to survive its input: what is no message is answered with an error
// and the session goes on, an answer bears the id that its call bore, to the byte, and at the end of the input calls
// under way are given a moment to be answered. The SDK's own transport ends with the first line that it cannot take, and
// keeps ids as floating-point numbers.
type stdio struct {
	in     *bufio.Reader
	out    *replies
	next   chan jsonrpc.Message
	left   chan struct{} // closed when the input has ended or we are told to leave
	gone   chan struct{} // closed when the last moment is over
	closed chan struct{} // closed when the SDK wants no more
	leaves sync.Once
	closes sync.Once
}

func newStdio(in io.Reader, out io.Writer) *stdio {
	return &stdio{
		in: bufio.NewReaderSize(in, 64<<10), out: &replies{w: out, open: map[jsonrpc.ID]*pending{}, idle: make(chan struct{}, 1)},
		next: make(chan jsonrpc.Message), left: make(chan struct{}), gone: make(chan struct{}), closed: make(chan struct{}),
	}
}

// leave starts the clock of the last moment.
func (t *stdio) leave() {
	t.leaves.Do(func() {
		close(t.left)
		time.AfterFunc(leaveTime, func() { close(t.gone) })
	})
}

// pump hands messages to the SDK until the input ends. It returns when the SDK is told of that end.
func (t *stdio) pump() {
	for {
		text, id, err := t.line()
		t.take(text, id)
		if err != nil {
			break
		}
	}
	t.leave()
	wait := time.NewTimer(answerTime)
	defer wait.Stop()
	for t.out.owed() > 0 {
		select {
		case <-t.out.idle:
			continue
		case <-wait.C:
		}
		break
	}
	close(t.next)
}

// line reads a line without its end. Of one that is too long it gives the id alone, where that can be found, and
// otherwise null.
func (t *stdio) line() (text, id []byte, err error) {
	var end []byte
	long := false
	for {
		part, err := t.in.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxLine; !long {
			text = append(text, part...)
		} else {
			text = bytes.Clone(text[:min(len(text), lineEnds)])
			end = append(end, part...)
			end = end[max(0, len(end)-lineEnds):]
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long:
			return nil, idAtTheEnds(text, bytes.TrimSpace(end)), err
		default:
			return bytes.TrimSpace(text), nil, err
		}
	}
}

// byteOrderMark stands before the first line that some shells write.
const byteOrderMark = "\ufeff"

// take hands what a line holds over, and answers what is no message. id is that of a line that was too long.
func (t *stdio) take(text, id []byte) {
	if id != nil {
		t.out.refuse(id, nil, jsonrpc.CodeInvalidRequest, "the line is too long: at most 16 MiB")
		return
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if len(text) == 0 {
		return
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	messages, b, ok := t.messages(text)
	if !ok {
		t.out.refuse(nullID(), nil, jsonrpc.CodeParseError, "the line is not JSON")
		return
	}
	for _, m := range messages {
		if m := t.message(m, b); m != nil {
			select {
			case t.next <- m:
			case <-t.closed:
				return
			}
		}
	}
	t.out.close(b)
}

// Connect gives the connection to the SDK, which is the transport itself.
func (t *stdio) Connect(context.Context) (sdk.Connection, error) { return t, nil }

// SessionID is that of the only session there is.
func (t *stdio) SessionID() string { return "" }

// Read gives the next message, io.EOF at the end.
func (t *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-t.next:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-t.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends a message.
func (t *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		return t.out.answer(r)
	}
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return t.out.say(line)
}

// Close is the SDK's word that it wants no more. Input and output are not ours to close.
func (t *stdio) Close() error {
	t.closes.Do(func() { close(t.closed) })
	return nil
}
