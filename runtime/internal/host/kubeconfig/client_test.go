package kubeconfig

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/timing"
)

// start returns a server over TLS that asks for client certificates, and a config with its authority.
func start(t *testing.T, handler http.HandlerFunc) *Config {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &Config{Server: u, CA: Source{Data: encode("CERTIFICATE", server.Certificate().Raw)}}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func get(t *testing.T, client *http.Client, config *Config) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Server.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func newClient(t *testing.T, config *Config, limit int64) *http.Client {
	t.Helper()
	client, err := config.Client(slog.New(slog.DiscardHandler), limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func put(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// await waits until a request is answered with a text.
func await(t *testing.T, client *http.Client, config *Config, want string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		got, err := get(t, client, config)
		if err == nil && got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
}

func TestCredentials(t *testing.T) {
	config := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("%s", r.Proto)
		}
		_ = r.Header.Write(w)
	})
	path := filepath.Join(t.TempDir(), "token")
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"token":  {func(c *Config) { c.Token = "t" }, "Authorization: Bearer t\r\n"},
		"basic":  {func(c *Config) { c.Username, c.Password = "a", "b" }, "Authorization: Basic YTpi\r\n"},
		"nobody": {func(*Config) {}, "Accept-Encoding: gzip\r\nUser-Agent: Go-http-client/2.0\r\n"},
		"tokens": {func(c *Config) { c.Token, c.TokenFile = "t", put(t, path, []byte("f\n")) }, "Bearer f\r\n"},
		"nickname": {func(c *Config) { c.Impersonate = Impersonation{Name: "x", Groups: []string{"g"}} },
			"User: x\r\n"},
		"extra": {func(c *Config) {
			c.Impersonate = Impersonation{Name: "x", UID: "7", Extra: map[string][]string{"a/b": {"v"}}}
		}, "Impersonate-Extra-A%2fb: v\r\nImpersonate-Uid: 7\r\n"},
	} {
		changed := *config
		test.change(&changed)
		got, err := get(t, newClient(t, &changed, 0), &changed)
		if err != nil || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// A token file that changes is read again; one that breaks is not.
func TestTokenFileIsReadAgain(t *testing.T) {
	config := start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	})
	config.TokenFile = put(t, filepath.Join(t.TempDir(), "token"), []byte("one\n"))
	client := newClient(t, config, 0)
	await(t, client, config, "Bearer one")
	put(t, config.TokenFile, []byte("two"))
	await(t, client, config, "Bearer two")
	put(t, config.TokenFile, []byte("a\r\nb"))
	if got, err := get(t, client, config); err != nil || got != "Bearer two" {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []string{"", " \n", "a b", "a\x00"} {
		put(t, config.TokenFile, []byte(wrong))
		if _, err := config.Client(slog.Default(), 0); err == nil || !strings.Contains(err.Error(), "no token") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// A client certificate that changes is sent on new connections.
func TestCertificateIsReadAgain(t *testing.T) {
	config := start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	})
	dir := t.TempDir()
	config.Certificate.File, config.Key.File = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	issue := func(name string) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		put(t, config.Key.File, encode("PRIVATE KEY", secret))
		put(t, config.Certificate.File, encode("CERTIFICATE", der))
	}
	issue("one")
	client := newClient(t, config, 0)
	await(t, client, config, "one")
	issue("two")
	await(t, client, config, "two")
}

func TestAnswersAreBounded(t *testing.T) {
	config := start(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), 1000)) })
	if got, err := get(t, newClient(t, config, 999), config); !errors.Is(err, ErrTooLarge) || len(got) != 999 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, limit := range []int64{0, 1000} {
		if got, err := get(t, newClient(t, config, limit), config); err != nil || len(got) != 1000 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	config := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			t.Error("followed")
		}
		http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
	})
	if _, err := get(t, newClient(t, config, 0), config); err != nil {
		t.Error(err)
	}
}

func TestClientRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		err    string
	}{
		"authority":      {Config{CA: Source{Data: []byte("x")}}, "no certificate"},
		"certificate":    {Config{Certificate: Source{Data: []byte("x")}}, "client-certificate"},
		"missing file":   {Config{CA: Source{File: "/none/ca"}}, "no such file"},
		"missing tokens": {Config{TokenFile: "/none/token"}, "tokenFile /none/token"},
	} {
		if _, err := test.config.Client(slog.Default(), 0); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", name, err, test.err)
		}
	}
	config := start(t, func(http.ResponseWriter, *http.Request) {})
	config.CA = Source{}
	if _, err := get(t, newClient(t, config, 0), config); err == nil {
		t.Error("a certificate of an unknown authority is accepted")
	}
	config.Insecure = true
	if _, err := get(t, newClient(t, config, 0), config); err != nil {
		t.Error(err)
	}
	config.Insecure, config.CA, config.ServerName = false, start(t, nil).CA, "example.com"
	if _, err := get(t, newClient(t, config, 0), config); err != nil {
		t.Error(err) // httptest's certificate is for example.com, too
	}
}

// TestTracedClient: a request in a traced one names its span; another doesn't.
func TestTracedClient(t *testing.T) {
	config := start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Traceparent"))
	})
	client := newClient(t, config, 0)
	record := timing.New(t.Context())
	record.Trace(func(h http.Header) { h.Set("Traceparent", "here") })
	for want, ctx := range map[string]context.Context{"here": record, "": t.Context()} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Server.String(), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != want {
			t.Errorf("%q, %v; want %q", body, err, want)
		}
		response.Body.Close()
		if len(request.Header) > 0 {
			t.Error("the caller's headers were changed")
		}
	}
}
