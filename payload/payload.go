// Package payload turns what a Kiro gives a hook into one Payload, whatever the Kiro: a JSON value on stdin or a text
// in the environment, snake_case or camelCase, whole or torn, valid or not. It does not fail: what cannot be read is
// kept as text, and what is missing is missing from the Payload.
package payload

import (
	"bytes"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// Hook is what a hook is about, under the name that the CLI gives it.
type Hook string

// The hooks that become events. Every other name is Other.
const (
	Spawn   Hook = "agentSpawn"
	Prompt  Hook = "userPromptSubmit"
	ToolUse Hook = "postToolUse"
	Stop    Hook = "stop"
	Other   Hook = ""
)

// unknownTool is the name of a tool whose payload does not say it.
const unknownTool = "unknown"

// Where the payload is, for Request.Channel.
const (
	ChannelAuto  = "auto"
	ChannelStdin = "stdin"
	ChannelEnv   = "env"
)

// Request says where a payload may be found. The zero value of every field is good; names that are not known count as
// "auto".
type Request struct {
	Name    string              // hook name from the command line; "": the payload says it
	Surface string              // "auto", event.SurfaceCLI or event.SurfaceIDE
	Channel string              // "auto", "stdin" or "env"
	Getenv  func(string) string // of the process
	Stdin   io.Reader           // of the process
	// Wait is how long the payload may take to arrive, counted from the call; MaxWait if zero. One that is big and comes
	// fast may take longer, up to MaxWait.
	Wait time.Duration
}

// Payload is what a Kiro told a hook. Every string is valid UTF-8.
type Payload struct {
	Hook    Hook
	Name    string // the hook's name as it was given, on the command line or else in the payload
	IDE0    bool   // the hook is one that only IDE 0 has
	Surface string // event.SurfaceCLI or event.SurfaceIDE

	CWD       string // as given; "" when absent
	SessionID string // as given; "" when absent

	Prompt    string       // what the user wrote; of a list of turns, the user's last one
	Turns     []event.Turn // of a prompt that is a list of turns, else nil
	HasPrompt bool         // the payload has a prompt, be it empty

	ToolName     string // "unknown" when a tool payload does not say it; "" when there is no payload
	ToolInput    []byte // compact valid JSON, nil when absent
	ToolResponse []byte // compact valid JSON object, nil when absent

	Assistant    string // the agent's last answer
	HasAssistant bool   // the payload has an answer, be it empty

	Notes []string // causes of what is not as it was sent, for a log; never content
}

// HookOf is the hook of a name in any spelling, and whether the name is one that only IDE 0 gives.
func HookOf(name string) (hook Hook, ide0 bool) {
	switch strings.ToLower(name) {
	case "agentspawn", "sessionstart":
		hook = Spawn
	case "userpromptsubmit", "promptsubmit":
		hook = Prompt
	case "posttooluse":
		hook = ToolUse
	case "stop", "agentstop":
		hook = Stop
	}
	return hook, name == "promptSubmit" || name == "agentStop"
}

// Read finds and reads the payload of a request. It waits for stdin no longer than the request allows, does not fail,
// and keeps at most 32 MiB of an input of any size, at most 4 MiB of any string in it.
func Read(r Request) Payload {
	if r.Getenv == nil {
		r.Getenv = func(string) string { return "" }
	}
	hook, ide0 := HookOf(r.Name)
	p := Payload{Hook: hook, Name: r.Name, IDE0: ide0, Surface: surface(r, ide0)}
	inEnv := r.Getenv("USER_PROMPT")
	if r.Channel == ChannelEnv || ide0 && r.Channel != ChannelStdin {
		p.env(inEnv, true)
		return p
	}
	s := &scanner{keepRaw: true}
	wait := r.Wait
	if wait <= 0 {
		wait = MaxWait
	}
	readPipe(r.Stdin, s, r.first(wait, p.Surface, inEnv), wait)
	s.end()
	p.notes(s.notes)
	object := s.found || s.state == isDone && s.top
	switch {
	case object && (p.Hook != ToolUse || s.found):
		p.fields(s)
	case !blank(string(s.raw)):
		p.text(validText(s.raw, s.rawCut))
	case r.Channel != ChannelStdin && len(bytes.TrimSpace(s.raw)) == 0:
		p.env(inEnv, p.Surface == event.SurfaceIDE)
	}
	return p
}

// first is how long to wait for a first byte: as long as for the rest, or a third of that where the environment already
// holds a payload.
func (r Request) first(wait time.Duration, surface, inEnv string) time.Duration {
	if inEnv != "" && surface == event.SurfaceIDE && r.Channel != ChannelStdin {
		return min(wait, silent) / 3 // IDE 1 leaves the variable empty; IDE 0 never writes to the pipe
	}
	return min(wait, silent)
}

// surface is the one asked for, else the IDE for IDE 0's own hooks and for children of the editor that do not run in
// one of its terminals.
func surface(r Request, ide0 bool) string {
	if r.Surface == event.SurfaceCLI || r.Surface == event.SurfaceIDE {
		return r.Surface
	}
	if ide0 {
		return event.SurfaceIDE
	}
	return Surface(r.Getenv)
}

// Surface is the Kiro that started this process, as far as its environment tells.
func Surface(getenv func(string) string) string {
	editor := getenv("VSCODE_PID") != "" || getenv("VSCODE_IPC_HOOK") != ""
	term := strings.ToLower(getenv("TERM_PROGRAM"))
	if editor && term != "vscode" && term != "kiro" {
		return event.SurfaceIDE
	}
	return event.SurfaceCLI
}

// env reads a payload from the environment: JSON with a field of the hook at hand, or else plain text, where plain
// text can be what the hook is about. A variable arrives whole, so JSON that does not parse is text.
func (p *Payload) env(value string, plain bool) {
	if blank(value) {
		return
	}
	s := &scanner{}
	s.write([]byte(value))
	if s.state == isDone && s.top && !s.more && s.speaksTo(p.Hook) {
		p.notes(s.notes)
		p.fields(s)
		return
	}
	if plain || p.Hook == Prompt {
		p.text(validText([]byte(value), false))
	}
}

// blank tells whether nothing is said: white space, or an object without members.
func blank(t string) bool { return strings.Trim(t, " \t\r\n{}\ufeff") == "" }

// fields takes what the scanner found.
func (p *Payload) fields(s *scanner) {
	if p.Hook == Other {
		if name := str(s.first(hookEventName, hookEventNameCamel)); name != "" {
			hook, _ := HookOf(name)
			if hook != Other || p.Name == "" {
				p.Hook, p.Name = hook, name
			}
		}
	}
	s.fill(p)
}

// text takes input that is no payload for what the hook is about.
func (p *Payload) text(t string) {
	switch p.Hook {
	case Prompt:
		p.Prompt, p.HasPrompt = t, true
	case Stop:
		p.Assistant, p.HasAssistant = t, true
	case ToolUse:
		p.ToolName = unknownTool
		p.ToolResponse = append(rawjson.AppendString([]byte(`{"result":`), t), '}')
		p.notes(noteText)
	}
}

// validText is b as text: without a byte order mark, invalid bytes and NUL replaced by U+FFFD one by one.
func validText(b []byte, cut bool) string {
	var out strings.Builder
	out.Grow(len(b))
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if cut && !utf8.FullRune(b) {
			break
		}
		if r == 0 {
			r = utf8.RuneError
		}
		out.WriteRune(r)
		b = b[n:]
	}
	if cut {
		out.WriteString(marker)
	}
	return out.String()
}
