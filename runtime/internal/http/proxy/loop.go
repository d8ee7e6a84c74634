package proxy

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

const (
	viaHeader  = "Via"
	markPrefix = "apigen-"
	// markBytes is how many bytes of a hash are in a mark.
	markBytes = 16
)

// markOf returns the name of an aggregator in the header Via of the requests that it sends, or "" without a
// certificate. It is made of the authority that signed the certificate: replicas have certificates of one authority,
// which may differ otherwise, and a renewed certificate doesn't change it.
func markOf(certificate *tls.Certificate) (string, error) {
	if certificate == nil || len(certificate.Certificate) == 0 {
		return "", nil
	}
	var last *x509.Certificate // of the chain, without the root
	for i, der := range certificate.Certificate {
		parsed, err := x509.ParseCertificate(der)
		if err != nil {
			return "", fmt.Errorf("the client certificate of the front proxy: %w", err)
		}
		if i == 0 || !bytes.Equal(parsed.RawIssuer, parsed.RawSubject) {
			last = parsed
		}
	}
	hash := sha256.Sum256(slices.Concat(last.RawIssuer, last.AuthorityKeyId))
	return markPrefix + hex.EncodeToString(hash[:markBytes]), nil
}

// addVia adds a mark to those that a request has from other aggregators.
func addVia(header http.Header, mark string) {
	if mark != "" {
		header[viaHeader] = append(slices.Clip(header[viaHeader]), "1.1 "+mark)
	}
}

// Loop recognizes requests that come back to the aggregator that sent them, or to a replica of it. Who relays the bytes
// of a connection can't remove the mark of the sender, because it is inside of TLS; who ends TLS doesn't have the
// sender's certificate. A Loop is safe for concurrent use.
type Loop struct {
	certificate func() (*tls.Certificate, error)
	current     atomic.Pointer[marked]
}

// marked is a certificate with its mark.
type marked struct {
	certificate *tls.Certificate
	mark        string
}

// NewLoop returns a Loop of the Backends whose Config.Certificate is certificate.
func NewLoop(certificate func() (*tls.Certificate, error)) *Loop {
	return &Loop{certificate: certificate}
}

// Closes reports whether a request with a header was sent by this aggregator.
func (l *Loop) Closes(header http.Header) bool {
	via := header[viaHeader]
	if len(via) == 0 {
		return false
	}
	mark := l.mark()
	return mark != "" && slices.ContainsFunc(via, func(line string) bool { return strings.Contains(line, mark) })
}

// mark returns the present mark. One that can't be told now is the last one.
func (l *Loop) mark() string {
	before := l.current.Load()
	certificate, err := l.certificate()
	if err == nil && (before == nil || before.certificate != certificate) {
		var mark string
		if mark, err = markOf(certificate); err == nil {
			l.current.Store(&marked{certificate, mark})
			return mark
		}
	}
	if before == nil {
		return ""
	}
	return before.mark
}
