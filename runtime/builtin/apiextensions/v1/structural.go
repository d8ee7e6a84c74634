package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// level is where a schema stands.
type level int

const (
	atRoot level = iota
	inList
	inObject
)

// StructuralFaults says why a schema isn't structural, sorted; nothing if it is. The rules are in Kubernetes'
// documentation of custom resource definitions, under "Specifying a structural schema".
func StructuralFaults(s *props, path *field.Path) field.ErrorList {
	errs := append(structureFaults(s, atRoot, path), completenessFaults(s, path)...)
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

func structureFaults(s *props, lvl level, path *field.Path) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	add := func(e ...*field.Error) { errs = append(errs, e...) }
	if s.Type == "array" && (s.Items == nil || s.Items.Schema == nil) {
		add(field.Required(path.Child("items"), "must be specified"))
	}
	if s.Items != nil {
		add(structureFaults(s.Items.Schema, inList, path.Child("items"))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		add(structureFaults(&member, inObject, path.Child("properties").Key(name))...)
	}
	values := path.Child("additionalProperties")
	if a := s.AdditionalProperties; a != nil {
		if lvl == atRoot {
			add(field.Forbidden(values, "must not be used at the root"))
		}
		add(structureFaults(a.Schema, inObject, values)...)
	}
	preserve := s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
	if s.XIntOrString && preserve {
		add(field.Invalid(path.Child("x-kubernetes-preserve-unknown-fields"), true,
			"must be false if x-kubernetes-int-or-string is true"))
	}
	if s.XIntOrString && s.XEmbeddedResource {
		add(field.Invalid(path.Child("x-kubernetes-embedded-resource"), true,
			"must be false if x-kubernetes-int-or-string is true"))
	}
	add(junctorFaults(s, lvl, path, true)...)
	add(typeFaults(s, lvl, path, preserve)...)
	if s.XEmbeddedResource && s.AdditionalProperties != nil {
		add(field.Forbidden(values, "must not be used if x-kubernetes-embedded-resource is set"))
	}
	add(metadataFaults(s, lvl, path)...)
	if s.XEmbeddedResource && !preserve && len(s.Properties) == 0 {
		add(field.Required(path.Child("properties"), "must not be empty if x-kubernetes-embedded-resource is true "+
			"without x-kubernetes-preserve-unknown-fields"))
	}
	return errs
}

func typeFaults(s *props, lvl level, path *field.Path, preserve bool) (errs field.ErrorList) {
	at := path.Child("type")
	switch {
	case s.XEmbeddedResource && s.Type != "object":
		const detail = "must be object if x-kubernetes-embedded-resource is true"
		if s.Type == "" {
			errs = append(errs, field.Required(at, detail))
		} else {
			errs = append(errs, field.Invalid(at, s.Type, detail))
		}
	case s.Type == "" && !s.XIntOrString && !preserve:
		where := [...]string{"at the root", "for specified array items", "for specified object fields"}
		errs = append(errs, field.Required(at, "must not be empty "+where[lvl]))
	}
	if lvl == atRoot && s.Type != "" && s.Type != "object" {
		errs = append(errs, field.Invalid(at, s.Type, "must be object at the root"))
	}
	return errs
}

// metadataFaults refuses schemas of apiVersion, kind and metadata that say more than that the name is restricted.
func metadataFaults(s *props, lvl level, path *field.Path) (errs field.ErrorList) {
	judged := lvl == atRoot || s.XEmbeddedResource
	for _, name := range []string{"kind", "apiVersion"} {
		if member, ok := s.Properties[name]; ok && judged && member.Type != "string" {
			errs = append(errs, field.Invalid(path.Child("properties").Key(name).Child("type"), member.Type,
				"must be string"))
		}
	}
	metadata, ok := s.Properties["metadata"]
	if !ok {
		return errs
	}
	at := path.Child("properties").Key("metadata")
	if judged && metadata.Type != "object" {
		errs = append(errs, field.Invalid(at.Child("type"), metadata.Type, "must be object"))
	}
	if lvl != atRoot {
		return errs
	}
	names := true
	for name := range metadata.Properties {
		names = names && (name == "name" || name == "generateName")
	}
	rest := metadata
	rest.Type, rest.Default = "", nil
	if names {
		rest.Properties = nil
	}
	if encoded, err := json.Marshal(rest); err != nil || string(encoded) != "{}" {
		errs = append(errs, field.Forbidden(at, "must not specify anything other than name and generateName, but "+
			"metadata is implicitly specified"))
	}
	return errs
}

// isIntOrString reports whether schemas are those that an int-or-string may have: type integer, and type string.
func isIntOrString(schemas []props) bool {
	data, err := json.Marshal(schemas)
	return err == nil && string(data) == `[{"type":"integer"},{"type":"string"}]`
}

// junctorFaults judges a schema's pattern, and what stands in anyOf, allOf, oneOf and not. The first two may have the
// types of an int-or-string.
func junctorFaults(s *props, lvl level, path *field.Path, outer bool) (errs field.ErrorList) {
	if !outer || !isIntOrString(s.AnyOf) {
		for i := range s.AnyOf {
			errs = append(errs, nestedFaults(&s.AnyOf[i], false, lvl, path.Child("anyOf").Index(i))...)
		}
	}
	for i := range s.AllOf {
		skip := outer && i == 0 && isIntOrString(s.AllOf[0].AnyOf)
		errs = append(errs, nestedFaults(&s.AllOf[i], skip, lvl, path.Child("allOf").Index(i))...)
	}
	for i := range s.OneOf {
		errs = append(errs, nestedFaults(&s.OneOf[i], false, lvl, path.Child("oneOf").Index(i))...)
	}
	errs = append(errs, nestedFaults(s.Not, false, lvl, path.Child("not"))...)
	if s.Pattern != "" {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			errs = append(errs, field.Invalid(path.Child("pattern"), s.Pattern,
				fmt.Sprintf("must be a valid regular expression, but isn't: %v", err)))
		}
	}
	return errs
}

