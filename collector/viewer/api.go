package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// api calls the collector's own HTTP API in this process: the pages know of the memory what any client of the API may.
type api struct{ handler http.Handler }

// apiError is an answer of the API other than 2xx.
type apiError struct {
	status     int
	text, code string
}

func (e *apiError) Error() string { return e.text }

func hasCode(err error, code string) bool {
	var e *apiError
	return errors.As(err, &e) && e.code == code
}

func isStatus(err error, status int) bool {
	var e *apiError
	return errors.As(err, &e) && e.status == status
}

// get asks, and decodes the answer into out.
func (a api) get(ctx context.Context, path string, q url.Values, out any) error {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return a.call(ctx, http.MethodGet, path, nil, out)
}

func (a api) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		body = b
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://kiro-learn"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the collector: %w", err)
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w := &answer{header: http.Header{}, status: http.StatusOK}
	a.handler.ServeHTTP(w, r)
	if w.status < 200 || w.status > 299 {
		var e struct {
			Error string `json:"error"`
			Code  string `json:"code"`
		}
		_ = json.Unmarshal(w.body.Bytes(), &e) // an answer of another shape says nothing more
		return &apiError{w.status, strings.Join(strings.Fields(e.Error), " "), e.Code}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(w.body.Bytes(), out); err != nil {
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	return nil
}

// stream asks and hands over the answer's lines as they are written, until ctx ends or the collector leaves.
func (a api) stream(ctx context.Context, path string, f func(line []byte)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://kiro-learn"+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the collector: %w", err)
	}
	a.handler.ServeHTTP(&answer{header: http.Header{}, status: http.StatusOK, line: f}, r)
	return nil
}

// answer takes in what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	line   func([]byte) // of a stream; each of its lines is written at once
}

func (w *answer) Header() http.Header    { return w.header }
func (w *answer) WriteHeader(status int) { w.status = status }

func (w *answer) Write(b []byte) (int, error) {
	if w.line != nil && w.status == http.StatusOK {
		w.line(b)
		return len(b), nil
	}
	return w.body.Write(b)
}
