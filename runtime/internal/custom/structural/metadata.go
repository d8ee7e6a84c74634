package structural

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Coerce removes the unknown fields of metadata in the object and in embedded objects, and returns their paths. It
// fails where apiVersion, kind or metadata have another type than in every object; of a stored object, it removes what
// has another type.
func (s *Schema) Coerce(object map[string]any, stored bool) (unknown []string, err error) {
	c := coercion{stored: stored}
	if fault := c.value(nil, object, s); fault != nil {
		return nil, fault
	}
	slices.Sort(c.unknown)
	return c.unknown, nil
}

type coercion struct {
	stored  bool
	unknown []string
}

func (c *coercion) value(path *field.Path, v any, s *Schema) *field.Error {
	if s == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Embedded {
			if err := c.embedded(path, v); err != nil {
				return err
			}
		}
		if s.Properties == nil && s.Values == nil {
			return nil
		}
		for _, name := range sortedKeys(v) {
			below, ok := path.Child(name), true
			member := s.Properties[name]
			if member == nil {
				below, member, ok = path.Key(name), s.Values, s.Open
			}
			if ok {
				if err := c.value(below, v[name], member); err != nil {
					return err
				}
			}
		}
	case []any:
		for i, item := range v {
			if err := c.value(path.Index(i), item, s.Items); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *coercion) embedded(path *field.Path, object map[string]any) *field.Error {
	for _, name := range []string{"apiVersion", "kind"} {
		value, found := object[name]
		if _, isText := value.(string); !found || isText {
			continue
		}
		if !c.stored {
			return field.Invalid(path.Child(name), value, "must be a string")
		}
		delete(object, name)
	}
	value, found := object["metadata"]
	if !found {
		return nil
	}
	meta, unknown, err := coerceMetadata(value, c.stored)
	if err != nil && c.stored {
		return nil // it stays, and the object can be read
	}
	if err != nil {
		return field.Invalid(path.Child("metadata"), value, err.Error())
	}
	for _, name := range unknown {
		c.unknown = append(c.unknown, path.Child("metadata").String()+"."+name)
	}
	object["metadata"] = meta
	return nil
}

// coerceMetadata returns metadata without its unknown fields, and the paths of these.
func coerceMetadata(value any, stored bool) (map[string]any, []string, error) {
	if members, ok := value.(map[string]any); ok && isUsual(members) {
		return members, nil, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, nil, err
	}
	var meta metav1.ObjectMeta
	var unknown []string
	strict, err := kjson.UnmarshalStrict(data, &meta)
	for _, fault := range strict {
		var f kjson.FieldError
		if errors.As(fault, &f) {
			unknown = append(unknown, f.FieldPath())
		}
	}
	if members, ok := value.(map[string]any); err != nil && stored && ok {
		meta, err = readable(members), nil
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&meta)
	if err != nil {
		return nil, nil, fmt.Errorf("metadata: %w", err)
	}
	if meta.CreationTimestamp.IsZero() {
		delete(out, "creationTimestamp")
	}
	return out, unknown, nil
}

// isUsual reports whether metadata has only members that it would have after a round trip through ObjectMeta, which
// costs more than the rest of a write.
func isUsual(members map[string]any) bool {
	for name, value := range members {
		usual := false
		switch name {
		case "name", "generateName", "namespace", "uid", "resourceVersion":
			usual = isText(value)
		case "generation":
			n, ok := value.(int64)
			usual = ok && n != 0
		case "creationTimestamp", "deletionTimestamp":
			usual = isTime(value)
		case "labels", "annotations":
			texts, ok := value.(map[string]any)
			usual = ok && len(texts) > 0
			for _, text := range texts {
				_, ok := text.(string)
				usual = usual && ok
			}
		case "finalizers":
			usual = eachItem(value, func(item any) bool { _, ok := item.(string); return ok })
		case "ownerReferences":
			usual = eachItem(value, isUsualOwner)
		case "managedFields":
			usual = eachItem(value, isUsualEntry)
		}
		if !usual {
			return false
		}
	}
	return true
}

func isText(value any) bool {
	text, ok := value.(string)
	return ok && text != ""
}

// isTime reports whether a value is a time as the server writes it.
func isTime(value any) bool {
	text, ok := value.(string)
	t, err := time.Parse(time.RFC3339, text)
	return ok && err == nil && strings.HasSuffix(text, "Z") && t.Nanosecond() == 0 && t.Year() >= 1970
}

func eachItem(value any, is func(item any) bool) bool {
	items, ok := value.([]any)
	if !ok || len(items) == 0 {
		return false
	}
	for _, item := range items {
		if !is(item) {
			return false
		}
	}
	return true
}

func isUsualOwner(item any) bool {
	members, ok := item.(map[string]any)
	for _, name := range []string{"apiVersion", "kind", "name", "uid"} {
		_, there := members[name].(string)
		ok = ok && there
	}
	for name, value := range members {
		switch name {
		case "apiVersion", "kind", "name", "uid":
		case "controller", "blockOwnerDeletion":
			_, isBool := value.(bool)
			ok = ok && isBool
		default:
			return false
		}
	}
	return ok
}

func isUsualEntry(item any) bool {
	members, ok := item.(map[string]any)
	for name, value := range members {
		switch name {
		case "manager", "operation", "apiVersion", "fieldsType", "subresource":
			ok = ok && isText(value)
		case "time":
			ok = ok && isTime(value)
		case "fieldsV1":
			_, isMap := value.(map[string]any)
			ok = ok && isMap
		default:
			return false
		}
	}
	return ok
}

// readable reads the members that can be read.
func readable(members map[string]any) (meta metav1.ObjectMeta) {
	for _, name := range sortedKeys(members) {
		data, err := json.Marshal(map[string]any{name: members[name]})
		var try metav1.ObjectMeta
		if err == nil && kjson.UnmarshalCaseSensitivePreserveInts(data, &try) == nil {
			_ = kjson.UnmarshalCaseSensitivePreserveInts(data, &meta) // it was read once
		}
	}
	return meta
}

// ValidateEmbedded checks apiVersion, kind and metadata of embedded objects, and not those of the object itself.
func (s *Schema) ValidateEmbedded(object map[string]any) field.ErrorList {
	root := *s
	root.Embedded = false
	return root.embeddedIn(nil, object)
}

func (s *Schema) embeddedIn(path *field.Path, v any) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Embedded {
			errs = validateEmbedded(path, v)
		}
		if s.Properties == nil && s.Values == nil {
			return errs
		}
		for _, name := range sortedKeys(v) {
			if member, ok := s.Properties[name]; ok {
				errs = append(errs, member.embeddedIn(path.Child(name), v[name])...)
			} else if s.Open {
				errs = append(errs, s.Values.embeddedIn(path.Key(name), v[name])...)
			}
		}
	case []any:
		for i := range v {
			errs = append(errs, s.Items.embeddedIn(path.Index(i), v[i])...)
		}
	}
	return errs
}

