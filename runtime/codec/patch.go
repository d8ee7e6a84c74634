package codec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/patch"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// Patch is a patch of one version. A write reads it once, and applies it to each state of the object that it tries.
type Patch[T api.Object] struct {
	version    *Served[T]
	patch      patch.Patch
	strict     []error // the unknown and duplicate fields of the patch itself
	validation string
	// faults are those of the last result that a Go value doesn't show.
	faults field.ErrorList
}

// Faults returns the faults of the last object that Apply made, beside those that its Go value shows.
func (p *Patch[T]) Faults() field.ErrorList { return p.faults }

// ReadPatch reads a patch of the version. The patch is nil if there is an error.
func (v *Served[T]) ReadPatch(kind verb.PatchType, body verb.Body) (*Patch[T], error) {
	p := &Patch[T]{version: v, validation: body.Validation}
	var err error
	if kind != verb.StrategicPatch {
		p.patch, p.strict, err = patch.New(kind, body)
	} else {
		rules, rulesErr := v.mergeRules()
		if rulesErr != nil {
			return nil, apierrors.NewInternalError(rulesErr)
		}
		p.patch, p.strict, err = patch.NewStrategic(body.Data, rules, body.Validation == metav1.FieldValidationIgnore)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Apply patches an object in JSON, and decodes the result into hub. Where match isn't nil, it may refuse the new
// object; clients see its error before that of a missing apiVersion. Apply returns warnings beside these two errors.
func (p *Patch[T]) Apply(object []byte, hub T, match func(T) error) (obj T, warnings []string, err error) {
	if object, err = p.patch.Apply(object); err != nil {
		return obj, nil, err
	}
	if obj, warnings, err = p.decode(object, hub); err != nil {
		return obj, nil, err
	}
	p.faults = p.version.jsonFaults(object, ofItems)
	if match != nil {
		err = match(obj)
	}
	if err == nil && !p.strategic() {
		// The kind follows from the path, but nothing else says what the fields mean.
		if apiVersion, _ := rendition.TypeOf(object); apiVersion == "" {
			err = apierrors.NewBadRequest("Object 'apiVersion' is missing in what the patch makes of it")
		}
	}
	return obj, warnings, err
}

// strategic reports whether the patch is a strategic merge patch. Such a patch is of the version's Go type: the server
// ignores what it says about kind and apiVersion.
func (p *Patch[T]) strategic() bool {
	_, strategic := p.patch.(*patch.Strategic)
	return strategic
}

func (p *Patch[T]) decode(object []byte, hub T) (obj T, warnings []string, err error) {
	refuse := func(why error) error {
		path := field.NewPath("patch")
		return verb.Quoting(apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(path, p.patch.Describe(object), why.Error()),
		}), path.String()+": "+field.ErrorTypeInvalid.String()+": "+why.Error())
	}
	d, err := p.version.Decode(object, hub, p.validation != metav1.FieldValidationIgnore)
	if err == nil && !p.strategic() {
		err = p.version.CheckType(d.GVK, object)
	}
	if err != nil && p.strategic() {
		err = p.version.restoreError(object, err)
	}
	if err != nil {
		return obj, nil, refuse(err)
	}
	if _, merged := p.patch.(patch.Merge); merged && len(d.Strict) > 1 {
		d.Strict = p.version.sortedFaults(hub, object, d.Strict)
	}
	strict := append(p.strict[:len(p.strict):len(p.strict)], d.Strict...)
	if len(strict) > 0 && p.validation == metav1.FieldValidationStrict {
		return obj, nil, refuse(runtime.NewStrictDecodingError(strict))
	}
	for _, e := range strict {
		warnings = append(warnings, e.Error())
	}
	return d.Object, warnings, nil
}

// restoreError returns the error that kube-apiserver has for an object that doesn't decode after a strategic merge
// patch: it doesn't decode JSON there, but restores a Go value from a tree. It returns err where only JSON doesn't
// decode.
func (v *Served[T]) restoreError(object []byte, err error) error {
	var tree map[string]any
	if kjson.UnmarshalCaseSensitivePreserveInts(object, &tree) != nil {
		return err
	}
	return cmp.Or(runtime.DefaultUnstructuredConverter.FromUnstructured(tree, v.codec.empty(v.GVK)), err)
}

// sortedFaults returns the faults of an object in the order of its sorted keys, as kube-apiserver reports them: it
// decodes an object to merge a patch into it, while rendition.Merge keeps the order of the members that it copies.
func (v *Served[T]) sortedFaults(hub T, object []byte, faults []error) []error {
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

// DecodeApply decodes the body of a server-side apply, which must be an object of the version.
func (v *Served[T]) DecodeApply(body verb.Body) (map[string]any, error) {
	var config map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body.Data, &config); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	u := unstructured.Unstructured{Object: config}
	if gvk := u.GroupVersionKind(); gvk != v.GVK {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %v", gvk))
	}
	return config, nil
}

// FromApplied makes a hub object of the object of the version that a server-side apply made, with defaults. The object
// must not have unknown fields. A conversion that fails with a status is answered with that.
func (v *Served[T]) FromApplied(object map[string]any, hub T) (T, error) {
	obj, err := v.codec.adopt(object, hub, true)
	if isStatus := errors.As(err, new(apierrors.APIStatus)); err != nil && !isStatus {
		err = apierrors.NewBadRequest(fmt.Sprintf("failed to convert new object to proper version: %v", err))
	}
	return obj, err
}
