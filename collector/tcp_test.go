package collector

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/internal/config"
	"kiro-learn/internal/event"
)

// freePort is a port of the loopback that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func (w *world) listen(l *Listen) {
	w.listenOn = l
	w.start()
}

func TestRequestsOverTCPNeedTheToken(t *testing.T) {
	w := newWorld(t)
	addr := freePort(t)
	file := filepath.Join(w.dirs.Config, "token")
	w.listen(&Listen{Address: addr, TokenFile: file, Hosts: []string{"Memory.example"}})
	b, err := os.ReadFile(file)
	token := strings.TrimSpace(string(b))
	if err != nil || len(token) < minToken {
		t.Fatalf("no token was made: %q, %v", token, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the token file is %v, %v", info.Mode(), err)
	}
	_, port, _ := net.SplitHostPort(addr)
	for _, c := range []struct {
		name, method, path, auth, host, origin string
		status                                 int
	}{
		{"with the token", "GET", "/healthz", "Bearer " + token, addr, "", 200},
		{"by another name of loopback", "GET", "/v1/stats", "bearer " + token, "localhost:" + port, "", 200},
		{"by a name that was given", "GET", "/v1/stats", "Bearer " + token, "memory.EXAMPLE:" + port, "", 200},
		{"from a page of its own", "GET", "/v1/stats", "Bearer " + token, addr, "http://" + addr, 200},
		{"without", "GET", "/healthz", "", addr, "", 401},
		{"a wrong token", "GET", "/v1/stats", "Bearer " + strings.Repeat("0", len(token)), addr, "", 401},
		{"a part of it", "GET", "/v1/stats", "Bearer " + token[:8], addr, "", 401},
		{"as a password", "GET", "/v1/stats", "Basic " + token, addr, "", 401},
		{"a foreign host", "GET", "/v1/stats", "Bearer " + token, "evil.example:" + port, "", 403},
		{"no port", "GET", "/v1/stats", "Bearer " + token, "localhost", "", 403},
		{"a foreign page", "GET", "/v1/stats", "Bearer " + token, addr, "http://evil.example", 403},
		{"a page from nowhere", "POST", "/v1/events", "Bearer " + token, addr, "null", 403},
		{"a foreign page without the token", "POST", "/v1/events", "", addr, "https://evil.example", 403},
		{"a stop", "POST", "/v1/shutdown", "Bearer " + token, addr, "", 403},
		{"nothing there", "GET", "/v1/none", "Bearer " + token, addr, "", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+addr+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			if c.auth != "" {
				r.Header.Set("Authorization", c.auth)
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			if body, _ := io.ReadAll(res.Body); res.StatusCode != c.status || c.status != 200 && !strings.Contains(string(body), `"error":`) {
				t.Errorf("%d %s", res.StatusCode, body)
			}
		})
	}
	far, err := client.New(w.dirs, config.Collector{URL: "http://" + addr, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	e := w.event(event.KindNote, "s", "", event.TextBody("from afar"))
	if got, err := far.PostEvent(context.Background(), e.AppendJSON(nil), false); err != nil || !got.Stored {
		t.Errorf("%+v, %v", got, err)
	}
	if status, _ := w.do("GET", "/v1/stats", "", ""); status != 200 {
		t.Error("the private socket needs no token")
	}
}

// certificate writes one for 127.0.0.1 and its key.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	kb, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, b := range map[string][]byte{cert: certPEM, key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: kb})} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return cert, key, pool
}

func TestTCPWithTLS(t *testing.T) {
	w := newWorld(t)
	addr := freePort(t)
	cert, key, pool := certificate(t)
	file := filepath.Join(w.dirs.Config, "token")
	const token = "a-token-of-my-own-choice"
	if err := os.MkdirAll(w.dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.listen(&Listen{Address: addr, TokenFile: file, Cert: cert, Key: key})
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer hc.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+addr+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := hc.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 200 {
		t.Error(res.Status)
	}
}

func TestListenRefusesWhatIsNotSafe(t *testing.T) {
	dir := t.TempDir()
	good, short := filepath.Join(dir, "good"), filepath.Join(dir, "short")
	for path, text := range map[string]string{good: strings.Repeat("x", 32), short: "secret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		l    Listen
		says string
	}{
		{"no port", Listen{Address: "127.0.0.1", TokenFile: good}, "write 127.0.0.1:7700"},
		{"no token", Listen{Address: "127.0.0.1:0"}, "--token-file"},
		{"a short token", Listen{Address: "127.0.0.1:0", TokenFile: short}, "at least 16 characters"},
		{"for all the world", Listen{Address: "0.0.0.0:0", TokenFile: good}, "--tls-cert"},
		{"on every address", Listen{Address: ":0", TokenFile: good}, "--tls-cert"},
		{"half a certificate", Listen{Address: "127.0.0.1:0", TokenFile: good, Cert: good}, "both"},
		{"no certificate", Listen{Address: "127.0.0.1:0", TokenFile: good, Cert: good, Key: good}, "read the certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, _, err := c.l.open(t.Context())
			if err == nil {
				_ = l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("gave %v", err)
			}
		})
	}
	for _, l := range []Listen{{Address: "0.0.0.0:0", TokenFile: good, Insecure: true}, {Address: "localhost:0", TokenFile: good}} {
		got, _, err := l.open(t.Context())
		if err != nil {
			t.Errorf("%s: %v", l.Address, err)
			continue
		}
		_ = got.Close()
	}
}
