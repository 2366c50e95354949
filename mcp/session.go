package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// errNoSession tells a model that a session is not there.
var errNoSession = errors.New("there is no such session in this project's memory; without session_id, it is the latest one before this conversation")

// session gives the session with an id, or the only one whose id begins so. Without one it is the latest that was there before this server: what has begun
// since is most likely the conversation that the model is in. Where there is no other, it is that.
func (s *server) session(ctx context.Context, namespace, id string) (client.Session, error) {
	if id != "" {
		v, err := s.agent().Session(ctx, namespace, id)
		if errors.Is(err, client.ErrNoSession) {
			err = errNoSession
		}
		return v, err
	}
	all, err := s.agent().Sessions(ctx, namespace, 100)
	switch {
	case err != nil:
		return client.Session{}, err
	case len(all) == 0:
		return client.Session{}, errNoSession
	}
	for _, v := range all {
		if v.Started.Before(s.begun) {
			return v, nil
		}
	}
	return all[0], nil
}

// noSession tells whether an error says, for the model, that no session or more than one is meant.
func noSession(err error) bool {
	var many *client.ManySessions
	return errors.Is(err, errNoSession) || errors.As(err, &many)
}

func sessionTool() tool {
	return tool{
		name: "session_summary", title: "Where a session stood",
		about: "Show where a session of this project stood: what the user wanted of it, what was true of each wish at its end, what still needs the user, what comes next, the rules that the user laid down; then its saved summaries and last turns. " +
			"Use it when you go on with earlier work, or when the user asks what was done last time.",
		args: []arg{{name: "session_id", kind: textArg, max: maxID, about: "The session, or the beginning of its id where no other begins so; without it, the latest one before this conversation."}},
		output: object([]string{"session_id", "title", "state", "made_by", "stale", "intents", "constraints", "needs_you", "next_steps", "summaries", "turns"}, map[string]any{
			"session_id": text("the session"), "title": text("its first prompt"),
			"state":       map[string]any{"type": "string", "enum": append(client.States(), ""), "description": "that of the intent that asks for most attention"},
			"made_by":     map[string]any{"type": "string", "enum": []string{byModel, byRules}, "description": "who made the intents: a language model, or rules from the events alone"},
			"stale":       map[string]any{"type": "boolean", "description": "true: the session went on after the intents were made"},
			"intents":     list(intentSchema()),
			"constraints": list(text("a rule that the user laid down in it")),
			"needs_you":   list(text("what needs the user")),
			"next_steps":  list(text("what was left to do")),
			"full_record": text("the id of the record about the whole session, for get_memory; absent where there is none"),
			"summaries":   list(recordSchema()), "turns": list(momentSchema()),
		}),
		run: (*server).sessionSummary,
	}
}

const (
	byModel = "model"
	byRules = "rules"
)

func intentSchema() map[string]any {
	return object([]string{"title", "state", "verified", "initial_intent", "progress", "next_steps"}, map[string]any{
		"title": text("what the user wanted"), "state": map[string]any{"type": "string", "enum": client.States()},
		"verified":       map[string]any{"type": []string{"boolean", "null"}, "description": "whether it was seen to work after the last change; null: not known"},
		"initial_intent": text("what was wanted at first, and why"), "progress": list(text("what was true of it")),
		"next_steps": list(object([]string{"what", "why", "expect"}, map[string]any{"what": text("what is left"), "why": text("why"), "expect": text("what shows that it is done")})),
	})
}

const (
	summaryRecords = 5
	summaryEvents  = 60 // that are looked through for turns
)

// sessionState is what is known of where a session stood.
type sessionState struct {
	session   client.Session
	stands    client.Summary
	byRules   bool
	full      string // the id of the record about all of it
	summaries []client.Record
	turns     []client.Moment
}

func (s *server) state(ctx context.Context, namespace, id string) (st sessionState, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		st, err = s.readState(ctx, namespace, id)
		return err
	})
	if err == nil || noSession(err) {
		return st, err
	}
	return st, s.explain("read the session", err)
}

func (s *server) readState(ctx context.Context, namespace, id string) (st sessionState, err error) {
	if st.session, err = s.session(ctx, namespace, id); err != nil {
		return st, err
	}
	id = st.session.SessionID
	if st.stands, st.byRules, err = s.agent().Stands(ctx, namespace, id); err != nil && !isNotFound(err) {
		return st, err
	}
	full, ok, err := s.agent().FullSession(ctx, namespace, id)
	if err != nil {
		return st, err
	}
	if ok {
		st.full = full.RecordID
	}
	if st.summaries, err = s.agent().Records(ctx, namespace, id, summaryRecords, event.TypeSessionSummary); err != nil {
		return st, err
	}
	moments, err := s.agent().Latest(ctx, namespace, id, summaryEvents)
	st.turns = []client.Moment{}
	for _, m := range moments {
		if m.Text != "" && (m.Kind == string(event.KindPrompt) || m.Kind == string(event.KindSessionSummary)) {
			st.turns = append(st.turns, m)
		}
	}
	return st, err
}

