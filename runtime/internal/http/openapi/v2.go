package openapi

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of openapi.v2.
const (
	v2Document = iota
	v2Info
	v2Contact
	v2License
	v2Paths
	v2PathItem
	v2Operation
	v2ExternalDocs
	v2ParametersItem
	v2Parameter
	v2BodyParameter
	v2NonBodyParameter
	v2HeaderParameter
	v2FormDataParameter
	v2QueryParameter
	v2PathParameter
	v2JSONReference
	v2PrimitivesItems
	v2Responses
	v2ResponseValue
	v2Response
	v2SchemaItem
	v2FileSchema
	v2Schema
	v2AdditionalProperties
	v2Type
	v2Items
	v2Properties
	v2XML
	v2Headers
	v2Header
	v2Examples
	v2Definitions
	v2ParameterDefinitions
	v2ResponseDefinitions
	v2SecurityRequirement
	v2StringArray
	v2SecurityDefinitions
	v2SecurityDefinition
	v2BasicAuthentication
	v2APIKey
	v2Oauth2Implicit
	v2Oauth2Password
	v2Oauth2Application
	v2Oauth2AccessCode
	v2Oauth2Scopes
	v2Tag
)

// primitive returns the fields that parameters, headers and their items have, from a number on.
func primitive(from int, first ...field) []field {
	all := first
	for i, f := range []field{
		{key: "type", form: text}, {key: "format", form: text}, {key: "items", form: one, of: v2PrimitivesItems},
		{key: "collectionFormat", form: text}, {key: "default", form: anything}, {key: "maximum", form: number},
		{key: "exclusiveMaximum", form: boolean}, {key: "minimum", form: number},
		{key: "exclusiveMinimum", form: boolean}, {key: "maxLength", form: integer}, {key: "minLength", form: integer},
		{key: "pattern", form: text}, {key: "maxItems", form: integer}, {key: "minItems", form: integer},
		{key: "uniqueItems", form: boolean}, {key: "enum", form: anythings}, {key: "multipleOf", form: number},
	} {
		f.number = protowire.Number(from + i)
		all = append(all, f)
	}
	return all
}

