package install

import "github.com/tailscale/hujson"

// ide0Hooks are the hooks of IDE 0.x that we take, each a file of its own, with the event that fires it.
func ide0Hooks() [][2]string {
	return [][2]string{{"prompt", "promptSubmit"}, {"tool", "postToolUse"}, {"stop", "agentStop"}}
}

func ide0FileName(short string) string { return programName + "-" + short + ".kiro.hook" }

// ide0Hook is one such file. That Kiro puts the payload into the environment and leaves standard input open, so the
// command says both.
func ide0Hook(event, program string) object {
	what := map[string]string{
		"promptSubmit": "Recalls what earlier sessions learned", "postToolUse": "Remembers what a tool did", "agentStop": "Remembers how the turn ended",
	}
	when := object{{"type", event}}
	if event == "postToolUse" {
		when = append(when, member{"toolTypes", list{"*"}})
	}
	return object{
		{"enabled", true},
		{"name", programName + " " + event},
		{"description", what[event]},
		{"version", "1"},
		{"when", when},
		{"then", object{{"type", "runCommand"}, {"command", ide0Command(event, program)}, {"timeout", 10}}},
	}
}

func ide0Command(event, program string) string {
	return hookLine(program, event+" --surface kiro-ide --payload env --via ide0")
}

// ide0Ours is the command of a .kiro.hook file if that is ours.
func ide0Ours(d *document) (*hujson.Value, Command, bool) {
	c, ok := lit(d.find("then", "command"))
	if !ok || c.Kind() != '"' {
		return nil, Command{}, false
	}
	cmd, ours := ParseCommand(c.String())
	return d.find("then", "command"), cmd, ours
}

// ide0Edit gives the file's new content: only the command changes in a file that is ours already, so that what its
// owner set beside it, such as enabled, stays.
func ide0Edit(old []byte, event, program string) ([]byte, error) {
	d, err := parse(old)
	if err != nil {
		return nil, err
	}
	at, _, ours := ide0Ours(d)
	if !ours {
		return nil, &syntaxError{1, "holds a hook that is not ours"}
	}
	if when, _ := lit(d.find("when", "type")); when.String() != event {
		return newFile(ide0Hook(event, program)), nil
	}
	if l, _ := lit(at); l.String() == ide0Command(event, program) {
		return old, nil
	}
	if err := d.replace(at, d.look.render(ide0Command(event, program), layout{inline: true})); err != nil {
		return nil, err
	}
	return d.bytes(), nil
}
