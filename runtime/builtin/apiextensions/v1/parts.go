package v1

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/cel"
	"apigen.dev/runtime/internal/jsonpath"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateSubresources(s *apiextensionsv1.CustomResourceSubresources, path *field.Path) (errs field.ErrorList) {
	if s == nil || s.Scale == nil {
		return nil
	}
	scale := path.Child("scale")
	within := func(name, value, root string) {
		at := scale.Child(name)
		switch {
		case value == "":
			errs = append(errs, field.Required(at, ""))
			return
		case len(plainPathFaults(value, at)) > 0:
			errs = append(errs, plainPathFaults(value, at)...)
		}
		if !strings.HasPrefix(value, root) {
			errs = append(errs, field.Invalid(at, value, "should be a json path under "+root))
		}
	}
	within("specReplicasPath", s.Scale.SpecReplicasPath, ".spec.")
	within("statusReplicasPath", s.Scale.StatusReplicasPath, ".status.")
	if selector := s.Scale.LabelSelectorPath; selector != nil && *selector != "" {
		at := scale.Child("labelSelectorPath")
		errs = append(errs, plainPathFaults(*selector, at)...)
		if !strings.HasPrefix(*selector, ".spec.") && !strings.HasPrefix(*selector, ".status.") {
			errs = append(errs, field.Invalid(at, *selector, "should be a json path under either .spec or .status"))
		}
	}
	return errs
}

// plainPathFaults judges the path of a field.
func plainPathFaults(text string, path *field.Path) field.ErrorList {
	if text[0] != '.' {
		return field.ErrorList{field.Invalid(path, text, "must be a simple json path starting with .")}
	}
	if _, err := jsonpath.Parse(text); err != nil {
		return field.ErrorList{field.Invalid(path, text, "does not point to a valid relative path: "+err.Error())}
	}
	return nil
}

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)

func validateColumn(c *apiextensionsv1.CustomResourceColumnDefinition, path *field.Path) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	types := "must be one of " + strings.Join(columnTypes, ",")
	switch {
	case c.Type == "":
		errs = append(errs, field.Required(path.Child("type"), types))
	case !slices.Contains(columnTypes, c.Type):
		errs = append(errs, field.Invalid(path.Child("type"), c.Type, types))
	}
	if c.Format != "" && !slices.Contains(columnFormats, c.Format) {
		sorted := slices.Sorted(slices.Values(columnFormats))
		errs = append(errs, field.Invalid(path.Child("format"), c.Format, "must be one of "+strings.Join(sorted, ",")))
	}
	at := path.Child("JSONPath")
	if c.JSONPath == "" {
		return append(errs, field.Required(at, ""))
	}
	return append(errs, plainPathFaults(c.JSONPath, at)...)
}

func validateSelectable(
	v *apiextensionsv1.CustomResourceDefinitionVersion, path *field.Path, unchanged bool,
) (errs field.ErrorList) {
	if len(v.SelectableFields) > 0 && (v.Schema == nil || v.Schema.OpenAPIV3Schema == nil) {
		return field.ErrorList{field.Invalid(path, "",
			"may only be set when `version.schema.openAPIV3Schema` is not included")}
	}
	seen := map[string]bool{}
	for i, f := range v.SelectableFields {
		at := path.Index(i).Child("jsonPath")
		if f.JSONPath == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		found, fault := schemaAt(v.Schema.OpenAPIV3Schema, f.JSONPath)
		if fault != "" {
			errs = append(errs, field.Invalid(at, f.JSONPath, "is an invalid path: "+fault))
			continue
		}
		if strings.HasPrefix(f.JSONPath, ".metadata") {
			errs = append(errs, field.Invalid(at, f.JSONPath, "must not point to fields in metadata"))
		}
		if !slices.Contains([]string{"string", "boolean", "integer"}, found.Type) {
			errs = append(errs, field.Invalid(at, f.JSONPath, "must point to a field of type string, boolean or "+
				"integer. Enum string fields and strings with formats are allowed."))
		}
		if seen[f.JSONPath] {
			errs = append(errs, field.Duplicate(at, f.JSONPath))
		}
		seen[f.JSONPath] = true
	}
	if len(seen) > maxSelectableFields && !unchanged {
		errs = append(errs, field.TooMany(path, len(seen), maxSelectableFields))
	}
	return errs
}

