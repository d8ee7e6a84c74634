package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	celpolicy "apigen.dev/runtime/internal/access/policy"
	"apigen.dev/runtime/reach"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkTypes keeps the type checking in the status of validating policies, as kube-controller-manager does: warnings
// about expressions that can't work with the kinds that the rules of a policy name. They change nothing about what the
// policy does. Each replica runs it; those that come second find nothing to write.
func (f *Feature) checkTypes(ctx context.Context) error {
	policies, err := reach.Of[*registration.ValidatingAdmissionPolicy](ctx)
	if err != nil {
		return nil //nolint:nilerr // The server doesn't serve policies.
	}
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return err
	}
	err = policies.Follow(ctx, "", func(changes reach.Changes[*registration.ValidatingAdmissionPolicy]) {
		checker := &checker{catalog, &schemas{catalog.OpenAPI, map[schema.GroupVersion]*document{}}}
		for _, p := range changes.Put {
			if p.Status.ObservedGeneration == p.Generation {
				continue
			}
			err := reportInTime(ctx, policies, p, checker.warnings(p))
			if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
				f.log.WarnContext(ctx, "the status of an admission policy can't be written", "policy", p.Name,
					"error", err)
			}
		}
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // The server ends.
	}
	return err
}

// reportRetry is how long the first pause is after a status could not be written, and lastReportRetry the last one.
const reportRetry, lastReportRetry = time.Second, time.Minute

// reportInTime reports again and again while the server can't store what it reports. Whatever changes meanwhile waits.
func reportInTime(
	ctx context.Context, policies reach.Objects[*registration.ValidatingAdmissionPolicy],
	checked *registration.ValidatingAdmissionPolicy, warnings []registration.ExpressionWarning,
) error {
	for pause := reportRetry; ; pause = min(2*pause, lastReportRetry) {
		err := report(ctx, policies, checked, warnings)
		if !apierrors.IsServiceUnavailable(err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsTimeout(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errChecked = errors.New("checked already")

// report writes warnings into the status of a policy, unless it has changed since, or has some already.
func report(
	ctx context.Context, policies reach.Objects[*registration.ValidatingAdmissionPolicy],
	checked *registration.ValidatingAdmissionPolicy, warnings []registration.ExpressionWarning,
) error {
	how := reach.Write{Subresource: "status", Manager: "validatingadmissionpolicy-status"}
	_, err := policies.Update(ctx, "", checked.Name, how, func(p *registration.ValidatingAdmissionPolicy) error {
		if p.UID != checked.UID || p.Generation != checked.Generation || p.Status.ObservedGeneration == p.Generation {
			return errChecked
		}
		p.Status.ObservedGeneration = p.Generation
		p.Status.TypeChecking = &registration.TypeChecking{ExpressionWarnings: warnings}
		return nil
	})
	if errors.Is(err, errChecked) {
		return nil
	}
	return err
}

// checker checks the types of expressions.
type checker struct {
	catalog reach.Catalog
	schemas *schemas
}

// warnings returns what is wrong with the expressions of a policy.
func (c *checker) warnings(p *registration.ValidatingAdmissionPolicy) []registration.ExpressionWarning {
	var kinds []checked
	for _, kind := range c.kinds(p) {
		compiler, err := c.compiler(p, kind)
		if err != nil {
			continue // of this kind nothing is known
		}
		kinds = append(kinds, checked{kind, compiler})
	}
	var warnings []registration.ExpressionWarning
	check := func(path *field.Path, text string) {
		var all []string
		for _, kind := range kinds {
			if words := kind.Check(text); words != "" {
				all = append(all, fmt.Sprintf("%s: %s\n", kind.GroupVersionKind, words))
			}
		}
		if len(all) > 0 {
			warnings = append(warnings,
				registration.ExpressionWarning{FieldRef: path.String(), Warning: strings.Join(all, "\n")})
		}
	}
	root := field.NewPath("spec", "validations")
	for i, v := range p.Spec.Validations {
		check(root.Index(i).Child("expression"), v.Expression)
		if v.MessageExpression != "" {
			check(root.Index(i).Child("messageExpression"), v.MessageExpression)
		}
	}
	return warnings
}

// checked is a kind that expressions are checked against.
type checked struct {
	schema.GroupVersionKind
	*celpolicy.Compiler
}

func (c *checker) compiler(
	p *registration.ValidatingAdmissionPolicy, kind schema.GroupVersionKind,
) (*celpolicy.Compiler, error) {
	object, err := c.schemas.of(kind)
	if err != nil {
		return nil, err
	}
	types := celpolicy.Schemas{Object: object}
	if param := p.Spec.ParamKind; param != nil {
		version, err := schema.ParseGroupVersion(param.APIVersion)
		if err == nil {
			types.Params, _ = c.schemas.of(version.WithKind(param.Kind)) // without one, params are of any type
		}
	}
	declared := celpolicy.Declared{Params: p.Spec.ParamKind != nil, Authorizer: true}
	compiler, err := celpolicy.NewChecker(declared, types)
	if err != nil {
		return nil, err
	}
	for _, v := range p.Spec.Variables {
		compiler.Variable(v.Name, v.Expression)
	}
	return compiler, nil
}

// mostKinds bounds the kinds of one rule that expressions are checked against: kube-controller-manager's bound.
const mostKinds = 10

// kinds returns the kinds that the rules of a policy name, in order. A rule with a wildcard names none.
func (c *checker) kinds(p *registration.ValidatingAdmissionPolicy) []schema.GroupVersionKind {
	if p.Spec.MatchConstraints == nil {
		return nil
	}
	found := map[schema.GroupVersionKind]bool{}
	for _, rule := range p.Spec.MatchConstraints.ResourceRules {
		if isWild(rule.APIGroups) || isWild(rule.APIVersions) {
			continue
		}
		count := 0
		for _, r := range c.catalog.Resources() {
			if !slices.Contains(rule.APIGroups, r.Group) || !slices.Contains(rule.Resources, r.Resource) {
				continue
			}
			for _, version := range r.Versions {
				if slices.Contains(rule.APIVersions, version) && count < mostKinds {
					found[schema.GroupVersionKind{Group: r.Group, Version: version, Kind: r.Kind}] = true
					count++
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version),
			strings.Compare(a.Kind, b.Kind))
	})
}

func isWild(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "*") })
}
