package codec

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxFaults and maxFaultText bound how many faults of an object are told, and in how many bytes: a body has room for
// hundreds of thousands, and joining their texts takes time that grows with their square.
const (
	maxFaults    = 1000
	maxFaultText = 1 << 20
)

// Invalid is the error for the faults of an object, nil where there are none. What several rules say in the same words
// is said once.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	said, size, more := map[string]bool{}, 0, 0
	var once field.ErrorList
	for _, e := range errs {
		if len(once) == maxFaults || size > maxFaultText {
			more++
			continue
		}
		if text := e.Error(); !said[text] {
			said[text], size = true, size+len(text)
			once = append(once, e)
		}
	}
	if len(once) == 0 {
		return nil
	}
	invalid := apierrors.NewInvalid(kind, name, once)
	if more > 0 {
		invalid.ErrStatus.Message += fmt.Sprintf(" (and %d more faults)", more)
	}
	return invalid
}
