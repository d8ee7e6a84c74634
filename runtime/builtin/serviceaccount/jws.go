package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha512" // SHA-384 and SHA-512 of ES384 and ES512
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	kjson "sigs.k8s.io/json"
)

// maxToken bounds the size of a token. Larger ones are not looked at.
const maxToken = 32 << 10

// segment is the encoding of the parts of a token. It refuses bits that have no meaning, so that each token has one
// spelling.
var segment = base64.RawURLEncoding.Strict()

// errNoToken says that a text has not the form of a token: three parts in base64url, of which the first two are JSON
// objects.
var errNoToken = errors.New("the text is no JSON web token")

// signed is a JSON web token in compact serialization, taken apart. Nothing in it is verified.
type signed struct {
	header    header
	content   string // what is signed
	payload   []byte
	signature []byte
}

// header is the protected header of a token.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid,omitempty"`
	// Critical names parameters that a verifier must understand. This one understands none.
	Critical json.RawMessage `json:"crit,omitempty"`
	// Key is a key that the token brings itself, and Encoded says that the payload is not in base64url. No token of a
	// service account has one of them, and a verifier that heeded them would verify something else.
	Key     json.RawMessage `json:"jwk,omitempty"`
	Encoded json.RawMessage `json:"b64,omitempty"`
}

// parse takes a token apart. It refuses JSON that can be read in two ways: names that stand twice.
func parse(token string) (*signed, error) {
	if len(token) > maxToken {
		return nil, errNoToken
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errNoToken
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = segment.DecodeString(part); err != nil || strings.ContainsAny(part, "\r\n") {
			return nil, errNoToken
		}
	}
	s := &signed{content: token[:len(parts[0])+1+len(parts[1])], payload: decoded[1], signature: decoded[2]}
	if err := decode(decoded[0], &s.header); err != nil {
		return nil, err
	}
	return s, nil
}

// issuer returns the issuer that the claims name, "" for none.
func (s *signed) issuer() string {
	var claims struct {
		Issuer string `json:"iss"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(s.payload, &claims) != nil {
		return ""
	}
	return claims.Issuer
}

// decode reads a JSON object whose names stand once. Upper and lower case differ.
func decode[T any](data []byte, into *T) error {
	if len(data) == 0 || data[0] != '{' {
		return errNoToken
	}
	strict, err := kjson.UnmarshalStrict(data, into, kjson.DisallowDuplicateFields)
	if err = errors.Join(append(strict, err)...); err != nil {
		return fmt.Errorf("%w: %w", errNoToken, err)
	}
	return nil
}

// verify reports whether a key signed the token. The key decides the algorithm, and the header must name this one:
// a token can't choose none, or have a public key taken for a shared secret.
func (s *signed) verify(k *key) error {
	if s.header.Critical != nil {
		return errors.New("the token's header has parameters that it declares to be critical, which are not known")
	}
	if s.header.Key != nil || s.header.Encoded != nil {
		return errors.New("the token's header has jwk or b64, which tokens of service accounts have not")
	}
	if s.header.Algorithm != k.algorithm {
		return fmt.Errorf("the token is signed by the algorithm %q, and the key is for %s", s.header.Algorithm,
			k.algorithm)
	}
	digest := k.digest(s.content)
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		if rsa.VerifyPKCS1v15(public, k.hash, digest, s.signature) == nil {
			return nil
		}
	case *ecdsa.PublicKey:
		if size := (public.Params().BitSize + 7) / 8; len(s.signature) == 2*size {
			r, t := new(big.Int).SetBytes(s.signature[:size]), new(big.Int).SetBytes(s.signature[size:])
			if ecdsa.Verify(public, digest, r, t) {
				return nil
			}
		}
	}
	return errors.New("the token's signature is wrong")
}

// sign returns the token that has a payload, signed by a key that has its private half.
func (k *key) sign(payload []byte) (string, error) {
	head, err := json.Marshal(header{Algorithm: k.algorithm, KeyID: k.id})
	if err != nil {
		return "", err
	}
	content := segment.EncodeToString(head) + "." + segment.EncodeToString(payload)
	signature, err := k.signature(k.digest(content))
	if err != nil {
		return "", err
	}
	return content + "." + segment.EncodeToString(signature), nil
}

func (k *key) signature(digest []byte) ([]byte, error) {
	switch private := k.private.(type) {
	case *rsa.PrivateKey:
		return rsa.SignPKCS1v15(rand.Reader, private, k.hash, digest)
	case *ecdsa.PrivateKey:
		r, t, err := ecdsa.Sign(rand.Reader, private, digest)
		if err != nil {
			return nil, err
		}
		size := (private.Params().BitSize + 7) / 8
		out := make([]byte, 2*size)
		r.FillBytes(out[:size])
		t.FillBytes(out[size:])
		return out, nil
	}
	return nil, errors.New("the key has no private half")
}

func (k *key) digest(content string) []byte {
	hash := k.hash.New()
	hash.Write([]byte(content))
	return hash.Sum(nil)
}

// key is a key of tokens: its public half, and the private one if the server signs with it.
type key struct {
	id        string
	algorithm string
	hash      crypto.Hash
	public    crypto.PublicKey
	private   crypto.Signer
}
