package tokens

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/oidc"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	v1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/apiserver/pkg/apis/apiserver/v1alpha1"
	"k8s.io/apiserver/pkg/apis/apiserver/v1beta1"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/authentication/cel"
	"sigs.k8s.io/randfill"
)

// Every value of kube-apiserver's types is one of ours, and back, in every version.
func TestConfigurationRoundTrip(t *testing.T) {
	filler := randfill.New().NilChance(.2).NumElements(1, 3)
	trip := func(theirs, back any) {
		t.Helper()
		wire, err := json.Marshal(theirs)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := oidc.Parse(wire)
		if err != nil {
			t.Fatalf("%s: %v", wire, err)
		}
		again, err := json.Marshal(ours)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, back); err != nil || !reflect.DeepEqual(theirs, back) {
			t.Fatalf("%s became %s: %v", wire, again, err)
		}
	}
	for range 500 {
		var first v1.AuthenticationConfiguration
		filler.Fill(&first)
		first.APIVersion, first.Kind = "apiserver.config.k8s.io/v1", "AuthenticationConfiguration"
		trip(&first, new(v1.AuthenticationConfiguration))
		var second v1beta1.AuthenticationConfiguration
		filler.Fill(&second)
		second.APIVersion, second.Kind = "apiserver.config.k8s.io/v1beta1", "AuthenticationConfiguration"
		trip(&second, new(v1beta1.AuthenticationConfiguration))
		var third v1alpha1.AuthenticationConfiguration
		filler.Fill(&third)
		third.APIVersion, third.Kind = "apiserver.config.k8s.io/v1alpha1", "AuthenticationConfiguration"
		trip(&third, new(v1alpha1.AuthenticationConfiguration))
	}
}

// files are configurations, right and wrong, below the heading.
var files = map[string]string{
	"nothing":    "",
	"no issuers": "jwt: []",
	"an issuer": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: sub, " +
		"prefix: ''}}}]",
	"empty": "jwt: [{}]",
	"URLs": "jwt: [{issuer: {url: 'http://u:p@a?q#f', discoveryURL: 'ftp://b?x', audiences: [x]}}, {issuer: {url: " +
		"':', " +
		"discoveryURL: ':', audiences: ['']}}, {issuer: {url: https://a/, discoveryURL: https://a, audiences: [x, " +
		"x]}}]",
	"twice": "jwt: [{issuer: {url: https://a, discoveryURL: https://d}}, {issuer: {url: https://a, discoveryURL: " +
		"https://d}}]",
	"policies": "jwt: [{issuer: {url: https://a, audiences: [x], audienceMatchPolicy: MatchAny}}, {issuer: {url: " +
		"https://b, " +
		"audiences: [x, z], audienceMatchPolicy: MatchAny}}, {issuer: {url: https://c, audiences: [x], " +
		"audienceMatchPolicy: All}}]",
	"authority": "jwt: [{issuer: {url: https://a, audiences: [x], certificateAuthority: x}}]",
	"own":       "jwt: [{issuer: {url: https://own, audiences: [x]}}]",
	"mappings": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: a, " +
		"expression: b, prefix: c}, " +
		"groups: {expression: 'claims.x', prefix: z}, uid: {claim: a, expression: b}}}]",
	"no prefix": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: a}, groups: " +
		"{claim: b}}}]",
	"expressions": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {expression: " +
		"'claims.'}, groups: " +
		"{expression: 'user.groups'}, uid: {expression: '1 +'}, extra: [{key: a.b/c, valueExpression: 'nope'}]}}]",
	"types": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {expression: '1'}, " +
		"groups: {expression: " +
		"'claims.groups.map(g, g)'}, uid: {expression: 'dyn(claims.a).map(x, x)'}}}]",
	"email": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {expression: claims.email}}}]",
	"optional email": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {expression: " +
		"'claims.?email.orValue(\"a\")'}}}]",
	"verified email": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {expression: " +
		"claims.email}}, " +
		"claimValidationRules: [{expression: 'claims.?email_verified.orValue(true) == true'}]}]",
	"email verified by extra": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: " +
		"{expression: " +
		"'[claims].map(c, claims.email)[0]'}, extra: [{key: a.b/c, valueExpression: " +
		"'string(claims.email_verified)'}]}}]",
	"extra": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: a, prefix: ''}, " +
		"extra: [{}, " +
		"{key: a}, {key: A.b/C, valueExpression: '1'}, {key: k8s.io/a, valueExpression: '1'}, {key: " +
		"a.kubernetes.io/a, " +
		"valueExpression: '1'}, {key: ak8s.io/a, valueExpression: '1'}, {key: ak8s.io/a, valueExpression: '1'}]}}]",
	"claim rules": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: a, prefix: " +
		"''}}, " +
		"claimValidationRules: [{}, {claim: a, expression: b}, {claim: a, message: m}, {claim: a}, {expression: " +
		"claims.x}, " +
		"{expression: 'true', requiredValue: x}, {expression: 'true'}, {expression: 'x'}]}]",
	"user rules": "jwt: [{issuer: {url: https://a, audiences: [x]}, claimMappings: {username: {claim: a, prefix: " +
		"''}}, " +
		"userValidationRules: [{}, {expression: user.username}, {expression: user.name == 'a'}, {expression: " +
		"'true'}, " +
		"{expression: 'true'}, {expression: \"user.extra['a.b/c'].exists(x, x == user.uid)\"}, {expression: " +
		"claims.a == 'b'}]}]",
	"anonymous":            "anonymous: {enabled: true, conditions: [{path: /a}]}",
	"anonymous conditions": "anonymous: {enabled: false, conditions: [{path: /a}]}",
	"many":                 "jwt: [" + strings.Repeat("{},", 65) + "]",
}

// What kube-apiserver says about a configuration, we say, too.
func TestConfigurationIsJudgedAlike(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	compiler := cel.NewDefaultCompiler()
	for name, text := range files {
		text = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n" + text + "\n"
		decoded, err := runtime.Decode(codecs.UniversalDecoder(), []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := ""
		errs := validation.ValidateAuthenticationConfiguration(compiler,
			decoded.(*apiserver.AuthenticationConfiguration),
			[]string{"https://own"})
		if err := errs.ToAggregate(); err != nil {
			want = strings.ReplaceAll(err.Error(), `"Path"`, `"path"`) // they name a field of Go, we that of the file
		}
		if got := judged(t, text); got != want {
			t.Errorf("%s:\nwe say   %s\nthey say %s", name, got, want)
		}
	}
}

// own is the issuer of the server's own tokens.
type own struct{ auth.TokenIssuer }

func (own) Issuers() []string { return []string{"https://own"} }

// judged returns what our feature says about a configuration.
func judged(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var feature oidc.Feature
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	feature.AddFlags(flags)
	if err := flags.Parse([]string{"--authentication-config=" + path}); err != nil {
		t.Fatal(err)
	}
	config := &server.Config{Log: slog.New(slog.DiscardHandler), Contribution: server.Contribution{Issuer: own{}}}
	err := config.Use(t.Context(), &feature)
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), "--authentication-config "+path+": ")
}
