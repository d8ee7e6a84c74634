package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"

	"apigen.dev/runtime/internal/reload"
)

// Files are the files that an operator names by flags. The zero value names none.
type Files struct {
	// Certificate and Key are --tls-cert-file and --tls-private-key-file.
	Certificate, Key string
	// Named are --tls-sni-cert-key, in their order.
	Named []Named
	// ClientCA is --client-ca-file.
	ClientCA string
}

// Given are the certificates in Files, as they were last read. One goroutine at a time may use them.
type Given struct {
	serving  *reload.Files[servingPair] // nil if no flag names one
	named    []*named
	clientCA *reload.Files[[]*x509.Certificate] // nil if no flag names one
}

// servingPair is a pair, and the file of its certificate.
type servingPair struct {
	pair *tls.Certificate
	pem  []byte
}

// named is a serving certificate for the names of its flag, or else for its own.
type named struct {
	Named
	*reload.Files[servingPair]
}

const (
	servingFlags = "--tls-cert-file and --tls-private-key-file"
	namedFlag    = "--tls-sni-cert-key"
	clientFlag   = "--client-ca-file"
)

// ReadGiven reads files. Its errors name the flags.
func ReadGiven(files Files) (*Given, error) {
	g := &Given{}
	var err error
	if files.Certificate != "" {
		if g.serving, err = pairFiles(files.Certificate, files.Key); err != nil {
			return nil, fmt.Errorf("%s: %w", servingFlags, err)
		}
	}
	for _, n := range files.Named {
		pair, err := pairFiles(n.Certificate, n.Key)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", namedFlag, n, err)
		}
		g.named = append(g.named, &named{n, pair})
	}
	if files.ClientCA == "" {
		return g, nil
	}
	g.clientCA, err = reload.New(func(contents [][]byte) ([]*x509.Certificate, error) {
		return parseBundle(contents[0])
	}, files.ClientCA)
	if unreadable(err) {
		return nil, fmt.Errorf("%s: %w", clientFlag, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", clientFlag, files.ClientCA, err)
	}
	return g, nil
}

func pairFiles(certificate, key string) (*reload.Files[servingPair], error) {
	return reload.New(func(contents [][]byte) (servingPair, error) {
		pair, err := parsePair(contents[0], contents[1])
		return servingPair{pair, contents[0]}, err
	}, certificate, key)
}

// unreadable tells an error of reading a file that exists from one of its content.
func unreadable(err error) bool {
	path := (*fs.PathError)(nil)
	return errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist)
}

// authorities returns the certificates in --client-ca-file.
func (g *Given) authorities() []*x509.Certificate {
	if g.clientCA == nil {
		return nil
	}
	return g.clientCA.Value()
}

// reload reads all files again, by take, and reports whether the authorities of clients changed, and the serving
// certificates.
func (g *Given) reload(
	take func(name string, reload func() (bool, error), paths []string) bool,
) (trust, serving bool) {
	if g.clientCA != nil {
		trust = take(clientFlag, g.clientCA.Reload, g.clientCA.Paths())
	}
	if g.serving != nil {
		serving = take(servingFlags, g.serving.Reload, g.serving.Paths())
	}
	for _, n := range g.named {
		if take(namedFlag, n.Reload, n.Paths()) {
			serving = true
		}
	}
	return trust, serving
}
