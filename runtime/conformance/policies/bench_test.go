package policies

import (
	"fmt"
	"testing"

	celpolicy "apigen.dev/runtime/internal/access/policy"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// deployment is the object of benchmarks.
func deployment() *write {
	return &write{operation: admission.Create, object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"name": "web", "namespace": "ns", "labels": map[string]any{"app": "web", "env": "prod"},
		},
		"spec": map[string]any{
			"replicas": int64(3), "template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "a", "image": "registry.example.com/a:1"},
				map[string]any{"name": "b", "image": "registry.example.com/b:2"},
			}}},
		},
	}}}
}

var (
	condition = registration.ValidatingAdmissionPolicySpec{MatchConditions: []registration.MatchCondition{{
		Name: "c", Expression: `has(object.metadata.labels) && object.metadata.labels["env"] == "test"`,
	}}}
	validation = registration.ValidatingAdmissionPolicySpec{Validations: []registration.Validation{{
		Expression: `object.spec.template.spec.containers.all(c, c.image.startsWith("registry.example.com/"))`,
	}}}
)

// BenchmarkConditions evaluates the match conditions of 100 policies for one write, none of which holds.
func BenchmarkConditions(b *testing.B) { benchmark(b, 100, &condition) }

// BenchmarkValidation evaluates one validation, which holds.
func BenchmarkValidation(b *testing.B) { benchmark(b, 1, &validation) }

func benchmark(b *testing.B, policies int, spec *registration.ValidatingAdmissionPolicySpec) {
	w := deployment()
	b.Run("ours", func(b *testing.B) {
		var all []*ours
		for range policies {
			all = append(all, newOurs(b, spec))
		}
		in := input(b, w) // which is made once a write
		b.ReportAllocs()
		for b.Loop() {
			for _, o := range all {
				evaluation := o.compiler.Evaluate(b.Context(), in, budget)
				for _, x := range append(o.conditionsOf, o.validationsOf...) {
					expect(b, spec, evaluation, x)
				}
			}
		}
	})
	b.Run("theirs", func(b *testing.B) {
		var all []plugincel.ConditionEvaluator
		for range policies {
			t := newTheirs(b, spec)
			if len(spec.Validations) > 0 {
				all = append(all, t.validationsOf)
			} else {
				all = append(all, t.conditionsOf)
			}
		}
		versioned, request := attributes(w) // which are made once a write
		bindings := plugincel.OptionalVariableBindings{Authorizer: authorizer.AuthorizerFunc(mayTheirs)}
		b.ReportAllocs()
		for b.Loop() {
			for _, condition := range all {
				out, _, err := condition.ForInput(b.Context(), versioned, request, bindings, namespace, budget)
				if err != nil || out[0].Error != nil || out[0].EvalResult.Value() != (len(spec.Validations) > 0) {
					b.Fatal(fmt.Sprint(out, err))
				}
			}
		}
	})
}

func expect(
	b *testing.B, spec *registration.ValidatingAdmissionPolicySpec, evaluation *celpolicy.Evaluation,
	x *celpolicy.Expression,
) {
	if holds, err := evaluation.Bool(x); err != nil || holds != (len(spec.Validations) > 0) {
		b.Fatal(holds, err)
	}
}
