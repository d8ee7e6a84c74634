package certs

import (
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"testing"
)

func TestPolicy(t *testing.T) {
	const rsa, ecdsa = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
	for _, test := range []struct {
		name     string
		policy   Policy
		min      uint16
		ciphers  int
		warnings string
		err      string
	}{
		{"nothing", Policy{}, tls.VersionTLS12, 0, "", ""},
		{"1.3", Policy{MinVersion: "VersionTLS13"}, tls.VersionTLS13, 0, "", ""},
		{"1.0", Policy{MinVersion: "VersionTLS10"}, tls.VersionTLS10, 0, "accepts connections that can be broken", ""},
		{"no version", Policy{MinVersion: "TLS12"}, 0, 0, "", `--tls-min-version: "TLS12" is none of VersionTLS10, `},
		{"a suite", Policy{Ciphers: []string{ecdsa}}, tls.VersionTLS12, 1, "", ""},
		{"an old name", Policy{Ciphers: []string{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", rsa}}, tls.VersionTLS12, 2,
			"", ""},
		{"an insecure one", Policy{Ciphers: []string{rsa, "TLS_RSA_WITH_AES_128_CBC_SHA"}}, tls.VersionTLS12, 2,
			"--tls-cipher-suites: TLS_RSA_WITH_AES_128_CBC_SHA is insecure", ""},
		{"no suite", Policy{Ciphers: []string{"AES"}}, 0, 0, "", `--tls-cipher-suites: there is no cipher suite "AES"`},
		{"without HTTP/2", Policy{Ciphers: []string{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}}, 0, 0, "",
			"--tls-cipher-suites: HTTP/2 needs " + rsa + " or " + ecdsa},
		{"suites of 1.3 alone", Policy{Ciphers: []string{"TLS_AES_128_GCM_SHA256"}}, 0, 0, "", "HTTP/2 needs"},
		{"without effect", Policy{MinVersion: "VersionTLS13", Ciphers: []string{"TLS_AES_128_GCM_SHA256"}},
			tls.VersionTLS13, 1, "has no effect on TLS 1.3", ""},
	} {
		config, warnings, err := test.policy.Config()
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err != nil || config.MinVersion != test.min || len(config.CipherSuites) != test.ciphers ||
			!strings.Contains(strings.Join(warnings, "\n"), test.warnings) ||
			(test.warnings == "") != (warnings == nil) {
			t.Errorf("%s: %+v, %q, %v", test.name, config, warnings, err)
		}
	}
	secure, insecure := CipherNames()
	if !slices.Contains(secure, rsa) || slices.Contains(insecure, rsa) ||
		!slices.Contains(insecure, "TLS_RSA_WITH_RC4_128_SHA") {
		t.Error("the names of cipher suites are not in their lists")
	}
}

// The policy holds in handshakes.
func TestPolicyInHandshakes(t *testing.T) {
	k, _, _ := open(t, Options{})
	const suite = tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
	for _, test := range []struct {
		policy  Policy
		version uint16
		good    bool
	}{
		{Policy{}, tls.VersionTLS12, true},
		{Policy{}, tls.VersionTLS11, false},
		{Policy{MinVersion: "VersionTLS13"}, tls.VersionTLS12, false},
		{Policy{MinVersion: "VersionTLS13"}, tls.VersionTLS13, true},
		{Policy{Ciphers: []string{tls.CipherSuiteName(suite)}}, tls.VersionTLS12, true},
	} {
		config, _, err := test.policy.Config()
		if err != nil {
			t.Fatal(err)
		}
		config.GetCertificate = k.GetCertificate
		near, far := net.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- tls.Server(far, config).Handshake()
			far.Close()
		}()
		client := tls.Client(near,
			&tls.Config{InsecureSkipVerify: true, MinVersion: test.version, MaxVersion: test.version})
		err = client.Handshake()
		if near.Close(); (err == nil) != test.good || (<-served == nil) != test.good {
			t.Errorf("%+v with %x: %v", test.policy, test.version, err)
		}
		if used := client.ConnectionState().CipherSuite; test.policy.Ciphers != nil && used != suite {
			t.Errorf("the cipher suite is %s", tls.CipherSuiteName(used))
		}
	}
}
