// Package oidc authenticates by JSON web tokens of OpenID Connect providers, which kube-apiserver's
// AuthenticationConfiguration describes: issuers, audiences, and rules in CEL that make users of claims.
//
// It may know packages auth, access/meter, access/tokencache, cel, registry, reload and server, and is the one package
// that knows go-oidc and go-jose.
package oidc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	kjson "sigs.k8s.io/json"
)

// maxToken bounds the size of a token. Larger ones are not looked at.
const maxToken = 64 << 10

// allAlgorithms are the signing algorithms that a configuration in a file allows. All have public keys.
var allAlgorithms = []string{
	gooidc.RS256, gooidc.RS384, gooidc.RS512, gooidc.ES256, gooidc.ES384, gooidc.ES512, gooidc.PS256, gooidc.PS384,
	gooidc.PS512,
}

// issuers authenticate by the tokens of the issuers of a configuration, by their URLs. They are immutable, but for the
// keys, and safe for concurrent use.
type issuers map[string]*issuer

type issuer struct {
	*rules
	metrics  *meter.Issuers
	provider *provider
	verifier *gooidc.IDTokenVerifier
}

// newIssuers makes issuers. metrics count what they do; nil counts nothing.
func newIssuers(all []*rules, algorithms []string, metrics *meter.Issuers) issuers {
	out := issuers{}
	var allowed []jose.SignatureAlgorithm
	for _, algorithm := range algorithms {
		allowed = append(allowed, jose.SignatureAlgorithm(algorithm))
	}
	for _, r := range all {
		i := &issuer{rules: r, metrics: metrics, provider: newProvider(r.Issuer, r.roots, allowed, metrics)}
		i.verifier = gooidc.NewVerifier(r.Issuer.URL, i.provider, &gooidc.Config{
			SkipClientIDCheck:    true, // audience checks several
			SupportedSigningAlgs: algorithms, Now: func() time.Time { return i.provider.now() },
		})
		out[r.Issuer.URL] = i
	}
	return out
}

// urls returns the issuers' URLs.
func (is issuers) urls() []string { return slices.Collect(maps.Keys(is)) }

// warm reads the keys of all issuers.
func (is issuers) warm(ctx context.Context) error {
	var errs []error
	for url, i := range is {
		if _, err := i.provider.known(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", url, err))
		}
	}
	return errors.Join(errs...)
}

// AuthenticateToken implements auth.TokenAuthenticator. Issuers know no audiences of Kubernetes' servers: their tokens
// are for all audiences of this server, and for no other's.
func (is issuers) AuthenticateToken(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	i := is[issuerOf(token)]
	if i == nil {
		return nil, nil
	}
	own := auth.AccessFrom(ctx).Audiences
	if audiences != nil {
		own = slices.DeleteFunc(slices.Clone(own), func(a string) bool { return !slices.Contains(audiences, a) })
		if len(own) == 0 {
			return nil, nil
		}
	}
	begin := time.Now()
	identity, err := i.identify(ctx, token, own)
	i.metrics.Verified(i.Issuer.URL, time.Since(begin), err)
	return identity, err
}

// identify returns the identity that a token of the issuer proves, for audiences.
func (i *issuer) identify(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	verified, err := i.verifier.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(i.Issuer.Audiences, func(a string) bool { return slices.Contains(verified.Audience, a) }) {
		return nil, fmt.Errorf("oidc: expected audience in %q got %q", i.Issuer.Audiences, verified.Audience)
	}
	var payload json.RawMessage
	if err := verified.Claims(&payload); err != nil {
		return nil, err
	}
	c, err := readClaims(payload)
	if err == nil {
		err = c.begun(i.provider.now())
	}
	if err != nil {
		return nil, err
	}
	user, err := i.user(ctx, c)
	if err != nil {
		return nil, err
	}
	return &auth.Identity{User: user, Audiences: audiences, Expires: verified.Expiry}, nil
}

// issuerOf returns the issuer that a token names, which nobody has verified yet; "" for a text that is not a token.
func issuerOf(token string) string {
	if len(token) > maxToken {
		return ""
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(payload, &claims) != nil {
		return ""
	}
	if claims.Issuer == "accounts.google.com" { // Google's old tokens lack the scheme
		return "https://accounts.google.com"
	}
	return claims.Issuer
}