func validateEmbedded(path *field.Path, object map[string]any) (errs field.ErrorList) {
	for _, name := range []string{"apiVersion", "kind"} {
		at := path.Child(name)
		value, found := object[name]
		text, isText := value.(string)
		switch {
		case !found:
			errs = append(errs, field.Required(at, ""))
		case !isText:
			errs = append(errs, field.Invalid(at, value, "must be a string"))
		case text == "":
			errs = append(errs, field.Invalid(at, text, "must not be empty"))
		case name == "apiVersion":
			if _, err := schema.ParseGroupVersion(text); err != nil {
				errs = append(errs, field.Invalid(at, text, err.Error()))
			}
		default:
			if faults := validation.IsDNS1035Label(strings.ToLower(text)); len(faults) > 0 {
				errs = append(errs, field.Invalid(at, text, "may have mixed case, but should otherwise match: "+
					strings.Join(faults, ",")))
			}
		}
	}
	value, found := object["metadata"]
	if !found {
		return errs
	}
	var meta metav1.ObjectMeta
	data, err := json.Marshal(value)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &meta)
	}
	if err != nil {
		return append(errs, field.Invalid(path.Child("metadata"), value, err.Error()))
	}
	if meta.Name == "" {
		meta.Name = "fakename" // an embedded object needs no name
	}
	return append(errs, apivalidation.ValidateObjectMeta(&meta, meta.Namespace != "", isSegment,
		path.Child("metadata"))...)
}

func isSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
