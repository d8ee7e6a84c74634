package proxy

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
)

func TestParseEndpoints(t *testing.T) {
	resolve, err := ParseEndpoints("endpoints", []string{
		"db/store:443=10.0.0.7:8443", "db/store=[::1]:9443", "metrics/server:8443=localhost:1",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[service]string{
		{"db", "store", 443}:       "10.0.0.7:8443",
		{"db", "store", 444}:       "[::1]:9443",
		{"metrics", "server", 443}: "server.metrics.svc:443",
		{"other", "store", 443}:    "store.other.svc:443",
	} {
		got, err := resolve(t.Context(), question.namespace, question.name, question.port)
		if err != nil || got != want {
			t.Errorf("%v: %s, %v, want %s", question, got, err, want)
		}
	}
	resolve, _ = ParseEndpoints("endpoints", nil, at("there:1"))
	if got, err := resolve(t.Context(), "a", "b", 1); err != nil || got != "there:1" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestParseEndpointsRefuses(t *testing.T) {
	var all []string
	var wants []string
	for value, want := range map[string]string{
		"":                 "is not of the form namespace/name:port=host:port",
		"a/b:1":            "is not of the form namespace/name:port=host:port",
		"a=b:1":            "is not of the form namespace/name:port=host:port",
		"/b=c:1":           `namespace ""`,
		"A/b=c:1":          `namespace "A"`,
		"a/=c:1":           `service ""`,
		"a/b.c=d:1":        `service "b.c"`,
		"a/b:=c:1":         `the service's port "" is not a number between 1 and 65535`,
		"a/b:x=c:1":        `the service's port "x"`,
		"a/b:0=c:1":        `the service's port "0"`,
		"a/b:65536=c:1":    `the service's port "65536"`,
		"a/b=c":            `address "c" is not of the form host:port`,
		"a/b=::1:1":        `address "::1:1" is not of the form host:port, or [host]:port for IPv6`,
		"a/b=:1":           `host "" of the address`,
		"a/b=c d:1":        `host "c d" of the address`,
		"a/b=https://c:1":  "is not of the form host:port",
		"a/b=c:99999":      `the address's port "99999"`,
		"a/b=user@host:99": `host "user@host" of the address`,
	} {
		_, err := ParseEndpoints("endpoints", []string{value}, nil)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), fmt.Sprintf("--endpoints: %q: ", value)) {
			t.Errorf("%q: %v, want %q", value, err, want)
		}
		all, wants = append(all, value), append(wants, want)
	}
	_, err := ParseEndpoints("endpoints", append(all, "a/b:1=c:1", "a/b:1=c:2"), nil)
	for _, want := range append(wants, "the service has an endpoint already, c:1") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func FuzzParseEndpoints(f *testing.F) {
	for _, seed := range []string{
		"a/b:1=c:1", "a/b=[::1]:65535", "a/b", "=/:", "a/b:1=c=d:1", "a/b=[c]:1", "a/b=[fe80::1%25x]:1",
	} {
		f.Add(seed)
	}
	unresolved := func(context.Context, string, string, int32) (string, error) { return "", nil }
	f.Fuzz(func(t *testing.T, value string) {
		resolve, err := ParseEndpoints("endpoints", []string{value}, unresolved)
		if err != nil {
			return
		}
		s, address, err := parseEndpoint(value)
		if err != nil {
			t.Fatalf("%q was accepted as one of several alone: %v", value, err)
		}
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			t.Errorf("%q: address %q (%v)", value, address, err)
		}
		if got, err := resolve(t.Context(), s.namespace, s.name, max(s.port, 1)); err != nil || got != address {
			t.Errorf("%q: %q, %v", value, got, err)
		}
		again := s.namespace + "/" + s.name
		if s.port > 0 {
			again += fmt.Sprint(":", s.port)
		}
		if s2, address2, err := parseEndpoint(again + "=" + address); err != nil || s2 != s || address2 != address {
			t.Errorf("%q: printed and parsed again it is %v %q (%v)", value, s2, address2, err)
		}
	})
}
