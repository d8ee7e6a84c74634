package v1

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"apigen.dev/runtime/cel"
	"apigen.dev/runtime/internal/custom/structural"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type props = apiextensionsv1.JSONSchemaProps

// validateSchema returns kube-apiserver's errors for the schema of a version: that it isn't structural, or has defaults
// that it doesn't accept itself; what a schema of Kubernetes may not have; and rules that don't compile, or cost much.
func validateSchema(
	s *props, path *field.Path, status, mustBeStructural bool, old tolerated,
) (errs field.ErrorList) {
	if status {
		errs = append(errs, validateRoot(s, path)...)
	}
	if s.Nullable {
		errs = append(errs, field.Forbidden(path.Child("nullable"), "nullable cannot be true at the root"))
	}
	isStructural := false
	var late field.ErrorList
	if mustBeStructural {
		if compiled, err := structural.New(s); err != nil {
			late = append(late, field.Invalid(path, "", err.Error()))
		} else if faults := StructuralFaults(s, path); len(faults) > 0 {
			errs = append(errs, faults...)
		} else if faults := validateDefaults(s, compiled, path, inside{}); len(faults) > 0 {
			errs = append(errs, faults...)
		} else {
			isStructural = true
		}
	}
	c := checker{defaults: true, tolerated: old}
	faults := c.schema(s, path, true)
	errs = append(errs, faults...)
	if isStructural && len(faults) == 0 {
		errs = append(errs, validateRules(s, path)...)
	}
	if len(errs) == 0 {
		errs = late
	}
	return errs
}

// rootFields are the fields of a schema that its root may have where the status is a subresource.
var rootFields = []string{
	"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength",
	"MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
	"ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
}

func validateRoot(s *props, path *field.Path) field.ErrorList {
	value := reflect.ValueOf(s).Elem()
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		switch {
		case value.Field(i).IsZero():
		case name == "Type" && s.Type != "object":
			return field.ErrorList{field.Invalid(path.Child("type"), s.Type, `only "object" is allowed as the type at `+
				`the root of the schema if the status subresource is enabled`)}
		case !slices.Contains(rootFields, name):
			return field.ErrorList{field.Invalid(path, *s, fmt.Sprintf("only %v fields are allowed at the root of the "+
				"schema if the status subresource is enabled", rootFields))}
		}
	}
	return nil
}

// checker checks what a schema of a custom resource may have, beside being structural.
type checker struct {
	// defaults reports whether there may be defaults; otherwise reason says why not. inMeta is within metadata.
	defaults bool
	reason   string
	inMeta   bool
	// tolerated are the faults that the stored definition has.
	tolerated tolerated
}

// types are those of OpenAPI v3.
var types = []string{"array", "boolean", "integer", "number", "object", "string"}

func (c checker) schema(s *props, path *field.Path, root bool) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	errs = c.standard(s, path)
	if s.UniqueItems {
		errs = append(errs, field.Forbidden(path.Child("uniqueItems"),
			"uniqueItems cannot be set to true since the runtime complexity becomes quadratic"))
	}
	if a := s.AdditionalProperties; a != nil {
		if len(s.Properties) > 0 && (!a.Allows || a.Schema != nil) {
			errs = append(errs, field.Forbidden(path.Child("additionalProperties"),
				"additionalProperties and properties are mutual exclusive"))
		}
		below := c
		if c.inMeta {
			below.defaults, below.reason = false, "inside additionalProperties applying to object metadata"
		}
		errs = append(errs, below.schema(a.Schema, path.Child("additionalProperties"), false)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member, below := s.Properties[name], c
		if (root || s.XEmbeddedResource) && (name == "metadata" || name == "kind" || name == "apiVersion") {
			below.inMeta = true
			if root {
				below.defaults, below.reason = false, "in top-level "+name
			}
		}
		errs = append(errs, below.schema(&member, path.Child("properties").Key(name), false)...)
	}
	errs = append(errs, c.schema(s.Not, path.Child("not"), false)...)
	for _, of := range []struct {
		name    string
		schemas []props
	}{{"allOf", s.AllOf}, {"oneOf", s.OneOf}, {"anyOf", s.AnyOf}} {
		for i := range of.schemas {
			errs = append(errs, c.schema(&of.schemas[i], path.Child(of.name).Index(i), false)...)
		}
	}
	if s.Items != nil {
		errs = append(errs, c.schema(s.Items.Schema, path.Child("items"), false)...)
	}
	if c.inMeta && s.XEmbeddedResource {
		errs = append(errs, field.Forbidden(path.Child("x-kubernetes-embedded-resource"),
			"must not be used inside of resource meta"))
	}
	errs = append(errs, c.extensionFaults(s, path)...)
	return append(errs, ruleFaults(s, path)...)
}

