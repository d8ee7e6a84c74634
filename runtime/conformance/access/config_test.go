package access

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/authorizationconfig"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/server"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	authenticationv1beta1 "k8s.io/api/authentication/v1beta1"
	authorizationv1 "k8s.io/api/authorization/v1"
	authorizationv1beta1 "k8s.io/api/authorization/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver/load"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	apiserverv1beta1 "k8s.io/apiserver/pkg/apis/apiserver/v1beta1"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"sigs.k8s.io/randfill"
)

// roundTrip fills T at random, and compares its JSON with that of O, into which it is decoded.
func roundTrip[T, O any](t *testing.T) {
	t.Helper()
	fill := randfill.NewWithSeed(1).NilChance(0.3).NumElements(0, 3).Funcs(
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Int31()) })
	for range 2000 {
		var theirs T
		fill.Fill(&theirs)
		want, err := json.Marshal(theirs)
		if err != nil {
			t.Fatal(err)
		}
		var ours O
		if err := json.Unmarshal(want, &ours); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		got, err := json.Marshal(ours)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree(t, want), tree(t, got)); diff != "" {
			t.Fatalf("%T as %T: %s", theirs, ours, diff)
		}
	}
}

func tree(t *testing.T, text []byte) (out any) {
	t.Helper()
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Types that are declared anew have the wire form of the originals.
func TestTypes(t *testing.T) {
	roundTrip[apiserverv1.AuthorizationConfiguration, authorizationconfig.Configuration](t)
	roundTrip[apiserverv1beta1.AuthorizationConfiguration, authorizationconfig.Configuration](t)
	roundTrip[authorizationv1.SubjectAccessReviewSpec, webhookauth.AccessReviewSpec](t)
	roundTrip[authorizationv1beta1.SubjectAccessReviewSpec, webhookauth.AccessReviewSpecBeta](t)
	roundTrip[authorizationv1.SubjectAccessReviewStatus, webhookauth.AccessReviewStatus](t)
	roundTrip[authorizationv1beta1.SubjectAccessReviewStatus, webhookauth.AccessReviewStatus](t)
	roundTrip[authenticationv1.TokenReviewSpec, webhookauth.TokenReviewSpec](t)
	roundTrip[authenticationv1beta1.TokenReviewSpec, webhookauth.TokenReviewSpec](t)
	statusRoundTrip[authenticationv1.TokenReviewStatus](t)
	statusRoundTrip[authenticationv1beta1.TokenReviewStatus](t)
}

// statusRoundTrip decodes what we would send into the original: that one writes an empty user, which ours leaves out.
func statusRoundTrip[T any](t *testing.T) {
	t.Helper()
	fill := randfill.NewWithSeed(1).NilChance(0.3).NumElements(0, 3)
	for range 2000 {
		var theirs, back T
		fill.Fill(&theirs)
		want, err := json.Marshal(theirs)
		if err != nil {
			t.Fatal(err)
		}
		var ours webhookauth.TokenReviewStatus
		if err := json.Unmarshal(want, &ours); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(ours)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || !reflect.DeepEqual(tree(t, want), tree(t, again)) {
			t.Fatalf("%s became %s: %v", want, again, err)
		}
	}
}

// ours returns the error of a server of ours with a file.
func ours(t *testing.T, path string) error {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	feature := &authorizationconfig.Feature{}
	feature.AddFlags(flags)
	if err := flags.Parse([]string{"--authorization-config=" + path}); err != nil {
		t.Fatal(err)
	}
	var config server.Config
	if err := config.Use(t.Context(), feature); err != nil {
		return err
	}
	_, err := config.AuthorizerOf(map[string]auth.Authorizer{
		"AlwaysAllow": auth.Always(auth.Allow), "AlwaysDeny": auth.Always(auth.Deny),
		"RBAC": auth.Always(auth.NoOpinion),
	})
	return err
}

// theirs returns the error of k8s.io/apiserver about the same file.
func theirs(content []byte) error {
	config, err := load.LoadFromData(content)
	if err != nil {
		return err
	}
	return validation.ValidateAuthorizationConfiguration(authorizationcel.NewDefaultCompiler(), nil, config,
		sets.New("AlwaysAllow", "AlwaysDeny", "RBAC", "Webhook"), sets.New("Webhook")).ToAggregate()
}

// A configuration is refused in the words of k8s.io/apiserver.
func TestRefusedConfigurations(t *testing.T) {
	dir := t.TempDir()
	login, err := kubeconfig.Login{Name: "w", Server: "https://127.0.0.1:1"}.YAML()
	if err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(dir, "good")
	if err := os.WriteFile(good, login, 0o600); err != nil {
		t.Fatal(err)
	}
	whole := `timeout: 3s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, ` +
		`failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: ` + good + `}`
	conditions := func(texts ...string) string {
		all := whole + ", matchConditions: ["
		for _, text := range texts {
			all += "{expression: " + text + "}, "
		}
		return webhookEntry(all + "]")
	}
	const rbacEntry = "{type: RBAC, name: rbac}"
	cases := []string{
		"", rbacEntry, "{}", "{type: RBAC}", "{type: Magic, name: m}", rbacEntry + ", {type: RBAC, name: r2}",
		"{type: RBAC, name: rbac, webhook: {}}", "{type: Webhook, name: w}", webhookEntry(""), webhookEntry(whole),
		"{type: RBAC, name: rbac, unknown: 1}", "{type: RBAC, type: RBAC, name: rbac}", "{Type: RBAC, name: rbac}",
		"{type: AlwaysAllow, name: 'A B'}", webhookEntry(whole) + ", " + webhookEntry(whole),
		conditions("'true'"), conditions("''", "'  '"), conditions("'true'",
			"'true'"), conditions("true"), conditions("request.user"),
		conditions("request.time == 'now'"), conditions(`"request++'"`), conditions("x.user"), conditions("'1'"),
		conditions("request.resourceAttributes.namespace == 'ns'"), conditions("has(request.user) ? true : 1"),
		conditions("request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'a' && 'b' in r.values)"),
		conditions("request.extra['k'].exists(v, v == 'x') && request.groups.all(g, g != '') && request.uid != ''"),
		conditions("request.nonResourceAttributes.path.matches('(')"),
		conditions("has(request.nonResourceAttributes) && request.nonResourceAttributes.path == '/x'"),
		conditions(strings.Repeat("x}, {expression: ", 65) + "x"),
	}
	for _, change := range [][2]string{
		{"3s", "0s"}, {"3s", "31s"}, {"3s", "-1s"}, {"3s", "soon"}, {"Version: v1,", "Version: v2,"},
		{"subjectAccessReviewVersion: v1, ", ""}, {"failurePolicy: Deny", "failurePolicy: Allow"},
		{"failurePolicy: Deny, ", ""}, {"type: KubeConfigFile", "type: InClusterConfig"}, {"type: KubeConfigFile, ",
			""},
		{"kubeConfigFile: " + good, "kubeConfigFile: relative"}, {"kubeConfigFile: " + good, "kubeConfigFile: ''"},
		{"kubeConfigFile: " + good, "kubeConfigFile: /none"}, {"kubeConfigFile: " + good, "kubeConfigFile: " + dir},
		{", kubeConfigFile: " + good, ""}, {"timeout", "authorizedTTL: -1s, timeout"},
		{"timeout", "unauthorizedTTL: -1s, cacheAuthorizedRequests: false, timeout"},
	} {
		cases = append(cases, webhookEntry(strings.Replace(whole, change[0], change[1], 1)))
	}
	for _, version := range []string{"v1", "v1beta1"} {
		for _, authorizers := range cases {
			content := "apiVersion: apiserver.config.k8s.io/" + version + "\nkind: AuthorizationConfiguration\n" +
				"authorizers: [" + authorizers + "]\n"
			path := filepath.Join(dir, "config")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			want, got := theirs([]byte(content)), ours(t, path)
			if (want == nil) != (got == nil) || want != nil && !strings.Contains(words(got), words(want)) {
				t.Errorf("%s\nours:   %v\ntheirs: %v", authorizers, got, want)
			}
		}
	}
}

func webhookEntry(fields string) string { return "{type: Webhook, name: w, webhook: {" + fields + "}}" }

// goType is the name of a Go type in an error of the decoder, in which ours differ.
var goType = regexp.MustCompile(`Go struct field [A-Za-z]+`)

func words(err error) string {
	if err == nil {
		return ""
	}
	return goType.ReplaceAllString(err.Error(), "")
}
