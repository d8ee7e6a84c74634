package structural

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"apigen.dev/runtime/internal/correlation"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	kjson "sigs.k8s.io/json"
)

// Values validates values by a schema. It is safe for concurrent use.
type Values struct{ schema *spec.Schema }

// NewValues makes the validation of a version of a kind; nil accepts everything.
func NewValues(props *apiextensionsv1.JSONSchemaProps) (*Values, error) {
	if props == nil {
		return &Values{&spec.Schema{}}, nil
	}
	s, err := openAPI(props)
	return &Values{s}, err
}

// Validate validates an object, which replaces old unless that is nil. An update may leave faults where the value is
// the same as before, as far as values correspond (KEP-4008).
func (v *Values) Validate(object, old map[string]any) field.ErrorList {
	if old == nil {
		return v.run(nil, object, nil)
	}
	return v.run(nil, object, old)
}

// ValidateMember validates a member of an object alone, as writes of the status are validated.
func (v *Values) ValidateMember(name string, object, old map[string]any) field.ErrorList {
	member, named := v.schema.Properties[name]
	value, there := object[name]
	if !named || !there {
		return nil
	}
	var before any
	if old != nil {
		before = old[name]
	}
	return (&Values{&member}).run(field.NewPath(name), value, before)
}

func (v *Values) run(path *field.Path, value, old any) (errs field.ErrorList) {
	var result *validate.Result
	if old == nil {
		result = validate.NewSchemaValidator(v.schema, nil, "", strfmt.Default).Validate(value)
	} else {
		result = (&lenient{schema: v.schema, now: value, old: old}).Validate(value)
	}
	for _, err := range result.Errors {
		errs = append(errs, fieldError(path, err))
	}
	return errs
}

// lenient validates a value that has an old one, and forgives faults of a value that is the same.
type lenient struct {
	schema   *spec.Schema
	root     any
	path     string
	options  []validate.Option
	now, old any
	items    *correlation.Index // of an old list, from the first item on
}

// SetPath implements validate.ValueValidator.
func (*lenient) SetPath(string) {}

// Applies implements validate.ValueValidator.
func (*lenient) Applies(any, reflect.Kind) bool { return true }

// Validate implements validate.ValueValidator.
func (l *lenient) Validate(any) *validate.Result {
	hooks := func(o *validate.SchemaValidatorOptions) {
		o.NewValidatorForField, o.NewValidatorForIndex = l.field, l.item
	}
	options := append([]validate.Option{hooks}, l.options...)
	result := validate.NewSchemaValidator(l.schema, l.root, l.path, strfmt.Default, options...).Validate(l.now)
	if !result.IsValid() && correlation.Unchanged(correlated{l.schema}, l.now, l.old) {
		return &validate.Result{}
	}
	return result
}

func (l *lenient) field(
	name string, s *spec.Schema, root any, path string, formats strfmt.Registry, options ...validate.Option,
) validate.ValueValidator {
	now, ok := l.now.(map[string]any)
	old, before := l.old.(map[string]any)
	_, there := old[name]
	if !ok || !before || !there || !granular(l.schema) || l.path == "" && (name == "kind" || name == "apiVersion") {
		return validate.NewSchemaValidator(s, root, path, formats, options...)
	}
	return &lenient{schema: s, root: root, path: path, options: options, now: now[name], old: old[name]}
}

func (l *lenient) item(
	i int, s *spec.Schema, root any, path string, formats strfmt.Registry, options ...validate.Option,
) validate.ValueValidator {
	now, ok := l.now.([]any)
	old, before := l.old.([]any)
	if ok && before && i < len(now) {
		if l.items == nil {
			_, keys, _ := correlated{l.schema}.MapItems()
			index := correlation.NewIndex(keys, old)
			l.items = &index
		}
		if same := l.items.Find(now[i]); same != nil {
			return &lenient{schema: s, root: root, path: path, options: options, now: now[i], old: same}
		}
	}
	return validate.NewSchemaValidator(s, root, path, formats, options...)
}

// granular reports whether the members of an old and a new value correspond.
func granular(s *spec.Schema) bool {
	kind, _ := s.Extensions.GetString("x-kubernetes-map-type")
	return kind == "" || kind == "granular"
}

// correlated is a schema for package correlation.
type correlated struct{ *spec.Schema }

func (s correlated) Member(name string) (correlated, bool) {
	member := memberSchema(s.Schema, name)
	return correlated{member}, member != nil
}

func (s correlated) MapItems() (items correlated, keys []string, ok bool) {
	kind, _ := s.Extensions.GetString("x-kubernetes-list-type")
	if kind != "map" || s.Items == nil || s.Items.Schema == nil {
		return items, nil, false
	}
	keys, _ = s.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	return correlated{s.Items.Schema}, keys, true
}

