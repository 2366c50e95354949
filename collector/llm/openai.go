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
	endpoint  string
	model     string
	key       string
	maxOutput int
	client    *http.Client
}

func newOpenAI(cfg config.LLM, o Options) (*openAI, error) {
	u, err := url.Parse(cfg.BaseURL)
	if cfg.BaseURL == "" || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, errors.New(`llm.engine is "openai" and llm.base_url is not an http or https address without credentials: ` +
			`set it in config.json, for example "http://127.0.0.1:11434/v1"`)
	}
	if cfg.Model == "" {
		return nil, errors.New(`llm.engine is "openai" and no model is named: set llm.model in config.json`)
	}
	key := ""
	if cfg.APIKeyEnv != "" {
		if key = strings.TrimSpace(lookup(o.Environ, cfg.APIKeyEnv)); key == "" {
			return nil, errors.New("the environment variable that llm.api_key_env names is not set where the collector runs: " +
				"set it and run: kiro-learn collector stop")
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return nil, errors.New("llm.base_url would send the API key in clear text to another machine: use https")
		}
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions") + "/chat/completions"
	return &openAI{u.String(), cfg.Model, key, o.MaxOutput, &http.Client{
		Transport:     transport(),
		CheckRedirect: sameHost,
	}}, nil
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
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0]
	if r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme || r.Method != first.Method || len(via) > 3 {
		return errRedirect
	}
	return nil
}

var errRedirect = errors.New("the endpoint redirects elsewhere: set llm.base_url to where it leads")

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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint, bytes.NewReader(body))
	if err != nil {
		return "", errors.New("llm.base_url cannot be used in a request")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return "", withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", statusError(resp.StatusCode)
	}
	// The longest answer, were every byte of it escaped, and room for the rest.
	limit := 6*int64(a.maxOutput) + 64<<10
	reply, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return "", fmt.Errorf("reading the answer: %w", withoutURL(err))
	}
	if int64(len(reply)) > limit {
		return "", fmt.Errorf("%w: over %d bytes", ErrTooLong, limit)
	}
	return a.answer(reply)
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

func statusError(code int) error {
	hint := "try again later"
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		hint = "check the key in the variable that llm.api_key_env names"
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		hint = "check llm.base_url and llm.model in config.json"
	case code >= 300 && code < 400:
		return errRedirect
	case code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge:
		hint = "check llm.model in config.json, or lower extract.batch_bytes"
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
