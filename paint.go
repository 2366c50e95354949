package main

import (
	"io"
	"os"
	"runtime"

	"github.com/mattn/go-isatty"
)

// The styles of what a person reads at a terminal.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
)

// paint gives a text a style where w is a terminal and nobody has asked for plain text (NO_COLOR); elsewhere it leaves the
// text as it is, so that programs that read it never meet a colour.
func paint(w io.Writer, style, text string) string {
	if text == "" || !paints(w, os.Getenv) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func paints(w io.Writer, getenv func(string) string) bool {
	f, ok := w.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" && getenv("WT_SESSION") == "" && getenv("TERM") == "" { // an old console would print the codes
		return false
	}
	return isatty.IsTerminal(f.Fd())
}
