package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"kiro-learn/internal/event"
)

// ExportFormat is how an export's first line names what it is.
const ExportFormat = "kiro-learn export"

// ExportLine is one line of an export: the first, an event, a record, or the last.
type ExportLine struct {
	Format        string        `json:"format,omitempty"`
	SchemaVersion int           `json:"schema_version,omitempty"`
	Event         *event.Event  `json:"event,omitempty"`
	Distilled     bool          `json:"distilled,omitempty"` // of an event: no record will be made of it any more
	Record        *event.Record `json:"record,omitempty"`
	SessionID     string        `json:"session_id,omitempty"`    // of a record: the session of its first source
	RecordType    string        `json:"record_type,omitempty"`   // of a record about a session
	About         string        `json:"about,omitempty"`         // the namespace of that session
	SupersededBy  string        `json:"superseded_by,omitempty"` // of a record of the history: the one that stands for it
	Why           string        `json:"why,omitempty"`
	SupersededAt  string        `json:"superseded_at,omitempty"` // ISO 8601
	End           *ExportEnd    `json:"end,omitempty"`
}

// ExportEnd counts what an export holds.
type ExportEnd struct {
	Events  int `json:"events"`
	Records int `json:"records"` // those of the history too
}

// Imported counts what became of the lines of an import.
type Imported struct {
	Events  int       `json:"events"`  // new ones
	Records int       `json:"records"` // new ones, those of the history too
	Known   int       `json:"known"`   // were there already and stay as they are
	Refused []Refused `json:"refused,omitempty"`
}

// Refused is a line that is no item of the wire contract. The reason names fields, never their values.
type Refused struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// ErrPartial means that an export ended early.
var ErrPartial = errors.New("the export is not whole; try again")

// Export hands the lines of an export of a namespace, or of everything where it is empty, to f. They end in "\n".
func (c *Client) Export(ctx context.Context, namespace string, f func(line []byte) error) (end ExportEnd, err error) {
	path := "/v1/export"
	if namespace != "" {
		path += "?" + url.Values{"namespace": {namespace}}.Encode()
	}
	var last []byte
	whole := false
	err = c.Stream(ctx, path, func(line []byte) error {
		last = append(append(last[:0], line...), '\n')
		return f(last)
	})
	if err != nil {
		return end, err
	}
	var l ExportLine
	if json.Unmarshal(last, &l) == nil && l.End != nil {
		end, whole = *l.End, true
	}
	if !whole {
		return end, ErrPartial
	}
	return end, nil
}

// Import hands lines of an export over, at most 2 MiB of them.
func (c *Client) Import(ctx context.Context, lines []byte) (out Imported, err error) {
	a, err := c.Do(ctx, http.MethodPost, "/v1/import", "application/x-ndjson", lines)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(a.Body, &out); err != nil {
		return out, fmt.Errorf("read the collector's answer: %w", err)
	}
	return out, nil
}
