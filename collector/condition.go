package collector

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/outbox"
)

const (
	timedHooks  = 300 // runs of hooks whose times are told
	shownAsides = 100 // refused events that are told of
)

// getCondition tells how the collector and what it lives on are. It tells no text of anybody's.
func (c *Collector) getCondition(w http.ResponseWriter, r *http.Request) {
	out := client.Condition{Version: c.o.Version, Started: c.started.UTC(), Requests: c.served.Load(), Files: map[string]int64{}, Hooks: []client.Took{}, Recall: c.recalled.took()}
	queue, err := c.queue.Status()
	if err != nil {
		c.internal(w, "look at the outbox", err)
		return
	}
	out.Outbox = client.Outbox{Pending: queue.Pending, Oldest: queue.Oldest, Dropped: queue.Dropped, DropReason: queue.DropReason, SetAside: []client.SetAside{}}
	if queue.Quarantined > 0 {
		if err := c.setAside(&out.Outbox); err != nil {
			c.internal(w, "look at what was set aside", err)
			return
		}
	}
	out.Files["outbox"] = queue.Bytes
	for name, path := range map[string]string{"database": c.o.Dirs.Database(), "journal": c.o.Dirs.Database() + "-wal", "log": c.o.Dirs.LogFile()} {
		if info, err := os.Stat(path); err == nil {
			out.Files[name] = info.Size()
		}
	}
	took, err := c.store.HookTimes(r.Context(), timedHooks)
	if err != nil {
		c.internal(w, "read how long hooks took", err)
		return
	}
	for _, v := range slices.Backward(took) {
		out.Hooks = append(out.Hooks, client.Took{At: v.At, Kind: v.Kind, MS: float64(v.Time.Microseconds()) / 1000})
	}
	reply(w, http.StatusOK, out)
}

func (c *Collector) setAside(o *client.Outbox) error {
	return c.queue.Quarantined(func(q outbox.Quarantine) bool {
		o.SetAside = append(o.SetAside, client.SetAside{At: q.Time, Reason: q.Reason, Bytes: q.Size})
		return len(o.SetAside) < shownAsides
	})
}

// getFindings answers what doctor finds, where this collector has been given one.
func (c *Collector) getFindings(w http.ResponseWriter, r *http.Request) {
	if c.o.Doctor == nil {
		reply(w, http.StatusNotFound, map[string]string{"error": "this collector was given no doctor; type: kiro-learn doctor", "code": "no_doctor"})
		return
	}
	found, err := c.o.Doctor(r.Context())
	if err != nil {
		c.internal(w, "check", err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"findings": found, "at": time.Now().UTC()})
}

const (
	mapRecords = 2000 // the newest, of which a map is made
	mapFiles   = 400
	mapWords   = 60
)

// getMap tells what a project's newest records are about: files and concepts, by how many records hold them. With a
// concept, only the records that hold it.
func (c *Collector) getMap(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	about, total, err := c.store.Abouts(r.Context(), q.Get("namespace"), mapRecords)
	if err != nil {
		c.internal(w, "read what records are about", err)
		return
	}
	out := client.Map{Total: total, Files: []client.MapFile{}, Concepts: []client.MapConcept{}}
	root, concept := c.store.ProjectPath(q.Get("namespace")), q.Get("concept")
	files, concepts := map[string]map[string]int{}, map[string]int{}
	for i := range about {
		a := &about[i]
		for _, name := range a.Concepts {
			concepts[name]++
		}
		if concept != "" && !slices.Contains(a.Concepts, concept) {
			continue
		}
		out.Records++
		if len(a.Files) == 0 {
			out.Unplaced++
		}
		for _, name := range a.Files {
			name = within(root, name)
			if files[name] == nil {
				files[name] = map[string]int{}
			}
			files[name][a.Type]++
		}
	}
	for name, types := range files {
		f := client.MapFile{Path: name, Types: types}
		for _, n := range types {
			f.N += n
		}
		out.Files = append(out.Files, f)
	}
	for name, n := range concepts {
		out.Concepts = append(out.Concepts, client.MapConcept{Name: name, N: n})
	}
	slices.SortFunc(out.Files, func(a, b client.MapFile) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.Path, b.Path)
	})
	slices.SortFunc(out.Concepts, func(a, b client.MapConcept) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.Name, b.Name)
	})
	out.Files, out.Concepts = out.Files[:min(len(out.Files), mapFiles)], out.Concepts[:min(len(out.Concepts), mapWords)]
	reply(w, http.StatusOK, out)
}

// within is a file's path within its project, with slashes; one that lies elsewhere keeps its own.
func within(root, name string) string {
	name, root = strings.ReplaceAll(name, `\\`, "/"), strings.TrimSuffix(strings.ReplaceAll(root, `\\`, "/"), "/")
	if rest, ok := strings.CutPrefix(name, root+"/"); ok && root != "" {
		return rest
	}
	return strings.TrimPrefix(name, "./")
}
