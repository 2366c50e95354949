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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	const null = "null"
	for i, tt := range []struct {
		name string
		line string
		id   string // of the answer; "": there is none
		code int
	}{
		{"prose", "hello", null, -32700},
		{"torn", `{"jsonrpc":"2.0","id":7,"method":"pi`, null, -32700},
		{"binary", "\x00\xff\xfe", null, -32700},
		{"UTF-16", "{\x00\"\x00i\x00", null, -32700},
		{"a control character in a string", `{"jsonrpc":"2.0","id":7,"method":"a` + "\x01" + `"}`, null, -32700},
		{"two values", `{} {}`, null, -32700},
		{"two messages", `{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"ping"}`, null, -32700},
		{"the head of another protocol", "Content-Length: 46", null, -32700},
		{"too deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), null, -32700},
		{"deep, with an id", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`, "7", -32602},
		{"a number", "5", null, -32600},
		{"no message", `{"hello":1}`, null, -32600},
		{"capitals", `{"JSONRPC":"2.0","ID":7,"METHOD":"ping"}`, null, -32600},
		{"an empty batch", `[]`, null, -32600},
		{"no version", `{"id":7,"method":"ping"}`, "7", -32600},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7", -32600},
		{"a method that is no string", `{"jsonrpc":"2.0","id":7,"method":7}`, "7", -32600},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, null, -32600},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, null, -32600},
		{"an id that is a truth", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, null, -32600},
		{"params that are a string", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":"x"}`, "7", -32602},
		{"params that are a list", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, "7", -32602},
		{"params that are missing", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, "7", -32600},
		{"a tool's name that is a number", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}`, "7", -32602},
		{"an unknown method", `{"jsonrpc":"2.0","id":7,"method":"no/such"}`, "7", -32601},
		{"a notification with an id", `{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}`, "7", -32600},
		{"a second beginning", strings.Replace(strings.SplitAfter(initialize("2025-06-18"), "\n")[0], `"id":1`, `"id":7`, 1), "7", -32600},
		{"blank", " \t", "", 0},
		{"CRLF", "\r", "", 0},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", 0},
		{"an error of nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, "", 0},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/nosuch"}`, "", 0},
		{"a notification that is wrong", `{"jsonrpc":"2.0","method":"notifications/progress","params":7}`, "", 0},
		{"a call without an id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"forget_memory"}}`, "", 0},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}`, "", 0},
		{"a cancellation without an id", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.t = t
			id := fmt.Sprint(100 + i)
			r.send(strings.TrimSuffix(tt.line, "\n") + "\n")
			if tt.id != "" { // calls are answered in any order: this one first
				if m, line, _ := r.next(); m.Error == nil || m.Error.Code != tt.code || string(m.ID) != tt.id || len(m.Error.Message) > 4*errorChars {
					t.Fatalf("answer %s", line)
				}
			}
			r.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` + "\r\n")
			if m, line, _ := r.next(); string(m.ID) != id || m.Result == nil {
				t.Errorf("then %s", line)
			}
		})
	}
	r.t = t
	r.end()
}

func TestAnAnswerBearsTheIDOfItsCall(t *testing.T) {
	r := newBox(t).raw()
	r.send("\ufeff" + strings.ReplaceAll(initialize("2025-06-18"), "\n", "\r\n")) // as some shells write
	r.answer("1")
	for _, id := range []string{
		"0", "-5", "9007199254740991", "9007199254740993", "-9223372036854775808", "123456789012345678901234567890", "1.5", "1e3", "2.0",
		`""`, `"a"`, `"1"`, `"a\u00e9\"b"`, `"kiro-learn-1"`, `"\ud83d"`,
	} {
		r.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` + "\n")
		if m, line, _ := r.next(); string(m.ID) != id || string(m.Result) != "{}" {
			t.Errorf("%s is answered with %s", id, line)
		}
	}
	r.send(callLine(5, "search_memory", args{"query": "a"}) + "\n" + callLine(5, "search_memory", args{"query": ""}) + "\n")
	bad := 0
	for range 2 { // an id that is used twice is the client's affair: both are answered
		m := r.answer("5")
		if bytes.Contains(m.Result, []byte(`"isError":true`)) {
			bad++
		}
	}
	if bad != 1 {
		t.Errorf("%d of two calls with one id failed, want 1", bad)
	}
	r.end()
}

