package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// message is one line of a server's output.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Method  string          `json:"method"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// raw is a server spoken to line by line.
type raw struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte // closed at the end of the output
}

func (b *box) raw() *raw {
	b.t.Helper()
	r := &raw{t: b.t, cmd: b.command("mcp"), lines: make(chan []byte, 1000)}
	var err error
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	go func() {
		defer close(r.lines)
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			r.lines <- slices.Clone(sc.Bytes())
		}
	}()
	return r
}

func (r *raw) send(text string) {
	r.t.Helper()
	if _, err := io.WriteString(r.stdin, text); err != nil {
		r.t.Fatal(err)
	}
}

// next is the next line of output, which must be JSON-RPC; ok is false at the end.
func (r *raw) next() (m message, line []byte, ok bool) {
	r.t.Helper()
	select {
	case line, ok = <-r.lines:
	case <-time.After(patience):
		r.t.Fatal("the server says nothing")
	}
	if !ok {
		return m, nil, false
	}
	if line[0] == '[' { // the answers to a batch
		return m, line, true
	}
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" || (m.Result == nil && m.Error == nil && m.Method == "") {
		r.t.Fatalf("not JSON-RPC: %.200q %v", line, err)
	}
	return m, line, true
}

// answer is the answer to a call.
func (r *raw) answer(id string) message {
	r.t.Helper()
	for {
		m, _, ok := r.next()
		if !ok {
			r.t.Fatalf("the server left without an answer to %s", id)
		}
		if string(m.ID) == id && m.Method == "" {
			return m
		}
	}
}

// end closes the input and gives what still came. The process must have left by itself, quietly.
func (r *raw) end() (rest []message) {
	r.t.Helper()
	if err := r.stdin.Close(); err != nil {
		r.t.Fatal(err)
	}
	for {
		m, _, ok := r.next()
		if !ok {
			break
		}
		rest = append(rest, m)
	}
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("exit: %v", err)
	}
	return rest
}

func initialize(version string) string {
	v := ""
	if version != "missing" {
		v = fmt.Sprintf(`"protocolVersion":%q,`, version)
	}
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + v + `"capabilities":{},"clientInfo":{"name":"c","version":"0"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
}

func callLine(id int, tool string, a any) string {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": a}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestProtocolVersions(t *testing.T) {
	b := newBox(t)
	known := sdk.SupportedProtocolVersions()
	for _, version := range append(slices.Clone(known), "2099-01-01", "1999-01-01", "", "rubbish", "missing") {
		t.Run(version, func(t *testing.T) {
			b := *b
			b.t = t
			r := b.raw()
			r.send(initialize(version))
			m := r.answer("1")
			var res struct {
				Version string `json:"protocolVersion"`
				Server  struct {
					Name string `json:"name"`
				} `json:"serverInfo"`
			}
			if err := json.Unmarshal(m.Result, &res); err != nil || !slices.Contains(known, res.Version) || res.Server.Name != "kiro-learn" {
				t.Fatalf("answer %s %v", m.Result, m.Error)
			}
			if slices.Contains(known[1:], version) && res.Version != version {
				t.Errorf("asked for %s, got %s", version, res.Version)
			}
			r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")
			if m := r.answer("2"); !bytes.Contains(m.Result, []byte("search_memory")) {
				t.Errorf("tools/list: %s %v", m.Result, m.Error)
			}
			if rest := r.end(); len(rest) != 0 {
				t.Errorf("%d lines that nobody asked for", len(rest))
			}
		})
	}
}

func TestLinesThatAreNoMessageDoNotEndTheSession(t *testing.T) {
	r := newBox(t).raw()
	r.send(initialize("2025-06-18"))
	r.answer("1")
	for i, tt := range []struct {
		name string
		line string
		code int // of the error; 0: no answer
	}{
		{"prose", "hello", -32700},
		{"torn", `{"jsonrpc":"2.0","id":7,"method":"pi`, -32700},
		{"binary", "\x00\xff\xfe", -32700},
		{"two values", `{} {}`, -32700},
		{"too deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), -32700},
		{"a number", "5", -32600},
		{"no message", `{"hello":1}`, -32600},
		{"an empty batch", `[]`, -32600},
		{"blank", " \t", 0},
		{"CRLF", "\r", 0},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, 0},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/nosuch"}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.t = t
			id := fmt.Sprint(100 + i)
			r.send(tt.line + "\n" + `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` + "\r\n")
			if tt.code != 0 {
				if m, line, _ := r.next(); m.Error == nil || m.Error.Code != tt.code {
					t.Fatalf("answer %s", line)
				}
			}
			if m, line, _ := r.next(); string(m.ID) != id || m.Result == nil {
				t.Errorf("then %s", line)
			}
		})
	}
	r.t = t
	r.send(`{"jsonrpc":"2.0","id":200,"method":"no/such"}` + "\n")
	if m := r.answer("200"); m.Error == nil {
		t.Errorf("an unknown method: %s", m.Result)
	}
	r.end()
}

