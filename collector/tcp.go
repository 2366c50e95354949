package collector

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"kiro-learn/internal/atomicfile"
)

// Listen asks for a TCP address beside the private socket. Every request over it needs the token. Loopback needs nothing
// else; any other address TLS, or to be told that the network is safe.
type Listen struct {
	Address   string   // host:port
	TokenFile string   // holds the token; made with a new one if there is none
	Cert, Key string   // PEM files
	Insecure  bool     // clear text on an address that is not loopback
	Hosts     []string // names beside the address by which requests may call this host
}

// minToken is how many characters a token has at least.
const minToken = 16

// gate is what a request over TCP must pass.
type gate struct {
	token string
	hosts []string // in lower case, with and without the port
}

// open checks what is asked for and listens. Nothing is open when it gives an error.
func (l Listen) open(ctx context.Context) (net.Listener, *gate, error) {
	host, port, err := net.SplitHostPort(l.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("%q is no address to listen on; write 127.0.0.1:7700", l.Address)
	}
	if !isLoopback(host) && l.Cert == "" && !l.Insecure {
		return nil, nil, fmt.Errorf("%s can be reached by others: give --tls-cert and --tls-key, or --insecure if the network is safe", l.Address)
	}
	g := &gate{}
	if g.token, err = readToken(l.TokenFile); err != nil {
		return nil, nil, err
	}
	conf, err := l.tls()
	if err != nil {
		return nil, nil, err
	}
	var lc net.ListenConfig
	tcp, err := lc.Listen(ctx, "tcp", l.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("listen on %s: %w", l.Address, err)
	}
	if _, real, err := net.SplitHostPort(tcp.Addr().String()); err == nil {
		port = real // it may have been 0
	}
	names := append([]string{host}, l.Hosts...)
	if isLoopback(host) {
		names = append(names, "localhost", "127.0.0.1", "::1")
	}
	for _, n := range names {
		n = strings.ToLower(strings.Trim(n, "[]"))
		g.hosts = append(g.hosts, net.JoinHostPort(n, port))
	}
	if conf != nil {
		return tls.NewListener(tcp, conf), g, nil
	}
	return tcp, g, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || host == "localhost"
}

func (l Listen) tls() (*tls.Config, error) {
	if (l.Cert == "") != (l.Key == "") {
		return nil, errors.New("TLS needs both --tls-cert and --tls-key")
	}
	if l.Cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// readToken reads the token, or makes a new one where there is no file.
func readToken(path string) (string, error) {
	if path == "" {
		return "", errors.New("listening on TCP needs a token: give --token-file with a file for it; a token is put into it if there is none")
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw := make([]byte, 24)
		_, _ = rand.Read(raw) // it never fails
		token := hex.EncodeToString(raw)
		if err := atomicfile.Write(path, []byte(token+"\n"), 0o600); err != nil {
			return "", fmt.Errorf("write a new token: %w", err)
		}
		return token, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("the token in %s must be one word of at least %d characters; remove the file to have a new one made", path, minToken)
	}
	return token, nil
}

// overTCP marks the connections that a gate is before.
type overTCP struct{}

func markTCP(ctx context.Context, conn net.Conn) context.Context {
	if _, local := conn.(*net.UnixConn); local {
		return ctx
	}
	return context.WithValue(ctx, overTCP{}, true)
}

// guarded lets requests over TCP pass only with the token, and only if they call this host by its name and come from no
// other site's page. The private socket is guarded by the file system.
func (c *Collector) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(overTCP{}) == nil {
			next.ServeHTTP(w, r)
			return
		}
		switch {
		case c.gate == nil || !c.gate.knows(r.Host) || !c.gate.sameSite(r):
			reply(w, http.StatusForbidden, map[string]string{"error": "requests must call this host by the address it listens on, and come from no web page", "code": "forbidden"})
		case !c.gate.bears(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="kiro-learn"`)
			reply(w, http.StatusUnauthorized, map[string]string{"error": "the bearer token is missing or wrong; set collector.token to what the collector's token file holds", "code": "unauthorized"})
		case r.URL.Path == "/v1/shutdown":
			reply(w, http.StatusForbidden, map[string]string{"error": "a collector is only stopped on its own machine", "code": "forbidden"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (g *gate) knows(host string) bool {
	return slices.Contains(g.hosts, strings.ToLower(host))
}

// sameSite tells whether a request that a browser sent for a page was sent for a page of this host.
func (g *gate) sameSite(r *http.Request) bool {
	if s := r.Header.Get("Sec-Fetch-Site"); s != "" && s != "same-origin" && s != "none" {
		return false
	}
	origin, ok := r.Header["Origin"]
	if !ok {
		return true
	}
	u, err := url.Parse(strings.Join(origin, ","))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

func (g *gate) bears(r *http.Request) bool {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(kind, "Bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(g.token)) == 1
}