func TestBatches(t *testing.T) {
	r := newBox(t).raw()
	r.send(initialize("2025-03-26"))
	r.answer("1")
	call := func(id, method string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
	}
	many := make([]string, 300)
	for i := range many {
		many[i] = call(fmt.Sprint(1000+i), "ping")
	}
	for _, tt := range []struct {
		name  string
		batch []string
		want  int // answers
		bad   int // of them, errors
	}{
		{"two calls", []string{call("2", "ping"), call("3", "tools/list")}, 2, 0},
		{"a call and what is none", []string{"7", call("2", "ping"), `{"a":1}`}, 3, 2},
		{"one id twice", []string{call("2", "ping"), call("2", "ping")}, 2, 0},
		{"a call and a notification", []string{`{"jsonrpc":"2.0","method":"notifications/nosuch"}`, call("2", "ping")}, 1, 0},
		{"an unknown method", []string{call("2", "no/such"), call("123456789012345678901", "ping")}, 2, 1},
		{"many", many, 300, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.t = t
			r.send("[" + strings.Join(tt.batch, " , ") + "]\n")
			_, line, _ := r.next()
			var all []message
			if err := json.Unmarshal(line, &all); err != nil || len(all) != tt.want {
				t.Fatalf("%d answers: %.200s %v", len(all), line, err)
			}
			bad := 0
			for _, m := range all {
				if m.Error != nil {
					bad++
				}
			}
			if bad != tt.bad {
				t.Errorf("%d errors: %.300s", bad, line)
			}
		})
	}
	r.t = t
	r.send("[" + `{"jsonrpc":"2.0","method":"notifications/nosuch"}` + "]\n") // wants no answer
	r.send(call("9", "ping") + "\n")
	if m, line, _ := r.next(); string(m.ID) != "9" {
		t.Errorf("then %s", line)
	}
	r.end()
}

func TestInvalidTextIsTakenAsTextThatIsValid(t *testing.T) {
	r := newBox(t).raw()
	r.send(initialize("2025-06-18"))
	r.answer("1")
	line := callLine(2, "save_observation", with(observationArgs(), "title", "Cache X key"))
	r.send(strings.Replace(line, "Cache X key", "Cache \xff\xfe\\ud83d key", 1) + "\n")
	if m := r.answer("2"); !bytes.Contains(m.Result, []byte("Saved observation")) {
		t.Errorf("saved: %.300s", m.Result)
	}
	r.send(callLine(3, "search_memory", args{"query": "cache key"}) + "\n")
	if m := r.answer("3"); !bytes.Contains(m.Result, []byte("Cache \ufffd\ufffd key")) {
		t.Errorf("found: %.300s", m.Result)
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

func TestHalfALineIsAnsweredAndTheEndIsTheEnd(t *testing.T) {
	r := newBox(t).raw()
	r.send(initialize("2025-06-18"))
	r.answer("1")
	r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/ca`)
	if rest := r.end(); len(rest) != 1 || rest[0].Error == nil || rest[0].Error.Code != -32700 {
		t.Errorf("answers %+v", rest)
	}
}

// The SDK may know a call under another id than the client's; a cancellation must reach it all the same.
func TestACancellationFindsItsCall(t *testing.T) {
	for _, id := range []string{"7", `"seven"`, "9007199254740993", "1.5"} {
		var out bytes.Buffer
		tr := newStdio(strings.NewReader(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list"}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"enough"}}`), &out)
		go tr.pump()
		var got []*jsonrpc.Request
		for range 2 {
			m, err := tr.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.(*jsonrpc.Request))
		}
		var p struct {
			ID any `json:"requestId"`
		}
		if err := json.Unmarshal(got[1].Params, &p); err != nil {
			t.Fatal(err)
		}
		if cancelled, err := jsonrpc.MakeID(p.ID); err != nil || cancelled != got[0].ID {
			t.Errorf("%s: the call is %v and %v is cancelled", id, got[0].ID.Raw(), p.ID)
		}
		if err := tr.Write(t.Context(), &jsonrpc.Response{ID: got[0].ID, Result: []byte(`{}`)}); err != nil || out.String() != `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`+"\n" {
			t.Errorf("answer %q %v", out.String(), err)
		}
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
	long := strings.Repeat("y", maxLine)
	for _, tt := range []struct{ name, line, id string }{
		{"no message", long + "yyyy", "null"},
		{"the id first", callLine(5, "search_memory", args{"query": long}), "5"},
		{"the id last", `{"method":"ping","params":{"a":{"id":7},"b":"` + long + `"},"jsonrpc":"2.0","id":"x 6"}`, `"x 6"`},
		{"an id inside", `{"method":"ping","jsonrpc":"2.0","params":{"b":"` + long + `","id":7}}`, "null"},
		{"an id in a string", `{"method":"ping","jsonrpc":"2.0","params":{"b":"` + long + `\",\"id\":7}"}}`, "null"},
	} {
		r.send(tt.line + "\n")
		if m, line, _ := r.next(); m.Error == nil || m.Error.Code != -32600 || string(m.ID) != tt.id || !strings.Contains(m.Error.Message, "16 MiB") {
			t.Errorf("%s, past the limit: %.300s", tt.name, line)
		}
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
	f.Add([]byte("\ufeff" + initialize("2025-06-18") + `[7,{"jsonrpc":"2.0","id":123456789012345678901,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":123456789012345678901}}]`))
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
