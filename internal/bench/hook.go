package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// HookOptions say how long to measure.
type HookOptions struct {
	Rounds  int // runs of each kind
	Records int // memory records of the project when prompts are measured
}

// row is one kind of run; the empty process is the first.
type row struct {
	name    string
	program string
	args    []string
	stdin   []byte
	took    timings
	rss     int64 // bytes, the largest seen; 0 where the system does not say. A child begins as a copy of us, so only
	// what is well above our own size says anything
}

func (b *Bench) payload(fields map[string]any) []byte {
	p := map[string]any{"cwd": b.project, "session_id": "bench"}
	for k, v := range fields {
		p[k] = v
	}
	out, _ := json.Marshal(p) // strings, numbers and maps always encode
	return out
}

func (b *Bench) tool(size int) []byte {
	return b.payload(map[string]any{
		"hook_event_name": "postToolUse", "tool_name": "execute_bash", "tool_input": map[string]any{"command": "ls"},
		"tool_response": map[string]any{"success": true, "result": strings.Repeat("x", size)},
	})
}

// Hook prints what hooks cost, each kind beside an empty process. The kinds take turns, so that whatever else the
// machine does meets all of them alike.
func (b *Bench) Hook(o HookOptions) error {
	started, err := b.start()
	if err != nil {
		return err
	}
	b.say("collector start until its first answer  %s", ms(started))
	if err := b.fill(o.Records); err != nil {
		return err
	}
	program, name := b.empty()
	small := b.tool(4000)
	rows := []*row{
		{name: name, program: program, stdin: small},
		{name: "tool hook, 4 KB", args: []string{"postToolUse"}, stdin: small},
		{name: "tool hook, 64 KiB", args: []string{"postToolUse"}, stdin: b.tool(64 << 10)},
		{name: fmt.Sprintf("prompt hook, %d records", o.Records), args: []string{"userPromptSubmit"}},
		{name: "turn end", args: []string{"stop"}},
	}
	for i := range o.Rounds {
		rows[3].stdin = b.payload(map[string]any{"hook_event_name": "userPromptSubmit", "prompt": fmt.Sprintf("how does %s work with %s? (%d)", word(i), word(i*7+3), i)})
		rows[4].stdin = b.payload(map[string]any{"hook_event_name": "stop", "assistant_response": fmt.Sprintf("done, step %d", i)})
		if err := b.round(rows); err != nil {
			return err
		}
	}
	b.table(rows)
	if err := b.crowds(rows[0], small); err != nil {
		return err
	}
	huge := &row{name: "30 MB payload", args: []string{"postToolUse"}}
	for range 3 {
		if err := b.big(huge); err != nil {
			return err
		}
	}
	b.say("30 MB payload                            %s, %d MB at most", ms(huge.took.at(.5)), huge.rss>>20)
	return b.down(rows[0], small, o.Rounds)
}

// round runs every row once.
func (b *Bench) round(rows []*row) error {
	for _, r := range rows {
		if r.program == "" {
			r.program = b.Program
		}
		cmd, done, err := b.command(r.program, r.stdin, r.args...)
		if err != nil {
			return err
		}
		begun := time.Now()
		err = cmd.Run()
		took := time.Since(begun)
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		r.took = append(r.took, took)
	}
	return nil
}

// big runs a hook on a payload of 30 MB that is written piece by piece.
func (b *Bench) big(r *row) error {
	cmd, done, err := b.command(b.Program, nil, r.args...)
	if err != nil {
		return err
	}
	defer done()
	f := cmd.Stdin.(*os.File)
	head, tail, _ := bytes.Cut(b.tool(1), []byte(`"x"`))
	piece := bytes.Repeat([]byte("x"), 1000)
	_, err = f.Write(append(head, '"'))
	for range 30_000 {
		_, _ = f.Write(piece)
	}
	if err == nil {
		_, err = f.Write(append([]byte{'"'}, tail...))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("write a payload: %w", err)
	}
	begun := time.Now()
	err = cmd.Run()
	r.took, r.rss = append(r.took, time.Since(begun)), max(r.rss, maxRSS(cmd.ProcessState))
	return err
}

func (b *Bench) table(rows []*row) {
	base := rows[0].took.at(.5)
	b.say("%-40s %10s %10s %8s", "", "median", "p95", "×empty")
	for _, r := range rows {
		m := r.took.at(.5)
		b.say("%-40s %10s %10s %8.2f", r.name, ms(m), ms(r.took.at(.95)), float64(m)/float64(base))
	}
}

// crowds runs hooks at once: eight at a time for the spread, sixty-four for the whole, beside as many empty processes.
func (b *Bench) crowds(empty *row, stdin []byte) error {
	for _, n := range []int{8, 64} {
		var each, none timings
		var slowest []float64
		for range 5 {
			took, _, err := b.crowd(n, empty.program, nil, stdin)
			if err != nil {
				return err
			}
			none = append(none, took)
			took, spread, err := b.crowd(n, b.Program, []string{"postToolUse"}, stdin)
			if err != nil {
				return err
			}
			each = append(each, took)
			if n == 8 {
				slowest = append(slowest, float64(spread.at(.95))/float64(spread.at(.5)))
			}
		}
		b.say("%-40s %s, as many empty processes %s", fmt.Sprintf("%d tool hooks at once, median of 5", n), ms(each.at(.5)), ms(none.at(.5)))
		if n == 8 {
			slices.Sort(slowest)
			b.say("%-40s %.2f× their median", "the slowest of the eight", slowest[len(slowest)/2])
		}
	}
	return nil
}

func (b *Bench) crowd(n int, program string, args []string, stdin []byte) (took time.Duration, each timings, err error) {
	var wg sync.WaitGroup
	errs := make([]error, n)
	each = make(timings, n)
	cmds := make([]*exec.Cmd, n)
	for i := range cmds {
		cmd, done, err := b.command(program, stdin, args...)
		if err != nil {
			return 0, nil, err
		}
		defer done()
		cmds[i] = cmd
	}
	begun := time.Now()
	for i := range n {
		wg.Go(func() {
			at := time.Now()
			errs[i] = cmds[i].Run()
			each[i] = time.Since(at)
		})
	}
	wg.Wait()
	took = time.Since(begun)
	for _, e := range errs {
		if e != nil {
			return 0, nil, e
		}
	}
	return took, each, nil
}

// down measures a tool hook while no collector runs and none may be started.
func (b *Bench) down(empty *row, stdin []byte, rounds int) error {
	if _, err := b.run(nil, "collector", "stop"); err != nil {
		return err
	}
	if err := b.configure(`{"collector":{"autostart":false}}`); err != nil {
		return err
	}
	rows := []*row{{name: empty.name, program: empty.program, stdin: stdin}, {name: "tool hook, collector down", args: []string{"postToolUse"}, stdin: stdin}}
	for range rounds {
		if err := b.round(rows); err != nil {
			return err
		}
	}
	b.table(rows)
	return nil
}
