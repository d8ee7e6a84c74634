package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/testbed"
)

func TestReadTokens(t *testing.T) {
	for _, test := range []struct {
		name, file, token string
		want              *User
		err               string
	}{
		{name: "groups", file: "t1,alice,7,\"dev,ops\"\n", token: "t1",
			want: &User{Name: "alice", UID: "7", Groups: []string{"dev", "ops"}}},
		{name: "no groups", file: "# comment\nt1,alice,7\n", token: "t1", want: &User{Name: "alice", UID: "7"}},
		{name: "too few columns", file: "ok,a,1\nt1,alice\n", err: "token file f:2: 2 columns"},
		{name: "empty token", file: ",alice,7\n", err: "must not be empty"},
		{name: "twice", file: "t,a,1\nt,b,2\n", err: "f:2: an earlier line has the same token"},
		{name: "broken quotes", file: "t,a,1,\"x\n", err: "token file f: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			tokens, err := ReadTokens(strings.NewReader(test.file), "f")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			bearer := Bearer{tokens}
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Authorization", "Bearer "+test.token)
			user, err := bearer.Authenticate(r)
			if err != nil || user == nil || user.Name != test.want.Name || user.UID != test.want.UID ||
				!slices.Equal(user.Groups, test.want.Groups) {
				t.Errorf("user %+v (%v), want %+v", user, err, test.want)
			}
			r.Header.Set("Authorization", "Bearer wrong")
			if user, err := bearer.Authenticate(r); user != nil || err == nil {
				t.Errorf("a wrong token: user %v, error %v", user, err)
			}
			r.Header.Set("Authorization", "Basic dDE6")
			if user, err := bearer.Authenticate(r); user != nil || err != nil {
				t.Errorf("another scheme: user %v, error %v; want no opinion", user, err)
			}
		})
	}
}

// Tokens that are replaced are unknown from then on, and a set without tokens knows nobody.
func TestReplaceTokens(t *testing.T) {
	tokens, other := new(Tokens), new(Tokens)
	tokens.Add("t1", &User{Name: "alice"})
	other.Add("t2", &User{Name: "bob"})
	for _, step := range []struct {
		by    *Tokens
		known string
	}{{nil, "t1"}, {other, "t2"}, {new(Tokens), ""}} {
		if step.by != nil {
			tokens.Replace(step.by)
		}
		for _, token := range []string{"t1", "t2", ""} {
			identity, err := tokens.AuthenticateToken(t.Context(), token, nil)
			if known := identity != nil; known != (token != "" && token == step.known) || err != nil {
				t.Errorf("%q is known: %v (%v)", token, known, err)
			}
		}
	}
}

// What is read of a file of tokens names a user for each token; what can't be read is an error that shows no token.
func FuzzReadTokens(f *testing.F) {
	f.Add("t1,alice,7,\"dev,ops\"\n")
	f.Add("# comment\nt1,alice,7\n\nt2,bob,8\n")
	f.Add("t1,alice\n")
	f.Add("t,a,1,\"x\n")
	f.Add("\xff,a,1")
	f.Add(" t , a ,1,\" , x\",y")
	f.Fuzz(func(t *testing.T, file string) {
		tokens, err := ReadTokens(strings.NewReader(file), "f")
		if err != nil {
			if tokens != nil || !strings.HasPrefix(err.Error(), "token file f") {
				t.Errorf("%v beside the error %v", tokens, err)
			}
			return
		}
		if identity, _ := tokens.AuthenticateToken(t.Context(), "", nil); identity != nil {
			t.Error("the empty token has a user")
		}
		users := tokens.users.Load()
		if users == nil {
			return
		}
		for _, user := range *users {
			if user.Name == "" || slices.Contains(user.Groups, "") {
				t.Errorf("the user %+v", user)
			}
		}
	})
}

