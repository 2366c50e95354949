package mcp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"kiro-learn/internal/rawjson"
)

const (
	initializes = "initialize"
	cancels     = "notifications/cancelled"
)

func nullID() []byte { return []byte("null") }

// envelope is a message as it came, a member each.
type envelope struct {
	version, method, id, params []byte
	answer                      bool // it has a result or an error
}

// messages are the messages of a line, and the batch that they came in; ok is false for what is not JSON.
func (t *stdio) messages(line []byte) (all [][]byte, b *batch, ok bool) {
	if !json.Valid(line) {
		return nil, nil, false
	}
	if line[0] != '[' {
		return [][]byte{line}, nil, true
	}
	rawjson.Elements(line, func(m []byte) bool {
		all = append(all, m)
		return true
	})
	if len(all) == 0 {
		return [][]byte{line}, nil, true // which is no message
	}
	return all, &batch{}, true
}

// message reads one message for the SDK; nil for one that is answered here, or wants no answer.
func (t *stdio) message(raw []byte, b *batch) jsonrpc.Message {
	e, ok := open(raw)
	switch {
	case ok && e.method == nil && e.answer: // one to nothing that we asked is passed over: to answer an answer would never end
		if m, err := jsonrpc.DecodeMessage(raw); err == nil {
			return m
		}
		return nil
	case !ok || e.method == nil:
		t.out.refuse(nullID(), b, jsonrpc.CodeInvalidRequest, "this is not a JSON-RPC 2.0 message")
		return nil
	case e.id != nil && !properID(e.id):
		t.out.refuse(nullID(), b, jsonrpc.CodeInvalidRequest, "id must be a string or a number")
		return nil
	}
	r, problem := e.request()
	switch {
	case problem != nil && e.id == nil: // a notification is not answered
		return nil
	case problem != nil:
		t.out.refuse(e.id, b, problem.Code, problem.Message)
		return nil
	case e.id != nil:
		r.ID = t.out.expect(e.id, b)
	case r.Method == cancels:
		return t.cancel(r)
	}
	return r
}

// open takes a message apart; ok is false for what is no object.
func open(raw []byte) (e envelope, ok bool) {
	if !rawjson.IsObject(raw) {
		return e, false
	}
	rawjson.Members(raw, func(key string, value []byte) bool {
		switch key {
		case "jsonrpc":
			e.version = value
		case "method":
			e.method = value
		case "id":
			e.id = value
		case "params":
			e.params = value
		case "result", "error":
			e.answer = true
		}
		return true
	})
	return e, true
}

func properID(id []byte) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

// request is a call or notification without its id, or what is wrong with it.
func (e *envelope) request() (*jsonrpc.Request, *jsonrpc.Error) {
	wrong := func(code int64, what string) (*jsonrpc.Request, *jsonrpc.Error) {
		return nil, &jsonrpc.Error{Code: code, Message: what}
	}
	if !rawjson.IsString(e.version) || rawjson.Unquote(e.version) != "2.0" {
		return wrong(jsonrpc.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	if !rawjson.IsString(e.method) {
		return wrong(jsonrpc.CodeInvalidRequest, "method must be a string")
	}
	r := &jsonrpc.Request{Method: rawjson.Unquote(e.method), Params: e.params}
	if string(r.Params) == "null" {
		r.Params = nil
	}
	if r.Params != nil && !rawjson.IsObject(r.Params) {
		return wrong(jsonrpc.CodeInvalidParams, "params must be an object")
	}
	if r.Params == nil && r.Method == initializes { // a client that says nothing of itself gets a version that we speak
		r.Params = json.RawMessage(`{}`)
	}
	return r, nil
}

// cancel has the SDK cancel the call that it knows under an id of ours; nil where no such call is under way.
func (t *stdio) cancel(r *jsonrpc.Request) jsonrpc.Message {
	id, ok := t.out.find(rawjson.Get(r.Params, "requestId"))
	if !ok {
		return nil
	}
	params, err := json.Marshal(map[string]any{"requestId": id.Raw()})
	if err != nil {
		return nil
	}
	return &jsonrpc.Request{Method: cancels, Params: params}
}

// plainID is the SDK's form of an id; ok is false for one that it has none for.
func plainID(raw []byte) (id jsonrpc.ID, ok bool) {
	var v any = rawjson.Unquote(raw)
	if !rawjson.IsString(raw) {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return id, false
		}
		v = float64(n) // beyond 2^53 not the same, which does not matter: the client is given what it wrote
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}

// idAtTheEnds is the id of a message of which only the beginning and the end are known: clients write it first or last.
func idAtTheEnds(head, end []byte) []byte {
	id := nullID()
	rawjson.Members(head, func(key string, value []byte) bool {
		if key == "id" && properID(value) {
			id = bytes.Clone(value)
		}
		return true
	})
	if m := regexp.MustCompile(`,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+)\s*\}$`).FindSubmatch(end); m != nil && json.Valid(m[1]) {
		id = bytes.Clone(m[1])
	}
	return id
}
