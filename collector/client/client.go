// Package client is the only way to talk to a collector, and to start one. Every call has a deadline, opens one
// connection, sends one request and reads one bounded answer; nothing is retried here.
package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"kiro-learn/internal/config"
)

// VersionHeader names the collector's version in each of its answers. An answer without it comes from another program.
const VersionHeader = "Kiro-Learn-Version"

const (
	maxAnswer   = 64 << 20         // bytes of an answer that are read
	defaultTime = 10 * time.Second // deadline of a call whose context has none
)

// Errors that callers branch on.
var (
	// ErrAbsent means that nothing listens at the collector's address.
	ErrAbsent = errors.New("no collector is running")
	// ErrForeign means that something answers at the address that is no collector.
	ErrForeign = errors.New("another program answers at the collector's address")
)

// StatusError is an answer other than 2xx.
type StatusError struct {
	Status int
	Text   string // the collector's own words, one line
	Code   string // for programs, where the collector gives one
	Body   []byte
}

func (e *StatusError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the collector answered with status %d", e.Status)
	}
	return fmt.Sprintf("the collector answered: %s (status %d)", e.Text, e.Status)
}

// Client talks to one collector. It holds no connection and is safe for concurrent use.
type Client struct {
	dirs   config.Dirs
	remote *url.URL // nil: the local socket
	token  string
}

// New gives the client for the collector that the settings name: the local socket, or a URL.
func New(d config.Dirs, c config.Collector) (*Client, error) {
	cl := &Client{dirs: d, token: c.Token}
	if c.URL == "" {
		return cl, nil
	}
	u, err := url.Parse(strings.TrimSuffix(c.URL, "/"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("collector.url must be http://host:port or https://host:port; set it in %s", d.ConfigFile())
	}
	cl.remote = u
	return cl, nil
}

// Remote tells whether the collector is elsewhere, named by a URL, so that none is started here.
func (c *Client) Remote() bool { return c.remote != nil }

// Address is where the collector is expected to listen.
func (c *Client) Address() string {
	if c.remote != nil {
		return c.remote.String()
	}
	if a := RecordedAddress(c.dirs); a != "" {
		return a
	}
	return ListenAddress(c.dirs)
}

// RecordedAddress is the address that the last collector wrote into the state directory; "" when there is none.
func RecordedAddress(d config.Dirs) string {
	info, err := os.Stat(d.AddressFile())
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return ""
	}
	b, err := os.ReadFile(d.AddressFile())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	if c.remote == nil {
		return dialLocal(ctx, c.Address())
	}
	host := c.remote.Host
	if c.remote.Port() == "" {
		host = net.JoinHostPort(c.remote.Hostname(), map[string]string{"http": "80", "https": "443"}[c.remote.Scheme])
	}
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrAbsent, c.remote, err)
	}
	if c.remote.Scheme == "https" {
		t := tls.Client(conn, &tls.Config{ServerName: c.remote.Hostname(), MinVersion: tls.VersionTLS12})
		if err := t.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("connect to %s: %w", c.remote, err)
		}
		return t, nil
	}
	return conn, nil
}

func dialLocal(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("connect to the collector: %w", err)
		}
		return nil, fmt.Errorf("%w at %s", ErrAbsent, address)
	}
	return conn, nil
}

// Answer is what a collector said.
type Answer struct {
	Status  int
	Version string // the collector's
	Body    []byte
}

// Do sends one request and reads the answer. A status other than 2xx gives a *StatusError beside the answer.
func (c *Client) Do(ctx context.Context, method, path, contentType string, body []byte) (Answer, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTime)
		defer cancel()
	}
	conn, err := c.send(ctx, method, path, contentType, body)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = conn.Close() }()
	defer interrupt(ctx, conn)()
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16<<10), nil)
	if err != nil {
		if ctx.Err() != nil || isTimeout(err) {
			return Answer{}, fmt.Errorf("wait for the collector: %w", err)
		}
		return Answer{}, fmt.Errorf("%w: %s", ErrForeign, c.Address())
	}
	a := Answer{Status: res.StatusCode, Version: res.Header.Get(VersionHeader)}
	if a.Version == "" && c.remote == nil {
		return a, fmt.Errorf("%w: %s", ErrForeign, c.Address())
	}
	a.Body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return a, fmt.Errorf("read the collector's answer: %w", err)
	}
	if a.Status < 200 || a.Status > 299 {
		return a, statusError(a)
	}
	return a, nil
}

// interrupt makes reads and writes of a connection end when ctx does, before its deadline too, until stop is called.
func interrupt(ctx context.Context, conn net.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// send connects and writes a request; the connection carries ctx's deadline.
func (c *Client) send(ctx context.Context, method, path, contentType string, body []byte) (net.Conn, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://kiro-learn"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the collector: %w", err)
	}
	if c.remote != nil {
		req.URL.Host, req.Host = c.remote.Host, c.remote.Host
		req.URL.Path = c.remote.Path + req.URL.Path
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("User-Agent", "kiro-learn")
	req.Close = true
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	defer interrupt(ctx, conn)()
	if err := req.Write(conn); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("write to the collector: %w", err)
	}
	return conn, nil
}

func statusError(a Answer) error {
	var e struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}
	_ = json.Unmarshal(a.Body, &e) // a body of another shape says nothing more
	return &StatusError{Status: a.Status, Text: strings.Join(strings.Fields(e.Error), " "), Code: e.Code, Body: a.Body}
}

// Call sends a request whose body, if in is not nil, is in as JSON, and decodes the answer into out if that is not nil.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	contentType := ""
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		body, contentType = b, "application/json"
	}
	a, err := c.Do(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	return nil
}

// Stream sends a GET and hands the answer's lines to f until f gives an error, ctx ends or the collector leaves.
func (c *Client) Stream(ctx context.Context, path string, f func(line []byte) error) error {
	conn, err := c.send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", ErrForeign, c.Address())
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if err := f(lines.Bytes()); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return lines.Err()
}
