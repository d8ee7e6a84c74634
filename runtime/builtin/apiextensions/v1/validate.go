package v1

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var specPath = field.NewPath("spec")

// maxSelectableFields is how many selectable fields a version may have.
const maxSelectableFields = 8

// ValidateObject_CustomResourceDefinition returns kube-apiserver's errors for a new definition.
func ValidateObject_CustomResourceDefinition(_ context.Context, crd *definition) field.ErrorList {
	if crd.ResourceVersion != "" {
		return nil // ValidateUpdate judges it
	}
	var errs field.ErrorList
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != "" && crd.Name != want {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), crd.Name,
			`must be spec.names.plural+"."+spec.group`))
	}
	errs = append(errs, validateSpec(&crd.Spec, nil)...)
	errs = append(errs, validateStatus(crd)...)
	errs = append(errs, validateApproval(crd, nil)...)
	if crd.Spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(specPath.Child("preserveUnknownFields"), true,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

// ValidateUpdate_CustomResourceDefinition returns kube-apiserver's errors for a changed definition.
func ValidateUpdate_CustomResourceDefinition(_ context.Context, crd, old *definition) field.ErrorList {
	spec, before := &crd.Spec, &old.Spec
	errs := validateSpec(spec, old)
	immutable := func(now, was any, path ...string) {
		errs = append(errs, apivalidation.ValidateImmutableField(now, was, specPath.Child(path[0], path[1:]...))...)
	}
	if IsTrue(old, apiextensionsv1.Established) {
		immutable(spec.Scope, before.Scope, "scope")
		immutable(spec.Names.Kind, before.Names.Kind, "names", "kind")
	}
	immutable(spec.Group, before.Group, "group")
	immutable(spec.Names.Plural, before.Names.Plural, "names", "plural")
	errs = append(errs, validateStatus(crd)...)
	errs = append(errs, validateApproval(crd, old)...)
	if spec.PreserveUnknownFields && !before.PreserveUnknownFields {
		errs = append(errs, field.Invalid(specPath.Child("preserveUnknownFields"), true,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

func validateSpec(spec *apiextensionsv1.CustomResourceDefinitionSpec, old *definition) (errs field.ErrorList) {
	before := toleratedIn(old)
	add := func(more ...*field.Error) { errs = append(errs, more...) }
	switch group := specPath.Child("group"); {
	case spec.Group == "":
		add(field.Required(group, ""))
	case len(validation.IsDNS1123Subdomain(spec.Group)) > 0:
		add(field.Invalid(group, spec.Group, strings.Join(validation.IsDNS1123Subdomain(spec.Group), ",")))
	case !strings.Contains(spec.Group, "."):
		add(field.Invalid(group, spec.Group, "should be a domain with at least one dot"))
	}
	add(oneOf(specPath.Child("scope"), string(spec.Scope), string(apiextensionsv1.ClusterScoped),
		string(apiextensionsv1.NamespaceScoped))...)
	versions := specPath.Child("versions")
	stored := 0
	seen := map[string]bool{}
	for i := range spec.Versions {
		v := &spec.Versions[i]
		if !before.schema && (v.Schema == nil || v.Schema.OpenAPIV3Schema == nil) {
			add(field.Required(versions.Index(i).Child("schema", "openAPIV3Schema"), ""))
		}
		if v.Storage {
			stored++
		}
		seen[v.Name] = true
	}
	sharesSchema := isShared(spec.Versions, func(v *apiextensionsv1.CustomResourceDefinitionVersion) (any, bool) {
		return v.Schema, v.Schema != nil
	})
	for i := range spec.Versions {
		v := &spec.Versions[i]
		if faults := validation.IsDNS1035Label(v.Name); len(faults) > 0 {
			add(field.Invalid(versions.Index(i).Child("name"), v.Name, strings.Join(faults, ",")))
		}
		add(validateVersion(spec, i, old, before, sharesSchema)...)
	}
	if len(seen) < len(spec.Versions) {
		add(field.Invalid(versions, spec.Versions, "must contain unique version names"))
	}
	if stored != 1 {
		add(field.Invalid(versions, spec.Versions, "must have exactly one version marked as storage version"))
	}
	if spec.PreserveUnknownFields && hasDefaults(spec) {
		add(field.Invalid(specPath.Child("preserveUnknownFields"), true,
			"must be false in order to use defaults in the schema"))
	}
	names := specPath.Child("names")
	for _, n := range []struct{ name, value string }{
		{"plural", spec.Names.Plural}, {"singular", spec.Names.Singular}, {"kind", spec.Names.Kind},
		{"listKind", spec.Names.ListKind},
	} {
		if n.value == "" {
			add(field.Required(names.Child(n.name), ""))
		}
	}
	add(validateNames(&spec.Names, names)...)
	add(validateConversion(spec, old, before.reviews)...)
	return errs
}

func oneOf(path *field.Path, value string, accepted ...string) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, "")}
	case !slices.Contains(accepted, value):
		return field.ErrorList{field.NotSupported(path, value, accepted)}
	}
	return nil
}

func validateNames(names *apiextensionsv1.CustomResourceDefinitionNames, path *field.Path) (errs field.ErrorList) {
	label := func(at *field.Path, value string) {
		if faults := validation.IsDNS1035Label(value); value != "" && len(faults) > 0 {
			errs = append(errs, field.Invalid(at, value, strings.Join(faults, ",")))
		}
	}
	kind := func(at *field.Path, value string) {
		if faults := validation.IsDNS1035Label(strings.ToLower(value)); value != "" && len(faults) > 0 {
			errs = append(errs, field.Invalid(at, value, "may have mixed case, but should otherwise match: "+
				strings.Join(faults, ",")))
		}
	}
	label(path.Child("plural"), names.Plural)
	label(path.Child("singular"), names.Singular)
	kind(path.Child("kind"), names.Kind)
	kind(path.Child("listKind"), names.ListKind)
	for i, name := range names.ShortNames {
		label(path.Child("shortNames").Index(i), name)
	}
	if names.Kind != "" && names.Kind == names.ListKind {
		errs = append(errs, field.Invalid(path.Child("listKind"), names.ListKind,
			"kind and listKind may not be the same"))
	}
	for i, name := range names.Categories {
		label(path.Child("categories").Index(i), name)
	}
	return errs
}

func validateStatus(crd *definition) field.ErrorList {
	status := field.NewPath("status")
	errs := validateNames(&crd.Status.AcceptedNames, status.Child("acceptedNames"))
	path, stored := status.Child("storedVersions"), crd.Status.StoredVersions
	if len(stored) == 0 {
		return append(errs, field.Invalid(path, stored, "must have at least one stored version"))
	}
	known := map[string]bool{}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		known[v.Name] = true
		if v.Storage && !slices.Contains(stored, v.Name) {
			errs = append(errs, field.Invalid(path, stored, "must have the storage version "+v.Name))
		}
	}
	for i, name := range stored {
		if !known[name] {
			errs = append(errs, field.Invalid(path.Index(i), name, fmt.Sprintf("missing from spec.versions; %[1]s was "+
				"previously a storage version, and must remain in spec.versions until a storage migration ensures no "+
				"data remains persisted in %[1]s and removes %[1]s from status.storedVersions", name)))
		}
	}
	return errs
}

