package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"kiro-learn/collector/client"
	"kiro-learn/hooks"
)

type projectsCmd struct {
	List   projectsList   `cmd:"" default:"1" help:"List every project there is something of."`
	Merge  projectsMerge  `cmd:"" help:"Move all that one project holds into another."`
	Rename projectsRename `cmd:"" help:"After a project has moved: give what it holds to the project at its new place."`
}

type projectsList struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists projects.
func (p projectsList) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	items, err := cl.Projects(ctx)
	if err != nil {
		return err
	}
	if p.JSON {
		return printJSON(a.stdout, items)
	}
	if len(items) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no projects yet; see: kiro-learn doctor")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	for _, it := range items {
		path := it.ProjectPath
		if path == "" {
			path = "(no place known)"
		}
		_, _ = fmt.Fprintf(w, "%.12s\t%s, %s, %s\t%s\n", projectID(it.Namespace), many(it.Records, "record"), many(it.Events, "event"), many(it.Sessions, "session"), safe(path))
	}
	return w.Flush()
}

func projectID(namespace string) string {
	_, id, _ := strings.Cut(strings.TrimSuffix(namespace, "/"), "/project/")
	return id
}

type projectsMerge struct {
	From string `arg:"" help:"A project: its place, or the beginning of its id in the list."`
	Into string `arg:"" help:"The project that takes it in."`
	Yes  bool   `short:"y" help:"Do not ask."`
}

// Run merges two projects that there is something of.
func (p projectsMerge) Run(a *app) error {
	return a.move(p.From, p.Yes, func(items []client.Project) (client.Merge, error) {
		into, err := pick(items, p.Into)
		return client.Merge{Into: into.Namespace}, err
	})
}

type projectsRename struct {
	From string `arg:"" help:"A project: the place where it was, or the beginning of its id in the list."`
	Dir  string `arg:"" help:"Where it is now."`
	Yes  bool   `short:"y" help:"Do not ask."`
}

// Run gives a project's memory to the project that lies at a directory.
func (p projectsRename) Run(a *app) error {
	return a.move(p.From, p.Yes, func([]client.Project) (m client.Merge, err error) {
		dir, err := filepath.Abs(p.Dir)
		if err != nil {
			return m, fmt.Errorf("find %s: %w", p.Dir, err)
		}
		return client.Merge{Into: hooks.Namespace(a.dirs, dir), ProjectPath: dir}, nil
	})
}

// move gives all that a project holds to another one. It asks first: two projects that have become one cannot be told apart
// again.
func (a *app) move(name string, yes bool, to func([]client.Project) (client.Merge, error)) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	items, err := cl.Projects(ctx)
	if err != nil {
		return err
	}
	from, err := pick(items, name)
	if err != nil {
		return err
	}
	m, err := to(items)
	if err != nil {
		return err
	}
	if !yes && !a.agreed(fmt.Sprintf("To be moved: %s and %s of %s. This cannot be undone.", many(from.Records, "record"), many(from.Events, "event"), safe(from.ProjectPath))) {
		return errors.New("nothing was moved; to go on without being asked add --yes")
	}
	m.From = from.Namespace
	got, err := cl.MergeProjects(ctx, m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "moved %s and %s\n", many(got.Records, "record"), many(got.Events, "event"))
	return err
}

// pick finds the project that a person means.
func pick(items []client.Project, name string) (client.Project, error) {
	abs, _ := filepath.Abs(name) // a name that is no path matches none
	var found []client.Project
	for _, it := range items {
		if it.Namespace == name || it.ProjectPath != "" && it.ProjectPath == abs || len(name) >= 4 && strings.HasPrefix(projectID(it.Namespace), name) {
			found = append(found, it)
		}
	}
	if len(found) != 1 {
		return client.Project{}, fmt.Errorf("%d projects are meant by %q; name one as it is in: kiro-learn projects list", len(found), name)
	}
	return found[0], nil
}
