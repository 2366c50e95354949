package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kiro-learn/internal/event"
)

// tool is one tool: how a model sees it, what it takes, and what it does.
type tool struct {
	name     string
	title    string
	about    string
	args     []arg
	output   map[string]any // JSON Schema of the structured content
	writes   bool
	destroys bool // takes something away
	run      func(s *server, ctx context.Context, c *call) (answer, error)
}

// call is one call of a tool, its arguments scrubbed and checked.
type call struct {
	values
	raw    []byte // the arguments, scrubbed
	tool   string
	origin event.Event
}

// answer is what a tool says: in words for the model, and the same as data.
type answer struct {
	text string
	data any
}

// kinds are the observation types that an agent may save.
func kinds() []string {
	return slices.DeleteFunc(event.ObservationTypes(), func(t string) bool { return t == event.TypeSessionSummary })
}

func tools() []tool {
	return []tool{searchTool(), getTool(), timelineTool(), sessionTool(), observationTool(), summaryTool(), forgetTool()}
}

// definition is the tool as a client lists it.
func (t tool) definition() *sdk.Tool {
	no := false
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: schema(t.args), OutputSchema: t.output,
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: !t.writes, IdempotentHint: !t.writes || t.destroys, DestructiveHint: &t.destroys, OpenWorldHint: &no},
	}
}

// handler makes the SDK's handler of a tool. What is private in the arguments is out before anything else sees them. What
// goes wrong is told to the model in a sentence; nothing is a fault of the protocol.
func (s *server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (res *sdk.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				s.o.Log.Error("a tool failed inside", fmt.Errorf("panic in %s: %T", t.name, p))
				res = failed(errors.New("kiro-learn failed inside; see its log"))
			}
		}()
		c := &call{tool: t.name, raw: s.scrub.JSON(req.Params.Arguments)}
		var err error
		if c.values, err = parse(t.args, c.raw, s.o.Now()); err != nil {
			return failed(fmt.Errorf("%s was not carried out: %w", t.name, err)), nil
		}
		var ask sdk.InputRequestMap
		if c.origin, ask = s.place(ctx, req.Session, req.Params.InputResponses); ask != nil {
			return &sdk.CallToolResult{InputRequests: ask}, nil
		}
		a, err := t.run(s, ctx, c)
		if err != nil {
			return failed(err), nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.text}}, StructuredContent: a.data}, nil
	}
}

func failed(err error) *sdk.CallToolResult {
	var res sdk.CallToolResult
	res.SetError(err)
	return &res
}

// object is the JSON Schema of an object.
func object(required []string, properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func list(items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items}
}

func text(about string) map[string]any {
	return map[string]any{"type": "string", "description": about}
}
