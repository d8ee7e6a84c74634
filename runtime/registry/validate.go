package registry

import (
	"context"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/metadata"
	requestinfo "apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validate is the step that refuses a new object with faults.
func (k *kind[T]) validate(ctx context.Context, a *attempt[T]) error {
	var warnings requestinfo.Warnings
	errs, err := a.scope.validate(requestinfo.WithWarnings(ctx, &warnings), a)
	a.addWarnings(warnings.Texts())
	if err != nil {
		return internal(err)
	}
	if a.scope.validateChange != nil && a.old.Exists {
		errs = append(errs, a.scope.validateChange(ctx, a.obj, a.old.Object)...)
	}
	return verb.Invalid(k.gk, a.obj.GetName(), errs)
}

var metadataPath = field.NewPath("metadata")

// nameRule returns the rule for the names of new objects: the author's, or that they are DNS subdomains. No rule holds
// for the name of a review: its provider answers it, and no client reads it again.
func (k *kind[T]) nameRule() validation.ValidateNameFunc {
	switch rule := k.definition.Strategy.ValidateName; {
	case rule != nil:
		return rule
	case k.isReview():
		return AnyName
	}
	return validation.NameIsDNSSubdomain
}

func (k *kind[T]) isReview() bool { return k.info.Storage == "" && !k.info.Has("get") }

// validatePath checks that the name of a new object fits into a URL, whatever the author's rule says. As in
// kube-apiserver, that comes last: an object with other faults is refused for these.
func (k *kind[T]) validatePath(a *attempt[T]) field.ErrorList {
	if a.old.Exists || k.isReview() {
		return nil
	}
	return metadata.ValidatePath(a.obj, metadataPath)
}

// validateObject checks the new object's metadata, the rules of the request's version, and those of the strategy.
func (k *kind[T]) validateObject(ctx context.Context, a *attempt[T]) (field.ErrorList, error) {
	errs, err := k.validateMetadataAndRules(ctx, a)
	if err != nil {
		return nil, err
	}
	if validate := k.definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(ctx, a.obj)...)
	}
	if validate := k.definition.Strategy.ValidateCreate; validate != nil && !a.old.Exists {
		errs = append(errs, validate(ctx, a.obj)...)
	}
	if len(errs) == 0 {
		errs = k.validatePath(a)
	}
	return errs, nil
}

func (k *kind[T]) validateMetadataAndRules(ctx context.Context, a *attempt[T]) (field.ErrorList, error) {
	errs := k.validateMetadata(a)
	if a.version.Info.Untyped { // some faults keep the rules of a definition from running, those of metadata, too
		return k.validateRules(codec.WithFaults(ctx, errs), a)
	}
	rules, err := k.validateRules(ctx, a)
	return append(errs, rules...), err
}

// validateMetadata checks the new object's metadata. The rule for names applies to new objects only.
func (k *kind[T]) validateMetadata(a *attempt[T]) field.ErrorList {
	namespaced := k.info.Scope == api.Namespaced
	if a.old.Exists {
		errs := validation.ValidateObjectMetaAccessor(a.obj, namespaced, metadata.FitsPath, metadataPath)
		return append(errs, validation.ValidateObjectMetaAccessorUpdate(a.obj, a.old.Object, metadataPath)...)
	}
	errs := validation.ValidateObjectMetaAccessor(a.obj, namespaced, k.nameRule(), metadataPath)
	if k.info.Storage == "" {
		errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
			return e.Type == field.ErrorTypeRequired && e.Field == "metadata.name"
		})
	}
	return errs
}

// validateRules checks the new object by the rules of the request's version.
func (k *kind[T]) validateRules(ctx context.Context, a *attempt[T]) (field.ErrorList, error) {
	op, old := operation.Operation{Type: operation.Create}, (*T)(nil)
	if a.old.Exists {
		op.Type, old = operation.Update, &a.old.Object
	}
	if name := a.scope.name; name != "" {
		op.Request.Subresources = []string{name}
	}
	errs, err := a.version.Validate(codec.WithFaults(ctx, k.sentFaults(a, old)), op, a.obj, old)
	for _, e := range k.definition.Extensions {
		errs = append(errs, e.Faults(a.obj, a.scope.name)...)
	}
	return errs, err
}

// sentFaults returns the faults of what the client sent that the new object still has, and doesn't show: a write of a
// part has those of the part, and other writes those of the rest.
func (k *kind[T]) sentFaults(a *attempt[T], old *T) (faults field.ErrorList) {
	switch p := a.proposal.(type) {
	case *sent[T]:
		faults = a.version.SentFaults(p.body)
	case *patched[T]:
		faults = p.patch.Faults()
	case *applied[T]:
		faults = a.version.AppliedFaults(p.object)
	}
	return a.version.Standing(faultsIn(a.scope.name, faults, k.isPart), a.obj, old)
}

func (k *kind[T]) isPart(member string) bool {
	return slices.ContainsFunc(k.scopes.parts, func(s scope[T]) bool { return s.name == member })
}

// PathErrors returns an error of a Validate method that names the paths of fields in text, such as spec.steps[0].name,
// as one field error for each path: "Invalid value", with the texts that aren't empty as its detail. An error without a
// path is one of the whole object.
func PathErrors(paths []string, texts ...string) field.ErrorList {
	details := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
	if len(paths) == 0 {
		paths = []string{""}
	}
	var errs field.ErrorList
	for _, path := range paths {
		errs = append(errs, &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{},
			Detail: strings.Join(details, ": ")})
	}
	return errs
}

// faultsIn returns the faults in one member of an object, such as status; without a name, those that are in no member
// that is a part of its own.
func faultsIn(name string, faults field.ErrorList, isPart func(member string) bool) field.ErrorList {
	return slices.DeleteFunc(faults, func(e *field.Error) bool {
		member, _, _ := strings.Cut(e.Field, ".")
		if name != "" {
			return member != name
		}
		return isPart(member)
	})
}
