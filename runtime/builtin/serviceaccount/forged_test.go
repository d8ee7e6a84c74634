package serviceaccount

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
)

// forge signs claims with a header of its own choice.
func forge(t *testing.T, k *key, header, payload string) string {
	t.Helper()
	content := segment.EncodeToString([]byte(header)) + "." + segment.EncodeToString([]byte(payload))
	signature, err := k.signature(k.digest(content))
	if err != nil {
		t.Fatal(err)
	}
	return content + "." + segment.EncodeToString(signature)
}

// Bad tokens are refused, and those of others are left to others.
func TestBadTokens(t *testing.T) {
	a := newAuthority(t, "RS256", someWorld())
	good := issue(t, a, request(nil))
	parts := strings.Split(good, ".")
	k := a.keys.Load().signing
	decoded := func(i int) string {
		text, err := segment.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	head, payload := decoded(0), decoded(1)
	other := newAuthority(t, "ES256", someWorld())
	encode := func(s string) string { return segment.EncodeToString([]byte(s)) }
	withSecret := func(secret []byte) string {
		content := encode(`{"alg":"HS256","kid":"`+k.id+`"}`) + "." + parts[1]
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(content))
		return content + "." + segment.EncodeToString(mac.Sum(nil))
	}
	change := func(old, by string) string {
		if !strings.Contains(payload, old) {
			t.Fatalf("%s is not in %s", old, payload)
		}
		return forge(t, k, head, strings.Replace(payload, old, by, 1))
	}
	for name, row := range map[string]struct {
		token string
		err   string // "" is another's token
	}{
		"empty":                {"", ""},
		"no token":             {"abc", ""},
		"two parts":            {parts[0] + "." + parts[1], ""},
		"four parts":           {good + ".x", ""},
		"JSON serialization":   {`{"payload":"` + parts[1] + `"}`, ""},
		"padded":               {parts[0] + "=." + parts[1] + "." + parts[2], ""},
		"a line break":         {parts[0] + "\n." + parts[1] + "." + parts[2], ""},
		"huge":                 {good + strings.Repeat("A", maxToken), ""},
		"another issuer":       {change("https://shop.example.com", "https://x"), ""},
		"no issuer":            {change(`"iss":"https://shop.example.com",`, ""), ""},
		"an issuer twice":      {change(`"iss":`, `"iss":"x","iss":`), `duplicate field "iss"`},
		"an account twice":     {change(`"serviceaccount":`, `"serviceaccount":{},"serviceaccount":`), "duplicate"},
		"algorithm none":       {encode(`{"alg":"none"}`) + "." + parts[1] + ".", `algorithm "none"`},
		"algorithm None":       {encode(`{"alg":"None"}`) + "." + parts[1] + "." + parts[2], `algorithm "None"`},
		"no algorithm":         {forge(t, k, `{"kid":"`+k.id+`"}`, payload), `algorithm ""`},
		"a shared secret, PEM": {withSecret(publicPEM(t, testKeys["RS256"])), `algorithm "HS256"`},
		"a shared secret, DER": {withSecret(k.public.(*rsa.PublicKey).N.Bytes()), `algorithm "HS256"`},
		"RS512":                {forge(t, k, `{"alg":"RS512","kid":"`+k.id+`"}`, payload), `algorithm "RS512"`},
		"PS256":                {forge(t, k, `{"alg":"PS256"}`, payload), `algorithm "PS256"`},
		"critical":             {forge(t, k, `{"alg":"RS256","crit":["b64"],"b64":false}`, payload), "critical"},
		"nothing critical":     {forge(t, k, `{"alg":"RS256","crit":null}`, payload), "critical"},
		"a key of its own":     {forge(t, k, `{"alg":"RS256","jwk":{}}`, payload), "jwk"},
		"no base64url":         {forge(t, k, `{"alg":"RS256","b64":false}`, payload), "b64"},
		"an algorithm twice":   {forge(t, k, `{"alg":"none","alg":"RS256"}`, payload), ""},
		"an unknown key":       {forge(t, k, `{"alg":"RS256","kid":"x"}`, payload), "no keys found"},
		"another key":          {issue(t, other, request(nil)), "no keys found"},
		"another key, without id": {forge(t, other.keys.Load().signing, `{"alg":"RS256"}`, payload),
			"signature is wrong"},
		"no signature": {parts[0] + "." + parts[1] + ".", "signature is wrong"},
		"other claims": {parts[0] + "." + encode(strings.Replace(payload, "robot", "admin", 1)) + "." +
			parts[2], "signature is wrong"},
		"no expiry": {forge(t, k, head, strings.Replace(payload, `"exp":`, `"expires":`, 1)),
			"does not expire"},
		"an expiry that is null":  {change(`"exp":`, `"exp":null,"x":`), "does not expire"},
		"an expiry out of bounds": {change(`"exp":`, `"exp":1e300,"x":`), "after the year 9999"},
		"an expiry that is text":  {change(`"exp":`, `"exp":"never","x":`), "cannot unmarshal string"},
		"another subject": {change(`"sub":"system:serviceaccount:shop:robot"`, `"sub":"system:admin"`),
			"subject"},
		"a claim in upper case": {change(`"sub":`, `"SUB":`), "subject"},
		"a token for a " +
			"webhook": {change(`"kubernetes.io":{`,
			`"kubernetes.io":{"validatingwebhookconfiguration":{"name":"x"},`), "bound to a webhook"},
		"no account":               {change(`"name":"robot"`, `"name":""`), "subject"},
		"an account without a UID": {change(`"robot-uid"`, `""`), "does not match claim"},
	} {
		wantRefused(t, a, name, row.token, row.err)
	}
	if _, err := a.AuthenticateToken(t.Context(), forge(t, k, `{"alg":"RS256","typ":"JWT"}`, payload),
		nil); err != nil {
		t.Errorf("without the key's id: %v", err)
	}
	if _, err := a.AuthenticateToken(t.Context(), change("https://shop.example.com", "https://old.example.com"),
		nil); err != nil {
		t.Errorf("the former issuer: %v", err)
	}
}