func (st *sessionState) text() string {
	var b strings.Builder
	v := &st.session
	fmt.Fprintf(&b, "Session %s", v.SessionID)
	if v.Title != "" {
		fmt.Fprintf(&b, ": %s", v.Title)
	}
	fmt.Fprintf(&b, "\n%s to %s, %s, %s. What follows is quoted from the past. %s\n", v.Started.Local().Format("2006-01-02 15:04"), v.LastEvent.Local().Format("2006-01-02 15:04"), many(v.Prompts, "prompt"), many(v.Records, "record"), past)
	st.writeIntents(&b)
	if len(st.summaries) > 0 {
		b.WriteString("\nSummaries, the latest first:\n")
		for i := range st.summaries {
			writeRecord(&b, &st.summaries[i], i == 0)
		}
	}
	if len(st.turns) > 0 {
		b.WriteString("\nIts last turns:\n")
		writeMoments(&b, st.turns, "")
	}
	if len(st.summaries) == 0 && len(st.turns) == 0 {
		b.WriteString("\nNothing is left of what was said in it.\n")
	}
	if st.full != "" {
		fmt.Fprintf(&b, "\nThe whole session, topic by topic: get_memory %s\n", st.full)
	}
	return b.String()
}

// stateWords say what a state means.
func stateWords() map[string]string {
	return map[string]string{"needs-you": "needs the user", "in-progress": "in progress", "done": "done", "dropped": "dropped"}
}

// writeIntents writes what was wanted and where it stood, what asks for most attention first.
func (st *sessionState) writeIntents(b *strings.Builder) {
	s := &st.stands
	if len(s.Intents) == 0 {
		return
	}
	how := "by rules, from its events alone"
	if !st.byRules {
		how = "as a language model read it"
	}
	if s.Stale {
		how += ", before its last turns"
	}
	fmt.Fprintf(b, "\nWhere it stood (%s): %s\n", how, stateWords()[s.State()])
	for _, state := range client.States() {
		for i := range s.Intents {
			if in := &s.Intents[i]; in.State == state {
				writeIntent(b, in)
			}
		}
	}
	for i, c := range s.Constraints {
		if i == 0 {
			b.WriteString("Rules that the user laid down in it:\n")
		}
		fmt.Fprintf(b, "- %s\n", c)
	}
}

func writeIntent(b *strings.Builder, in *client.Intent) {
	fmt.Fprintf(b, "- %s [%s]\n", in.Title, stateWords()[in.State])
	part := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "  %s: %s\n", name, text)
		}
	}
	if in.InitialIntent != in.Title {
		part("wanted", in.InitialIntent)
	}
	part("then true", strings.Join(in.Progress, "; "))
	switch {
	case in.State == "needs-you":
		part("needs the user", notSeen)
	case in.Verified != nil && *in.Verified:
		part("checked", "yes, after the last change")
	case in.Verified != nil:
		part("checked", "no: it failed, or was not seen to work, after the last change")
	}
	for _, s := range in.NextSteps {
		part("next", s.Text())
	}
}

const notSeen = "it was said to be done, and nobody had seen it work since the last change"

// needs are what needs the user, and next what was left to do, a line each.
func (st *sessionState) needs() (needs, next []string) {
	needs, next = []string{}, []string{}
	for i := range st.stands.Intents {
		in := &st.stands.Intents[i]
		if in.State == "needs-you" {
			needs = append(needs, in.Title+": "+notSeen)
		}
		if in.State != "needs-you" && in.State != "in-progress" {
			continue
		}
		for _, s := range in.NextSteps {
			next = append(next, s.Text())
		}
	}
	return needs, next
}

func (s *server) sessionSummary(ctx context.Context, c *call) (answer, error) {
	st, err := s.state(ctx, c.origin.Namespace, c.texts["session_id"])
	if err != nil {
		return answer{}, err
	}
	needs, next := st.needs()
	made := byModel
	if st.byRules {
		made = byRules
	}
	data := map[string]any{
		"session_id": st.session.SessionID, "title": st.session.Title, "state": st.stands.State(), "made_by": made, "stale": st.stands.Stale,
		"intents": orEmpty(st.stands.Intents), "constraints": orEmpty(st.stands.Constraints), "needs_you": needs, "next_steps": next,
		"summaries": shown(st.summaries), "turns": st.turns,
	}
	if st.full != "" {
		data["full_record"] = st.full
	}
	return answer{text: st.text(), data: data}, nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
