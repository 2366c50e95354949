package collector

import (
	"bytes"
	"encoding/json"
	"net/http"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

// viewRoutes are the calls that the pages need beside those that everybody has.
func (c *Collector) viewRoutes(m *http.ServeMux) {
	m.HandleFunc("POST /v1/ui", c.postUI)
	m.HandleFunc("GET /v1/activity", c.getActivity)
	m.HandleFunc("GET /v1/sessions/{id}/shown", c.getShown)
	m.HandleFunc("GET /v1/map", c.getMap)
	m.HandleFunc("GET /v1/condition", c.getCondition)
	m.HandleFunc("GET /v1/findings", c.getFindings)
	m.HandleFunc("PUT /v1/memories/{id}", c.putMemory)
}

// postUI gives the address that lets a browser in. Only who may use the private socket may ask.
func (c *Collector) postUI(w http.ResponseWriter, r *http.Request) {
	if r.Context().Value(overTCP{}) != nil {
		reply(w, http.StatusForbidden, map[string]string{"error": "the pages are only opened on the collector's own machine", "code": "forbidden"})
		return
	}
	url, err := c.pages.Link(r.Context())
	if err != nil {
		c.internal(w, "open the pages", err)
		return
	}
	reply(w, http.StatusOK, map[string]string{"url": url})
}

// getActivity counts events and records by the hour.
func (c *Collector) getActivity(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	since, ok := instant(w, q, "since")
	if !ok {
		return
	}
	if since.IsZero() {
		since = c.o.Now().AddDate(0, 0, -30)
	}
	found, err := c.store.Hours(r.Context(), q.Get("namespace"), since)
	if err != nil {
		c.internal(w, "count by the hour", err)
		return
	}
	out := client.Activity{Hours: make([]client.ActivityHour, len(found))}
	for i, h := range found {
		out.Hours[i] = client.ActivityHour{Hour: h.Hour, Of: "events", What: h.Kind, N: h.N}
		if h.Kind == "" {
			out.Hours[i].Of, out.Hours[i].What = "records", h.Type
		}
	}
	reply(w, http.StatusOK, out)
}

// cutBody is a body whose texts have at most so many characters each; 0 leaves it as it is.
func cutBody(raw json.RawMessage, chars int) json.RawMessage {
	if chars == 0 || len(raw) <= chars {
		return raw
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return raw
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(cutTexts(v, chars)) != nil {
		return raw
	}
	return bytes.TrimSpace(b.Bytes())
}

func cutTexts(v any, chars int) any {
	switch x := v.(type) {
	case string:
		return event.CutChars(x, chars)
	case []any:
		for i := range x {
			x[i] = cutTexts(x[i], chars)
		}
	case map[string]any:
		for k := range x {
			x[k] = cutTexts(x[k], chars)
		}
	}
	return v
}