// TestForgedTokens: whoever changes what a token says, by whose key it says it, or how it is spelled, is nobody. The
// tokens whose claims are wrong are signed by the server's own key, as those of other servers with that key are.
func TestForgedTokens(t *testing.T) {
	a, other := newAuthority(t, "RS256", someWorld()), newAuthority(t, "ES256", someWorld())
	good := issue(t, a, request(nil))
	parts := strings.Split(good, ".")
	k, foreign := a.keys.Load().signing, other.keys.Load().signing
	payload, err := segment.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	head := func(text string) string { return forge(t, k, text, string(payload)) }
	foreignHead := func(text string) string { return forge(t, foreign, text, string(payload)) }
	signedAs := func(by string) string { return parts[0] + "." + parts[1] + "." + by }
	of := issue(t, a, auth.TokenRequest{Account: request(nil).Account, Seconds: 601})
	for name, row := range map[string]struct{ token, err string }{
		"a key behind a URL": {foreignHead(`{"alg":"ES256","jku":"https://127.0.0.1/keys"}`), "ES256"},
		"a certificate":      {foreignHead(`{"alg":"ES256","x5c":["MIIB"],"kid":"` + k.id + `"}`), "ES256"},
		"one behind a URL":   {foreignHead(`{"alg":"RS256","x5u":"https://127.0.0.1/cert"}`), "signature is wrong"},
		"a file as the key":  {foreignHead(`{"alg":"RS256","kid":"../../dev/null"}`), "no keys found"},
		"a key in a database": {foreignHead(`{"alg":"RS256","kid":"' UNION SELECT 'k"}`),
			"no keys found"},
		"many keys":                 {head(`{"alg":"RS256","kid":["` + k.id + `"]}`), ""},
		"a number as the key":       {head(`{"alg":"RS256","kid":0}`), ""},
		"two keys":                  {head(`{"alg":"RS256","kid":"x","kid":"` + k.id + `"}`), ""},
		"the algorithm in capitals": {head(`{"ALG":"RS256"}`), `algorithm ""`},
		"rs256":                     {head(`{"alg":"rs256"}`), `algorithm "rs256"`},
		"ES256 of an RSA key":       {head(`{"alg":"ES256","kid":"` + k.id + `"}`), `algorithm "ES256"`},
		"many algorithms":           {head(`{"alg":["RS256"]}`), ""},
		"no header":                 {head(`null`), ""},
		"a list as the header":      {head(`[{"alg":"RS256"}]`), ""},
		"two headers":               {head(`{"alg":"RS256"}{"alg":"RS256"}`), ""},
		"a byte order mark":         {head("\ufeff" + `{"alg":"RS256"}`), ""},
		"encrypted":                 {good + "." + parts[1] + "." + parts[2], ""},
		"a token in a token": {forge(t, k, `{"alg":"RS256","cty":"JWT"}`, good),
			""},
		"half of a signature":        {signedAs(parts[2][:168]), "signature is wrong"},
		"a signature and more":       {signedAs(parts[2] + "AAAA"), "signature is wrong"},
		"zeros as the signature":     {signedAs(strings.Repeat("A", len(parts[2]))), "signature is wrong"},
		"another token's signature":  {signedAs(of[strings.LastIndex(of, ".")+1:]), "signature is wrong"},
		"the parts in another order": {parts[1] + "." + parts[0] + "." + parts[2], ""},
		"the alphabet of base64":     {signedAs("+/" + parts[2][2:]), ""},
		"a space before it":          {" " + good, ""},
		"a line break after it":      {good + "\n", ""},
		"a zero byte after it":       {good + "\x00", ""},
		"the scheme before it":       {"Bearer " + good, ""},
		"a dot after it":             {good + ".", ""},
	} {
		wantRefused(t, a, name, row.token, row.err)
	}
}

