package summary

import (
	"strings"
	"time"

	"kiro-learn/collector/extract"
	"kiro-learn/internal/event"
)

// openTurn is how long after its last event a turn without an end counts as running.
const openTurn = 10 * time.Minute

// turn is a prompt with its answers. Those of the person are counted; prompts that a program sent in the person's place
// are not.
type turn struct {
	n         int // the person's turns are numbered from 1; 0 for automation
	automatic bool
	repeat    int // the turn of which this prompt is a verbatim copy; 0 for none
	id        string
	prompt    string
	answers   []string
	ended     bool
}

// talk is a session's conversation.
type talk struct {
	turns []turn
	count int // of the person's
}

// madeTexts are prompts that Kiro made itself: its own session file says so.
type madeTexts map[string]bool

func madeIn(read func(session string) []string, session string) madeTexts {
	if read == nil {
		return nil
	}
	out := madeTexts{}
	for _, t := range read(session) {
		out[words(t)] = true
	}
	return out
}

// has tells whether a prompt is one of them, however its lines are broken.
func (m madeTexts) has(e *event.Event) bool { return len(m) > 0 && m[words(textOf(e))] }

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// talkOf reads the prompts and answers of a session, in the order of their ids.
func talkOf(events []event.Event, made madeTexts) talk {
	var t talk
	at := map[string]int{}   // a prompt's id → its turn
	said := map[string]int{} // a prompt's text → the number of the first turn with it
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case event.KindPrompt:
			at[e.EventID] = len(t.turns)
			t.add(e, said, made)
		case event.KindSessionSummary:
			k, ok := at[e.ParentEventID]
			if !ok {
				k = len(t.turns) - 1
			}
			if k < 0 { // its prompt was never seen
				continue
			}
			t.turns[k].ended = true
			if a := strings.TrimSpace(textOf(e)); a != "" {
				t.turns[k].answers = append(t.turns[k].answers, a)
			}
		}
	}
	return t
}

func (t *talk) add(e *event.Event, said map[string]int, made madeTexts) {
	text := extract.Asked(e)
	v := turn{id: e.EventID, prompt: text}
	v.automatic = strings.TrimSpace(text) == "" || automatic(text) || made.has(e)
	if v.automatic && strings.TrimSpace(text) == "" {
		v.prompt = textOf(e)
	}
	if !v.automatic {
		t.count++
		v.n = t.count
		key := words(text)
		if first, ok := said[key]; ok && len(key) > 12 { // "yes" and "go on" are no copies of each other
			v.repeat = first
		} else if !ok {
			said[key] = v.n
		}
	}
	t.turns = append(t.turns, v)
}

// running tells whether the last turn has not ended yet: it has no end, and its last event is not ten minutes old.
func (t *talk) running(last, now time.Time) bool {
	n := len(t.turns)
	return n > 0 && !t.turns[n-1].ended && now.Sub(last) < openTurn
}

// stopReason is why the last turn ended, where it did not end by itself: "empty" when it has no answer although others
// in the session have one; "" when there is nothing to say against it.
func (t *talk) stopReason() string {
	if n := len(t.turns); n == 0 || !t.turns[n-1].ended || len(t.turns[n-1].answers) > 0 {
		return ""
	}
	for i := range t.turns {
		if len(t.turns[i].answers) > 0 {
			return "empty"
		}
	}
	return ""
}

func textOf(e *event.Event) string {
	b, err := event.ParseBody(e.Body)
	if err != nil {
		return ""
	}
	return b.Text()
}

// automatic tells a prompt that a program sent in the person's place: a notice of a workflow or a background task, the
// output of a local command, the summary with which a compacted session goes on. None says what the person wants.
func automatic(text string) bool {
	low := strings.ToLower(strings.TrimSpace(text[:min(len(text), 400)]))
	for _, p := range []string{
		"<task-notification", "<system-reminder", "<system-notification", "<system_notification",
		"<system>", "<local-command", "<command-name", "<command-message", "<workflow", "<automation", "<background",
		"<subagent", "<hook", "<user-prompt-submit-hook", "<synthetic", "[system]", "[system:", "[system notification",
		"[automated", "[automation", "[workflow", "[background", "[notification", "[scheduled", "[cron", "[synthetic",
		"system notification:", "automated message:", "automated notification:", "automation:", "workflow note:",
		"workflow brief:", "this session is being continued from a previous", "this conversation is being continued from",
		"the conversation was compacted", "caveat: the messages below were generated", "(automated message",
		"(this is an automated", "this is an automated",
	} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	first, _, _ := strings.Cut(low, "\n")
	first = strings.TrimRight(first, " .!:")
	for _, subject := range []string{"workflow ", "background task ", "background job ", "subagent ", "scheduled task "} {
		if !strings.HasPrefix(first, subject) {
			continue
		}
		for _, end := range []string{" finished", " completed", " failed", " cancelled", " started", " complete"} {
			if strings.HasSuffix(first, end) {
				return true
			}
		}
	}
	return false
}