func TestTokensInProtocols(t *testing.T) {
	tokens := new(Tokens)
	bearer := Bearer{tokens}
	tokens.Add("t1", &User{Name: "alice"})
	const good, wrong = tokenProtocol + "dDE", tokenProtocol + "dDI"
	for _, c := range []struct {
		name, upgrade string
		protocols     []string
		user, err     string
		left          []string
		connection    string
	}{
		{"first", "websocket", []string{good + ", a"}, "alice", "", []string{"a"}, ""},
		{"in a header of its own", "WebSocket", []string{"a, b", good}, "alice", "", []string{"a, b"}, ""},
		{"unknown", "websocket", []string{wrong, "a"}, "", "not known", []string{wrong, "a"}, ""},
		{"alone", "websocket", []string{good}, "", "none to choose", []string{good}, ""},
		{"two", "websocket", []string{good, good + ", a"}, "", "two protocols", []string{good, good + ", a"}, ""},
		{"padded", "websocket", []string{good + "=, a"}, "", "no base64url", []string{good + "=, a"}, ""},
		{
			"empty", "websocket", []string{tokenProtocol + ", a"}, "", "no base64url",
			[]string{tokenProtocol + ", a"}, "",
		},
		{"none", "websocket", []string{"a"}, "", "", []string{"a"}, ""},
		{"no upgrade", "websocket", []string{good, "a"}, "", "", []string{good, "a"}, "keep-alive"},
		{"no WebSocket", "SPDY/3.1", []string{good, "a"}, "", "", []string{good, "a"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Upgrade", c.upgrade)
			r.Header.Set("Connection", cmp.Or(c.connection, "keep-alive, Upgrade"))
			r.Header[protocolHeader] = slices.Clone(c.protocols)
			user, err := bearer.Authenticate(r)
			if c.user == "" && user != nil || c.user != "" && (user == nil || user.Name != c.user) {
				t.Errorf("user %v", user)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if left := r.Header[protocolHeader]; !slices.Equal(left, c.left) {
				t.Errorf("%q is left", left)
			}
		})
	}
}

func TestMastersOnly(t *testing.T) {
	for _, test := range []struct {
		groups []string
		want   Decision
	}{{[]string{"x", Masters}, Allow}, {[]string{"x"}, NoOpinion}, {nil, NoOpinion}} {
		got, _, err := MastersOnly{}.Authorize(context.Background(), Attributes{User: &User{Groups: test.groups}})
		if got != test.want || err != nil {
			t.Errorf("groups %v: %v, %v", test.groups, got, err)
		}
	}
	if got, _, _ := (MastersOnly{}).Authorize(context.Background(), Attributes{}); got != NoOpinion {
		t.Errorf("nobody: %v", got)
	}
}

type answer struct {
	user *User
	err  error
}

func (a answer) Authenticate(*http.Request) (*User, error) { return a.user, a.err }

// The authenticators are asked in order; wrong credentials are nobody's, not even the anonymous user's.
func TestAuthentication(t *testing.T) {
	alice, nobody, wrong := &User{Name: "alice"}, &User{Name: Anonymous}, errors.New("wrong")
	anonymous := func(*http.Request) *User { return nobody }
	for name, test := range map[string]struct {
		in   Authentication
		user *User
		err  error
	}{
		"none":       {Authentication{}, nil, nil},
		"no opinion": {Authentication{FrontProxy: answer{}, Certificates: answer{}}, nil, nil},
		"wrong, then right": {
			Authentication{FrontProxy: answer{nil, wrong}, Certificates: answer{alice, nil}}, alice, nil,
		},
		"right first": {
			Authentication{FrontProxy: answer{alice, nil}, Certificates: answer{nil, wrong}}, alice, nil,
		},
		"wrong, then nothing": {Authentication{FrontProxy: answer{nil, wrong}, Certificates: answer{}}, nil, wrong},
		"anonymous":           {Authentication{Certificates: answer{}, Anonymous: anonymous}, nobody, nil},
		"wrong and anonymous": {Authentication{Certificates: answer{nil, wrong}, Anonymous: anonymous}, nil, wrong},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if user, err := test.in.Authenticate(r); user != test.user || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, %v", name, user, err)
		}
	}
}

// The first decision of a union holds; without one, all reasons and errors are told.
func TestUnion(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		in     Union
		want   Decision
		reason string
		err    error
	}{
		"none":           {Union{}, NoOpinion, "", nil},
		"allowed second": {Union{opinion{NoOpinion, "a", broken}, opinion{Allow, "b", nil}}, Allow, "b", nil},
		"denied first":   {Union{opinion{Deny, "a", nil}, Always(Allow)}, Deny, "a", nil},
		"without opinion": {
			Union{opinion{NoOpinion, "a", broken}, opinion{NoOpinion, "b", nil}}, NoOpinion, "a\nb", broken,
		},
	} {
		got, reason, err := test.in.Authorize(t.Context(), Attributes{})
		if got != test.want || reason != test.reason || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, %q, %v", name, got, reason, err)
		}
	}
}

