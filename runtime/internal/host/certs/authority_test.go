package certs

import (
	"bytes"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed"
)

func newTestAuthority(t *testing.T) *Authority {
	t.Helper()
	files, err := createAuthority(filepath.Join(t.TempDir(), "pki"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return files.Value()
}

// A server that listens on all interfaces has their addresses in its certificate.
func TestNames(t *testing.T) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"localhost", "127.0.0.1", "::1", host, "api.example.com", "*.example.org", "192.0.2.7"}
	for _, address := range all {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			names = append(names, network.IP.String())
		}
	}
	a := newTestAuthority(t)
	pair, err := a.issue(serving(Names("0.0.0.0", []string{"API.example.com", "*.example.org", "192.0.2.7"})))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := pair.Leaf.VerifyHostname(strings.Replace(name, "*", "x", 1)); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(Names("0.0.0.0", nil), Names("::", nil)) {
		t.Error("all interfaces are not those of all")
	}
	if !slices.Contains(Names("192.0.2.77", nil), "192.0.2.77") {
		t.Error("the address is missing")
	}
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"example.com": true, "*.example.com": true, "*": true, "localhost": true, "10.0.0.1": true, "::1": true,
		"a_b.c": true, "EXAMPLE.com": true,
		"": false, "*.": false, ".com": false, "a..b": false, "a.*.b": false, "a b": false, "https://x": false,
		"x:6443": false, "x/y": false, strings.Repeat("a", 64): false, strings.Repeat("a.", 127) + "aa": false,
	} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A leaf that can't be used is made anew: nothing but its own files depends on it.
func TestLeafIsMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, a *Authority){
		"expired": func(t *testing.T, a *Authority) {
			past := *a
			past.now = func() time.Time { return time.Now().Add(-leafLife) }
			if _, err := past.issue(administrator()); err != nil {
				t.Fatal(err)
			}
		},
		"of another authority": func(t *testing.T, a *Authority) {
			other := newTestAuthority(t)
			if _, err := other.issue(administrator()); err != nil {
				t.Fatal(err)
			}
			move(t, other.file("admin.key"), a.file("admin.key"))
			move(t, other.file("admin.crt"), a.file("admin.crt"))
		},
		// A kill between the two files of a renewal.
		"new key, old certificate": func(t *testing.T, a *Authority) {
			other := newTestAuthority(t)
			if _, err := other.issue(administrator()); err != nil {
				t.Fatal(err)
			}
			move(t, other.file("admin.key"), a.file("admin.key"))
		},
		"empty": func(t *testing.T, a *Authority) {
			if err := os.Truncate(a.file("admin.crt"), 0); err != nil {
				t.Fatal(err)
			}
		},
		"without key": func(t *testing.T, a *Authority) {
			if err := os.Remove(a.file("admin.key")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newTestAuthority(t)
			if _, err := a.issue(administrator()); err != nil {
				t.Fatal(err)
			}
			spoil(t, a)
			k, _, _ := open(t, Options{Dir: a.dir})
			cert := k.admin.pair.Leaf
			if err := cert.CheckSignatureFrom(a.certs[0]); err != nil {
				t.Error(err)
			}
			if left := time.Until(cert.NotAfter); left < renewBefore {
				t.Errorf("it lasts for %v", left)
			}
		})
	}
}

// An authority is never replaced: every kubeconfig that was given out depends on it.
func TestAuthorityIsNeverReplaced(t *testing.T) {
	for name, spoil := range map[string]func(a *Authority) error{
		"key lost":    func(a *Authority) error { return os.Remove(a.file("ca.key")) },
		"key empty":   func(a *Authority) error { return os.Truncate(a.file("ca.key"), 0) },
		"certificate": func(a *Authority) error { return os.Truncate(a.file("ca.crt"), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			a := newTestAuthority(t)
			if err := spoil(a); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(a.file("ca.crt"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = createAuthority(a.dir, time.Now)
			if err == nil || !strings.Contains(err.Error(), "ca.key") || !strings.Contains(err.Error(), "ca.crt") {
				t.Errorf("error %v, want one that names ca.crt and ca.key", err)
			}
			after, err := os.ReadFile(a.file("ca.crt"))
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("ca.crt was changed (%v)", err)
			}
		})
	}
}

// A first start that was killed between key and certificate is made up for.
func TestAuthorityHalfMade(t *testing.T) {
	a := newTestAuthority(t)
	if err := os.Remove(a.file("ca.crt")); err != nil {
		t.Fatal(err)
	}
	if _, err := createAuthority(a.dir, time.Now); err != nil {
		t.Error(err)
	}
}

// A new authority that was written in part leaves one that works: the files are written in the order of the steps.
func TestRotationIsNeverHalf(t *testing.T) {
	a := newTestAuthority(t)
	old := map[string][]byte{}
	for _, name := range []string{authorityFile, keyFile} {
		old[name], _ = os.ReadFile(a.file(name))
	}
	next, err := a.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	both, err := encodeKey(next.key)
	if err != nil {
		t.Fatal(err)
	}
	both = append(both, old[keyFile]...)
	chain, err := os.ReadFile(a.file(chainFile))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	state := map[string][]byte{authorityFile: old[authorityFile], keyFile: old[keyFile]}
	for i, step := range []struct {
		file    string
		content []byte
		signs   *x509.Certificate
	}{
		{keyFile, old[keyFile], a.certs[0]},
		{keyFile, both, a.certs[0]},
		{chainFile, chain, a.certs[0]},
		{authorityFile, next.Trust(), next.certs[0]},
	} {
		state[step.file] = step.content
		for name, content := range state {
			testbed.Write(t, filepath.Join(dir, name), content)
		}
		got, err := OpenAuthority(dir, time.Now)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if !got.certs[0].Equal(step.signs) {
			t.Errorf("step %d: %s signs", i, got.certs[0].Subject)
		}
		if wanted := min(len(got.certs)-1, 1); len(got.chain) != wanted {
			t.Errorf("step %d: %d certificates in the chain", i, len(got.chain))
		}
	}
}

// A certificate never outlives its authority, and one that can't be renewed isn't made again and again.
func TestLeafEndsWithItsAuthority(t *testing.T) {
	k, clock, log := open(t, Options{})
	clock.add(authorityLife - 30*24*time.Hour)
	if _, changed := k.Sync(); !changed {
		t.Fatal("nothing was renewed")
	}
	mustContain(t, log.take(), "the server's own certificate authority ends")
	ends := k.authority.Value().Ends()
	for _, l := range k.kept() {
		if !l.pair.Leaf.NotAfter.Equal(ends) {
			t.Errorf("%s ends at %v, the authority at %v", l.name, l.pair.Leaf.NotAfter, ends)
		}
	}
	if _, changed := k.Sync(); changed {
		t.Error("renewed again, though it can't last longer")
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
