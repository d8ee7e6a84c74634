package registry

import (
	"apigen.dev/runtime/rendition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// mergePatch is a JSON merge patch, decoded.
type mergePatch map[string]any

// newMergePatch decodes a patch, which must be an object. Numbers keep their text.
func newMergePatch(data []byte) (mergePatch, error) {
	var patch map[string]any
	if err := rendition.DecodeTree(data, &patch); err != nil || patch == nil {
		return nil, apierrors.NewBadRequest("Invalid JSON Patch")
	}
	return patch, nil
}

func (p mergePatch) apply(object []byte) ([]byte, error) {
	merged, err := rendition.Merge(object, p)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return merged, nil
}

func (mergePatch) shown(object []byte) string { return string(object) }
