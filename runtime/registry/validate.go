package registry

import (
	"context"
	"fmt"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var metadataPath = field.NewPath("metadata")

// validateName is the author's rule, or that of a DNS subdomain. Whatever the rule, a name must fit into a URL.
func (h *handle[T]) validateName(name string, generated bool) []string {
	rule := h.definition.Strategy.ValidateName
	if rule == nil {
		return validation.NameIsDNSSubdomain(name, generated)
	}
	if messages := rule(name, generated); len(messages) > 0 {
		return messages
	}
	if generated {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

func (h *handle[T]) validateCreate(ctx context.Context, obj T) error {
	errs := validation.ValidateObjectMetaAccessor(obj, h.info.Scope == api.Namespaced, h.validateName, metadataPath)
	if validate := h.definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(ctx, obj)...)
	}
	return h.invalid(obj, errs)
}

func (h *handle[T]) validateUpdate(ctx context.Context, obj, old T) error {
	errs := validation.ValidateObjectMetaAccessor(obj, h.info.Scope == api.Namespaced, h.validateName, metadataPath)
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(obj, old, metadataPath)...)
	if validate := h.definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(ctx, obj)...)
	}
	if validate := h.definition.Strategy.ValidateUpdate; validate != nil {
		errs = append(errs, validate(ctx, obj, old)...)
	}
	return h.invalid(obj, errs)
}

func (h *handle[T]) invalid(obj T, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(h.kind, obj.GetName(), errs)
}

// checkVersion is the rule of optimistic concurrency: an update that names a resourceVersion is meant for that state.
func (h *handle[T]) checkVersion(obj T, name string, current int64) error {
	sent, err := parseVersion(obj.GetResourceVersion())
	if err != nil {
		return err
	}
	gr := h.store.gr
	switch {
	case sent == 0 && h.definition.Strategy.RequireVersionOnUpdate:
		return apierrors.NewInvalid(schema.GroupKind{Group: gr.Group, Kind: gr.Resource}, name, field.ErrorList{
			field.Invalid(metadataPath.Child("resourceVersion"), uint64(0), "must be specified for an update"),
		})
	case sent != 0 && sent != current:
		return apierrors.NewConflict(gr, name, fmt.Errorf("%s", optimisticLock))
	}
	return nil
}

func (h *handle[T]) warnings(ctx context.Context, obj, old T) []string {
	if warn := h.definition.Strategy.Warnings; warn != nil {
		return warn(ctx, obj, old)
	}
	return nil
}
