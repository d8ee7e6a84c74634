package registry

import (
	"context"
	"encoding/json"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/patch"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Patch implements Write. The patch is applied to the object in the version of the URL, and again where that turned out
// to be out of date; unless the patch itself names a resourceVersion, it has no conflicts.
func (h *handle[T]) Patch(ctx context.Context, namespace, name, subresource string, kind api.PatchType, body api.Body, opts api.WriteOptions) (api.Result, error) {
	t, err := h.target(namespace, name, subresource, body.Version)
	if err != nil {
		return api.Result{}, err
	}
	t.merged = true
	if kind == api.ApplyPatch {
		return h.apply(ctx, t, body, opts)
	}
	v := t.version
	p, strict, err := patcherOf(v, kind, body)
	if err != nil {
		return api.Result{}, h.unlessMissing(ctx, t, err)
	}
	return h.update(ctx, t, opts, func(current *store.State[T]) (obj T, warnings []string, err error) {
		if !current.Exists {
			return obj, nil, apierrors.NewNotFound(h.store.Resource(), name)
		}
		object, err := h.sentTo(v, current)
		if err != nil {
			return obj, nil, apierrors.NewInternalError(err)
		}
		if object, err = p.Apply(object); err != nil {
			return obj, nil, err
		}
		if obj, warnings, err = decodePatched(v, h.definition.New(), p, object, strict, body.Validation); err != nil {
			return obj, nil, err
		}
		if err = h.isTarget(obj, t); err != nil {
			return obj, nil, err
		}
		return obj, warnings, keepsVersion(p, object)
	})
}

// unlessMissing is the error of a patch that can't be read; that there is nothing to patch is said first.
func (h *handle[T]) unlessMissing(ctx context.Context, t target[T], err error) error {
	if _, missing := h.store.Get(ctx, t.key, store.GetOptions{}, h.store.Form()); apierrors.IsNotFound(missing) {
		return missing
	}
	return err
}

// sentTo is the current object as it is sent to clients of a version.
func (h *handle[T]) sentTo(v *codec.Served[T], current *store.State[T]) ([]byte, error) {
	if v != h.versions.Storage {
		return v.Encode(current.Object)
	}
	stored, err := rendition.New(current.Data, v.Head)
	if err != nil {
		return nil, err
	}
	return rendition.Whole(rendition.Stamp(stored, current.Revision)), nil
}

// decodePatched decodes what a patch made of an object.
func decodePatched[T api.Object](v *codec.Served[T], hub T, p patch.Patch, object []byte, strict []error, validation string) (obj T, warnings []string, err error) {
	refuse := func(why error) error {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), p.Describe(object), why.Error())})
	}
	d, err := v.Decode(object, hub, validation != metav1.FieldValidationIgnore)
	// A strategic merge patch is of the version's Go type: what it says of kind and apiVersion is lost.
	if _, typed := p.(*patch.Strategic); !typed && err == nil {
		err = v.CheckType(d.GVK, object)
	}
	if err != nil {
		return obj, nil, refuse(err)
	}
	if _, merged := p.(patch.Merge); merged && len(d.Strict) > 1 {
		d.Strict = sortedFaults(v, hub, object, d.Strict)
	}
	strict = append(strict[:len(strict):len(strict)], d.Strict...)
	if len(strict) > 0 && validation == metav1.FieldValidationStrict {
		return obj, nil, refuse(runtime.NewStrictDecodingError(strict))
	}
	for _, e := range strict {
		warnings = append(warnings, e.Error())
	}
	return d.Object, warnings, nil
}

// keepsVersion refuses what a patch left without an apiVersion, which would say nothing of what its fields mean. The kind
// follows from the path, and a strategic merge patch is of a Go type, whatever it does to these fields.
func keepsVersion(p patch.Patch, object []byte) error {
	if _, typed := p.(*patch.Strategic); typed {
		return nil
	}
	if apiVersion, _ := rendition.TypeOf(object); apiVersion == "" {
		return apierrors.NewBadRequest("Object 'apiVersion' is missing in what the patch makes of it")
	}
	return nil
}

// sortedFaults are the faults of an object in the order of its keys, which is that of an object that was decoded to be
// merged with: a merge that copies what it leaves alone keeps another.
func sortedFaults[T api.Object](v *codec.Served[T], hub T, object []byte, faults []error) []error {
	var tree map[string]any
	if rendition.DecodeTree(object, &tree) != nil {
		return faults
	}
	sorted, err := json.Marshal(tree)
	if err != nil {
		return faults
	}
	d, err := v.Decode(sorted, hub.DeepCopyObject().(T), true)
	if err != nil || len(d.Strict) != len(faults) {
		return faults
	}
	return d.Strict
}

// patcherOf reads a patch of a version.
func patcherOf[T api.Object](v *codec.Served[T], kind api.PatchType, body api.Body) (p patch.Patch, strict []error, err error) {
	if kind != api.StrategicPatch {
		return patch.New(kind, body)
	}
	meta, err := v.PatchMeta()
	if err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	return patch.NewStrategic(body.Data, meta, body.Validation == metav1.FieldValidationIgnore)
}
