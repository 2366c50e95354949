package install

import "github.com/tailscale/hujson"

// mcpEntry is what an entry does that is our server.
const mcpEntry = "mcp"

// mcpServer is our server in mcp.json. Kiro starts it without a shell, so program is a plain path or name.
func mcpServer(program string) object {
	return object{{"command", program}, {"args", list{"mcp"}}}
}

func mcpFile(program string) object {
	return object{{"mcpServers", object{{programName, mcpServer(program)}}}}
}

// mcpShape is what mcp.json holds of ours.
func mcpShape(program string) shape {
	return shape{
		found:   mcpEntries,
		command: func(v hujson.Value) *hujson.Value { return memberOf(v, "command") },
		good:    func(v hujson.Value, _ entry) bool { return true },
		check:   mcpFit,
		slots: []slot{{path: []string{"mcpServers"}, kind: '{', want: []entry{
			{key: programName, id: mcpEntry, command: program, value: mcpServer(program)},
		}}},
	}
}

// mcpEntries finds the servers that run us, under whatever name.
func mcpEntries(d *document) (out []place) {
	v := d.find("mcpServers")
	if v == nil {
		return nil
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range o.Members {
		if mcpIsOurs(o.Members[i].Value) {
			out = append(out, place{[]string{"mcpServers"}, i, mcpEntry, &o.Members[i].Value})
		}
	}
	return out
}

func mcpIsOurs(v hujson.Value) bool {
	command, ok := stringAt(v, "command")
	if !ok || !isOurProgram(command) {
		return false
	}
	args := memberOf(v, "args")
	if args == nil {
		return false
	}
	a, ok := args.Value.(*hujson.Array)
	if !ok || len(a.Elements) == 0 {
		return false
	}
	first, _ := lit(&a.Elements[0])
	return first.Kind() == '"' && first.String() == "mcp"
}

// mcpFit refuses to touch a file in which our name is another program's.
func mcpFit(d *document) error {
	if v := d.find("mcpServers", programName); v != nil && !mcpIsOurs(*v) {
		return &syntaxError{line(d.text, v.StartOffset), "has a server named " + programName + " that is not ours"}
	}
	return nil
}
