package cluster

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"time"
)

// The keys of the Secret. ca.crt is for clients of the server: what caBundle of the APIServices has to be.
const (
	bundleKey       = "ca.crt"
	signerCertKey   = "signer.crt"
	signerSecretKey = "signer.key"
	nextCertKey     = "next.crt"
	nextSecretKey   = "next.key"
	previousCertKey = "previous.crt"
	timesKey        = "times.json"
)

// settle is how long the APIServices must have had the bundle with the next authority before that signs: all API
// servers of a cluster see it within moments.
const settle = time.Hour

// state is what the Secret says. It is immutable. An authority is replaced in these steps, each of which is one
// update of the Secret:
//
//  1. next is made, and joins the bundle; it signs nothing yet.
//  2. The APIServices have been seen with the bundle, which published notes.
//  3. After settle, next becomes signer, and signer becomes previous, which stays in the bundle.
//  4. Once no leaf of previous can be valid, previous leaves the bundle.
type state struct {
	signer   *authority
	next     *authority        // nil unless it waits to be signer
	previous *x509.Certificate // nil unless leaves of it may be valid
	times    times
}

// times are when the steps of a replacement were made.
type times struct {
	// Joined is when next joined the bundle, and Published when all APIServices were seen with it.
	Joined    time.Time `json:"joined,omitzero"`
	Published time.Time `json:"published,omitzero"`
	// Signing is since when signer signs.
	Signing time.Time `json:"signing,omitzero"`
}

// first returns the state of a new authority.
func first(service name, now time.Time) (*state, error) {
	signer, err := newAuthority(service, now)
	if err != nil {
		return nil, err
	}
	return &state{signer: signer, times: times{Signing: now.UTC()}}, nil
}

// bundle returns the certificates of all authorities of which leaves may be in use, older ones first: a change of the
// signer doesn't change it.
func (s *state) bundle() []byte {
	var content []byte
	if s.previous != nil {
		content = encodeCertificate(s.previous)
	}
	content = append(content, encodeCertificate(s.signer.cert)...)
	if s.next != nil {
		content = append(content, encodeCertificate(s.next.cert)...)
	}
	return content
}

// step returns the state after the next step of a replacement, and what the step is; nil if no step is due. published
// says whether all APIServices have the bundle of the state now.
func (s *state) step(service name, now time.Time, published bool) (after *state, done string, err error) {
	next := *s
	switch {
	case s.signer.ended(now) && s.next.ended(now):
		after, err = first(service, now)
		return after, "the authority had ended, and there is a new one", err
	case s.next != nil && (s.signer.ended(now) || published && s.settled(now)):
		next.signer, next.next, next.previous = s.next, nil, s.signer.cert
		next.times.Signing = now.UTC()
		return &next, "the next authority signs", nil
	case s.next != nil && published && s.times.Published.IsZero():
		next.times.Published = now.UTC()
		return &next, "all APIServices have the next authority", nil
	case s.previous != nil && now.After(s.times.Signing.Add(leafLife+skew)):
		next.previous, next.times = nil, times{Signing: s.times.Signing}
		return &next, "the previous authority is trusted no longer", nil
	case s.next == nil && s.previous == nil && now.Add(replaceBefore).After(s.signer.cert.NotAfter):
		if next.next, err = newAuthority(service, now); err != nil {
			return nil, "", err
		}
		next.times = times{Joined: now.UTC(), Signing: s.times.Signing}
		return &next, "the next authority joined the bundle", nil
	}
	return nil, "", nil
}

func (s *state) settled(now time.Time) bool {
	return !s.times.Published.IsZero() && !now.Before(s.times.Published.Add(settle))
}

// parseState reads the data of the Secret; nil if it is empty.
func parseState(data map[string][]byte) (*state, error) {
	if len(data[signerCertKey]) == 0 && len(data[signerSecretKey]) == 0 {
		return nil, nil
	}
	s := &state{}
	var err error
	if s.signer, err = parseAuthority(data[signerCertKey], data[signerSecretKey]); err != nil {
		return nil, fmt.Errorf("%s and %s: %w", signerCertKey, signerSecretKey, err)
	}
	if len(data[nextCertKey]) > 0 {
		if s.next, err = parseAuthority(data[nextCertKey], data[nextSecretKey]); err != nil {
			return nil, fmt.Errorf("%s and %s: %w", nextCertKey, nextSecretKey, err)
		}
	}
	if len(data[previousCertKey]) > 0 {
		if s.previous, err = parseCertificate(data[previousCertKey]); err != nil {
			return nil, fmt.Errorf("%s: %w", previousCertKey, err)
		}
	}
	if err := json.Unmarshal(data[timesKey], &s.times); err != nil {
		return nil, fmt.Errorf("%s: %w", timesKey, err)
	}
	return s, nil
}

// write writes the state into the data of the Secret. Keys that are none of the state's stay.
func (s *state) write(data map[string][]byte) error {
	for _, key := range []string{nextCertKey, nextSecretKey, previousCertKey} {
		delete(data, key)
	}
	var err error
	if data[signerCertKey], data[signerSecretKey], err = s.signer.encode(); err != nil {
		return err
	}
	if s.next != nil {
		if data[nextCertKey], data[nextSecretKey], err = s.next.encode(); err != nil {
			return err
		}
	}
	if s.previous != nil {
		data[previousCertKey] = encodeCertificate(s.previous)
	}
	data[bundleKey] = s.bundle()
	data[timesKey], err = json.Marshal(s.times)
	return err
}
