// Package patch applies JSON patches, merge patches and strategic merge patches to encoded objects, within bounds of
// time and size.
//
// It may know packages rendition and verb.
package patch

import (
	"errors"
	"fmt"

	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// Patch applies one patch to JSON objects. It may be used again. Its errors are API statuses.
type Patch interface {
	// Apply returns the patched object, and doesn't change object.
	Apply(object []byte) ([]byte, error)
	// Describe returns how an error shows the patch that resulted in object.
	Describe(object []byte) string
}

// New decodes a JSON patch or a merge patch. strict are its unknown and duplicate fields, unless body.Validation
// ignores them.
func New(kind verb.PatchType, body verb.Body) (p Patch, strict []error, err error) {
	lax := body.Validation == metav1.FieldValidationIgnore
	switch kind {
	case verb.JSONPatch:
		return newJSONPatch(body.Data, lax)
	case verb.MergePatch:
		if strict, err = decode(body.Data, new(map[string]any), lax); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		p, err = newMergePatch(body.Data)
		return p, strict, err
	}
	return nil, nil, apierrors.NewInternalError(fmt.Errorf("patches of type %q are not applied here", kind))
}

// decode decodes a patch. It returns unknown and duplicate fields, unless it is lax.
func decode(data []byte, into any, lax bool) (strict []error, err error) {
	if strict, err = kjson.UnmarshalStrict(data, into); lax {
		strict = nil
	}
	return strict, err
}

// safely turns a panic of the patch library into an error.
func safely(apply func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, unprocessable(errors.New("the patch can't be applied to this object"))
		}
	}()
	return apply()
}

// unprocessable returns the 422 without a kind for a patch that can't be applied.
func unprocessable(err error) error {
	status := apierrors.NewGenericServerResponse(422, "", schema.GroupResource{}, "", err.Error(), 0, false)
	return &unapplied{status, err}
}

// unapplied is the error of a patch that can't be applied, with its cause.
type unapplied struct {
	*apierrors.StatusError
	cause error
}

// Cause returns why a patch can't be applied to an object, without the status that a client gets; err itself for other
// errors.
func Cause(err error) error {
	var known *unapplied
	if errors.As(err, &known) {
		return known.cause
	}
	return err
}

// IsFailedTest reports whether an operation "test" of a JSON patch failed.
func IsFailedTest(err error) bool { return errors.Is(Cause(err), jsonpatch.ErrTestFailed) }

// Merge is a JSON merge patch, decoded.
type Merge map[string]any

// newMergePatch decodes a patch, which must be an object. Numbers keep their text.
func newMergePatch(data []byte) (Merge, error) {
	var patch map[string]any
	if err := rendition.DecodeTree(data, &patch); err != nil || patch == nil {
		return nil, apierrors.NewBadRequest("Invalid JSON Patch")
	}
	return patch, nil
}

// Apply implements Patch. It takes time that grows with the sizes of patch and object alone.
func (p Merge) Apply(object []byte) ([]byte, error) {
	merged, err := rendition.Merge(object, p)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return merged, nil
}

// Describe implements Patch: an error shows the object.
func (Merge) Describe(object []byte) string { return string(object) }
