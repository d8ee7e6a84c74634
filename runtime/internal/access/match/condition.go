package match

import (
	"context"
	"encoding/json"
	"errors"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/policy"
	"apigen.dev/runtime/internal/request"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	kjson "sigs.k8s.io/json"
)

// Conditions are the match conditions of a webhook or a policy, compiled.
type Conditions struct {
	compiler *policy.Compiler
	all      []*policy.Expression
	// ignore reports whether what fails doesn't match, instead of failing the request.
	ignore bool
}

// NewConditions compiles conditions with a compiler, which has declared what they may use. A condition that can't be
// compiled fails when it is evaluated.
func NewConditions(
	compiler *policy.Compiler, conditions []registration.MatchCondition, ignore bool,
) *Conditions {
	c := &Conditions{compiler: compiler, ignore: ignore}
	for _, condition := range conditions {
		c.all = append(c.all, compiler.Compile(condition.Expression, policy.Bool))
	}
	return c
}

// Hold reports whether all conditions hold. One that doesn't decides, also where others fail. An error is an error of
// expressions.
func (c *Conditions) Hold(ctx context.Context, in *policy.Input) (bool, error) {
	if c == nil || len(c.all) == 0 {
		return true, nil
	}
	evaluation := c.compiler.Evaluate(ctx, in, policy.ConditionsBudget)
	var failures []error
	for _, x := range c.all {
		holds, err := evaluation.Bool(x)
		if err != nil {
			if failures = append(failures, err); errors.Is(err, policy.ErrBudget) {
				break
			}
			continue
		}
		if !holds {
			return false, nil
		}
	}
	if len(failures) == 0 {
		return true, nil
	}
	if c.ignore {
		return false, nil
	}
	return false, utilerrors.NewAggregate(failures)
}

// Input returns what expressions see of a write, of which the form was matched. Params are the caller's.
func Input(
	ctx context.Context, a *admission.Attributes, form admission.Form, n Namespaces,
) (in *policy.Input, err error) {
	in = &policy.Input{
		User: a.User, Authorizer: auth.AccessFrom(ctx).Authorizer,
		Resource: request.Info{
			Group: a.Resource.Group, Resource: a.Resource.Resource, Subresource: a.Subresource,
			Namespace: a.Namespace, Name: a.Name,
		},
	}
	if in.Object, err = contentOf(a.Object, form); err != nil {
		return nil, err
	}
	if in.OldObject, err = contentOf(a.Old, form); err != nil {
		return nil, err
	}
	if in.Request, err = requestOf(a, form); err != nil {
		return nil, err
	}
	if a.Namespace != "" && !isNamespace(a) {
		in.Namespace, err = n.Content(ctx, a.Namespace)
	}
	return in, err
}

func contentOf(o admission.Object, form admission.Form) (map[string]any, error) {
	if o == nil {
		return nil, nil
	}
	return o.Content(form.Kind)
}

// requestOf returns the variable request: an AdmissionRequest in JSON.
func requestOf(a *admission.Attributes, form admission.Form) (map[string]any, error) {
	options, err := optionsOf(a.Options)
	if err != nil {
		return nil, err
	}
	in := map[string]any{
		"uid": "", "operation": string(a.Operation), "dryRun": a.DryRun, "options": options, "userInfo": userOf(a.User),
		"kind": kindOf(form), "resource": resourceOf(form),
		"requestKind":     kindOf(admission.Form{Kind: a.Kind}),
		"requestResource": resourceOf(admission.Form{Resource: a.Resource}),
	}
	for name, value := range map[string]string{
		"subResource": a.Subresource, "requestSubResource": a.Subresource, "name": a.Name, "namespace": a.Namespace,
	} {
		if value != "" {
			in[name] = value
		}
	}
	return in, nil
}

func kindOf(form admission.Form) map[string]any {
	return map[string]any{"group": form.Kind.Group, "version": form.Kind.Version, "kind": form.Kind.Kind}
}

func resourceOf(form admission.Form) map[string]any {
	return map[string]any{
		"group": form.Resource.Group, "version": form.Resource.Version, "resource": form.Resource.Resource,
	}
}

func userOf(user *auth.User) map[string]any {
	info := map[string]any{}
	if user == nil {
		return info
	}
	if user.Name != "" {
		info["username"] = user.Name
	}
	if user.UID != "" {
		info["uid"] = user.UID
	}
	if len(user.Groups) > 0 {
		info["groups"] = list(user.Groups)
	}
	if len(user.Extra) > 0 {
		extra := map[string]any{}
		for key, values := range user.Extra {
			extra[key] = list(values)
		}
		info["extra"] = extra
	}
	return info
}

func list(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

func optionsOf(options runtime.Object) (content any, err error) {
	if options == nil {
		return nil, nil
	}
	data, err := json.Marshal(options)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &content)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return content, nil
}
