package patch

import (
	"apigen.dev/runtime/rendition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

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
