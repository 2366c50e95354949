package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// agentEvents are the hooks of an agent file that we take, in the order they are written. The engine knows preToolUse
// too, which has nothing to remember.
func agentEvents() []string { return []string{"agentSpawn", "userPromptSubmit", "postToolUse", "stop"} }

// agentCommandLine names the registration, so that the collector can tell one happening that two registrations report
// from two that are alike.
func agentCommandLine(event, program string) string {
	return hookLine(program, event+" --surface kiro-cli --via agent")
}

// agentHook is one entry of an agent's hooks: times in milliseconds, sizes in bytes, the matcher a glob.
func agentHook(event, command string) object {
	o := object{}
	if event == "postToolUse" {
		o = append(o, member{"matcher", "*"})
	}
	size := 10_240
	if event == "userPromptSubmit" || event == "agentSpawn" {
		size = 65_536 // the most that hooks.context_max_bytes allows
	}
	return append(o, member{"command", command}, member{"timeout_ms", 10_000}, member{"max_output_size", size})
}

// agentShape is what an agent file of engines v1 and v2 holds of ours: hooks, and in some the MCP server.
func agentShape(program spelling, set surfaceSet) shape {
	s := shape{command: agentCommand, good: goodAgentHook, check: agentFit, limits: []string{"matcher", "timeout_ms", "max_output_size"}}
	s.found = func(d *document) (out []place) {
		if set.agents {
			out = agentEntries(d)
		}
		if set.servers {
			out = append(out, mcpEntries(d)...)
		}
		return out
	}
	if set.servers {
		server := mcpShape(program.plain).slots[0]
		server.when = needsServer
		s.slots = append(s.slots, server)
	}
	if !set.agents {
		return s
	}
	for _, event := range agentEvents() {
		command := agentCommandLine(event, program.shell)
		s.slots = append(s.slots, slot{
			path: []string{"hooks", event}, kind: '[',
			want: []entry{{id: event, command: command, value: agentHook(event, command)}},
		})
	}
	return s
}

// agentEntries finds our hooks under every event, also those that Kiro does not know and those in the nested shape of
// other agents' files, which makes Kiro drop the whole file.
func agentEntries(d *document) (out []place) {
	hooks := d.find("hooks")
	if hooks == nil {
		return nil
	}
	o, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range o.Members {
		event := keyOf(o, i)
		a, ok := o.Members[i].Value.Value.(*hujson.Array)
		if !ok || memberIndex(o, event) != i {
			continue
		}
		for j := range a.Elements {
			if agentEntryIsOurs(a.Elements[j]) {
				out = append(out, place{[]string{"hooks", event}, j, event, &a.Elements[j]})
			}
		}
	}
	return out
}

func agentEntryIsOurs(v hujson.Value) bool {
	if s, ok := stringAt(v, "command"); ok {
		_, ours := ParseCommand(s)
		return ours
	}
	nested := nestedHooks(v)
	return len(nested) > 0 && !slices.ContainsFunc(nested, func(v hujson.Value) bool { return !agentEntryIsOurs(v) })
}

// nestedHooks are the inner hooks of a group {"matcher":…, "hooks":[…]}.
func nestedHooks(v hujson.Value) []hujson.Value {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	if i := memberIndex(o, "hooks"); i >= 0 {
		if a, ok := o.Members[i].Value.Value.(*hujson.Array); ok {
			return a.Elements
		}
	}
	return nil
}

func agentCommand(v hujson.Value) *hujson.Value { return memberOf(v, "command") }

func memberOf(v hujson.Value, key string) *hujson.Value {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	if i := memberIndex(o, key); i >= 0 {
		return &o.Members[i].Value
	}
	return nil
}

// goodAgentHook tells whether Kiro takes the entry: known keys of the right type, and a matcher that lets every tool
// through.
func goodAgentHook(v hujson.Value, want entry) bool {
	return want.id == mcpEntry || agentHookFault(v, want.id) == ""
}

// needsServer tells whether an agent has to name our server itself for its model to see it: it may use the server's tools,
// and takes no servers from mcp.json. One that is there already is kept up to date.
func needsServer(d *document) bool {
	return len(mcpEntries(d)) > 0 || d.find("mcpServers", programName) == nil && !takesServers(d) && mayUseServer(d)
}

