package policies

import (
	"context"
	"testing"

	"apigen.dev/runtime/auth"
	celpolicy "apigen.dev/runtime/internal/access/policy"
	"apigen.dev/runtime/internal/request"
	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
)

// budget is that of one list of expressions.
const budget = celpolicy.Budget

// write is a write that policies see.
type write struct {
	object, old, params *unstructured.Unstructured
	operation           admission.Operation
}

// some returns the object, or the old one of a deletion.
func (w *write) some() *unstructured.Unstructured {
	if w.object != nil {
		return w.object
	}
	return w.old
}

// result is what an expression evaluates to, in words.
type result struct {
	holds bool
	text  string
	err   string
}

// results are those of a list of expressions, and what is left of their budget.
type results struct {
	all  []result
	left int64
}

// evaluator evaluates the lists of expressions of one policy.
type evaluator interface {
	conditions(t testing.TB, w *write) results
	validations(t testing.TB, w *write) results
	messages(t testing.TB, w *write) results
	annotations(t testing.TB, w *write) results
}

// theirs is kube-apiserver's evaluator.
type theirs struct{ conditionsOf, validationsOf, messagesOf, annotationsOf plugincel.ConditionEvaluator }

func newTheirs(t testing.TB, spec *registration.ValidatingAdmissionPolicySpec) *theirs {
	t.Helper()
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	compiler, err := plugincel.NewCompositedCompiler(env)
	if err != nil {
		t.Fatal(err)
	}
	sees := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	for _, v := range spec.Variables {
		compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, sees,
			environment.StoredExpressions)
	}
	var conditions, validations, messages, annotations []plugincel.ExpressionAccessor
	for i := range spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&spec.MatchConditions[i]))
	}
	for _, v := range spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression})
		if v.MessageExpression != "" {
			messages = append(messages, &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression})
		}
	}
	for _, a := range spec.AuditAnnotations {
		annotations = append(annotations,
			&validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	compile := func(all []plugincel.ExpressionAccessor) plugincel.ConditionEvaluator {
		return compiler.CompileCondition(all, sees, environment.StoredExpressions)
	}
	return &theirs{compile(conditions), compile(validations), compile(messages), compile(annotations)}
}

func (e *theirs) conditions(t testing.TB, w *write) results  { return evaluate(t, e.conditionsOf, w) }
func (e *theirs) validations(t testing.TB, w *write) results { return evaluate(t, e.validationsOf, w) }
func (e *theirs) messages(t testing.TB, w *write) results    { return evaluate(t, e.messagesOf, w) }
func (e *theirs) annotations(t testing.TB, w *write) results { return evaluate(t, e.annotationsOf, w) }

// attributes returns the attributes of a write as kube-apiserver has them.
func attributes(w *write) (*admission.VersionedAttributes, *admissionv1.AdmissionRequest) {
	object := func(u *unstructured.Unstructured) runtime.Object {
		if u == nil {
			return nil
		}
		return u
	}
	kind := w.some().GroupVersionKind()
	resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "things"}
	record := admission.NewAttributesRecord(object(w.object), object(w.old), kind, w.some().GetNamespace(),
		w.some().GetName(), resource, "", w.operation, &metav1.CreateOptions{}, false,
		&user.DefaultInfo{Name: "alice", UID: "1", Groups: []string{"dev"}})
	request := plugincel.CreateAdmissionRequest(record, metav1.GroupVersionResource(resource),
		metav1.GroupVersionKind(kind))
	return &admission.VersionedAttributes{
		Attributes: record, VersionedKind: kind, VersionedObject: admission.NewLazyObject(object(w.object)),
		VersionedOldObject: admission.NewLazyObject(object(w.old)),
	}, request
}

var namespace = plugincel.CreateNamespaceObject(&corev1.Namespace{
	ObjectMeta: metav1.ObjectMeta{Name: "ns", UID: "u", Labels: map[string]string{"env": "prod"}},
	Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
})

func evaluate(t testing.TB, condition plugincel.ConditionEvaluator, w *write) (out results) {
	t.Helper()
	versioned, request := attributes(w)
	bindings := plugincel.OptionalVariableBindings{Authorizer: authorizer.AuthorizerFunc(mayTheirs)}
	if w.params != nil {
		bindings.VersionedParams = w.params
	}
	evaluated, left, err := condition.ForInput(t.Context(), versioned, request, bindings, namespace, budget)
	if err != nil {
		return results{all: []result{{err: err.Error()}}, left: left}
	}
	for _, one := range evaluated {
		r := result{}
		if one.Error != nil {
			r.err = one.Error.Error()
		} else {
			r.holds, _ = one.EvalResult.Value().(bool)
			r.text, _ = one.EvalResult.Value().(string)
		}
		out.all = append(out.all, r)
	}
	out.left = left
	return out
}

