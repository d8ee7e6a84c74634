package certs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Row is a certificate in a file. A file that holds several has a row for each.
type Row struct {
	// Name is that of the file without its ending, or of the flag that names the file.
	Name        string
	File        string
	Certificate *x509.Certificate
}

// ListDir returns the certificates that the server keeps in a directory. The error says which files can't be read; the
// rows are those of the others.
func ListDir(dir string) ([]Row, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%w; the server makes it at its first start", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.crt"))
	if err != nil {
		return nil, err
	}
	var rows []Row
	var failures []error
	slices.Sort(files)
	for _, file := range files {
		of, err := ListFile(strings.TrimSuffix(filepath.Base(file), ".crt"), file)
		rows, failures = append(rows, of...), append(failures, err)
	}
	return rows, errors.Join(failures...)
}

// ListFile returns the certificates in a file.
func ListFile(name, file string) ([]Row, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	certs, err := parseBundle(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var rows []Row
	for _, cert := range certs {
		rows = append(rows, Row{name, file, cert})
	}
	return rows, nil
}

// Encode returns the certificates of rows in PEM.
func Encode(rows []Row) []byte {
	certs := make([]*x509.Certificate, 0, len(rows))
	for _, row := range rows {
		certs = append(certs, row.Certificate)
	}
	return encodeCertificates(certs)
}
