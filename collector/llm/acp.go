package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An acp is one conversation in the Agent Client Protocol: JSON-RPC 2.0, one message a line, in both directions. It is
// used by one goroutine; stopping the child ends whatever it waits for.
type acp struct {
	out     chan []byte // to the writer, which alone may block on a child that does not read
	in      *bufio.Reader
	longest int // bytes of a line
	max     int // bytes of an answer
	lastID  int
	session string
	answer  strings.Builder
	tooLong bool
	done    <-chan struct{}
}

// A message is any of the four kinds: request, notification, result, error.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// received is a message with its parts undecoded.
type received struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// An rpcError is what the agent reports. Its text is the agent's and may repeat the prompt, so only the code is told.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const (
	methodNotFound = -32601
	authRequired   = -32000
)

// Error names the code.
func (e *rpcError) Error() string {
	if e.Code == authRequired {
		return "kiro-cli is not logged in: run: kiro-cli login"
	}
	return fmt.Sprintf("kiro-cli reports error %d", e.Code)
}

func newACP(c *child, maxOutput int) *acp {
	a := &acp{
		out: make(chan []byte, 8),
		in:  bufio.NewReaderSize(c.stdout, 64<<10),
		max: maxOutput, longest: 6*maxOutput + 64<<10, // every byte of an answer may be escaped
		done: c.exited,
	}
	go func() {
		for {
			select {
			case b := <-a.out:
				if _, err := c.stdin.Write(b); err != nil {
					return
				}
			case <-c.exited:
				return
			}
		}
	}()
	return a
}

// open makes a session with an agent that is told it may use nothing of ours.
func (a *acp) open(cwd string) error {
	_, err := a.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	if err != nil {
		return err
	}
	result, err := a.call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}})
	if err != nil {
		return err
	}
	var session struct {
		ID string `json:"sessionId"`
	}
	if json.Unmarshal(result, &session) != nil || session.ID == "" {
		return errors.New("kiro-cli makes no session")
	}
	a.session = session.ID
	return nil
}

// prompt sends the one prompt and gives the text that came until its turn ended.
func (a *acp) prompt(text string) (string, error) {
	a.answer.Reset()
	result, err := a.call("session/prompt", map[string]any{
		"sessionId": a.session,
		"prompt":    []any{map[string]any{"type": "text", "text": text}},
	})
	if err != nil {
		return "", err
	}
	var end struct {
		StopReason string `json:"stopReason"`
	}
	_ = json.Unmarshal(result, &end)
	switch end.StopReason {
	case "max_tokens", "max_turn_requests":
		return "", ErrTruncated
	case "refusal":
		return "", errRefused
	case "cancelled":
		return "", errors.New("kiro-cli cancelled the prompt")
	}
	return clean([]byte(a.answer.String())), nil
}

// call sends a request and serves the agent until the response to it comes.
func (a *acp) call(method string, params any) (json.RawMessage, error) {
	a.lastID++
	id := fmt.Appendf(nil, "%d", a.lastID)
	if err := a.send(message{ID: id, Method: method, Params: params}); err != nil {
		return nil, err
	}
	for {
		m, err := a.next()
		if err != nil {
			return nil, err
		}
		switch {
		case m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null":
			if err := a.send(reply(m)); err != nil {
				return nil, err
			}
		case m.Method != "":
			if a.notice(m); a.tooLong {
				return nil, fmt.Errorf("%w: over %d bytes", ErrTooLong, a.max)
			}
		case !bytes.Equal(bytes.Trim(m.ID, `"`), id):
		case m.Error != nil:
			return nil, m.Error
		default:
			return m.Result, nil
		}
	}
}

func (a *acp) send(m message) error {
	m.Version = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	select {
	case a.out <- append(b, '\n'):
		return nil
	case <-a.done:
		return errEnded
	}
}

var errEnded = errors.New("kiro-cli ended in the middle of the conversation")

// next is the next line that is a message; others, such as a warning printed to the wrong place, are passed over.
func (a *acp) next() (*received, error) {
	for {
		line, err := a.line()
		if err != nil {
			return nil, err
		}
		m := &received{}
		if json.Unmarshal(line, m) == nil && (m.Method != "" || len(m.ID) > 0) {
			return m, nil
		}
	}
}

func (a *acp) line() ([]byte, error) {
	var line []byte
	for {
		part, err := a.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > a.longest {
			return nil, fmt.Errorf("%w: a line of over %d bytes", ErrTooLong, a.longest)
		}
		switch {
		case err == nil, err == io.EOF && len(bytes.TrimSpace(line)) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, errEnded
		}
	}
}

// reply answers a request of the agent's: no to every tool, and that there is nothing else here.
func reply(m *received) message {
	if m.Method != "session/request_permission" {
		return message{ID: m.ID, Error: &rpcError{Code: methodNotFound, Message: "this client has no such method"}}
	}
	var p struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	_ = json.Unmarshal(m.Params, &p)
	for _, o := range p.Options {
		if strings.HasPrefix(o.Kind, "reject") {
			return message{ID: m.ID, Result: map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o.ID}}}
		}
	}
	return message{ID: m.ID, Result: map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}}
}

// notice keeps the text of the answer and lets everything else pass: thoughts, plans, tool calls, Kiro's own news.
func (a *acp) notice(m *received) {
	if m.Method != "session/update" {
		return
	}
	var p struct {
		Session string `json:"sessionId"`
		Update  struct {
			Kind    string          `json:"sessionUpdate"`
			Content json.RawMessage `json:"content"`
		} `json:"update"`
	}
	if json.Unmarshal(m.Params, &p) != nil || p.Update.Kind != "agent_message_chunk" || p.Session != a.session {
		return
	}
	var chunk struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(p.Update.Content, &chunk) != nil || chunk.Type != "text" {
		return
	}
	if a.answer.Len()+len(chunk.Text) > a.max {
		a.tooLong = true
		return
	}
	a.answer.WriteString(chunk.Text)
}
