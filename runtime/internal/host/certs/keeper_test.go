package certs

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed"
)

// What the server made itself is renewed before it ends, while connections are open.
func TestRenewal(t *testing.T) {
	start := newClock()
	start.add(-(leafLife - renewBefore - 2*time.Hour)) // so that the old and the new certificates are valid today
	k, clock, log := openAt(t, start, Options{})
	s := serve(t, k)
	first := k.State()
	old := s.client(first.Trust, first.Admin, true)
	before := old.want(t, http.StatusOK, "apigen:admin")
	clock.add(leafLife - renewBefore - time.Hour)
	if s.sync() {
		t.Error("renewed too early")
	}
	clock.add(2 * time.Hour)
	log.take()
	if !s.sync() {
		t.Fatal("not renewed")
	}
	mustContain(t, log.take(), "name=server", "name=admin")
	if same := old.want(t, http.StatusOK, "apigen:admin"); !same.Equal(before) || old.connections() != 1 {
		t.Error("the open connection did not go on")
	}
	state := k.State()
	if state.Roots != first.Roots || string(state.Trust) != string(first.Trust) {
		t.Error("the authorities changed, too")
	}
	after := s.client(first.Trust, state.Admin, true).want(t, http.StatusOK, "apigen:admin")
	if !after.NotAfter.After(before.NotAfter) || slices.Equal(state.Admin.Certificate, first.Admin.Certificate) {
		t.Errorf("new connections still have the old certificates, until %v", after.NotAfter)
	}
	if s.sync() {
		t.Error("renewed twice")
	}
	again, err := Open(Options{Dir: k.options.Dir, Names: k.options.Names, Now: clock.Now, Log: k.options.Log})
	if err != nil || !again.server.pair.Leaf.Equal(after) {
		t.Errorf("a restart has another certificate (%v)", err)
	}
}

// A renewal that can't be written is used nevertheless, logged once, and made up for later.
func TestRenewalWithoutDisk(t *testing.T) {
	k, clock, log := open(t, Options{})
	dir := k.options.Dir
	away := dir + ".away"
	move(t, dir, away)
	clock.add(leafLife - renewBefore + time.Hour)
	log.take()
	k.Sync()
	mustContain(t, log.take(), "level=ERROR")
	if left := k.server.pair.Leaf.NotAfter.Sub(clock.Now()); left < renewBefore {
		t.Errorf("the certificate in use ends in %v", left)
	}
	if k.Sync(); strings.Contains(log.take(), "level=ERROR") {
		t.Error("the same error was logged twice")
	}
	move(t, away, dir)
	k.Sync()
	for _, l := range k.kept() {
		if stored, err := k.authority.Value().read(l.name); err != nil || !stored.Leaf.Equal(l.pair.Leaf) {
			t.Errorf("%s is not in the directory: %v", l.name, err)
		}
	}
}

// Two servers with other names on one directory keep certificates of their own, and don't take turns at renewing.
func TestTwoServersOnOneDirectory(t *testing.T) {
	a, _, _ := open(t, Options{Names: []string{"a.example.com"}})
	b, _, _ := open(t, Options{Names: []string{"b.example.com"}, Dir: a.options.Dir})
	for range 3 {
		if _, changed := a.Sync(); changed {
			t.Error("a changed")
		}
		if _, changed := b.Sync(); changed {
			t.Error("b changed")
		}
	}
	if a.server.pair.Leaf.VerifyHostname("a.example.com") != nil ||
		b.server.pair.Leaf.VerifyHostname("b.example.com") != nil {
		t.Error("a server has the other's name")
	}
}

