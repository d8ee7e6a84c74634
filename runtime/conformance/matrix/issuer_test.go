package matrix

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// issuers is an OpenID Connect provider with an issuer for each of its paths.
type issuers struct {
	*httptest.Server
	first, later *rsa.PrivateKey
	second       *ecdsa.PrivateKey
}

// jwks are the documents of keys that issuers publish, by their paths; "" is answered with 500.
func (i *issuers) jwks() map[string]string {
	first, second := i.jwk("first", ""), i.jwk("second", "")
	return map[string]string{
		"plain":     `{"keys": [` + first + `, ` + second + `]}`,
		"nameless":  `{"keys": [` + i.jwk("first", `"kid": ""`) + `]}`,
		"encrypts":  `{"keys": [` + i.jwk("first", `"use": "enc"`) + `]}`,
		"algorithm": `{"keys": [` + i.jwk("first", `"alg": "RS512"`) + `]}`,
		"twice":     `{"keys": [` + i.jwk("later", `"kid": "first"`) + `, ` + first + `]}`,
		"unknown":   `{"keys": [{"kty": "unknown", "kid": "x"}, ` + first + `]}`,
		"secret":    `{"keys": [{"kty": "oct", "kid": "x", "k": "c2VjcmV0"}, ` + first + `]}`,
		"malformed": `{"keys": [` + i.jwk("first", `"n": "?"`) + `, ` + second + `]}`,
		"empty":     `{"keys": []}`,
		"text":      `<html>`,
		"failing":   "",
		"renamed":   `{"keys": [` + first + `]}`, // its document names another issuer
		"absent":    `{"keys": [` + first + `]}`, // it has no document
	}
}

// startIssuers runs the provider until the test ends.
func startIssuers(t testing.TB) *issuers {
	t.Helper()
	first, err := rsa.GenerateKey(rand.Reader, 2048)
	later, e := rsa.GenerateKey(rand.Reader, 2048)
	second, e2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err := errors.Join(err, e, e2); err != nil {
		t.Fatal(err)
	}
	i := &issuers{first: first, later: later, second: second}
	mux := http.NewServeMux()
	i.Server = httptest.NewUnstartedServer(mux)
	i.Config.ErrorLog = log.New(io.Discard, "", 0)
	i.StartTLS()
	t.Cleanup(i.Close)
	for name, keys := range i.jwks() {
		mux.HandleFunc("/"+name+"/keys", func(w http.ResponseWriter, _ *http.Request) {
			if keys == "" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			_, _ = io.WriteString(w, keys)
		})
		document := fmt.Sprintf(`{"issuer": %q, "jwks_uri": %q}`, i.url(name), i.url(name)+"/keys")
		switch name {
		case "absent":
			continue
		case "renamed":
			document = strings.Replace(document, "/renamed", "/other", 1)
		}
		mux.HandleFunc("/"+name+"/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, document)
		})
	}
	return i
}

func (i *issuers) url(name string) string { return i.URL + "/" + name }

// jwk is the public form of a key, with a member that is set, or removed where it is "".
func (i *issuers) jwk(name, change string) string {
	number := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	members := map[string]any{"kid": name, "use": "sig"}
	switch key := i.key(name).(type) {
	case *rsa.PrivateKey:
		members["kty"], members["alg"] = "RSA", "RS256"
		members["n"], members["e"] = number(key.N), number(big.NewInt(int64(key.E)))
	case *ecdsa.PrivateKey:
		point, err := key.PublicKey.Bytes() // a byte that says how it is written, and both coordinates
		if err != nil {
			panic(err) // the curve is one of NIST's
		}
		half := len(point) / 2
		members["kty"], members["alg"], members["crv"] = "EC", "ES256", "P-256"
		members["x"] = base64.RawURLEncoding.EncodeToString(point[1 : 1+half])
		members["y"] = base64.RawURLEncoding.EncodeToString(point[1+half:])
	}
	if change != "" {
		changes := map[string]any{}
		if err := json.Unmarshal([]byte("{"+change+"}"), &changes); err != nil {
			panic(err)
		}
		for member, value := range changes {
			if members[member] = value; value == "" {
				delete(members, member)
			}
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err) // they are texts
	}
	return string(text)
}

func (i *issuers) key(name string) crypto.Signer {
	switch name {
	case "later":
		return i.later
	case "second":
		return i.second
	}
	return i.first
}

