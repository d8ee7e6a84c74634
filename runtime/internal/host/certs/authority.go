package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"apigen.dev/runtime/internal/reload"
)

// Certificates that the server makes are valid from a day before they are made: a clock that was fast at the first
// start, and is corrected later by less than a day, locks nobody out.
const (
	backdated     = 24 * time.Hour
	authorityLife = 10 * 365 * 24 * time.Hour
)

// The files of an authority. ca.crt has the certificate of the authority that signs, and after it those of earlier
// ones, which are trusted until they end. ca.key has the key of the first; while the authority changes, it has two.
// ca-chain.crt has certificates of the first, signed by the earlier ones, for clients that know only these.
const (
	authorityFile = "ca.crt"
	keyFile       = "ca.key"
	chainFile     = "ca-chain.crt"
)

// Authority signs the certificates that a server makes itself. It is immutable; its methods that change the authority
// change the files of its directory.
type Authority struct {
	dir   string
	now   func() time.Time
	certs []*x509.Certificate // the first signs
	key   crypto.Signer
	chain []*x509.Certificate
}

// OpenAuthority reads the authority in a directory. now is the clock.
func OpenAuthority(dir string, now func() time.Time) (*Authority, error) {
	files, err := openAuthority(dir, now)
	if err != nil {
		return nil, err
	}
	return files.Value(), nil
}

// MakeAuthority reads the authority in a directory, or makes one if there is none.
func MakeAuthority(dir string, now func() time.Time) (*Authority, error) {
	files, err := createAuthority(dir, now)
	if err != nil {
		return nil, err
	}
	return files.Value(), nil
}

// createAuthority reads the authority in a directory, or makes one if there is none. It never replaces an authority.
// Only the user of the process can read a directory that it makes.
func createAuthority(dir string, now func() time.Time) (*reload.Files[*Authority], error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	err := locked(dir, func() error {
		if _, err := os.Stat(filepath.Join(dir, authorityFile)); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		_, err := newAuthority(dir, now, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return openAuthority(dir, now)
}

func openAuthority(dir string, now func() time.Time) (*reload.Files[*Authority], error) {
	files, err := reload.New(func(contents [][]byte) (*Authority, error) {
		return parseAuthority(dir, now, contents[0], contents[1])
	}, filepath.Join(dir, authorityFile), filepath.Join(dir, keyFile))
	if err != nil {
		return nil, fmt.Errorf("%w; restore ca.crt and ca.key, or delete both to begin with a new authority, "+
			"which no kubeconfig given out so far trusts", err)
	}
	return files, nil
}

func parseAuthority(dir string, now func() time.Time, certificates, keys []byte) (*Authority, error) {
	certs, err := parseBundle(certificates)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", authorityFile, err)
	}
	signers, err := parseKeys(keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	a := &Authority{dir: dir, now: now, certs: certs}
	for _, signer := range signers {
		if public, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool }); ok &&
			public.Equal(certs[0].PublicKey) {
			a.key = signer
		}
	}
	if a.key == nil {
		return nil, fmt.Errorf("%s has no key of the first certificate in %s", keyFile, authorityFile)
	}
	content, err := os.ReadFile(filepath.Join(dir, chainFile))
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		a.chain, err = parseBundle(content)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chainFile, err)
	}
	// The chain may be ahead of the certificates, if a change of the authority was interrupted.
	a.chain = slices.DeleteFunc(a.chain, func(link *x509.Certificate) bool {
		return !slices.ContainsFunc(certs, func(cert *x509.Certificate) bool { return sameKey(cert, link) })
	})
	return a, nil
}

func sameKey(a, b *x509.Certificate) bool {
	return string(a.RawSubjectPublicKeyInfo) == string(b.RawSubjectPublicKeyInfo)
}

