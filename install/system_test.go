package install

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	m := newMachine(t, "h", "", "")
	for _, c := range []struct {
		name, script, want string
		fails              bool
	}{
		{"prints", "echo kiro-cli 2.0.0", "kiro-cli 2.0.0\n", false},
		{"fails", "echo x; exit 3", "x\n", true},
		{"leaves a child with its pipe", "sleep 5 & echo kiro-cli 2.0.0", "kiro-cli 2.0.0\n", false},
		{"is told that it is ours", "echo $KIRO_LEARN_CHILD", "1\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := filepath.Join(m.dir, "prog")
			m.write(p, "#!/bin/sh\n"+c.script+"\n", 0o755)
			out, err := run(context.Background(), p)
			if out != c.want || (err != nil) != c.fails {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := run(ctx, "sleep", "1000"); !errors.Is(err, context.Canceled) {
		t.Errorf("a program that hangs is not given up: %v", err)
	}
}

func TestSystem(t *testing.T) {
	env, err := System("/h", "/p", "/s")
	if err != nil || env.Home != "/h" || env.Project != "/p" || env.StateDir != "/s" || !filepath.IsAbs(env.Executable) || env.Run == nil {
		t.Errorf("got %+v, %v", env, err)
	}
}
