package oidc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/internal/access/meter"
	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
)

// Bounds of the requests to an issuer.
const (
	fetchTimeout = 10 * time.Second
	maxDocument  = 1 << 20
	maxRedirects = 10 // as in net/http
	// between is the shortest time between two readings of an issuer's keys: everybody can send tokens of unknown keys.
	between = 5 * time.Second
	// After a failure, the server asks again after firstPause, and after each further one twice as long, up to
	// lastPause.
	firstPause, lastPause = time.Second, time.Minute
	// stale is the age at which the server reads keys again, so that withdrawn ones are forgotten.
	stale = 5 * time.Minute
)

// provider has the keys of an issuer. It reads them when they are needed, and starts nothing by itself. It is safe for
// concurrent use, and implements go-oidc's KeySet.
type provider struct {
	issuer     string
	algorithms []jose.SignatureAlgorithm
	client     *http.Client
	metrics    *meter.Issuers
	now        func() time.Time
	reading    singleflight.Group

	mu      sync.Mutex // guards the following fields
	keys    []jose.JSONWebKey
	fetched time.Time // when the keys were read; zero if they never were
	next    time.Time // before which the issuer is not asked again
	pause   time.Duration
	err     error // of the last attempt
}

func newProvider(
	i Issuer, roots *x509.CertPool, algorithms []jose.SignatureAlgorithm, metrics *meter.Issuers,
) *provider {
	transport, _ := http.DefaultTransport.(*http.Transport)
	transport = transport.Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	transport.MaxResponseHeaderBytes = 64 << 10
	return &provider{
		issuer: i.URL, algorithms: algorithms, metrics: metrics, now: time.Now,
		client: &http.Client{
			Timeout: fetchTimeout, Transport: bounded{transport, wellKnown(i.URL), i.discovery()},
			CheckRedirect: onlySecure,
		},
	}
}

// onlySecure lets redirects lead to https alone: over http, anybody on the way could answer with keys. They may lead to
// another host, as in kube-apiserver, because jwks_uri may, too.
func onlySecure(r *http.Request, via []*http.Request) error {
	if r.URL.Scheme != "https" {
		return fmt.Errorf("a redirect leads to %q, and must be an https URL", r.URL)
	}
	if len(via) >= maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}

func wellKnown(issuer string) string {
	return strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
}

// VerifySignature implements go-oidc's KeySet. It returns the payload of a token that one of the issuer's keys signed.
// If none of the known keys did, it reads the keys again.
func (p *provider) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, p.algorithms)
	if err != nil {
		return nil, err
	}
	known, err := p.known(ctx)
	if err != nil {
		return nil, err
	}
	if payload := verifiedBy(known, jws); payload != nil {
		return payload, nil
	}
	if known, err = p.read(ctx); err != nil {
		return nil, err
	}
	if payload := verifiedBy(known, jws); payload != nil {
		return payload, nil
	}
	return nil, errors.New("failed to verify id token signature")
}

// verifiedBy returns the payload of a token that one of the keys signed: the one that the token names, or if it names
// none, any.
func verifiedBy(keys []jose.JSONWebKey, jws *jose.JSONWebSignature) []byte {
	header := jws.Signatures[0].Header
	for _, key := range keys {
		if header.KeyID != "" && header.KeyID != key.KeyID ||
			key.Algorithm != "" && key.Algorithm != header.Algorithm ||
			key.Use != "" && key.Use != "sig" || !key.IsPublic() {
			continue
		}
		if payload, err := jws.Verify(key); err == nil {
			return payload
		}
	}
	return nil
}

// known returns the known keys. It reads them if there are none, and begins to read them again if they are stale.
func (p *provider) known(ctx context.Context) ([]jose.JSONWebKey, error) {
	p.mu.Lock()
	keys, age, never := p.keys, p.now().Sub(p.fetched), p.fetched.IsZero()
	p.mu.Unlock()
	if never {
		return p.read(ctx)
	}
	if age > stale {
		p.begin(ctx) // nobody waits for it; take keeps its error
	}
	return keys, nil
}

// read reads the issuer's keys, unless it did so just before, and returns what it has then. Its error says why there
// are no keys at all.
func (p *provider) read(ctx context.Context) ([]jose.JSONWebKey, error) {
	select {
	case <-p.begin(ctx):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fetched.IsZero() {
		return nil, fmt.Errorf("the keys of the issuer are not known yet: %w", p.err)
	}
	return p.keys, nil
}

// begin begins to read the issuer's keys, unless that is under way, or it did so just before. It ends within
// fetchTimeout, whatever becomes of ctx.
func (p *provider) begin(ctx context.Context) <-chan singleflight.Result {
	return p.reading.DoChan("", func() (any, error) {
		p.mu.Lock()
		early := p.now().Before(p.next)
		p.mu.Unlock()
		if !early {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
			defer cancel()
			document, err := p.fetch(ctx)
			var keys []jose.JSONWebKey
			if err == nil {
				keys, err = keysIn(document)
			}
			p.metrics.Fetched(p.issuer, document, p.now(), err)
			p.take(keys, err)
		}
		return nil, nil
	})
}

// take remembers the outcome of an attempt to read the keys. After a failure, the keys that are known stay.
func (p *provider) take(keys []jose.JSONWebKey, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.err = err; err != nil {
		p.pause = min(max(firstPause, 2*p.pause), lastPause)
		p.next = now.Add(p.pause)
		return
	}
	p.keys, p.fetched, p.next, p.pause = keys, now, now.Add(between), 0
}

// fetch reads the issuer's discovery document, and the document of keys that it names.
func (p *provider) fetch(ctx context.Context) ([]byte, error) {
	discovered, err := gooidc.NewProvider(gooidc.ClientContext(ctx, p.client), p.issuer)
	if err != nil {
		return nil, err
	}
	var document struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := discovered.Claims(&document); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(document.KeysURL, "https://") {
		return nil, fmt.Errorf("jwks_uri in the discovery document of %s is %q, and must be an https URL", p.issuer,
			document.KeysURL)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, document.KeysURL, nil)
	if err != nil {
		return nil, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", document.KeysURL, response.Status)
	}
	keys, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", document.KeysURL, err)
	}
	return keys, nil
}

// keysIn returns the public keys of a document that this server understands. RFC 7517 wants others to be ignored
// (section 5).
func keysIn(document []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, fmt.Errorf("the keys of the issuer: %w", err)
	}
	if set.Keys == nil { // an empty list would withdraw all keys
		return nil, errors.New("the document of the issuer's keys has no list of keys")
	}
	var keys []jose.JSONWebKey
	for _, one := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) == nil && key.IsPublic() {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// bounded sends requests, and bounds the size of the answers. It reads the discovery document at another URL if there
// is one.
type bounded struct {
	http.RoundTripper
	wellKnown, discovery string
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.discovery != "" && r.URL.String() == b.wellKnown {
		moved, err := http.NewRequestWithContext(r.Context(), r.Method, b.discovery, nil)
		if err != nil {
			return nil, err
		}
		moved.Header = r.Header
		r = moved
	}
	response, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxDocument)
	return response, nil
}

// CloseIdleConnections lets http.Client close connections.
func (b bounded) CloseIdleConnections() {
	if closer, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
