package certs

import (
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"testing"
)

// sniCertificate is a certificate and its --tls-sni-cert-key.
type sniCertificate struct {
	common   string
	names    []string // in the certificate
	patterns []string // in the flag
}

// The order is kube-apiserver's: names that aren't wildcards go before wildcards, patterns before names in
// certificates, earlier flags before later ones.
func TestNamedCertificates(t *testing.T) {
	standard := sniCertificate{common: "standard", names: []string{"localhost", "127.0.0.1"}}
	for _, test := range []struct {
		name   string
		others []sniCertificate
		want   map[string]int // the name that a client asks for, and the index in others; -1 is the standard one
	}{
		{"none", nil, map[string]int{"localhost": -1, "": -1, "other.com": -1}},
		{"its own name", []sniCertificate{{"ca", []string{"test.com"}, nil}},
			map[string]int{"test.com": 0, "TEST.com": 0, "localhost": -1, "": -1, "www.test.com": -1}},
		{"the name of the standard one", []sniCertificate{{"localhost", nil, nil}},
			map[string]int{"localhost": 0, "": -1}},
		{"a common name", []sniCertificate{{"test.com", []string{"a.com"}, nil}},
			map[string]int{"test.com": 0, "a.com": 0}},
		{"a common name that is an address", []sniCertificate{{"127.0.0.1", []string{"test.com"}, nil}},
			map[string]int{"": -1, "test.com": 0}},
		{"an address in a certificate", []sniCertificate{{"test.com", []string{"127.0.0.1"}, nil}},
			map[string]int{"": -1, "test.com": 0}},
		{"an address in a flag", []sniCertificate{{"x", []string{"test.com"}, []string{"127.0.0.1"}}},
			map[string]int{"": 0, "localhost": -1}},
		{"another address in a flag", []sniCertificate{{"x", []string{"test.com"}, []string{"127.0.0.2"}}},
			map[string]int{"": -1}},
		{"two of one name", []sniCertificate{{"test.com", nil, nil}, {"test.com", nil, nil}},
			map[string]int{"test.com": 0}},
		{"two of two names", []sniCertificate{{"test2.com", nil, nil}, {"test1.com", nil, nil}},
			map[string]int{"test1.com": 1, "test2.com": 0}},
		{"a pattern before a name",
			[]sniCertificate{{"test.com", nil, nil}, {"x", nil, []string{"test.com"}}}, map[string]int{"test.com": 1}},
		{"two patterns", []sniCertificate{{"x", nil, []string{"test.com"}}, {"y", nil, []string{"test.com"}}},
			map[string]int{"test.com": 0}},
		{"overlap", []sniCertificate{
			{"a", []string{"a.test.com", "test.com"}, nil}, {"b", []string{"b.test.com", "test.com"}, nil},
		}, map[string]int{"a": 0, "b": 1, "a.test.com": 0, "b.test.com": 1, "test.com": 0}},
		{"wildcards", []sniCertificate{
			{"a", []string{"a.test.com", "test.com"}, []string{"*.test.com", "test.com"}},
			{"b", []string{"b.test.com", "test.com"}, []string{"dev.test.com", "test.com"}},
		}, map[string]int{
			"test.com": 0, "www.test.com": 0, "dev.test.com": 1, "b.test.com": 0, "a.b.test.com": -1, "com": -1,
		}},
		{"a wildcard in a certificate", []sniCertificate{{"x", []string{"*.test.com"}, nil}},
			map[string]int{"www.test.com": 0, "test.com": -1, "a.b.test.com": -1}},
		{"a name before a wildcard of a flag", []sniCertificate{
			{"x", nil, []string{"*.test.com"}}, {"y", []string{"www.test.com"}, nil},
		}, map[string]int{"www.test.com": 1, "api.test.com": 0}},
		{"the wildcard of single labels", []sniCertificate{{"x", []string{"x"}, []string{"*"}}},
			map[string]int{"shop": 0, "localhost": 0, "shop.com": -1, "": -1}},
		// What no pattern names, a client gets from a certificate that is good for it.
		{"good though not named", []sniCertificate{
			{"x", []string{"x.com"}, []string{"y.com"}}, {"z", []string{"x.com"}, []string{"z.com"}},
		}, map[string]int{"x.com": 0, "y.com": 0, "z.com": 1, "localhost": -1, "nobody.com": -1}},
		{"good, but without a name of its own", []sniCertificate{
			{"x", nil, []string{"y.com"}}, {"z", []string{"x.com"}, []string{"y.com"}},
		}, map[string]int{"x.com": -1, "y.com": 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ca, dir := newIssuer(t, "ca"), t.TempDir()
			files := Files{}
			files.Certificate, files.Key = writePair(t, dir, "standard",
				ca.issue(t, standard.common, standard.names...))
			issued := map[string]int{}
			for i, other := range test.others {
				name := string(rune('a' + i))
				pair := ca.issue(t, other.common, other.names...)
				cert, key := writePair(t, dir, name, pair)
				files.Named = append(files.Named, Named{cert, key, other.patterns})
				issued[string(pair.Certificate)] = i
			}
			k, _, _ := open(t, Options{Given: readGiven(t, files)})
			s := serve(t, k)
			for name, want := range test.want {
				got := -1
				if i, ok := issued[string(shownTo(t, s.address, name))]; ok {
					got = i
				}
				if got != want {
					t.Errorf("%q gets %d, want %d", name, got, want)
				}
			}
		})
	}
}

