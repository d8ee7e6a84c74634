package metadata

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidatePath returns why the name of an object, or the prefix of one, doesn't fit into a URL.
func ValidatePath(obj metav1.Object, path *field.Path) (errs field.ErrorList) {
	for _, at := range []struct {
		field, name string
		generated   bool
	}{{"generateName", obj.GetGenerateName(), true}, {"name", obj.GetName(), false}} {
		for _, message := range FitsPath(at.name, at.generated) {
			errs = append(errs, field.Invalid(path.Child(at.field), at.name, message))
		}
	}
	return errs
}

// FitsPath returns why a name, or the prefix of one, doesn't fit into a URL.
func FitsPath(name string, generated bool) []string {
	if generated {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
