package oidc

import (
	"strings"
	"testing"
)

const header = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"

func TestParse(t *testing.T) {
	for name, row := range map[string]struct{ file, err string }{
		"v1":       {header, ""},
		"v1beta1":  {strings.Replace(header, "/v1", "/v1beta1", 1), ""},
		"v1alpha1": {strings.Replace(header, "/v1", "/v1alpha1", 1), ""},
		"JSON": {`{"apiVersion":"apiserver.config.k8s.io/v1",` +
			`"kind":"AuthenticationConfiguration","jwt":[]}`, ""},
		"empty":           {" \n", "empty config data"},
		"another version": {strings.Replace(header, "/v1", "/v2", 1), `apiVersion "apiserver.config.k8s.io/v2"`},
		"another kind": {strings.Replace(header, "Authentication", "Authorization", 1),
			`kind "AuthorizationConfiguration"`},
		"no kind":               {"jwt: []", `apiVersion "" and kind ""`},
		"an unknown field":      {header + "jwt:\n- issuer: {urls: x}\n", `unknown field "jwt[0].issuer.urls"`},
		"a field in other case": {header + "JWT: []\n", `unknown field "JWT"`},
		"a field twice":         {header + "jwt: []\njwt: []\n", `"jwt" already set`},
		"no YAML":               {header + "\tx", "yaml"},
		"a list":                {"[]", "cannot unmarshal array"},
		"two documents":         {header + "---\n" + header, "has 2 documents"},
		"a value of other type": {header + "jwt: {}\n", "cannot unmarshal object"},
		"huge":                  {header + "#" + strings.Repeat("x", maxFile), "may have"},
	} {
		c, err := Parse([]byte(row.file))
		if (err == nil) != (row.err == "") || err == nil && c.Kind == "" || err != nil &&
			!strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v, want %q", name, err, row.err)
		}
	}
}

