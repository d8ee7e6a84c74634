package oidc

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/testbed"
	"github.com/go-jose/go-jose/v4"
)

// TestRedirectsOfIssuers: a redirect of an issuer leads to https alone, as many times as net/http follows one.
func TestRedirectsOfIssuers(t *testing.T) {
	var plain atomic.Int64
	insecure := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { plain.Add(1) }))
	defer insecure.Close()
	for name, test := range map[string]struct{ from, to, err string }{
		"no redirect":               {"/other", "", ""},
		"keys elsewhere over https": {"/keys", "/other", ""},
		"keys over http":            {"/keys", insecure.URL, "must be an https URL"},
		"discovery over http":       {"/.well-known/openid-configuration", insecure.URL, "must be an https URL"},
		"a loop":                    {"/keys", "/keys", "stopped after 10 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newTestIssuer(t)
			key := testKeys["first"].public()
			i.keys = []jose.JSONWebKey{key}
			serve := i.Config.Handler
			i.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/other" {
					r.URL.Path = "/keys"
				} else if r.URL.Path == test.from {
					http.Redirect(w, r, test.to, http.StatusFound)
					return
				}
				serve.ServeHTTP(w, r)
			})
			_, err := authenticate(t, newFor(t, i.plain()), testKeys["first"].sign(t, i.URL, nil))
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v, want %q", err, test.err)
			}
		})
	}
	if n := plain.Load(); n > 0 {
		t.Errorf("%d requests were sent over http", n)
	}
}

// TestEndlessIssuers: documents of an issuer that don't end are read up to a megabyte, or not at all.
func TestEndlessIssuers(t *testing.T) {
	for _, path := range []string{"/.well-known/openid-configuration", "/keys"} {
		i := newTestIssuer(t)
		serve := i.Config.Handler
		i.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				serve.ServeHTTP(w, r)
				return
			}
			for chunk := bytes.Repeat([]byte(" "), 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		})
		_, err := authenticate(t, newFor(t, i.plain()), testKeys["first"].sign(t, i.URL, nil))
		if err == nil || !strings.Contains(err.Error(), "request body too large") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestHangingIssuers: a reading of documents ends by itself, whoever waits for it.
func TestHangingIssuers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := testbed.NewPipes()
		server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		})}
		done := make(chan error)
		go func() { done <- server.Serve(pipes) }()
		p := newProvider(Issuer{URL: "https://issuer.example.com"}, nil, []jose.SignatureAlgorithm{jose.RS256}, nil)
		reached := p.client.Transport.(bounded).RoundTripper.(*http.Transport)
		reached.DialTLSContext = pipes.Dial
		begin := time.Now()
		if _, err := p.read(t.Context()); err == nil || time.Since(begin) != fetchTimeout {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		reached.CloseIdleConnections()
		_ = server.Close()
		<-done
	})
}