// wantRefused wants a token to be refused with an error, or to be another's if there is none.
func wantRefused(t *testing.T, a *authority, name, token, failure string) {
	t.Helper()
	identity, err := a.AuthenticateToken(t.Context(), token, nil)
	if identity != nil || (err == nil) != (failure == "") || err != nil && !strings.Contains(err.Error(), failure) {
		t.Errorf("%s: %v, %v, want %q", name, identity, err, failure)
	}
}

// TestWrongClaims: a token that the server's own key signed is refused if it is for another time, audience or object.
func TestWrongClaims(t *testing.T) {
	a := newAuthority(t, "RS256", someWorld())
	k := a.keys.Load().signing
	s, err := parse(issue(t, a, request(nil)))
	if err != nil {
		t.Fatal(err)
	}
	bound := func(objects string) string { return `"kubernetes.io":{` + objects + "," }
	const in = `"kubernetes.io":{`
	for name, row := range map[string]struct{ old, by, err string }{
		"expired":                {`"exp":`, `"exp":1,"x":`, "has expired"},
		"before 1970":            {`"exp":`, `"exp":-1,"x":`, "before 1970"},
		"many expiries":          {`"exp":`, `"exp":[253402300799],"x":`, "cannot unmarshal array"},
		"an expiry twice":        {`"exp":`, `"exp":253402300799,"exp":`, "duplicate"},
		"an expiry in capitals":  {`"exp":`, `"EXP":`, "does not expire"},
		"not yet":                {`"nbf":`, `"nbf":253402300799,"x":`, "not valid yet"},
		"from the future":        {`"iat":`, `"iat":253402300799,"x":`, "issued in the future"},
		"another audience":       {`["api","https://shop"]`, `["x"]`, "invalid for the target"},
		"one that is alone":      {`["api","https://shop"]`, `"x"`, "invalid for the target"},
		"one that is empty":      {`["api","https://shop"]`, `""`, "invalid for the target"},
		"one that is longer":     {`["api","https://shop"]`, `["api.x","https://shop/"]`, "invalid for the target"},
		"audiences in an object": {`["api","https://shop"]`, `{"api":true}`, "cannot unmarshal"},
		"another namespace":      {`"namespace":"shop"`, `"namespace":"kube-system"`, "subject"},
		"a path as a namespace":  {`"namespace":"shop"`, `"namespace":"../kube-system"`, "subject"},
		"another account":        {`"name":"robot"`, `"name":"admin"`, "subject"},
		"another UID":            {`"robot-uid"`, `"new"`, "does not match claim"},
		"a subject twice":        {`"sub":`, `"sub":"system:admin","sub":`, "duplicate"},
		"objects twice":          {in, `"kubernetes.io":{},` + in, "duplicate"},
		"a Secret that is gone":  {in, bound(`"secret":{"name":"gone","uid":"u"}`), "invalidated"},
		"another Secret":         {in, bound(`"secret":{"name":"s","uid":"u"}`), "does not match claim"},
		"a Secret without a UID": {in, bound(`"secret":{"name":"s"}`), "does not match claim"},
		"a Pod that is gone":     {in, bound(`"pod":{"name":"gone","uid":"u"}`), "invalidated"},
		"another Pod":            {in, bound(`"pod":{"name":"web","uid":"u"}`), "does not match claim"},
		"a node that is gone":    {in, bound(`"node":{"name":"gone","uid":"u"}`), "invalidated"},
		"for a mutating webhook": {in, bound(`"mutatingwebhookconfiguration":{"name":"x"}`), "bound to a webhook"},
	} {
		payload := strings.Replace(string(s.payload), row.old, row.by, 1)
		if payload == string(s.payload) {
			t.Fatalf("%s is not in %s", row.old, payload)
		}
		wantRefused(t, a, name, forge(t, k, `{"alg":"RS256"}`, payload), row.err)
	}
}

// An ECDSA signature in ASN.1, or of other curves' lengths, is none.
func TestSignaturesOfOtherForms(t *testing.T) {
	a := newAuthority(t, "ES256", someWorld())
	s, err := parse(issue(t, a, request(nil)))
	if err != nil {
		t.Fatal(err)
	}
	k := a.keys.Load().signing
	der, err := ecdsa.SignASN1(rand.Reader, k.private.(*ecdsa.PrivateKey), k.digest(s.content))
	if err != nil {
		t.Fatal(err)
	}
	good := s.signature
	for _, wrong := range [][]byte{der, nil, good[:63], append([]byte{0}, good...), make([]byte, 64),
		append(good[32:], good[:32]...)} {
		s.signature = wrong
		if s.verify(k) == nil {
			t.Errorf("%x is accepted", wrong)
		}
	}
}
