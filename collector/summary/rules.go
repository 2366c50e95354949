package summary

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kiro-learn/collector/extract"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// Outline is what rules make of a session's events, without a model: one intent for each goal that its prompts tell
// apart. It claims nothing that the events do not show: a goal is completed only when its question was answered, or when
// tests or a build passed after its last change and nothing was said to be left; steps are listed only where they were
// stated. It is always there, whether or not the feature is switched on, since it costs nothing and is kept nowhere. A
// *Declined says that there is no such session.
func (m *Maker) Outline(ctx context.Context, namespace, id string) (View, error) {
	s, err := m.session(ctx, namespace, id)
	if err != nil {
		return View{}, err
	}
	t, deeds, err := m.read(ctx, &s)
	if err != nil {
		return View{}, err
	}
	v := View{Enabled: true, UserTurns: t.count, LastActivity: s.LastEvent, GenerateState: GenerateReady}
	if t.count < m.o.Config.MinUserTurns {
		v.GenerateState = GenerateTooFew
	}
	v.Doc = outline(&t, deeds)
	v.Intents = v.Intents[:min(len(v.Intents), m.o.Config.MaxIntents)]
	v.Constraints = v.Constraints[:min(len(v.Constraints), m.o.Config.MaxConstraints)]
	return v, nil
}

// read reads a session's conversation, and what was done for each prompt, by its id. Tool uses, by far the
// largest part, are read one at a time.
func (m *Maker) read(ctx context.Context, s *store.Session) (t talk, deeds map[string][]extract.Deed, err error) {
	deeds = map[string][]extract.Deed{}
	var said []event.Event
	open := ""
	err = m.o.Store.EachEvent(ctx, s.Namespace, s.SessionID, func(e event.Event) bool {
		switch e.Kind {
		case event.KindPrompt:
			open = e.EventID
			said = append(said, e)
		case event.KindSessionSummary:
			said = append(said, e)
		case event.KindToolUse:
			if d, ok := extract.DeedOf(&e); ok {
				parent := e.ParentEventID
				if parent == "" {
					parent = open
				}
				deeds[parent] = append(deeds[parent], d)
			}
		}
		return true
	})
	return talkOf(said, madeIn(m.o.Made, s.SessionID)), deeds, err
}

// goal is an intent that is being put together.
type goal struct {
	title     string
	first     string
	words     map[string]bool
	files     []string
	turns     []int
	question  bool
	abandoned bool
	deeds     []extract.Deed
	answers   []reply  // of its turns, the last one last
	open      bool     // its last turn has not ended
	unmet     bool     // its last request led to nothing that was seen
	several   bool     // more than one thing was asked for at once
	asks      []string // what its prompts asked for, beside the title
	notes     []string // what else is known of it
	earlier   bool     // of an earlier batch; nothing of it is told again
}

// reply is an answer, and how many deeds of the goal stood before it.
type reply struct {
	text  string
	deeds int
}

// act is a deed and the goal that it was done for.
type act struct {
	extract.Deed
	by *goal
}

// outliner sorts turns into goals.
type outliner struct {
	goals   []*goal
	log     []act         // all that was done, in order
	of      map[int]*goal // the goal that a turn was about in the end
	current *goal
	rules   []string
}

func outline(t *talk, deeds map[string][]extract.Deed) Doc {
	o := outliner{of: map[int]*goal{}}
	for i := range t.turns {
		v := &t.turns[i]
		if v.automatic { // what was done for a notice belongs to what was being done
			if o.current != nil {
				o.did(o.current, deeds[v.id])
			}
			continue
		}
		o.turn(v, deeds[v.id])
	}
	d := Doc{Intents: []Intent{}, Constraints: orEmpty(o.rules)}
	for _, g := range o.goals {
		d.Intents = append(d.Intents, g.intent(o.log))
	}
	sorted(d.Intents)
	return d
}

