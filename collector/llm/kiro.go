package llm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"kiro-learn/internal/atomicfile"
	"kiro-learn/internal/config"
)

// agentName is the agent that our calls run under. Its file stands in the private directory, which is the workspace of
// the call, so that the user's own agents and settings stay as they are.
const agentName = "kiro-learn-compressor"

// agentFile has no hooks and no tools: nothing that a prompt says can make the model do more than answer. Kiro rejects
// a file with a key it does not know.
const agentFile = `{
  "name": "` + agentName + `",
  "description": "Answers one prompt for kiro-learn, without tools",
  "prompt": "Answer the user's message directly and completely, with nothing before or after the answer.",
  "tools": [],
  "allowedTools": [],
  "resources": [],
  "includeMcpJson": false
}
`

// A kiro asks the user's own kiro-cli: over the Agent Client Protocol, and through its headless chat where that is not
// to be had.
type kiro struct {
	program   string
	model     string
	dir       string
	environ   []string
	maxOutput int
	handshake time.Duration // longest time until Kiro has made a session, at most a third of the call's
	way       atomic.Int32  // index in ways of the last that worked
}

func newKiro(cfg config.LLM, o Options) (*kiro, error) {
	program, err := findKiro(o.Environ)
	if err != nil {
		return nil, errors.New(`llm.engine is "kiro" and kiro-cli is not found: install it from kiro.dev, ` +
			`or set llm.engine to "openai" or "command" in config.json`)
	}
	if err := childDir(o.ChildDir); err != nil {
		return nil, err
	}
	return &kiro{
		program: program, model: cfg.Model, dir: o.ChildDir, environ: o.Environ, maxOutput: o.MaxOutput,
		handshake: 20 * time.Second,
	}, nil
}

// findKiro also looks where Kiro's installer puts the program: a desktop session's PATH often lacks it.
func findKiro(environ []string) (string, error) {
	p, err := findProgram("kiro-cli")
	if home := lookup(environ, "HOME"); err != nil && home != "" {
		return findProgram(filepath.Join(home, ".local", "bin", "kiro-cli"))
	}
	return p, err
}

// Name is "kiro".
func (*kiro) Name() string { return "kiro" }

// A handshakeError says that the prompt was not sent, so another way may be tried without asking twice.
type handshakeError struct {
	err    error
	exited bool // the program ended: it may not know an option
}

// Error is the cause's.
func (e *handshakeError) Error() string { return e.err.Error() }

// Unwrap is the cause.
func (e *handshakeError) Unwrap() error { return e.err }

// Complete makes one session with one prompt. Builds of Kiro differ in the options they know, so it goes from way to
// way until one takes the prompt, and begins with that one the next time.
func (k *kiro) Complete(ctx context.Context, prompt string) (string, error) {
	if err := k.writeAgent(); err != nil {
		return "", err
	}
	ways := []func(context.Context, string) (string, error){
		func(ctx context.Context, p string) (string, error) { return k.acp(ctx, p, "--agent-engine=v2") },
		func(ctx context.Context, p string) (string, error) { return k.acp(ctx, p) },
		k.chat,
	}
	var err error
	for i, first := 0, int(k.way.Load()); i < len(ways); i++ {
		way := (first + i) % len(ways)
		var answer string
		answer, err = ways[way](ctx, prompt)
		if err == nil {
			k.way.Store(int32(way))
			return answer, nil
		}
		var h *handshakeError
		if !errors.As(err, &h) || ctx.Err() != nil {
			return "", err
		}
		if !h.exited && way == 0 {
			i++ // it knows the option and is mute: so it will be without
		}
	}
	return "", err
}

// writeAgent puts the agent's file where it is missing or changed.
func (k *kiro) writeAgent() error {
	dir := filepath.Join(k.dir, ".kiro", "agents")
	file := filepath.Join(dir, agentName+".json")
	if b, err := os.ReadFile(file); err == nil && string(b) == agentFile {
		return nil
	}
	if err := childDir(k.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of the agent: %w", err)
	}
	if err := atomicfile.WriteUnsynced(file, []byte(agentFile), 0o600); err != nil {
		return fmt.Errorf("writing the agent: %w", err)
	}
	return nil
}