// standard refuses what OpenAPI v3 schemas of Kubernetes don't have.
func (c checker) standard(s *props, path *field.Path) (errs field.ErrorList) {
	forbid := func(name string, there bool) {
		if there {
			errs = append(errs, field.Forbidden(path.Child(name), name+" is not supported"))
		}
	}
	if s.Type != "" && !slices.Contains(types, s.Type) && !c.tolerated.types {
		errs = append(errs, field.NotSupported(path.Child("type"), s.Type, types))
	}
	if s.Default != nil && !c.defaults {
		detail := "must not be set"
		if c.reason != "" {
			detail += " " + c.reason
		}
		errs = append(errs, field.Forbidden(path.Child("default"), detail))
	}
	if s.ID != "" {
		errs = append(errs, field.Forbidden(path.Child("id"), "id is not supported"))
	}
	if s.AdditionalItems != nil {
		errs = append(errs, field.Forbidden(path.Child("additionalItems"), "additionalItems is not supported"))
	}
	forbid("patternProperties", len(s.PatternProperties) > 0)
	forbid("definitions", len(s.Definitions) > 0)
	forbid("dependencies", s.Dependencies != nil)
	if s.Ref != nil {
		errs = append(errs, field.Forbidden(path.Child("$ref"), "$ref is not supported"))
	}
	if s.Type == "null" {
		errs = append(errs, field.Forbidden(path.Child("type"), "type cannot be set to null, use nullable as an "+
			"alternative"))
	}
	if s.Items != nil && len(s.Items.JSONSchemas) > 0 {
		errs = append(errs, field.Forbidden(path.Child("items"), "items must be a schema object and not an array"))
	}
	return errs
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// extensionFaults judges the extensions of Kubernetes.
func (c checker) extensionFaults(s *props, path *field.Path) (errs field.ErrorList) {
	add := func(e ...*field.Error) { errs = append(errs, e...) }
	if keep := s.XPreserveUnknownFields; keep != nil && !*keep {
		add(field.Invalid(path.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"))
	}
	ofType := func(extension, want string) {
		detail := fmt.Sprintf("must be %s if %s is specified", want, extension)
		switch s.Type {
		case want:
		case "":
			add(field.Required(path.Child("type"), detail))
		default:
			add(field.Invalid(path.Child("type"), s.Type, detail))
		}
	}
	if s.XMapType != nil {
		ofType("x-kubernetes-map-type", "object")
		if accepted := []string{"atomic", "granular"}; !slices.Contains(accepted, *s.XMapType) {
			add(field.NotSupported(path.Child("x-kubernetes-map-type"), *s.XMapType, accepted))
		}
	}
	list := textOf(s.XListType)
	if s.XListType != nil {
		ofType("x-kubernetes-list-type", "array")
		if isSet(s) && !c.tolerated.sets {
			add(setFaults(s.Items.Schema, path.Child("items"))...)
		}
		if accepted := []string{"atomic", "set", "map"}; !slices.Contains(accepted, list) {
			add(field.NotSupported(path.Child("x-kubernetes-list-type"), list, accepted))
		}
	}
	if len(s.XListMapKeys) > 0 && list != "map" {
		at, detail := path.Child("x-kubernetes-list-type"), "must be map if x-kubernetes-list-map-keys is non-empty"
		if s.XListType == nil {
			add(field.Required(at, detail))
		} else {
			add(field.Invalid(at, list, detail))
		}
	}
	if list == "map" {
		add(mapFaults(s, path)...)
	}
	if !c.tolerated.absences {
		add(absenceFaults(s, path)...)
	}
	return errs
}

var reasons = []apiextensionsv1.FieldValueErrorReason{
	apiextensionsv1.FieldValueDuplicate, apiextensionsv1.FieldValueForbidden, apiextensionsv1.FieldValueInvalid,
	apiextensionsv1.FieldValueRequired,
}

// ruleFaults judges the texts of rules, not their expressions.
func ruleFaults(s *props, path *field.Path) (errs field.ErrorList) {
	for i, rule := range s.XValidations {
		at := path.Child("x-kubernetes-validations").Index(i)
		text, message := strings.TrimSpace(rule.Rule), strings.TrimSpace(rule.Message)
		switch {
		case text == "":
			errs = append(errs, field.Required(at.Child("rule"), "rule is not specified"))
		case rule.Message != "" && message == "":
			errs = append(errs, field.Invalid(at.Child("message"), rule.Message, "must be non-empty if specified"))
		case strings.ContainsAny(message, "\r\n"):
			errs = append(errs, field.Invalid(at.Child("message"), rule.Message, "must not contain line breaks"))
		case strings.ContainsAny(text, "\r\n") && message == "":
			errs = append(errs, field.Required(at.Child("message"),
				"message must be specified if rule contains line breaks"))
		}
		if rule.MessageExpression != "" && strings.TrimSpace(rule.MessageExpression) == "" {
			errs = append(errs, field.Required(at.Child("messageExpression"),
				"messageExpression must be non-empty if specified"))
		}
		if rule.Reason != nil && !slices.Contains(reasons, *rule.Reason) {
			errs = append(errs, field.NotSupported(at.Child("reason"), *rule.Reason, reasons))
		}
		switch p := at.Child("fieldPath"); {
		case rule.FieldPath == "":
		case strings.TrimSpace(rule.FieldPath) == "":
			errs = append(errs, field.Invalid(p, rule.FieldPath, "must be non-empty if specified"))
		case strings.ContainsAny(rule.FieldPath, "\r\n"):
			errs = append(errs, field.Invalid(p, rule.FieldPath, "must not contain line breaks"))
		}
	}
	return errs
}

// validateRules compiles the rules.
func validateRules(s *props, path *field.Path) (errs field.ErrorList) {
	schema := structural.CEL(s)
	if !schema.HasRules() {
		return nil
	}
	paths := map[*cel.Schema]*field.Path{}
	placeRules(schema, path, paths)
	for _, fault := range cel.Check(schema, "Object", true) { // a name that no expression has
		if fault.Advice {
			continue
		}
		if fault.Part != cel.InAll {
			errs = append(errs, celFault(fault, paths[fault.Schema]))
			continue
		}
		for _, e := range fault.Dearest {
			errs = append(errs, field.Forbidden(ruleAt(paths[e.Schema], e.Index, e.Part), "contributed to estimated "+
				"rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
		}
		errs = append(errs, field.Forbidden(path, "x-kubernetes-validations "+strings.Replace(fault.Message,
			"the estimated cost of all rules", "estimated rule cost total for entire OpenAPIv3 schema", 1)))
	}
	return errs
}

// placeRules finds the paths of the parts of a schema.
func placeRules(s *cel.Schema, path *field.Path, to map[*cel.Schema]*field.Path) {
	if s == nil {
		return
	}
	to[s] = path
	for name, member := range s.Properties {
		placeRules(member, path.Child("properties").Key(name), to)
	}
	placeRules(s.Values, path.Child("additionalProperties"), to)
	placeRules(s.Items, path.Child("items"), to)
}

// validateDefaults refuses defaults that the schema doesn't accept where they stand.
func validateDefaults(
	s *props, compiled *structural.Schema, path *field.Path, where inside,
) (errs field.ErrorList) {
	if s.XEmbeddedResource {
		where = inside{resource: compiled}
	}
	if s.Default != nil && compiled.HasDefault {
		if where.metadata {
			errs = where.validate(s, compiled, path.Child("default"))
		} else {
			errs = validateDefault(s, compiled, path.Child("default"))
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		errs = append(errs, validateDefaults(s.Items.Schema, compiled.Items, path.Child("items"), where.item())...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		errs = append(errs, validateDefaults(&member, compiled.Properties[name], path.Child("properties").Key(name),
			where.field(name))...)
	}
	return errs
}

// inside is a place in an embedded object.
type inside struct {
	resource *structural.Schema
	// metadata reports whether the place is in apiVersion, kind or metadata, and around makes the object around a
	// value.
	metadata bool
	around   func(value any) any
}

func (i inside) field(name string) inside {
	if i.resource == nil {
		return i
	}
	outer := i.around
	if outer == nil {
		outer = func(value any) any { return value }
		i.metadata = name == "metadata" || name == "apiVersion" || name == "kind"
	}
	i.around = func(value any) any { return outer(map[string]any{name: value}) }
	return i
}

func (i inside) item() inside {
	if outer := i.around; outer != nil {
		i.around = func(value any) any { return outer([]any{value}) }
	}
	return i
}

// validate refuses a default in metadata that doesn't result in valid metadata.
func (i inside) validate(s *props, compiled *structural.Schema, path *field.Path) field.ErrorList {
	object, _ := i.around(runtime.DeepCopyJSONValue(compiled.Default)).(map[string]any)
	for name, value := range map[string]any{"apiVersion": "validation/v1", "kind": "Validation"} {
		if _, found := object[name]; !found {
			object[name] = value
		}
	}
	within := &structural.Schema{Type: "object", Properties: map[string]*structural.Schema{holder: i.resource}}
	held := map[string]any{holder: object}
	refuse := func(err error) field.ErrorList {
		return field.ErrorList{
			field.Invalid(path, compiled.Default, fmt.Sprintf("must result in valid metadata: %v", err)),
		}
	}
	if _, err := within.Coerce(held, false); err != nil {
		return refuse(err)
	}
	if errs := within.ValidateEmbedded(held); len(errs) > 0 {
		return refuse(errs.ToAggregate())
	}
	return validateValue(s, compiled.Default, path)
}

// holder is the name of the field that holds a default while it is judged.
const holder = "default"

func validateDefault(s *props, compiled *structural.Schema, path *field.Path) field.ErrorList {
	value := runtime.DeepCopyJSONValue(compiled.Default)
	within := &structural.Schema{Type: "object", Properties: map[string]*structural.Schema{holder: compiled}}
	object := map[string]any{holder: value}
	if within.Prune(object); !reflect.DeepEqual(object[holder], compiled.Default) {
		return field.ErrorList{field.Invalid(path, compiled.Default, "must not have unknown fields")}
	}
	if _, err := within.Coerce(object, false); err != nil {
		return field.ErrorList{field.Invalid(path, compiled.Default, err.Error())}
	}
	if errs := within.ValidateEmbedded(object); len(errs) > 0 {
		return moved(errs, path)
	}
	return validateValue(s, compiled.Default, path)
}

// validateValue validates a value by its schema and rules.
func validateValue(s *props, value any, path *field.Path) field.ErrorList {
	object := map[string]any{holder: runtime.DeepCopyJSONValue(value)}
	outer := &props{Type: "object", Properties: map[string]props{holder: *s}}
	values, err := structural.NewValues(outer)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	if errs := values.Validate(object, nil); len(errs) > 0 {
		return moved(errs, path)
	}
	if structural.CEL(s).HasRules() {
		rules := cel.New(schema.GroupVersionKind{Version: "v1", Kind: "Validation"}, structural.CEL(outer))
		return moved(rules.RunAfter(context.Background(), nil, object, nil), path)
	}
	return nil
}

// moved returns errors of the holder under the path of a default.
func moved(errs field.ErrorList, path *field.Path) field.ErrorList {
	for _, e := range errs {
		e.Field = path.String() + strings.TrimPrefix(e.Field, holder)
	}
	return errs
}