// turn finds the goal of one of the person's turns.
func (o *outliner) turn(v *turn, deeds []extract.Deed) {
	a := extract.AskOf(v.prompt)
	o.constraints(&a)
	if v.repeat > 0 {
		if g := o.of[v.repeat]; g != nil {
			o.join(g, v, deeds)
		}
		return
	}
	if back, rest := retraction(a.Sentences); back != "" {
		g := o.meant(back)
		if g != nil {
			g.abandoned = true
			g.touch(v.n)
			if o.current == g {
				o.current = nil
			}
		}
		if a = extract.AskOf(rest); !a.Plain {
			if g != nil { // what is done now undoes it
				o.add(g, v, deeds)
			}
			o.of[v.n] = g
			return
		}
	}
	words := extract.KeyWords(a.Title + " " + strings.Join(a.Sentences[:min(len(a.Sentences), 6)], " "))
	g := o.match(&a, words, wrote(deeds))
	if g == nil && a.Title != "" {
		g = &goal{title: a.Title, first: strings.Join(a.Sentences[:min(len(a.Sentences), 3)], " "), words: map[string]bool{}, question: a.Question}
		o.goals = append(o.goals, g)
	}
	if g == nil {
		return // a greeting before anything was asked
	}
	if a.Plain {
		g.abandoned = false // asked for again: the later word wins
	}
	for w := range words {
		g.words[w] = true
	}
	if a.Title != "" && (g.earlier || a.Title != g.title) {
		g.asks = append(g.asks, a.Title)
	}
	g.question = g.question && (a.Question || a.Title == "")
	if a.Plain && !a.Question {
		g.unmet, g.several = len(deeds) == 0, g.several || wishes(a.Sentences) > 1
	}
	if a.Title == "" && len(deeds) == 0 {
		thanks := *v // what is said to thanks answers nothing
		thanks.answers = nil
		v = &thanks
	}
	o.join(g, v, deeds)
}

func (o *outliner) join(g *goal, v *turn, deeds []extract.Deed) {
	g.touch(v.n)
	o.add(g, v, deeds)
	o.of[v.n], o.current = g, g
}

func (g *goal) touch(n int) {
	if !slices.Contains(g.turns, n) {
		g.turns = append(g.turns, n)
	}
}

func (o *outliner) add(g *goal, v *turn, deeds []extract.Deed) {
	o.did(g, deeds)
	for _, a := range v.answers {
		g.answers = append(g.answers, reply{a, len(g.deeds)})
	}
	g.open = !v.ended
}

func (o *outliner) did(g *goal, deeds []extract.Deed) {
	g.deeds = append(g.deeds, deeds...)
	for _, d := range deeds {
		o.log = append(o.log, act{d, g})
	}
	for _, f := range wrote(deeds) {
		if !slices.Contains(g.files, f) {
			g.files = append(g.files, f)
		}
	}
}

func wrote(deeds []extract.Deed) []string {
	var out []string
	for i := range deeds {
		out = append(out, deeds[i].Wrote...)
	}
	return out
}

// match finds the goal that a prompt goes on with; nil when it begins a new one.
func (o *outliner) match(a *extract.Ask, words map[string]bool, files []string) *goal {
	if a.Title == "" || a.RefersBack && len(words) < 4 || followUp(a) {
		return o.current
	}
	var best *goal
	bestScore := 0.0
	for _, g := range o.goals {
		both := shared(words, g.words)
		near := float64(both) / float64(max(1, min(len(words), len(g.words))))
		same := 0
		for _, f := range files {
			if slices.Contains(g.files, f) {
				same++
			}
		}
		overlap := float64(same) / float64(max(1, min(len(files), len(g.files))))
		if both >= 3 && near >= 0.5 || both >= 2 && near > 0.6 || both == len(words) && both > 0 && near >= 0.5 || both >= 1 && near >= 0.25 && overlap >= 0.5 {
			if score := near + overlap; score >= bestScore { // of equals the later one
				best, bestScore = g, score
			}
		}
	}
	return best
}

