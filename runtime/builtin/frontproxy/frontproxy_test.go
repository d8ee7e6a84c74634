package frontproxy

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// from returns a request over a connection with a client certificate, or without one.
func from(cert *x509.Certificate, header http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(auth.ConnContext(r.Context(), nil))
	r.TLS = &tls.ConnectionState{}
	if cert != nil {
		r.TLS.PeerCertificates = []*x509.Certificate{cert}
	}
	r.Header = header.Clone()
	return r
}

// certificate is one for a name and a host, which ends after a time.
func certificate(name, host string, usage x509.ExtKeyUsage, ends time.Duration) *x509.Certificate {
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(ends),
	}
	if host != "" {
		c.DNSNames = []string{host}
	}
	return c
}

func TestProxy(t *testing.T) {
	const hour = time.Hour
	ca, other := testbed.NewAuthority(t), testbed.NewAuthority(t)
	trust, err := NewTrust(ca.PEM(), []string{"proxy", "second"}, Headers{
		Username: []string{"X-Remote-User", "x-other"}, UID: []string{"X-Remote-Uid"},
		Group: []string{"X-Remote-Group", "X-More"}, ExtraPrefixes: []string{"x-remote-extra-", "X-Also-"},
	})
	if err != nil {
		t.Fatal(err)
	}
	proxy := New(func() *Trust { return trust })
	header := http.Header{
		"X-Remote-User": {"alice"}, "X-Remote-Uid": {"7"}, "X-Remote-Group": {"b", "", "a"}, "X-More": {"c"},
		"X-Remote-Extra-Example.com%2fkey": {"1", "2"}, "X-Remote-Extra-Scopes": {"s"}, "X-Remote-Extra-Bad%zz": {"z"},
		"X-Also-Scopes": {"t"}, "X-Other": {"mallory"}, "Accept": {"x"},
	}
	alice := &auth.User{Name: "alice", UID: "7", Groups: []string{"b", "a", "c"}, Extra: map[string][]string{
		"example.com/key": {"1", "2"}, "scopes": {"s", "t"}, "bad%zz": {"z"},
	}}
	for name, test := range map[string]struct {
		cert   *x509.Certificate
		header http.Header
		want   *auth.User
		err    string
	}{
		"proxy": {ca.Client(t, "proxy"), header, alice, ""},
		"second header": {ca.Client(t, "second"), http.Header{"X-Remote-User": {""}, "X-Other": {"o"}},
			&auth.User{Name: "o"}, ""},
		"nobody":               {ca.Client(t, "proxy"), http.Header{"X-Remote-Group": {"system:masters"}}, nil, ""},
		"no certificate":       {nil, header, nil, ""},
		"of another authority": {other.Client(t, "proxy"), header, nil, "unknown authority"},
		"another name": {ca.Client(t, "proxy2"), header, nil,
			"x509: subject with cn=proxy2 is not in the allowed list"},
		"a name in capitals": {ca.Client(t, "PROXY"), header, nil, "not in the allowed list"},
		"a name and more":    {ca.Client(t, "proxy "), header, nil, "not in the allowed list"},
		"no name":            {ca.Client(t, ""), header, nil, "no common name"},
		"a list of names":    {ca.Client(t, "proxy,second"), header, nil, "not in the allowed list"},
		"the name as a host": {ca.Issue(t, certificate("x", "proxy", x509.ExtKeyUsageClientAuth, hour)), header, nil,
			"not in the allowed list"},
		"a server's certificate": {ca.Issue(t, certificate("proxy", "", x509.ExtKeyUsageServerAuth, hour)), header, nil,
			"incompatible key usage"},
		"an expired one": {ca.Issue(t, certificate("proxy", "", x509.ExtKeyUsageClientAuth, -hour)), header, nil,
			"expired"},
	} {
		r := from(test.cert, test.header)
		got, err := proxy.Authenticate(r)
		if !reflect.DeepEqual(got, test.want) || (err == nil) != (test.err == "") ||
			err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %+v, %v; want %+v, %q", name, got, err, test.want, test.err)
		}
		for left := range r.Header {
			if left != "Accept" {
				t.Errorf("%s: a handler sees %s", name, left)
			}
		}
	}
	r := from(ca.Client(t, "proxy"), header)
	r.TLS = nil
	if got, err := proxy.Authenticate(r); got != nil || err != nil {
		t.Errorf("without TLS: %v, %v", got, err)
	}
	if got, err := New(func() *Trust { return nil }).Authenticate(from(ca.Client(t, "proxy"), header)); got != nil ||
		err != nil {
		t.Errorf("without trust: %v, %v", got, err)
	}
}

