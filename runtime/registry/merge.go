package registry

import (
	"bytes"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// mergePatch is a JSON merge patch, decoded. Applying it takes time that grows with the sizes of patch and object alone,
// however deep they nest.
type mergePatch map[string]any

// newMergePatch decodes a patch, which must be an object. Numbers keep their text.
func newMergePatch(data []byte) (mergePatch, error) {
	var patch map[string]any
	if err := decodeTree(data, &patch); err != nil || patch == nil {
		return nil, apierrors.NewBadRequest("Invalid JSON Patch")
	}
	return patch, nil
}

func (p mergePatch) apply(object []byte) ([]byte, error) {
	var tree map[string]any
	if err := decodeTree(object, &tree); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	mergeInto(tree, p)
	return json.Marshal(tree)
}

func (mergePatch) shown(object []byte) string { return string(object) }

func decodeTree(data []byte, into *map[string]any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// mergeInto changes object, never patch.
func mergeInto(object, patch map[string]any) {
	for key, wanted := range patch {
		if wanted == nil {
			delete(object, key)
			continue
		}
		inner, isObject := object[key].(map[string]any)
		more, wantsObject := wanted.(map[string]any)
		switch {
		case isObject && wantsObject:
			mergeInto(inner, more)
		case isObject:
			object[key] = wanted
		default:
			object[key] = withoutNulls(wanted)
		}
	}
}

// withoutNulls is a copy of a value without the members that a patch would delete: there is nothing to delete where the
// value is new. Objects in arrays lose theirs too, as kube-apiserver has it.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, member := range value {
			if member != nil {
				out[key] = withoutNulls(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, member := range value {
			out[i] = withoutNulls(member)
		}
		return out
	}
	return value
}