func shared(a, b map[string]bool) int {
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// wishes counts the sentences that ask for something to be done: what is seen to be done need not be all of them.
func wishes(sentences []string) int {
	n := 0
	for _, s := range sentences[:min(len(sentences), 16)] {
		if a := extract.AskOf(s); a.Plain && !a.Question && a.Title != "" {
			n++
		}
	}
	return n
}

// followUp tells a remark about what was just done from a request of its own.
func followUp(a *extract.Ask) bool {
	if len(a.Sentences) == 0 {
		return false
	}
	low := strings.ToLower(a.Sentences[0])
	for _, p := range []string{"it ", "it's ", "that ", "that's ", "this ", "still ", "same ", "again", "no, ", "nope", "hmm", "almost", "not quite", "yes, ", "yes please"} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

// constraints collects the standing rules of a prompt. Where two speak of the same, the later one stands.
func (o *outliner) constraints(a *extract.Ask) {
	for i, s := range a.Sentences {
		low := " " + strings.ToLower(s)
		standing := slices.ContainsFunc([]string{" never ", " always ", " from now on", " must ", " must not ", " don't ever ", " do not ever "}, func(w string) bool { return strings.Contains(low, w) })
		if !standing || !a.Decided[i] || takesBack(s) {
			continue
		}
		words := extract.KeyWords(s)
		o.rules = slices.DeleteFunc(o.rules, func(old string) bool {
			was := extract.KeyWords(old)
			return 2*shared(words, was) > len(words) && 2*shared(words, was) > len(was)
		})
		o.rules = append(o.rules, event.CutChars(s, lineChars))
	}
}

// intent says of a goal what its events show.
func (g *goal) intent(log []act) Intent {
	in := Intent{Title: event.CutChars(g.title, titleChars), Ranges: stretches(g.turns), Status: statusActive, Progress: []string{}, NextSteps: []Step{}}
	first := g.turns[0]
	in.OriginTurn = &first
	in.InitialIntent = event.CutChars(g.first, 300)
	var proof []string
	in.Verified, proof = g.checked(log)
	in.NextSteps = g.steps()
	if len(g.files) > 0 {
		in.Progress = append(in.Progress, "changed "+some(g.files, 6))
	}
	in.Progress = append(in.Progress, proof...)
	answer := extract.Sentences(g.lastAnswer())
	if len(answer) > 0 {
		who := "the agent said: "
		if g.question && len(g.files) == 0 {
			who = "answered: "
		}
		in.Progress = append(in.Progress, event.CutChars(who+answer[0], lineChars))
		if asked := answer[len(answer)-1]; len(answer) > 1 && strings.HasSuffix(asked, "?") && !offer(strings.TrimSuffix(asked, "?")) && !g.abandoned {
			in.Progress = append(in.Progress, event.CutChars("the agent asked: "+asked, lineChars))
		}
	}
	switch {
	case g.abandoned:
		in.Status, in.Verified, in.NextSteps = statusAbandoned, nil, []Step{}
	case g.open || g.unmet || g.several || len(in.NextSteps) > 0 || unfinished(answer):
	case g.question && len(answer) > 0 && len(g.files) == 0 && !evades(answer):
		in.Status = statusCompleted
	case in.Verified != nil && *in.Verified, g.ran():
		in.Status = statusCompleted
	}
	in.settle()
	return in
}

// ran tells whether all that was asked for was to run something, and it ran and did not fail.
func (g *goal) ran() bool {
	verb, _, _ := strings.Cut(strings.ToLower(g.title), " ")
	git := slices.Contains([]string{"commit", "push", "merge", "tag"}, verb)
	if !git && verb != "run" && verb != "rerun" || len(g.files) > 0 || len(g.asks) > 0 {
		return false
	}
	done, meant := false, false
	for i := range g.deeds {
		if d := &g.deeds[i]; d.Command != "" {
			done = d.Known && !d.Failed // the last one counts
			meant = meant || done && (!git || strings.Contains(d.Command, "git "+verb))
		}
	}
	return done && meant
}

func (g *goal) lastAnswer() string {
	if n := len(g.answers); n > 0 {
		return g.answers[n-1].text
	}
	return ""
}

// steps are those of the last answer that states any, unless something was done after it: then they may be done.
func (g *goal) steps() []Step {
	for i := len(g.answers) - 1; i >= 0 && g.answers[i].deeds == len(g.deeds); i-- {
		if s := stated(g.answers[i].text); len(s) > 0 {
			return s
		}
	}
	return []Step{}
}

// changed is the place in a session's log of the last change of what a goal changed, by whatever goal, or of what may have
// changed it; -1 where nothing was changed for it.
func (g *goal) changed(log []act) int {
	at := -1
	for i := range log {
		a := &log[i]
		ours := a.by == g && (len(a.Wrote) > 0 || a.Alters)
		if ours || slices.ContainsFunc(a.Wrote, func(f string) bool { return slices.Contains(g.files, f) }) {
			at = i
		}
	}
	return at
}

// checked tells what the tests and builds after the last change showed; nil when nothing was changed, or none ran. What was
// run for another goal counts where it runs again what was run for this one.
func (g *goal) checked(log []act) (verdict *bool, proof []string) {
	at := g.changed(log)
	if at < 0 {
		return nil, nil
	}
	var now ledger
	for i := range log[at+1:] {
		a := &log[at+1+i]
		for _, c := range a.Checks {
			now.enter(c, a.Command, a.by == g)
		}
	}
	switch verdict = now.verdict(); {
	case verdict == nil && now.doubt != "":
		proof = append(proof, fmt.Sprintf("`%s` passed after the last change, and `%s` failed since in other work", now.passed, now.doubt))
	case verdict == nil && len(log[at].Wrote) == 0 && log[at].Command != "":
		proof = append(proof, fmt.Sprintf("not checked by a test or build since `%s`", log[at].Command))
	case verdict == nil:
		proof = append(proof, "not checked by a test or build since the last change")
	case *verdict && now.shaky:
		proof = append(proof, fmt.Sprintf("`%s` passed after the last change, having failed before without a change in between", now.passed))
	case *verdict:
		proof = append(proof, fmt.Sprintf("`%s` passed after the last change", now.passed))
	default:
		proof = append(proof, fmt.Sprintf("`%s` failed after the last change", now.failed()))
	}
	for i := range slices.Backward(g.deeds) {
		if d := &g.deeds[i]; !d.Failed && (strings.HasPrefix(d.Command, "git commit") || strings.HasPrefix(d.Command, "git merge") || strings.HasPrefix(d.Command, "git push")) {
			return verdict, append(proof, "ran `"+d.Command+"`")
		}
	}
	return verdict, proof
}

// ledger keeps the latest end of each check.
type ledger struct {
	entries []entry
	passed  string // the last command that did
	doubt   string // a command that failed since for another goal, and ran more
	shaky   bool   // one passed that had failed, and nothing was changed in between
}

type entry struct {
	extract.Check
	command string
}

// enter notes how a check ended. A run that covers an earlier one takes its place; one that is not the goal's own is
// noted only then.
func (l *ledger) enter(c extract.Check, command string, own bool) {
	covered := func(e entry) bool { return c.Covers(e.Check) }
	was := slices.ContainsFunc(l.entries, covered)
	if !was && !own {
		return
	}
	same := func(e entry) bool { return e.Name() == c.Name() }
	if c.Failed && !own && !slices.ContainsFunc(l.entries, same) { // more was run, and it need not be ours that failed
		l.doubt = command
		return
	}
	if c.Failed {
		l.entries = slices.DeleteFunc(l.entries, same)
	} else {
		l.doubt = ""
		l.shaky = l.shaky || slices.ContainsFunc(l.entries, func(e entry) bool { return e.Failed && covered(e) })
		l.entries = slices.DeleteFunc(l.entries, covered)
		l.passed = command
	}
	l.entries = append(l.entries, entry{c, command})
}

// verdict is nil where nothing was checked or it is in doubt, false where something failed last.
func (l *ledger) verdict() *bool {
	if len(l.entries) == 0 {
		return nil
	}
	well := l.failed() == ""
	if well && l.doubt != "" {
		return nil
	}
	return &well
}

func (l *ledger) failed() string {
	for _, e := range slices.Backward(l.entries) {
		if e.Failed {
			return e.command
		}
	}
	return ""
}

// stretches joins neighbouring turns.
func stretches(turns []int) [][2]int {
	slices.Sort(turns)
	out := [][2]int{}
	for _, n := range turns {
		if k := len(out) - 1; k >= 0 && out[k][1]+1 == n {
			out[k][1] = n
			continue
		}
		out = append(out, [2]int{n, n})
	}
	return out
}

func some(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
