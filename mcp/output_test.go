package mcp

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// What a tool answers as data is what its schema says, for a client that checks.
func TestAnswersKeepToTheirSchemas(t *testing.T) {
	b := newBox(t)
	b.extra = []string{"KIRO_SESSION_ID=chat-1"}
	b.turn("old-1", "Cap the retries in upload.go at three.", "The cap is in upload.go.\n\nNext steps:\n- Ask ops for the gateway limit")
	b.run("flush", "--extract", "--timeout", "30s")
	_, s := b.connect(nil, "")
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		raw, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // nothing that is not described
		if schemas[tool.Name], err = schema.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	bare := idIn(t, good(t, s, "save_observation", args{"title": "Bare", "summary": "Nothing but a summary", "observation_type": "error"}))
	for _, tt := range []struct {
		tool string
		args args
	}{
		{"search_memory", args{"query": "retries gateway"}},
		{"search_memory", args{"query": "zzz"}},
		{"search_memory", args{"query": "bare summary"}},
		{"get_memory", args{"record_id": bare}},
		{"timeline", args{"session_id": "old-1"}},
		{"timeline", args{"record_id": bare}},
		{"session_summary", args{"session_id": "old-1"}},
		{"session_summary", args{"session_id": "chat-1"}},
		{"save_session_summary", summaryArgs()},
		{"save_observation", observationArgs()},
		{"forget_memory", args{"record_id": bare}},
	} {
		r := good(t, s, tt.tool, tt.args)
		if err := schemas[tt.tool].Validate(r.data); err != nil {
			t.Errorf("%s %v: %v\n%s", tt.tool, tt.args, err, asJSON(t, r.data))
		}
	}
}
