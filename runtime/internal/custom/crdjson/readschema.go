package crdjson

import (
	"bytes"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schema reads a schema into an empty one. A field that stands twice is irregular.
func (r *reader) schema(s *props) {
	var seen uint64
	r.members(func(name []byte) {
		n := r.describing(s, name)
		if n == unknown {
			n = r.bounding(s, name)
		}
		if n == unknown {
			n = r.nesting(s, name)
		}
		if n == unknown {
			n = r.extending(s, name)
		}
		if n == unknown || seen&n != 0 {
			r.giveUp()
		}
		seen |= n
	})
}

// unknown is what the functions below return for a field that isn't theirs. For each other one they return a bit.
const unknown = 0

func (r *reader) describing(s *props, name []byte) (bit uint64) {
	switch string(name) {
	case "description":
		s.Description = r.text()
		return 1 << 0
	case "type":
		s.Type = r.text()
		return 1 << 1
	case "format":
		s.Format = r.text()
		return 1 << 2
	case "title":
		s.Title = r.text()
		return 1 << 3
	case "id":
		s.ID = r.text()
		return 1 << 4
	case "$schema":
		s.Schema = apiextensionsv1.JSONSchemaURL(r.text())
		return 1 << 5
	case "$ref":
		s.Ref = pointer(r.text())
		return 1 << 6
	case "default":
		s.Default = &apiextensionsv1.JSON{Raw: r.raw()}
		return 1 << 7
	case "example":
		s.Example = &apiextensionsv1.JSON{Raw: r.raw()}
		return 1 << 8
	case "nullable":
		s.Nullable = r.bool()
		return 1 << 9
	}
	return unknown
}

func (r *reader) bounding(s *props, name []byte) (bit uint64) {
	switch string(name) {
	case "enum":
		s.Enum = listOf(r, r.choice)
		return 1 << 10
	case "required":
		s.Required = listOf(r, r.textInto)
		return 1 << 11
	case "pattern":
		s.Pattern = r.text()
		return 1 << 12
	case "maximum":
		s.Maximum = pointer(r.number())
		return 1 << 13
	case "minimum":
		s.Minimum = pointer(r.number())
		return 1 << 14
	case "multipleOf":
		s.MultipleOf = pointer(r.number())
		return 1 << 15
	case "exclusiveMaximum":
		s.ExclusiveMaximum = r.bool()
		return 1 << 16
	case "exclusiveMinimum":
		s.ExclusiveMinimum = r.bool()
		return 1 << 17
	case "uniqueItems":
		s.UniqueItems = r.bool()
		return 1 << 18
	}
	return r.counting(s, name)
}

func (r *reader) counting(s *props, name []byte) (bit uint64) {
	switch string(name) {
	case "maxLength":
		s.MaxLength = pointer(r.whole())
		return 1 << 19
	case "minLength":
		s.MinLength = pointer(r.whole())
		return 1 << 20
	case "maxItems":
		s.MaxItems = pointer(r.whole())
		return 1 << 21
	case "minItems":
		s.MinItems = pointer(r.whole())
		return 1 << 22
	case "maxProperties":
		s.MaxProperties = pointer(r.whole())
		return 1 << 23
	case "minProperties":
		s.MinProperties = pointer(r.whole())
		return 1 << 24
	}
	return unknown
}

func (r *reader) nesting(s *props, name []byte) (bit uint64) {
	switch string(name) {
	case "properties":
		s.Properties = r.membersInto()
		return 1 << 25
	case "items":
		s.Items = r.itemsOf()
		return 1 << 26
	case "additionalProperties":
		s.AdditionalProperties = r.schemaOrBool()
		return 1 << 27
	case "allOf":
		s.AllOf = listOf(r, r.schema)
		return 1 << 28
	case "oneOf":
		s.OneOf = listOf(r, r.schema)
		return 1 << 29
	case "anyOf":
		s.AnyOf = listOf(r, r.schema)
		return 1 << 30
	case "not":
		s.Not = new(props)
		r.schema(s.Not)
		return 1 << 31
	case "patternProperties":
		s.PatternProperties = r.membersInto()
		return 1 << 32
	case "additionalItems":
		s.AdditionalItems = r.schemaOrBool()
		return 1 << 33
	case "definitions":
		s.Definitions = r.membersInto()
		return 1 << 34
	}
	return unknown
}

func (r *reader) extending(s *props, name []byte) (bit uint64) {
	switch string(name) {
	case "x-kubernetes-preserve-unknown-fields":
		s.XPreserveUnknownFields = pointer(r.bool())
		return 1 << 35
	case "x-kubernetes-embedded-resource":
		s.XEmbeddedResource = r.bool()
		return 1 << 36
	case "x-kubernetes-int-or-string":
		s.XIntOrString = r.bool()
		return 1 << 37
	case "x-kubernetes-list-map-keys":
		s.XListMapKeys = listOf(r, r.textInto)
		return 1 << 38
	case "x-kubernetes-list-type":
		s.XListType = pointer(r.text())
		return 1 << 39
	case "x-kubernetes-map-type":
		s.XMapType = pointer(r.text())
		return 1 << 40
	case "x-kubernetes-validations":
		s.XValidations = listOf(r, r.rule)
		return 1 << 41
	case "externalDocs":
		s.ExternalDocs = new(apiextensionsv1.ExternalDocumentation)
		r.documentation(s.ExternalDocs)
		return 1 << 42
	}
	return unknown
}

// choice reads a value of an enum. Null has no bytes there.
func (r *reader) choice(to *apiextensionsv1.JSON) {
	if bytes.HasPrefix(r.data[r.at:], []byte("null")) {
		r.at += len("null")
		return
	}
	to.Raw = r.raw()
}

func pointer[V any](v V) *V { return &v }

func (r *reader) textInto(to *string) { *to = r.text() }

// listOf reads a list. An empty one isn't nil.
func listOf[V any](r *reader, read func(*V)) []V {
	all := make([]V, 0, 4)
	r.items(func() {
		var v V
		read(&v)
		all = append(all, v)
	})
	return all
}

// membersInto reads named schemas. A name that stands twice is irregular.
func (r *reader) membersInto() map[string]props {
	all := map[string]props{}
	r.sequence('{', '}', func() {
		name := r.text()
		r.space()
		r.want(':')
		s := r.borrow()
		if r.schema(s); !r.irregular {
			if _, twice := all[name]; twice {
				r.giveUp()
			}
			all[name] = *s
			*s = props{}
			r.spare = append(r.spare, s)
		}
	})
	return all
}

func (r *reader) borrow() *props {
	last := len(r.spare) - 1
	if last < 0 {
		return new(props)
	}
	s := r.spare[last]
	r.spare = r.spare[:last]
	return s
}

func (r *reader) itemsOf() *apiextensionsv1.JSONSchemaPropsOrArray {
	if r.peek() == '[' {
		return &apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: listOf(r, r.schema)}
	}
	s := new(props)
	r.schema(s)
	return &apiextensionsv1.JSONSchemaPropsOrArray{Schema: s}
}

