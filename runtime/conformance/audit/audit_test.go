package audit

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/policy"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/request"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	theirpolicy "k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/randfill"
)

// TestEventRoundTrip: an event of k8s.io/apiserver's keeps all that it has when ours reads and writes it.
func TestEventRoundTrip(t *testing.T) {
	filler := randfill.NewWithSeed(rand.Int64()).NilChance(0.3).NumElements(1, 3).Funcs(
		func(data *runtime.Unknown, _ randfill.Continue) { data.Raw = []byte(`{"a":[1,"b"]}`) },
		func(at *metav1.MicroTime, c randfill.Continue) {
			*at = metav1.NewMicroTime(time.UnixMicro(c.Int63n(1 << 52)).UTC())
		},
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(c.Int63n(1<<32), 0) },
	)
	for range 500 {
		var theirs auditv1.Event
		filler.Fill(&theirs)
		theirs.Kind, theirs.APIVersion = "Event", "audit.k8s.io/v1"
		want, err := json.Marshal(&theirs)
		if err != nil {
			t.Fatal(err)
		}
		var ours trail.Event
		if err := json.Unmarshal(want, &ours); err != nil {
			t.Fatal(err)
		}
		got, err := ours.AppendJSON(nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v: %s", err, cmp.Diff(string(want), string(got)))
		}
	}
}

// The words of random policies and requests: few, so that rules match.
var (
	users      = []string{"alice", "bob", ""}
	groups     = []string{"dev", "ops"}
	verbs      = []string{"get", "list", "create"}
	apiGroups  = []string{"", "apps", "*"}
	resources  = []string{"pods", "pods/log", "pods/*", "*", "*/log", "*/status", "deployments", "*/*", "/", "pods/"}
	namespaces = []string{"", "ns", "kube-system"}
	names      = []string{"a", "b"}
	paths      = []string{"/healthz", "/healthz*", "/api", "*", "/*"}
)

func some(words []string) []string {
	if rand.IntN(2) == 0 {
		return nil
	}
	picked := []string{words[rand.IntN(len(words))], words[rand.IntN(len(words))]}
	return picked[:1+rand.IntN(2)]
}

func one(words []string) string { return words[rand.IntN(len(words))] }

func randomPolicy() *policy.Policy {
	p := &policy.Policy{TypeMeta: metav1.TypeMeta{Kind: "Policy", APIVersion: "audit.k8s.io/v1"},
		OmitManagedFields: rand.IntN(2) == 0}
	for range 1 + rand.IntN(4) {
		rule := policy.Rule{Level: trail.Levels[rand.IntN(4)], Users: some(users), UserGroups: some(groups),
			Verbs: some(verbs)}
		switch rand.IntN(3) {
		case 0:
			rule.NonResourceURLs = some(paths)
		case 1:
			rule.Namespaces = some(namespaces)
			for range rand.IntN(3) {
				g := policy.GroupResources{Group: one(apiGroups), Resources: some(resources)}
				if len(g.Resources) > 0 {
					g.ResourceNames = some(names)
				}
				rule.Resources = append(rule.Resources, g)
			}
		}
		if rand.IntN(3) == 0 {
			rule.OmitStages = trail.Stages[:1+rand.IntN(3)]
			omit := rand.IntN(2) == 0
			rule.OmitManagedFields = &omit
		}
		p.Rules = append(p.Rules, rule)
	}
	return p
}

// TestPolicies: on random policies and requests the decision is that of k8s.io/apiserver.
func TestPolicies(t *testing.T) {
	matched := 0
	for range 2000 {
		text, err := json.Marshal(randomPolicy())
		if err != nil {
			t.Fatal(err)
		}
		ours, err := policy.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := theirpolicy.LoadPolicyFromBytes(text)
		if err != nil {
			t.Fatal(err)
		}
		evaluator, their := policy.NewEvaluator(ours), theirpolicy.NewPolicyRuleEvaluator(theirs)
		for range 20 {
			a, b := randomRequest()
			got, want := evaluator.Decide(a), their.EvaluatePolicyRule(b)
			if got.Level != trail.None {
				matched++
			}
			if string(got.Level) != string(want.Level) ||
				got.Level != trail.None && got.OmitManagedFields != want.OmitManagedFields ||
				len(slices.Compact(slices.Sorted(slices.Values(got.Omit)))) != len(want.OmitStages) {
				t.Fatalf("%s\n%+v %+v\nours %+v, theirs %+v", text, a.User, a.Info, got, want)
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d requests matched a rule", matched)
	}
}

func randomRequest() (auth.Attributes, authorizer.AttributesRecord) {
	info := &request.Info{IsResource: rand.IntN(3) > 0, Verb: one(verbs),
		Path: one([]string{"/healthz/x", "/api", "/x"})}
	if info.IsResource {
		info.Group, info.Resource = one([]string{"", "apps"}), one([]string{"pods", "deployments"})
		info.Subresource, info.Namespace = one([]string{"", "log", "status"}), one(namespaces)
		info.Name = one([]string{"", "a", "b"})
	}
	ours := auth.Attributes{Info: info}
	theirs := authorizer.AttributesRecord{
		ResourceRequest: info.IsResource, Verb: info.Verb, Path: info.Path, APIGroup: info.Group,
		Resource:    info.Resource,
		Subresource: info.Subresource, Namespace: info.Namespace, Name: info.Name,
	}
	if rand.IntN(5) > 0 {
		name, in := one(users), some(groups)
		ours.User = &auth.User{Name: name, Groups: in}
		theirs.User = &user.DefaultInfo{Name: name, Groups: in}
	}
	return ours, theirs
}

// TestInvalidPolicies: what k8s.io/apiserver refuses, ours refuses with the same words.
func TestInvalidPolicies(t *testing.T) {
	const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
	for _, text := range []string{
		head, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []",
		head + "rules: [{}]", head + "rules: [{level: None, nonResourceURLs: [a, '/b*c', '*']}]",
		head + "rules: [{level: None, nonResourceURLs: [/a], resources: [{group: apps}]}]",
		head + "rules: [{level: None, resources: [{group: rbac.authorization.k8s.io/v1}]}]",
		head + "rules: [{level: None, resources: [{resourceNames: [a]}]}]",
		head + "omitStages: [x]\nrules: [{level: None, omitStages: [Panic, z]}]",
		head + "rules: [{level: metadata}]",
	} {
		_, ours := policy.Parse([]byte(text))
		_, theirs := theirpolicy.LoadPolicyFromBytes([]byte(text))
		if ours == nil || theirs == nil || ours.Error() != theirs.Error() {
			t.Errorf("%s\nours:   %v\ntheirs: %v", text, ours, theirs)
		}
	}
}
