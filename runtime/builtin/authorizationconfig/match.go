package authorizationconfig

import (
	"context"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/cel"
	"apigen.dev/runtime/internal/access/meter"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mostConditions bounds the conditions of a webhook.
const mostConditions = 64

// conditions declares request, the variable of conditions: the spec of a SubjectAccessReview in v1.
var conditions = sync.OnceValues(func() (*cel.Conditions, error) {
	text := &cel.Schema{Type: "string"}
	texts := &cel.Schema{Type: "array", Items: text}
	object := func(fields map[string]*cel.Schema) *cel.Schema {
		return &cel.Schema{Type: "object", Properties: fields}
	}
	selector := object(map[string]*cel.Schema{
		"rawSelector": text,
		"requirements": {Type: "array", Items: object(map[string]*cel.Schema{
			"key": text, "operator": text, "values": texts,
		})},
	})
	return cel.NewConditions("request", "kubernetes.SubjectAccessReviewSpec", object(map[string]*cel.Schema{
		"resourceAttributes": object(map[string]*cel.Schema{
			"namespace": text, "verb": text, "group": text, "version": text, "resource": text, "subresource": text,
			"name": text, "fieldSelector": selector, "labelSelector": selector,
		}),
		"nonResourceAttributes": object(map[string]*cel.Schema{"path": text, "verb": text}),
		"user":                  text,
		"groups":                texts,
		"extra":                 {Type: "object", Values: texts},
		"uid":                   text,
	}))
})

// matcher is the conditions of a webhook, all of which must hold.
type matcher []*cel.Condition

func compile(all []MatchCondition, path *field.Path) (matcher, field.ErrorList) {
	if len(all) > mostConditions {
		return nil, field.ErrorList{field.TooMany(path, len(all), mostConditions)}
	}
	env, err := conditions()
	if err != nil {
		return nil, field.ErrorList{field.InternalError(path, err)}
	}
	var compiled matcher
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, condition := range all {
		path, text := path.Index(i).Child("expression"), condition.Expression
		switch {
		case strings.TrimSpace(text) == "":
			errs = append(errs, field.Required(path, ""))
			continue
		case seen[text]:
			errs = append(errs, field.Duplicate(path, text))
			continue
		}
		seen[text] = true
		program, err := env.Compile(text)
		if err != nil {
			errs = append(errs, field.Invalid(path, text, err.Error()))
			continue
		}
		compiled = append(compiled, program)
	}
	return compiled, errs
}

// measured returns a function that reports whether all conditions hold. One that doesn't hold decides, whether others
// fail or not.
func (m matcher) measured(
	name string, metrics *meter.Reviews,
) func(context.Context, *webhookauth.AccessReviewSpec) (bool, error) {
	return func(ctx context.Context, spec *webhookauth.AccessReviewSpec) (bool, error) {
		begin := time.Now()
		excluded, failures := m.match(ctx, spec)
		metrics.Matched(name, time.Since(begin), len(failures) > 0, excluded)
		if excluded {
			return false, nil
		}
		return len(failures) == 0, utilerrors.NewAggregate(failures)
	}
}

// match reports whether a condition doesn't hold, and returns the failures of those before it, or of all.
func (m matcher) match(ctx context.Context, spec *webhookauth.AccessReviewSpec) (excluded bool, failures []error) {
	value := variable(spec)
	for _, condition := range m {
		holds, err := condition.Holds(ctx, value)
		if err != nil {
			failures = append(failures, err)
		} else if !holds {
			return true, failures
		}
	}
	return false, failures
}

// variable returns the value of request: all fields of the user and of the attributes, also empty ones.
func variable(spec *webhookauth.AccessReviewSpec) map[string]any {
	extra := spec.Extra
	if extra == nil {
		extra = map[string][]string{}
	}
	value := map[string]any{"user": spec.User, "groups": spec.Groups, "uid": spec.UID, "extra": extra}
	if r := spec.ResourceAttributes; r != nil {
		attributes := map[string]any{
			"namespace": r.Namespace, "verb": r.Verb, "group": r.Group, "version": r.Version, "resource": r.Resource,
			"subresource": r.Subresource, "name": r.Name,
		}
		if s := r.FieldSelector; s != nil {
			requirements := make([]any, 0, len(s.Requirements))
			for _, r := range s.Requirements {
				requirements = append(requirements, requirement(r.Key, string(r.Operator), r.Values))
			}
			attributes["fieldSelector"] = selectorValue(requirements, s.RawSelector)
		}
		if s := r.LabelSelector; s != nil {
			requirements := make([]any, 0, len(s.Requirements))
			for _, r := range s.Requirements {
				requirements = append(requirements, requirement(r.Key, string(r.Operator), r.Values))
			}
			attributes["labelSelector"] = selectorValue(requirements, s.RawSelector)
		}
		value["resourceAttributes"] = attributes
	}
	if n := spec.NonResourceAttributes; n != nil {
		value["nonResourceAttributes"] = map[string]any{"verb": n.Verb, "path": n.Path}
	}
	return value
}

func requirement(key, operator string, values []string) map[string]any {
	return map[string]any{"key": key, "operator": operator, "values": values}
}

func selectorValue(requirements []any, raw string) map[string]any {
	if raw != "" {
		return map[string]any{"rawSelector": raw}
	}
	return map[string]any{"requirements": requirements}
}