// configuration writes the AuthenticationConfiguration with all issuers, and returns its path.
func (i *issuers) configuration(t testing.TB, dir string) string {
	t.Helper()
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw}))
	var jwt []any
	for name := range i.jwks() {
		jwt = append(jwt, map[string]any{
			"issuer": map[string]any{
				"url": i.url(name), "audiences": []string{"shop"}, "certificateAuthority": authority,
			},
			"claimMappings": map[string]any{
				"username": map[string]any{"claim": "sub", "prefix": name + ":"},
				"groups":   map[string]any{"claim": "groups", "prefix": name + ":"},
			},
		})
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": jwt,
		"anonymous": map[string]any{"enabled": false},
	})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, dir, "authentication.yaml", text)
}

// identity is an id token of joe, and what is special about it: the zero value is nothing.
type identity struct {
	// issuer is a path, "plain" if it is empty; key signs, with kid in the header if it is not empty.
	issuer, key, kid string
	header, claims   map[string]any
	sign             func(i *issuers, input []byte) []byte
}

func claiming(claims map[string]any) identity { return identity{claims: claims} }

// identities are id tokens. The word oidc:NAME is the token.
var identities = map[string]func() identity{
	"good": func() identity { return identity{} },
	"second": func() identity {
		return identity{key: "second", kid: "second", header: map[string]any{"alg": "ES256"}}
	},

	"expired":           func() identity { return claiming(map[string]any{"exp": from(-10 * time.Second)}) },
	"endless":           func() identity { return claiming(map[string]any{"exp": nil}) },
	"expires-as-text":   func() identity { return claiming(map[string]any{"exp": "4000000000"}) },
	"expires-as-float":  func() identity { return claiming(map[string]any{"exp": json.Number("4000000000.5")}) },
	"expires-far-away":  func() identity { return claiming(map[string]any{"exp": json.Number("1e18")}) },
	"expires-nowhere":   func() identity { return claiming(map[string]any{"exp": json.Number("1e400")}) },
	"not-yet-by-a-bit":  func() identity { return claiming(map[string]any{"nbf": from(3 * time.Minute)}) },
	"not-yet":           func() identity { return claiming(map[string]any{"nbf": from(time.Hour)}) },
	"not-yet-as-text":   func() identity { return claiming(map[string]any{"nbf": "1"}) },
	"issued-in-a-while": func() identity { return claiming(map[string]any{"iat": from(time.Hour)}) },
	"issued-at-no-time": func() identity { return claiming(map[string]any{"iat": nil}) },
	"issued-as-text":    func() identity { return claiming(map[string]any{"iat": "1"}) },

	"no-kid":         func() identity { return identity{kid: "-"} },
	"unknown-kid":    func() identity { return identity{kid: "third"} },
	"kid-of-another": func() identity { return identity{kid: "second"} },
	"later-key":      func() identity { return identity{key: "later"} },
	"stronger":       func() identity { return identity{header: map[string]any{"alg": "RS512"}} },
	"alg-none": func() identity {
		return identity{header: map[string]any{"alg": "none"}, sign: func(*issuers, []byte) []byte { return nil }}
	},
	"confused-key": func() identity { return identity{header: map[string]any{"alg": "HS256"}, sign: signShared} },
	"crit":         func() identity { return identity{header: map[string]any{"crit": []string{"exp"}}} },
	"jwk":          func() identity { return identity{key: "later", header: map[string]any{"jwk": "evil"}} },

	"nameless":        func() identity { return identity{issuer: "nameless"} },
	"nameless-no-kid": func() identity { return identity{issuer: "nameless", kid: "-"} },
	"encrypts":        func() identity { return identity{issuer: "encrypts"} },
	"algorithm":       func() identity { return identity{issuer: "algorithm"} },
	"twice":           func() identity { return identity{issuer: "twice"} },
	"twice-later":     func() identity { return identity{issuer: "twice", key: "later"} },
	"unknown":         func() identity { return identity{issuer: "unknown"} },
	"secret":          func() identity { return identity{issuer: "secret"} },
	"malformed":       func() identity { return identity{issuer: "malformed"} },
	"malformed-second": func() identity {
		return identity{issuer: "malformed", key: "second", kid: "second", header: map[string]any{"alg": "ES256"}}
	},
	"empty":        func() identity { return identity{issuer: "empty"} },
	"text":         func() identity { return identity{issuer: "text"} },
	"failing":      func() identity { return identity{issuer: "failing"} },
	"renamed":      func() identity { return identity{issuer: "renamed"} },
	"absent":       func() identity { return identity{issuer: "absent"} },
	"of-nobody":    func() identity { return identity{issuer: "nobody"} },
	"issuer-slash": func() identity { return identity{issuer: "plain/"} },

	"no-audience":     func() identity { return claiming(map[string]any{"aud": nil}) },
	"other-audience":  func() identity { return claiming(map[string]any{"aud": "bank"}) },
	"two-audiences":   func() identity { return claiming(map[string]any{"aud": []string{"bank", "shop"}}) },
	"no-subject":      func() identity { return claiming(map[string]any{"sub": nil}) },
	"empty-subject":   func() identity { return claiming(map[string]any{"sub": ""}) },
	"subject-number":  func() identity { return claiming(map[string]any{"sub": 7}) },
	"groups":          func() identity { return claiming(map[string]any{"groups": []string{"a", "b"}}) },
	"group-text":      func() identity { return claiming(map[string]any{"groups": "a"}) },
	"group-number":    func() identity { return claiming(map[string]any{"groups": 7}) },
	"groups-null":     func() identity { return claiming(map[string]any{"groups": json.RawMessage("null")}) },
	"groups-of-all":   func() identity { return claiming(map[string]any{"groups": []any{"a", 7}}) },
	"group-empty":     func() identity { return claiming(map[string]any{"groups": []string{""}}) },
	"groups-of-group": func() identity { return claiming(map[string]any{"groups": []any{[]string{"a"}}}) },
}

