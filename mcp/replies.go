package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// replies is the output: it keeps lines whole, knows which calls are owed an answer, and gives each answer the id of its
// call.
type replies struct {
	mu   sync.Mutex
	w    io.Writer
	open map[jsonrpc.ID]*pending
	seq  int           // of the ids that we gave
	idle chan struct{} // has room for one; filled when less may be owed
}

// pending is a call that is owed an answer.
type pending struct {
	id    []byte // as the client wrote it
	batch *batch
}

// batch is a list of messages; the answers to its calls are one list too.
type batch struct {
	calls   int // that are owed an answer
	whole   bool
	answers [][]byte
}

// expect notes a call and gives the id under which the SDK is told of it: the client's, unless the SDK has no form for it
// or another call with it is under way.
func (r *replies) expect(raw []byte, b *batch) jsonrpc.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := plainID(raw)
	for !ok || r.open[id] != nil {
		r.seq++
		id, ok = plainID(rawjson.AppendString(nil, fmt.Sprint("kiro-learn-", r.seq)))
	}
	r.open[id] = &pending{bytes.Clone(raw), b}
	if b != nil {
		b.calls++
	}
	return id
}

// find gives the id under which the SDK knows a call of the client's.
func (r *replies) find(raw []byte) (jsonrpc.ID, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, p := range r.open {
		if bytes.Equal(p.id, raw) {
			return id, true
		}
	}
	return jsonrpc.ID{}, false
}

// errorChars is how long the text of an error may be: the SDK quotes what it was given.
const errorChars = 500

// answer sends the answer to a call, or keeps it until its batch is whole.
func (r *replies) answer(a *jsonrpc.Response) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.open[a.ID]
	if p == nil {
		return errors.New("an answer to no call")
	}
	delete(r.open, a.ID)
	defer r.settled()
	line, err := encode(p.id, a.Result, a.Error)
	if err != nil {
		line, _ = encode(p.id, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer cannot be written"}) // two short strings can
	}
	if p.batch == nil {
		return r.write(line)
	}
	p.batch.calls--
	p.batch.answers = append(p.batch.answers, line)
	return r.finish(p.batch)
}

// refuse answers what the SDK is not shown. A client that does not listen gets nothing, so there is no error.
func (r *replies) refuse(id []byte, b *batch, code int64, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line, err := encode(id, nil, &jsonrpc.Error{Code: code, Message: what})
	switch {
	case err != nil:
	case b != nil:
		b.answers = append(b.answers, line)
	default:
		_ = r.write(line)
	}
}

// close notes that all of a batch has been read.
func (r *replies) close(b *batch) {
	if b == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b.whole = true
	_ = r.finish(b) // as in refuse
}

// finish sends the answers of a batch when none is missing. It is called with the lock held.
func (r *replies) finish(b *batch) error {
	if !b.whole || b.calls > 0 || len(b.answers) == 0 {
		return nil
	}
	line := append([]byte("["), bytes.Join(b.answers, []byte(","))...)
	b.answers = nil
	return r.write(append(line, ']'))
}

// encode writes an answer with the id as the client wrote it.
func encode(id []byte, result []byte, fault error) ([]byte, error) {
	a := jsonrpc.Response{Result: result}
	if fault != nil {
		e := jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest} // what the SDK gives no code is about the request
		var known *jsonrpc.Error
		if errors.As(fault, &known) && known.Code != 0 {
			e.Code, e.Data = known.Code, known.Data
		}
		e.Message = event.CutChars(fault.Error(), errorChars)
		a.Error = &e
	}
	line, err := jsonrpc.EncodeMessage(&a)
	if err != nil {
		return nil, err
	}
	const version = `{"jsonrpc":"2.0",`
	rest, ok := bytes.CutPrefix(line, []byte(version))
	if !ok {
		return nil, errors.New("an answer without a version")
	}
	return bytes.Join([][]byte{[]byte(version), []byte(`"id":`), id, []byte(","), rest}, nil), nil
}

// say writes a line.
func (r *replies) say(line []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write(line)
}

func (r *replies) write(line []byte) error {
	_, err := r.w.Write(append(line, '\n'))
	return err
}

// settled is called with the lock held.
func (r *replies) settled() {
	select {
	case r.idle <- struct{}{}:
	default:
	}
}

// owed is how many calls have no answer yet.
func (r *replies) owed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}