// The files of flags are read again. A broken or half-written pair is logged, and changes nothing.
func TestGivenCertificatesAreReloaded(t *testing.T) {
	dir, ca := t.TempDir(), newIssuer(t, "ca")
	first, second := ca.issue(t, "first", "127.0.0.1"), ca.issue(t, "second", "127.0.0.1")
	cert, key := writePair(t, dir, "tls", first)
	k, _, log := open(t, Options{Given: readGiven(t, Files{Certificate: cert, Key: key})})
	s := serve(t, k)
	open := s.client(ca.pem(), Pair{}, true)
	open.want(t, http.StatusOK, "")
	expect := func(common string) {
		t.Helper()
		fresh := s.client(ca.pem(), Pair{}, true)
		if got := fresh.want(t, http.StatusOK, ""); got != nil && got.Subject.CommonName != common {
			t.Errorf("the server has %s, want %s", got.Subject.CommonName, common)
		}
	}
	log.take()
	for _, step := range []struct {
		name      string
		cert, key []byte
		changed   bool
		want, log string
	}{
		{"as before", first.Certificate, first.Key, false, "first", ""},
		{"another key", first.Certificate, second.Key, false, "first", "private key does not match"},
		{"half a certificate", second.Certificate[:len(second.Certificate)/2], second.Key, false, "first",
			"the certificate: ends within a block"},
		{"half a key", second.Certificate, second.Key[:len(second.Key)/2], false, "first",
			"the key: ends within a block"},
		{"empty", nil, nil, false, "first", "failed to find any PEM data"},
		{"half a chain", slices.Concat(second.Certificate, ca.pem()[:100]), second.Key, false, "first",
			"ends within a block of PEM, or has a broken one, after 1 whole ones"},
		{"another pair", second.Certificate, second.Key, true, "second", "certificates were reloaded"},
		{"back", first.Certificate, first.Key, true, "first", "certificates were reloaded"},
	} {
		testbed.Write(t, cert, step.cert)
		testbed.Write(t, key, step.key)
		if changed := s.sync(); changed != step.changed {
			t.Errorf("%s: changed %v", step.name, changed)
		}
		expect(step.want)
		told := log.take()
		mustContain(t, told, step.log)
		if step.log == "" && told != "" {
			t.Errorf("%s: logged %s", step.name, told)
		}
		if strings.Contains(told, "PRIVATE") {
			t.Errorf("%s: a key was logged", step.name)
		}
		if s.sync(); log.take() != "" {
			t.Errorf("%s: logged twice", step.name)
		}
	}
	if string(k.State().Trust) != string(first.Certificate) {
		t.Error("clients are told to trust another certificate than that of the flag")
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if s.sync() {
		t.Error("a key that is gone changes something")
	}
	expect("first")
	open.want(t, http.StatusOK, "")
	if open.connections() != 1 {
		t.Errorf("%d connections", open.connections())
	}
}

// A removed authority refuses clients whose connection was verified before, over HTTP/1.1 and HTTP/2; an added one
// takes clients at once.
func TestClientAuthoritiesAreReloaded(t *testing.T) {
	dir, one, two := t.TempDir(), newIssuer(t, "one"), newIssuer(t, "two")
	file := filepath.Join(dir, "clients.crt")
	testbed.Write(t, file, one.pem())
	k, _, log := open(t, Options{Given: readGiven(t, Files{ClientCA: file})})
	s := serve(t, k)
	trust := k.State().Trust
	admin := s.client(trust, k.State().Admin, true)
	var alice, bob []*client
	for _, http2 := range []bool{true, false} {
		alice = append(alice, s.client(trust, one.issue(t, "alice"), http2))
		bob = append(bob, s.client(trust, two.issue(t, "bob"), http2))
	}
	for _, step := range []struct {
		name       string
		content    []byte
		alice, bob int
	}{
		{"one", one.pem(), 200, 401},
		{"both", slices.Concat(one.pem(), two.pem()), 200, 200},
		{"half-written", slices.Concat(one.pem(), two.pem()[:len(two.pem())-30]), 200, 200},
		{"nothing", nil, 200, 200},
		{"two", two.pem(), 401, 200},
		{"one again", one.pem(), 200, 401},
	} {
		testbed.Write(t, file, step.content)
		s.sync()
		for i := range alice {
			alice[i].want(t, step.alice, "alice")
			bob[i].want(t, step.bob, "bob")
		}
		admin.want(t, 200, "apigen:admin")
	}
	mustContain(t, log.take(), "ends within a block of PEM", "holds no certificate in PEM")
	for _, c := range append(alice, bob...) {
		if c.connections() != 1 {
			t.Errorf("%d connections", c.connections())
		}
	}
}

// A session that is resumed brings its certificate with it, and is judged anew.
func TestResumedSessionsAreJudgedAnew(t *testing.T) {
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			ca, file := newIssuer(t, "ca"), filepath.Join(t.TempDir(), "clients.crt")
			testbed.Write(t, file, ca.pem())
			k, _, _ := open(t, Options{Given: readGiven(t, Files{ClientCA: file})})
			s := serve(t, k)
			c := s.client(k.State().Trust, ca.issue(t, "alice"), false)
			transport := c.http.Transport.(*http.Transport)
			transport.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(4)
			transport.TLSClientConfig.MaxVersion = version
			transport.DisableKeepAlives = true
			c.want(t, 200, "alice")
			resumed := func(code int) {
				t.Helper()
				response, err := c.http.Get(c.url)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if !response.TLS.DidResume || response.StatusCode != code {
					t.Errorf("resumed %v, code %d, want %d", response.TLS.DidResume, response.StatusCode, code)
				}
			}
			resumed(200)
			testbed.Write(t, file, newIssuer(t, "other").pem())
			s.sync()
			resumed(401)
		})
	}
}
