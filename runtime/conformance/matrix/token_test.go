package matrix

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"testing"
	"time"
)

// issuer is that of the tokens of service accounts.
const issuer = "https://kubernetes.default.svc"

// forgery is a token of a service account, and what is wrong with it: the zero value is nothing.
type forgery struct {
	header, claims, private map[string]any
	sign                    func(w *world, input []byte) []byte
}

// forgeries are tokens of the service account robot in the namespace red. The word jwt:NAME is the token.
var forgeries = map[string]func(w *world) forgery{
	"good": func(*world) forgery { return forgery{} },
	"expired": func(*world) forgery {
		return forgery{claims: map[string]any{"exp": from(-time.Hour), "iat": from(-2 * time.Hour),
			"nbf": from(-2 * time.Hour)}}
	},
	"expired-by-a-bit": func(*world) forgery {
		return forgery{claims: map[string]any{"exp": from(-20 * time.Second)}}
	},
	"expired-by-more": func(*world) forgery {
		return forgery{claims: map[string]any{"exp": from(-2 * time.Minute)}}
	},
	"not-yet-by-a-bit": func(*world) forgery { return forgery{claims: map[string]any{"nbf": from(20 * time.Second)}} },
	"not-yet-by-more":  func(*world) forgery { return forgery{claims: map[string]any{"nbf": from(4 * time.Minute)}} },
	"issued-in-a-bit":  func(*world) forgery { return forgery{claims: map[string]any{"iat": from(20 * time.Second)}} },
	"not-yet": func(*world) forgery {
		return forgery{claims: map[string]any{"nbf": from(time.Hour), "exp": from(2 * time.Hour)}}
	},
	"issued-in-the-future": func(*world) forgery { return forgery{claims: map[string]any{"iat": from(time.Hour)}} },
	"endless":              func(*world) forgery { return forgery{claims: map[string]any{"exp": nil}} },
	"other-audience":       func(*world) forgery { return forgery{claims: map[string]any{"aud": []string{"vault"}}} },
	"no-audience":          func(*world) forgery { return forgery{claims: map[string]any{"aud": nil}} },
	"empty-audience":       func(*world) forgery { return forgery{claims: map[string]any{"aud": []string{}}} },
	"two-audiences": func(*world) forgery {
		return forgery{claims: map[string]any{"aud": []string{"vault", issuer}}}
	},
	"audience-as-text": func(*world) forgery { return forgery{claims: map[string]any{"aud": issuer}} },
	"other-issuer":     func(*world) forgery { return forgery{claims: map[string]any{"iss": "https://evil.example"}} },
	"issuer-slash":     func(*world) forgery { return forgery{claims: map[string]any{"iss": issuer + "/"}} },
	"no-issuer":        func(*world) forgery { return forgery{claims: map[string]any{"iss": nil}} },
	"other-subject": func(*world) forgery {
		return forgery{claims: map[string]any{"sub": "system:serviceaccount:kube-system:admin"}}
	},
	"no-subject": func(*world) forgery { return forgery{claims: map[string]any{"sub": nil}} },
	"other-namespace": func(*world) forgery {
		return forgery{private: map[string]any{"namespace": "blue"}}
	},
	"no-private": func(*world) forgery { return forgery{claims: map[string]any{"kubernetes.io": nil}} },
	"no-uid": func(*world) forgery {
		return forgery{private: map[string]any{"serviceaccount": map[string]any{"name": "robot"}}}
	},
	"doomed":        func(w *world) forgery { return ofAccount("doomed", w.words["uid:doomed"]) },
	"reborn":        func(w *world) forgery { return ofAccount("reborn", w.words["uid:reborn"]) },
	"reborn-before": func(w *world) forgery { return ofAccount("reborn", w.words["uid:reborn-before"]) },
	"bound": func(w *world) forgery {
		return forgery{private: map[string]any{"secret": reference("bound", w.words["uid:bound"])}}
	},
	"bound-gone": func(w *world) forgery {
		return forgery{private: map[string]any{"secret": reference("bound-gone", w.words["uid:bound-gone"])}}
	},
	"bound-other": func(w *world) forgery {
		return forgery{private: map[string]any{"secret": reference("bound", w.words["uid:bound-gone"])}}
	},
	"bound-pod-gone": func(w *world) forgery {
		return forgery{private: map[string]any{"pod": reference("gone", w.words["uid:bound-gone"])}}
	},
	"alg-none": func(*world) forgery {
		return forgery{header: map[string]any{"alg": "none"}, sign: func(*world, []byte) []byte { return nil }}
	},
	"alg-None": func(*world) forgery {
		return forgery{header: map[string]any{"alg": "None"}, sign: func(*world, []byte) []byte { return nil }}
	},
	"alg-none-signed": func(*world) forgery { return forgery{header: map[string]any{"alg": "none"}} },
	"no-alg":          func(*world) forgery { return forgery{header: map[string]any{"alg": nil}} },
	"confused-key":    func(*world) forgery { return forgery{header: map[string]any{"alg": "HS256"}, sign: signHMAC} },
	"wrong-alg":       func(*world) forgery { return forgery{header: map[string]any{"alg": "RS512"}} },
	"other-key":       func(*world) forgery { return forgery{sign: signOther} },
	"unsigned":        func(*world) forgery { return forgery{sign: func(*world, []byte) []byte { return nil }} },
	"kid":             func(*world) forgery { return forgery{header: map[string]any{"kid": "another"}} },
	"kid-path":        func(*world) forgery { return forgery{header: map[string]any{"kid": "../../../dev/null"}} },
	"crit":            func(*world) forgery { return forgery{header: map[string]any{"crit": []string{"exp"}}} },
	"jku":             func(*world) forgery { return forgery{header: map[string]any{"jku": "https://evil.example"}} },
	"jwk":             func(*world) forgery { return forgery{header: map[string]any{"jwk": "evil"}} },
	"b64":             func(*world) forgery { return forgery{header: map[string]any{"b64": false}} },
	"typ":             func(*world) forgery { return forgery{header: map[string]any{"typ": "at+jwt"}} },
	"groups": func(*world) forgery {
		return forgery{claims: map[string]any{"groups": []string{"system:masters"}}}
	},
}

