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
	asks      []string // what its prompts asked for, beside the title
	notes     []string // what else is known of it
	earlier   bool     // of an earlier batch; nothing of it is told again
}

// reply is an answer, and how many deeds of the goal stood before it.
type reply struct {
	text  string
	deeds int
}

// outliner sorts turns into goals.
type outliner struct {
	goals   []*goal
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
				o.current.did(deeds[v.id])
			}
			continue
		}
		o.turn(v, deeds[v.id])
	}
	d := Doc{Intents: []Intent{}, Constraints: orEmpty(o.rules)}
	for _, g := range o.goals {
		d.Intents = append(d.Intents, g.intent())
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
				g.add(v, deeds)
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
	if a.Title == "" && len(deeds) == 0 {
		thanks := *v // what is said to thanks answers nothing
		thanks.answers = nil
		v = &thanks
	}
	o.join(g, v, deeds)
}

func (o *outliner) join(g *goal, v *turn, deeds []extract.Deed) {
	g.touch(v.n)
	g.add(v, deeds)
	o.of[v.n], o.current = g, g
}

func (g *goal) touch(n int) {
	if !slices.Contains(g.turns, n) {
		g.turns = append(g.turns, n)
	}
}

func (g *goal) add(v *turn, deeds []extract.Deed) {
	g.did(deeds)
	for _, a := range v.answers {
		g.answers = append(g.answers, reply{a, len(g.deeds)})
	}
	g.open = !v.ended
}

func (g *goal) did(deeds []extract.Deed) {
	g.deeds = append(g.deeds, deeds...)
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

// retraction finds the sentence by which a prompt takes something back, and what it says beside.
func retraction(sentences []string) (back, rest string) {
	var others []string
	for _, s := range sentences {
		if back == "" && takesBack(s) {
			back = s
			if _, after, ok := strings.Cut(s, "; "); ok {
				others = append(others, after)
				back = strings.TrimSuffix(s, "; "+after)
			}
			continue
		}
		others = append(others, s)
	}
	return back, strings.Join(others, " ")
}

func takesBack(s string) bool {
	low := " " + strings.ReplaceAll(strings.ToLower(s), "’", "'")
	if strings.HasSuffix(strings.TrimRight(low, " "), "?") {
		return false
	}
	for _, cue := range []string{
		" never mind", " nevermind", " scrap ", " abandon ", " cancel that", " cancel the", " drop that", " drop it", " drop this",
		" drop the idea", " drop the plan", " skip that", " skip it", " no longer need", " no longer want", " don't need that", " don't want that",
		" changed my mind", " take that back", " i take back", " stop working on", " let's not ", " forget it", " forget that", " forget about",
		" not needed any more", " not needed anymore", " isn't needed any more", " isn't needed anymore", " call it off", " give up on",
	} {
		at := strings.Index(low, cue)
		if at < 0 {
			continue
		}
		before := low[:at]
		if strings.HasSuffix(before, "n't") || strings.HasSuffix(before, " not") || strings.HasSuffix(before, " never") {
			continue
		}
		return true
	}
	return strings.Contains(low, " after all") && (strings.Contains(low, " don't ") || strings.Contains(low, " do not ") || strings.Contains(low, " leave "))
}

// meant is the goal that a retraction speaks of: the one that shares most words with it, or the one being worked on when
// it names none.
func (o *outliner) meant(sentence string) *goal {
	words := extract.KeyWords(sentence)
	var best *goal
	most := 0
	for _, g := range o.goals {
		if n := shared(words, g.words); n > 0 && n >= most && !g.abandoned {
			best, most = g, n
		}
	}
	if best == nil && len(words) <= 3 {
		return o.current
	}
	return best
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
func (g *goal) intent() Intent {
	in := Intent{Title: event.CutChars(g.title, titleChars), Ranges: stretches(g.turns), Status: statusActive, Progress: []string{}, NextSteps: []Step{}}
	first := g.turns[0]
	in.OriginTurn = &first
	in.InitialIntent = event.CutChars(g.first, 300)
	var proof []string
	in.Verified, proof = g.checked()
	in.NextSteps = g.steps()
	if len(g.files) > 0 {
		in.Progress = append(in.Progress, "changed "+some(g.files, 6))
	}
	in.Progress = append(in.Progress, proof...)
	answer := extract.Sentences(g.lastAnswer())
	if len(answer) > 0 {
		who := "the agent said: "
		if g.question {
			who = "answered: "
		}
		in.Progress = append(in.Progress, event.CutChars(who+answer[0], lineChars))
	}
	switch {
	case g.abandoned:
		in.Status, in.Verified, in.NextSteps = statusAbandoned, nil, []Step{}
	case g.open || len(in.NextSteps) > 0 || unfinished(answer):
	case g.question && len(answer) > 0 && len(g.files) == 0:
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
	if !slices.Contains([]string{"commit", "push", "merge", "tag", "run", "rerun"}, verb) || len(g.files) > 0 || len(g.asks) > 0 {
		return false
	}
	done := false
	for i := range g.deeds {
		if d := &g.deeds[i]; d.Command != "" {
			done = d.Known && !d.Failed // the last one counts
		}
	}
	return done
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

// checked tells what the test and build commands after the last change showed; nil when nothing was changed, or none ran.
func (g *goal) checked() (*bool, []string) {
	last, commits := -1, ""
	for i := range g.deeds {
		if len(g.deeds[i].Wrote) > 0 {
			last = i
		}
		if d := &g.deeds[i]; strings.HasPrefix(d.Command, "git commit") || strings.HasPrefix(d.Command, "git merge") || strings.HasPrefix(d.Command, "git push") {
			if !d.Failed {
				commits = d.Command
			}
		}
	}
	if last < 0 {
		return nil, nil
	}
	ended := map[string]bool{} // check → failed
	line := map[bool]string{}
	for i := range g.deeds[last+1:] {
		d := &g.deeds[last+1+i]
		for _, c := range d.Checks {
			if d.Known {
				ended[c] = d.Failed
				line[d.Failed] = d.Command
			}
		}
	}
	var proof []string
	var verdict *bool
	failed := false
	for _, f := range ended {
		failed = failed || f
	}
	switch {
	case len(ended) == 0:
		proof = append(proof, "not checked by a test or build since the last change")
	case failed:
		no := false
		verdict, proof = &no, append(proof, fmt.Sprintf("`%s` failed after the last change", line[true]))
	default:
		yes := true
		verdict, proof = &yes, append(proof, fmt.Sprintf("`%s` passed after the last change", line[false]))
	}
	if commits != "" {
		proof = append(proof, "ran `"+commits+"`")
	}
	return verdict, proof
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