var v2 = []message{
	v2Document: {extensions: 16, fields: []field{
		{"swagger", 1, text, 0}, {"info", 2, one, v2Info}, {"host", 3, text, 0}, {"basePath", 4, text, 0},
		{"schemes", 5, texts, 0}, {"consumes", 6, texts, 0}, {"produces", 7, texts, 0}, {"paths", 8, one, v2Paths},
		{"definitions", 9, one, v2Definitions}, {"parameters", 10, one, v2ParameterDefinitions},
		{"responses", 11, one, v2ResponseDefinitions}, {"security", 12, list, v2SecurityRequirement},
		{"securityDefinitions", 13, one, v2SecurityDefinitions}, {"tags", 14, list, v2Tag},
		{"externalDocs", 15, one, v2ExternalDocs},
	}},
	v2Info: {extensions: 7, fields: []field{
		{"title", 1, text, 0}, {"version", 2, text, 0}, {"description", 3, text, 0}, {"termsOfService", 4, text, 0},
		{"contact", 5, one, v2Contact}, {"license", 6, one, v2License},
	}},
	v2Contact: {extensions: 4, fields: []field{{"name", 1, text, 0}, {"url", 2, text, 0}, {"email", 3, text, 0}}},
	v2License: {extensions: 3, fields: []field{{"name", 1, text, 0}, {"url", 2, text, 0}}},
	v2Paths:   {extensions: 1, entries: field{"", 2, one, v2PathItem}},
	v2PathItem: {extensions: 10, fields: []field{
		{"$ref", 1, text, 0}, {"get", 2, one, v2Operation}, {"put", 3, one, v2Operation},
		{"post", 4, one, v2Operation}, {"delete", 5, one, v2Operation}, {"options", 6, one, v2Operation},
		{"head", 7, one, v2Operation}, {"patch", 8, one, v2Operation}, {"parameters", 9, list, v2ParametersItem},
	}},
	v2Operation: {extensions: 13, fields: []field{
		{"tags", 1, texts, 0}, {"summary", 2, text, 0}, {"description", 3, text, 0},
		{"externalDocs", 4, one, v2ExternalDocs}, {"operationId", 5, text, 0}, {"produces", 6, texts, 0},
		{"consumes", 7, texts, 0}, {"parameters", 8, list, v2ParametersItem}, {"responses", 9, one, v2Responses},
		{"schemes", 10, texts, 0}, {"deprecated", 11, boolean, 0}, {"security", 12, list, v2SecurityRequirement},
	}},
	v2ExternalDocs: {extensions: 3, fields: []field{{"description", 1, text, 0}, {"url", 2, text, 0}}},
	v2ParametersItem: {choose: func(v *value) (field, error) {
		if v.member("$ref") != nil {
			return field{number: 2, form: one, of: v2JSONReference}, nil
		}
		return field{number: 1, form: one, of: v2Parameter}, nil
	}},
	v2Parameter: {choose: func(v *value) (field, error) {
		if v.is("in", "body") {
			return field{number: 1, form: one, of: v2BodyParameter}, nil
		}
		return field{number: 2, form: one, of: v2NonBodyParameter}, nil
	}},
	v2BodyParameter: {extensions: 6, fields: []field{
		{"description", 1, text, 0}, {"name", 2, text, 0}, {"in", 3, text, 0}, {"required", 4, boolean, 0},
		{"schema", 5, one, v2Schema},
	}},
	v2NonBodyParameter: {choose: func(v *value) (field, error) {
		for i, in := range []string{"header", "formData", "query", "path"} {
			if v.is("in", in) {
				return field{number: protowire.Number(i + 1), form: one, of: v2HeaderParameter + i}, nil
			}
		}
		return field{}, errors.New("is a parameter that is in none of body, header, formData, query and path")
	}},
	v2HeaderParameter: {extensions: 22, fields: primitive(5,
		field{"required", 1, boolean, 0}, field{"in", 2, text, 0}, field{"description", 3, text, 0},
		field{"name", 4, text, 0})},
	v2FormDataParameter: {extensions: 23, fields: primitive(6,
		field{"required", 1, boolean, 0}, field{"in", 2, text, 0}, field{"description", 3, text, 0},
		field{"name", 4, text, 0}, field{"allowEmptyValue", 5, boolean, 0})},
	v2QueryParameter: {extensions: 23, fields: primitive(6,
		field{"required", 1, boolean, 0}, field{"in", 2, text, 0}, field{"description", 3, text, 0},
		field{"name", 4, text, 0}, field{"allowEmptyValue", 5, boolean, 0})},
	v2PathParameter: {extensions: 22, fields: primitive(5,
		field{"required", 1, boolean, 0}, field{"in", 2, text, 0}, field{"description", 3, text, 0},
		field{"name", 4, text, 0})},
	v2JSONReference:   {fields: []field{{"$ref", 1, text, 0}, {"description", 2, text, 0}}},
	v2PrimitivesItems: {extensions: 18, fields: primitive(1)},
	v2Responses:       {extensions: 2, entries: field{"", 1, one, v2ResponseValue}},
	v2ResponseValue: {choose: func(v *value) (field, error) {
		if v.member("$ref") != nil {
			return field{number: 2, form: one, of: v2JSONReference}, nil
		}
		return field{number: 1, form: one, of: v2Response}, nil
	}},
	v2Response: {extensions: 5, fields: []field{
		{"description", 1, text, 0}, {"schema", 2, one, v2SchemaItem}, {"headers", 3, one, v2Headers},
		{"examples", 4, one, v2Examples},
	}},
	v2SchemaItem: {choose: func(v *value) (field, error) {
		if v.is("type", "file") {
			return field{number: 2, form: one, of: v2FileSchema}, nil
		}
		return field{number: 1, form: one, of: v2Schema}, nil
	}},
	v2FileSchema: {extensions: 10, fields: []field{
		{"format", 1, text, 0}, {"title", 2, text, 0}, {"description", 3, text, 0}, {"default", 4, anything, 0},
		{"required", 5, texts, 0}, {"type", 6, text, 0}, {"readOnly", 7, boolean, 0},
		{"externalDocs", 8, one, v2ExternalDocs}, {"example", 9, anything, 0},
	}},
	v2Schema: {extensions: 31, fields: []field{
		{"$ref", 1, text, 0}, {"format", 2, text, 0}, {"title", 3, text, 0}, {"description", 4, text, 0},
		{"default", 5, anything, 0}, {"multipleOf", 6, number, 0}, {"maximum", 7, number, 0},
		{"exclusiveMaximum", 8, boolean, 0}, {"minimum", 9, number, 0}, {"exclusiveMinimum", 10, boolean, 0},
		{"maxLength", 11, integer, 0}, {"minLength", 12, integer, 0}, {"pattern", 13, text, 0},
		{"maxItems", 14, integer, 0}, {"minItems", 15, integer, 0}, {"uniqueItems", 16, boolean, 0},
		{"maxProperties", 17, integer, 0}, {"minProperties", 18, integer, 0}, {"required", 19, texts, 0},
		{"enum", 20, anythings, 0}, {"additionalProperties", 21, one, v2AdditionalProperties},
		{"type", 22, one, v2Type}, {"items", 23, one, v2Items}, {"allOf", 24, list, v2Schema},
		{"properties", 25, one, v2Properties}, {"discriminator", 26, text, 0}, {"readOnly", 27, boolean, 0},
		{"xml", 28, one, v2XML}, {"externalDocs", 29, one, v2ExternalDocs}, {"example", 30, anything, 0},
	}},
	v2AdditionalProperties: {choose: func(v *value) (field, error) {
		if v.kind == '{' {
			return field{number: 1, form: one, of: v2Schema}, nil
		}
		return field{number: 2, form: chosenBoolean}, nil
	}},
	v2Type: {choose: func(v *value) (field, error) {
		if v.kind == '[' {
			return field{number: 1, form: texts}, nil
		}
		return field{number: 1, form: chosenText}, nil
	}},
	v2Items:      {choose: func(*value) (field, error) { return field{number: 1, form: one, of: v2Schema}, nil }},
	v2Properties: entriesOf(v2Schema),
	v2XML: {extensions: 6, fields: []field{
		{"name", 1, text, 0}, {"namespace", 2, text, 0}, {"prefix", 3, text, 0}, {"attribute", 4, boolean, 0},
		{"wrapped", 5, boolean, 0},
	}},
	v2Headers:              entriesOf(v2Header),
	v2Header:               {extensions: 19, fields: append(primitive(1), field{"description", 18, text, 0})},
	v2Examples:             {entries: field{"", 1, anything, 0}},
	v2Definitions:          entriesOf(v2Schema),
	v2ParameterDefinitions: entriesOf(v2Parameter),
	v2ResponseDefinitions:  entriesOf(v2Response),
	v2SecurityRequirement:  entriesOf(v2StringArray),
	v2StringArray:          {choose: func(*value) (field, error) { return field{number: 1, form: texts}, nil }},
	v2SecurityDefinitions:  entriesOf(v2SecurityDefinition),
	v2SecurityDefinition: {choose: func(v *value) (field, error) {
		switch {
		case v.is("type", "basic"):
			return field{number: 1, form: one, of: v2BasicAuthentication}, nil
		case v.is("type", "apiKey"):
			return field{number: 2, form: one, of: v2APIKey}, nil
		}
		for i, flow := range []string{"implicit", "password", "application", "accessCode"} {
			if v.is("flow", flow) {
				return field{number: protowire.Number(i + 3), form: one, of: v2Oauth2Implicit + i}, nil
			}
		}
		return field{}, errors.New("is a security definition of no known type and flow")
	}},
	v2BasicAuthentication: {extensions: 3, fields: []field{{"type", 1, text, 0}, {"description", 2, text, 0}}},
	v2APIKey: {extensions: 5, fields: []field{
		{"type", 1, text, 0}, {"name", 2, text, 0}, {"in", 3, text, 0}, {"description", 4, text, 0},
	}},
	v2Oauth2Implicit: {extensions: 6, fields: []field{
		{"type", 1, text, 0}, {"flow", 2, text, 0}, {"scopes", 3, one, v2Oauth2Scopes},
		{"authorizationUrl", 4, text, 0}, {"description", 5, text, 0},
	}},
	v2Oauth2Password:    {extensions: 6, fields: tokenFlow},
	v2Oauth2Application: {extensions: 6, fields: tokenFlow},
	v2Oauth2AccessCode: {extensions: 7, fields: []field{
		{"type", 1, text, 0}, {"flow", 2, text, 0}, {"scopes", 3, one, v2Oauth2Scopes},
		{"authorizationUrl", 4, text, 0}, {"tokenUrl", 5, text, 0}, {"description", 6, text, 0},
	}},
	v2Oauth2Scopes: {entries: field{"", 1, text, 0}},
	v2Tag: {extensions: 4, fields: []field{
		{"name", 1, text, 0}, {"description", 2, text, 0}, {"externalDocs", 3, one, v2ExternalDocs},
	}},
}

var tokenFlow = []field{
	{"type", 1, text, 0}, {"flow", 2, text, 0}, {"scopes", 3, one, v2Oauth2Scopes}, {"tokenUrl", 4, text, 0},
	{"description", 5, text, 0},
}
