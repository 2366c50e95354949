package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// Disabled tells whether the environment switches kiro-learn off, with KIRO_LEARN_DISABLE.
func Disabled(getenv func(string) string) bool {
	return !says(getenv("KIRO_LEARN_DISABLE"), "", "0", "false", "no", "off")
}

// ProjectEnabled is false where the project in root has switched kiro-learn off in .kiro/kiro-learn.json, and where that
// file cannot be understood: whoever wrote one most likely meant to switch it off.
func ProjectEnabled(root string) bool {
	on, err := projectSwitch(root)
	return on && err == nil
}

// ProjectProblem says why the project's own switch cannot be understood, which then counts as off; "" when it can.
func ProjectProblem(root string) string {
	if _, err := projectSwitch(root); err != nil {
		return fmt.Sprintf("%s cannot be read, so nothing is recorded in this project: %v", switchFile(root), err)
	}
	return ""
}

func switchFile(root string) string { return filepath.Join(root, ".kiro", "kiro-learn.json") }

func projectSwitch(root string) (on bool, err error) {
	if root == "" {
		return true, nil
	}
	b, err := readSettings(switchFile(root))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	p := struct {
		Enabled json.RawMessage `json:"enabled"`
	}{}
	if err := json.Unmarshal(standard(trimBOM(b)), &p); err != nil {
		return false, err
	}
	switch v := strings.Trim(string(p.Enabled), `"`); {
	case p.Enabled == nil, says(v, "null", "1", "true", "yes", "on"):
		return true, nil
	case says(v, "0", "false", "no", "off"):
		return false, nil
	}
	return false, errors.New(`"enabled" is neither true nor false`)
}

// says tells whether a switch is set to one of some words.
func says(v string, words ...string) bool {
	for _, w := range words {
		if strings.EqualFold(strings.TrimSpace(v), w) {
			return true
		}
	}
	return false
}

// standard is JSON as people write it, with blanks in the place of its comments and of commas that end a list.
func standard(b []byte) []byte {
	out := append([]byte(nil), b...)
	comma := -1 // the last comma, behind which nothing but blanks has come
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case c == '/':
			i += blankComment(out[i:])
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c > ' ':
			comma = -1
		}
	}
	return out
}

// blankComment overwrites the comment that begins at the slash in b[0] and gives how far its last byte is; zero where
// there is none.
func blankComment(b []byte) int {
	end := 0
	switch {
	case strings.HasPrefix(string(b[:min(2, len(b))]), "//"):
		for end = 2; end < len(b) && b[end] != '\n'; end++ {
		}
	case strings.HasPrefix(string(b[:min(2, len(b))]), "/*"):
		k := strings.Index(string(b[2:]), "*/")
		if k < 0 {
			return 0 // one that never ends is no JSON
		}
		end = k + len("/**/")
	default:
		return 0
	}
	for i := range b[:end] {
		b[i] = ' '
	}
	return end - 1
}
