package v1

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// isSet reports whether a schema is that of a set whose items have one schema.
func isSet(s *props) bool {
	return textOf(s.XListType) == "set" && s.Type == "array" && s.Items != nil && s.Items.Schema != nil
}

// setFaults judges the items of a set.
func setFaults(items *props, path *field.Path) field.ErrorList {
	const detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
	switch list := textOf(items.XListType); {
	case items.Type == "array" && list != "" && list != "atomic":
		return field.ErrorList{field.Invalid(path.Child("x-kubernetes-list-type"), items.XListType, detail)}
	case items.Type == "object" && textOf(items.XMapType) != "atomic":
		return field.ErrorList{field.Invalid(path.Child("x-kubernetes-map-type"), items.XListType, detail)}
	}
	return nil
}

// mapFaults judges a list of type map.
func mapFaults(s *props, path *field.Path) (errs field.ErrorList) {
	keys := path.Child("x-kubernetes-list-map-keys")
	if len(s.XListMapKeys) == 0 {
		errs = append(errs, field.Required(keys, "must not be empty if x-kubernetes-list-type is map"))
	}
	if s.Items == nil {
		return append(errs, field.Required(path.Child("items"),
			"must have a schema if x-kubernetes-list-type is map"))
	}
	items, at := s.Items.Schema, path.Child("items")
	switch {
	case items == nil:
		return append(errs, field.Invalid(at, s.Items,
			"must only have a single schema if x-kubernetes-list-type is map"))
	case items.Type != "object":
		return append(errs, field.Invalid(at.Child("type"), items.Type,
			"must be object if parent array's x-kubernetes-list-type is map"))
	}
	for i, key := range s.XListMapKeys {
		member, ok := items.Properties[key]
		property := at.Child("properties").Key(key)
		switch {
		case !ok:
			errs = append(errs, field.Invalid(keys, s.XListMapKeys, "entries must all be names of item properties"))
		case member.Type == "array" || member.Type == "object":
			errs = append(errs, field.Invalid(property.Child("type"), items.Type,
				"must be a scalar type if parent array's x-kubernetes-list-type is map"))
		}
		if slices.Contains(s.XListMapKeys[:i], key) {
			errs = append(errs, field.Invalid(keys, s.XListMapKeys, "must not contain duplicate entries"))
		}
	}
	return errs
}

// absenceFaults judges the keys of a list of type map, which an item must have, and the items of a map or a set, which
// must not be null.
func absenceFaults(s *props, path *field.Path) (errs field.ErrorList) {
	list := textOf(s.XListType)
	if list != "map" && list != "set" || s.Items == nil || s.Items.Schema == nil {
		return nil
	}
	items, at := s.Items.Schema, path.Child("items")
	for _, key := range s.XListMapKeys {
		member, ok := items.Properties[key]
		if !ok || list != "map" || items.Type != "object" {
			continue
		}
		property := at.Child("properties").Key(key)
		if !slices.Contains(items.Required, key) && member.Default == nil {
			errs = append(errs, field.Required(property.Child("default"), "this property is in "+
				"x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
		if member.Nullable {
			errs = append(errs, field.Forbidden(property.Child("nullable"),
				"this property is in x-kubernetes-list-map-keys, so it cannot be nullable"))
		}
	}
	if items.Nullable {
		errs = append(errs, field.Forbidden(at.Child("nullable"), "cannot be nullable when x-kubernetes-list-type is "+
			list))
	}
	return errs
}
