package oidc

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func text(s string) *string { return &s }

// Each row is a configuration, beside an issuer, and what becomes of a token's claims.
func TestClaims(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public()}
	for name, row := range map[string]struct {
		change    func(*JWT)
		claims    map[string]any
		want, err string
	}{
		"prefixes": {func(j *JWT) {
			j.ClaimMappings.Username.Prefix = text("oidc:")
			j.ClaimMappings.Groups = PrefixedClaim{Claim: "roles", Prefix: text("g:")}
			j.ClaimMappings.UID.Claim = "id"
		}, map[string]any{"roles": []string{"a", "b"}, "id": "7", "jti": "t1"},
			"oidc:joe uid=7 groups=g:a,g:b extra=map[authentication.kubernetes.io/credential-id:[JTI=t1]]", ""},
		"one group": {func(j *JWT) { j.ClaimMappings.Groups = PrefixedClaim{Claim: "role", Prefix: text("")} },
			map[string]any{"role": "a"}, "joe uid= groups=a extra=map[]", ""},
		"no groups": {func(j *JWT) { j.ClaimMappings.Groups = PrefixedClaim{Claim: "role", Prefix: text("")} },
			nil, "joe uid= groups= extra=map[]", ""},
		"groups of digits": {func(j *JWT) { j.ClaimMappings.Groups = PrefixedClaim{Claim: "role", Prefix: text("")} },
			map[string]any{"role": []int{1}}, "", `parse groups claim "role"`},
		"distributed groups": {func(j *JWT) { j.ClaimMappings.Groups = PrefixedClaim{Claim: "role", Prefix: text("")} },
			map[string]any{"_claim_names": map[string]string{"role": "s"},
				"_claim_sources": map[string]any{"s": map[string]string{"endpoint": "https://x"}}}, "",
			`the claim "role" is distributed, by "s"`},
		"expressions": {func(j *JWT) {
			j.ClaimMappings = Mappings{
				Username: PrefixedClaim{Expression: `"e:" + claims.sub`},
				Groups:   PrefixedClaim{Expression: `claims.roles.split(",")`},
				UID:      Claim{Expression: `claims.sub + "-id"`},
				Extra: []Extra{{"example.com/one", `claims.roles`}, {"example.com/none", `claims.?nobody.orValue("")`},
					{"example.com/deep", `claims.example__dot__com__slash__x.deep`}},
			}
		}, map[string]any{"roles": "a,b", "example.com/x": map[string]any{"deep": []string{"y", ""}}},
			"e:joe uid=joe-id groups=a,b extra=map[example.com/deep:[y] example.com/one:[a,b]]", ""},
		"an empty user": {func(j *JWT) { j.ClaimMappings.Username = PrefixedClaim{Expression: `""`} }, nil, "",
			"empty username via CEL expression is not allowed"},
		"a user that is no text": {func(j *JWT) { j.ClaimMappings.Username = PrefixedClaim{Expression: `claims.exp`} },
			nil, "", "must return a string"},
		"a required claim": {func(j *JWT) {
			j.ClaimValidationRules = []ClaimRule{{Claim: "hd", RequiredValue: "example.com"}}
		}, map[string]any{"hd": "example.com"}, "joe uid= groups= extra=map[]", ""},
		"a required claim is missing": {func(j *JWT) {
			j.ClaimValidationRules = []ClaimRule{{Claim: "hd", RequiredValue: "example.com"}}
		}, nil, "", "required claim hd: claim not present"},
		"a required claim differs": {func(j *JWT) {
			j.ClaimValidationRules = []ClaimRule{{Claim: "hd", RequiredValue: "example.com"}}
		}, map[string]any{"hd": "x"}, "", "value does not match. Got = x, want = example.com"},
		"a claim rule": {func(j *JWT) {
			j.ClaimValidationRules = []ClaimRule{{Expression: `claims.n <= 5`, Message: "n is too large"}}
		}, map[string]any{"n": 6}, "", "validation expression 'claims.n <= 5' failed: n is too large"},
		"a claim rule fails": {func(j *JWT) {
			j.ClaimValidationRules = []ClaimRule{{Expression: `claims.n <= 5`, Message: "n is too large"}}
		}, nil, "", "expression 'claims.n <= 5' resulted in error: no such key: n"},
		"a user rule": {func(j *JWT) {
			j.UserValidationRules = []UserRule{{"!user.username.startsWith('system:')", "no system users"}}
		}, map[string]any{"sub": "system:admin"}, "", "no system users"},
		"user rules hold": {func(j *JWT) {
			j.ClaimMappings.Extra = []Extra{{"example.com/x", `"y"`}}
			j.UserValidationRules = []UserRule{{Expression: "user.groups.size() == 0 && user.uid == ''"},
				{Expression: "user.extra['example.com/x'] == ['y']"}}
		}, nil, "joe uid= groups= extra=map[example.com/x:[y]]", ""},
		"an email": {func(j *JWT) { j.ClaimMappings.Username.Claim = "email" },
			map[string]any{"email": "a@b", "email_verified": true}, "a@b uid= groups= extra=map[]", ""},
		"an unverified email": {func(j *JWT) { j.ClaimMappings.Username.Claim = "email" },
			map[string]any{"email": "a@b", "email_verified": false}, "", "email not verified"},
	} {
		jwt := i.plain()
		row.change(&jwt)
		got, err := authenticate(t, newFor(t, jwt), testKeys["first"].sign(t, i.URL, row.claims))
		if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %q, %v, want %q %q", name, got, err, row.want, row.err)
		}
	}
}

// FuzzClaims reads signed claims of any form.
func FuzzClaims(f *testing.F) {
	i := newTestIssuer(f)
	i.keys = []jose.JSONWebKey{testKeys["second"].public()}
	jwt := i.plain()
	jwt.ClaimMappings.Groups = PrefixedClaim{Expression: `claims.?groups.orValue([])`}
	jwt.ClaimMappings.Extra = []Extra{{"example.com/x", `claims.?x.a.b__dot__c[0].orValue("")`}}
	is := newFor(f, jwt)
	f.Add(`{"sub":"joe","groups":["a",1,null],"x":{"a":{"b.c":[1]}}}`)
	f.Add(`{"sub":"joe","x":{"a":[]},"groups":{}}`)
	f.Fuzz(func(t *testing.T, payload string) {
		c, err := readClaims([]byte(payload))
		if err != nil {
			return
		}
		if user, err := is[i.URL].user(t.Context(), c); err == nil && user.Name == "" {
			t.Errorf("%s: a user without a name", payload)
		}
	})
}

// FuzzTokens authenticates texts of any form.
func FuzzTokens(f *testing.F) {
	i := newTestIssuer(f)
	i.keys = []jose.JSONWebKey{testKeys["second"].public()}
	is := newFor(f, i.plain())
	good := testKeys["second"].sign(f, i.URL, nil)
	f.Add(good)
	f.Add(unsigned(good, `{"alg":"none"}`, ""))
	f.Fuzz(func(t *testing.T, token string) {
		if got, err := authenticate(t, is, token); err == nil && got != "" && token != good {
			t.Errorf("%q authenticates %s", token, got)
		}
	})
}