type opinion struct {
	decision Decision
	reason   string
	err      error
}

func (o opinion) Authorize(context.Context, Attributes) (Decision, string, error) {
	return o.decision, o.reason, o.err
}

// issue returns a certificate of an authority.
func issue(
	t *testing.T, a testbed.Authority, subject pkix.Name, until time.Time, usage x509.ExtKeyUsage,
) *x509.Certificate {
	t.Helper()
	return a.Issue(t, &x509.Certificate{Subject: subject, NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{usage}})
}

func TestCertificates(t *testing.T) {
	now := time.Now()
	ca, other := testbed.NewAuthority(t), testbed.NewAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(ca.Certificate)
	subject := pkix.Name{CommonName: "alice", Organization: []string{"dev"}}
	for _, test := range []struct {
		name string
		cert *x509.Certificate
		err  bool
	}{
		{"good", issue(t, ca, subject, now.Add(time.Hour), x509.ExtKeyUsageClientAuth), false},
		{"of another authority", issue(t, other, subject, now.Add(time.Hour), x509.ExtKeyUsageClientAuth), true},
		{"expired", issue(t, ca, subject, now.Add(-time.Minute), x509.ExtKeyUsageClientAuth), true},
		{"of a server", issue(t, ca, subject, now.Add(time.Hour), x509.ExtKeyUsageServerAuth), true},
		{"without a name", issue(t, ca, pkix.Name{}, now.Add(time.Hour), x509.ExtKeyUsageClientAuth), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{test.cert}}
			user, err := NewCertificates(roots).Authenticate(r)
			if test.err != (err != nil) || test.err != (user == nil) {
				t.Fatalf("user %v, error %v", user, err)
			}
			if user == nil {
				return
			}
			id := []string{fmt.Sprintf("X509SHA256=%x", sha256.Sum256(test.cert.Raw))}
			if user.Name != "alice" || !slices.Equal(user.Groups, []string{"dev"}) ||
				!slices.Equal(user.Extra[CredentialID], id) {
				t.Errorf("user %+v, want the credential %s", user, id)
			}
		})
	}
}

// A certificate that was good when the connection began is refused on the same connection once it has expired.
func TestCertificateExpiresOnConnection(t *testing.T) {
	now := time.Now()
	ca := testbed.NewAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(ca.Certificate)
	certificates := NewCertificates(roots)
	certificates.now = func() time.Time { return now }
	cert := issue(t, ca, pkix.Name{CommonName: "alice"}, now.Add(time.Hour), x509.ExtKeyUsageClientAuth)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(ConnContext(r.Context(), nil))
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}

	first, err := certificates.Authenticate(r)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := certificates.Authenticate(r); err != nil || second != first {
		t.Errorf("the second request of a connection was verified anew: %v, %v", second, err)
	}
	now = now.Add(2 * time.Hour)
	if user, err := certificates.Authenticate(r); user != nil || err == nil {
		t.Errorf("after its expiry: %v, %v", user, err)
	}
}

// The verdict of one authority on a connection's certificate is not that of another one.
func TestAuthoritiesOfOneConnection(t *testing.T) {
	now := time.Now()
	ca, other := testbed.NewAuthority(t), testbed.NewAuthority(t)
	accepting := func(a testbed.Authority) *Certificates {
		roots := x509.NewCertPool()
		roots.AddCert(a.Certificate)
		return NewCertificates(roots)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(ConnContext(r.Context(), nil))
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{
		issue(t, ca, pkix.Name{CommonName: "alice"}, now.Add(time.Hour), x509.ExtKeyUsageClientAuth),
	}}
	right, wrong := accepting(ca), accepting(other)
	for range 2 {
		if user, err := wrong.Authenticate(r); user != nil || err == nil {
			t.Errorf("an authority that did not sign: %v, %v", user, err)
		}
		if user, err := right.Authenticate(r); err != nil || user == nil || user.Name != "alice" {
			t.Errorf("the authority that signed: %v, %v", user, err)
		}
	}
}

