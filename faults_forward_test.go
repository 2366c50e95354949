//go:build unix

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// served is a collector that listens on TCP with TLS, as a process, and where.
func (b *box) served(cert, key string) (url string, stop func()) {
	b.t.Helper()
	log := filepath.Join(b.memory, "state", "kiro-learn.log")
	_ = os.Remove(log)
	_ = os.RemoveAll(filepath.Join(b.memory, "state", "log-marks")) // a line is written once a minute
	ctx, cancel := context.WithCancel(context.Background())
	cmd := b.command(ctx, "collector", "run", "--listen", "127.0.0.1:0", "--token-file", filepath.Join(b.memory, "token"), "--tls-cert", cert, "--tls-key", key)
	if err := cmd.Start(); err != nil {
		cancel()
		b.t.Fatal(err)
	}
	stop = func() {
		cancel()
		_ = cmd.Wait()
	}
	b.t.Cleanup(stop)
	said := regexp.MustCompile(`127\.0\.0\.1:[1-9][0-9]*`)
	if !poll(func() bool {
		text, _ := os.ReadFile(log)
		url = "https://" + said.FindString(string(text))
		_, err := b.collectorPID()
		return url != "https://" && err == nil
	}) {
		b.t.Fatal("no collector listens")
	}
	return url, stop
}

// certificate writes one for 127.0.0.1 and its key.
func certificate(t *testing.T) (cert, key string) {
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
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: kb}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}

// Forwarding: hooks that are told to use a collector elsewhere, over TCP with a token and TLS, start none here, are given
// its memory, and keep what it cannot be given until it can.
func TestForwardingToACollectorElsewhere(t *testing.T) {
	if !isLinux {
		t.Skip("elsewhere the system says which certificates are trusted, not SSL_CERT_FILE")
	}
	t.Parallel()
	cert, key := certificate(t)
	far := newBox(t, nil)
	url, stop := far.served(cert, key)
	token, err := os.ReadFile(filepath.Join(far.memory, "token"))
	if err != nil {
		t.Fatal(err)
	}
	near := newBox(t, nil).with("SSL_CERT_FILE=" + cert)
	to := func(url, token string) {
		t.Helper()
		if err := near.configure(map[string]any{"collector": map[string]any{"url": url, "token": strings.TrimSpace(token)}}); err != nil {
			t.Fatal(err)
		}
	}
	to(url, string(token))
	near.quiet("userPromptSubmit", near.prompt("one", "We decided to feed the aardvarks at noon because the termites are out then."))
	near.quiet("postToolUse", near.tool("one", fields{"command": "ls"}, "zoo"))
	near.quiet("stop", near.stop("one", "The aardvarks are fed at noon now; see zoo/feeding.go."))
	near.must("flush", "--timeout", "50s")
	if got, err := far.events("session_id=one"); err != nil || len(got) != 3 {
		t.Fatalf("%d events came through, %v", len(got), err)
	}
	far.must("flush", "--extract", "--timeout", "50s")
	if out := near.hook("userPromptSubmit", near.prompt("two", "when are the aardvarks fed?")); !strings.Contains(out, "aardvarks at noon") {
		t.Errorf("recalled %q", out)
	}

	// What cannot be delivered waits, whatever the reason, and is set aside for none.
	count := func(want int, why string) {
		t.Helper()
		if st, err := near.outbox(); err != nil || st.Pending != want || st.Quarantined != 0 {
			t.Errorf("%s: %+v, %v; want %d that wait", why, st, err, want)
		}
	}
	to(url, "another-token")
	near.quiet("userPromptSubmit", near.prompt("three", "with a token that is not the one"))
	if r, err := near.run(nil, "flush", "--timeout", "500ms"); err != nil || r.code != 1 {
		t.Errorf("flush: %+v, %v", r, err)
	}
	count(1, "a wrong token")
	to(url, string(token))
	near.with("SSL_CERT_FILE=/dev/null").quiet("userPromptSubmit", near.prompt("three", "with a certificate that nobody trusts"))
	stop()
	near.quiet("stop", near.stop("three", "while nobody is there"))
	if _, err := os.Stat(filepath.Join(near.memory, "data", "memory.db")); err == nil {
		t.Error("a collector has been started here")
	}
	url, _ = far.served(cert, key)
	to(url, string(token))
	near.must("flush", "--timeout", "50s")
	count(0, "after all")
	if got, err := far.events("session_id=three"); err != nil || len(got) != 3 {
		t.Errorf("%d events came through, %v: %s", len(got), err, texts(got))
	}
}
