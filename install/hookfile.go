package install

import (
	"github.com/tailscale/hujson"
)

// v1Triggers are the triggers of a hook file (CLI 3, IDE 1) that we take, each with the hook that answers it.
func v1Triggers() [][2]string {
	return [][2]string{{"SessionStart", "agentSpawn"}, {"UserPromptSubmit", "userPromptSubmit"}, {"PostToolUse", "postToolUse"}, {"Stop", "stop"}}
}

// The registrations of hook files: the user's, and a project's. Kiro fires both.
const (
	viaUser    = "user"
	viaProject = "project"
)

func v1CommandLine(hook, program, via string) string { return hookLine(program, hook+" --via "+via) }

// v1Hook is one hook of such a file: the timeout in seconds and beside the action, the matcher a regular expression.
func v1Hook(trigger, command string) object {
	names := map[string]string{"SessionStart": "session-start", "UserPromptSubmit": "prompt", "PostToolUse": "tool", "Stop": "stop"}
	what := map[string]string{
		"SessionStart": "Shows where the last session ended", "UserPromptSubmit": "Recalls what earlier sessions learned",
		"PostToolUse": "Remembers what a tool did", "Stop": "Remembers how the turn ended",
	}
	o := object{{"name", programName + "-" + names[trigger]}, {"description", what[trigger]}, {"trigger", trigger}}
	if trigger == "PostToolUse" {
		o = append(o, member{"matcher", ".*"})
	}
	return append(o,
		member{"action", object{{"type", "command"}, {"command", command}}},
		member{"timeout", 10}, member{"enabled", true})
}

// v1File is the whole of our hook file.
func v1File(program, via string) object {
	hooks := list{}
	for _, t := range v1Triggers() {
		hooks = append(hooks, v1Hook(t[0], v1CommandLine(t[1], program, via)))
	}
	return object{{"version", "v1"}, {"hooks", hooks}}
}

// v1Shape is what kiro-learn.json holds of ours. One file serves the CLI and the IDE, so its commands name no surface.
func v1Shape(program, via string) shape {
	s := shape{found: v1Entries, command: v1Command, good: goodV1Hook, check: v1Fit, limits: []string{"matcher", "timeout"}}
	sl := slot{path: []string{"hooks"}, kind: '['}
	for _, t := range v1Triggers() {
		command := v1CommandLine(t[1], program, via)
		sl.want = append(sl.want, entry{id: t[0], command: command, value: v1Hook(t[0], command)})
	}
	s.slots = []slot{sl}
	return s
}

func v1Entries(d *document) (out []place) {
	hooks := d.find("hooks")
	if hooks == nil {
		return nil
	}
	a, ok := hooks.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	for i := range a.Elements {
		c, ok := lit(v1Command(a.Elements[i]))
		if !ok || c.Kind() != '"' {
			continue
		}
		if cmd, ours := ParseCommand(c.String()); ours {
			trigger, _ := stringAt(a.Elements[i], "trigger")
			if canonicalTrigger(trigger) == "" {
				trigger = triggerOf(cmd.Hook) // a trigger that Kiro does not know is a broken entry of the hook's own
			}
			out = append(out, place{[]string{"hooks"}, i, canonicalTrigger(trigger), &a.Elements[i]})
		}
	}
	return out
}

func triggerOf(hook string) string {
	for _, t := range v1Triggers() {
		if t[1] == hook {
			return t[0]
		}
	}
	return ""
}

// canonicalTrigger folds the spellings that Kiro itself folds at load; "" for a trigger that it does not know.
func canonicalTrigger(s string) string {
	switch s {
	case "SessionStart", "sessionStart", "agentSpawn":
		return "SessionStart"
	case "UserPromptSubmit", "userPromptSubmit", "promptSubmit":
		return "UserPromptSubmit"
	case "PostToolUse", "postToolUse":
		return "PostToolUse"
	case "Stop", "stop", "agentStop":
		return "Stop"
	case "PreToolUse", "preToolUse", "PreTaskExec", "PostTaskExec", "PostFileCreate", "PostFileSave", "PostFileDelete", "Manual", "SessionEnd":
		return s
	}
	return ""
}

func v1Command(v hujson.Value) *hujson.Value {
	if a := memberOf(v, "action"); a != nil {
		return memberOf(*a, "command")
	}
	return nil
}

func goodV1Hook(v hujson.Value, want entry) bool { return v1HookFault(v, want.id) == "" }

// v1HookFault says what is wrong with one of our entries, "" for nothing. A disabled entry is its owner's choice.
func v1HookFault(v hujson.Value, trigger string) string {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return "is not an object"
	}
	for i := range o.Members {
		k, kind := keyOf(o, i), o.Members[i].Value.Value.Kind()
		wrong := false
		switch k {
		case "name", "description", "trigger", "matcher":
			wrong = kind != '"'
		case "timeout":
			wrong = kind != '0'
		case "enabled":
			wrong = kind != 't' && kind != 'f'
		case "action":
			wrong = kind != '{'
		case "timeout_ms":
			return `has "timeout_ms" where Kiro expects "timeout", in seconds`
		default:
			return "has the key " + k + ", which Kiro does not know"
		}
		if wrong {
			return k + " has the wrong type"
		}
	}
	return v1ValueFault(v, trigger)
}

func v1ValueFault(v hujson.Value, trigger string) string {
	if name, _ := stringAt(v, "name"); name == "" {
		return "has no name"
	}
	if t, _ := stringAt(v, "trigger"); t != trigger {
		return "has the trigger " + t + " instead of " + trigger
	}
	action := memberOf(v, "action")
	if action == nil {
		return "has no action"
	}
	if t, _ := stringAt(*action, "type"); t != "command" {
		return `has an action that is not of type "command"`
	}
	if o, ok := action.Value.(*hujson.Object); ok && len(o.Members) != 2 {
		return "has more in its action than type and command"
	}
	m, has := stringAt(v, "matcher")
	if trigger == "PostToolUse" && has && m != ".*" && m != "*" && m != "" || trigger == "UserPromptSubmit" && has && m != ".*" && m != "" {
		return "fires only for " + m
	}
	return ""
}

func v1Fit(d *document) error {
	v := d.find("version")
	if v == nil {
		return &syntaxError{1, `has no "version": "v1"`}
	}
	if l, _ := lit(v); l.Kind() != '"' || l.String() != "v1" {
		return &syntaxError{line(d.text, v.StartOffset), `has another version than "v1"`}
	}
	return nil
}
