package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newIdentity(t *testing.T) *identity {
	t.Helper()
	id, err := loadIdentity(filepath.Join(t.TempDir(), "pki"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (id *identity) file(name string) string { return filepath.Join(id.dir, name) }

// TestServingCertificateNamesItsAddresses: where the server listens on all interfaces, by any of their addresses.
func TestServingCertificateNamesItsAddresses(t *testing.T) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	id := newIdentity(t)
	if _, err := id.serving("127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	pair, err := id.serving("0.0.0.0") // the one of before doesn't do
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"localhost", "127.0.0.1", "::1", name}
	for _, address := range all {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			names = append(names, network.IP.String())
		}
	}
	for _, name := range names {
		if err := pair.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	again, err := id.serving("::")
	if err != nil || !bytes.Equal(again.Certificate[0], pair.Certificate[0]) {
		t.Errorf("made anew without need: %v", err)
	}
	if other, err := id.serving("192.0.2.77"); err != nil || other.Leaf.VerifyHostname("192.0.2.77") != nil {
		t.Errorf("%v", err)
	}
}

// A leaf that can't be used is made anew: nothing but its own files depends on it.
func TestLeafIsMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, id *identity){
		"expired": func(t *testing.T, id *identity) {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			template := certificate(pkix.Name{CommonName: "apigen:admin"}, -time.Minute)
			der, err := x509.CreateCertificate(rand.Reader, template, id.authority, key.Public(), id.key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := id.write("admin", tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}); err != nil {
				t.Fatal(err)
			}
		},
		"of another authority": func(t *testing.T, id *identity) {
			other := newIdentity(t)
			if _, err := other.administrator(); err != nil {
				t.Fatal(err)
			}
			move(t, other.file("admin.key"), id.file("admin.key"))
			move(t, other.file("admin.crt"), id.file("admin.crt"))
		},
		// A kill between the two files of a renewal.
		"new key, old certificate": func(t *testing.T, id *identity) {
			other := newIdentity(t)
			if _, err := other.administrator(); err != nil {
				t.Fatal(err)
			}
			move(t, other.file("admin.key"), id.file("admin.key"))
		},
		"empty": func(t *testing.T, id *identity) {
			if err := os.Truncate(id.file("admin.crt"), 0); err != nil {
				t.Fatal(err)
			}
		},
		"without key": func(t *testing.T, id *identity) {
			if err := os.Remove(id.file("admin.key")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := newIdentity(t)
			if _, err := id.administrator(); err != nil {
				t.Fatal(err)
			}
			spoil(t, id)
			pair, err := id.administrator()
			if err != nil {
				t.Fatal(err)
			}
			if err := pair.Leaf.CheckSignatureFrom(id.authority); err != nil {
				t.Error(err)
			}
			if left := time.Until(pair.Leaf.NotAfter); left < renewBefore {
				t.Errorf("it lasts for %v", left)
			}
		})
	}
}

// An authority is never replaced: every kubeconfig that was given out depends on it.
func TestAuthorityIsNeverReplaced(t *testing.T) {
	for name, spoil := range map[string]func(id *identity) error{
		"key lost":    func(id *identity) error { return os.Remove(id.file("ca.key")) },
		"key empty":   func(id *identity) error { return os.Truncate(id.file("ca.key"), 0) },
		"certificate": func(id *identity) error { return os.Truncate(id.file("ca.crt"), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			id := newIdentity(t)
			if err := spoil(id); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(id.file("ca.crt"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = loadIdentity(id.dir)
			if err == nil || !strings.Contains(err.Error(), "ca.key") || !strings.Contains(err.Error(), "ca.crt") {
				t.Errorf("error %v, want one that names ca.crt and ca.key", err)
			}
			after, err := os.ReadFile(id.file("ca.crt"))
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("ca.crt was changed (%v)", err)
			}
		})
	}
}

// A first start that was killed between key and certificate is made up for.
func TestAuthorityHalfMade(t *testing.T) {
	id := newIdentity(t)
	if err := os.Remove(id.file("ca.crt")); err != nil {
		t.Fatal(err)
	}
	again, err := loadIdentity(id.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.administrator(); err != nil {
		t.Error(err)
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
