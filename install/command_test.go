package install

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCommand(t *testing.T) {
	for _, c := range []struct {
		name, line, program, hook string
		ours                      bool
	}{
		{"bare", "kiro-learn stop", "kiro-learn", "stop", true},
		{"absolute with our flags", "/opt/kiro-learn postToolUse --surface kiro-cli --payload=env --via agent", "/opt/kiro-learn", "postToolUse", true},
		{"single quotes", `'/h/Ana Lee'\''s $h/kiro-learn' agentSpawn`, "/h/Ana Lee's $h/kiro-learn", "agentSpawn", true},
		{"double quotes", `"/h/Ana Lee/kiro-learn" userPromptSubmit`, "/h/Ana Lee/kiro-learn", "userPromptSubmit", true},
		{"home by variable", `"$HOME/.local/bin/kiro-learn" stop`, "$HOME/.local/bin/kiro-learn", "stop", true},
		{"home by variable, bare", `$HOME/.local/bin/kiro-learn stop`, "$HOME/.local/bin/kiro-learn", "stop", true},
		{"Windows", `C:\Users\dev\kiro-learn.exe stop`, `C:\Users\dev\kiro-learn.exe`, "stop", true},
		{"Windows in quotes", `"C:\Program Files\kl\Kiro-Learn.EXE" promptSubmit --surface kiro-ide`, `C:\Program Files\kl\Kiro-Learn.EXE`, "promptSubmit", true},
		{"a shim", `C:\shims\kiro-learn.cmd stop`, `C:\shims\kiro-learn.cmd`, "stop", true},
		{"PowerShell", `& "C:/Program Files/kiro-learn.exe" stop`, `C:/Program Files/kiro-learn.exe`, "stop", true},
		{"Pascal case", "kiro-learn UserPromptSubmit", "kiro-learn", "userPromptSubmit", true},
		{"the other name of agentSpawn", "kiro-learn SessionStart", "kiro-learn", "agentSpawn", true},
		{"hook and event", "kiro-learn hook Stop", "kiro-learn", "stop", true},
		{"hook alone", "kiro-learn hook", "kiro-learn", "", true},
		{"never fails", "kiro-learn promptSubmit --payload env || true", "kiro-learn", "promptSubmit", true},
		{"quiet", "kiro-learn stop >/dev/null 2>&1", "kiro-learn", "stop", true},

		{"our name inside another", "/opt/kiro-learn-extra stop", "", "", false},
		{"a directory of our name", "/src/kiro-learn/run.sh stop", "", "", false},
		{"our name as an argument", "echo kiro-learn stop", "", "", false},
		{"another verb", "kiro-learn search x", "", "", false},
		{"no verb", "kiro-learn", "", "", false},
		{"its owner's longer line", "kiro-learn stop && notify-send done", "", "", false},
		{"a pipe", "cat x | kiro-learn stop", "", "", false},
		{"into a file", "kiro-learn stop > /tmp/log", "", "", false},
		{"its owner's environment", "KIRO_LEARN_HOME=/x kiro-learn stop", "", "", false},
		{"a substitution", "kiro-learn stop $(cat x)", "", "", false},
		{"an unknown flag", "kiro-learn stop --verbose", "", "", false},
		{"a flag without value", "kiro-learn stop --surface", "", "", false},
		{"an open quote", `'/opt/kiro-learn stop`, "", "", false},
		{"empty", "", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ours := ParseCommand(c.line)
			if ours != c.ours || got.Program != c.program || got.Hook != c.hook {
				t.Errorf("%q: got %+v %v", c.line, got, ours)
			}
		})
	}
}

func TestQuoteForWindows(t *testing.T) {
	for path, want := range map[string]string{
		`C:\Users\dev\kiro-learn.exe`:       "C:/Users/dev/kiro-learn.exe",
		`C:\Program Files\x\kiro-learn.exe`: `"C:/Program Files/x/kiro-learn.exe"`,
		`C:\R&D\kiro-learn.exe`:             `"C:/R&D/kiro-learn.exe"`,
		`C:\Users\José\kiro-learn.exe`:      "C:/Users/José/kiro-learn.exe",
		`C:\Users\ANALEE~1\kiro-learn.exe`:  "C:/Users/ANALEE~1/kiro-learn.exe",
	} {
		if got := quote(path, "windows"); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
		if c, ours := ParseCommand(quote(path, "windows") + " stop"); !ours || c.Program != strings.ReplaceAll(path, `\`, "/") {
			t.Errorf("%s does not come back: %+v", path, c)
		}
	}
}

// Whatever the path, the shell sees it as one word, and so do we.
func TestQuotedPathsComeBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh here")
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir := rapid.StringOf(rapid.RuneFrom([]rune(`aZ9 '"$\é日&;|()<>*?~#!{}[]=%^,-_.@:+`+"`\t"))).Draw(rt, "dir")
		path := "/" + dir + "/kiro-learn"
		line := quote(path, "linux") + " stop"
		if c, ours := ParseCommand(line); !ours || c.Program != path || c.Hook != "stop" {
			rt.Fatalf("%q was read as %+v", line, c)
		}
		out, err := exec.Command(sh, "-c", "printf %s "+quote(path, "linux")).Output()
		if err != nil || string(out) != path {
			rt.Fatalf("%q: sh saw %q (%v)", line, out, err)
		}
	})
}

func TestMentionsUs(t *testing.T) {
	for line, want := range map[string]bool{
		"kiro-learn stop && say done": true, "KIRO_LEARN_HOME=/x '/a b/kiro-learn' stop": true, "kiro-learn stop": true,
		"echo hi": false, "/src/kiro-learn/run.sh": false, "kiro-learn-extra stop": false,
	} {
		if got := mentionsUs(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// Whatever stands in a hook, reading it does not panic, and a line is ours only if it names us.
func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"kiro-learn stop", `"" stop`, `'`, `\`, `"a\`, "kiro-learn hook", `& "x\kiro-learn.exe" stop || true`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if c, ours := ParseCommand(line); ours && (!isOurProgram(c.Program) || !mentionsUs(line)) {
			t.Errorf("%q is not ours: %+v", line, c)
		}
	})
}