// shownTo returns the certificate that a client gets which asks for a name, in PEM; "" asks for none.
func shownTo(t *testing.T, address, name string) []byte {
	t.Helper()
	// Which certificate it is matters, not whether it is good.
	config := &tls.Config{ServerName: name, InsecureSkipVerify: true}
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return encodeCertificates(conn.ConnectionState().PeerCertificates[:1])
}

// The certificates of --tls-sni-cert-key are reloaded with the names in them.
func TestNamedCertificatesAreReloaded(t *testing.T) {
	ca, dir := newIssuer(t, "ca"), t.TempDir()
	cert, key := writePair(t, dir, "x", ca.issue(t, "x", "old.com"))
	k, _, _ := open(t, Options{Given: readGiven(t, Files{Named: []Named{{Certificate: cert, Key: key}}})})
	s := serve(t, k)
	own := shownTo(t, s.address, "")
	for _, name := range []string{"old.com", "new.com"} {
		writePair(t, dir, "x", ca.issue(t, "x", name))
		s.sync()
		for _, asked := range []string{"old.com", "new.com"} {
			if standard := slices.Equal(shownTo(t, s.address, asked), own); standard != (asked != name) {
				t.Errorf("after %s, %s gets the standard certificate: %v", name, asked, standard)
			}
		}
	}
}

// parsed are values of --tls-sni-cert-key: those of kube-apiserver's documentation and what is left of broken ones.
var parsed = []struct {
	value string
	want  Named
	err   string
}{
	{"foo.crt,foo.key", Named{"foo.crt", "foo.key", nil}, ""},
	{"  foo.crt , foo.key  ", Named{"foo.crt", "foo.key", nil}, ""},
	{"foo.crt,foo.key:abc", Named{"foo.crt", "foo.key", []string{"abc"}}, ""},
	{"foo.crt,foo.key: abc,*.D.com , 10.0.0.1",
		Named{"foo.crt", "foo.key", []string{"abc", "*.d.com", "10.0.0.1"}}, ""},
	{"foo.crt,foo.key:::1", Named{"foo.crt", "foo.key", []string{"::1"}}, ""},
	{"foo.crt,foo.key:0:0:0:0:0:0:0:1", Named{"foo.crt", "foo.key", []string{"::1"}}, ""},
	{"", Named{}, "want the files"},
	{"foo.crt", Named{}, "want the files"},
	{"foo.crt:abc", Named{}, "want the files"},
	{",", Named{}, "want the files"},
	{"foo.crt,", Named{}, "want the files"},
	{"foo.crt,foo.key,x", Named{}, "want the files"},
	{"foo.crt,foo.key:", Named{}, `"" is neither`},
	{"foo.crt,foo.key:a,,b", Named{}, `"" is neither`},
	{"foo.crt,foo.key:a*.b", Named{}, `"a*.b" is neither`},
	{"foo.crt,foo.key:*.*.b", Named{}, `"*.*.b" is neither`},
}

func TestParseNamed(t *testing.T) {
	for _, test := range parsed {
		got, err := ParseNamed(test.value)
		if got.String() != test.want.String() || (err == nil) != (test.err == "") ||
			err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: %+v, %v", test.value, got, err)
		}
	}
}

// A value that is accepted has both files and only names that a client can ask for, and is written so that it is read
// again as the same.
func FuzzParseNamed(f *testing.F) {
	for _, test := range parsed {
		f.Add(test.value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		n, err := ParseNamed(value)
		if err != nil {
			if n.String() != "," {
				t.Errorf("%q: %+v beside the error %v", value, n, err)
			}
			return
		}
		if n.Certificate == "" || n.Key == "" || strings.Contains(value, ":") != (len(n.Patterns) > 0) {
			t.Errorf("%q: %+v", value, n)
		}
		for _, pattern := range n.Patterns {
			if CheckName(pattern) != nil || nameKey(pattern) != pattern ||
				net.ParseIP(pattern) == nil && strings.ContainsAny(pattern, ":, /") {
				t.Errorf("%q: the pattern %q", value, pattern)
			}
		}
		again, err := ParseNamed(n.String())
		if err != nil || again.String() != n.String() || !slices.Equal(again.Patterns, n.Patterns) {
			t.Errorf("%q is %q, which is read as %+v (%v)", value, n.String(), again, err)
		}
	})
}

// Broken files of certificates cause errors and nothing else, and whatever is read can be written and read again.
func FuzzParseBundle(f *testing.F) {
	ca := func() []byte {
		t := &testing.T{}
		return newIssuer(t, "ca").pem()
	}()
	f.Add(ca)
	f.Add(slices.Concat(ca, ca))
	f.Add(ca[:len(ca)-40])
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("no certificate"))
	f.Fuzz(func(t *testing.T, content []byte) {
		certs, err := parseBundle(content)
		if (err == nil) != (len(certs) > 0) {
			t.Fatalf("%d certificates and the error %v", len(certs), err)
		}
		if _, err := parsePair(content, content); err == nil && len(certs) == 0 {
			t.Error("a pair without a certificate")
		}
		if err != nil {
			return
		}
		again, err := parseBundle(encodeCertificates(certs))
		if err != nil || len(again) != len(certs) {
			t.Errorf("%d certificates are read as %d (%v)", len(certs), len(again), err)
		}
	})
}
