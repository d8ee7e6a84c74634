package patch

import (
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	kjson "sigs.k8s.io/json"
)

// Strategic is a strategic merge patch. The struct tags of the version's Go type say how lists merge.
type Strategic struct {
	data  []byte
	rules Rules
}

// NewStrategic decodes a strategic merge patch. rules say how lists merge; lax ignores unknown and duplicate fields.
func NewStrategic(data []byte, rules Rules, lax bool) (Patch, []error, error) {
	strict, err := decode(data, new(map[string]any), lax)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return &Strategic{data: data, rules: rules}, strict, nil
}

// Apply implements Patch.
func (p *Strategic) Apply(object []byte) ([]byte, error) {
	return safely(func() ([]byte, error) {
		var original, patch map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(object, &original); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(p.data, &patch); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if err := boundLists(original, patch); err != nil {
			return nil, err
		}
		merged, err := mergeObject(original, patch, p.rules)
		if err != nil {
			return nil, strategicError(err)
		}
		return json.Marshal(merged)
	})
}

// Describe implements Patch: an error shows the patch, as Go prints it.
func (p *Strategic) Describe([]byte) string {
	var patch map[string]any
	_ = kjson.UnmarshalCaseSensitivePreserveInts(p.data, &patch) // it was read before
	return fmt.Sprintf("%+v", patch)
}

// strategicError returns 422 for a patch that contradicts itself, and 400 for all other errors.
func strategicError(err error) error {
	if errors.Is(err, mergepatch.ErrNoListOfLists) || errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys) ||
		errors.Is(err, errUnmergeable) {
		return unprocessable(err)
	}
	return apierrors.NewBadRequest(err.Error())
}

// maxListWork bounds what merging lists may cost. objectWork is how much more
// objects cost than other values.
const (
	maxListWork = 400_000_000
	objectWork  = 32
)

// boundLists refuses a patch whose lists are too long to be merged.
func boundLists(original, patch any) error {
	longest, work := 0, 0
	lists(original, func(list []any) { longest = max(longest, len(list)) })
	lists(patch, func(list []any) {
		cost := len(list) * (len(list) + longest)
		if _, objects := list[0].(map[string]any); objects {
			cost *= objectWork
		}
		work += cost
	})
	if work > maxListWork {
		return apierrors.NewRequestEntityTooLargeError(
			"the lists of the strategic merge patch are too long to be merged")
	}
	return nil
}

// lists visits all lists in a value that are not empty.
func lists(value any, visit func([]any)) {
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			lists(member, visit)
		}
	case []any:
		if len(value) > 0 {
			visit(value)
		}
		for _, item := range value {
			lists(item, visit)
		}
	}
}
