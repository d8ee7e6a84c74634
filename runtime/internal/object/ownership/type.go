package ownership

import (
	"reflect"
	"slices"
	"sync"

	"apigen.dev/runtime/internal/object/omission"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Type makes typed values of the objects of a kind. It is safe for concurrent use.
type Type struct {
	parseable typed.ParseableType
	// misread holds, by Go type, whether it is misread. A type is looked at once.
	misread sync.Map
	// form says what the JSON of Go values has.
	form *omission.Form
}

// Omit makes t leave out of Go values what their form in JSON lacks. It must be called before other methods.
func (t *Type) Omit(form *omission.Form) { t.form = form }

// ObjectToTyped returns the typed value of an object: a Go struct or an Unstructured. It is an error that names fields
// which the schema doesn't have. With AllowDuplicates, a Go struct of the schema isn't validated. The value shares
// memory with obj, which forgets the zero values that it remembered: the value has them.
func (t *Type) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return t.parseable.FromUnstructured(u.Object, options...)
	}
	if t.isMisread(reflect.TypeOf(obj)) {
		content, err := t.written(obj)
		if err != nil {
			return nil, err
		}
		return t.parseable.FromUnstructured(content, options...)
	}
	v, err := value.NewValueReflect(obj)
	if err != nil {
		return nil, err
	}
	if meta, ok := obj.(metav1.Object); ok {
		of := &goValue{of: reflect.ValueOf(obj).Elem(), sent: t.form.Remembered(meta)}
		of.Value = t.form.Value(meta, v)
		v = of
	}
	if slices.Contains(options, typed.AllowDuplicates) {
		// The schema was made of the Go type, and what compares and merges values checks the keys of their items. A
		// validation would walk through the whole object for each write, also through lists that are atomic.
		//nolint:staticcheck // it is deprecated since validation costs little, which it doesn't for Go structs
		return typed.AsTypedUnvalidated(v, t.parseable.Schema, t.parseable.TypeRef), nil
	}
	return typed.AsTyped(v, t.parseable.Schema, t.parseable.TypeRef, options...)
}

func (t *Type) isMisread(of reflect.Type) bool {
	if known, ok := t.misread.Load(of); ok {
		return known.(bool)
	}
	found := isMisread(of, map[any]bool{})
	t.misread.Store(of, found)
	return found
}

// written returns an object as clients read it.
func (t *Type) written(obj runtime.Object) (content map[string]any, err error) {
	data, err := t.form.JSON(obj)
	if err != nil {
		return nil, err
	}
	return content, kjson.UnmarshalCaseSensitivePreserveInts(data, &content)
}
