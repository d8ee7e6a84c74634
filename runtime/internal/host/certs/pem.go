package certs

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Pair is a certificate, with its intermediates, and its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// blocks returns the blocks of a PEM file. A file that was written in part is an error, though its first blocks are
// whole.
func blocks(content []byte) ([]*pem.Block, error) {
	var all []*pem.Block
	for {
		block, rest := pem.Decode(content)
		if block == nil {
			break
		}
		all, content = append(all, block), rest
	}
	if bytes.Contains(content, []byte("-----BEGIN")) {
		return nil, fmt.Errorf("ends within a block of PEM, or has a broken one, after %d whole ones", len(all))
	}
	return all, nil
}

// parseBundle reads all certificates of a PEM file, and ignores other blocks.
func parseBundle(content []byte) ([]*x509.Certificate, error) {
	all, err := blocks(content)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for _, block := range all {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("holds no certificate in PEM")
	}
	return certs, nil
}

// ParseAuthorities reads all certificates of a PEM file, and ignores other blocks. A file that was written in part is
// an error.
func ParseAuthorities(content []byte) (*x509.CertPool, error) {
	certs, err := parseBundle(content)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, cert := range certs {
		pool.AddCert(cert)
	}
	return pool, nil
}

// parseKeys reads all private keys of a PEM file, and ignores other blocks.
func parseKeys(content []byte) ([]crypto.Signer, error) {
	all, err := blocks(content)
	if err != nil {
		return nil, err
	}
	var keys []crypto.Signer
	for _, block := range all {
		var key any
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("holds a %T, which can't sign", key)
		}
		keys = append(keys, signer)
	}
	if len(keys) == 0 {
		return nil, errors.New("holds no private key in PEM")
	}
	return keys, nil
}

// parsePair reads a certificate and its key.
func parsePair(certificate, key []byte) (*tls.Certificate, error) {
	if _, err := blocks(certificate); err != nil {
		return nil, fmt.Errorf("the certificate: %w", err)
	}
	if _, err := blocks(key); err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return &pair, err
}

func encodeCertificates(certs []*x509.Certificate) []byte {
	var content []byte
	for _, cert := range certs {
		content = append(content, encodePEM("CERTIFICATE", cert.Raw)...)
	}
	return content
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return encodePEM("PRIVATE KEY", der), err
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// WriteFile replaces a file in one step, so that a kill leaves the old or the new one.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return &fs.PathError{Op: "replace", Path: path, Err: failed.Err} // without the random name
	}
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // fails after the file was renamed, as it should
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

func encodePair(pair *tls.Certificate) (Pair, error) {
	var encoded Pair
	for _, der := range pair.Certificate {
		encoded.Certificate = append(encoded.Certificate, encodePEM("CERTIFICATE", der)...)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return Pair{}, fmt.Errorf("a %T can't be written", pair.PrivateKey)
	}
	var err error
	encoded.Key, err = encodeKey(signer)
	return encoded, err
}
