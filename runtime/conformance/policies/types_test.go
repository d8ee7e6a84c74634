package policies

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/admissionregistration"
	"apigen.dev/runtime/builtin/policy"
	"apigen.dev/runtime/server"
	workloads "example.com/workloads/apis"
	"github.com/google/go-cmp/cmp"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// connect starts a server of ours with policies and workloads.
func connect(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	groups := append(workloads.Groups(), (&admissionregistration.Feature{}).Groups()...)
	s := apitest.StartWith(t, func(config *server.Config) {
		if err := config.Use(t.Context(), new(policy.Feature)); err != nil {
			t.Fatal(err)
		}
	}, groups...)
	config, err := clientcmd.RESTConfigFromKubeConfig(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// typeName is the name of the type of an object, which each side makes up.
var typeName = regexp.MustCompile(`[A-Z]\w+\d{3,}|kubernetes\.(Object|Params)`)

func shown(warnings []registration.ExpressionWarning) (all []string) {
	for _, w := range warnings {
		all = append(all, w.FieldRef+": "+typeName.ReplaceAllString(w.Warning, "TYPE"))
	}
	return all
}

// TestTypeChecking: what the status of a policy says of its expressions is what kube-controller-manager's checker,
// which reads the schemas of the same server, says of them.
func TestTypeChecking(t *testing.T) {
	client := connect(t)
	resources, err := restmapper.GetAPIGroupResources(client.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	theirs := &validating.TypeChecker{
		SchemaResolver: &resolver.ClientDiscoveryResolver{Discovery: client.Discovery()},
		RestMapper:     restmapper.NewDiscoveryRESTMapper(resources),
	}
	policies := client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	checked, warned := 0, 0
	for i, p := range read(t).policies {
		spec := p.spec.DeepCopy()
		if spec.MatchConstraints == nil {
			spec.MatchConstraints = &registration.MatchResources{ResourceRules: both}
		}
		created, err := policies.Create(t.Context(), &registration.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", i)}, Spec: *spec,
		}, metav1.CreateOptions{})
		if apierrors.IsInvalid(err) {
			continue // kube-apiserver refuses it, too: it has functions of Kyverno's
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 20*time.Second, true,
			func(ctx context.Context) (done bool, err error) {
				created, err = policies.Get(ctx, created.Name, metav1.GetOptions{})
				return err == nil && created.Status.ObservedGeneration == created.Generation, err
			}); err != nil {
			t.Fatal(err)
		}
		want := shown(theirs.Check(created))
		if p.name == otherGroup {
			want = nil
		}
		if diff := cmp.Diff(want, shown(created.Status.TypeChecking.ExpressionWarnings)); diff != "" {
			t.Errorf("%s (- theirs, + ours):\n%s", p.name, diff)
		}
		checked++
		if len(want) > 0 {
			warned++
		}
	}
	t.Logf("%d policies, %d with warnings", checked, warned)
	if checked < 100 || warned < 15 {
		t.Errorf("%d policies, %d with warnings: too few", checked, warned)
	}
}

// otherGroup is a policy whose rule names deployments of the core group. Theirs looks for a resource of that name in
// all groups, and warns about those of apps, which the policy never sees.
const otherGroup = "should-not-autogen/disallow-privilege-escalation"

// both are the rules of policies that have none.
var both = []registration.NamedRuleWithOperations{
	{RuleWithOperations: registration.RuleWithOperations{
		Operations: []registration.OperationType{registration.OperationAll},
		Rule: registration.Rule{
			APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"},
		},
	}},
	{RuleWithOperations: registration.RuleWithOperations{
		Operations: []registration.OperationType{registration.OperationAll},
		Rule: registration.Rule{
			APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"},
		},
	}},
}
