package registry

import (
	"context"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
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
	return fitsPath(name, generated)
}

// fitsPath tells why a name, or the prefix of one, doesn't fit into a URL.
func fitsPath(name string, generated bool) []string {
	if generated {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

func (h *handle[T]) validateCreate(ctx context.Context, t target[T], obj T) error {
	errs := validation.ValidateObjectMetaAccessor(obj, h.info.Scope == api.Namespaced, h.validateName, metadataPath)
	rules, err := t.rules(ctx, operation.Create, obj, nil)
	if err != nil {
		return err
	}
	errs = append(errs, rules...)
	if validate := h.definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(ctx, obj)...)
	}
	return h.invalid(obj, errs)
}

// validateChange checks the metadata of an object that takes the place of old. A name is as it was, whatever rule there is
// for new ones.
func (h *handle[T]) validateChange(obj, old T) field.ErrorList {
	errs := validation.ValidateObjectMetaAccessor(obj, h.info.Scope == api.Namespaced, fitsPath, metadataPath)
	return append(errs, validation.ValidateObjectMetaAccessorUpdate(obj, old, metadataPath)...)
}

func (h *handle[T]) validateUpdate(ctx context.Context, t target[T], obj, old T) error {
	errs := h.validateChange(obj, old)
	rules, err := t.rules(ctx, operation.Update, obj, &old)
	if err != nil {
		return err
	}
	errs = append(errs, rules...)
	if validate := h.definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(ctx, obj)...)
	}
	if validate := h.definition.Strategy.ValidateUpdate; validate != nil {
		errs = append(errs, validate(ctx, obj, old)...)
	}
	return h.invalid(obj, errs)
}

// validateSubresource checks an object of which a subresource is new.
func (h *handle[T]) validateSubresource(ctx context.Context, t target[T], obj, old T) error {
	errs, err := t.rules(ctx, operation.Update, obj, &old)
	if err != nil {
		return err
	}
	if validate := t.subresource.Validate; validate != nil {
		errs = append(errs, validate(ctx, obj, old)...)
	}
	return h.invalid(obj, errs)
}

// rules checks an object by the rules of the version that the client speaks.
func (t *target[T]) rules(ctx context.Context, verb operation.Type, obj T, old *T) (field.ErrorList, error) {
	op := operation.Operation{Type: verb}
	if t.subresource != nil {
		op.Request.Subresources = []string{t.subresource.Name}
	} else if t.through != "" {
		op.Request.Subresources = []string{t.through}
	}
	errs, err := t.version.Validate(ctx, op, obj, old)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return errs, nil
}

func (h *handle[T]) invalid(obj T, errs field.ErrorList) error {
	return invalidObject(h.kind, obj.GetName(), errs)
}

// maxFaults and maxFaultText bound how many faults of an object are told, and in how many bytes: a body has room for
// hundreds of thousands, and joining their texts takes time that grows with their square.
const (
	maxFaults    = 1000
	maxFaultText = 1 << 20
)

// invalidObject is the error for the faults of an object, nil where there are none. What several rules say in the same words
// is said once.
func invalidObject(kind schema.GroupKind, name string, errs field.ErrorList) error {
	said, size, more := map[string]bool{}, 0, 0
	var once field.ErrorList
	for _, e := range errs {
		if len(once) == maxFaults || size > maxFaultText {
			more++
			continue
		}
		if text := e.Error(); !said[text] {
			said[text], size = true, size+len(text)
			once = append(once, e)
		}
	}
	if len(once) == 0 {
		return nil
	}
	invalid := apierrors.NewInvalid(kind, name, once)
	if more > 0 {
		invalid.ErrStatus.Message += fmt.Sprintf(" (and %d more faults)", more)
	}
	return invalid
}

// checkVersion is the rule of optimistic concurrency: an update that names a resourceVersion is meant for that state.
func (h *handle[T]) checkVersion(obj T, name string, current int64) error {
	sent, err := store.ParseVersion(obj.GetResourceVersion())
	if err != nil {
		return err
	}
	gr := h.store.Resource()
	switch {
	case sent == 0 && h.definition.Strategy.RequireVersionOnUpdate:
		return apierrors.NewInvalid(schema.GroupKind{Group: gr.Group, Kind: gr.Resource}, name, field.ErrorList{
			field.Invalid(metadataPath.Child("resourceVersion"), uint64(0), "must be specified for an update"),
		})
	case sent != 0 && sent != current:
		return apierrors.NewConflict(gr, name, fmt.Errorf("%s", store.OptimisticLock))
	}
	return nil
}

func (h *handle[T]) warnings(ctx context.Context, obj, old T) []string {
	if warn := h.definition.Strategy.Warnings; warn != nil {
		return warn(ctx, obj, old)
	}
	return nil
}