func TestBatchOfAnOldClient(t *testing.T) {
	r := newBox(t).raw()
	r.send(initialize("2025-03-26"))
	r.answer("1")
	r.send(`[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"tools/list"}]` + "\n")
	_, line, _ := r.next()
	var all []message
	if err := json.Unmarshal(line, &all); err != nil || len(all) != 2 {
		t.Errorf("batch: %.200s %v", line, err)
	}
	r.end()
}

func TestTheLastLineNeedsNoEnd(t *testing.T) {
	r := newBox(t).raw()
	r.send(initialize("2025-06-18") + callLine(2, "search_memory", args{"query": "cache"}))
	rest := r.end()
	if len(rest) != 2 || string(rest[1].ID) != "2" || !bytes.Contains(rest[1].Result, []byte("Nothing in this project's memory")) {
		t.Errorf("answers %+v", rest)
	}
}

func TestLargeLines(t *testing.T) {
	r := newBox(t).raw()
	r.send(initialize("2025-06-18"))
	r.answer("1")
	big := strings.Repeat("x", 4<<20)
	r.send(callLine(2, "save_session_summary", with(summaryArgs(), "learned", big)) + "\n")
	if m := r.answer("2"); !bytes.Contains(m.Result, []byte("Saved turn summary")) {
		t.Errorf("4 MiB: %.300s", m.Result)
	}
	r.send(callLine(3, "search_memory", args{"query": big}) + "\n")
	if m := r.answer("3"); !bytes.Contains(m.Result, []byte("at most 1000")) {
		t.Errorf("4 MiB query: %.300s", m.Result)
	}
	r.send(strings.Repeat("y", maxLine+10) + "\n")
	if m, line, _ := r.next(); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a line past the limit: %.300s", line)
	}
	r.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}` + "\n")
	if m := r.answer("4"); m.Result == nil {
		t.Error("the session did not go on")
	}
	r.end()
}

func TestNothingIsWrittenBeforeAnythingIsAsked(t *testing.T) {
	b := newBox(t)
	b.configure(`{"enabled": 5, "hooks": "no"}`) // warnings have their place, which is not stdout
	if rest := b.raw().end(); len(rest) != 0 {
		t.Errorf("said %v", rest)
	}
}

// FuzzLines: whatever comes in, what goes out is JSON-RPC, and the end of the input is the end.
func FuzzLines(f *testing.F) {
	f.Add([]byte(initialize("2025-06-18") + callLine(2, "search_memory", args{"query": "a"})))
	f.Add([]byte(initialize("2025-03-26") + `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n[]\n[1]\n{}\n\"\"\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":{},"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		done := make(chan error, 1)
		go func() { done <- Serve(t.Context(), offline(t, bytes.NewReader(in), &out)) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(patience):
			t.Fatal("it does not end")
		}
		for line := range bytes.Lines(out.Bytes()) {
			var one message
			var all []message
			if json.Unmarshal(line, &all) != nil {
				if err := json.Unmarshal(line, &one); err != nil {
					t.Fatalf("not JSON: %q", line)
				}
				all = []message{one}
			}
			for _, m := range all {
				if m.Version != "2.0" {
					t.Fatalf("not JSON-RPC: %q", line)
				}
			}
		}
	})
}
