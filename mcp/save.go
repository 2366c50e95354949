package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"kiro-learn/collector/client"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

const (
	lockWait   = 100 * time.Millisecond // for the files that are shared with the hooks
	outboxWait = 200 * time.Millisecond
	leftTime   = 200 * time.Millisecond // for the collector to take a record whose client has left
	via        = "mcp"                  // how our events name their registration
)

func savedSchema() map[string]any {
	return object([]string{"record_id", "queued"}, map[string]any{
		"record_id": text("the record's id"),
		"queued":    map[string]any{"type": "boolean", "description": "true: it is safe on disk and is stored when the collector can be reached"},
	})
}

func observationTool() tool {
	return tool{
		name: "save_observation", title: "Save an observation",
		about: "Save one thing that a later session in this project should know and could not see from the code: why a decision was made and what was rejected, what an error really was and how it was mended, how something unexpected behaves, a pattern that the project follows. " +
			"One thing a call; say it so that it can be understood without this conversation. Do not save what the code or its history says, what is only true today, or secrets. Text in <private> tags and secrets are taken out.",
		writes: true,
		args: []arg{
			{name: "title", kind: textArg, required: true, max: event.MaxTitle, about: "What it is about, in one line that somebody would search for."},
			{name: "summary", kind: textArg, required: true, max: event.MaxSummary, about: "What is to be known, and why it is so."},
			{name: "observation_type", kind: choiceArg, required: true, choices: kinds(), about: "tool_use: how a tool or command is used here; decision: a choice and its reason; error: a fault and its cause or remedy; discovery: how something works; pattern: a way things are done here."},
			{name: "concepts", kind: listArg, max: event.MaxConcept, entries: 50, about: "Key words to find it by."},
			{name: "files_touched", kind: listArg, max: event.MaxFile, entries: 100, about: "Paths of the files it is about, relative to the project's root."},
			{name: "facts", kind: listArg, max: event.MaxFact, entries: 50, about: "Single facts, each in a sentence of its own: names, values, versions, commands."},
		},
		output: savedSchema(),
		run: func(s *server, ctx context.Context, c *call) (answer, error) {
			return s.save(ctx, c, "observation", event.Record{
				Strategy: event.StrategyMCPObservation, Title: c.texts["title"], Summary: c.texts["summary"], ObservationType: c.texts["observation_type"],
				Concepts: c.lists["concepts"], FilesTouched: c.lists["files_touched"], Facts: c.lists["facts"],
			})
		},
	}
}

// sections are the parts of a session summary, in their order: what is cut goes from the bottom.
func sections() []struct{ heading, arg string } {
	return []struct{ heading, arg string }{
		{"What was investigated", "investigated"}, {"What was learned", "learned"}, {"What was completed", "completed"}, {"Next steps", "next_steps"},
	}
}

func summaryTool() tool {
	return tool{
		name: "save_session_summary", title: "Save a summary of this session",
		about: "Save where the work stands, for the session that goes on with it. Call it when a piece of work is done, when it is left unfinished, and before the conversation ends. " +
			"Write what somebody needs who knows the project and not this conversation. Text in <private> tags and secrets are taken out.",
		writes: true,
		args: []arg{
			{name: "request", kind: textArg, required: true, about: "What the user wanted, in a sentence; its first 200 characters become the title."},
			{name: "investigated", kind: textArg, required: true, empty: true, about: "What was looked into, and where."},
			{name: "learned", kind: textArg, required: true, empty: true, about: "What was found out: causes, constraints, decisions and their reasons."},
			{name: "completed", kind: textArg, required: true, empty: true, about: "What is done, and whether it was verified."},
			{name: "next_steps", kind: textArg, required: true, empty: true, about: "What is still to be done, the next thing first; empty if nothing is."},
			{name: "files_read", kind: listArg, required: true, max: event.MaxFile, entries: 500, about: "Paths of the files that were read and mattered."},
			{name: "files_modified", kind: listArg, required: true, max: event.MaxFile, entries: 500, about: "Paths of the files that were changed."},
		},
		output: savedSchema(),
		run: func(s *server, ctx context.Context, c *call) (answer, error) {
			return s.save(ctx, c, "turn summary", event.Record{
				Strategy: event.StrategyMCPSessionSummary, Title: firstChars(c.texts["request"], event.MaxTitle), Summary: summary(c.texts),
				ObservationType: event.TypeSessionSummary, FilesTouched: append(c.lists["files_read"], c.lists["files_modified"]...),
			})
		},
	}
}

