package registry

import (
	"encoding/hex"
	"fmt"
	"strings"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
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
	gvk, unknown := saidKind(body, d, err)
	if unknown != nil {
		return obj, nil, v.unrecognized(unknown, body.Data)
	}
	if mismatch := v.fits(gvk, body.Data); mismatch != nil {
		return obj, nil, mismatch
	}
	if err != nil {
		return obj, nil, v.undecodable(body, d.gvk, err)
	}
	if strict := append(body.Faults[:len(body.Faults):len(body.Faults)], d.strict...); len(strict) > 0 {
		if body.Validation == metav1.FieldValidationStrict {
			return obj, nil, v.undecodable(body, d.gvk, runtime.NewStrictDecodingError(strict))
		}
		for _, e := range d.strict {
			warnings = append(warnings, e.Error())
		}
	}
	return d.obj, warnings, nil
}

// saidKind returns the kind that a body says it is of. A key of another case counts as kind or apiVersion here, and
// nowhere else: kube-apiserver reads these two before all else, with Go's own decoder.
func saidKind[T api.Object](body Body, d decoded[T], err error) (schema.GroupVersionKind, error) {
	known := err == nil && len(d.strict) == 0 && body.Validation != metav1.FieldValidationIgnore
	if known || body.Encoding != api.JSON {
		return d.gvk, nil // a key of another case would be an unknown field
	}
	said, err := serializer.DefaultMetaFactory.Interpret(body.Data)
	if err != nil {
		return d.gvk, err
	}
	return *said, nil
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
			return v.unrecognized(err, data)
		}
	}
	gv := gvk.GroupVersion()
	if gv.Version == "" && gv.Group == v.gvk.Group {
		gv.Version = v.gvk.Version // as apimachinery understands "group/"
	}
	if !gv.Empty() && gv != v.gvk.GroupVersion() {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", gv, v.gvk.GroupVersion()))
	}
	if gvk.Kind != "" && gvk.Kind != v.gvk.Kind {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: the kind in the data does not match the expected kind",
			gvk.Kind, v.gvk.Version, v.gvk.Kind))
	}
	return nil
}

func (v *version[T]) undecodable(body Body, gvk schema.GroupVersionKind, err error) error {
	if body.Encoding != api.JSON {
		if gvk.Empty() {
			return v.unrecognized(err, body.Data)
		}
		return v.unhandled(err)
	}
	return v.unhandled(err)
}

func (v *version[T]) unrecognized(err error, data []byte) error {
	return Unrecognized(v.gvk.Kind, err, data)
}

// Unrecognized is the error for a body that doesn't even tell what it is, with its first bytes: the text of what begins like
// JSON, and anything else in hexadecimal.
func Unrecognized(kind string, err error, body []byte) error {
	const most = 30
	begin, more := body[:min(len(body), most)], ""
	if len(body) > most {
		more = " ..."
	}
	shown := hex.EncodeToString(begin) + more
	switch {
	case len(body) == 0:
		shown = "<empty>"
	case body[0] == '{':
		shown = strings.ToValidUTF8(string(begin), "\ufffd") + more
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, shown))
}

func (v *version[T]) unhandled(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", v.gvk.Kind, v.gvk.Version, v.gvk.Kind, err))
}
