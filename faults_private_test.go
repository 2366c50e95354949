//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kiro-learn/internal/event"
)

// leaks are the files under dir that hold one of the needles, in plain text or as other programs spell it.
func leaks(t *testing.T, dir string, needles ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, n := range needles {
			var utf16 bytes.Buffer
			for _, c := range []byte(n) {
				utf16.Write([]byte{c, 0})
			}
			for _, form := range [][]byte{[]byte(n), utf16.Bytes(), []byte(base64.StdEncoding.EncodeToString([]byte(n)))} {
				if bytes.Contains(b, form) {
					found = append(found, fmt.Sprintf("%q in %s", n, path))
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// everywhere fires the hooks of a whole turn with a text in every place that Kiro can put one. raw is JSON for a string.
func (b *box) everywhere(session, raw string) {
	b.t.Helper()
	at := func(hook, rest string) {
		b.t.Helper()
		b.hook(hook, `{"hook_event_name":"`+hook+`","session_id":"`+session+`","cwd":`+quoted(b.project)+`,`+rest+`}`)
	}
	at("userPromptSubmit", `"prompt":`+raw)
	at("postToolUse", `"tool_name":"fs_write","tool_input":{"command":"create","path":"notes.md","file_text":`+raw+`},"tool_response":{"success":true,"result":[{"stdout":`+raw+`,"stderr":""}]}`)
	at("postToolUse", `"tool_name":"@jira/comment","tool_input":{"deep":[{"er":{"text":`+raw+`}}]},"tool_response":`+raw)
	at("userPromptSubmit", `"prompt":[{"role":"user","content":"hello"},{"role":"assistant","content":`+raw+`},{"role":"user","content":`+raw+`}]`)
	at("stop", `"assistant_response":`+raw)
}

// Memory: private text, in every spelling and every place. Not a byte of it is on disk, in a log or in what is recalled.
func TestPrivateTextIsNowhere(t *testing.T) {
	t.Parallel()
	const secret = "hunter2zz"
	escaped := func(s string) string { // every character as \u00xx
		var b strings.Builder
		for _, r := range s {
			_, _ = fmt.Fprintf(&b, `\u%04x`, r)
		}
		return `"` + b.String() + `"`
	}
	tests := []struct{ name, raw, stays string }{
		{"plain", quoted("before <private>" + secret + "</private> behind"), "behind"},
		{"unclosed", quoted("before <private>" + secret + " and all the rest"), "before"},
		{"nested", quoted("<private>a <private>b</private> " + secret + "</private> behind"), "behind"},
		{"upper case", quoted("<PRIVATE>" + secret + "</Private> behind"), "behind"},
		{"spaces", quoted("<private >" + secret + "</private > behind"), "behind"},
		{"spaces in front", quoted("< private>" + secret + "</ private> behind"), "behind"},
		{"attributes", quoted(`<private reason="x > y" level=3>` + secret + "</private> behind"), "behind"},
		{"two", quoted("<private>" + secret + "</private> middle <private>" + secret + "</private>"), "middle"},
		{"over lines", quoted("<private>\n" + secret + "\n</private>\nbehind"), "behind"},
		{"escaped brackets", `"before \u003cprivate\u003e` + secret + `\u003c/private\u003e behind"`, "behind"},
		{"escaped slash", `"<private>` + secret + `<\/private> behind"`, "behind"},
		{"every character escaped", escaped("<private>" + secret + "</private> behind"), "behind"},
		{"JSON in JSON", quoted(`{"a":"\u003cprivate\u003e` + secret + `\u003c/private\u003e behind"}`), "behind"},
		{"JSON in JSON in JSON", quoted(`"{\"a\":\"\\u003cprivate\\u003e` + secret + `\\u003c/private\\u003e behind\"}"`), "behind"},
		{"HTML", quoted("&lt;private&gt;" + secret + "&lt;/private&gt; behind"), "behind"},
		{"cut by the size cap", quoted(strings.Repeat("x", maxBody-300) + "<private>" + secret + strings.Repeat(" "+secret, 40_000) + "</private> behind"), ""},
		{"the end beyond the cap", quoted("before <private>" + strings.Repeat(secret+" ", 80_000) + "</private> behind"), "before"},
	}
	b := newBox(t, noCollector())
	for i, tt := range tests {
		b.everywhere(fmt.Sprint("s", i), tt.raw)
	}
	b.with("USER_PROMPT=before <private>"+secret+"</private> behind").quiet("promptSubmit", "")
	b.with("USER_PROMPT="+`{"toolName":"x","toolResult":"<private>`+secret+`"`).quiet("postToolUse", "", "--payload", "env", "--surface", "kiro-ide")
	b.quiet("stop", "no JSON <private>"+secret) // taken as text
	if found := leaks(t, b.dir, secret); len(found) > 0 {
		t.Errorf("in the outbox: %q", found)
	}
	b.must("flush", "--extract", "--timeout", "50s")
	if found := leaks(t, b.dir, secret); len(found) > 0 {
		t.Errorf("in the store: %q", found)
	}
	for i, tt := range tests {
		all, err := b.events(fmt.Sprint("session_id=s", i))
		if err != nil || len(all) != 5 {
			t.Errorf("%s: %d events, %v; want 5", tt.name, len(all), err)
		}
		for _, e := range all {
			if !strings.Contains(string(e.Body), tt.stays) {
				t.Errorf("%s: what is not private is gone from %.200s", tt.name, e.Body)
			}
		}
	}
	b.must("collector", "stop") // its files are whole now
	if found := leaks(t, b.dir, secret); len(found) > 0 {
		t.Errorf("behind the collector: %q", found)
	}
}

// Memory: secrets are redacted before they are stored; words around them, SHAs, UUIDs and the like stay.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	// Put together here, so that no scanner takes this file for a leak.
	secrets := map[string][2]string{ // what is said, and what must be gone
		"aws key":         {"AKIA" + "Q3EXAMPLEZ7WQ2AB", "Q3EXAMPLEZ7WQ2AB"},
		"aws secret":      {"aws_secret_access_key = " + "wJalrXUtnFEMIK7MDENGbPxRfiCY" + "EXAMPLEKEYzz", "wJalrXUtnFEMIK7MDENG"},
		"github token":    {"ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "a1B2c3D4e5F6g7H8"},
		"fine github":     {"github_pat_" + "11ABCDEFG0abcdefghijkl_" + strings.Repeat("mN0pQ", 12), "abcdefghijkl_mN0pQ"},
		"slack":           {"xoxb-" + "123456789012-123456789012-abcdefABCDEF123456abcdef", "abcdefABCDEF123456"},
		"openai":          {"sk-proj-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8Ba7", "Vu7Ts6Rq5Po4Nm3"},
		"anthropic":       {"sk-ant-api03-" + strings.Repeat("aB3dE6gH", 11) + "AA", "aB3dE6gHaB3dE6gH"},
		"google":          {"AIza" + "SyD3x4mpl3K3y0fG00gl3Cl0udPl4tf0rmz", "D3x4mpl3K3y0fG00gl3"},
		"stripe":          {"sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"},
		"jwt":             {"eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "dozjgNryP4J3jVmNHl0w5N"},
		"pem":             {"-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEAsecretsecret\n-----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEAsecret"},
		"unclosed pem":    {"-----BEGIN OPENSSH PRIVATE " + "KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA", "b3BlbnNzaC1rZXktdjE"},
		"url password":    {"postgres://app:" + "s3cr3tpw9@db.internal/x", "s3cr3tpw9"},
		"bearer":          {"Authorization: Bearer " + "Qm9iOk1vcmVUaGFuNDBDaGFyYWN0ZXJzTG9uZw", "Qm9iOk1vcmVUaGFuNDBD"},
		"basic":           {"authorization: Basic " + "YWxhZGRpbjpvcGVuc2VzYW1l", "YWxhZGRpbjpvcGVuc2VzYW1l"},
		"password in env": {"DB_PASSWORD=" + "Tr0ub4dor&3xyz", "Tr0ub4dor&3xyz"},
	}
	i := 0
	var needles []string
	for name, s := range secrets {
		needles = append(needles, s[1])
		b.everywhere(fmt.Sprintf("s%d-%s", i, strings.ReplaceAll(name, " ", "-")), quoted("deploy with\n"+s[0]+"\nplease"))
		i++
	}
	harmless := "see commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432, id 123e4567-e89b-12d3-a456-426614174000, sha256:" + strings.Repeat("9f86d081", 8) + ", sk-learn, task-2, postgres://localhost/shop and https://example.com/a?b=c"
	b.everywhere("harmless", quoted(harmless))
	if found := leaks(t, b.dir, needles...); len(found) > 0 {
		t.Errorf("in the outbox: %q", found)
	}
	b.must("flush", "--extract", "--timeout", "50s")
	if found := leaks(t, b.dir, needles...); len(found) > 0 {
		t.Errorf("in the store: %q", found)
	}
	all := b.stored("kind=prompt")
	for _, e := range all {
		if s := text(e); e.SessionID != "harmless" && (!strings.Contains(s, "deploy with") || !strings.Contains(s, "please") && !strings.Contains(e.SessionID, "unclosed")) {
			t.Errorf("%s: the words around the secret are gone: %q", e.SessionID, s)
		}
		if e.SessionID == "harmless" && !strings.Contains(text(e), harmless) {
			t.Errorf("what is no secret was taken out: %q", text(e))
		}
	}
}

// Memory: what a language model is asked holds no private text and no secret either.
func TestModelPromptsHoldNothingPrivate(t *testing.T) {
	t.Parallel()
	const hidden, token = "hunter2zz", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	b := newBox(t, nil)
	asked := filepath.Join(b.dir, "asked")
	b.configureOrFail(map[string]any{
		"collector": map[string]any{"autostart": false}, "extract": map[string]any{"engine": "llm"},
		"llm": map[string]any{"engine": "command", "command": []string{"sh", "-c", "cat >> " + asked + "; echo '[]'"}},
	})
	b.everywhere("s", quoted("the zebra stays <private>"+hidden+"</private> and ghp_"+token+" goes"))
	b.everywhere("t", `"{\"zebra\":\"\u003cprivate\u003e`+hidden+`\u003c/private\u003e\",\"password\":\"`+hidden+`\"}"`)
	b.must("flush", "--extract", "--timeout", "50s")
	prompt, err := os.ReadFile(asked)
	if err != nil || !strings.Contains(string(prompt), "zebra") {
		t.Fatalf("the model was asked nothing about it: %v, %.500q", err, prompt)
	}
	if found := leaks(t, b.dir, hidden, token); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

// Memory: private text and secrets in what names an event rather than in what it says: the session, the project's path, the
// registration, the tool, what another client sends. None of it is on disk, and names that were apart stay apart.
func TestNamesAreScrubbed(t *testing.T) {
	t.Parallel()
	const hidden, token = "hunter2zz", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	b := newBox(t, noCollector())
	session := "ghp_" + token
	dir := filepath.Join(b.home, "<private>"+hidden+"<", "private>", "shop")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	turn := func(session, dir string) {
		t.Helper()
		at := fields{"cwd": dir, "session_id": session, "prompt": "move the limit", "tool_name": "<private>" + hidden + "</private>", "assistant_response": "done"}
		for _, hook := range []string{"agentSpawn", "userPromptSubmit", "postToolUse", "stop"} {
			b.quiet(hook, at, "--via", "<private>"+hidden)
		}
	}
	turn(session, dir)
	turn(session+"2", dir)
	turn("<private>"+hidden+"</private>", b.project)
	b.with("KIRO_SESSION_ID="+session).quiet("userPromptSubmit", fields{"cwd": b.project, "prompt": "by the environment"})
	if found := leaks(t, b.memory, hidden, token); len(found) > 0 {
		t.Errorf("in the outbox: %q", found)
	}
	all := b.stored("")
	sessions, spaces := map[string]int{}, map[string]int{}
	for _, e := range all {
		sessions[e.SessionID]++
		spaces[e.Namespace]++
		if e.Kind == event.KindToolUse && e.ParentEventID == "" {
			t.Errorf("the tool use of %s has lost its prompt", e.SessionID)
		}
	}
	if len(all) != 13 || len(sessions) != 3 || len(spaces) != 2 {
		t.Errorf("%d events of %d sessions in %d projects, want 13 of 3 in 2", len(all), len(sessions), len(spaces))
	}

	// Another program's events and records.
	e := all[0]
	e.EventID, e.SessionID, e.ActorID = "01K00000000000000000000000", session, "ghp_"+token
	e.Namespace = event.Namespace(e.ActorID, "<private>"+hidden)
	e.Source.Version, e.Source.ClientID, e.Source.ProjectPath = "password="+hidden, "https://mia:"+hidden+"@host", "/home/<private>"+hidden
	r := event.Record{
		RecordID: "mr_01K00000000000000000000000", Namespace: "/strategy/rules/actor/mia/session/" + session + "/", Strategy: event.StrategyRules, Title: "a", Summary: "b",
		Facts: []string{}, Concepts: []string{}, FilesTouched: []string{}, SourceEventIDs: []string{e.EventID}, CreatedAt: "2026-01-31T12:00:00Z", ObservationType: "decision",
	}
	for path, v := range map[string]any{"/v1/events": e, "/v1/memories": r} {
		if status, got, err := b.call("POST", path, []byte(b.bytes(v)), "Content-Type: application/json"); err != nil || status != 200 {
			t.Errorf("%s: %d %s, %v", path, status, got, err)
		}
	}
	if again, err := b.events("session_id=" + session); err != nil || len(again) != 6 {
		t.Errorf("%d events of the session by its own name, %v; want 6", len(again), err)
	}
	b.must("collector", "stop")
	if found := leaks(t, b.memory, hidden, token); len(found) > 0 {
		t.Errorf("behind the collector: %q", found)
	}
}

// Outbox and collector: files readable by others. Whatever the umask, everything is the user's alone.
func TestModesUnderUmaskZero(t *testing.T) {
	t.Parallel()
	b := newBox(t, nil)
	m := *b.machine
	m.memory = filepath.Join(b.dir, "fresh") // which nobody has made yet
	m.env = append(m.env, "KIRO_LEARN_HOME="+m.memory)
	t.Cleanup(m.leave)
	b = &box{&m, t}
	open := func(payload any, command string) {
		t.Helper()
		cmd := b.command(t.Context(), "-c", "umask 000; exec kiro-learn "+command)
		cmd.Path, cmd.Args[0] = "/bin/sh", "sh"
		b.feed(cmd, payload)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}
	open(b.tool("s", nil, "ok"), "postToolUse")
	open(b.prompt("s", "we decided to keep everything private"), "userPromptSubmit")
	open(nil, "collector start --timeout 50s")
	open(b.tool("s", fields{"command": "create", "path": "a.go"}, "ok"), "postToolUse")
	open("C:\\Users no JSON", "postToolUse") // for the log
	open(b.stop("s", "done"), "stop")
	poison := filepath.Join(m.memory, "state", "outbox")
	open(nil, "flush --timeout 50s --extract")
	segments, err := filepath.Glob(filepath.Join(poison, "*.q"))
	if err != nil || len(segments) == 0 {
		writeFile(t, filepath.Join(poison, "seg-00000099-00000000.q"), "garbage, for the quarantine")
	} else {
		writeFile(t, segments[0], "garbage, for the quarantine")
	}
	open(b.tool("s", nil, "again"), "postToolUse")
	open(nil, "flush --timeout 50s")
	kinds := map[string]bool{}
	err = filepath.WalkDir(m.memory, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone meanwhile
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		kinds[filepath.Ext(path)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".sock", ".log", ".lock", ".db", ".db-wal", ".addr", ".q"} {
		if !kinds[ext] {
			t.Errorf("no %s was there to look at", ext)
		}
	}
}

// Outbox and collector: the local API is closed to web pages, to the wrong types and to too much.
func TestAPIRefuses(t *testing.T) {
	t.Parallel()
	b := newBox(t, noCollector())
	b.number(0)
	good := b.stored("")[0]
	good.EventID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	body := good.AppendJSON(nil)
	big := good
	big.Body = event.TextBody(strings.Repeat("x", 3<<20))
	tests := []struct {
		name, method, path string
		body               []byte
		header             []string
		want               int
	}{
		{"plain text, as a form sends it", "POST", "/v1/events", body, []string{"Content-Type: text/plain"}, 415},
		{"a form", "POST", "/v1/events", body, []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{"no type", "POST", "/v1/events", body, nil, 415},
		{"a batch in plain text", "POST", "/v1/events/batch", body, []string{"Content-Type: text/plain"}, 415},
		{"a memory in plain text", "POST", "/v1/memories", []byte("{}"), []string{"Content-Type: text/plain"}, 415},
		{"a web page", "POST", "/v1/events", body, []string{"Content-Type: application/json", "Origin: https://evil.example"}, 403},
		{"a web page of no origin", "POST", "/v1/events", body, []string{"Content-Type: application/json", "Origin: null"}, 403},
		{"a web page that reads", "GET", "/v1/memories", nil, []string{"Origin: https://evil.example"}, 403},
		{"a web page that stops it", "POST", "/v1/shutdown", nil, []string{"Origin: https://evil.example"}, 403},
		{"another host", "GET", "/v1/events", nil, []string{"Host: evil.example"}, 403},
		{"another host with a port", "POST", "/v1/events", body, []string{"Content-Type: application/json", "Host: evil.example:80"}, 403},
		{"too big", "POST", "/v1/events", big.AppendJSON(nil), []string{"Content-Type: application/json"}, 413},
		{"invalid", "POST", "/v1/events", []byte(`{"event_id":"x"}`), []string{"Content-Type: application/json"}, 400},
		{"no JSON", "POST", "/v1/events", []byte(`{`), []string{"Content-Type: application/json"}, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, answer, err := b.call(tt.method, tt.path, tt.body, tt.header...)
			for try := 0; errors.Is(err, syscall.EPIPE) && try < 50; try++ { // the answer came before all was sent, and was overtaken by the end
				status, answer, err = b.call(tt.method, tt.path, tt.body, tt.header...)
			}
			if err != nil || status != tt.want {
				t.Fatalf("status %d, %v; want %d: %.200s", status, err, tt.want, answer)
			}
			var said struct{ Error string }
			if err := json.Unmarshal(answer, &said); err != nil || said.Error == "" {
				t.Errorf("the answer says nothing: %.200s, %v", answer, err)
			}
		})
	}
	if n := len(b.stored("")); n != 1 {
		t.Errorf("%d events stored, want the first alone", n)
	}
	for _, host := range []string{"localhost", "kiro-learn", "127.0.0.1:80"} { // how people and programs call a socket
		if status, answer, err := b.call("GET", "/healthz", nil, "Host: "+host); err != nil || status != 200 {
			t.Errorf("Host %s: status %d, %v: %s", host, status, err, answer)
		}
	}
	if status, _, err := b.call("POST", "/v1/events", body, "Content-Type: application/json; charset=utf-8"); err != nil || status != 200 {
		t.Errorf("a good event: status %d, %v", status, err)
	}
}