func (k *kiro) spec(args ...string) spec {
	args = append(args, "--agent", agentName)
	if k.model != "" {
		args = append(args, "--model", k.model)
	}
	return spec{append([]string{k.program}, args...), k.dir, k.environ}
}

// acp makes the call over the Agent Client Protocol. The handshake gets a third of the time, so that there is some left
// for another way.
func (k *kiro) acp(ctx context.Context, prompt string, options ...string) (string, error) {
	c, err := k.spec(append([]string{"acp"}, options...)...).start()
	if err != nil {
		return "", err
	}
	defer c.stop()
	defer c.stopWith(ctx)()

	s := newACP(c, k.maxOutput)
	handshake, cancel := context.WithTimeout(ctx, k.handshakeTime(ctx))
	defer cancel()
	release := c.stopWith(handshake)
	err = s.open(k.dir)
	if !release() && err == nil {
		err = handshake.Err()
	}
	if err != nil {
		return "", refine(err, c, handshake)
	}
	cancel()
	answer, err := s.prompt(prompt)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return answer, err
}

func (k *kiro) handshakeTime(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(k.handshake, time.Until(deadline)/3)
	}
	return k.handshake
}

// refine says why a handshake failed, and whether another way may help. An error that Kiro itself reported holds for
// every way.
func refine(err error, c *child, handshake context.Context) error {
	var reported *rpcError
	if errors.As(err, &reported) {
		return err
	}
	if handshake.Err() != nil {
		return &handshakeError{err: errors.New("kiro-cli does not answer")}
	}
	if ended := c.wait(); ended != nil {
		err = fmt.Errorf("%w before it answered; try: kiro-cli whoami", ended)
	}
	return &handshakeError{err: err, exited: true}
}

// chat makes the call through the headless chat, whose output is meant for people.
func (k *kiro) chat(ctx context.Context, prompt string) (string, error) {
	out, err := k.spec("chat", "--no-interactive", "--trust-tools=", "--wrap", "never").run(ctx, prompt, k.maxOutput)
	var code exitError
	if errors.As(err, &code) {
		return "", fmt.Errorf("%w; try: kiro-cli whoami", err)
	}
	if err != nil {
		return "", err
	}
	return chatAnswer(clean(out)), nil
}

// chatAnswer takes the answer out of what the chat prints: colours and other terminal commands, a "> " in front of the
// first line, and a footer of lines that begin with "▸".
func chatAnswer(out string) string {
	out = strings.TrimSpace(stripTerminal(out))
	out = strings.TrimPrefix(out, "> ")
	lines := strings.Split(out, "\n")
	for len(lines) > 0 {
		last := strings.TrimSpace(lines[len(lines)-1])
		if last != "" && !strings.HasPrefix(last, "▸") {
			break
		}
		lines = lines[:len(lines)-1]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// stripTerminal removes escape sequences, and of a line that was drawn over again by carriage returns all but the last
// drawing.
func stripTerminal(s string) string {
	var b strings.Builder
	line := 0 // where the line begins in b
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == 0x1b:
			i = escapeEnd(s, i)
			continue
		case c == '\r' && i+1 < len(s) && s[i+1] != '\n' && s[i+1] != '\r':
			kept := b.String()[:line]
			b.Reset()
			b.WriteString(kept)
		case c == '\n':
			b.WriteByte(c)
			line = b.Len()
		case c >= ' ' && c != 0x7f || c == '\t':
			b.WriteByte(c)
		}
		i++
	}
	return b.String()
}

// escapeEnd is the index behind the escape sequence that begins at s[i].
func escapeEnd(s string, i int) int {
	i++
	if i >= len(s) {
		return i
	}
	switch kind := s[i]; kind {
	case '[': // CSI: parameters, then a final byte
		for i++; i < len(s) && (s[i] < 0x40 || s[i] > 0x7e); i++ {
		}
		return min(i+1, len(s))
	case ']', 'P', '_', '^': // a string that ends with BEL or ESC \
		for i++; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
		}
		return i
	case '(', ')', '#', '%': // one more byte
		return min(i+2, len(s))
	}
	return i + 1
}
