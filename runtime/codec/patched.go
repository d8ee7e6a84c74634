package codec

import (
	"encoding/json"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/patch"
	"apigen.dev/runtime/rendition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DecodePatched decodes what a patch made of an object.
func DecodePatched[T api.Object](
	v *Served[T], hub T, p patch.Patch, object []byte, strict []error, validation string,
) (obj T, warnings []string, err error) {
	refuse := func(why error) error {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"),
			p.Describe(object), why.Error())})
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

// RequireAPIVersion refuses what a patch left without an apiVersion, which would say nothing of what its fields mean.
// The kind follows from the path, and a strategic merge patch is of a Go type, whatever it does to these fields.
func RequireAPIVersion(p patch.Patch, object []byte) error {
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
func sortedFaults[T api.Object](v *Served[T], hub T, object []byte, faults []error) []error {
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

// NewPatch reads a patch of a version.
func NewPatch[T api.Object](
	v *Served[T], kind api.PatchType, body api.Body,
) (p patch.Patch, strict []error, err error) {
	if kind != api.StrategicPatch {
		return patch.New(kind, body)
	}
	meta, err := v.PatchMeta()
	if err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	return patch.NewStrategic(body.Data, meta, body.Validation == metav1.FieldValidationIgnore)
}
