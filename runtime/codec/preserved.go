package codec

import (
	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidatePreserved checks an object that carries fields of the hub in an annotation, which a client can write as it
// likes: by the rules of the storage version, which has these fields. It checks nothing where obj has no such
// annotation. Stored converts to the storage version; validate gets what becomes of obj and of old, which is nil where
// old is.
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
