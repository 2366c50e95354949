// Package transcript reads what Kiro's own session files say: the answer that a turn ended with and the prompt that
// began it, for the versions of Kiro whose hooks are told neither. The files grow while they are read and may be very
// large, so they are read from the end, a bounded part of them, and whatever cannot be understood is passed over.
// Nothing here returns an error: a hook that finds no text goes on without it.
package transcript

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kiro-learn/internal/rawjson"
)

// Reader finds the session files below a home directory.
type Reader struct {
	Home string // the user's real home; Kiro's own hooks ignore KIRO_HOME

	// Ignore, if set, tells which sessions count as absent by the directory they work in, such as those of the agents
	// that kiro-learn itself runs. A session whose directory is not known is not ignored.
	Ignore func(cwd string) bool
}

// LastAnswer is the text that the user reads at the end of the session's last turn: the last Say of Kiro's standalone
// sessions, the last assistant message with text of the CLI's. ok is false when there is none that is newer than the
// user's last message, typed into the running turn or before it, since an answer to an earlier message is not this
// turn's.
func (r Reader) LastAnswer(sessionID string) (text string, ok bool) {
	text, _, ok = answer(r.find(sessionID))
	return text, ok
}

// answer is the last answer in a session's file, and whether the turn is known to have ended.
func answer(path string) (text string, ended, ok bool) {
	began := false
	backwards(path, func(m message) bool {
		switch m.role {
		case roleStart:
			began = true
		case roleEnd:
			ended = ended || !began
		case roleAssistant:
			text, ok = m.text, true
			ended = ended || m.closing
			return false
		case roleUser, roleSteer:
			return false
		}
		return true
	})
	return text, ended, ok
}

// LastPrompt is the last message that the user typed, not one that Kiro made itself, and a mark that is another one for
// every message, so that a caller can tell whether it has seen this one. Text typed into a running turn does not begin
// a turn and counts only where there is nothing else.
func (r Reader) LastPrompt(sessionID string) (text, mark string, ok bool) {
	var steer message
	backwards(r.find(sessionID), func(m message) bool {
		switch m.role {
		case roleUser:
			text, mark, ok = m.text, m.mark, true
		case roleSteer:
			if steer.role == roleNone {
				steer = m
			}
		}
		return !ok
	})
	if !ok && steer.role == roleSteer {
		return steer.text, steer.mark, true
	}
	return text, mark, ok
}

// Made are the texts of the session's user messages that Kiro made itself and the user did not type as well: the briefs
// and notices of workflows, for which the prompt's hook fires too.
func (r Reader) Made(sessionID string) []string {
	made, typed := map[string]bool{}, map[string]bool{}
	backwards(r.find(sessionID), func(m message) bool {
		switch m.role {
		case roleMade:
			made[m.text] = true
		case roleUser, roleSteer:
			typed[m.text] = true
		}
		return true
	})
	var out []string
	for text := range made {
		if !typed[text] {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// pollEvery is how long WaitAnswer waits between two looks; settled is the number of looks at an unchanged file after
// which an answer in it is taken for the closing one, since Kiro may write the turn's end only when its hooks are done.
const (
	pollEvery = 15 * time.Millisecond
	settled   = 10
)

// WaitAnswer is LastAnswer for a turn that is just ending: the file may appear, and the closing message be written, a
// moment after the hook is called, so it looks again until the turn's end is there, the file with an answer in it has
// stopped to grow, or ctx is done, and then gives what there is. It does not wait when ctx has no deadline.
func (r Reader) WaitAnswer(ctx context.Context, sessionID string) (text string, ok bool) {
	if _, bounded := ctx.Deadline(); !bounded || !plainName(sessionID) {
		return r.LastAnswer(sessionID)
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	path, size, quiet := "", int64(-1), 0
	for {
		if path == "" {
			path = r.find(sessionID)
		}
		now := sizeOf(path) // before the look, so that growth during it counts as growth
		text, ended, ok := answer(path)
		if now != size {
			size, quiet = now, 0
		}
		if quiet++; ended || ok && quiet > settled {
			return text, ok
		}
		select {
		case <-ctx.Done():
			return text, ok
		case <-tick.C:
		}
	}
}

// sizeOf is the size of a file in bytes, -1 when there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// backwards calls f for the messages of a session's file, the newest first, until f returns false.
func backwards(path string, f func(message) bool) {
	if path == "" {
		return
	}
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	linesBackwards(file, info.Size(), fileLimits(), func(offset int64, line []byte) bool {
		m, ok := parse(line, offset)
		return !ok || f(m)
	})
}

// find is the path of a session's file, empty when there is none. The id is data: it is only compared with names that
// directories hold, or joined to them when it is a plain file name.
func (r Reader) find(sessionID string) string {
	if r.Home == "" || !plainName(sessionID) {
		return ""
	}
	root := filepath.Join(r.Home, ".kiro", "sessions")
	best, newest := "", time.Time{}
	consider := func(path, about string) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || best != "" && !info.ModTime().After(newest) {
			return
		}
		if r.Ignore != nil {
			if cwd := workDir(about); cwd != "" && r.Ignore(cwd) {
				return
			}
		}
		best, newest = path, info.ModTime()
	}
	dirs, _ := os.ReadDir(root) // what can be listed is enough; without a listing there is no session
	for _, d := range dirs {
		if d.IsDir() || d.Type()&os.ModeSymlink != 0 {
			for _, name := range [...]string{sessionID, "sess_" + sessionID} {
				dir := filepath.Join(root, d.Name(), name)
				consider(filepath.Join(dir, "messages.jsonl"), filepath.Join(dir, "session.json"))
			}
		}
	}
	cli := filepath.Join(root, "cli", sessionID)
	consider(cli+".jsonl", cli+".json")
	return best
}

// plainName tells whether an id can be the name of one file and nothing else on any system.
func plainName(id string) bool {
	if id == "" || len(id) > 200 || id[0] == '.' || strings.Contains(id, "..") {
		return false
	}
	for _, c := range []byte(id) {
		if c < ' ' || c == 0x7f || strings.IndexByte(`/\:*?[]{}"<>|~$%`, c) >= 0 {
			return false
		}
	}
	return id[len(id)-1] != '.' && id[len(id)-1] != ' '
}

// maxAbout is how many bytes of a session's description are read.
const maxAbout = 1 << 20

// workDir is the directory that a session works in, by the description beside its messages.
func workDir(about string) string {
	info, err := os.Stat(about)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxAbout {
		return ""
	}
	b, err := os.ReadFile(about)
	if err != nil || !json.Valid(b) {
		return ""
	}
	if v := rawjson.Get(b, "cwd"); rawjson.IsString(v) {
		return rawjson.Unquote(v)
	}
	return ""
}
