package ownership

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Merge returns an object with the fields of an apply configuration, which are merged as Apply merges them. Nobody
// comes to own them. A configuration that sets an atomic list, map or struct is an error, since what it leaves out
// there would be lost: kube-apiserver's rule for admission policies. It changes neither.
func (t *Type) Merge(object, config map[string]any) (map[string]any, error) {
	patch, err := t.ObjectToTyped(&unstructured.Unstructured{Object: config})
	if err != nil {
		return nil, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	if found := atomics(nil, patch.Schema(), patch.TypeRef(), patch.AsValue()); len(found) > 0 {
		return nil, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %v",
			strings.Join(found, ", "))
	}
	live, err := t.ObjectToTyped(&unstructured.Unstructured{Object: object}, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("failed to convert original object to typed object: %w", err)
	}
	merged, err := live.Merge(patch)
	if err != nil {
		return nil, fmt.Errorf("failed to merge patch: %w", err)
	}
	content, ok := merged.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("failed to convert typed object to object: it is %T", merged.AsValue().Unstructured())
	}
	return content, nil
}

// atomics returns the paths of the atomic values in v.
func atomics(path fieldpath.Path, s *schema.Schema, ref schema.TypeRef, v value.Value) (found []string) {
	atom, ok := s.Resolve(ref)
	if !ok {
		return nil
	}
	if v.IsMap() && atom.Map != nil {
		if atom.Map.ElementRelationship == schema.Atomic {
			found = append(found, path.String())
		}
		v.AsMap().Iterate(func(key string, member value.Value) bool {
			of := atom.Map.ElementType
			if known, ok := atom.Map.FindField(key); ok {
				of = known.Type
			}
			found = append(found, atomics(append(path, fieldpath.PathElement{FieldName: &key}), s, of, member)...)
			return true
		})
	}
	if v.IsList() && atom.List != nil {
		if atom.List.ElementRelationship == schema.Atomic {
			found = append(found, path.String())
		}
		list := v.AsList()
		for i := range list.Length() {
			at := append(path, fieldpath.PathElement{Index: &i})
			found = append(found, atomics(at, s, atom.List.ElementType, list.At(i))...)
		}
	}
	return found
}
