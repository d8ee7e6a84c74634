package serviceaccount

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// keys are the keys of a server at one time. They are immutable.
type keys struct {
	// signing signs new tokens; nil if the server signs none.
	signing *key
	// all verify tokens, the signing one first.
	all []*key
	// algorithms are those of the keys, in order; set is their JWKS document.
	algorithms []string
	set        []byte
}

// newKeys makes the keys of the contents of files: of signing, which may be nil, the private key that signs, and of
// others those that verify beside it.
func newKeys(signing []byte, others ...[]byte) (*keys, error) {
	k := &keys{}
	if signing != nil {
		found, err := parseKeys(signing)
		if err != nil {
			return nil, err
		}
		if found[0].private == nil {
			return nil, errors.New("the first key has no private half, so that it can't sign")
		}
		k.signing, k.all = found[0], found[:1]
	}
	for _, content := range others {
		found, err := parseKeys(content)
		if err != nil {
			return nil, err
		}
		for _, other := range found {
			if !slices.ContainsFunc(k.all, func(known *key) bool { return known.id == other.id }) {
				k.all = append(k.all, other)
			}
		}
	}
	var document keySet
	for _, known := range k.all {
		k.algorithms = append(k.algorithms, known.algorithm)
		document.Keys = append(document.Keys, published(known))
	}
	slices.Sort(k.algorithms)
	k.algorithms = slices.Compact(k.algorithms)
	var err error
	k.set, err = json.Marshal(document)
	return k, err
}

// verify reports whether one of the keys signed a token: the one that the token names, or if it names none, any.
func (k *keys) verify(s *signed) error {
	err := errors.New("invalid signature, no keys found")
	for _, known := range k.all {
		if s.header.KeyID != "" && s.header.KeyID != known.id {
			continue
		}
		if err = s.verify(known); err == nil {
			return nil
		}
	}
	return err
}

// keySet is a JSON web key set (RFC 7517).
type keySet struct {
	Keys []publicKey `json:"keys"`
}

// publicKey is a public key in a key set. Its members are in kube-apiserver's order.
type publicKey struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Curve     string `json:"crv,omitempty"`
	Algorithm string `json:"alg"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
	N         string `json:"n,omitempty"`
	E         string `json:"e,omitempty"`
}

func published(k *key) publicKey {
	out := publicKey{Use: "sig", ID: k.id, Algorithm: k.algorithm}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		out.Type = "RSA"
		out.N = segment.EncodeToString(public.N.Bytes())
		out.E = segment.EncodeToString(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		out.Type, out.Curve = "EC", public.Params().Name
		if point, err := public.Bytes(); err == nil { // 4, then the coordinates
			half := len(point) / 2
			out.X, out.Y = segment.EncodeToString(point[1:1+half]), segment.EncodeToString(point[1+half:])
		}
	}
	return out
}

// configuration returns the discovery document of an issuer (OpenID Connect Discovery 1.0).
func (k *keys) configuration(issuer, keysURL string) ([]byte, error) {
	document := struct {
		Issuer        string   `json:"issuer"`
		KeysURL       string   `json:"jwks_uri"`
		ResponseTypes []string `json:"response_types_supported"`
		SubjectTypes  []string `json:"subject_types_supported"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	}{issuer, keysURL, []string{"id_token"}, []string{"public"}, k.algorithms}
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("the discovery document of %s: %w", issuer, err)
	}
	return data, nil
}
