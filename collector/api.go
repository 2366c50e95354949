package collector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"

	"kiro-learn/collector/client"
)

// handler is the API of the design, and a few calls of our own that it does not forbid: drain, extract, digest, tail and
// shutdown.
func (c *Collector) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /healthz", c.getHealth)
	m.HandleFunc("POST /v1/events", c.postEvent)
	m.HandleFunc("POST /v1/events/batch", c.postBatch)
	m.HandleFunc("GET /v1/events", c.getEvents)
	m.HandleFunc("POST /v1/memories", c.postMemory)
	m.HandleFunc("GET /v1/memories", c.getMemories)
	m.HandleFunc("GET /v1/memories/search", c.searchMemories)
	m.HandleFunc("GET /v1/memories/{id}", c.getMemory)
	m.HandleFunc("GET /v1/sessions", c.getSessions)
	m.HandleFunc("GET /v1/sessions/{id}/summary", c.getSummary)
	m.HandleFunc("POST /v1/sessions/{id}/summary", c.postSummary)
	m.HandleFunc("GET /v1/sessions/{id}/outline", c.getOutline)
	m.HandleFunc("GET /v1/timeline", c.getTimeline)
	m.HandleFunc("GET /v1/stats", c.getStats)
	m.HandleFunc("GET /v1/digest", c.getDigest)
	m.HandleFunc("GET /v1/retrievals", c.getRetrievals)
	m.HandleFunc("GET /v1/tail", c.getTail)
	c.forgetRoutes(m)
	c.exportRoutes(m)
	c.historyRoutes(m)
	c.projectRoutes(m)
	c.viewRoutes(m)
	m.HandleFunc("GET /metrics", c.getMetrics)
	m.HandleFunc("POST /v1/drain", c.postDrain)
	m.HandleFunc("POST /v1/extract", c.postExtract)
	m.HandleFunc("POST /v1/shutdown", c.postShutdown)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "there is no "+r.Method+" "+strconv.Quote(r.URL.Path), nil)
	})
	return c.counted(c.guarded(exact(byName(m))))
}

// counted marks every answer with our version and keeps the idle clock. A panic becomes a 500 and a log line without the
// request's content.
func (c *Collector) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.running.Add(1)
		begun, answer := time.Now(), &sent{ResponseWriter: w}
		w = answer
		defer func() {
			if p := recover(); p != nil {
				c.o.Log.Error("a request failed inside", fmt.Errorf("panic in %s: %T", r.Pattern, p))
				fail(w, http.StatusInternalServerError, "the collector failed inside; see its log", nil)
			}
			if measured(r.Pattern) {
				c.meter.called(r.Pattern, time.Since(begun), answer.status >= 500)
			}
			c.last.Store(c.o.Now().UnixNano())
			c.running.Add(-1)
			c.served.Add(1)
		}()
		w.Header().Set(client.VersionHeader, c.o.Version)
		if r.Context().Value(overTCP{}) == nil && fromElsewhere(r) { // what comes over TCP has a gate of its own
			fail(w, http.StatusForbidden, "web pages and other hosts are refused", nil)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		next.ServeHTTP(w, r)
	})
}

func (c *Collector) getHealth(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, client.Health{
		Status: "ok", Version: c.o.Version, PID: os.Getpid(),
		Capabilities: []string{"events", "batch", "retrieve", "memories", "search", "sessions", "stats", "tail"},
		StateDir:     c.o.Dirs.State, Started: c.started.UTC().Format(time.RFC3339),
	})
}

func (c *Collector) postDrain(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("wait") != "true" {
		c.wakeDrain()
		w.WriteHeader(http.StatusAccepted)
		return
	}
	n, err := c.drain(r.Context())
	if err != nil {
		c.internal(w, "drain the outbox", err)
		return
	}
	reply(w, http.StatusOK, map[string]int{"delivered": n})
}

func (c *Collector) postExtract(w http.ResponseWriter, r *http.Request) {
	patient(w)
	if err := c.worker.Flush(r.Context()); err != nil {
		c.internal(w, "distil what is pending", err)
		return
	}
	if err := c.summaries.Wait(r.Context()); err != nil {
		c.internal(w, "wait for the summaries", err)
		return
	}
	reply(w, http.StatusOK, map[string]int{"pending": 0})
}

func (c *Collector) postShutdown(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusAccepted, map[string]string{"status": "stopping"})
	c.Stop()
}

// reply writes a JSON answer.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a client that has left needs no answer
}

// fail writes an error answer: what is wrong, in one sentence, and details for a program.
func fail(w http.ResponseWriter, status int, what string, details any) {
	m := map[string]any{"error": what}
	if details != nil {
		m["details"] = details
	}
	reply(w, status, m)
}

// internal is for errors that are not the client's fault.
func (c *Collector) internal(w http.ResponseWriter, doing string, err error) {
	c.o.Log.Error("a request failed", fmt.Errorf("%s: %w", doing, err))
	fail(w, http.StatusInternalServerError, "could not "+doing+": "+err.Error(), nil)
}

// readBody reads a request body of the wanted type, or answers 415, 413 or 400 and gives false.
func readBody(w http.ResponseWriter, r *http.Request, types ...string) ([]byte, bool) {
	got, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	known := false
	for _, t := range types {
		known = known || got == t
	}
	if !known {
		fail(w, http.StatusUnsupportedMediaType, "the content type must be "+types[0], nil)
		return nil, false
	}
	var all bytes.Buffer
	all.Grow(int(min(max(r.ContentLength, 0), maxRequest)) + bytes.MinRead) // what a client claims is bounded, and reading on sees the end
	_, err := all.ReadFrom(r.Body)
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		fail(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d bytes", maxRequest), nil)
		return nil, false
	case err != nil:
		fail(w, http.StatusBadRequest, "the request body could not be read", nil)
		return nil, false
	}
	return all.Bytes(), true
}

// number reads a whole number of the query between low and high, or answers 400 and gives false.
func number(w http.ResponseWriter, r *http.Request, key string, otherwise, low, high int) (int, bool) {
	s := r.URL.Query().Get(key)
	if s == "" {
		return otherwise, true
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < low {
		fail(w, http.StatusBadRequest, fmt.Sprintf("%s must be a whole number from %d to %d", key, low, high), nil)
		return 0, false
	}
	return min(n, high), true
}

func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