// takesServers tells whether an agent has the servers of mcp.json, too.
func takesServers(d *document) bool {
	for _, key := range []string{"includeMcpJson", "useLegacyMcpJson"} {
		if l, ok := lit(d.find(key)); ok && l.Kind() == 't' {
			return true
		}
	}
	return false
}

// mayUseServer tells whether an agent's list of tools admits those of our server. The list is the agent's owner's to
// widen; without one an agent has no tools at all.
func mayUseServer(d *document) bool {
	tools := d.find("tools")
	if tools == nil {
		return false
	}
	a, ok := tools.Value.(*hujson.Array)
	return ok && slices.ContainsFunc(a.Elements, func(v hujson.Value) bool {
		l, ok := lit(&v)
		return ok && l.Kind() == '"' && (l.String() == "*" || l.String() == "@"+programName || strings.HasPrefix(l.String(), "@"+programName+"/"))
	})
}

// leastTime is the timeout, in milliseconds, below which a busy machine would lose events.
const leastTime = 1000

// agentHookFault says what is wrong with one of our entries, "" for nothing.
func agentHookFault(v hujson.Value, event string) string {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return "is not an object"
	}
	if nestedHooks(v) != nil {
		return "is nested in a group, for which Kiro rejects the whole agent"
	}
	matcher := ""
	for i := range o.Members {
		k, kind := keyOf(o, i), o.Members[i].Value.Value.Kind()
		switch k {
		case "command", "matcher":
			if kind != '"' {
				return k + " is not a string"
			}
			if k == "matcher" {
				matcher, _ = stringAt(v, k)
			}
		case "timeout_ms", "max_output_size", "cache_ttl_seconds":
			if kind != '0' {
				return k + " is not a number"
			}
			if l, _ := lit(&o.Members[i].Value); k == "timeout_ms" && l.Int() < leastTime {
				return fmt.Sprintf("is given up after %d ms", l.Int())
			}
		case "timeout":
			return `has "timeout" where Kiro expects "timeout_ms"`
		default:
			return "has the key " + k + ", which Kiro does not know"
		}
	}
	if event == "postToolUse" && matcher != "*" && matcher != "" {
		return "sees only the tools " + matcher
	}
	if l, ok := lit(memberOf(v, "cache_ttl_seconds")); ok && l.Int() > 0 {
		return "is cached, so Kiro does not run it every time"
	}
	return ""
}

func lit(v *hujson.Value) (hujson.Literal, bool) {
	if v == nil {
		return nil, false
	}
	l, ok := v.Value.(hujson.Literal)
	return l, ok
}

// agentFit refuses a file that is not an agent's: adding hooks to it would do nothing, or harm.
func agentFit(d *document) error {
	if v := d.find("name"); v != nil && v.Value.Kind() != '"' && !isNull(*v) {
		return &syntaxError{line(d.text, v.StartOffset), "has a name that is " + kindName(*v) + ", so it is not an agent"}
	}
	return nil
}

// agentKeys are the keys that the agent format has; one unknown key makes Kiro drop the whole file.
func agentKeys() []string {
	return []string{
		"$schema", "name", "description", "prompt", "mcpServers", "tools", "toolAliases", "allowedTools",
		"resources", "hooks", "toolsSettings", "includeMcpJson", "useLegacyMcpJson", "model", "keyboardShortcut",
		"welcomeMessage", "permissions", "subagents", "effort",
	}
}

// ownAgent is the agent that we write for a user who has none: what Kiro's built-in default is, with our hooks.
func ownAgent(program string) object {
	hooks := object{}
	for _, event := range agentEvents() {
		hooks = append(hooks, member{event, list{agentHook(event, agentCommandLine(event, program))}})
	}
	return append(ownAgentBase(), member{"hooks", hooks})
}

func ownAgentBase() object {
	return object{
		{"name", programName},
		{"description", "Kiro's default agent with a memory of earlier sessions"},
		{"tools", list{"*"}},
		{"allowedTools", list{"read"}},
		{"resources", list{"file://AGENTS.md", "file://README.md", "file://.kiro/steering/**/*.md", "file://~/.kiro/steering/**/*.md"}},
		{"includeMcpJson", true},
	}
}

// newFile renders a file that is ours alone.
func newFile(o object) []byte { return []byte(defaultStyle().render(o, layout{}) + "\n") }
