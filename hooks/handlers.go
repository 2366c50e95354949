package hooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
	"kiro-learn/internal/session"
	"kiro-learn/payload"
	"kiro-learn/truncate"
)

// spawn notes that an agent has started and shows it where the last session stood. Some Kiros fire it for every message,
// so it counts once a session.
func (h *hook) spawn() {
	first := false
	h.states.Update(h.namespace(), h.session, lockWait, func(st *session.State) bool {
		first = st.SpawnSeen == 0
		st.SpawnSeen = h.Begun.UnixMilli()
		return first
	})
	if !first {
		return
	}
	h.keep(h.newEvent(event.KindNote, h.newID(), "", event.TextBody("session started")))
	if h.config.Hooks.SessionDigest {
		h.digest()
		h.losses()
	}
}

// losses tells the user, in one line and once for each hour of losses, that events could not be kept: whoever relies on
// a memory must know where it has a hole.
func (h *hook) losses() {
	st, err := h.queue.Status()
	if err != nil || st.Dropped == 0 || len(st.LastDrop) < len("2006-01-02T15") || !h.log.Once("told of losses at "+st.LastDrop[:len("2006-01-02T15")], 24*365*time.Hour) {
		return
	}
	h.print(fmt.Sprintf("kiro-learn could not keep %d events, the last on %s (%s). Tell the user to run: kiro-learn doctor\n", st.Dropped, st.LastDrop[:len("2006-01-02")], st.DropReason))
}

// prompt keeps what the person asked and prints what is remembered about it.
func (h *hook) prompt() {
	body, mark := h.promptBody()
	if body == nil {
		return
	}
	scrubbed := h.scrub.JSON(body)
	body = truncate.Body(scrubbed, event.MaxHookBody)
	hash, now, again := event.Hash(body), h.Begun.UnixMilli(), false
	st := h.states.Update(h.namespace(), h.session, lockWait, func(st *session.State) bool {
		if again = st.SamePrompt(hash, now) && mark == ""; again {
			return false
		}
		if mark != "" {
			st.PromptMark = mark
		}
		st.PromptID, st.PromptHash, st.PromptTime = h.newID(), hash, now
		return true
	})
	e := h.newEvent(event.KindPrompt, st.PromptID, "", body)
	if len(body) < len(scrubbed) {
		e.Firing.Tail = tail(scrubbed) // the question often stands behind what was pasted
	}
	if again { // the hook is registered in two places: same event, and the other one has the answer
		h.keep(e)
		return
	}
	h.ask(e)
}

// tailBytes is how much of the end of a prompt that had to be cut recall is asked with.
const tailBytes = 4 << 10

// tail is the end of the text of a serialised body.
func tail(body []byte) string {
	b, err := event.ParseBody(body)
	if err != nil {
		return ""
	}
	text := b.Text()
	return strings.ToValidUTF8(text[max(0, len(text)-tailBytes):], "")
}

// promptBody is the body of the prompt; nil where nobody asked anything. mark is set when the prompt had to be read from
// Kiro's own session file, because this build of Kiro sends an empty one.
func (h *hook) promptBody() (body []byte, mark string) {
	p := h.payload
	if len(p.Turns) > 0 {
		return event.MessageBody(p.Turns), ""
	}
	if strings.TrimSpace(p.Prompt) != "" {
		return event.TextBody(p.Prompt), ""
	}
	if p.SessionID == "" || p.IDE0 {
		return nil, ""
	}
	st := h.states.Load(h.namespace(), h.session)
	for end := time.Now().Add(time.Until(h.until) / 4); ; {
		text, mark, ok := h.transcript().LastPrompt(p.SessionID)
		if ok && mark != st.PromptMark && strings.TrimSpace(text) != "" {
			return event.TextBody(text), mark
		}
		if !ok || time.Now().After(end) {
			return nil, ""
		}
		time.Sleep(10 * time.Millisecond) // Kiro may still be writing the line
	}
}

// toolUse keeps one use of a tool.
func (h *hook) toolUse() {
	p := h.payload
	if p.ToolName == "" && p.ToolInput == nil && p.ToolResponse == nil {
		return
	}
	b := append(make([]byte, 0, len(p.ToolInput)+len(p.ToolResponse)+128), `{"tool_name":`...)
	b = rawjson.AppendString(b, orUnknown(p.ToolName))
	b = append(append(b, `,"tool_input":`...), orEmpty(p.ToolInput)...)
	b = append(append(b, `,"tool_response":`...), orEmpty(p.ToolResponse)...)
	body := h.clean(event.JSONBody(append(b, '}')))
	h.keep(h.newEvent(event.KindToolUse, h.newID(), h.parent(), body))
}

func orUnknown(name string) string {
	if name == "" {
		return "unknown"
	}
	return name
}

func orEmpty(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

// stop keeps the answer that ends a turn. Where Kiro does not send it, its session file may hold it; where nothing can be
// read, the end itself is still a fact on the CLI, and says nothing on the IDE.
func (h *hook) stop() {
	p := h.payload
	text, ok := p.Assistant, p.HasAssistant
	if !ok && p.SessionID != "" && !p.IDE0 {
		ctx, cancel := context.WithDeadline(context.Background(), h.until.Add(-time.Until(h.until)/2))
		text, ok = h.transcript().WaitAnswer(ctx, p.SessionID)
		cancel()
	}
	if strings.TrimSpace(text) == "" && p.Surface == event.SurfaceIDE {
		return
	}
	if !ok && p.Hook == payload.Stop && p.CWD == "" && p.SessionID == "" {
		return // nothing was said at all
	}
	h.keep(h.newEvent(event.KindSessionSummary, h.newID(), h.parent(), h.clean(event.TextBody(text))))
}

// parent is the event id of the prompt of the running turn; "" when it is not known.
func (h *hook) parent() string {
	return h.states.Load(h.namespace(), h.session).PromptID
}
