package proxy

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Flaw is something in the certificate of a backend that Go doesn't accept any more.
type Flaw uint8

const (
	// MissingSAN is a certificate that names its server in its common name alone.
	MissingSAN Flaw = iota
	// InsecureSHA1 is a certificate that is signed with SHA-1, or whose authority is.
	InsecureSHA1
)

// report tells Config.Flaw of flaws that an answer or an error shows.
func (b *Backend) report(response *http.Response, err error) {
	if b.config.Flaw == nil {
		return
	}
	san, sha1 := false, false
	if err != nil {
		san, sha1 = errorFlaws(err)
	} else if response.TLS != nil {
		san, sha1 = chainFlaws(response.TLS.PeerCertificates)
	}
	if san {
		b.config.Flaw(MissingSAN)
	}
	if sha1 {
		b.config.Flaw(InsecureSHA1)
	}
}

// errorFlaws finds the flaws for which a certificate was refused. Package x509 tells them by words alone.
func errorFlaws(err error) (san, sha1 bool) {
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	text := err.Error()
	san = errors.As(err, &name) && strings.Contains(text, "x509: certificate relies on legacy Common Name field")
	_, why, found := strings.Cut(text, "x509: cannot verify signature: insecure algorithm")
	return san, found && errors.As(err, &authority) && strings.Contains(why, "SHA1")
}

var sanExtension = asn1.ObjectIdentifier{2, 5, 29, 17}

// chainFlaws finds the flaws of certificates that were accepted. The signature of a root doesn't matter.
func chainFlaws(chain []*x509.Certificate) (san, sha1 bool) {
	for i, c := range chain {
		hasSAN := slices.ContainsFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(sanExtension) })
		san = san || i == 0 && !hasSAN
		weak := c.SignatureAlgorithm == x509.SHA1WithRSA || c.SignatureAlgorithm == x509.ECDSAWithSHA1
		sha1 = sha1 || weak && !bytes.Equal(c.RawIssuer, c.RawSubject)
	}
	return san, sha1
}
