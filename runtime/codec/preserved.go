package codec

import (
	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
