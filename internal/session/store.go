package session

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"kiro-learn/internal/atomicfile"
)

// sameFiringMS is how far apart two firings of one prompt may be, in ms: hooks registered in two places fire together.
const sameFiringMS = 1500

// stateMax bounds what is read of a state file, in bytes; ours are a few hundred.
const stateMax = 64 << 10

// State is what the hooks of one session remember of each other. Losing it costs a parent id, nothing else.
type State struct {
	PromptID   string `json:"prompt_id,omitempty"`   // event id of the running turn's prompt
	PromptHash string `json:"prompt_hash,omitempty"` // content hash of that prompt
	PromptTime int64  `json:"prompt_time,omitempty"` // when it fired, Unix ms
	PromptMark string `json:"prompt_mark,omitempty"` // transcript mark of the last prompt taken from Kiro's session file
	SpawnSeen  int64  `json:"spawn_seen,omitempty"`  // when the session's start was last seen, Unix ms; 0 if never
}

// SamePrompt reports whether a prompt with this hash that fires at nowMS (Unix ms) is the recorded one firing again, so
// that its event is the one that PromptID names. The same words two seconds later are a new prompt. The clock may have
// stepped back a little between the two firings, as it may differ between processes.
func (st *State) SamePrompt(hash string, nowMS int64) bool {
	return hash != "" && st.PromptID != "" && st.PromptHash == hash &&
		st.PromptTime >= nowMS-sameFiringMS && st.PromptTime <= nowMS+sameFiringMS
}

// Store keeps the states of all sessions, one small private file each. Dir is made when first needed.
// With an empty Dir nothing is kept.
type Store struct{ Dir string }

// Load gives the state of a session, the zero State when there is none or it cannot be read.
func (s Store) Load(namespace, sessionID string) State {
	if s.Dir == "" {
		return State{}
	}
	st, _ := read(s.file(namespace, sessionID))
	return st
}

// Update lets f change the state of a session and stores it if f says that it changed. Updates of one session follow
// each other, across processes, unless the lock cannot be had within wait; then the last one wins. It never fails: what
// cannot be stored is lost. It gives the state as f left it. Fields of a newer version stay in the file.
func (s Store) Update(namespace, sessionID string, wait time.Duration, f func(*State) (changed bool)) State {
	file := s.file(namespace, sessionID)
	made := s.Dir != "" && os.MkdirAll(filepath.Dir(file), 0o700) == nil
	if made {
		defer lock(filepath.Dir(file), wait)()
	}
	var st State
	var raw []byte
	if made {
		st, raw = read(file)
	}
	if f(&st) && made {
		if data, err := st.over(raw); err == nil && len(data) <= stateMax {
			_ = atomicfile.WriteUnsynced(file, data, 0o600)
		}
	}
	return st
}

// Remove removes the state of a session; one that is not there is no error.
func (s Store) Remove(namespace, sessionID string) error {
	if s.Dir == "" {
		return nil
	}
	err := os.Remove(s.file(namespace, sessionID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Prune removes the states that were last written before a time, and gives how many. Call it where time does not matter.
func (s Store) Prune(before time.Time) (removed int) {
	shards, err := os.ReadDir(s.Dir)
	if err != nil {
		return 0
	}
	for _, shard := range shards {
		if shard.IsDir() && len(shard.Name()) == 2 {
			removed += pruneShard(filepath.Join(s.Dir, shard.Name()), before)
		}
	}
	return removed
}

// pruneShard also removes what a killed process left of an unfinished write. The lock's file stays, since removing it
// would let two processes hold it.
func pruneShard(dir string, before time.Time) (removed int) {
	defer lock(dir, 100*time.Millisecond)()
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || f.Name() == lockName || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		if os.Remove(filepath.Join(dir, f.Name())) == nil && strings.HasSuffix(f.Name(), ".json") {
			removed++
		}
	}
	return removed
}

func (s Store) file(namespace, sessionID string) string {
	name := digest(namespace, sessionID)
	return filepath.Join(s.Dir, name[:2], name+".json")
}

const lockName = "lock"

// lock takes the lock of a shard for at most wait; the function that it gives releases it, if it was had.
func lock(dir string, wait time.Duration) func() {
	l := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	locked, err := l.TryLock()
	if err == nil && !locked && wait > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		_, _ = l.TryLockContext(ctx, time.Millisecond)
	}
	return func() { _ = l.Close() }
}

// read gives the state in a file and its raw bytes, both empty when it is none of ours.
func read(file string) (State, []byte) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > stateMax {
		return State{}, nil
	}
	raw, err := os.ReadFile(file)
	var st State
	if err != nil || json.Unmarshal(raw, &st) != nil {
		return State{}, nil
	}
	return st, raw
}

// over encodes st, keeping the fields of raw that this version does not know.
func (st *State) over(raw []byte) ([]byte, error) {
	own, err := json.Marshal(st)
	if err != nil || len(raw) == 0 {
		return own, err
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return own, nil
	}
	for _, known := range [...]string{"prompt_id", "prompt_hash", "prompt_time", "prompt_mark", "spawn_seen"} {
		delete(fields, known)
	}
	if err := json.Unmarshal(own, &fields); err != nil {
		return own, nil
	}
	return json.Marshal(fields)
}