// summary is the text of a session summary: Markdown sections, whole ones left out from the bottom until it fits. The
// first one alone is cut if it must be.
func summary(texts map[string]string) string {
	var parts []string
	for _, sec := range sections() {
		body := texts[sec.arg]
		if body == "" {
			body = "None."
		}
		parts = append(parts, "## "+sec.heading+"\n\n"+body)
	}
	for len(parts) > 1 && utf8.RuneCountInString(strings.Join(parts, "\n\n")) > event.MaxSummary {
		parts = parts[:len(parts)-1]
	}
	return event.CutChars(strings.Join(parts, "\n\n"), event.MaxSummary)
}

// firstChars is the first n characters of s.
func firstChars(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// save makes a record durable: with the collector, or else in the outbox. Either way it travels in a note, so that what
// is delivered twice is stored once. what names it in the answer.
func (s *server) save(ctx context.Context, c *call, what string, r event.Record) (answer, error) {
	s.count(1)
	defer func() {
		s.count(-1)
		select {
		case s.saved <- struct{}{}:
		default:
		}
	}()
	if why := s.off(&c.origin); why != "" {
		return answer{}, fmt.Errorf("the %s was not saved: %s", what, why)
	}
	e := c.origin
	now := s.o.Now()
	e.EventID, e.SessionID, e.Kind = s.ids.Next(lockWait), s.sessionOf(&e), event.KindNote
	e.ValidTime = now.Format("2006-01-02T15:04:05.000Z07:00")
	r.RecordID, r.Namespace, r.SourceEventIDs, r.CreatedAt = "mr_"+s.ids.Next(lockWait), e.Namespace, []string{e.EventID}, e.ValidTime
	r.Fit()
	body, err := noteBody(c, &r)
	if err != nil {
		return answer{}, fmt.Errorf("the %s was not saved: %w", what, err)
	}
	e.Body, e.ContentHash = body, event.Hash(body)
	e.Firing = &event.Firing{Via: via, From: now.UnixMicro(), To: now.UnixMicro()}
	queued, err := s.deliver(ctx, &e, &r)
	if err != nil {
		return answer{}, fmt.Errorf("the %s was not saved: %w", what, err)
	}
	a := answer{text: fmt.Sprintf("Saved %s %s", what, r.RecordID), data: map[string]any{"record_id": r.RecordID, "queued": queued}}
	if queued {
		a.text = fmt.Sprintf("Queued %s %s: the collector cannot be reached, so it waits on disk and is stored when it can. There is nothing more to do.", what, r.RecordID)
	}
	return a, nil
}

// noteBody is the body of the note that a record travels in. The arguments stay with it, for what a record has no room
// for, unless they are too long.
func noteBody(c *call, r *event.Record) ([]byte, error) {
	for _, args := range []json.RawMessage{c.raw, nil} {
		data, err := json.Marshal(event.Saved{Tool: c.tool, Arguments: args, Record: r})
		if err != nil {
			return nil, fmt.Errorf("encode the record: %w", err)
		}
		if body := event.JSONBody(data); len(body) <= event.MaxHookBody {
			return body, nil
		}
	}
	return nil, errors.New("it is too long: name fewer files")
}

// off says why nothing is to be remembered here; "" where it is.
func (s *server) off(origin *event.Event) string {
	switch {
	case config.Disabled(s.o.Getenv) || !s.o.Config.Enabled:
		return "the user has switched kiro-learn off"
	case s.o.Getenv("KIRO_LEARN_CHILD") != "":
		return "this agent works for kiro-learn itself"
	case config.ProjectProblem(origin.Source.ProjectPath) != "":
		return "kiro-learn is off in this project, because its .kiro/kiro-learn.json cannot be read: see kiro-learn doctor"
	case !config.ProjectEnabled(origin.Source.ProjectPath):
		return "the user has switched kiro-learn off in this project, in .kiro/kiro-learn.json"
	}
	return ""
}

// deliver hands a note over, to the collector or to the outbox, and tells whether it was queued. A client that has left
// or changed its mind does not take it back, but then the collector gets little time.
func (s *server) deliver(ctx context.Context, e *event.Event, r *event.Record) (queued bool, err error) {
	data := e.AppendJSON(nil)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.left:
			time.AfterFunc(leftTime, cancel)
		case <-ctx.Done():
		}
	}()
	err = s.ask(ctx, func(ctx context.Context) error {
		if _, err := s.client.PostEvent(ctx, data, false); err != nil || !s.client.Remote() {
			return err
		}
		// A collector elsewhere may be another program, that makes no record of a note.
		return s.client.Call(ctx, "POST", "/v1/memories", r, nil)
	})
	if err == nil {
		return false, nil
	}
	var status *client.StatusError
	if errors.As(err, &status) && status.Status >= 400 && status.Status < 500 {
		return false, fmt.Errorf("the collector refused it: %s", status.Text)
	}
	s.o.Log.Warn("the collector did not take a record; it waits in the outbox", err)
	if err := s.queue.Append(e.EventID, data, outboxWait); err != nil {
		s.o.Log.Error("the outbox did not take a record", err)
		return false, errors.New("the collector cannot be reached and the disk did not take it either; the user can run: kiro-learn doctor")
	}
	if !s.client.Remote() {
		_ = s.client.Nudge() // it may have come back meanwhile; it looks by itself too
	}
	return true, nil
}