// TestFurtherHeadersAreRemoved: headers of others are removed, too, up to some number, and none that HTTP needs.
func TestFurtherHeadersAreRemoved(t *testing.T) {
	proxy := New(func() *Trust { return nil })
	var many []string
	for i := range 2 * maxFurther {
		many = append(many, fmt.Sprint("X-Many-", i))
	}
	proxy.Remove(Headers{Username: []string{"x-old-user"}, UID: []string{"X-Old-Uid"},
		Group: []string{"Authorization"}, ExtraPrefixes: []string{"x-old-extra-", "X-", "", "Content-"}})
	proxy.Remove(Headers{Username: []string{"X-Older-User", "X-Old-User"}, Group: []string{"X-Old-Group"}})
	proxy.Remove(Headers{Username: many, ExtraPrefixes: many})
	r := from(nil, http.Header{
		"X-Old-User": {"a"}, "X-Old-Uid": {"a"}, "X-Old-Group": {"a"}, "X-Older-User": {"a"},
		"X-Old-Extra-A%2fb": {"a"},
		"X-Many-0":          {"a"}, "X-Many-199": {"a"}, "Authorization": {"a"}, "Content-Type": {"a"},
		"X-Other": {"a"},
	})
	if user, err := proxy.Authenticate(r); user != nil || err != nil {
		t.Errorf("%v, %v", user, err)
	}
	want := []string{"Authorization", "Content-Type", "X-Many-199", "X-Other"}
	if got := slices.Sorted(maps.Keys(r.Header)); !slices.Equal(got, want) {
		t.Errorf("%q are left, want %q", got, want)
	}
}