// nestedFaults judges a schema in a junctor, which may restrict values and no more.
func nestedFaults(s *props, skipAnyOf bool, lvl level, path *field.Path) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	judged := *s
	if skipAnyOf {
		judged.AnyOf = nil
	}
	errs = junctorFaults(&judged, lvl, path, false)
	if s.Items != nil {
		errs = append(errs, nestedFaults(s.Items.Schema, false, lvl, path.Child("items"))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		errs = append(errs, nestedFaults(&member, false, inObject, path.Child("properties").Key(name))...)
	}
	forbid := func(name string, there bool, detail string) {
		if there {
			errs = append(errs, field.Forbidden(path.Child(name), "must be "+detail+" to be structural"))
		}
	}
	forbid("type", s.Type != "", "empty")
	forbid("additionalProperties", s.AdditionalProperties != nil && (s.AdditionalProperties.Allows ||
		s.AdditionalProperties.Schema != nil), "undefined")
	forbid("default", s.Default != nil, "undefined")
	forbid("title", s.Title != "", "empty")
	forbid("description", s.Description != "", "empty")
	forbid("nullable", s.Nullable, "false")
	forbid("x-kubernetes-preserve-unknown-fields", s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields,
		"false")
	forbid("x-kubernetes-embedded-resource", s.XEmbeddedResource, "false")
	forbid("x-kubernetes-int-or-string", s.XIntOrString, "false")
	forbid("x-kubernetes-list-map-keys", len(s.XListMapKeys) > 0, "empty")
	forbid("x-kubernetes-list-type", s.XListType != nil, "undefined")
	forbid("x-kubernetes-map-type", s.XMapType != nil, "undefined")
	forbid("x-kubernetes-validations", len(s.XValidations) > 0, "empty")
	if _, ok := s.Properties["metadata"]; ok {
		errs = append(errs, field.Forbidden(path.Child("properties").Key("metadata"),
			"must not be specified in a nested context"))
	}
	return errs
}

// completenessFaults refuses junctors with fields that the schema itself doesn't have.
func completenessFaults(s *props, path *field.Path) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	for _, of := range junctors(s, path) {
		errs = append(errs, missingIn(s, of.schema, path, of.path)...)
	}
	if s.Items != nil {
		errs = append(errs, completenessFaults(s.Items.Schema, path.Child("items"))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		errs = append(errs, completenessFaults(&member, path.Child("properties").Key(name))...)
	}
	if a := s.AdditionalProperties; a != nil {
		errs = append(errs, completenessFaults(a.Schema, path.Child("additionalProperties"))...)
	}
	return errs
}

// nested is a schema in a junctor.
type nested struct {
	schema *props
	path   *field.Path
}

func junctors(s *props, path *field.Path) (all []nested) {
	for _, of := range []struct {
		name    string
		schemas []apiextensionsv1.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"anyOf", s.AnyOf}, {"oneOf", s.OneOf}} {
		for i := range of.schemas {
			all = append(all, nested{&of.schemas[i], path.Child(of.name).Index(i)})
		}
	}
	if s.Not != nil {
		all = append(all, nested{s.Not, path.Child("not")})
	}
	return all
}

// missingIn reports the fields and items of a junctor that the schema around it, at path, doesn't have.
func missingIn(s, junctor *props, path, at *field.Path) (errs field.ErrorList) {
	for _, of := range junctors(junctor, at) {
		errs = append(errs, missingIn(s, of.schema, path, of.path)...)
	}
	if junctor.Items != nil && junctor.Items.Schema != nil {
		if s.Items == nil || s.Items.Schema == nil {
			errs = append(errs, field.Required(path.Child("items"), fmt.Sprintf("because it is defined in %s",
				at.Child("items"))))
		} else {
			errs = append(errs, missingIn(s.Items.Schema, junctor.Items.Schema, path.Child("items"),
				at.Child("items"))...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(junctor.Properties)) {
		below := junctor.Properties[name]
		inside := at.Child("properties").Key(name)
		member, ok := s.Properties[name]
		if !ok {
			errs = append(errs, field.Required(path.Child("properties").Key(name),
				fmt.Sprintf("because it is defined in %s", inside)))
			continue
		}
		errs = append(errs, missingIn(&member, &below, path.Child("properties").Key(name), inside)...)
	}
	return errs
}