// schemaAt returns the schema of the field that a path leads to, or what is wrong with the path.
func schemaAt(
	s *apiextensionsv1.JSONSchemaProps, path string,
) (*apiextensionsv1.JSONSchemaProps, string) {
	parsed, err := jsonpath.Parse(path)
	if err != nil {
		return nil, err.Error()
	}
	names, plain := parsed.Fields()
	if !plain || path[0] != '.' || strings.Contains(path, "[") {
		return nil, fmt.Sprintf("expected names of fields behind dots but got %s", path)
	}
	for _, name := range names {
		member, ok := s.Properties[name]
		if !ok {
			return nil, "does not refer to a valid field"
		}
		s = &member
	}
	return s, ""
}

func validateConversion(
	spec *apiextensionsv1.CustomResourceDefinitionSpec, old *definition, anyReview bool,
) (errs field.ErrorList) {
	c, path := spec.Conversion, specPath.Child("conversion")
	if c == nil {
		return nil
	}
	if c.Strategy != apiextensionsv1.NoneConverter && spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(path.Child("strategy"), c.Strategy,
			"must be None if spec.preserveUnknownFields is true"))
	}
	errs = append(errs, oneOf(path.Child("strategy"), string(c.Strategy), string(apiextensionsv1.NoneConverter),
		string(apiextensionsv1.WebhookConverter))...)
	config := path.Child("webhookClientConfig")
	if c.Strategy != apiextensionsv1.WebhookConverter {
		if c.Webhook != nil && c.Webhook.ClientConfig != nil {
			errs = append(errs, field.Forbidden(config, "should not be set when strategy is not set to Webhook"))
		}
		if c.Webhook != nil && len(c.Webhook.ConversionReviewVersions) > 0 {
			errs = append(errs, field.Forbidden(path.Child("conversionReviewVersions"),
				"should not be set when strategy is not set to Webhook"))
		}
		return errs
	}
	if c.Webhook == nil || c.Webhook.ClientConfig == nil {
		errs = append(errs, field.Required(config, "required when strategy is set to Webhook"))
	} else {
		errs = append(errs, validateClient(c.Webhook.ClientConfig, config, old)...)
	}
	var versions []string
	if c.Webhook != nil {
		versions = c.Webhook.ConversionReviewVersions
	}
	return append(errs, validateReviewVersions(versions, path.Child("conversionReviewVersions"), anyReview)...)
}

func validateReviewVersions(versions []string, path *field.Path, anyReview bool) (errs field.ErrorList) {
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	known := anyReview
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			errs = append(errs, field.Invalid(path.Index(i), v, "duplicate version"))
			continue
		}
		for _, fault := range validation.IsDNS1035Label(v) {
			errs = append(errs, field.Invalid(path.Index(i), v, fault))
		}
		known = known || isKnownReview(v)
	}
	if !known {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of v1, v1beta1"))
	}
	return errs
}

// ruleAt returns the path of a part of a rule of the schema at a path.
func ruleAt(schema *field.Path, index int, part cel.Part) *field.Path {
	return schema.Child("x-kubernetes-validations").Index(index).Child(string(part))
}

// celFault returns the error of a fault of a CEL rule of the schema at a path.
func celFault(f cel.Fault, path *field.Path) *field.Error {
	at := ruleAt(path, f.Index, f.Part)
	if strings.Contains(f.Message, "exceeds budget") {
		return field.Forbidden(at, f.Message)
	}
	return field.Invalid(at, f.Schema.Rules[f.Index].Rule, f.Message)
}
