package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const wrapUp = `Wrap up this session for the one that goes on with the work.

1. Call save_session_summary once, with what the user wanted (request), what was looked into (investigated), what was found out and decided, with reasons (learned), what is done and whether it was verified (completed), what is still to be done, the next thing first (next_steps), and the files that were read (files_read) and changed (files_modified). Say only what happened; do not claim that something works which was not tried.
2. For each thing learned that will matter beyond this piece of work and cannot be seen from the code, call save_observation once. None is a good number.
3. Tell the user in two sentences what was saved.`

// addPrompts offers the prompts that a person can choose.
func (s *server) addPrompts(p *sdk.Server) {
	p.AddPrompt(&sdk.Prompt{
		Name: "recall", Title: "Recall", Description: "Put what earlier sessions in this project learned about a topic in front of the agent.",
		Arguments: []*sdk.PromptArgument{{Name: "topic", Title: "Topic", Description: "What to recall: words, a question, a file, an error.", Required: true}},
	}, s.recallPrompt)
	p.AddPrompt(&sdk.Prompt{
		Name: "wrap_up", Title: "Wrap up", Description: "Have the agent save a summary of this session and what is worth keeping of it.",
	}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return said("Save what matters of this session.", wrapUp), nil
	})
}

func said(about, what string) *sdk.GetPromptResult {
	return &sdk.GetPromptResult{Description: about, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: what}}}}
}

func (s *server) recallPrompt(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	raw, err := json.Marshal(req.Params.Arguments)
	if err != nil {
		return nil, invalid("the arguments must be strings")
	}
	v, err := parse([]arg{{name: "topic", kind: textArg, required: true, max: maxQuery}}, s.scrub.JSON(raw), s.o.Now())
	if err != nil {
		return nil, invalid(err.Error())
	}
	origin, ask := s.place(ctx, req.Session, req.Params.InputResponses)
	if ask != nil {
		return &sdk.GetPromptResult{InputRequests: ask}, nil
	}
	found, err := s.find(ctx, origin.Namespace, v.texts["topic"], 10, "", time.Time{})
	if err != nil {
		return nil, fault(s.explain("search", err))
	}
	return said("What earlier sessions learned.", fmt.Sprintf("What do we know from earlier sessions about: %s\n\nA search of this project's memory gave this.\n\n%s\n\nSay in a few sentences what of it matters here, and check it against the code where that is cheap.", v.texts["topic"], listed(found))), nil
}

func invalid(what string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: what}
}
