package certs

import (
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestClientCertificates(t *testing.T) {
	k, clock, _ := open(t, Options{})
	s := serve(t, k)
	a := k.authority.Value()
	pair, err := a.Client(Client{User: "alice", Groups: []string{"devs", "ops"}, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	s.client(k.State().Trust, pair, true).want(t, 200, "alice")
	certs, err := parseBundle(pair.Certificate)
	slices.Sort(certs[0].Subject.Organization)
	if err != nil || !slices.Equal(certs[0].Subject.Organization, []string{"devs", "ops"}) ||
		certs[0].NotAfter.Sub(clock.Now()) > time.Hour {
		t.Errorf("%v, until %v (%v)", certs[0].Subject, certs[0].NotAfter, err)
	}
	if certs[0].IsCA || certs[0].KeyUsage&x509.KeyUsageCertSign != 0 ||
		!slices.Equal(certs[0].ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}) {
		t.Error("the certificate is good for more than a client")
	}
	for name, test := range map[string]struct {
		client Client
		want   string
	}{
		"nobody":         {Client{TTL: time.Hour}, "needs the name of a user"},
		"no group":       {Client{User: "a", Groups: []string{""}, TTL: time.Hour}, "a group has no name"},
		"short":          {Client{User: "a", TTL: time.Minute}, "between 10m0s and 8760h0m0s"},
		"long":           {Client{User: "a", TTL: MaxTTL + 1}, "between 10m0s and 8760h0m0s"},
		"masters":        {Client{User: "a", Groups: []string{"system:masters"}, TTL: time.Hour}, "rights of its own"},
		"a system user":  {Client{User: "system:apiserver", TTL: time.Hour}, "rights of its own"},
		"a control byte": {Client{User: "a\nb", TTL: time.Hour}, "not printed"},
		"no UTF-8":       {Client{User: "a\xff", TTL: time.Hour}, "not printed"},
	} {
		if _, err := a.Client(test.client); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Client(Client{User: "system:x", TTL: time.Hour, AllowSystem: true}); err != nil {
		t.Error(err)
	}
	clock.add(authorityLife - time.Minute)
	if _, err := a.Client(Client{User: "a", TTL: time.Hour}); err == nil || !strings.Contains(err.Error(), "ends on") {
		t.Errorf("after the authority's end: %v", err)
	}
}