func from(d time.Duration) int64 { return time.Now().Add(d).Unix() }

func reference(name, uid string) map[string]any { return map[string]any{"name": name, "uid": uid} }

func ofAccount(name, uid string) forgery {
	return forgery{
		claims:  map[string]any{"sub": "system:serviceaccount:red:" + name},
		private: map[string]any{"serviceaccount": reference(name, uid)},
	}
}

// makeTokens makes the words for the tokens of forgeries.
func (w *world) makeTokens(t testing.TB) {
	t.Helper()
	for name, of := range forgeries {
		w.words["jwt:"+name] = w.token(t, of(w))
	}
}

func (w *world) token(t testing.TB, f forgery) string {
	t.Helper()
	header := map[string]any{"alg": "RS256"}
	private := map[string]any{"namespace": "red", "serviceaccount": reference("robot", w.words["uid:robot"])}
	merge(private, f.private)
	claims := map[string]any{
		"iss": issuer, "sub": "system:serviceaccount:red:robot", "aud": []string{issuer}, "exp": from(time.Hour),
		"iat": from(-time.Minute), "nbf": from(-time.Minute), "kubernetes.io": private,
	}
	merge(header, f.header)
	merge(claims, f.claims)
	input := encode(t, header) + "." + encode(t, claims)
	if f.sign == nil {
		f.sign = signRSA
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(f.sign(w, []byte(input)))
}

// merge sets members; nil removes one.
func merge(into, changes map[string]any) {
	maps.Copy(into, changes)
	maps.DeleteFunc(into, func(_ string, value any) bool { return value == nil })
}

func encode(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func signRSA(w *world, input []byte) []byte { return signWith(w.key, input) }

func signWith(key *rsa.PrivateKey, input []byte) []byte {
	sum := sha256.Sum256(input)
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // the key is one of RSA
	}
	return signature
}

func signOther(_ *world, input []byte) []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return signWith(key, input)
}

// signHMAC takes the public key, which everybody may know, for a shared secret.
func signHMAC(w *world, input []byte) []byte {
	der, err := x509.MarshalPKIXPublicKey(w.key.Public())
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	mac.Write(input)
	return mac.Sum(nil)
}