// isShared reports whether all versions have the same value of something that they all have. kube-apiserver then judges
// it once, under the path that it had in apiextensions.k8s.io/v1beta1.
func isShared[V any](
	versions []apiextensionsv1.CustomResourceDefinitionVersion,
	of func(*apiextensionsv1.CustomResourceDefinitionVersion) (V, bool),
) bool {
	for i := range versions {
		value, ok := of(&versions[i])
		first, _ := of(&versions[0])
		if !ok || i > 0 && !equality.Semantic.DeepEqual(value, first) {
			return false
		}
	}
	return len(versions) > 0
}

func validateVersion(
	spec *apiextensionsv1.CustomResourceDefinitionSpec, i int, old *definition, before tolerated, sharesSchema bool,
) (errs field.ErrorList) {
	v, path := &spec.Versions[i], specPath.Child("versions").Index(i)
	if fault := deprecationFault(v); fault != "" {
		errs = append(errs, field.Invalid(path.Child("deprecationWarning"), v.DeprecationWarning, fault))
	}
	at := func(shared bool, top, below string) *field.Path {
		switch {
		case !shared:
			return path.Child(below)
		case i > 0:
			return nil
		}
		return specPath.Child(top)
	}
	if p := at(sharesSchema, "validation", "schema"); p != nil && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		unchanged := old != nil && slices.ContainsFunc(old.Spec.Versions,
			func(o apiextensionsv1.CustomResourceDefinitionVersion) bool {
				return o.Name == v.Name && equality.Semantic.DeepEqual(o.Schema, v.Schema)
			})
		if !unchanged { // what was accepted once stays acceptable
			status := v.Subresources != nil && v.Subresources.Status != nil
			errs = append(errs, validateSchema(v.Schema.OpenAPIV3Schema, p.Child("openAPIV3Schema"), status,
				!before.structure, before)...)
		}
	}
	subresources := isShared(spec.Versions, func(v *apiextensionsv1.CustomResourceDefinitionVersion) (any, bool) {
		return v.Subresources, v.Subresources != nil
	})
	if p := at(subresources, "subresources", "subresources"); p != nil {
		errs = append(errs, validateSubresources(v.Subresources, p)...)
	}
	columns := isShared(spec.Versions, func(v *apiextensionsv1.CustomResourceDefinitionVersion) (any, bool) {
		return v.AdditionalPrinterColumns, len(v.AdditionalPrinterColumns) > 0
	})
	if p := at(columns, "additionalPrinterColumns", "additionalPrinterColumns"); p != nil {
		for j := range v.AdditionalPrinterColumns {
			errs = append(errs, validateColumn(&v.AdditionalPrinterColumns[j], p.Index(j))...)
		}
	}
	selectable := isShared(spec.Versions, func(v *apiextensionsv1.CustomResourceDefinitionVersion) (any, bool) {
		return v.SelectableFields, len(v.SelectableFields) > 0
	})
	if p := at(selectable, "selectableFields", "selectableFields"); p != nil {
		errs = append(errs, validateSelectable(v, p, keepsFields(v, old))...)
	}
	return errs
}

func deprecationFault(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if v.DeprecationWarning == nil {
		return ""
	}
	switch text := *v.DeprecationWarning; {
	case !v.Deprecated:
		return "can only be set for deprecated versions"
	case len(text) > 256:
		return "must be <= 256 characters long"
	case text == "":
		return "must not be an empty string"
	case !utf8.ValidString(text):
		return "must only contain printable UTF-8 characters"
	default:
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			return fmt.Sprintf("must only contain printable UTF-8 characters; non-printable character found at "+
				"index %d", i)
		}
	}
	return ""
}
