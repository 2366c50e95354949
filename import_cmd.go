package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"kiro-learn/collector/client"
	"kiro-learn/hooks"
	"kiro-learn/internal/event"
)

// Help says what becomes of the projects of an import.
func (importCmd) Help() string {
	return "What comes keeps its project. Where that lies elsewhere here, the import says so; give it its new home with: kiro-learn projects rename PROJECT DIR"
}

// whose is what an import knows of the users and projects that its lines are of.
type whose struct {
	me         string
	asMe, asIs bool
	from       string          // the other user, whose lines are taken over
	mine       bool            // a line of this user came
	came       map[string]bool // namespaces
}

func whoseFor(a *app, asMe, asIs bool) whose {
	me, _, _ := event.SplitNamespace(hooks.Namespace(a.dirs, ""))
	return whose{me: me, asMe: asMe, asIs: asIs, came: map[string]bool{}}
}

// own gives a line as it is to be stored: with --as-me another user's as this one's, since prompts are given only what is of
// their own user. It gives none where it refuses the line. An export that begins with another user's is not touched before
// the person has said which of the two is meant, because what is stored once keeps its owner.
func (in *importer) own(line []byte) ([]byte, error) {
	type place struct {
		Namespace string `json:"namespace"`
	}
	var l struct{ Event, Record place }
	if json.Unmarshal(line, &l) != nil {
		return line, nil // refused where it is stored
	}
	ns, w := l.Event.Namespace+l.Record.Namespace, &in.whose
	who := actorOf(ns)
	switch {
	case who == "" || who == w.me:
		w.mine = w.mine || who != ""
	case w.asMe && w.from != "" && w.from != who:
		in.refuse(in.lines, "it is of yet another user, and --as-me takes over what was one user's")
		return nil, nil
	case w.asMe:
		w.from = who
		w.came[asOf(ns, w.me)] = true
		return takenOver(line, w.me)
	case in.format && !w.mine && !w.asIs:
		return nil, fmt.Errorf("this export is of the user %s, and you are %s, so that no prompt of yours would be given it; nothing was imported: add --as-me to take it over as yours, or --as-is to keep it as it is", safe(who), safe(w.me))
	}
	w.came[ns] = true
	return line, nil
}

// takenOver is a line of an export with another user in it.
func takenOver(line []byte, me string) ([]byte, error) {
	var l client.ExportLine
	if json.Unmarshal(line, &l) != nil {
		return line, nil // refused where it is stored
	}
	if l.Event != nil {
		l.Event.ActorID, l.Event.Namespace = me, asOf(l.Event.Namespace, me)
	}
	if l.Record != nil {
		l.Record.Namespace, l.About = asOf(l.Record.Namespace, me), asOf(l.About, me)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // the body's hash is of its bytes
	if err := enc.Encode(l); err != nil {
		return nil, fmt.Errorf("take over a line: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// actorAt is where the actor stands in a namespace of a project, or of a session's summary, cut at its slashes; 0 where there
// is none.
func actorAt(parts []string) int {
	for _, i := range []int{1, 3} {
		if len(parts) > i+1 && parts[i] == "actor" {
			return i + 1
		}
	}
	return 0
}

func actorOf(ns string) string {
	parts := strings.Split(ns, "/")
	return parts[actorAt(parts)] // before the first slash stands nothing
}

func asOf(ns, actor string) string {
	parts := strings.Split(ns, "/")
	if i := actorAt(parts); i > 0 {
		parts[i] = actor
	}
	return strings.Join(parts, "/")
}

// homelessShown is how many projects without a home an import names.
const homelessShown = 10

// homeless says what was taken over, and names the projects of this user that lie elsewhere here, so that no prompt is given
// what they hold.
func (in *importer) homeless(a *app) error {
	if in.whose.from != "" {
		_, _ = fmt.Fprintf(a.stderr, "What was the user %s's is yours now.\n", safe(in.whose.from))
	}
	items, err := in.cl.Projects(in.ctx)
	if err != nil {
		return err
	}
	var lines []string
	for _, it := range items {
		if !in.whose.came[it.Namespace] || actorOf(it.Namespace) != in.whose.me || a.atHome(it) {
			continue
		}
		name := it.ProjectPath
		if _, err := pick(items, name); name == "" || err != nil {
			name = it.Namespace
		}
		lines = append(lines, fmt.Sprintf("  kiro-learn projects rename %s DIR    (%s)", word(name), many(it.Records, "record")))
	}
	if len(lines) == 0 {
		return nil
	}
	if more := len(lines) - homelessShown; more > 0 {
		lines = append(lines[:homelessShown], fmt.Sprintf("  and %d more; see: kiro-learn projects list", more))
	}
	_, err = fmt.Fprintf(a.stderr, "Some of it is of projects that are not where they were, so that no prompt is given it yet. Say where they are now:\n%s\n", strings.Join(lines, "\n"))
	return err
}

// atHome tells whether work in a project's directory is given what the project holds.
func (a *app) atHome(p client.Project) bool {
	if _, err := os.Stat(p.ProjectPath); err != nil && p.ProjectPath != "" {
		return false
	}
	return p.Namespace == hooks.Namespace(a.dirs, p.ProjectPath)
}

// word is a text as one word of a shell's command line.
func word(s string) string {
	if s = safe(s); strings.ContainsAny(s, " '\"$`\\&;()*?<>|#~!") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