// newAuthority makes an authority, as the successor of another one if there is one. Every step leaves files that
// belong together.
func newAuthority(dir string, now func() time.Time, before *Authority) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	next := &Authority{dir: dir, now: now, key: key}
	name := "apigen"
	if before != nil {
		name += " " + keyName(key) // chains are found by names first
	}
	template := certificate(pkix.Name{CommonName: name}, now(), authorityLife)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	self, err := create(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	next.certs = []*x509.Certificate{self}
	keys := []crypto.Signer{key}
	if before != nil {
		link, err := before.sign(template, key.Public())
		if err != nil {
			return nil, err
		}
		next.certs = append(next.certs, before.valid(before.certs)...)
		next.chain = append([]*x509.Certificate{link}, before.valid(before.chain)...)
		keys = append(keys, before.key)
	}
	if err := next.store(keys); err != nil {
		return nil, err
	}
	return next, nil
}

// store writes the files: first the keys of this authority and of the one before, at last the key of this one alone.
func (a *Authority) store(keys []crypto.Signer) error {
	if err := a.storeKeys(keys); err != nil {
		return err
	}
	if len(a.chain) > 0 {
		if err := WriteFile(filepath.Join(a.dir, chainFile), encodeCertificates(a.chain), 0o644); err != nil {
			return err
		}
	}
	if err := WriteFile(filepath.Join(a.dir, authorityFile), a.Trust(), 0o644); err != nil || len(keys) == 1 {
		return err
	}
	return a.storeKeys(keys[:1])
}

func (a *Authority) storeKeys(keys []crypto.Signer) error {
	var content []byte
	for _, key := range keys {
		encoded, err := encodeKey(key)
		if err != nil {
			return err
		}
		content = append(content, encoded...)
	}
	return WriteFile(filepath.Join(a.dir, keyFile), content, 0o600)
}

func keyName(key *ecdsa.PrivateKey) string {
	encoded, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "" // a P-256 key can be encoded
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:4])
}

// valid returns the certificates that have not ended.
func (a *Authority) valid(certs []*x509.Certificate) []*x509.Certificate {
	return slices.DeleteFunc(slices.Clone(certs), func(c *x509.Certificate) bool { return a.now().After(c.NotAfter) })
}

// sign makes a certificate that ends no later than the authority.
func (a *Authority) sign(template *x509.Certificate, key crypto.PublicKey) (*x509.Certificate, error) {
	bounded := *template
	if bounded.NotAfter.After(a.Ends()) {
		bounded.NotAfter = a.Ends()
	}
	return create(&bounded, a.certs[0], key, a.key)
}

func create(template, issuer *x509.Certificate, key crypto.PublicKey, signer crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key, signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func certificate(subject pkix.Name, now time.Time, life time.Duration) *x509.Certificate {
	return &x509.Certificate{ // x509 makes a serial number
		Subject: subject, NotBefore: now.Add(-backdated), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// Ends returns when the authority that signs ends.
func (a *Authority) Ends() time.Time { return a.certs[0].NotAfter }

// Trust returns the certificates of the authority and of the earlier ones that are still trusted, in PEM.
func (a *Authority) Trust() []byte { return encodeCertificates(a.certs) }

// Owns reports whether one of the certificates in PEM is of this authority, or of an earlier one that is still trusted.
func (a *Authority) Owns(content []byte) bool {
	certs, _ := parseBundle(content) // what isn't a certificate is none of ours
	return slices.ContainsFunc(certs, func(c *x509.Certificate) bool { return slices.ContainsFunc(a.certs, c.Equal) })
}

// Rotate makes a new authority, which signs from now on. The earlier ones stay trusted: client certificates that they
// signed are accepted, and clients that know only them accept the new authority's certificates by a chain. That ends
// when the earlier authorities end, or with DropOld.
func (a *Authority) Rotate() (*Authority, error) { return newAuthority(a.dir, a.now, a) }

// DropOld ends the trust in earlier authorities. It returns the number of those that were dropped.
func (a *Authority) DropOld() (int, error) {
	dropped := len(a.certs) - 1
	first := encodeCertificates(a.certs[:1])
	if err := WriteFile(filepath.Join(a.dir, authorityFile), first, 0o644); err != nil {
		return 0, err
	}
	if err := os.Remove(filepath.Join(a.dir, chainFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	return dropped, nil
}