func memberSchema(s *spec.Schema, name string) *spec.Schema {
	if member, ok := s.Properties[name]; ok {
		return &member
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}

// fieldError returns the error of an API for one of a schema.
func fieldError(path *field.Path, err error) *field.Error {
	var fault *openapierrors.Validation
	if !errors.As(err, &fault) {
		return field.Invalid(path, "", err.Error())
	}
	if name := strings.TrimPrefix(fault.Name, "."); name != "" {
		path = path.Child(name)
	}
	value := fault.Value
	if value == nil {
		value = ""
	}
	switch fault.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(path, "")
	case openapierrors.EnumFailCode:
		return field.NotSupported(path, fault.Value, texts(fault.Values))
	case openapierrors.TooLongFailCode:
		return field.TooLong(path, "", number(fault.Valid))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return field.TooMany(path, number(fault.Value), number(fault.Valid))
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(path, value, err.Error())
	}
	return field.Invalid(path, value, err.Error())
}

func number(v any) int {
	if n, ok := v.(int64); ok {
		return int(n)
	}
	return -1
}

func texts(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			out[i] = s
			continue
		}
		data, _ := json.Marshal(v) // it was decoded from JSON
		out[i] = string(data)
	}
	return out
}

// openAPI returns the schema for package validate, without formats that it would not check.
func openAPI(in *apiextensionsv1.JSONSchemaProps) (*spec.Schema, error) {
	c := converter{}
	out := c.schema(in)
	return &out, c.err
}

// converter keeps its first error.
type converter struct{ err error }

func (c *converter) schema(in *apiextensionsv1.JSONSchemaProps) spec.Schema {
	out := spec.Schema{SchemaProps: spec.SchemaProps{
		Nullable: in.Nullable, Maximum: in.Maximum, ExclusiveMaximum: in.ExclusiveMaximum, Minimum: in.Minimum,
		ExclusiveMinimum: in.ExclusiveMinimum, MaxLength: in.MaxLength, MinLength: in.MinLength, Pattern: in.Pattern,
		MaxItems: in.MaxItems, MinItems: in.MinItems, UniqueItems: in.UniqueItems, MultipleOf: in.MultipleOf,
		MaxProperties: in.MaxProperties, MinProperties: in.MinProperties, Required: in.Required,
		AllOf: c.schemas(in.AllOf), OneOf: c.schemas(in.OneOf), AnyOf: c.schemas(in.AnyOf),
	}}
	if in.Type != "" {
		out.Type = spec.StringOrArray{in.Type}
	}
	if in.XIntOrString {
		out.Type = spec.StringOrArray{"integer", "string"}
	}
	if Recognizes(in.Format, out.Type) {
		out.Format = in.Format
	}
	for _, value := range in.Enum {
		out.Enum = append(out.Enum, c.value(value))
	}
	if in.Not != nil {
		not := c.schema(in.Not)
		out.Not = &not
	}
	if len(in.Properties) > 0 {
		out.Properties = make(map[string]spec.Schema, len(in.Properties))
		for name, member := range in.Properties {
			out.Properties[name] = c.schema(&member)
		}
	}
	if a := in.AdditionalProperties; a != nil {
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: a.Allows || a.Schema != nil}
		if a.Schema != nil {
			values := c.schema(a.Schema)
			out.AdditionalProperties.Schema = &values
		}
	}
	if in.Items != nil && in.Items.Schema != nil {
		items := c.schema(in.Items.Schema)
		out.Items = &spec.SchemaOrArray{Schema: &items}
	}
	if in.XListType != nil {
		out.AddExtension("x-kubernetes-list-type", *in.XListType)
	}
	if len(in.XListMapKeys) > 0 {
		keys := make([]any, len(in.XListMapKeys)) // as decoded JSON has them
		for i, key := range in.XListMapKeys {
			keys[i] = key
		}
		out.AddExtension("x-kubernetes-list-map-keys", keys)
	}
	if in.XMapType != nil {
		out.AddExtension("x-kubernetes-map-type", *in.XMapType)
	}
	return out
}

func (c *converter) schemas(in []apiextensionsv1.JSONSchemaProps) (out []spec.Schema) {
	for i := range in {
		out = append(out, c.schema(&in[i]))
	}
	return out
}

func (c *converter) value(in apiextensionsv1.JSON) (out any) {
	if err := kjson.UnmarshalCaseSensitivePreserveInts(in.Raw, &out); err != nil && c.err == nil {
		c.err = err
	}
	return out
}

// formats are the formats of strings that are checked, without dashes.
var formats = strings.Fields("bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 " +
	"isbn13 creditcard ssn hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname")

// Recognizes reports whether values of a type are checked for a format; an unknown format says nothing.
func Recognizes(format string, types []string) bool {
	kind := ""
	if len(types) == 1 {
		kind = types[0]
	}
	switch kind {
	case "", "string":
		for _, known := range formats {
			if known == strings.ReplaceAll(format, "-", "") {
				return true
			}
		}
	case "integer":
		return format == "int32" || format == "int64"
	case "number":
		return format == "float" || format == "double"
	}
	return false
}