// mayTheirs and mayOurs allow reading.
func mayTheirs(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.IsReadOnly() {
		return authorizer.DecisionAllow, "reading", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

type mayOurs struct{}

// Authorize implements auth.Authorizer.
func (mayOurs) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	if a.Verb == "get" || a.Verb == "list" || a.Verb == "watch" {
		return auth.Allow, "reading", nil
	}
	return auth.NoOpinion, "", nil
}

// ours is the evaluator of the runtime.
type ours struct {
	compiler                                               *celpolicy.Compiler
	conditionsOf, validationsOf, messagesOf, annotationsOf []*celpolicy.Expression
}

func newOurs(t testing.TB, spec *registration.ValidatingAdmissionPolicySpec) *ours {
	t.Helper()
	compiler, err := celpolicy.NewCompiler(celpolicy.Declared{
		Params: spec.ParamKind != nil, Authorizer: true, Variables: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range spec.Variables {
		compiler.Variable(v.Name, v.Expression)
	}
	o := &ours{compiler: compiler}
	for _, c := range spec.MatchConditions {
		o.conditionsOf = append(o.conditionsOf, compiler.Compile(c.Expression, celpolicy.Bool))
	}
	for _, v := range spec.Validations {
		o.validationsOf = append(o.validationsOf, compiler.Compile(v.Expression, celpolicy.Bool))
		if v.MessageExpression != "" {
			o.messagesOf = append(o.messagesOf, compiler.Compile(v.MessageExpression, celpolicy.Text))
		}
	}
	for _, a := range spec.AuditAnnotations {
		o.annotationsOf = append(o.annotationsOf,
			compiler.Compile(a.ValueExpression, celpolicy.Text, celpolicy.Null))
	}
	return o
}

// input is what our expressions see of a write.
func input(t testing.TB, w *write) *celpolicy.Input {
	t.Helper()
	_, request := attributes(w)
	request.Object, request.OldObject = runtime.RawExtension{}, runtime.RawExtension{}
	seen, err := runtime.DefaultUnstructuredConverter.ToUnstructured(request)
	if err != nil {
		t.Fatal(err)
	}
	delete(seen, "object")
	delete(seen, "oldObject")
	ns, err := runtime.DefaultUnstructuredConverter.ToUnstructured(namespace)
	if err != nil {
		t.Fatal(err)
	}
	content := func(u *unstructured.Unstructured) map[string]any {
		if u == nil {
			return nil
		}
		return u.Object
	}
	return &celpolicy.Input{
		Object: content(w.object), OldObject: content(w.old), Params: content(w.params), Request: seen, Namespace: ns,
		Authorizer: mayOurs{}, User: &auth.User{Name: "alice", UID: "1", Groups: []string{"dev"}},
		Resource: requestInfo(w),
	}
}

func requestInfo(w *write) request.Info {
	kind := w.some().GroupVersionKind()
	return request.Info{
		Group: kind.Group, Resource: "things", Namespace: w.some().GetNamespace(), Name: w.some().GetName(),
	}
}

func (o *ours) evaluate(t testing.TB, all []*celpolicy.Expression, w *write) (out results) {
	t.Helper()
	evaluation := o.compiler.Evaluate(t.Context(), input(t, w), budget)
	for _, x := range all {
		r := result{}
		var err error
		if r.text, _, err = evaluation.Text(x); err != nil {
			r.err = err.Error()
		}
		out.all = append(out.all, r)
	}
	out.left = evaluation.Budget()
	return out
}

func (o *ours) booleans(t testing.TB, all []*celpolicy.Expression, w *write) (out results) {
	t.Helper()
	evaluation := o.compiler.Evaluate(t.Context(), input(t, w), budget)
	for _, x := range all {
		r := result{}
		var err error
		if r.holds, err = evaluation.Bool(x); err != nil {
			r.err = err.Error()
		}
		out.all = append(out.all, r)
	}
	out.left = evaluation.Budget()
	return out
}

func (o *ours) conditions(t testing.TB, w *write) results  { return o.booleans(t, o.conditionsOf, w) }
func (o *ours) validations(t testing.TB, w *write) results { return o.booleans(t, o.validationsOf, w) }
func (o *ours) messages(t testing.TB, w *write) results    { return o.evaluate(t, o.messagesOf, w) }
func (o *ours) annotations(t testing.TB, w *write) results { return o.evaluate(t, o.annotationsOf, w) }
