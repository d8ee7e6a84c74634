package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"apigen.dev/runtime/auth"
)

type credentials struct {
	certificate    *tls.Certificate // nil if no flag names one
	certificatePEM []byte
	clientCAs      []*x509.Certificate
	tokens         *auth.Tokens // nil if no flag names a file
}

func readCredentials(f flags) (credentials, error) {
	var c credentials
	if f.tlsCert != "" {
		pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
		if err != nil {
			return c, fmt.Errorf("--tls-cert-file and --tls-private-key-file: %w", err)
		}
		c.certificate = &pair
		if c.certificatePEM, err = os.ReadFile(f.tlsCert); err != nil {
			return c, fmt.Errorf("--tls-cert-file: %w", err)
		}
	}
	if f.clientCA != "" {
		content, err := os.ReadFile(f.clientCA)
		if err != nil {
			return c, fmt.Errorf("--client-ca-file: %w", err)
		}
		if c.clientCAs, err = parseCertificates(content); err != nil {
			return c, fmt.Errorf("--client-ca-file %s: %w", f.clientCA, err)
		}
	}
	if f.tokenFile != "" {
		file, err := os.Open(f.tokenFile)
		if err != nil {
			return c, fmt.Errorf("--token-auth-file: %w", err)
		}
		defer func() { _ = file.Close() }() // it was opened for reading
		if c.tokens, err = auth.ReadTokens(file, f.tokenFile); err != nil {
			return c, err
		}
	}
	return c, nil
}

// parseCertificates reads all certificates of a PEM file, and ignores other blocks.
func parseCertificates(content []byte) ([]*x509.Certificate, error) {
	var certificates []*x509.Certificate
	for {
		block, rest := pem.Decode(content)
		if block == nil {
			break
		}
		content = rest
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		certificates = append(certificates, certificate)
	}
	if len(certificates) == 0 {
		return nil, errors.New("holds no certificate in PEM")
	}
	return certificates, nil
}

// authentication returns how the server finds its own administrator, and the users that the flags name.
func authentication(id *identity, given credentials) auth.Authentication {
	roots := x509.NewCertPool()
	roots.AddCert(id.authority)
	for _, certificate := range given.clientCAs {
		roots.AddCert(certificate)
	}
	users := auth.Authentication{Certificates: auth.NewCertificates(roots)}
	if given.tokens != nil {
		users.Tokens = append(users.Tokens, given.tokens)
	}
	return users
}

func pemOf(pair tls.Certificate) (certificate, key []byte, err error) {
	for _, der := range pair.Certificate {
		certificate = append(certificate, encodePEM("CERTIFICATE", der)...)
	}
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	return certificate, encodePEM("PRIVATE KEY", der), err
}
