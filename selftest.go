package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/install"
	"kiro-learn/internal/event"
	"kiro-learn/internal/eventid"
	"kiro-learn/payload"
)

// selfTestTime is how long one installed command and the look for its event may take.
const selfTestTime = 15 * time.Second

// selfTest sends a marked prompt through every installed command line that takes prompts, through the shell as Kiro
// does, looks for its event, and erases it.
func (a *app) selfTest(wired []install.Wiring) []install.Finding {
	var out []install.Finding
	var done []string
	for _, w := range wired {
		if hook, _ := payload.HookOf(w.Hook); hook != payload.Prompt || slices.Contains(done, w.Line) {
			continue
		}
		done = append(done, w.Line)
		f := install.Finding{Check: "self-test", Status: install.OK, Path: w.Path, Detail: "a prompt sent through " + w.Path + " arrived"}
		if err := a.sendMarked(w); err != nil {
			f.Status, f.Detail, f.Fix = install.Fail, "a prompt sent through "+w.Path+" did not arrive: "+err.Error(), "look into "+a.dirs.LogFile()+", then type: kiro-learn install"
		}
		out = append(out, f)
	}
	return out
}

// sendMarked runs one command line with a prompt that nobody else can have written.
func (a *app) sendMarked(w install.Wiring) error {
	ctx, cancel := context.WithTimeout(context.Background(), selfTestTime)
	defer cancel()
	id := eventid.New(a.dirs.State, nil).Next(time.Second)
	mark := "kiro-learn self-test " + id
	wd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	body, err := json.Marshal(map[string]string{"hook_event_name": "UserPromptSubmit", "session_id": "self-test-" + id, "cwd": wd, "prompt": mark})
	if err != nil {
		return fmt.Errorf("make a payload: %w", err)
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", w.Line)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/C", w.Line)
	}
	cmd.Env = append(os.Environ(), "USER_PROMPT="+mark)
	stdin, err := piped(string(body))
	if err != nil {
		return err
	}
	defer func() { _ = stdin.Close() }()
	cmd.Stdin = stdin
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the command failed: %w: %s", err, event.CutChars(strings.Join(strings.Fields(string(said)), " "), 200))
	}
	cl, err := client.New(a.dirs, a.config.Collector)
	if err != nil {
		return err
	}
	if _, err := startCollector(ctx, cl, a); err != nil {
		return err
	}
	if err := (flushCmd{}).drain(ctx, a, cl); err != nil {
		return err
	}
	return eraseMarked(ctx, cl, mark)
}

// piped gives the reading end of a pipe for a hook's stdin, as Kiro does. The beginning of the text is in the pipe before
// the hook is there: it waits for its payload a part of its budget, and on a busy machine we may get no turn for longer.
func piped(text string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	early := min(len(text), 1024) // which any pipe holds
	if _, err := io.WriteString(w, text[:early]); err != nil {
		return nil, fmt.Errorf("fill a pipe: %w", err)
	}
	if text = text[early:]; text == "" {
		return r, w.Close()
	}
	go func() {
		_, _ = io.WriteString(w, text) // a hook may leave before it has read all
		_ = w.Close()
	}()
	return r, nil
}

// eraseMarked finds the event of a marked prompt and erases its session, which has nothing else in it.
func eraseMarked(ctx context.Context, cl *client.Client, mark string) error {
	var got struct {
		Items []event.Event `json:"items"`
	}
	if err := cl.Call(ctx, "GET", "/v1/events?kind=prompt&limit=50", nil, &got); err != nil {
		return err
	}
	for i := range got.Items {
		e := &got.Items[i]
		if b, err := event.ParseBody(e.Body); err != nil || b.Text() != mark {
			continue
		}
		q := url.Values{"namespace": {e.Namespace}, "now": {"true"}}
		if err := cl.Call(ctx, "DELETE", "/v1/sessions/"+url.PathEscape(e.SessionID)+"?"+q.Encode(), nil, nil); err != nil {
			return fmt.Errorf("erase the test's own event: %w", err)
		}
		return nil
	}
	return fmt.Errorf("no event of it was stored")
}
