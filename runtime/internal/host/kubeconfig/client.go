package kubeconfig

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/internal/timing"
)

// ErrTooLarge is the error of reading an answer that is larger than the client's limit.
var ErrTooLarge = errors.New("the answer is too large")

// Client returns an HTTP client with the credentials of the config. It reads certificates and the token again when
// their files change, follows no redirects, and has no timeout: the context of a request bounds it. limit bounds the
// size of an answer in bytes, after decompression; 0 means no bound. The client sends its credentials to every host, so
// its requests must be for c.Server.
func (c *Config) Client(log *slog.Logger, limit int64) (*http.Client, error) {
	t := &transport{config: c, limit: limit}
	var err error
	if t.connections, err = c.connections(log); err != nil {
		return nil, err
	}
	if c.TokenFile != "" {
		if t.token, err = reload.Open(log, parseToken, c.TokenFile); err != nil {
			return nil, fmt.Errorf("tokenFile %s: %w", c.TokenFile, err)
		}
	}
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func parseToken(contents [][]byte) (string, error) {
	token := string(bytes.TrimSpace(contents[0]))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", errors.New("the file holds no token")
	}
	return token, nil
}

// transport adds credentials to requests, and bounds answers.
type transport struct {
	config      *Config
	connections *reload.Value[*http.Transport]
	token       *reload.Value[string] // nil without a file
	limit       int64
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	timing.Propagate(r.Context(), r.Header)
	t.authenticate(r)
	response, err := t.connections.Get().RoundTrip(r)
	if err == nil && t.limit > 0 {
		response.Body = &bounded{response.Body, t.limit}
	}
	return response, err
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() { t.connections.Get().CloseIdleConnections() }

func (t *transport) authenticate(r *http.Request) {
	c := t.config
	switch {
	case t.token != nil:
		r.Header.Set("Authorization", "Bearer "+t.token.Get())
	case c.Token != "":
		r.Header.Set("Authorization", "Bearer "+c.Token)
	case c.Username != "" || c.Password != "":
		r.SetBasicAuth(c.Username, c.Password)
	}
	if c.Impersonate.Name == "" {
		return
	}
	r.Header.Set("Impersonate-User", c.Impersonate.Name)
	if c.Impersonate.UID != "" {
		r.Header.Set("Impersonate-Uid", c.Impersonate.UID)
	}
	for _, group := range c.Impersonate.Groups {
		r.Header.Add("Impersonate-Group", group)
	}
	for key, values := range c.Impersonate.Extra {
		for _, value := range values {
			r.Header.Add("Impersonate-Extra-"+url.PathEscape(key), value)
		}
	}
}

// connections returns the HTTP transport of the config, which is another one after its files have changed.
func (c *Config) connections(log *slog.Logger) (*reload.Value[*http.Transport], error) {
	var paths []string
	pem := make([]func([][]byte) []byte, 0, 3)
	for _, source := range []Source{c.CA, c.Certificate, c.Key} {
		if len(source.Data) > 0 || source.File == "" {
			pem = append(pem, func([][]byte) []byte { return source.Data })
			continue
		}
		i := len(paths)
		paths = append(paths, source.File)
		pem = append(pem, func(contents [][]byte) []byte { return contents[i] })
	}
	var previous *http.Transport
	return reload.Open(log, func(contents [][]byte) (*http.Transport, error) {
		secured, err := c.tls(pem[0](contents), pem[1](contents), pem[2](contents))
		if err != nil {
			return nil, err
		}
		if previous != nil {
			previous.CloseIdleConnections()
		}
		previous = c.transport(secured)
		return previous, nil
	}, paths...)
}

func (c *Config) tls(ca, certificate, key []byte) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: c.ServerName,
		InsecureSkipVerify: c.Insecure, //nolint:gosec // G402: the operator asks for it
	}
	if !c.CA.empty() {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("certificate-authority holds no certificate in PEM")
		}
	}
	if !c.Certificate.empty() {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("client-certificate and client-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func (c *Config) transport(secured *tls.Config) *http.Transport {
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	proxy := http.ProxyFromEnvironment
	if c.Proxy != nil {
		proxy = http.ProxyURL(c.Proxy)
	}
	return &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: secured, ForceAttemptHTTP2: !c.HTTP1,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 25,
		MaxResponseHeaderBytes: 1 << 20,
		// A connection that was lost without a word is noticed.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// bounded is a body that may have so many bytes.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // the byte that is too much
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}
