package policy

import (
	"fmt"
	"log/slog"
	"testing"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is one that is decoded already, as for the second policy that looks at it.
type object struct {
	admission.Object
	content map[string]any
}

func (o object) Content(schema.GroupVersionKind) (map[string]any, error) { return o.content, nil }

func (o object) Meta() metav1.Object { return &metav1.ObjectMeta{Name: "x"} }

// policies returns a feature with validating policies for configmaps of a group, each with a condition.
func policies(b *testing.B, n int, group, condition string) *Feature {
	b.Helper()
	f := &Feature{params: newParams()}
	f.validating.init(slog.New(slog.DiscardHandler), newValidating, bindValidating)
	known := &known[*registration.ValidatingAdmissionPolicy, *registration.ValidatingAdmissionPolicyBinding]{
		source: &f.validating, changed: func() {}, hasPolicies: true, knowsBindings: true,
		policies: map[string]*policy{}, bindings: map[string]*registration.ValidatingAdmissionPolicyBinding{},
	}
	for i := range n {
		name := fmt.Sprint("p", i)
		known.policies[name] = newValidating(&registration.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: registration.ValidatingAdmissionPolicySpec{
				MatchConstraints: &registration.MatchResources{ResourceRules: []registration.NamedRuleWithOperations{{
					RuleWithOperations: registration.RuleWithOperations{
						Operations: []registration.OperationType{"*"},
						Rule: registration.Rule{
							APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
						},
					},
				}}},
				MatchConditions: []registration.MatchCondition{{Name: "c", Expression: condition}},
				Validations: []registration.Validation{{
					Expression: "object.metadata.name.startsWith('x') && object.data.all(k, size(k) < 10)",
				}},
			},
		})
		known.bindings[name] = &registration.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: registration.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []registration.ValidationAction{registration.Deny},
			},
		}
	}
	known.publish()
	return f
}

func write() *admission.Attributes {
	return &admission.Attributes{
		Operation: admission.Create, Name: "x", User: &auth.User{Name: "u"},
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
		Kind:     schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"},
		Object: object{content: map[string]any{
			"metadata": map[string]any{"name": "x"}, "data": map[string]any{"a": "1", "b": "2", "c": "3"},
		}},
	}
}

func benchmark(b *testing.B, f *Feature) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		a := write()
		if !f.handlesValidating(a) {
			continue
		}
		if err := f.validate(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPoliciesOfOthers(b *testing.B) { benchmark(b, policies(b, 100, "apps", "true")) }

func BenchmarkConditions(b *testing.B) {
	benchmark(b, policies(b, 100, "", "object.metadata.name == 'y'"))
}

func BenchmarkValidation(b *testing.B) { benchmark(b, policies(b, 1, "", "true")) }
