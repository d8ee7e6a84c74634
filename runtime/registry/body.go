package registry

import (
	"fmt"
	"strconv"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// decodeBody reads an object that a client sent. What it doesn't say of kind and apiVersion, the URL says.
func (h *handle[T]) decodeBody(body Body) (obj T, warnings []string, err error) {
	v, err := h.versions.of(body.Version)
	if err != nil {
		return obj, nil, apierrors.NewInternalError(err)
	}
	return decodeInto(v, h.definition.New(), body)
}

// decodeInto reads an object of a version, into hub where that is another type.
func decodeInto[T api.Object](v *version[T], hub T, body Body) (obj T, warnings []string, err error) {
	d, err := v.decodeBody(body, hub)
	if mismatch := v.fits(d.gvk, body.Data); mismatch != nil {
		return obj, nil, mismatch
	}
	if err != nil {
		return obj, nil, v.undecodable(body, d.gvk, err)
	}
	if len(d.strict) > 0 {
		if body.Validation == metav1.FieldValidationStrict {
			return obj, nil, v.undecodable(body, d.gvk, runtime.NewStrictDecodingError(d.strict))
		}
		for _, e := range d.strict {
			warnings = append(warnings, e.Error())
		}
	}
	return d.obj, warnings, nil
}

// decodeBody decodes what a client sent, whatever its encoding.
func (v *version[T]) decodeBody(body Body, hub T) (decoded[T], error) {
	strictly := body.Validation != metav1.FieldValidationIgnore
	if body.Encoding == api.JSON {
		return v.codec.decode(body.Data, hub, strictly)
	}
	return v.codec.read(body.Encoding, body.Data, hub, v.gvk, strictly)
}

// fits compares what a body says of itself with the URL that it was sent to. An apiVersion that is none decodes to nothing.
func (v *version[T]) fits(gvk schema.GroupVersionKind, data []byte) error {
	if gvk.Version == "" {
		apiVersion, _ := typeOf(data)
		if _, err := schema.ParseGroupVersion(apiVersion); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): unexpected GroupVersion string: %.100s", v.gvk.Kind, apiVersion))
		}
	}
	if gv := gvk.GroupVersion(); !gv.Empty() && gv != v.gvk.GroupVersion() {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", gv, v.gvk.GroupVersion()))
	}
	if gvk.Kind != "" && gvk.Kind != v.gvk.Kind {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: the kind in the data does not match the expected kind",
			gvk.Kind, v.gvk.Version, v.gvk.Kind))
	}
	return nil
}

func (v *version[T]) undecodable(body Body, gvk schema.GroupVersionKind, err error) error {
	const most = 30
	begin := "<empty>"
	if len(body.Data) > 0 {
		begin = strconv.Quote(string(body.Data[:min(len(body.Data), most)]))
	}
	if body.Encoding != api.JSON {
		if gvk.Empty() {
			return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", v.gvk.Kind, err, begin))
		}
		return v.unhandled(err)
	}
	var object map[string]any
	if syntax := kjson.UnmarshalCaseSensitivePreserveInts(body.Data, &object); syntax != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %v (%s)",
			v.gvk.Kind, syntax, begin))
	}
	return v.unhandled(err)
}

func (v *version[T]) unhandled(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", v.gvk.Kind, v.gvk.Version, v.gvk.Kind, err))
}
