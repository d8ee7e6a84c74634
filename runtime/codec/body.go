package codec

import (
	"encoding/json"
	"errors"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DecodeBody decodes an object of the version that a client sent, into hub where that is another type. The URL supplies
// a kind or apiVersion that the body lacks.
func (v *Served[T]) DecodeBody(hub T, body verb.Body) (obj T, warnings []string, err error) {
	d, err := v.read(body, hub)
	gvk, unknown := statedKind(body, d, err)
	if unknown != nil {
		return obj, nil, v.unrecognized(unknown, body.Data)
	}
	if mismatch := v.CheckType(gvk, body.Data); mismatch != nil {
		return obj, nil, mismatch
	}
	if err != nil {
		return obj, nil, v.undecodable(body, d.GVK, err)
	}
	if strict := append(body.Faults[:len(body.Faults):len(body.Faults)], d.Strict...); len(strict) > 0 {
		if body.Validation == metav1.FieldValidationStrict {
			return obj, nil, v.undecodable(body, d.GVK, runtime.NewStrictDecodingError(strict))
		}
		for _, e := range d.Strict {
			warnings = append(warnings, e.Error())
		}
	}
	if body.Decoded != nil {
		body.Decoded(d.Object, func() ([]byte, error) { return v.Encode(d.Object) })
	}
	return d.Object, warnings, nil
}

// statedKind returns the kind that a body states. A key of another case counts as kind or apiVersion here, and nowhere
// else: kube-apiserver reads these two members before all others, with Go's own decoder.
func statedKind[T api.Object](body verb.Body, d Decoded[T], err error) (schema.GroupVersionKind, error) {
	known := err == nil && len(d.Strict) == 0 && body.Validation != metav1.FieldValidationIgnore
	if known || body.Encoding != verb.JSON {
		return d.GVK, nil // a key of another case would be an unknown field
	}
	stated, err := serializer.DefaultMetaFactory.Interpret(body.Data)
	if err != nil {
		return d.GVK, err
	}
	return *stated, nil
}

func (v *Served[T]) read(body verb.Body, hub T) (Decoded[T], error) {
	strictly := body.Validation != metav1.FieldValidationIgnore
	if body.Encoding == verb.JSON {
		return v.codec.decode(body.Data, hub, strictly)
	}
	return v.codec.read(body.Encoding, body.Data, hub, v.GVK, strictly)
}

// CheckType compares kind and apiVersion of a body with those of the URL. An invalid apiVersion decodes to none.
func (v *Served[T]) CheckType(gvk schema.GroupVersionKind, data []byte) error {
	if v.Info.Untyped {
		return v.checkUntyped(gvk, data)
	}
	if gvk.Version == "" {
		apiVersion, _ := rendition.TypeOf(data)
		if _, err := schema.ParseGroupVersion(apiVersion); err != nil {
			return v.unrecognized(err, data)
		}
	}
	gv := gvk.GroupVersion()
	if gv.Version == "" && gv.Group == v.GVK.Group {
		gv.Version = v.GVK.Version // as apimachinery understands "group/"
	}
	if !gv.Empty() && gv != v.GVK.GroupVersion() {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match "+
			"the expected API version (%s)", gv, v.GVK.GroupVersion()))
	}
	if gvk.Kind != "" && gvk.Kind != v.GVK.Kind {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: "+
			"the kind in the data does not match the expected kind",
			gvk.Kind, v.GVK.Version, v.GVK.Kind))
	}
	return nil
}

// checkUntyped is CheckType for a custom resource, which must say what it is.
func (v *Served[T]) checkUntyped(gvk schema.GroupVersionKind, data []byte) error {
	switch {
	case gvk.Kind == "":
		return v.unrecognized(runtime.NewMissingKindErr(string(data)), data)
	case gvk.GroupVersion() != v.GVK.GroupVersion():
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API "+
			"version (%s)", gvk.GroupVersion(), v.GVK.GroupVersion()))
	case gvk.Kind != v.GVK.Kind:
		var named struct {
			Metadata struct{ Name string }
		}
		_ = json.Unmarshal(data, &named) // without a name, the error has none
		return apierrors.NewInvalid(gvk.GroupKind(), named.Metadata.Name, field.ErrorList{
			field.Invalid(field.NewPath("kind"), gvk.Kind, "must be "+v.GVK.Kind),
		})
	}
	return nil
}

func (v *Served[T]) undecodable(body verb.Body, gvk schema.GroupVersionKind, err error) error {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return err // such as that of a webhook that can't convert the object
	}
	if body.Encoding != verb.JSON && gvk.Empty() || runtime.IsMissingKind(err) {
		return v.unrecognized(err, body.Data)
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", v.GVK.Kind,
		v.GVK.Version, v.GVK.Kind, err))
}

func (v *Served[T]) unrecognized(err error, data []byte) error {
	return verb.Unrecognized(v.GVK.Kind, err, data)
}

// ValidatePreserved checks an object that carries fields of the hub in an annotation by the rules of the storage
// version, which has these fields: a client can write the annotation as it likes. It checks nothing where obj has no
// such annotation. stored converts to the storage version; validate gets the converted obj and old, nil where old is
// nil.
func ValidatePreserved[V, S api.Object](annotation string, obj, old V, stored func(V) (S, error),
	validate func(obj, old S) field.ErrorList,
) field.ErrorList {
	if _, ok := obj.GetAnnotations()[annotation]; !ok {
		return nil
	}
	var from S
	to, err := stored(obj)
	if none := *new(V); err == nil && any(old) != any(none) {
		from, err = stored(old)
	}
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return validate(to, from)
}
