package collector

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"kiro-learn/collector/client"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
	"kiro-learn/internal/privacy"
	"kiro-learn/internal/project"
)

func (c *Collector) projectRoutes(m *http.ServeMux) {
	m.HandleFunc("GET /v1/projects", c.getProjects)
	m.HandleFunc("POST /v1/projects/merge", c.postMerge)
}

func (c *Collector) getProjects(w http.ResponseWriter, r *http.Request) {
	found, err := c.store.Stats(r.Context(), "")
	if err != nil {
		c.internal(w, "list the projects", err)
		return
	}
	items := []client.Project{}
	for _, st := range found {
		if store.OfSession(st.Namespace) {
			continue
		}
		items = append(items, client.Project{Namespace: st.Namespace, ProjectPath: st.ProjectPath, Events: st.Events, Records: st.Records, Sessions: st.Sessions})
	}
	reply(w, http.StatusOK, map[string]any{"items": items})
}

// projectAt gives the namespace and the root of the project that lies at a directory, for the actor of another namespace;
// both are empty where none lies there.
func (c *Collector) projectAt(from, dir string) (namespace, root string) {
	actor, _, ok := event.SplitNamespace(from)
	info, err := os.Stat(dir)
	if !ok || !filepath.IsAbs(dir) || err != nil || !info.IsDir() {
		return "", ""
	}
	p := c.resolver().Resolve(dir)
	if p.Root == "" {
		return "", ""
	}
	return event.Namespace(actor, p.ID), p.Root
}

func (c *Collector) resolver() project.Resolver {
	home, _ := os.UserHomeDir()
	return project.Resolver{Home: home, Temp: os.TempDir(), Memory: filepath.Join(c.o.Dirs.State, "projects"), Secret: privacy.Holds}
}

// postMerge moves all that one project holds into another of the same actor.
func (c *Collector) postMerge(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/json")
	if !ok {
		return
	}
	var in client.Merge
	if err := json.Unmarshal(b, &in); err != nil {
		fail(w, http.StatusBadRequest, "the request must be a JSON object with from and into", nil)
		return
	}
	if in.Into == "" && in.ProjectPath != "" { // it has moved
		if in.Into, in.ProjectPath = c.projectAt(in.From, in.ProjectPath); in.Into == "" {
			fail(w, http.StatusBadRequest, "project_path must be the whole path of a directory that is there and lies in a project", nil)
			return
		}
	}
	from, _, okFrom := event.SplitNamespace(in.From)
	into, _, okInto := event.SplitNamespace(in.Into)
	if !okFrom || !okInto || from != into {
		fail(w, http.StatusBadRequest, "from and into must be namespaces /actor/<actor_id>/project/<project_id>/ of one actor", amiss(okFrom, okInto))
		return
	}
	longAnswer(w)
	events, records, err := c.store.Merge(r.Context(), in.From, in.Into, in.ProjectPath)
	switch {
	case errors.Is(err, store.ErrSameProject):
		fail(w, http.StatusBadRequest, err.Error(), nil)
	case err != nil:
		c.internal(w, "merge the projects", err)
	case events+records == 0:
		reply(w, http.StatusNotFound, map[string]string{"error": "there is nothing of this project", "code": "project_not_found"})
	default:
		reply(w, http.StatusOK, client.Merged{Events: events, Records: records, Into: in.Into})
	}
}

// amiss names what of a merge is no namespace of a project, or else that the two do not go together.
func amiss(okFrom, okInto bool) []event.Problem {
	out := []event.Problem{}
	for _, f := range []struct {
		name string
		ok   bool
	}{{"from", okFrom}, {"into", okInto}} {
		if !f.ok {
			out = append(out, event.Problem{Field: f.name, Problem: "must be a namespace /actor/<actor_id>/project/<project_id>/"})
		}
	}
	if len(out) == 0 {
		out = append(out, event.Problem{Field: "into", Problem: "must be of the same actor as from"})
	}
	return out
}
