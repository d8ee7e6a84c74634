// Package clusterauthenticationtrust publishes how a server authenticates clients, as kube-apiserver's controller of
// this name does: in the ConfigMap extension-apiserver-authentication of the namespace kube-system. Servers behind an
// aggregator read there to believe the same clients and the same front proxy.
//
// It may know packages builtin/frontproxy, reach and server.
package clusterauthenticationtrust

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Trust is whom a server believes who its clients are.
type Trust struct {
	// ClientCA are the authorities of client certificates, in PEM; nil if the server accepts none.
	ClientCA []byte
	FrontProxy
}

// FrontProxy is what --requestheader-* say. Without CA the server believes no front proxy, and nothing is published.
type FrontProxy struct {
	// CA are the authorities of the proxies' certificates, in PEM.
	CA []byte
	// AllowedNames are the common names of these certificates; none means all.
	AllowedNames []string
	// The headers in which proxies name users.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}

// The keys of the ConfigMap.
const (
	clientCA      = "client-ca-file"
	proxyCA       = "requestheader-client-ca-file"
	proxyNames    = "requestheader-allowed-names"
	userHeaders   = "requestheader-username-headers"
	uidHeaders    = "requestheader-uid-headers"
	groupHeaders  = "requestheader-group-headers"
	extraPrefixes = "requestheader-extra-headers-prefix"
)

// equal reports whether two trusts are the same.
func (t *Trust) equal(other Trust) bool {
	return bytes.Equal(t.ClientCA, other.ClientCA) && bytes.Equal(t.CA, other.CA) &&
		slices.Equal(t.AllowedNames, other.AllowedNames) && slices.Equal(t.UsernameHeaders, other.UsernameHeaders) &&
		slices.Equal(t.UIDHeaders, other.UIDHeaders) && slices.Equal(t.GroupHeaders, other.GroupHeaders) &&
		slices.Equal(t.ExtraHeaderPrefixes, other.ExtraHeaderPrefixes)
}

// lists returns the lists of names, by their keys.
func (t *Trust) lists() map[string]*[]string {
	return map[string]*[]string{
		proxyNames: &t.AllowedNames, userHeaders: &t.UsernameHeaders, uidHeaders: &t.UIDHeaders,
		groupHeaders: &t.GroupHeaders, extraPrefixes: &t.ExtraHeaderPrefixes,
	}
}

// parse reads the data of the ConfigMap.
func parse(data map[string]string) (Trust, error) {
	t := Trust{ClientCA: []byte(data[clientCA]), FrontProxy: FrontProxy{CA: []byte(data[proxyCA])}}
	for key, list := range t.lists() {
		if text := data[key]; text != "" {
			if err := json.Unmarshal([]byte(text), list); err != nil {
				return t, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return t, nil
}

// data returns the data of the ConfigMap.
func (t *Trust) data() (map[string]string, error) {
	data := map[string]string{}
	if len(t.ClientCA) > 0 {
		data[clientCA] = string(t.ClientCA)
	}
	if len(t.CA) == 0 {
		return data, nil
	}
	data[proxyCA] = string(t.CA)
	for key, list := range t.lists() {
		if key == uidHeaders && len(*list) == 0 {
			continue
		}
		text, err := json.Marshal(append([]string{}, *list...))
		if err != nil {
			return nil, err
		}
		data[key] = string(text)
	}
	return data, nil
}

// with adds another trust: what other replicas of the server publish stays, since their clients use it. Certificates
// that have ended at a time are left out. The headers are those of other alone: this server removes no others from the
// requests of clients, so that whoever believed a name of former times would believe any client.
func (t *Trust) with(other Trust, now time.Time) (Trust, error) {
	sum := Trust{}
	var errs [2]error
	sum.ClientCA, errs[0] = join(t.ClientCA, other.ClientCA, now)
	sum.CA, errs[1] = join(t.CA, other.CA, now)
	ours, theirs := t.lists(), other.lists()
	for key, list := range sum.lists() {
		if key != proxyNames && len(other.CA) > 0 {
			*list = slices.Clone(*theirs[key])
			continue
		}
		for _, name := range append(slices.Clone(*ours[key]), *theirs[key]...) {
			if !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
	}
	return sum, errors.Join(errs[:]...)
}

// slack is how long after their end certificates are still published.
const slack = 5 * time.Minute

// join joins two bundles of certificates.
func join(a, b []byte, now time.Time) ([]byte, error) {
	var out bytes.Buffer
	var seen [][]byte
	for rest := slices.Concat(a, []byte("\n"), b); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("a certificate authority: %w", err)
		}
		same := func(other []byte) bool { return bytes.Equal(other, block.Bytes) }
		if now.After(certificate.NotAfter.Add(slack)) || slices.ContainsFunc(seen, same) {
			continue
		}
		seen = append(seen, block.Bytes)
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// merge returns the data of the ConfigMap after t was added to what it publishes.
func merge(published map[string]string, t Trust, now time.Time) (map[string]string, error) {
	before, err := parse(published)
	if err != nil {
		return nil, err
	}
	sum, err := before.with(t, now)
	if err != nil {
		return nil, err
	}
	return sum.data()
}

// wait waits for a change or for a time, and returns whether it was a change. It fails if ctx ends before.
func wait(ctx context.Context, changed <-chan struct{}, d time.Duration) (woken bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
