package v1

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// tolerated are the faults of a stored definition that an update may keep, or make again: servers once accepted them.
type tolerated struct {
	// schema reports whether a version lacks its schema, structure that one isn't structural.
	schema, structure bool
	// types are types of no value; sets have items that aren't atomic; absences are keys that items may lack, and items
	// that may be null.
	types, sets, absences bool
	// reviews reports whether the webhook accepts no version of ConversionReview that the server knows.
	reviews bool
}

// toleratedIn returns the faults of a stored definition; nil has none.
func toleratedIn(old *definition) (t tolerated) {
	if old == nil {
		return t
	}
	for i := range old.Spec.Versions {
		s := old.Spec.Versions[i].Schema
		if s == nil || s.OpenAPIV3Schema == nil {
			t.schema = true
			continue
		}
		t.structure = t.structure || len(StructuralFaults(s.OpenAPIV3Schema, nil)) > 0
		t.look(s.OpenAPIV3Schema)
	}
	if c := old.Spec.Conversion; c != nil && c.Webhook != nil {
		versions := c.Webhook.ConversionReviewVersions
		t.reviews = len(versions) > 0 && !slices.ContainsFunc(versions, isKnownReview)
	}
	return t
}

// look notes the faults of a schema and of those below.
func (t *tolerated) look(s *props) { eachSchema(s, t.lookAt) }

func (t *tolerated) lookAt(s *props) {
	t.types = t.types || s.Type != "" && !slices.Contains(types, s.Type)
	t.sets = t.sets || isSet(s) && len(setFaults(s.Items.Schema, nil)) > 0
	t.absences = t.absences || len(absenceFaults(s, nil)) > 0
}

// eachSchema calls visit with a schema and with those below.
func eachSchema(s *props, visit func(*props)) {
	visit(s)
	for _, member := range s.Properties {
		eachSchema(&member, visit)
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		eachSchema(a.Schema, visit)
	}
	if s.Items != nil && s.Items.Schema != nil {
		eachSchema(s.Items.Schema, visit)
	}
	if s.Not != nil {
		eachSchema(s.Not, visit)
	}
	for _, of := range [][]props{s.AllOf, s.OneOf, s.AnyOf} {
		for i := range of {
			eachSchema(&of[i], visit)
		}
	}
}

// hasDefaults reports whether a version has a schema with a default.
func hasDefaults(spec *apiextensionsv1.CustomResourceDefinitionSpec) (found bool) {
	for i := range spec.Versions {
		if s := spec.Versions[i].Schema; s != nil && s.OpenAPIV3Schema != nil {
			eachSchema(s.OpenAPIV3Schema, func(s *props) { found = found || s.Default != nil })
		}
	}
	return found
}

func isKnownReview(version string) bool { return version == "v1" || version == "v1beta1" }

// keepsFields reports whether a version has the selectable fields that it has in a stored definition.
func keepsFields(v *apiextensionsv1.CustomResourceDefinitionVersion, old *definition) bool {
	return old != nil && slices.ContainsFunc(old.Spec.Versions, func(
		o apiextensionsv1.CustomResourceDefinitionVersion,
	) bool {
		return o.Name == v.Name && equality.Semantic.DeepEqual(o.SelectableFields, v.SelectableFields)
	})
}