func forgetTool() tool {
	return tool{
		name: "forget_memory", title: "Forget a memory record",
		about: "Take one memory record out of memory, with the events it was made of. Use it only when the user asks for it, or agrees that the record is wrong or must not be kept. " +
			"The user can bring it back for some days; the answer says how.",
		writes: true, destroys: true,
		args: []arg{{name: "record_id", kind: textArg, required: true, max: maxID, about: "The record's id, as search_memory gives it: mr_ and 26 characters."}},
		output: object([]string{"record_id", "records", "events", "undo", "until"}, map[string]any{
			"record_id": text("the record that is forgotten"),
			"records":   map[string]any{"type": "integer", "description": "how many records went"},
			"events":    map[string]any{"type": "integer", "description": "how many events went with them"},
			"undo":      map[string]any{"type": "integer", "description": "the number by which the user can bring it back"},
			"until":     text("until when, ISO 8601"),
		}),
		run: (*server).forget,
	}
}

func (s *server) forget(ctx context.Context, c *call) (answer, error) {
	id := c.texts["record_id"]
	r, _, err := s.record(ctx, c.origin.Namespace, id)
	if err != nil {
		return answer{}, err
	}
	if r.RecordType != "" {
		return answer{}, errors.New("forget_memory was not carried out: this record is about a session as a whole and the session would go with it; the user can do that with: kiro-learn forget --session ID")
	}
	var got client.Forgotten
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		got, err = s.client.Forget(ctx, client.Selection{Records: []string{id}})
		return err
	})
	if err != nil {
		return answer{}, s.explain("forget the record", err)
	}
	return answer{
		text: fmt.Sprintf("Forgotten: %s, with the %s that it was made of. The user can bring it back until %s with: kiro-learn forget --undo %d", id, many(got.Events, "event"), got.Until.Format(time.DateOnly), got.ID),
		data: map[string]any{"record_id": id, "records": got.Records, "events": got.Events, "undo": got.ID, "until": got.Until.Format(time.RFC3339)},
	}, nil
}
