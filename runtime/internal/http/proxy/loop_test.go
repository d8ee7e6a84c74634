package proxy

import (
	"crypto/tls"
	"errors"
	"net/http"
	"testing"
	"time"

	"apigen.dev/runtime/internal/host/certs"
)

// issue returns a client certificate of an authority, which is made in a directory if it isn't there.
func issue(t *testing.T, dir, user string) *tls.Certificate {
	t.Helper()
	authority, err := certs.MakeAuthority(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	made, err := authority.Client(certs.Client{User: user, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		t.Fatal(err)
	}
	return &pair
}

// TestLoop: an aggregator knows its own requests, and those of replicas with certificates of the same authority,
// whoever else has passed them on.
func TestLoop(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	current, failure := issue(t, here, "a"), error(nil)
	loop := NewLoop(func() (*tls.Certificate, error) { return current, failure })
	sent := func(certificates ...*tls.Certificate) http.Header {
		header := http.Header{}
		for _, certificate := range certificates {
			mark, err := markOf(certificate)
			if err != nil {
				t.Fatal(err)
			}
			addVia(header, mark)
		}
		return header
	}
	for name, test := range map[string]struct {
		header http.Header
		want   bool
	}{
		"none":                  {http.Header{}, false},
		"its own":               {sent(current), true},
		"a renewed one":         {sent(issue(t, here, "a")), true},
		"of a replica":          {sent(issue(t, here, "b")), true},
		"of another":            {sent(issue(t, there, "a")), false},
		"passed on by another":  {sent(current, issue(t, there, "a")), true},
		"without a certificate": {sent(nil), false},
		"in one line":           {http.Header{"Via": {"1.0 x, " + sent(current)["Via"][0] + ", 2 y"}}, true},
	} {
		if got := loop.Closes(test.header); got != test.want {
			t.Errorf("%s: %v is one's own: %t", name, test.header, got)
		}
	}
	own := sent(current)
	current, failure = nil, errors.New("no file")
	if !loop.Closes(own) {
		t.Error("an aggregator whose certificate can't be read doesn't know its own requests")
	}
}
