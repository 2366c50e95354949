package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"kiro-learn/internal/config"
)

// An openAI speaks the chat completions API, without streaming.
type openAI struct {
	at        *endpoint
	model     string
	maxOutput int
}

func newOpenAI(cfg config.LLM, o Options) (*openAI, error) {
	at, err := newEndpoint(settings{"llm", `llm.engine is "openai" and `, cfg.BaseURL, cfg.Model, cfg.APIKeyEnv}, "/chat/completions", o)
	if err != nil {
		return nil, err
	}
	return &openAI{at, cfg.Model, o.MaxOutput}, nil
}

// settings name an endpoint in a section of config.json.
type settings struct {
	section, why   string // why they are read, the beginning of a complaint
	baseURL, model string
	keyEnv         string
}

// An endpoint takes JSON in and gives JSON back.
type endpoint struct {
	section string
	url     string
	key     string
	client  *http.Client
}

func newEndpoint(set settings, path string, o Options) (*endpoint, error) {
	u, err := url.Parse(set.baseURL)
	if set.baseURL == "" || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fmt.Errorf("%s%s.base_url is not an http or https address without credentials: "+
			"set it in config.json, for example %q", set.why, set.section, "http://127.0.0.1:11434/v1")
	}
	if set.model == "" {
		return nil, fmt.Errorf("%sno model is named: set %s.model in config.json", set.why, set.section)
	}
	key := ""
	if set.keyEnv != "" {
		if key = strings.TrimSpace(lookup(o.Environ, set.keyEnv)); key == "" {
			return nil, fmt.Errorf("the environment variable that %s.api_key_env names is not set where the collector runs: "+
				"set it and run: kiro-learn collector stop", set.section)
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return nil, fmt.Errorf("%s.base_url would send the API key in clear text to another machine: use https", set.section)
		}
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), path) + path
	at := &endpoint{set.section, u.String(), key, &http.Client{Transport: transport()}}
	at.client.CheckRedirect = at.sameHost
	return at, nil
}

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = 64 << 10
	t.MaxIdleConnsPerHost = 2
	return t
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// sameHost lets an endpoint redirect only within itself, and only so that the prompt is sent again.
func (at *endpoint) sameHost(r *http.Request, via []*http.Request) error {
	first := via[0]
	if r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme || r.Method != first.Method || len(via) > 3 {
		return at.redirects()
	}
	return nil
}

func (at *endpoint) redirects() error {
	return fmt.Errorf("the endpoint redirects elsewhere: set %s.base_url to where it leads", at.section)
}

// Name is "openai".
func (*openAI) Name() string { return "openai" }

// Complete makes one request.
func (a *openAI) Complete(ctx context.Context, prompt string) (string, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body, err := json.Marshal(struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Stream   bool      `json:"stream"`
	}{a.model, []message{{"user", prompt}}, false})
	if err != nil {
		return "", fmt.Errorf("encoding the request: %w", err)
	}
	// The longest answer, were every byte of it escaped, and room for the rest.
	reply, err := a.at.post(ctx, body, 6*int64(a.maxOutput)+64<<10)
	if err != nil {
		return "", err
	}
	return a.answer(reply)
}

// post makes one request, whose answer has at most limit bytes.
func (at *endpoint) post(ctx context.Context, body []byte, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s.base_url cannot be used in a request", at.section)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if at.key != "" {
		req.Header.Set("Authorization", "Bearer "+at.key)
	}
	resp, err := at.client.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, at.statusError(resp.StatusCode)
	}
	reply, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", withoutURL(err))
	}
	if int64(len(reply)) > limit {
		return nil, fmt.Errorf("%w: over %d bytes", ErrTooLong, limit)
	}
	return reply, nil
}

func (a *openAI) answer(reply []byte) (string, error) {
	var r struct {
		Choices []struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal(reply, &r) != nil {
		return "", errors.New("the endpoint does not answer with a chat completion: check llm.base_url in config.json")
	}
	if len(r.Choices) == 0 {
		return "", ErrEmpty
	}
	text := content(r.Choices[0].Message.Content)
	switch r.Choices[0].FinishReason {
	case "length":
		return "", ErrTruncated
	case "content_filter":
		return "", errRefused
	}
	if len(text) > a.maxOutput {
		return "", fmt.Errorf("%w: over %d bytes", ErrTooLong, a.maxOutput)
	}
	return clean([]byte(text)), nil
}

var errRefused = errors.New("the model refused to answer")

// content is a string, or a list of parts of which those with a text count.
func content(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		s += p.Text
	}
	return s
}

func (at *endpoint) statusError(code int) error {
	hint := "try again later"
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		hint = "check the key in the variable that " + at.section + ".api_key_env names"
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		hint = "check " + at.section + ".base_url and " + at.section + ".model in config.json"
	case code >= 300 && code < 400:
		return at.redirects()
	case code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge:
		hint = "check llm.model in config.json, or lower extract.batch_bytes"
		if at.section != "llm" {
			hint = "check " + at.section + ".model in config.json"
		}
		return fmt.Errorf("the endpoint %w with status %d: %s", ErrRefused, code, hint)
	}
	return fmt.Errorf("the endpoint answered with status %d: %s", code, hint)
}

// withoutURL takes the address out of an error of net/http: its query may hold a key.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
