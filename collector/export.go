package collector

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"

	"kiro-learn/collector/client"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
	"kiro-learn/internal/privacy"
)

func (c *Collector) exportRoutes(m *http.ServeMux) {
	m.HandleFunc("GET /v1/export", c.getExport)
	m.HandleFunc("POST /v1/import", c.postImport)
}

// getExport streams what a namespace holds, or everything, one JSON object a line: a line that says what this is, the
// events, the records, and a line that counts them, without which it is not whole.
func (c *Collector) getExport(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	if writeLine(w, client.ExportLine{Format: client.ExportFormat, SchemaVersion: event.SchemaVersion}) != nil {
		return
	}
	var end client.ExportEnd
	err := c.store.Export(r.Context(), r.URL.Query().Get("namespace"), func(it store.Item) error {
		if it.Event != nil {
			end.Events++
		} else {
			end.Records++
		}
		return writeLine(w, exportLine(it))
	})
	if err != nil {
		if r.Context().Err() == nil {
			c.o.Log.Error("an export failed", err)
		}
		return // the client misses the last line
	}
	_ = writeLine(w, client.ExportLine{End: &end})
}

func exportLine(it store.Item) client.ExportLine {
	l := client.ExportLine{
		Event: it.Event, Distilled: it.Distilled, Record: it.Record, SessionID: it.Bonds.SessionID, RecordType: it.Bonds.Type, About: it.Bonds.About,
	}
	if r := it.Retired; r != nil {
		l.SupersededBy, l.Why, l.SupersededAt = r.By, r.Why, r.At.UTC().Format(time.RFC3339Nano)
	}
	return l
}

// postImport stores the lines of an export, or a part of them. A bad line does not stop the others.
func (c *Collector) postImport(w http.ResponseWriter, r *http.Request) {
	b, ok := readBody(w, r, "application/x-ndjson", "application/ndjson")
	if !ok {
		return
	}
	var out client.Imported
	var items []store.Item
	n := 0
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		n++
		it, err := c.importItem(line)
		switch {
		case err != nil:
			out.Refused = append(out.Refused, client.Refused{Line: n, Reason: err.Error()})
		case it.Event != nil || it.Record != nil:
			items = append(items, it)
		}
	}
	stored, err := c.store.Import(r.Context(), items)
	if err != nil {
		c.internal(w, "import", err)
		return
	}
	for i, isNew := range stored {
		switch {
		case !isNew:
			out.Known++
		case items[i].Event != nil:
			out.Events++
		default:
			out.Records++
		}
	}
	reply(w, http.StatusOK, out)
}

// importItem reads and scrubs one line; the lines around the items give none.
func (c *Collector) importItem(line []byte) (it store.Item, err error) {
	l := struct {
		client.ExportLine
		Event json.RawMessage `json:"event"` // as it stands, for its hash
	}{}
	if err := json.Unmarshal(line, &l); err != nil {
		return it, errors.New("the line is not a JSON object of an export")
	}
	switch {
	case l.Event != nil:
		e, err := c.decode(l.Event)
		if err != nil {
			return it, err
		}
		e.Firing = nil // it is of another machine, or of another time
		return store.Item{Event: &e, Distilled: l.Distilled}, nil
	case l.Record != nil:
		return c.importRecord(&l.ExportLine)
	case l.Format == "" && l.End == nil:
		return it, errors.New("the line is neither an event nor a record")
	}
	return it, nil
}

func (c *Collector) importRecord(l *client.ExportLine) (it store.Item, err error) {
	c.scrubRecord(l.Record)
	if p := l.Record.Problems(); len(p) > 0 {
		return it, &invalid{p}
	}
	it = store.Item{Record: l.Record, Bonds: store.Bonds{SessionID: cleanID(l.SessionID), Type: l.RecordType, About: cleanNamespace(l.About)}}
	bad := func(field, what string) error { return &invalid{[]event.Problem{{Field: field, Problem: what}}} }
	if l.RecordType != "" && !store.IsRecordType(l.RecordType) {
		return it, bad("record_type", "must be CHUNK or FULL_SESSION")
	}
	if _, _, ok := event.SplitNamespace(l.About); l.RecordType != "" && !ok {
		return it, bad("about", "must be /actor/<actor_id>/project/<project_id>/")
	}
	if utf8.RuneCountInString(l.SessionID) > event.MaxSessionID {
		return it, bad("session_id", "is too long")
	}
	if l.SupersededBy == "" {
		return it, nil
	}
	if privacy.Holds(l.SupersededBy) {
		return it, bad("superseded_by", "must be a record_id")
	}
	at, err := time.Parse(time.RFC3339Nano, l.SupersededAt)
	if err != nil {
		return it, bad("superseded_at", "must be ISO 8601 with an offset, such as 2026-01-31T12:00:00Z")
	}
	if len(l.Why) > 20 || c.scrub.Text(l.Why) != l.Why {
		return it, bad("why", "must be a word")
	}
	it.Retired = &store.Retired{By: l.SupersededBy, Why: l.Why, At: at}
	return it, nil
}
