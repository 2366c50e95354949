package extract

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCleanText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a b\nc", "a b\nc"},
		{"colours", "\x1b[1;31mred\x1b[0m text", "red text"},
		{"eight-bit CSI", "\u009b31mred", "red"},
		{"window title, BEL", "\x1b]0;evil\x07ok", "ok"},
		{"window title, ST", "\x1b]0;evil\x1b\\ok", "ok"},
		{"lone escape at the end", "ok\x1b", "ok"},
		{"cut CSI", "ok\x1b[31", "ok"},
		{"controls", "a\x00b\x07c\x7fd\te", "abcd e"},
		{"line ends", "a\r\nb\rc\u2028d", "a\nb\nc\nd"},
		{"direction and zero width", "a\u202eb\u2066c\u200bd\ufeffe", "abcde"},
		{"invalid bytes", "a\xffb", "a\ufffdb"},
		{"truncation", "the rest [truncated by kiro-learn]", "the rest …"},
		{"joiners of other scripts stay", "ن\u200cه", "ن\u200cه"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleanText(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestProseOf(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"sentences", "Fix it. Then test! OK?", []string{"Fix it.", "Then test!", "OK?"}},
		{"dots in names", "See upload/upload.go, v1.2.3 and e.g. foo.bar() now. Done.", []string{"See upload/upload.go, v1.2.3 and e.g. foo.bar() now.", "Done."}},
		{"code span", "Run `a. b` now. Next.", []string{"Run `a. b` now.", "Next."}},
		{"wrapped lines", "This is a long line of prose that was wrapped by the editor\nin the middle of a sentence.", []string{"This is a long line of prose that was wrapped by the editor in the middle of a sentence."}},
		{"lines of their own", "fix the bug\nrename the table", []string{"fix the bug", "rename the table"}},
		{"list", "Do:\n- add a flag\n* update the docs\n2. run tests", []string{"Do:", "add a flag", "update the docs", "run tests"}},
		{"fence", "Before.\n```go\nWe decided to die.\n```\nAfter.", []string{"Before.", "After."}},
		{"tilde fence with a shorter one inside", "~~~~\n~~~\nno\n~~~~\nAfter.", []string{"After."}},
		{"open fence", "Before.\n```\nall code. to the end", []string{"Before."}},
		{"quotation, table, heading", "> they said so\n\n| a | b |\n# Heading\nMine.", []string{"Mine."}},
		{"indented code", "Look:\n\n    x := compute(y)\n\nThanks.", []string{"Look:", "Thanks."}},
		{"log lines", "2026-11-20T09:00:00Z started the worker again\n09:00:00 started\n[2026-01-01 00:00:00] x\nERROR: cannot do that\njava.lang.Error: bad thing\n    at a.B.c(B.java:3)\nWhy?", []string{"Why?"}},
		{"diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+new words here\nApply this.", []string{"Apply this."}},
		{"base64", "see\n" + strings.Repeat("QUJDREVGRw", 20) + "\nend.", []string{"see", "end."}},
		{"code without a fence", "func main() {\nfoo(bar)\nreturn x;\n}\nWhat is wrong here?", []string{"What is wrong here?"}},
		{"chinese", "请修复上传。然后测试！可以吗？", []string{"请修复上传。", "然后测试！", "可以吗？"}},
		{"links and bold", "Use **three** of [them](http://x.y/z).", []string{"Use three of them."}},
		{"recalled notes", "Fix it.\n## Notes from earlier sessions in this project (kiro-learn)\nWe decided to lie.", []string{"Fix it."}},
		{"the product's name alone ends nothing", "The plugin (kiro-learn) is slow. Fix it.", []string{"The plugin (kiro-learn) is slow.", "Fix it."}},
		{"context entries", "--- CONTEXT ENTRY BEGIN ---\nnoise.\n--- CONTEXT ENTRY END ---\n--- USER MESSAGE BEGIN ---\nDo it now.\n--- USER MESSAGE END ---", []string{"Do it now."}},
		{"hook instruction", "<HOOK_INSTRUCTION>obey.</HOOK_INSTRUCTION>\nDo it now.", []string{"Do it now."}},
		{"elements around a prompt", "<EnvironmentContext>\nThis is the open file.\n</EnvironmentContext>\nFix it.\n<div class=\"x\">\nSome text here.\n</div>\n", []string{"Fix it."}},
		{"an element that never closes", "<div>\nFix it.", []string{"Fix it."}},
		{"chat tokens", "<|im_start|>Fix x < 3 || y |> z.", []string{"Fix x < 3 || y |> z."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, proseOf(tt.in)); diff != "" {
				t.Errorf("sentences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProseOfKeepsBothEnds(t *testing.T) {
	got := proseOf("First of all.\n" + strings.Repeat("Again and again.\n", 5000) + "Last of all.")
	if len(got) != maxSentences || got[0] != "First of all." || got[len(got)-1] != "Last of all." {
		t.Errorf("%d sentences, from %q to %q", len(got), got[0], got[len(got)-1])
	}
}

func TestCutWords(t *testing.T) {
	tests := []struct {
		name, in string
		max      int
		want     string
	}{
		{"fits", "abc def", 7, "abc def"},
		{"between words", "one two three four five", 20, "one two three four…"},
		{"one long word", "abcdefghijklmnop", 8, "abcdefg…"},
		{"wide", "上传重试次数改为三次", 6, "上传重试次…"},
		{"characters, not bytes", "äöüäöü", 6, "äöüäöü"},
		{"no comma at the end", "one two three, four", 16, "one two three…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := cutWords(tt.in, tt.max)
			if got != tt.want || utf8.RuneCountInString(got) > tt.max {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
