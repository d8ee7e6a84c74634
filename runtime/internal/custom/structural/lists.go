package structural

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateLists reports items of sets that are there twice, and items of maps whose keys are.
func (s *Schema) ValidateLists(object map[string]any) field.ErrorList { return s.listsIn(nil, object) }

func (s *Schema) listsIn(path *field.Path, v any) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if s.Values != nil {
				errs = append(errs, s.Values.listsIn(path.Key(name), v[name])...)
			}
			if member, ok := s.Properties[name]; ok {
				errs = append(errs, member.listsIn(path.Child(name), v[name])...)
			}
		}
	case []any:
		switch s.ListType {
		case "set":
			for _, i := range repeated(v) {
				errs = append(errs, field.Duplicate(path.Index(i), v[i]))
			}
		case "map":
			errs = append(errs, s.repeatedKeys(path, v)...)
		}
		for i := range v {
			errs = append(errs, s.Items.listsIn(path.Index(i), v[i])...)
		}
	}
	return errs
}

// repeated returns the indices of the second of equal values.
func repeated(values []any) (indices []int) {
	times := make(map[any]int, len(values))
	for i, v := range values {
		key := v
		switch v.(type) {
		case map[string]any, []any:
			data, err := json.Marshal(v)
			if err != nil {
				continue // decoded JSON can be encoded
			}
			key = compound(data)
		}
		if times[key]++; times[key] == 2 {
			indices = append(indices, i)
		}
	}
	return indices
}

// compound is the JSON of an object or a list, which is not a string.
type compound string

func (s *Schema) repeatedKeys(path *field.Path, items []any) (errs field.ErrorList) {
	keys := make([]any, len(items))
	for i, item := range items {
		members, ok := item.(map[string]any)
		if item != nil && !ok {
			return field.ErrorList{
				field.Invalid(path.Index(i), item, "must be an object for an array of list-type map"),
			}
		}
		key := map[string]any{}
		for _, name := range s.Keys {
			if value, ok := members[name]; ok {
				key[name] = value
			}
		}
		keys[i] = key
	}
	for _, i := range repeated(keys) {
		errs = append(errs, field.Duplicate(path.Index(i), keys[i]))
	}
	return errs
}