func TestPaths(t *testing.T) {
	paths := Paths{"/healthz", "/open/*", "/some*"}
	for path, want := range map[string]Decision{
		"/healthz": Allow, "/healthz/": NoOpinion, "/healthz/etcd": NoOpinion, "/open": NoOpinion, "/open/": Allow,
		"/open/a/b": Allow, "/something": Allow, "/some": Allow, "/": NoOpinion, "/HEALTHZ": NoOpinion,
	} {
		got, _, err := paths.Authorize(t.Context(), Attributes{&User{}, &request.Info{Path: path}})
		if got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", path, got, err, want)
		}
	}
	resource := &request.Info{Path: "/open/x", IsResource: true}
	if got, _, _ := paths.Authorize(t.Context(), Attributes{&User{}, resource}); got != NoOpinion {
		t.Errorf("a resource: %v", got)
	}
}

func TestAnonymous(t *testing.T) {
	for name, row := range map[string]struct {
		anonymous func(*http.Request) *User
		paths     string // of those asked, which may be anonymous
	}{
		"everywhere": {AnonymousEverywhere, "/a /a/ /a/b"},
		"nowhere":    {AnonymousNowhere, ""},
		"at paths":   {AnonymousAt("/a", "/c"), "/a"},
	} {
		var found []string
		for _, path := range []string{"/a", "/a/", "/a/b"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			user, err := Authentication{Anonymous: row.anonymous}.Authenticate(r)
			if err != nil || user != nil && user.Name != Anonymous {
				t.Errorf("%s %s: %v, %v", name, path, user, err)
			}
			if user != nil {
				found = append(found, path)
			}
		}
		if got := strings.Join(found, " "); got != row.paths {
			t.Errorf("%s: %q, want %q", name, got, row.paths)
		}
	}
}

// A header is read as kube-apiserver reads it, so that no proxy that also reads it finds another token.
func TestAuthorizationHeader(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer t": "t", "bearer t": "t", "  Bearer t ": "t", "Bearer t u": "t", "Bearer t  u": "t",
		"Bearer  t": "", "Bearer": "", "Bearer ": "", "t": "", "Basic t": "", "Bearer\tt": "", "": "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		if got := bearerToken(r); got != want {
			t.Errorf("%q: token %q, want %q", header, got, want)
		}
	}
}

// An authority that is no longer trusted loses the clients that it had signed, on connections that were verified
// before; one that is trusted again gets them back.
func TestTrustIsThatInForce(t *testing.T) {
	now := time.Now()
	ca, other := testbed.NewAuthority(t), testbed.NewAuthority(t)
	certificates, beside, given := NewCertificates(poolOf(ca)), NewCertificates(poolOf(ca)), NewCertificates(nil)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(ConnContext(r.Context(), nil))
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{
		issue(t, ca, pkix.Name{CommonName: "alice"}, now.Add(time.Hour), x509.ExtKeyUsageClientAuth),
	}}
	for i, step := range []struct {
		roots *x509.CertPool
		want  bool
	}{{poolOf(ca), true}, {poolOf(other), false}, {poolOf(other, ca), true}, {nil, false}, {poolOf(ca), true}} {
		certificates.Trust(step.roots)
		for range 2 {
			if user, err := certificates.Authenticate(r); (user != nil) != step.want || (err == nil) != step.want {
				t.Errorf("step %d: %v, %v", i, user, err)
			}
			if user, err := given.AuthenticateBy(r, step.roots); (user != nil) != step.want ||
				(err == nil) != step.want {
				t.Errorf("step %d, by given roots: %v, %v", i, user, err)
			}
			if user, err := beside.Authenticate(r); user == nil || err != nil {
				t.Errorf("step %d, whoever trusts as before: %v, %v", i, user, err)
			}
		}
	}
	verdicts := 0
	conn := r.Context().Value(connectionKey{}).(*connection)
	for v := conn.verdicts.Load(); v != nil; v = v.next {
		verdicts++
	}
	if verdicts != 3 {
		t.Errorf("the connection keeps %d verdicts of three judges", verdicts)
	}
}

func poolOf(authorities ...testbed.Authority) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, a := range authorities {
		pool.AddCert(a.Certificate)
	}
	return pool
}
