package registry

import (
	"context"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validate is the step that refuses a new object with faults.
func (k *kind[T]) validate(ctx context.Context, a *attempt[T]) error {
	errs, err := a.scope.validate(ctx, a)
	if err != nil {
		return internal(err)
	}
	if a.scope.validateChange != nil && a.old.Exists {
		errs = append(errs, a.scope.validateChange(ctx, a.obj, a.old.Object)...)
	}
	return codec.Invalid(k.gk, a.obj.GetName(), errs)
}

var metadataPath = field.NewPath("metadata")

// validateName checks a name by the author's rule, or that of a DNS subdomain. It always must fit into a URL.
func (k *kind[T]) validateName(name string, generated bool) []string {
	rule := k.definition.Strategy.ValidateName
	if rule == nil {
		return validation.NameIsDNSSubdomain(name, generated)
	}
	if messages := rule(name, generated); len(messages) > 0 {
		return messages
	}
	return fitsPath(name, generated)
}

// fitsPath returns why a name, or the prefix of one, doesn't fit into a URL.
func fitsPath(name string, generated bool) []string {
	if generated {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
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
	return errs, nil
}

func (k *kind[T]) validateMetadataAndRules(ctx context.Context, a *attempt[T]) (field.ErrorList, error) {
	errs := k.validateMetadata(a)
	rules, err := k.validateRules(ctx, a)
	return append(errs, rules...), err
}

// validateMetadata checks the new object's metadata. The rule for names applies to new objects only.
func (k *kind[T]) validateMetadata(a *attempt[T]) field.ErrorList {
	namespaced := k.info.Scope == api.Namespaced
	if a.old.Exists {
		errs := validation.ValidateObjectMetaAccessor(a.obj, namespaced, fitsPath, metadataPath)
		return append(errs, validation.ValidateObjectMetaAccessorUpdate(a.obj, a.old.Object, metadataPath)...)
	}
	errs := validation.ValidateObjectMetaAccessor(a.obj, namespaced, k.validateName, metadataPath)
	if k.info.Storage == "" {
		// A review needs no name: its provider answers it, and no client reads it again.
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
	return a.version.Validate(ctx, op, a.obj, old)
}