// TestHeadersOfAProxy: headers that a proxy sends twice, or in other forms than usual, are one user.
func TestHeadersOfAProxy(t *testing.T) {
	headers := Headers{
		Username: []string{"X-Remote-User"}, UID: []string{"X-Remote-Uid"}, Group: []string{"X-Remote-Group"},
		ExtraPrefixes: []string{"x-remote-extra-", "X-Also-"},
	}
	for name, test := range map[string]struct {
		header http.Header
		want   *auth.User
	}{
		"two names":                  {http.Header{"X-Remote-User": {"bob", "root"}}, &auth.User{Name: "bob"}},
		"two names, the first empty": {http.Header{"X-Remote-User": {"", "root"}}, nil},
		"a name with commas": {http.Header{"X-Remote-User": {"bob,root"}},
			&auth.User{Name: "bob,root"}},
		"groups with commas": {http.Header{"X-Remote-User": {"bob"}, "X-Remote-Group": {"a,system:masters"}},
			&auth.User{Name: "bob", Groups: []string{"a,system:masters"}}},
		"another UID": {http.Header{"X-Remote-User": {"bob"}, "X-Remote-Uid": {"1", "0"}},
			&auth.User{Name: "bob", UID: "1"}},
		"a key escaped twice": {http.Header{"X-Remote-User": {"bob"}, "X-Remote-Extra-A%252fb": {"1"}},
			&auth.User{Name: "bob", Extra: map[string][]string{"a%2fb": {"1"}}}},
		"a key twice": {http.Header{"X-Remote-User": {"bob"}, "X-Remote-Extra-A": {"1"}, "X-Also-%61": {"2"}},
			&auth.User{Name: "bob", Extra: map[string][]string{"a": {"1", "2"}}}},
		"a key without a name": {http.Header{"X-Remote-User": {"bob"}, "X-Remote-Extra-": {"1"}},
			&auth.User{Name: "bob", Extra: map[string][]string{"": {"1"}}}},
		"underscores": {http.Header{"X_Remote_User": {"root"}, "X_remote_user": {"root"}}, nil},
	} {
		if got := headers.user(test.header); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func configure(t *testing.T, args ...string) (server.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	feature := &Feature{}
	feature.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	config := server.Config{Log: slog.New(slog.DiscardHandler)}
	return config, config.Use(t.Context(), feature)
}

// The authorities are read again when their file changes, and then hold for open connections.
func TestAuthoritiesRotate(t *testing.T) {
	before, after := testbed.NewAuthority(t), testbed.NewAuthority(t)
	path := filepath.Join(t.TempDir(), "ca.crt")
	write := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(before.PEM())
	config := server.Config{Log: slog.New(slog.DiscardHandler)}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	feature := &Feature{}
	feature.AddFlags(flags)
	AddFlags(flags) // another feature
	if err := flags.Parse([]string{"--requestheader-client-ca-file=" + path,
		"--requestheader-username-headers=X-Remote-User"}); err != nil {
		t.Fatal(err)
	}
	if err := config.Use(t.Context(), feature); err != nil {
		t.Fatal(err)
	}
	header := http.Header{"X-Remote-User": {"alice"}}
	of := map[string]*http.Request{
		"before": from(before.Client(t, "p"), header), "after": from(after.Client(t, "p"), header),
	}
	await := func(believed, other string) {
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(time.Minute); ; <-tick.C {
			got := map[string]*auth.User{}
			for name, r := range of {
				r.Header = header.Clone()
				got[name], _ = config.Authentication.FrontProxy.Authenticate(r)
			}
			if got[believed] != nil && got[other] == nil {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%v, want %s alone", got, believed)
			}
		}
	}
	await("before", "after")
	write(after.PEM())
	await("after", "before")
	write([]byte("broken"))
	await("after", "before")
	write(append(before.PEM(), after.PEM()[:100]...)) // half of a file
	await("after", "before")
}

func TestFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(path, testbed.NewAuthority(t).PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	ca, half := "--requestheader-client-ca-file="+path, path+".half"
	written := append(testbed.NewAuthority(t).PEM(), testbed.NewAuthority(t).PEM()[:100]...)
	if err := os.WriteFile(half, written, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		err  string
	}{
		{[]string{ca}, "needs --requestheader-username-headers"},
		{[]string{ca, "--requestheader-username-headers= "}, `empty value in "requestheader-username-headers"`},
		{[]string{"--requestheader-extra-headers-prefix=a,"}, `empty value in "requestheader-extra-headers-prefix"`},
		{[]string{ca + "x", "--requestheader-username-headers=u"}, "no such file"},
		{[]string{"--requestheader-client-ca-file=" + half, "--requestheader-username-headers=u"},
			"ends within a block of PEM"},
	} {
		if _, err := configure(t, test.args...); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: %v, want %q", test.args, err, test.err)
		}
	}
	if config, err := configure(t); err != nil || config.Authentication.FrontProxy != nil {
		t.Errorf("without flags: %v, %v", config.Authentication.FrontProxy, err)
	}
}

// No headers of a client without the certificate make a user, and none of them is left.
func FuzzHeaders(f *testing.F) {
	ca := testbed.NewAuthority(f)
	trust, err := NewTrust(ca.PEM(), nil, Standard())
	if err != nil {
		f.Fatal(err)
	}
	cert := ca.Client(f, "proxy")
	f.Add("X-Remote-User", "alice", "X-Remote-Extra-%41")
	f.Fuzz(func(t *testing.T, name, value, extra string) {
		header := http.Header{name: {value}, extra: {value}, "X-Remote-User": {value}}
		if user, _ := New(func() *Trust { return trust }).Authenticate(from(nil, header)); user != nil {
			t.Errorf("%v", user)
		}
		r := from(cert, header)
		user, err := New(func() *Trust { return trust }).Authenticate(r)
		if err != nil || (user == nil) != (value == "") || user != nil && user.Name != value {
			t.Errorf("%v, %v", user, err)
		}
		for left := range r.Header {
			if hasPrefix(left, "x-remote-") && (hasPrefix(left, "x-remote-extra-") || left == "X-Remote-User") {
				t.Errorf("%q is left", left)
			}
		}
	})
}

func FuzzAuthorities(f *testing.F) {
	f.Add(testbed.NewAuthority(f).PEM())
	f.Fuzz(func(t *testing.T, content []byte) {
		if trust, err := NewTrust(content, nil, Standard()); (trust == nil) != (err != nil) {
			t.Error(err)
		}
	})
}