// signShared takes the public key, which everybody may know, for a shared secret.
func signShared(i *issuers, input []byte) []byte {
	der, err := x509.MarshalPKIXPublicKey(i.first.Public())
	if err != nil {
		panic(err) // the key is one of RSA
	}
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	mac.Write(input)
	return mac.Sum(nil)
}

// token returns the token of an identity, which is issued now.
func (i *issuers) token(t testing.TB, of identity) string {
	t.Helper()
	header := map[string]any{"alg": "RS256", "kid": "first"}
	if of.kid != "" {
		header["kid"] = of.kid
	}
	if of.kid == "-" {
		delete(header, "kid")
	}
	issuer := "plain"
	if of.issuer != "" {
		issuer = of.issuer
	}
	claims := map[string]any{
		"iss": i.url(issuer), "sub": "joe", "aud": "shop", "exp": from(time.Hour), "iat": from(-time.Minute),
	}
	merge(header, of.header)
	merge(claims, of.claims)
	input := encode(t, header) + "." + encode(t, claims)
	signature := i.signature(of.key, []byte(input))
	if of.sign != nil {
		signature = of.sign(i, []byte(input))
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// signature signs as RS256 and ES256 do.
func (i *issuers) signature(key string, input []byte) []byte {
	switch key := i.key(key).(type) {
	case *ecdsa.PrivateKey:
		sum := sha256.Sum256(input)
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			panic(err) // the curve is fit for the sum
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case *rsa.PrivateKey:
		return signWith(key, input)
	}
	return nil
}

// freshen makes the token of a word anew, so that its times are those of the request.
func (w *world) freshen(t testing.TB, word string) {
	t.Helper()
	kind, name, _ := strings.Cut(word, ":")
	switch {
	case kind == "jwt" && forgeries[name] != nil:
		w.words[word] = w.token(t, forgeries[name](w))
	case kind == "oidc" && w.issuers != nil && identities[name] != nil:
		w.words[word] = w.issuers.token(t, identities[name]())
	}
}

// accepted are the issuers whose tokens are accepted, of which a server learns in the background.
var accepted = []string{"plain", "twice"}

// awaitIssuers waits until the server accepts the tokens of all of them.
func (w *world) awaitIssuers(t testing.TB) {
	t.Helper()
	if w.issuers == nil {
		return
	}
	q := &question{request: []string{"POST " + selfReviews, "", "apiVersion: authentication.k8s.io/v1",
		"kind: SelfSubjectReview"}}
	for _, name := range accepted {
		w.words["oidc:await"] = w.issuers.token(t, identity{issuer: name})
		for end := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
			_, lines, err := w.ask(t, q, &row{who: "oidc:await", how: firstProtocol})
			if err == nil && strings.HasPrefix(lines[0], "201") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the tokens of %s are never accepted: %v %v", name, lines, err)
			}
		}
	}
}

const selfReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
