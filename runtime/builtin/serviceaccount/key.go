package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyBits is the size of RSA keys that the server makes, and the smallest one that it accepts.
const keyBits = 2048

// newKey describes a key. private is nil for a key that only verifies. The id is kube-apiserver's, so that both name
// the same key alike.
func newKey(public crypto.PublicKey, private crypto.Signer) (*key, error) {
	k := &key{public: public, private: private}
	switch public := public.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() < keyBits {
			return nil, fmt.Errorf("an RSA key has %d bits, and needs %d", public.N.BitLen(), keyBits)
		}
		k.algorithm, k.hash = "RS256", crypto.SHA256
	case *ecdsa.PublicKey:
		switch public.Curve {
		case elliptic.P256():
			k.algorithm, k.hash = "ES256", crypto.SHA256
		case elliptic.P384():
			k.algorithm, k.hash = "ES384", crypto.SHA384
		case elliptic.P521():
			k.algorithm, k.hash = "ES512", crypto.SHA512
		default:
			return nil, errors.New("an ECDSA key has a curve other than P-256, P-384 and P-521")
		}
	default:
		return nil, fmt.Errorf("a key is a %T, and must be an RSA or an ECDSA key", public)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(der)
	k.id = segment.EncodeToString(sum[:])
	return k, nil
}

// parseKeys reads all keys of a PEM file: public keys, private keys and those of certificates. Other blocks, such as
// EC PARAMETERS, are ignored.
func parseKeys(content []byte) ([]*key, error) {
	var keys []*key
	for {
		block, rest := pem.Decode(content)
		if block == nil {
			break
		}
		content = rest
		public, private, err := parseBlock(block)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", block.Type, err)
		}
		if public == nil {
			continue
		}
		k, err := newKey(public, private)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no RSA or ECDSA key in PEM")
	}
	return keys, nil
}

// parseBlock returns the key of a PEM block, or nil for a block of another kind.
func parseBlock(block *pem.Block) (public crypto.PublicKey, private crypto.Signer, err error) {
	var parsed any
	switch block.Type {
	case "RSA PRIVATE KEY":
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		parsed, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
		return public, nil, err
	case "RSA PUBLIC KEY":
		public, err = x509.ParsePKCS1PublicKey(block.Bytes)
		return public, nil, err
	case "CERTIFICATE":
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, err
		}
		return certificate.PublicKey, nil, nil
	default:
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	private, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, nil, fmt.Errorf("it is a %T, which can't sign", parsed)
	}
	return private.Public(), private, nil
}

// ownKey makes the file of the server's own key, unless it exists. Of two processes that start at once, one makes it.
// The key is RSA, since RS256 is the one algorithm that every relying party understands.
func ownKey(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // the link stays
	err = pem.Encode(temp, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
