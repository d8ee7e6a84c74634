package certs

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The bounds of the life of client certificates. kube-apiserver signs none for less than ten minutes. Nothing takes
// back a client certificate but the end of its authority, so that it must not live for long.
const (
	MinTTL = 10 * time.Minute
	MaxTTL = 365 * 24 * time.Hour
)

// Client is the user that a client certificate is for.
type Client struct {
	User   string
	Groups []string
	TTL    time.Duration
	// AllowSystem allows a user or groups whose names begin with system:, which have rights of their own. The group
	// system:masters may do everything, and no rule takes that away.
	AllowSystem bool
}

// Check returns the errors of the fields.
func (c Client) Check() error {
	var errs []error
	if c.TTL < MinTTL || c.TTL > MaxTTL {
		errs = append(errs,
			fmt.Errorf("a certificate for %s: the time must be between %s and %s", c.TTL, MinTTL, MaxTTL))
	}
	if c.User == "" {
		errs = append(errs, errors.New("a certificate needs the name of a user"))
	}
	for i, name := range append([]string{c.User}, c.Groups...) {
		switch {
		case i > 0 && name == "":
			errs = append(errs, errors.New("a group has no name"))
		case strings.ContainsFunc(name, unprinted):
			errs = append(errs, fmt.Errorf("%q holds a character that is not printed", name))
		case strings.HasPrefix(name, "system:") && !c.AllowSystem:
			errs = append(errs, fmt.Errorf("%q begins with system:, so that it has rights of its own", name))
		}
	}
	return errors.Join(errs...)
}

func unprinted(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }

// Client makes a client certificate. The authority keeps none of it.
func (a *Authority) Client(c Client) (Pair, error) {
	if err := c.Check(); err != nil {
		return Pair{}, err
	}
	if a.now().Add(c.TTL).After(a.Ends()) {
		return Pair{}, fmt.Errorf("the authority in %s ends on %s, before the certificate would", a.dir,
			a.Ends().Format(time.RFC3339))
	}
	template := certificate(
		pkix.Name{CommonName: c.User, Organization: slices.Clone(c.Groups)}, a.now(), c.TTL)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.pair(template)
}