func (r *reader) schemaOrBool() *apiextensionsv1.JSONSchemaPropsOrBool {
	if r.peek() != '{' {
		return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: r.bool()}
	}
	s := new(props)
	r.schema(s)
	return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: s}
}

func (r *reader) documentation(d *apiextensionsv1.ExternalDocumentation) {
	seen := map[string]bool{}
	r.members(func(name []byte) {
		switch text := r.text(); string(name) {
		case "description":
			d.Description = text
		case "url":
			d.URL = text
		default:
			r.giveUp()
		}
		if seen[string(name)] {
			r.giveUp()
		}
		seen[string(name)] = true
	})
}

func (r *reader) rule(to *apiextensionsv1.ValidationRule) {
	var seen uint64
	r.members(func(name []byte) {
		n := r.ruleField(to, name)
		if n == unknown || seen&n != 0 {
			r.giveUp()
		}
		seen |= n
	})
}

func (r *reader) ruleField(to *apiextensionsv1.ValidationRule, name []byte) (bit uint64) {
	switch string(name) {
	case "rule":
		to.Rule = r.text()
		return 1 << 0
	case "message":
		to.Message = r.text()
		return 1 << 1
	case "messageExpression":
		to.MessageExpression = r.text()
		return 1 << 2
	case "reason":
		to.Reason = pointer(apiextensionsv1.FieldValueErrorReason(r.text()))
		return 1 << 3
	case "fieldPath":
		to.FieldPath = r.text()
		return 1 << 4
	case "optionalOldSelf":
		to.OptionalOldSelf = pointer(r.bool())
		return 1 << 5
	}
	return unknown
}