// The faults have the names of fields and the words of kube-apiserver.
func TestValidate(t *testing.T) {
	const issuer = "- issuer: {url: https://a, audiences: [x]}\n"
	const user = "  claimMappings: {username: {claim: sub, prefix: ''}}\n"
	mapping := func(text string) string { return issuer + "  claimMappings: " + text + "\n" }
	for name, row := range map[string]struct{ jwt, want string }{
		"fine": {issuer + user, ""},
		"no issuer": {"- {}", "[jwt[0].issuer.url: Required value, jwt[0].issuer.audiences: Required value: at " +
			"least one " +
			"jwt[0].issuer.audiences is required, jwt[0].claimMappings.username: Required value: claim or " +
			"expression is required]"},
		"http": {"- issuer: {url: 'http://u:p@a?q#f', audiences: [x]}\n" + user,
			`[jwt[0].issuer.url: Invalid value: "http://u:p@a?q#f": URL scheme must be https, jwt[0].issuer.url: ` +
				`Invalid value: ` +
				`"http://u:p@a?q#f": URL must not contain a username or password, jwt[0].issuer.url: Invalid value: ` +
				`"http://u:p@a?q#f": URL must not contain a query, jwt[0].issuer.url: Invalid value: ` +
				`"http://u:p@a?q#f": URL must ` +
				`not contain a fragment]`},
		"the server's own issuer": {"- issuer: {url: https://own, audiences: [x]}\n" + user,
			`jwt[0].issuer.url: Invalid value: "https://own": URL must not overlap with disallowed issuers: ` +
				`[https://own]`},
		"twice": {issuer + user + issuer + user, `jwt[1].issuer.url: Duplicate value: "https://a"`},
		"discovery at the issuer": {"- issuer: {url: https://a, discoveryURL: https://a/, audiences: [x]}\n" + user,
			`jwt[0].issuer.discoveryURL: Invalid value: "https://a/": discoveryURL must be different from URL`},
		"discovery twice": {"- issuer: {url: https://a, discoveryURL: https://d, audiences: [x]}\n" + user +
			"- issuer: {url: https://b, discoveryURL: https://d, audiences: [x]}\n" + user,
			`jwt[1].issuer.discoveryURL: Duplicate value: "https://d"`},
		"audiences": {"- issuer: {url: https://a, audiences: [x, '', x]}\n" + user,
			`[jwt[0].issuer.audiences[1]: Required value, jwt[0].issuer.audiences[2]: Duplicate value: "x", ` +
				`jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for ` +
				`multiple audiences]`},
		"a policy": {"- issuer: {url: https://a, audiences: [x], audienceMatchPolicy: All}\n" + user,
			`jwt[0].issuer.audienceMatchPolicy: Invalid value: "All": audienceMatchPolicy must be empty or ` +
				`MatchAny for single audience`},
		"an authority": {"- issuer: {url: https://a, audiences: [x], certificateAuthority: x}\n" + user,
			`jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA ` +
				`or ECDSA certificates`},
		"egress": {"- issuer: {url: https://a, audiences: [x], egressSelectorType: cluster}\n" + user,
			`jwt[0].issuer.egressSelectorType: Invalid value: "cluster": this server has no egress selector: ` +
				`remove the field, and ` +
				`the server connects to the issuer directly`},
		"an expression": {mapping("{username: {expression: 'claims.'}}"),
			"jwt[0].claimMappings.username.expression: Invalid value: \"claims.\": compilation failed: ERROR: " +
				"<input>:1:8: Syntax error: " +
				"no viable alternative at input '.'\n | claims.\n | .......^"},
		"claim and expression": {mapping("{username: {claim: a, expression: b}, uid: {claim: a, expression: b}}"),
			`[jwt[0].claimMappings.username: Invalid value: "": claim and expression can't both be set, ` +
				`jwt[0].claimMappings.uid: ` +
				`Invalid value: "": claim and expression can't both be set]`},
		"no prefix": {mapping("{username: {claim: a}, groups: {claim: g}}"),
			`[jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can ` +
				`be set to an empty ` +
				`string to disable prefixing, jwt[0].claimMappings.groups.prefix: Required value: prefix is ` +
				`required when claim is set. ` +
				`It can be set to an empty string to disable prefixing]`},
		"a prefix of an expression": {mapping("{username: {expression: claims.sub, prefix: a}}"),
			`jwt[0].claimMappings.username.prefix: Invalid value: "a": may not be specified when expression is set`},
		"email": {mapping("{username: {expression: claims.email}}"),
			`jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must ` +
				`be used in ` +
				`claimMappings.username.expression or claimMappings.extra[*].valueExpression or ` +
				`claimValidationRules[*].expression ` +
				`when claims.email is used in claimMappings.username.expression`},
		"verified email": {mapping("{username: {expression: claims.email}}") +
			"  claimValidationRules: [{expression: 'claims.?email_verified.orValue(true) == true'}]\n", ""},
		"extra": {mapping("{username: {claim: a, prefix: ''}, extra: [{key: a}, {key: A.b/c, valueExpression: " +
			"'1'}, {key: x.k8s.io/a, " +
			"valueExpression: '1'}, {key: x.y/z, valueExpression: '1'}, {key: x.y/z, valueExpression: '1'}]}"),
			`[jwt[0].claimMappings.extra[0].key: Invalid value: "a": must be a domain-prefixed path (such as ` +
				`"acme.io/foo"), ` +
				`jwt[0].claimMappings.extra[0].valueExpression: Required value, ` +
				`jwt[0].claimMappings.extra[1].key: Invalid value: ` +
				`"A.b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or ` +
				`'.', and must start ` +
				`and end with an alphanumeric character (e.g. 'example.com', regex used for validation is ` +
				`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), ` +
				`jwt[0].claimMappings.extra[1].key: Invalid ` +
				`value: "A.b/c": must be lowercase, jwt[0].claimMappings.extra[2].key: Invalid value: ` +
				`"x.k8s.io/a": k8s.io, ` +
				`kubernetes.io and their subdomains are reserved for Kubernetes use, ` +
				`jwt[0].claimMappings.extra[4].key: Duplicate ` +
				`value: "x.y/z"]`},
		"claim rules": {issuer + user + "  claimValidationRules: [{}, {claim: a, expression: b}, {claim: a, " +
			"message: m}, {claim: a}, " +
			"{expression: '\"a\"'}, {expression: 'true', requiredValue: x}, {expression: 'true'}]\n",
			`[jwt[0].claimValidationRules[0]: Required value: claim or expression is required, ` +
				`jwt[0].claimValidationRules[1]: Invalid ` +
				`value: "a": claim and expression can't both be set, jwt[0].claimValidationRules[2].message: ` +
				`Invalid value: "m": may ` +
				`not be specified when claim is set, jwt[0].claimValidationRules[3].claim: Duplicate value: "a", ` +
				`jwt[0].claimValidationRules[4].expression: Invalid value: "\"a\"": must evaluate to bool, ` +
				`jwt[0].claimValidationRules[5].requiredValue: Invalid value: "x": may not be specified when ` +
				`expression is set, ` +
				`jwt[0].claimValidationRules[6].expression: Duplicate value: "true"]`},
		"user rules": {issuer + user + "  userValidationRules: [{}, {expression: 'user.username'}, {expression: " +
			"'true'}, {expression: 'true'}]\n",
			`[jwt[0].userValidationRules[0].expression: Required value, jwt[0].userValidationRules[1].expression: ` +
				`Invalid value: ` +
				`"user.username": must evaluate to bool, jwt[0].userValidationRules[3].expression: Duplicate ` +
				`value: "true"]`},
	} {
		c, err := Parse([]byte(header + "jwt:\n" + row.jwt))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, errs := validate(c, []string{"https://own"})
		got := ""
		if err := errs.ToAggregate(); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, row.want)
		}
	}
}

func TestValidateAnonymous(t *testing.T) {
	for anonymous, want := range map[string]string{
		"{enabled: true}":                             "",
		"{enabled: false}":                            "",
		"{enabled: true, conditions: [{path: /a}]}":   "",
		"{enabled: false, conditions: [{path: /a}]}":  "enabled should be set to true when conditions are defined",
		"{enabled: false, conditions: [{paths: /a}]}": "unknown field",
	} {
		c, err := Parse([]byte(header + "anonymous: " + anonymous))
		if err == nil {
			_, errs := validate(c, nil)
			if a := errs.ToAggregate(); a != nil {
				err = a
			}
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", anonymous, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(header + "jwt:\n- issuer: {url: https://a, audiences: [x]}\n  claimMappings: {username: " +
		"{expression: claims.sub}}\n"))
	f.Add([]byte(header + "anonymous: {enabled: true, conditions: [{path: /a}]}\n"))
	f.Add([]byte(header + "jwt:\n- claimValidationRules: [{expression: 'claims.a == [1].map(x, x)'}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			return
		}
		if all, errs := validate(c, nil); len(errs) == 0 && len(all) != len(c.JWT) {
			t.Errorf("%d issuers of %d", len(all), len(c.JWT))
		}
	})
}
