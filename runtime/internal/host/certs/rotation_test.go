package certs

import (
	"crypto/x509"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/internal/testbed"
)

// While certificates and authorities change, requests on open and on new connections go on.
func TestRotationUnderLoad(t *testing.T) {
	dir, ca := t.TempDir(), newIssuer(t, "ca")
	clients := newIssuer(t, "clients")
	pairs := []Pair{ca.issue(t, "0", "127.0.0.1"), ca.issue(t, "1", "127.0.0.1")}
	cert, key := writePair(t, dir, "tls", pairs[0])
	file := filepath.Join(dir, "clients.crt")
	testbed.Write(t, file, clients.pem())
	k, _, _ := open(t, Options{Given: readGiven(t, Files{Certificate: cert, Key: key, ClientCA: file})})
	s := serve(t, k)
	alice := clients.issue(t, "alice")
	stop := make(chan struct{})
	var working sync.WaitGroup
	var lasting []*client
	ready := make(chan struct{}, 6)
	for i := range 6 {
		c := s.client(ca.pem(), alice, i%2 == 0)
		fresh := i >= 4
		c.http.Transport.(*http.Transport).DisableKeepAlives = fresh
		if !fresh {
			lasting = append(lasting, c)
		}
		working.Go(func() {
			for n := 0; ; n++ {
				if code, text, _, err := c.get(); err != nil || code != 200 || text != "alice" {
					t.Errorf("%d %q %v", code, text, err)
				}
				if n == 0 {
					ready <- struct{}{}
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range 6 {
		<-ready
	}
	for i := range 50 {
		writePair(t, dir, "tls", pairs[i%2])
		testbed.Write(t, file, slices.Concat(clients.pem(), newIssuer(t, "another").pem()))
		if !s.sync() {
			t.Error("nothing changed")
		}
	}
	close(stop)
	working.Wait()
	for _, c := range lasting {
		// A client of HTTP/1.1 may connect once more where a request comes before its connection is idle again.
		if c.connections() > 5 {
			t.Errorf("a client connected %d times", c.connections())
		}
	}
}

// A new authority takes over beside the old one: clients that trust only one of them reach the server, and are known to
// it, until the old one is dropped.
func TestNewAuthority(t *testing.T) {
	k, clock, _ := open(t, Options{})
	s := serve(t, k)
	before := k.State()
	old := s.client(before.Trust, before.Admin, true)
	old.want(t, 200, "apigen:admin")
	command := func(do func(a *Authority) error) {
		t.Helper()
		a, err := OpenAuthority(k.options.Dir, clock.Now)
		if err == nil {
			err = do(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !s.sync() {
			t.Fatal("the server did not take the change")
		}
	}
	rotate := func(a *Authority) error { _, err := a.Rotate(); return err }
	command(rotate)
	command(rotate)
	after := k.State()
	if got := len(k.authority.Value().certs); got != 3 {
		t.Fatalf("%d authorities", got)
	}
	newest := encodeCertificates(k.authority.Value().certs[:1])
	old.want(t, 200, "apigen:admin")
	s.client(before.Trust, before.Admin, true).want(t, 200, "apigen:admin")
	s.client(newest, after.Admin, true).want(t, 200, "apigen:admin")
	s.client(before.Trust, after.Admin, true).want(t, 200, "apigen:admin")

	// A replica that has not got the new files yet.
	replica := serve(t, k)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(before.Trust)
	replica.users.Trust(roots)
	replica.client(before.Trust, after.Admin, true).want(t, 200, "apigen:admin")

	command(func(a *Authority) error {
		n, err := a.DropOld()
		if n != 2 {
			err = errors.Join(err, errors.New("not two authorities were dropped"))
		}
		return err
	})
	old.want(t, 401, "")
	s.client(newest, k.State().Admin, true).want(t, 200, "apigen:admin")
	if _, _, _, err := s.client(before.Trust, k.State().Admin, true).get(); err == nil {
		t.Error("a client that trusts the old authority alone still reaches the server")
	}
}

// Several commands and servers that renew at once leave pairs that belong together, and a kubeconfig of them.
func TestChangesAtOnce(t *testing.T) {
	k, clock, log := open(t, Options{})
	log.take()
	var working sync.WaitGroup
	for range 4 {
		other, err := Open(k.options)
		if err != nil {
			t.Fatal(err)
		}
		working.Go(func() {
			for range 20 {
				other.Sync()
			}
		})
		working.Go(func() {
			err := Change(k.options.Dir, clock.Now, func(a *Authority) error {
				next, err := a.Rotate()
				if err != nil {
					return err
				}
				for _, name := range next.Renewable() {
					if _, err := next.Renew(name); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	if told := log.take(); strings.Contains(told, "level=ERROR") {
		t.Error(told)
	}
	a, err := OpenAuthority(k.options.Dir, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.certs) != 5 {
		t.Errorf("%d authorities", len(a.certs))
	}
	for _, l := range k.kept() {
		if pair, err := a.read(l.name); err != nil || !a.fits(pair, l.leaf) {
			t.Errorf("%s: %v", l.name, err)
		}
	}
}

// Renewal by a command is taken by a server that runs.
func TestRenewByCommand(t *testing.T) {
	k, clock, _ := open(t, Options{Names: []string{"api.example.com"}})
	a, err := OpenAuthority(k.options.Dir, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range a.Renewable() {
		if _, err := a.Renew(name); err != nil {
			t.Fatal(err)
		}
		before := k.State()
		if state, changed := k.Sync(); !changed || state == before {
			t.Errorf("%s: the server did not take it", name)
		}
	}
	if err := k.server.pair.Leaf.VerifyHostname("api.example.com"); err != nil {
		t.Error(err)
	}
	if _, err := a.Renew("nobody"); err == nil || !strings.Contains(err.Error(), "it has server, admin") {
		t.Errorf("error %v", err)
	}
}
