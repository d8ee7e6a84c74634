package codec

import (
	"fmt"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxFaults and maxFaultText bound the number and the bytes of the faults in an error: a body can have hundreds of
// thousands, and joining their texts takes quadratic time.
const (
	maxFaults    = 1000
	maxFaultText = 1 << 20
)

// Invalid returns the error for the faults of an object, without duplicates; nil where there are none.
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
